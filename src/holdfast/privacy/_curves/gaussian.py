"""Gaussian differential privacy: the attacker can do no better than tell N(0, 1) from N(mu, 1).

The discrete Gaussian is not Gaussian-DP: in one dimension it has a curve of its own (soundness, section 16).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from holdfast._arguments import checked
from holdfast.errors import require
from holdfast.privacy._curves.curve import PrivacyCurve
from holdfast.privacy._curves.finite_curve import AtomicCurve
from holdfast.privacy._curves.renyi import ZCDP
from holdfast.privacy._losses.atomic_pair import AtomicPair
from holdfast.privacy._losses.dominating_pair import DominatingPair
from holdfast.privacy._losses.pairs import NormalPair
from holdfast.privacy._rounding import Number, as_written, round_up
from holdfast.privacy._safe_side import safe_side_of_many
from holdfast.privacy._tradeoff import Points

_REACH_IN_SIGMAS = 14.0  # e^-98 of mass beyond so many sigmas
_MOST_GRID_POINTS = 2**19
_SMALL_MU = 1e-6  # below it a shift's delta is linear in it
_LEAST_MU = 1e-100  # a smaller mu counts as this: its reciprocal would overflow


@checked
@dataclass(frozen=True, repr=False)
class GaussianDP(PrivacyCurve):
    """No test does better than between two normals of unit variance, mu apart (Dong, Roth and Su 2019).

    Parameters
    ----------
    mu : int, float or Fraction
        The distance between the two normals, >= 0: sensitivity over standard deviation.
    square : Fraction, optional
        mu squared exactly, where mu itself is irrational: squares are what adds up. `from_square` gives both.

    Examples
    --------
    >>> round(GaussianDP(1.0).epsilon(1e-6), 4)
    4.8866
    """

    mu: Number
    square: Fraction | None = None
    """mu squared exactly, where mu itself is irrational: squares are what adds up."""

    def __post_init__(self) -> None:
        require(self.mu >= 0 and math.isfinite(self.mu), "mu", self.mu, ">= 0 and finite")
        agree = self.square is None or self.mu == _root(self.square)
        require(
            agree, "square", self.square, f"the square of mu={float(self.mu)!r}", "use GaussianDP.from_square"
        )

    @classmethod
    def from_square(cls, square: Fraction) -> GaussianDP:
        """The curve of a sum of squares; mu is exact if the sum is a square, else rounded up.

        >>> GaussianDP.from_square(9 * Fraction(1, 3) ** 2)
        GaussianDP(mu=1)
        """
        root = _root(square)
        return cls(root) if isinstance(root, Fraction) else cls(root, square)

    @cached_property
    def _mu(self) -> float:
        return max(round_up(self.mu), _LEAST_MU) if self.mu > 0 else 0.0

    def delta(self, epsilon: float) -> float:
        """Balle and Wang 2018, theorem 8."""
        return float(self.deltas(np.array([epsilon]))[0])

    def deltas(self, epsilons: Points) -> NDArray[np.float64]:
        """Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu), by a difference of logs."""
        from scipy.special import log_ndtr

        mu = self._mu
        if mu == 0.0:
            return np.zeros_like(epsilons)
        if mu < _SMALL_MU:
            return self._positive(_small_shift(mu, epsilons), epsilons)
        with np.errstate(over="ignore", under="ignore"):
            first = log_ndtr(mu / 2 - epsilons / mu)
            # Below e^-1000 nothing is left of either term, and the second is a difference of huge ones.
            vanished = first < -1000.0
            near, first = np.where(vanished, 0.0, epsilons), np.where(vanished, -1000.0, first)
            second = np.where(vanished, -1000.0, near + log_ndtr(-mu / 2 - near / mu))
            # 1e-13: far above the relative error of log_ndtr; the result is an upper bound.
            difference = np.minimum(second - first, 0.0)
            relative = -np.expm1(difference)
            slack = 1e-14 * (1.0 + np.abs(first) + np.abs(second))
            values = np.exp(first) * np.minimum(1.0, relative + slack * np.exp(difference))
        return self._positive(np.minimum(np.maximum(values * (1 + 1e-13), 0.0), 1.0), epsilons)

    def _least_epsilon(self, delta: float, high: float) -> float:
        """The same, by fewer and longer arrays."""
        return safe_side_of_many(lambda epsilons: self.deltas(epsilons) - delta, unsafe=0.0, safe=high)

    def as_pure(self) -> Fraction | None:
        """Zero if nothing is revealed; otherwise None."""
        return None if self.mu > 0 else Fraction(0)

    @property
    def default_currency(self) -> str:
        """Gaussian DP, in which squares of mu add up."""
        return "gdp"

    def as_zcdp(self) -> Fraction:
        """mu^2 / 2."""
        return self.as_gdp() / 2

    def as_gdp(self) -> Fraction:
        """The square of the parameter itself."""
        return as_written(self.mu) ** 2 if self.square is None else self.square

    def pair(self) -> DominatingPair:
        """The pair of two normal laws, whose loss is itself normal."""
        if self._mu > 0:
            return NormalPair(self._mu)
        return AtomicPair(np.zeros(1), np.ones(1), absent=0.0, symmetric=True)

    def merge(self, other: PrivacyCurve) -> GaussianDP | None:
        """The Gaussian curve whose squared mu is the sum of both."""
        return (
            GaussianDP.from_square(self.as_gdp() + other.as_gdp()) if isinstance(other, GaussianDP) else None
        )

    def merge_copies(self, times: int) -> GaussianDP:
        """The Gaussian curve with `times` times the squared mu."""
        return GaussianDP.from_square(times * self.as_gdp())

    def group(self, size: int) -> GaussianDP:
        """The Gaussian curve with `size` times the mu."""
        return GaussianDP.from_square(size**2 * self.as_gdp())

    def to_replace(self) -> GaussianDP:
        """The Gaussian curve with twice the mu."""
        return self.group(2)

    def admits(self, curve: PrivacyCurve) -> bool:
        """Whether the Gaussian parameter of the curve is at most this one."""
        other = curve.as_gdp()
        return other is not None and other <= self.as_gdp() and not curve.has_slack

    def __repr__(self) -> str:
        return f"GaussianDP(mu={float(self.mu):g})"


def _small_shift(mu: float, epsilons: NDArray[np.float64]) -> NDArray[np.float64]:
    """An upper bound within mu of the truth, relatively, where a difference of tails would lose its digits.

    With t = epsilon / mu - mu / 2 and Mills' ratio M, delta is phi(t) (M(t) - M(t + mu)): e^epsilon phi(t + mu)
    is phi(t). As -M'(t) = 1 - t M(t) falls with t, the difference is at most mu times that.
    """
    from scipy.special import erfcx

    with np.errstate(over="ignore", under="ignore"):
        start = np.minimum(epsilons / mu - mu / 2, 1e6)
        slope = 1.0 - start * math.sqrt(math.pi / 2) * erfcx(start / math.sqrt(2.0))
        density = np.exp(-0.5 * start * start) / math.sqrt(2.0 * math.pi)
        return np.asarray(np.clip(density * (mu * np.maximum(slope, 0.0) * (1 + 1e-9)), 0.0, 1.0))


def _root(square: Fraction) -> Number:
    """The square root: exact where it is a fraction, else the least double that is not below it."""
    above, below = math.isqrt(square.numerator), math.isqrt(square.denominator)
    if above**2 == square.numerator and below**2 == square.denominator:
        return Fraction(above, below)
    # 2^-200 of the root, and less, is lost by the whole root of a shifted number.
    shift = max(0, 200 + square.denominator.bit_length() - square.numerator.bit_length())
    root = math.isqrt((square.numerator << 2 * shift) // square.denominator) + 1
    return round_up(Fraction(root, 1 << shift))


@dataclass(frozen=True, repr=False)
class DiscreteGaussianCurve(AtomicCurve):
    """Integer noise with P[k] ~ exp(-k^2 / (2 sigma^2)), on values that move by at most `shift` steps.

    The law is log-concave, so the best test is a threshold and gains with the shift: the largest shift
    is the worst one. Above a few ten thousand steps of sigma the curve is that of its zCDP parameter.

    >>> DiscreteGaussianCurve(1.0, 1).as_zcdp()
    Fraction(1, 2)
    """

    LARGEST: ClassVar[float] = 1e300  # more noise is no harm

    sigma: Number
    shift: int

    def __post_init__(self) -> None:
        require(1e-9 <= self.sigma < math.inf, "sigma", self.sigma, ">= 1e-9 and finite (in grid steps)")
        require(isinstance(self.shift, int) and self.shift >= 1, "shift", self.shift, "a whole number >= 1")

    @property
    def _is_small(self) -> bool:
        return 2 * _REACH_IN_SIGMAS * float(self.sigma) + self.shift <= _MOST_GRID_POINTS

    @cached_property
    def _atoms(self) -> AtomicPair:
        sigma, v = float(self.sigma), self.shift
        reach = math.ceil(_REACH_IN_SIGMAS * sigma) + 1
        noise = np.arange(-reach, reach + 1, dtype=np.float64)
        with np.errstate(under="ignore"):
            weights = np.exp(-0.5 * (noise / sigma) ** 2)
        masses = weights / math.fsum(weights)
        # At y = v + noise the loss is (y^2 - (y - v)^2) / (2 sigma^2) = v (2 noise + v) / (2 sigma^2).
        losses = v * (2.0 * noise + v) / (2.0 * sigma * sigma)
        # Both tails are cut alike; what a law lacks of 1 lies beyond the cut.
        beyond, step = 4 * math.exp(-(_REACH_IN_SIGMAS**2) / 2), v / (2.0 * sigma * sigma)
        return AtomicPair(losses, masses, beyond, step, symmetric=True)

    def atoms(self) -> AtomicPair:
        """The outcomes; the law is symmetric."""
        return self._atoms

    def pair(self) -> DominatingPair | None:
        """The atoms, while there are not too many."""
        return self._atoms if self._is_small else None

    def deltas(self, epsilons: Points) -> NDArray[np.float64]:
        """P[Y > eps s^2/v - v/2] - e^eps P[Y > eps s^2/v + v/2], as exact sums."""
        values = super().deltas(epsilons) if self._is_small else ZCDP(self.as_zcdp()).deltas(epsilons)
        return self._positive(values, epsilons)

    def as_zcdp(self) -> Fraction:
        """shift^2 / (2 sigma^2), exactly as for the continuous law."""
        return Fraction(self.shift**2) / (2 * as_written(self.sigma) ** 2)

    def group(self, size: int) -> DiscreteGaussianCurve:
        """Thresholds compose: a group of k moves k times as far."""
        return DiscreteGaussianCurve(self.sigma, size * self.shift)

    def to_replace(self) -> DiscreteGaussianCurve:
        """The curve for twice the shift."""
        return self.group(2)

    def __repr__(self) -> str:
        return f"DiscreteGaussianCurve(sigma={float(self.sigma):g}, shift={self.shift})"
