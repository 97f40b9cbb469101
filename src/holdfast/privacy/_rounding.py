"""Parameters as exact fractions, and doubles that are rounded towards privacy.

Budgets are added and compared as exact fractions, so that ten charges of 0.1 fit into 1 and the eleventh does not.
Where a float is needed, it is rounded to the side that claims less privacy.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from holdfast.errors import require

Number = float | Fraction
"""A parameter: a float as the user wrote it, or an exact fraction that was computed from such."""


def as_written(value: Number) -> Fraction:
    """The decimal that the user wrote, exactly.

    >>> sum(as_written(0.1) for _ in range(10)) == 1
    True
    """
    if isinstance(value, Fraction):
        return value
    require(math.isfinite(value), "parameter", value, "finite")
    return _decimal(float(value))


@lru_cache(maxsize=4096)  # a run writes the same few numbers at every step
def _decimal(value: float) -> Fraction:
    return Fraction(repr(value))


def round_up(value: Number) -> float:
    """The least float that is not below the value.

    >>> round_up(Fraction(1, 3)) >= Fraction(1, 3)
    True
    """
    nearest = float(value)
    if isinstance(value, float) and not math.isnan(value):
        return nearest
    return nearest if math.isinf(nearest) or Fraction(nearest) >= value else math.nextafter(nearest, math.inf)


def round_down(value: Number) -> float:
    """The largest float that is not above the value."""
    nearest = float(value)
    if isinstance(value, float) and not math.isnan(value):
        return nearest
    return (
        nearest if math.isinf(nearest) or Fraction(nearest) <= value else math.nextafter(nearest, -math.inf)
    )


def root_above(number: int) -> Fraction:
    """A fraction that is not below the square root."""
    return Fraction(math.isqrt(number << 40) + 1, 2**20)
