"""When a printed number agrees with ours: if it is one that a further run of ours could have given."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from decimal import Decimal


def one_more(values: Sequence[float], *, level: float) -> tuple[float, float]:
    """Where one more run lies with that probability: Student's interval for a new draw from the same normal law.

    >>> low, high = one_more([0.70, 0.72, 0.74], level=0.95)
    >>> round(low, 3), round(high, 3)
    (0.621, 0.819)
    """
    if len(values) < 2:
        raise ValueError(f"{len(values)} runs have no spread; 2 or more are needed")
    from scipy.stats import t

    count = len(values)
    half = (
        float(t.ppf(0.5 + level / 2.0, count - 1)) * statistics.stdev(values) * math.sqrt(1.0 + 1.0 / count)
    )
    centre = statistics.fmean(values)
    return centre - half, centre + half


def rounded_inside(printed: float, low: float, high: float) -> bool:
    """Whether some number that is printed like this lies in the interval: half a unit of its last digit either way.

    >>> rounded_inside(0.71, 0.714, 0.8), rounded_inside(0.71, 0.716, 0.8)
    (True, False)
    """
    exponent = Decimal(repr(printed)).as_tuple().exponent
    half = 0.5 * 10.0 ** (exponent if isinstance(exponent, int) else 0)
    return low <= printed + half and printed - half <= high


def agrees(values: Sequence[Sequence[float]], printed: Sequence[float], *, level: float) -> bool:
    """Whether all printed numbers are inside, with that probability for all of them together (Bonferroni)."""
    each = 1.0 - (1.0 - level) / len(printed)
    return all(
        rounded_inside(number, *one_more(runs, level=each))
        for runs, number in zip(values, printed, strict=True)
    )
