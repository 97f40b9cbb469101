"""BestOrder: a bound by Renyi divergences at the best order, computed only where that is looked for.

Every order is a valid bound for a fixed plan, so the search need not find the best one for its answer to hold.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from holdfast.errors import require
from holdfast.privacy._curves.curve import PrivacyCurve
from holdfast.privacy._curves.renyi import FINE_ORDERS, RenyiDP

_COARSE_STEP = 25


class BestOrder(PrivacyCurve):
    """The least bound over `FINE_ORDERS`, for a `divergence` that is a function of the order."""

    def __init__(self, divergence: Callable[[float], float]) -> None:
        self._divergence = divergence
        self._known: dict[int, RenyiDP | None] = {}

    def _at(self, place: int) -> RenyiDP | None:
        """What this order proves; None if nothing."""
        if place not in self._known:
            order = FINE_ORDERS[place]
            value = self._divergence(order)
            self._known[place] = RenyiDP((order,), (value,)) if math.isfinite(value) else None
        return self._known[place]

    def _least(self, answer: Callable[[RenyiDP], float]) -> float:
        """The least answer that a search over the orders finds: upwards in large steps, then in smaller ones around it.

        Both epsilon and log delta fall and then rise with the order, since log-moments are convex.
        """

        def value(place: int) -> float:
            at_order = self._at(place) if 0 <= place < len(FINE_ORDERS) else None
            return math.inf if at_order is None else answer(at_order)

        best, least = 0, value(0)
        for place in range(_COARSE_STEP, len(FINE_ORDERS), _COARSE_STEP):
            candidate = value(place)
            if candidate > least:
                break
            best, least = place, candidate
        step = _COARSE_STEP
        while step > 1:
            step = (step + 1) // 2
            for place in (best - step, best + step):
                candidate = value(place)
                if candidate < least:
                    best, least = place, candidate
        return least

    @property
    def proves_something(self) -> bool:
        """Whether any divergence is finite: that of the smallest order is, if one is."""
        return self._at(0) is not None

    def delta(self, epsilon: float) -> float:
        """The least delta over the orders that were looked at."""
        return min(1.0, self._least(lambda bound: bound.delta(epsilon)))

    def epsilon(self, delta: float) -> float:
        """The least epsilon over the orders that were looked at; infinite at delta = 0."""
        require(0 <= delta <= 1, "delta", delta, "in [0, 1]")
        return 0.0 if delta == 1.0 else self._least(lambda bound: bound.epsilon(delta))
