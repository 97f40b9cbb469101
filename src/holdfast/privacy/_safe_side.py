"""A root finder that returns a point which was evaluated and found safe, never one at which a promise fails."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from holdfast._arrays import Floats

LEVELS = 4
"""How many halvings `safe_side_of_many` looks ahead: so many that a call for all their points costs what one costs."""


def safe_side(
    excess: Callable[[float], float], unsafe: float, safe: float, *, tolerance: float = 1e-12
) -> float:
    """A point checked to have `excess(point) <= 0`, within a relative tolerance of where it starts to hold.

    `safe` must already satisfy it. Bisection, geometric where the bracket spans decades: the
    answer is always a point that was evaluated and found safe, never an interpolated one.

    >>> sigma = safe_side(lambda s: 2.0 - s, unsafe=1.0, safe=10.0)
    >>> sigma >= 2.0
    True
    """
    if excess(safe) > 0:
        raise ArithmeticError("safe_side was called with an end that is not safe")
    for _ in range(400):
        if abs(safe - unsafe) <= tolerance * abs(safe):
            break
        middle = _middle(unsafe, safe)
        if middle in (safe, unsafe):
            break
        if excess(middle) <= 0:
            safe = middle
        else:
            unsafe = middle
    return safe


def safe_side_of_many(
    excesses: Callable[[Floats], Floats], unsafe: float, safe: float, *, tolerance: float = 1e-12
) -> float:
    """The same point, for a function of arrays: it is called once for all points that the next halvings may reach.

    >>> sigma = safe_side_of_many(lambda s: 2.0 - s, unsafe=1.0, safe=10.0)
    >>> sigma == safe_side(lambda s: 2.0 - s, unsafe=1.0, safe=10.0)
    True
    """
    known: dict[float, float] = {}
    ends = (unsafe, safe)

    def excess(point: float) -> float:
        nonlocal ends
        if point not in known:
            points = [point, *_ahead(*ends)]
            known.update(zip(points, excesses(np.array(points)).tolist(), strict=True))
        # The next bracket, as `safe_side` will have it.
        ends = (ends[0], point) if known[point] <= 0 else (point, ends[1])
        return known[point]

    return safe_side(excess, unsafe, safe, tolerance=tolerance)


def _ahead(unsafe: float, safe: float) -> list[float]:
    """Every point at which the next halvings of a bracket may ask."""
    points: list[float] = []
    brackets = [(unsafe, safe)]
    for _ in range(LEVELS):
        middles = [_middle(*bracket) for bracket in brackets]
        points += middles
        brackets = [
            half
            for (unsafe, safe), middle in zip(brackets, middles, strict=True)
            for half in ((unsafe, middle), (middle, safe))
        ]
    return points


def _middle(unsafe: float, safe: float) -> float:
    positive = safe > 0 and unsafe > 0
    wide = positive and max(safe, unsafe) > 2 * min(safe, unsafe)
    return math.sqrt(safe) * math.sqrt(unsafe) if wide else 0.5 * (safe + unsafe)
