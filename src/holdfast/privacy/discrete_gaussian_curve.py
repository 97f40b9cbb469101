"""The curve that the one-dimensional discrete Gaussian really has (soundness, section 16)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import require
from holdfast.privacy.atomic_curve import AtomicCurve
from holdfast.privacy.numeric.dominating_pair import DominatingPair
from holdfast.privacy.numeric.pairs.atoms import AtomicPair
from holdfast.privacy.rounding import Number, as_written
from holdfast.privacy.zcdp import ZCDP

_REACH = 14.0  # e^-98 of mass beyond so many sigmas
_LARGEST = 2**19


@dataclass(frozen=True, repr=False)
class DiscreteGaussianCurve(AtomicCurve):
    """Integer noise with P[k] ~ exp(-k^2 / (2 sigma^2)), on values that move by at most `shift` steps.

    The law is log-concave, so the best test is a threshold and gains with the shift: the largest shift
    is the worst one. Above a few ten thousand steps of sigma the curve is that of its zCDP parameter.

    >>> DiscreteGaussianCurve(1.0, 1).as_zcdp()
    Fraction(1, 2)
    """

    sigma: Number
    shift: int

    def __post_init__(self) -> None:
        require(0 < self.sigma < math.inf, "sigma", self.sigma, "> 0 and finite (in grid steps)")
        require(isinstance(self.shift, int) and self.shift >= 1, "shift", self.shift, "a whole number >= 1")

    @property
    def _is_small(self) -> bool:
        return 2 * _REACH * float(self.sigma) + self.shift <= _LARGEST

    @cached_property
    def _atoms(self) -> tuple[AtomicPair, ...]:
        sigma, v = float(self.sigma), self.shift
        reach = math.ceil(_REACH * sigma) + 1
        noise = np.arange(-reach, reach + 1, dtype=np.float64)
        with np.errstate(under="ignore"):
            weights = np.exp(-0.5 * (noise / sigma) ** 2)
        masses = weights / math.fsum(weights)
        # At y = v + noise the loss is (y^2 - (y - v)^2) / (2 sigma^2) = v (2 noise + v) / (2 sigma^2).
        losses = v * (2.0 * noise + v) / (2.0 * sigma * sigma)
        return (AtomicPair(losses, masses, 4 * math.exp(-(_REACH**2) / 2), v / (2.0 * sigma * sigma)),)

    def atoms(self) -> tuple[AtomicPair, ...]:
        """One pair: the law is symmetric."""
        return self._atoms

    def pairs(self) -> tuple[DominatingPair, ...] | None:
        """The atoms, while there are not too many."""
        return self._atoms if self._is_small else None

    def deltas(self, epsilons: NDArray[np.float64]) -> NDArray[np.float64]:
        """P[Y > eps s^2/v - v/2] - e^eps P[Y > eps s^2/v + v/2], as exact sums."""
        return super().deltas(epsilons) if self._is_small else ZCDP(self.as_zcdp()).deltas(epsilons)

    def as_zcdp(self) -> Fraction:
        """shift^2 / (2 sigma^2), exactly as for the continuous law."""
        return Fraction(self.shift**2) / (2 * as_written(self.sigma) ** 2)

    def group(self, size: int) -> DiscreteGaussianCurve:
        """Thresholds compose: a group of k moves k times as far."""
        return DiscreteGaussianCurve(self.sigma, size * self.shift)

    def __repr__(self) -> str:
        return f"DiscreteGaussianCurve(sigma={float(self.sigma):g}, shift={self.shift})"
