"""NoisyScore: released gradients and second derivatives, and what their noise and the sampling do to a solution.

A method releases g_k + e_k and H_k + E_k, the gradient and the second derivative of a sum of losses at points theta_k
that it chose from earlier releases; e_k is isotropic of deviation t_k, E_k symmetric with s_k on the diagonal and
s_k / sqrt(2) off it. With public weights w_k that sum to 1 the score is

    r(theta) = sum w_k (H_k (theta_k - theta) - g_k) = target - curvature theta,

and its root is the estimate. At the true theta its covariance is that of the sampled gradient plus

    N(theta) = sum w_k^2 (t_k^2 I + (s_k^2 / 2) (|d_k|^2 I + d_k d_k^T)),   d_k = theta - theta_k

(soundness, section 26). Least squares are one step from the origin: g = -X^T y, H = X^T X.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import FormatError, require

Floats = NDArray[np.float64]
LEAST_STRENGTH = 4.0 * math.sqrt(2.0)
"""Least eigenvalue of the curvature, in units of deviation times root of the dimension, at which first-order theory
holds: four times the norm that the noise has (soundness, section 26)."""
LEAST_USED = 3.0
"""The same of the curvature that is inverted, where another one decided: below it even second-order terms are large."""
SECOND_ORDER = 5.0
"""Terms of second order in the curvature's noise, as a share of the variance: this over the squared strength."""
VARIANCE_MARGIN = 1.0
"""Deviations of its noise that are added to the residual variance: the plug-in one is too small half of the time."""


@dataclass(frozen=True, kw_only=True, eq=False)
class NoisyScore:
    """What a method released about its score, in the coordinates of its weights. Everything in it is public.

    `pilot` is a curvature whose noise is not in `curvature`, in the units of the latter: whether to speak is decided by
    it, because an interval that is issued only where the noise happened to be kind covers too rarely. None: decided by
    `curvature` itself.
    """

    loss: Literal["squared", "logistic"]
    curvature: Floats
    target: Floats
    centres: Floats
    weights: Floats
    gradient_noise: Floats
    curvature_noise: Floats
    count: int
    pilot: Floats | None = None
    square: float | None = None
    """The noisy sum of squared targets, for least squares; its noise has s / omega^2 = 2 t^2 / s as deviation."""

    def __post_init__(self) -> None:
        d, k = self.target.size, self.weights.size
        shapes = {
            "curvature": (d, d), "target": (d,), "centres": (k, d), "weights": (k,), "gradient_noise": (k,),
            "curvature_noise": (k,),
        }  # fmt: skip
        for name, shape in shapes.items():
            found = getattr(self, name)
            require(found.shape == shape, f"{name}.shape", found.shape, str(shape))
        require(self.count >= 1, "count", self.count, ">= 1")

    def value(self) -> dict[str, Any]:
        """What a release stores."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @classmethod
    def of_value(cls, value: Any) -> Self:
        """The score of a stored model; `FormatError` for anything else."""
        arrays = ("curvature", "target", "centres", "weights", "gradient_noise", "curvature_noise", "pilot")
        try:
            if not isinstance(value, Mapping) or value["loss"] not in ("squared", "logistic"):
                raise ValueError("loss")
            told = {one.name: value[one.name] for one in fields(cls)}
            for name in arrays:
                if told[name] is not None:
                    told[name] = np.asarray(told[name], dtype=np.float64)
                    if not np.isfinite(told[name]).all():
                        raise ValueError(name)
            return cls(**told | {"count": int(told["count"])})
        except (KeyError, TypeError, ValueError) as error:
            raise FormatError("what a release holds about its score is of the wrong kind") from error

    @property
    def dimension(self) -> int:
        """The number of weights."""
        return self.target.size

    @cached_property
    def deviation(self) -> float:
        """Of the noise on the diagonal of the curvature."""
        return float(np.linalg.norm(self.weights * self.curvature_noise))

    @cached_property
    def strength(self) -> float:
        """The least eigenvalue that decides, over deviation sqrt(d): how far the curvature stands out of its noise."""
        return self._standing_out(self.curvature if self.pilot is None else self.pilot)

    @cached_property
    def swamped(self) -> bool:
        """Whether noise swamps the information: first-order theory is not to be believed."""
        return self.strength < LEAST_STRENGTH or self._standing_out(self.curvature) < LEAST_USED

    def _standing_out(self, matrix: Floats) -> float:
        least = float(np.linalg.eigvalsh(matrix)[0])
        return least / max(self.deviation * math.sqrt(self.dimension), 1e-300)

    @cached_property
    def solution(self) -> Floats:
        """Where the score is zero."""
        return np.asarray(np.linalg.solve(self.curvature, self.target))

    def noise_covariance(self, theta: Floats) -> Floats:
        """N(theta)."""
        total = np.zeros((self.dimension, self.dimension))
        for centre, weight, t, s in zip(
            self.centres, self.weights, self.gradient_noise, self.curvature_noise, strict=True
        ):
            away = theta - centre
            total += weight**2 * (0.5 * s**2 * np.outer(away, away))
            total += weight**2 * (t**2 + 0.5 * s**2 * float(away @ away)) * np.eye(self.dimension)
        return total

    def residual_variance(self, theta: Floats, *, margin: float, freedom: float) -> float:
        """Of least squares: the noisy residual sum of squares, with so many deviations of its noise, over `freedom`."""
        assert self.square is not None, "least squares"
        t, s = float(self.gradient_noise[0]), float(self.curvature_noise[0])
        # v^T E v has the deviation s |v|^2, v = (theta, 1 / omega), and t^2 = s^2 / (2 omega^2).
        spread = s * float(theta @ theta) + 2.0 * t**2 / s
        rest = self.square - 2.0 * float(self.target @ theta) + float(theta @ self.curvature @ theta)
        return max(0.0, rest + margin * spread) / freedom

    def covariance(self) -> Floats:
        """Of the solution: C^-1 (sampling + N) C^-1, C the curvature; to be believed unless `swamped`.

        The gradient's sampling covariance is sigma^2 C for least squares of equal variances and C for a logistic model
        that holds.
        """
        inverse, theta = np.linalg.inv(self.curvature), self.solution
        noise = self.noise_covariance(theta)
        variance = 1.0
        if self.loss == "squared":
            # The least of a noisy quadratic lies below the quadratic at the truth, by the trace on average.
            below = float(np.einsum("ij,ji->", inverse, noise))
            freedom = max(1.0, self.count - self.dimension)
            variance = (
                self.residual_variance(theta, margin=VARIANCE_MARGIN, freedom=freedom) + below / freedom
            )
        wider = 1.0 + SECOND_ORDER / self.strength**2
        return np.asarray(wider * (inverse @ (variance * self.curvature + noise) @ inverse))
