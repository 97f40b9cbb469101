"""Two-sided geometric noise on a declared grid, with the curve that is really its own."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import require
from holdfast.noise.discrete_laplace import discrete_laplace
from holdfast.noise.source import Source
from holdfast.privacy.curve import PrivacyCurve, PureDP
from holdfast.privacy.discrete_laplace_curve import DiscreteLaplaceCurve
from holdfast.privacy.mechanisms.laplace import discrete_laplace_cdf
from holdfast.privacy.mechanisms.on_grid import OnGrid
from holdfast.privacy.rounding import Number, as_written


@dataclass(frozen=True, kw_only=True)
class DiscreteLaplace(OnGrid):
    """Integer noise with P[k] proportional to exp(-|k| / scale).

    Values are integers, unless `grid` declares a step: then real values are rounded to it, scale and
    sensitivity are in the value's units, and the sensitivity grows by a step per coordinate.
    For `dimension=1` the curve is the exact one of the geometric pair, else pure epsilon.

    >>> DiscreteLaplace(scale=2.0, l1_sensitivity=1).curve
    PureDP(epsilon=0.5)
    """

    scale: Number
    l1_sensitivity: Number

    theorem: ClassVar[str] = "geometric mechanism (Ghosh, Roughgarden and Sundararajan 2009)"

    def validate(self) -> None:
        """Positive scales; a grid needs the dimension."""
        require(0 < self.scale < float("inf"), "scale", self.scale, "> 0 and finite")
        require(
            0 < self.l1_sensitivity < float("inf"), "l1_sensitivity", self.l1_sensitivity, "> 0 and finite"
        )
        super().validate()

    @property
    def sensitivity(self) -> Number:
        """In the L1 norm."""
        return self.l1_sensitivity

    def rounding(self, dimension: int) -> Fraction:
        """A step per coordinate."""
        return Fraction(dimension)

    @property
    def curve(self) -> PrivacyCurve:
        """Exact in one dimension, pure in more."""
        scale = as_written(self.scale) / self.step
        if self.dimension == 1:
            return DiscreteLaplaceCurve(scale, self.whole_shift)
        return PureDP(self.shift / scale)

    def sample(self, value: NDArray[Any], source: Source) -> NDArray[Any]:
        """Exact integer noise on the grid."""
        noise = discrete_laplace(source, scale=as_written(self.scale) / self.step, size=value.size)
        return self.moved(value, noise)

    def cdf(self, value: NDArray[Any], at: NDArray[np.float64]) -> NDArray[np.float64]:
        """The two-sided geometric law in steps."""
        return discrete_laplace_cdf(self.steps_from(value, at), float(self.scale) / float(self.step))

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
