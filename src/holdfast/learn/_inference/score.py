"""NoisyScore: released gradients and second derivatives, their solution, and its covariance.

A method releases g_k + e_k and H_k + E_k: the gradient and the second derivative of a sum of losses at points theta_k
that it chose from earlier releases, with noise. The entries of e_k have the deviation t_k. E_k is symmetric, with
deviations s_k on the diagonal and s_k / sqrt(2) off it. With public weights w_k that sum to 1 the score is

    r(theta) = sum w_k (H_k (theta_k - theta) - g_k) = target - curvature theta,

and its root is the estimate. At the true theta the covariance of the score is that of the sampled gradient plus

    N(theta) = sum w_k^2 (t_k^2 I + (s_k^2 / 2) (|d_k|^2 I + d_k d_k^T)),   d_k = theta - theta_k

(soundness, section 26). Least squares take one step from the origin: g = -X^T y, H = X^T X.

Arrays may have leading axes and then hold many releases with the same noise, as the benchmark of coverage does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np

from holdfast._arrays import Floats
from holdfast._stored_fields import require_fields
from holdfast.errors import FormatError, require
from holdfast.learn._inference.score_strength import ScoreStrength

VARIANCE_MARGIN = 0.5
"""Deviations of its noise that are added to the residual variance, which would be too small half of the time."""


@dataclass(frozen=True, kw_only=True, eq=False)
class NoisyScore:
    """What a method released about its score, in the coordinates of its weights. Everything in it is public."""

    loss: Literal["squared", "logistic"]
    curvature: Floats
    target: Floats
    centres: Floats
    """The points theta_k, and by `weights`, `gradient_noise` and `curvature_noise` their w_k, t_k and s_k."""
    weights: Floats
    gradient_noise: Floats
    curvature_noise: Floats
    count: int
    """The number of rows."""
    pilot: Floats | None = None
    """A curvature whose noise is not in `curvature`. It decides whether intervals are issued, because intervals that
    are issued only where the noise in the estimate is small would cover too rarely. None: `curvature` itself decides.
    """
    pilot_noise: float = 0.0
    """The deviation of the noise in the pilot, in the units of `curvature`."""
    bend: float = 0.0
    """A bound on how fast the curvature changes: by a factor of at most exp(bend |step|). It is 0 for least squares,
    and the norm of rows for a logistic model."""
    tilt: Floats | None = None
    """How fast the curvature does change: the noisy derivative by the weights of u^T H u, where u is the eigenvector of
    the pilot's least eigenvalue."""
    square: Any = None
    """The noisy sum of squared targets, for least squares; its noise has the deviation s / omega^2 = 2 t^2 / s."""

    def __post_init__(self) -> None:
        d, k, releases = self.dimension, self.weights.size, self.target.shape[:-1]
        shapes = {
            "curvature": (self.curvature, (*releases, d, d)),
            "target": (self.target, (*releases, d)),
            "centres": (self.centres, (*releases, k, d)),
            "weights": (self.weights, (k,)),
            "gradient_noise": (self.gradient_noise, (k,)),
            "curvature_noise": (self.curvature_noise, (k,)),
        }
        if self.tilt is not None:
            shapes["tilt"] = (self.tilt, (*releases, d))
        for name, (array, shape) in shapes.items():
            require(array.shape == shape, f"{name}.shape", array.shape, str(shape))
        require(self.count >= 1, "count", self.count, ">= 1")

    def __getitem__(self, place: Any) -> Self:
        """Some of the releases that this score holds, or a single one."""
        arrays = {
            "curvature": self.curvature,
            "target": self.target,
            "centres": self.centres,
            "pilot": self.pilot,
            "tilt": self.tilt,
            "square": self.square,
        }
        return replace(self, **{name: array[place] for name, array in arrays.items() if array is not None})

    def value(self) -> dict[str, Any]:
        """What a release stores."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def of_value(cls, value: Any) -> Self:
        """The score of a stored model; `FormatError` for anything else."""
        arrays = (
            "curvature",
            "target",
            "centres",
            "weights",
            "gradient_noise",
            "curvature_noise",
            "pilot",
            "tilt",
        )
        try:
            if not isinstance(value, Mapping) or value["loss"] not in ("squared", "logistic"):
                raise ValueError("loss")
            entries = dict(require_fields("score", value, [field.name for field in fields(cls)]))
            for name in arrays:
                if entries[name] is not None:
                    entries[name] = np.ascontiguousarray(entries[name], dtype=np.float64)
                    if not np.isfinite(entries[name]).all():
                        raise ValueError(name)
            if entries["target"].ndim != 1:
                raise ValueError("target")
            numbers = {"pilot_noise": float(entries["pilot_noise"]), "bend": float(entries["bend"])}
            if not all(number >= 0 for number in numbers.values()):
                raise ValueError("pilot_noise or bend")
            return cls(**entries | numbers | {"count": int(entries["count"])})
        except (KeyError, TypeError, ValueError) as error:
            raise FormatError("what a release holds about its score is of the wrong kind") from error

    @property
    def dimension(self) -> int:
        """The number of weights."""
        return int(self.target.shape[-1])

    @cached_property
    def deviation(self) -> float:
        """The deviation of the noise on the diagonal of the curvature."""
        return float(np.linalg.norm(self.weights * self.curvature_noise))

    @cached_property
    def strength(self) -> ScoreStrength:
        """How far the curvature stands out of its noise, and whether intervals follow."""
        return ScoreStrength(self)

    @cached_property
    def solution(self) -> Floats:
        """Where the score is zero."""
        return np.asarray(np.linalg.solve(self.curvature, self.target[..., None])[..., 0])

    def noise_covariance(self, theta: Floats) -> Floats:
        """N(theta), the covariance that the noise adds to the score at theta."""
        steps, weights = theta[..., None, :] - self.centres, self.weights
        half_variances = 0.5 * (weights * self.curvature_noise) ** 2
        isotropic = np.sum((weights * self.gradient_noise) ** 2) + np.einsum(
            "k,...ki->...", half_variances, steps**2
        )
        along_steps = np.einsum("k,...ki,...kj->...ij", half_variances, steps, steps)
        return np.asarray(isotropic[..., None, None] * np.eye(self.dimension) + along_steps)

    def residual_variance(self, theta: Floats, *, margin: float, freedom: float) -> Any:
        """For least squares: the noisy sum of squared residuals, plus `margin` deviations of noise, over `freedom`."""
        assert self.square is not None, "least squares"
        t, s = float(self.gradient_noise[0]), float(self.curvature_noise[0])
        # v^T E v has the deviation s |v|^2, v = (theta, 1 / omega), and t^2 = s^2 / (2 omega^2).
        noise_std = s * np.sum(theta * theta, axis=-1) + 2.0 * t**2 / s
        explained = np.einsum("...i,...ij,...j->...", theta, self.curvature, theta)
        residual_squares = self.square - 2.0 * np.sum(self.target * theta, axis=-1) + explained
        return np.maximum(0.0, residual_squares + margin * noise_std) / freedom

    def covariance(self) -> Floats:
        """The covariance of the solution, C^-1 (sampling + N) C^-1, where C is the curvature.

        It can be believed unless the strength is too low for intervals. The sampling covariance of the gradient is
        sigma^2 C for least squares with equal variances, and C for a logistic model that holds.
        """
        inverse, theta = np.linalg.inv(self.curvature), self.solution
        noise = self.noise_covariance(theta)
        variance = np.ones(theta.shape[:-1])
        if self.loss == "squared":
            # The minimum of a noisy quadratic lies below its value at the truth, by this trace on average.
            deficit = np.einsum("...ij,...ji->...", inverse, noise)
            freedom = max(1.0, self.count - self.dimension)
            variance = (
                self.residual_variance(theta, margin=VARIANCE_MARGIN, freedom=freedom) + deficit / freedom
            )
        score_covariance = variance[..., None, None] * self.curvature + noise
        bias = self.strength.selection_bias
        return np.asarray(
            np.asarray(self.strength.variance_factor)[..., None, None]
            * (inverse @ score_covariance @ inverse)
            + bias[..., :, None] * bias[..., None, :]
        )
