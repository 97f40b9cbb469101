"""Numbers on the safe side.

Budgets are added and compared as exact fractions, so that ten charges of 0.1 fit into 1 and the
eleventh does not. Where a float is unavoidable it is rounded towards privacy.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

Number = float | Fraction
"""A parameter: a float as the user wrote it, or an exact fraction that was computed from such."""


def as_written(value: Number) -> Fraction:
    """The decimal that the user wrote, exactly.

    >>> sum(as_written(0.1) for _ in range(10)) == 1
    True
    """
    return value if isinstance(value, Fraction) else Fraction(repr(float(value)))


def round_up(value: Number) -> float:
    """The least float that is not below the value.

    >>> round_up(Fraction(1, 3)) >= Fraction(1, 3)
    True
    """
    nearest = float(value)
    return nearest if math.isinf(nearest) or Fraction(nearest) >= value else math.nextafter(nearest, math.inf)


def round_down(value: Number) -> float:
    """The largest float that is not above the value."""
    nearest = float(value)
    return (
        nearest if math.isinf(nearest) or Fraction(nearest) <= value else math.nextafter(nearest, -math.inf)
    )


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
