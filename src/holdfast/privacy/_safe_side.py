"""A root finder that returns a point which was evaluated and found safe, never one at which a promise fails."""

from __future__ import annotations

import math
from collections.abc import Callable


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
        positive = safe > 0 and unsafe > 0
        wide = positive and max(safe, unsafe) > 2 * min(safe, unsafe)
        middle = math.sqrt(safe) * math.sqrt(unsafe) if wide else 0.5 * (safe + unsafe)
        if middle in (safe, unsafe):
            break
        if excess(middle) <= 0:
            safe = middle
        else:
            unsafe = middle
    return safe
