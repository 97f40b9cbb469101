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
from holdfast.privacy.mechanism import Mechanism, index_cdf
from holdfast.privacy.mechanisms.discrete_laplace import move_on_grid, on_grid, whole_steps
from holdfast.privacy.rounding import Number, as_written
from holdfast.privacy.zcdp import ZCDP


@dataclass(frozen=True, kw_only=True)
class DiscreteGaussian(Mechanism):
    """Integer noise with P[k] proportional to exp(-k^2 / (2 sigma^2)).

    Exactly zCDP with rho = sensitivity^2 / (2 sigma^2) in any dimension, and **not** Gaussian DP: its
    delta(epsilon) exceeds the normal's by up to 114 % at sigma = 1 (soundness, section 16). For
    `dimension=1` the curve is the exact one. `grid` as in DiscreteLaplace.

    >>> DiscreteGaussian(sigma=2.0, l2_sensitivity=1).curve
    ZCDP(rho=0.125)
    """

    sigma: Number
    l2_sensitivity: Number
    dimension: int | None = None
    grid: Number | None = None

    theorem: ClassVar[str] = (
        "discrete Gaussian (Canonne, Kamath and Steinke 2020, theorem 4; exact in one dimension)"
    )
    public: ClassVar[tuple[str, ...]] = ("the grid", "the number of coordinates")

    def validate(self) -> None:
        """Positive scales; a grid needs the dimension."""
        require(0 < self.sigma < float("inf"), "sigma", self.sigma, "> 0 and finite")
        require(
            0 < self.l2_sensitivity < float("inf"), "l2_sensitivity", self.l2_sensitivity, "> 0 and finite"
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
        shift = as_written(self.l2_sensitivity) / self._step
        return shift if self.grid is None else shift + root_above(self.dimension or 1)

    @property
    def curve(self) -> PrivacyCurve:
        """Exact in one dimension, zCDP in more."""
        sigma = as_written(self.sigma) / self._step
        if self.dimension == 1:
            return DiscreteGaussianCurve(sigma, max(1, int(self._shift)))
        return ZCDP(self._shift**2 / (2 * sigma**2))

    def check(self, value: Any) -> NDArray[Any]:
        """Integers where no grid is declared; the declared dimension where one is."""
        return on_grid(super().check(value), self.dimension, self.grid)

    def sample(self, value: NDArray[Any], source: Source) -> NDArray[Any]:
        """Exact integer noise on the grid."""
        noise = discrete_gaussian(source, sigma=as_written(self.sigma) / self._step, size=value.size)
        return move_on_grid(value, noise, self.grid)

    def worst_pair(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """A shift by the whole sensitivity."""
        dtype = np.int64 if self.grid is None else np.float64
        return np.zeros(1, dtype), np.array([self.l2_sensitivity]).astype(dtype)

    def cdf(self, value: NDArray[Any], at: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sums of exp(-k^2 / (2 sigma^2)), out to 39 sigma, where they vanish in doubles."""
        step = 1.0 if self.grid is None else float(self.grid)
        sigma, reach = float(self.sigma) / step, int(39 * float(self.sigma) / step) + 1
        weights = np.exp(-0.5 * (np.arange(-reach, reach + 1) / sigma) ** 2)
        steps = whole_steps(at, step) - np.rint(float(value.flat[0]) / step)
        return index_cdf(weights, steps + reach)

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
