"""The exact curves of Laplace noise, continuous and discrete (geometric), in one dimension."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import require
from holdfast.privacy._curves.curve import PureDP
from holdfast.privacy._curves.finite_curve import AtomicCurve
from holdfast.privacy._losses.atomic_pair import AtomicPair
from holdfast.privacy._losses.dominating_pair import DominatingPair
from holdfast.privacy._losses.pairs import LaplacePair
from holdfast.privacy._rounding import Number, as_written, round_up
from holdfast.privacy._tradeoff import Points


@dataclass(frozen=True, init=False, repr=False)
class LaplaceCurve(PureDP):
    """Pure with epsilon = ratio = l1 sensitivity / scale, and better than that at delta > 0.

    >>> round(LaplaceCurve(1.0).delta(0.5), 6)
    0.221199
    """

    def delta(self, epsilon: float) -> float:
        """1 - e^((epsilon - ratio) / 2), rounded up; 0 from epsilon = ratio on."""
        own = round_up(self.as_pure())
        if epsilon >= own:
            return 0.0
        return min(1.0, -math.expm1((epsilon - own) / 2) * (1 + 4e-16))

    def epsilon(self, delta: float) -> float:
        """Ratio + 2 log(1 - delta), rounded up."""
        require(0 <= delta <= 1, "delta", delta, "in [0, 1]")
        own = round_up(self.as_pure())
        if delta == 0.0:
            return own
        if delta >= 1.0:
            return 0.0
        answer = max(0.0, own + 2.0 * math.log1p(-delta))
        while self.delta(answer) > delta:
            answer = min(own, math.nextafter(answer, math.inf) + 1e-16)
        return answer

    def renyi(self, order: float) -> float:
        """Mironov 2017, table II."""
        own = round_up(self.as_pure())
        if order == 1.0 or own == 0.0 or math.isinf(order):
            return own
        a = order
        total = np.logaddexp(
            math.log(a / (2 * a - 1)) + (a - 1) * own, math.log((a - 1) / (2 * a - 1)) - a * own
        )
        # For small arguments the sum is 1 + tiny: never below the rounding error, never above pure.
        return min(super().renyi(order), max(0.0, float(total) + 4e-16) / (a - 1) * (1 + 1e-12))

    def pair(self) -> DominatingPair:
        """The pair of two Laplace laws."""
        own = round_up(self.as_pure())
        return LaplacePair(own) if own > 0 else super().pair()

    def group(self, size: int) -> LaplaceCurve:
        """Thresholds compose: a group of k moves k times as far."""
        return LaplaceCurve(size * self.as_pure())

    def __repr__(self) -> str:
        return f"LaplaceCurve(ratio={float(self.bound):g})"


_MOST_SHIFT_STEPS = 2**19


@dataclass(frozen=True, repr=False)
class DiscreteLaplaceCurve(AtomicCurve):
    """Integer noise with P[k] ~ exp(-|k| / scale), on values that move by at most `shift` steps.

    Log-concave, so the largest shift is the worst one; a shift of 1 is exactly randomised response.

    >>> DiscreteLaplaceCurve(2.0, 1).as_pure()
    Fraction(1, 2)
    """

    LARGEST: ClassVar[float] = 1e300  # more noise is no harm

    scale: Number
    shift: int

    def __post_init__(self) -> None:
        require(1e-9 <= self.scale < math.inf, "scale", self.scale, ">= 1e-9 and finite (in grid steps)")
        require(isinstance(self.shift, int) and self.shift >= 1, "shift", self.shift, "a whole number >= 1")

    @property
    def _pure(self) -> PureDP:
        return PureDP(self.as_pure())

    @cached_property
    def _atoms(self) -> AtomicPair:
        v, step = self.shift, round_up(1 / as_written(self.scale))
        # P is centred at v, Q at 0. Losses: v/s for y >= v, (2y - v)/s between, -v/s for y <= 0.
        normaliser = math.tanh(step / 2)  # (1 - e^-step) / (1 + e^-step)
        between = np.arange(1, v)
        with np.errstate(under="ignore"):
            inner = normaliser * np.exp(-(v - between) * step)
        top = 1.0 / (1.0 + math.exp(-step))
        bottom = math.exp(-v * step) / (1.0 + math.exp(-step))
        losses = np.concatenate([[-v * step], (2.0 * between - v) * step, [v * step]])
        masses = np.concatenate([[bottom], inner, [top]])
        return AtomicPair(losses, masses, 0.0, step, masses[::-1].copy(), 0.0, symmetric=True)

    def atoms(self) -> AtomicPair:
        """The outcomes; the law is symmetric."""
        return self._atoms

    def pair(self) -> DominatingPair:
        """The atoms, while there are not too many; else those of the pure parameter."""
        return self._atoms if self.shift <= _MOST_SHIFT_STEPS else self._pure.pair()

    def deltas(self, epsilons: Points) -> NDArray[np.float64]:
        """Exact sums, and 0 from the pure parameter on."""
        exact = super().deltas(epsilons) if self.shift <= _MOST_SHIFT_STEPS else self._pure.deltas(epsilons)
        return np.asarray(np.where(epsilons >= round_up(self.as_pure()), 0.0, exact))

    def epsilon(self, delta: float) -> float:
        """At most the pure parameter, and that at delta = 0."""
        return (
            round_up(self.as_pure())
            if delta == 0.0
            else min(super().epsilon(delta), round_up(self.as_pure()))
        )

    def as_pure(self) -> Fraction:
        """Shift / scale, exactly."""
        return self.shift / as_written(self.scale)

    def as_zcdp(self) -> Fraction:
        """The bound that follows from the pure parameter."""
        return self._pure.as_zcdp()

    def as_gdp(self) -> Fraction:
        """The bound that follows from the pure parameter."""
        return self._pure.as_gdp()

    def renyi(self, order: float) -> float:
        """The bound that follows from the pure parameter."""
        return self._pure.renyi(order)

    def group(self, size: int) -> DiscreteLaplaceCurve:
        """Thresholds compose: a group of k moves k times as far."""
        return DiscreteLaplaceCurve(self.scale, size * self.shift)

    def to_replace(self) -> DiscreteLaplaceCurve:
        """The curve for twice the shift."""
        return self.group(2)

    def __repr__(self) -> str:
        return f"DiscreteLaplaceCurve(scale={float(self.scale):g}, shift={self.shift})"
