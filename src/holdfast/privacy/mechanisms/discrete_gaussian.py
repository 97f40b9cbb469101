"""Integer Gaussian noise on a declared grid, with the curve that is really its own."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import require
from holdfast.noise.discrete_gaussian import discrete_gaussian
from holdfast.noise.source import Source
from holdfast.privacy.curve import PrivacyCurve
from holdfast.privacy.discrete_gaussian_curve import DiscreteGaussianCurve
from holdfast.privacy.grid import root_above
from holdfast.privacy.mechanism import index_cdf
from holdfast.privacy.mechanisms.on_grid import OnGrid
from holdfast.privacy.rounding import Number, as_written
from holdfast.privacy.zcdp import ZCDP


@dataclass(frozen=True, kw_only=True)
class DiscreteGaussian(OnGrid):
    """Integer noise with P[k] proportional to exp(-k^2 / (2 sigma^2)).

    Exactly zCDP with rho = sensitivity^2 / (2 sigma^2) in any dimension, and **not** Gaussian DP: its
    delta(epsilon) exceeds the normal's at small sigma, more than twofold at sigma = 1 (soundness, section 16). For
    `dimension=1` the curve is the exact one. `grid` as in DiscreteLaplace.

    >>> DiscreteGaussian(sigma=2.0, l2_sensitivity=1).curve
    ZCDP(rho=0.125)
    """

    sigma: Number
    l2_sensitivity: Number

    theorem: ClassVar[str] = (
        "discrete Gaussian (Canonne, Kamath and Steinke 2020, theorem 4; exact in one dimension)"
    )

    def validate(self) -> None:
        """Positive scales; a grid needs the dimension."""
        require(0 < self.sigma < float("inf"), "sigma", self.sigma, "> 0 and finite")
        require(
            0 < self.l2_sensitivity < float("inf"), "l2_sensitivity", self.l2_sensitivity, "> 0 and finite"
        )
        super().validate()

    @property
    def sensitivity(self) -> Number:
        """In the L2 norm."""
        return self.l2_sensitivity

    def rounding(self, dimension: int) -> Fraction:
        """sqrt(d) steps, rounded up."""
        return root_above(dimension)

    @property
    def curve(self) -> PrivacyCurve:
        """Exact in one dimension, zCDP in more."""
        sigma = as_written(self.sigma) / self.step
        if self.dimension == 1:
            return DiscreteGaussianCurve(sigma, self.whole_shift)
        return ZCDP(self.shift**2 / (2 * sigma**2))

    def sample(self, value: NDArray[Any], source: Source) -> NDArray[Any]:
        """Exact integer noise on the grid."""
        noise = discrete_gaussian(source, sigma=as_written(self.sigma) / self.step, size=value.size)
        return self.moved(value, noise)

    def cdf(self, value: NDArray[Any], at: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sums of exp(-k^2 / (2 sigma^2)), out to 39 sigma, where they vanish in doubles."""
        sigma = float(self.sigma) / float(self.step)
        reach = int(39 * sigma) + 1
        weights = np.exp(-0.5 * (np.arange(-reach, reach + 1) / sigma) ** 2)
        return index_cdf(weights, self.steps_from(value, at) + reach)

    def distance(self, first: NDArray[Any], second: NDArray[Any]) -> float:
        """Euclidean."""
        return float(np.linalg.norm(np.subtract(first, second, dtype=float))) / float(self.l2_sensitivity)

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        """On integers, and on a declared grid."""
        return (
            cls(sigma=1.0, l2_sensitivity=1, dimension=1),
            cls(sigma=3.0, l2_sensitivity=4),
            cls(sigma=1.0, l2_sensitivity=1.0, dimension=1, grid=0.125),
        )
