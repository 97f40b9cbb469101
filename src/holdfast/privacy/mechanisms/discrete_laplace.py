"""Two-sided geometric noise on a declared grid, with the curve that is really its own."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import ParameterError, require
from holdfast.noise.discrete_laplace import discrete_laplace
from holdfast.noise.source import Source
from holdfast.privacy.curve import PrivacyCurve, PureDP
from holdfast.privacy.discrete_laplace_curve import DiscreteLaplaceCurve
from holdfast.privacy.mechanism import Mechanism
from holdfast.privacy.mechanisms.laplace import discrete_laplace_cdf
from holdfast.privacy.rounding import Number, as_written


@dataclass(frozen=True, kw_only=True)
class DiscreteLaplace(Mechanism):
    """Integer noise with P[k] proportional to exp(-|k| / scale).

    Values are integers, unless `grid` declares a step: then real values are rounded to it, scale and
    sensitivity are in the value's units, and the sensitivity grows by a step per coordinate.
    For `dimension=1` the curve is the exact one of the geometric pair, else pure epsilon.

    >>> DiscreteLaplace(scale=2.0, l1_sensitivity=1).curve
    PureDP(epsilon=0.5)
    """

    scale: Number
    l1_sensitivity: Number
    dimension: int | None = None
    grid: Number | None = None

    theorem: ClassVar[str] = "geometric mechanism (Ghosh, Roughgarden and Sundararajan 2009)"
    public: ClassVar[tuple[str, ...]] = ("the grid", "the number of coordinates")

    def validate(self) -> None:
        """Positive scales; a grid needs the dimension."""
        require(0 < self.scale < float("inf"), "scale", self.scale, "> 0 and finite")
        require(
            0 < self.l1_sensitivity < float("inf"), "l1_sensitivity", self.l1_sensitivity, "> 0 and finite"
        )
        known = self.dimension is None or (isinstance(self.dimension, int) and self.dimension >= 1)
        require(known, "dimension", self.dimension, "a whole number >= 1")
        require(self.grid is None or 0 < self.grid < float("inf"), "grid", self.grid, "> 0 and finite")
        require(self.grid is None or self.dimension is not None, "dimension", None, "given when a grid is")

    @property
    def _step(self) -> Fraction:
        return Fraction(1) if self.grid is None else as_written(self.grid)

    @property
    def _shift(self) -> Fraction:
        """The sensitivity in steps, after rounding."""
        shift = as_written(self.l1_sensitivity) / self._step
        return shift if self.grid is None else shift + Fraction(self.dimension or 1)

    @property
    def curve(self) -> PrivacyCurve:
        """Exact in one dimension, pure in more."""
        scale = as_written(self.scale) / self._step
        if self.dimension == 1:
            return DiscreteLaplaceCurve(scale, max(1, int(self._shift)))
        return PureDP(self._shift / scale)

    def check(self, value: Any) -> NDArray[Any]:
        """Integers where no grid is declared; the declared dimension where one is."""
        return on_grid(super().check(value), self.dimension, self.grid)

    def sample(self, value: NDArray[Any], source: Source) -> NDArray[Any]:
        """Exact integer noise on the grid."""
        noise = discrete_laplace(source, scale=as_written(self.scale) / self._step, size=value.size)
        return move_on_grid(value, noise, self.grid)

    def worst_pair(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """A shift by the whole sensitivity."""
        dtype = np.int64 if self.grid is None else np.float64
        return np.zeros(1, dtype), np.array([self.l1_sensitivity]).astype(dtype)

    def cdf(self, value: NDArray[Any], at: NDArray[np.float64]) -> NDArray[np.float64]:
        """The two-sided geometric law in steps."""
        step = 1.0 if self.grid is None else float(self.grid)
        steps = whole_steps(at, step) - np.rint(float(value.flat[0]) / step)
        return discrete_laplace_cdf(steps, float(self.scale) / step)

    def distance(self, first: NDArray[Any], second: NDArray[Any]) -> float:
        """Sum of absolute differences."""
        return float(np.abs(np.subtract(first, second, dtype=float)).sum()) / float(self.l1_sensitivity)

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        """On integers, and on a declared grid."""
        return (
            cls(scale=1.0, l1_sensitivity=1, dimension=1),
            cls(scale=2.0, l1_sensitivity=2),
            cls(scale=1.0, l1_sensitivity=1.0, dimension=1, grid=0.125),
        )


def whole_steps(at: NDArray[np.float64], step: float) -> NDArray[np.float64]:
    """The last grid point that is not above, in steps; a value within rounding of a point counts as it."""
    steps = at / step
    return np.asarray(np.floor(steps + np.abs(steps) * 2.0**-50))


def on_grid(value: NDArray[Any], dimension: int | None, grid: Number | None) -> NDArray[Any]:
    """Refuse values that the declared grid and dimension do not cover."""
    if grid is None and value.dtype != np.int64:
        raise ParameterError(
            "value must be integers where no grid is declared; declare grid=... and dimension=..."
        )
    require(
        dimension is None or value.size == dimension, "value.size", value.size, f"the declared {dimension}"
    )
    return value


def move_on_grid(value: NDArray[Any], noise: NDArray[np.int64], grid: Number | None) -> NDArray[Any]:
    """Round to the grid, move by whole steps."""
    steps = noise.reshape(value.shape)
    if grid is None:
        return np.asarray(value + steps)
    step = float(grid)
    centre = np.clip(np.rint(value / step), -(2.0**61), 2.0**61).astype(np.int64)
    return np.asarray((centre + steps) * step)
