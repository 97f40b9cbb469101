"""NoisyScore: released gradients and second derivatives, and what their noise and the sampling do to a solution.

A method releases g_k + e_k and H_k + E_k, the gradient and the second derivative of a sum of losses at points theta_k
that it chose from earlier releases; e_k is isotropic of deviation t_k, E_k symmetric with s_k on the diagonal and
s_k / sqrt(2) off it. With public weights w_k that sum to 1 the score is

    r(theta) = sum w_k (H_k (theta_k - theta) - g_k) = target - curvature theta,

and its root is the estimate. At the true theta its covariance is that of the sampled gradient plus

    N(theta) = sum w_k^2 (t_k^2 I + (s_k^2 / 2) (|d_k|^2 I + d_k d_k^T)),   d_k = theta - theta_k

(soundness, section 26). Least squares are one step from the origin: g = -X^T y, H = X^T X.

Arrays may carry leading axes, for many releases with the same noise at once: so the coverage benchmark runs this code.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
from scipy.special import ndtri

from holdfast._arrays import Floats
from holdfast._stored_fields import require_fields
from holdfast.errors import FormatError, require

LEAST_STRENGTH = 4.5
"""Least eigenvalue of the curvature, in units of deviation times root of the dimension, that must be sure: from there
on first-order theory holds, and with terms of second order the mean width is within 1.15 of an oracle's."""
LEAST_USED = 3.0
"""The same of the curvature that is inverted, where another one decided: below it even second-order terms are large."""
DOUBT_DEVIATIONS = float(ndtri(0.99))
"""Deviations that are taken off before something is sure: an interval that should be refused is issued once in 100."""
LEAST_ROWS = 3.5
"""The same in units of what one row of full norm adds where a logistic model bends: without noise theory needs rows."""
COIN_SCALE, LUCK_SCALES = 1.25, 4.5
"""Scale of the Laplace coin by which the line of refusal is blurred, in units of what sampling does to the deciding
number; and how many scales the line is raised before, so that luck of the coin never lowers it (soundness, section 26).
"""
PILOT_DEVIATIONS = 1.5
"""Deviations by which the noise of the steps before may have moved the place where a curvature was measured."""
BEND_FACTOR = 8.0
"""Terms of second order of a logistic model, as a share of the variance: this over the squared strength. Its curvature
is also measured beside the place where it is needed; by simulation."""
WIDEST_FACTOR = 1.1
"""What terms of second order may do to a width; an interval that knows itself to be wider is not issued."""
VARIANCE_MARGIN = 0.5
"""Deviations of its noise that are added to the residual variance: the plug-in one is too small half of the time."""


@dataclass(frozen=True, kw_only=True, eq=False)
class NoisyScore:
    """What a method released about its score, in the coordinates of its weights. Everything in it is public.

    `pilot` is a curvature whose noise, of deviation `pilot_noise`, is not in `curvature`, in the units of the latter:
    whether to speak is decided by it, because an interval that is issued only where the noise happened to be kind
    covers too rarely. None: decided by `curvature` itself. `bend` bounds how fast the curvature changes: by a factor of
    at most exp(bend |step|), 0 for least squares and the norm of rows for a logistic model. `tilt` says how fast it
    does change: the noisy derivative of u^T H u by the weights, u the direction of the pilot's least eigenvalue.
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
    pilot_noise: float = 0.0
    bend: float = 0.0
    tilt: Floats | None = None
    square: Any = None
    """The noisy sum of squared targets, for least squares; its noise has s / omega^2 = 2 t^2 / s as deviation."""

    def __post_init__(self) -> None:
        d, k, many = self.dimension, self.weights.size, self.target.shape[:-1]
        shapes = {
            "curvature": (*many, d, d),
            "target": (*many, d),
            "centres": (*many, k, d),
            "weights": (k,),
            "gradient_noise": (k,),
            "curvature_noise": (k,),
        }
        if self.tilt is not None:
            shapes["tilt"] = (*many, d)
        for name, shape in shapes.items():
            array = getattr(self, name)
            require(array.shape == shape, f"{name}.shape", array.shape, str(shape))
        require(self.count >= 1, "count", self.count, ">= 1")

    def __getitem__(self, place: Any) -> Self:
        """Some of many releases, or one."""
        many = ("curvature", "target", "centres", "pilot", "tilt", "square")
        held = {name: getattr(self, name) for name in many}
        return replace(self, **{name: array[place] for name, array in held.items() if array is not None})

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
        """Of the noise on the diagonal of the curvature."""
        return float(np.linalg.norm(self.weights * self.curvature_noise))

    @property
    def _unit(self) -> float:
        return max(self.deviation * math.sqrt(self.dimension), 1e-300)

    @cached_property
    def strength(self) -> Any:
        """The least eigenvalue that decides, over deviation sqrt(d): how far the curvature stands out of its noise."""
        return _least(self.curvature if self.pilot is None else self.pilot) / self._unit

    @cached_property
    def _inverted_strength(self) -> Any:
        """The strength of what is inverted."""
        return _least(self.curvature) / self._unit

    @cached_property
    def _free_of_noise(self) -> Any:
        """The strength, less what the deciding noise may have added.

        Noise of deviation s lifts a least eigenvalue by more than z s with probability 1 - Phi(z) at most: along its
        eigenvector the noise is normal.
        """
        noise = self.deviation if self.pilot is None else self.pilot_noise
        return self.strength - DOUBT_DEVIATIONS * noise / self._unit

    @cached_property
    def _least_eigenvalue(self) -> tuple[Any, Any, Any]:
        """Of a bent curvature: root of the least eigenvalue, scale of the coin in it, and what sampling does to it.

        A curvature is measured at an estimate. That rows are a sample moves the logarithm of its least eigenvalue by a
        deviation of |tilt|_(C^-1) / eigenvalue, its root by nearly the same whatever it is, and terms of second order
        by up to bend^2 / eigenvalue; noisy gradients before (those cost about what the pilot did) move it as well.
        """
        assert self.pilot is not None, "decided by another draw"
        assert self.tilt is not None, "told how fast it changes"
        eye, some = np.eye(self.dimension), np.asarray(self._free_of_noise > 0)
        least = np.where(some, self._free_of_noise * self._unit, 1.0)
        floor = np.where(some[..., None, None], self.pilot - DOUBT_DEVIATIONS * self.pilot_noise * eye, eye)
        moved = np.linalg.solve(floor, self.tilt[..., None])[..., 0]
        by_rows = np.sqrt(np.sum(self.tilt * moved, axis=-1)) / least
        t = self.pilot_noise * float(self.gradient_noise[0] / self.curvature_noise[0])
        by_noise = t * np.linalg.norm(moved, axis=-1) / least + (self.bend * t / least) ** 2
        root = np.sqrt(least) * np.exp(-np.minimum(0.5 * PILOT_DEVIATIONS * by_noise, 350.0))
        spread = np.hypot(by_rows, self.bend**2 / least) * np.sqrt(least)
        return root, 0.5 * COIN_SCALE * spread, spread * np.sqrt(least)

    @property
    def needed_strength(self) -> float:
        """Of the sure strength, for intervals."""
        return max(LEAST_STRENGTH, LEAST_ROWS * self.bend**2 / self._unit)

    @cached_property
    def sure_strength(self) -> Any:
        """What is sure of the strength; intervals are issued where it is at least `needed_strength`.

        A sharp line would issue intervals of a logistic model to the tables whose estimate happened to be small, so it
        is blurred by a coin made of the release: one deviation of sampling changes the chance of an interval by a
        factor of at most exp(1 / COIN), and what it changes is in `_selection`.
        """
        if self.bend == 0.0:
            return self._free_of_noise
        if self.pilot is None or self.tilt is None:
            return np.zeros(self.target.shape[:-1])
        root, scale, _ = self._least_eigenvalue
        sure = np.maximum(root - scale * np.maximum(LUCK_SCALES - _coin(self.pilot), 0.0), 0.0) ** 2
        return np.where(self._free_of_noise > 0, sure / self._unit, self._free_of_noise)

    @property
    def _selection(self) -> Floats:
        """How far the estimate is off on average among intervals issued: C^-1 times the slope of the log chance."""
        if self.bend == 0.0 or self.pilot is None or self.tilt is None:
            return np.zeros_like(self.target)
        root, scale, moved = self._least_eigenvalue
        above = (root - math.sqrt(self.needed_strength * self._unit)) / np.maximum(
            scale, 1e-300
        ) - LUCK_SCALES
        tail = np.exp(-np.maximum(above, 0.0))
        slope = tail / (2.0 - tail) / np.maximum(COIN_SCALE * moved, 1e-300)
        return np.asarray(np.linalg.solve(self.curvature, (slope[..., None] * self.tilt)[..., None])[..., 0])

    @cached_property
    def useless(self) -> Any:
        """Whether the solution is not even to be used: a floored one is better."""
        return (self.strength < LEAST_STRENGTH) | (self._inverted_strength < LEAST_USED)

    @cached_property
    def _wider(self) -> Any:
        """What terms of second order do to the variance, as a factor."""
        if self.loss == "squared":
            return 1.0 + 1.5 * (self.dimension + 1) / self.dimension / self.strength**2
        # A pilot that was led astray does not say how strong the curvature is where it is used.
        return 1.0 + BEND_FACTOR / np.minimum(self.strength, self._inverted_strength) ** 2

    @cached_property
    def unreliable(self) -> Any:
        """Whether noise may swamp the information: first-order theory is not to be believed."""
        return self.useless | ~(self.sure_strength >= self.needed_strength) | (self._wider > WIDEST_FACTOR**2)

    @cached_property
    def solution(self) -> Floats:
        """Where the score is zero."""
        return np.asarray(np.linalg.solve(self.curvature, self.target[..., None])[..., 0])

    def noise_covariance(self, theta: Floats) -> Floats:
        """N(theta)."""
        away, weights = theta[..., None, :] - self.centres, self.weights
        half = 0.5 * (weights * self.curvature_noise) ** 2
        flat = np.sum((weights * self.gradient_noise) ** 2) + np.einsum("k,...ki->...", half, away**2)
        outer = np.einsum("k,...ki,...kj->...ij", half, away, away)
        return np.asarray(flat[..., None, None] * np.eye(self.dimension) + outer)

    def residual_variance(self, theta: Floats, *, margin: float, freedom: float) -> Any:
        """Of least squares: the noisy residual sum of squares, with so many deviations of its noise, over `freedom`."""
        assert self.square is not None, "least squares"
        t, s = float(self.gradient_noise[0]), float(self.curvature_noise[0])
        # v^T E v has the deviation s |v|^2, v = (theta, 1 / omega), and t^2 = s^2 / (2 omega^2).
        spread = s * np.sum(theta * theta, axis=-1) + 2.0 * t**2 / s
        bent = np.einsum("...i,...ij,...j->...", theta, self.curvature, theta)
        rest = self.square - 2.0 * np.sum(self.target * theta, axis=-1) + bent
        return np.maximum(0.0, rest + margin * spread) / freedom

    def covariance(self) -> Floats:
        """Of the solution: C^-1 (sampling + N) C^-1, C the curvature; to be believed unless `unreliable`.

        The gradient's sampling covariance is sigma^2 C for least squares of equal variances and C for a logistic model
        that holds.
        """
        inverse, theta = np.linalg.inv(self.curvature), self.solution
        noise = self.noise_covariance(theta)
        variance = np.ones(theta.shape[:-1])
        if self.loss == "squared":
            # The least of a noisy quadratic lies below the quadratic at the truth, by the trace on average.
            below = np.einsum("...ij,...ji->...", inverse, noise)
            freedom = max(1.0, self.count - self.dimension)
            variance = (
                self.residual_variance(theta, margin=VARIANCE_MARGIN, freedom=freedom) + below / freedom
            )
        middle = variance[..., None, None] * self.curvature + noise
        off = self._selection
        return np.asarray(
            np.asarray(self._wider)[..., None, None] * (inverse @ middle @ inverse)
            + off[..., :, None] * off[..., None, :]
        )


def _least(matrix: Floats) -> Any:
    return np.linalg.eigvalsh(matrix)[..., 0]


def _coin(matrix: Floats) -> Any:
    """A Laplace number for each matrix, from all digits of it: who holds the release finds the same."""
    plain = np.ascontiguousarray(matrix, dtype="<f8").reshape(-1, *matrix.shape[-2:])
    drawn = [int.from_bytes(hashlib.sha256(array.tobytes()).digest()[:6], "big") for array in plain]
    chance = (np.array(drawn) + 0.5) / 2.0**48
    side = np.where(chance < 0.5, 1.0, -1.0)
    return (side * np.log(2.0 * np.where(chance < 0.5, chance, 1.0 - chance))).reshape(matrix.shape[:-2])
