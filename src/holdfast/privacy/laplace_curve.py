"""The exact curve of continuous Laplace noise."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from holdfast.errors import require
from holdfast.privacy.curve import PureDP
from holdfast.privacy.numeric.dominating_pair import DominatingPair
from holdfast.privacy.numeric.pairs.laplace import LaplacePair
from holdfast.privacy.rounding import round_up


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

    def pairs(self) -> tuple[DominatingPair, ...]:
        """Two double exponentials."""
        own = round_up(self.as_pure())
        return (LaplacePair(own),) if own > 0 else super().pairs()

    def group(self, size: int) -> LaplaceCurve:
        """Thresholds compose: a group of k moves k times as far."""
        return LaplaceCurve(size * self.as_pure())

    def __repr__(self) -> str:
        return f"LaplaceCurve(ratio={float(self.bound):g})"
