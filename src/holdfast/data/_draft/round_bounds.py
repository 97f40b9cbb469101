"""Bounds and edges of a draft: round numbers around the smallest and the largest value, never between them.

The proposed bounds lie outside of these values, on steps of 1, 2 or 5 times a
power of ten, on powers of ten, or where a year, a month or a day begins. They still come from the data, and are marked
as such.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from holdfast.data._schema.calendar import UNITS, starts, unit_of_seconds
from holdfast.data._schema.columns import DEFAULT_BINS, ONE_CELL_PER_VALUE

_SERIES = {1: (1,), 2: (1, 3), 3: (1, 2, 5)}
"""Round numbers within a decade, by how many there are."""
MOST_EDGES = 15
_LEAST_DAYS = {"year": 1000, "month": 60, "day": 2, "hour": 1 / 12}
"""Bounds are rounded to years, months, ... where they are at least so many days apart."""


def round_bounds(
    low: float, high: float, *, integer: bool, decimals: int | None = None
) -> tuple[float, float, int | None]:
    """Bounds around these two, and how many cells of a round width lie between them (None for the default number).

    >>> round_bounds(380.75, 6271.056, integer=False), round_bounds(-15.8, 38.7, integer=False, decimals=1)
    ((0.0, 6500.0, 13), (-20.0, 40.0, 12))
    >>> round_bounds(6, 89, integer=True), round_bounds(1, 7, integer=True), round_bounds(0, 99, integer=True)
    ((0.0, 90.0, None), (1.0, 7.0, None), (0.0, 99.0, None))
    """
    wide = Fraction(high) - Fraction(low)
    least = Fraction(1) if integer else Fraction(0) if decimals is None else Fraction(1, 10**decimals)
    if float(wide) < 1e-290:  # no power of ten to round to
        return low, high, None
    told_apart = integer and wide < ONE_CELL_PER_VALUE
    step = _step(wide / DEFAULT_BINS)
    while True:
        step = max(step, least)
        first, last = math.floor(Fraction(low) / step), math.ceil(Fraction(high) / step)
        if step == least or not told_apart or (last - first) * step < ONE_CELL_PER_VALUE:
            break
        step = _step(step * Fraction(2, 5))  # a finer one: whole numbers keep a cell each
    if integer and max(abs(first), abs(last)) * step > 2**50:  # whole numbers are not declared beyond
        return low, high, None
    bins = None if told_apart or last - first == DEFAULT_BINS else last - first
    return float(first * step), float(last * step), bins


def _step(size: Fraction) -> Fraction:
    """The nearest of 1, 2 and 5 times a power of ten, in ratio."""
    power = Fraction(10) ** math.floor(math.log10(size))
    near = ((abs(math.log(size / (part * power))), part * power) for part in (1, 2, 5, 10))
    return min(near)[1]


def round_edges(low: float, high: float, smallest: float | None) -> tuple[float, ...]:
    """Edges for amounts: 1, 2 and 5 times the powers of ten around them; fewer to a decade where there are many.

    What is smaller than `smallest` in size is one cell.

    >>> round_edges(18.72, 1928.59, None)
    (10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0, 2000.0)
    >>> round_edges(-30, 80_000, 10)
    (-30.0, -10.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0, 10000.0, 30000.0, 100000.0)
    """
    edges: tuple[float, ...] = ()
    for parts in (_SERIES[3], _SERIES[2], _SERIES[1]):
        start = low if smallest is None else smallest
        above = _up_to(high, start, parts)
        below = (
            [] if smallest is None or low >= 0 else [-edge for edge in reversed(_up_to(-low, start, parts))]
        )
        zero = [0.0] if smallest is not None and low >= 0 else []
        edges = (*below, *zero, *above)
        if len(edges) <= MOST_EDGES:
            break
    return edges


def _up_to(most: float, start: float, parts: Sequence[int]) -> list[float]:
    """Numbers of the series, from the last that is not above `start` to the first that is not below `most`."""
    first, last = math.floor(math.log10(start)) - 1, math.ceil(math.log10(max(most, start))) + 1
    series = [float(part * Fraction(10) ** power) for power in range(first, last + 1) for part in parts]
    begin = max(place for place, edge in enumerate(series) if edge <= start)
    end = min(place for place, edge in enumerate(series) if edge >= most)
    return series[begin : max(end, begin) + 1]


def round_moments(low: float, high: float, unit: str) -> tuple[float, float]:
    """The first and the last unit of the years, months, days or hours around these two units."""
    seconds = starts([low, high], unit).astype(np.int64)
    days = (seconds[1] - seconds[0]) / 86_400
    for period, apart in _LEAST_DAYS.items():
        if days < apart or UNITS.index(period) >= UNITS.index(unit):
            continue
        first, last = unit_of_seconds(seconds, period)
        begin, after = unit_of_seconds(starts([first, last + 1], period).astype(np.int64), unit)
        return float(begin), float(after) - 1
    return low, high
