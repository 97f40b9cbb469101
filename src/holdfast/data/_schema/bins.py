"""The cells of a number: equal widths, equal ratios, or declared edges."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from holdfast.errors import require

MOST_BINS = 100_000
_SPACINGS = ("equal", "log")


def check_bins(column: Any) -> None:
    """Refuse bins that are neither a number nor rising edges; the column then holds them as plain numbers."""
    if column.spacing != "equal" or column.smallest is not None:
        _check_spacing(column)
    bins: Any = column.bins
    if bins is None or isinstance(bins, numbers.Integral):
        good = bins is None or (not isinstance(column.bins, bool) and 1 <= int(bins) <= MOST_BINS)
        require(good, "bins", bins, f"a whole number from 1 to {MOST_BINS}, or edges")
        object.__setattr__(column, "bins", None if bins is None else int(bins))
        rising = all(a < b for a, b in pairwise(column.edges))
        require(rising, "bins", column.bins, "few enough for the edges to differ in float64")
        return
    edges = () if isinstance(bins, str) else tuple(bins)
    good = all(is_finite(edge) for edge in edges) and 2 <= len(edges) <= MOST_BINS + 1
    require(good, "bins", bins, "a whole number, or at least two finite edges")
    edges = tuple(float(edge) + 0.0 for edge in edges)
    rising = all(a < b for a, b in pairwise(edges))
    ends = rising and edges[0] == column.low and edges[-1] == column.high
    require(ends, "bins", bins, f"edges rising from low={column.low} to high={column.high}")
    object.__setattr__(column, "bins", edges)


def _check_spacing(column: Any) -> None:
    require(column.spacing in _SPACINGS, "spacing", column.spacing, f"one of {_SPACINGS}")
    counted = column.spacing == "log" and not isinstance(column.bins, Sequence)
    require(
        counted,
        "spacing",
        column.spacing,
        "'log' where smallest is given, and then bins is a number, not edges",
    )
    least = column.smallest
    if least is not None:
        most = max(-column.low, column.high)
        inside = is_finite(least) and 0 < least < most and (column.low <= 0 or column.low < least)
        require(inside, "smallest", least, "above 0 and within the bounds")
        object.__setattr__(column, "smallest", float(least))
    require(
        column.low > 0 or least is not None,
        "smallest",
        least,
        "declared, because low is not above 0",
        "a logarithm has no end at 0: say from which size on amounts are told apart",
    )


def geometric_edges(low: float, high: float, smallest: float | None, bins: int) -> tuple[float, ...]:
    """Edges of equal ratio; what is smaller than `smallest` in size is one cell, and takes one of the bins.

    >>> geometric_edges(1, 100, None, 2), geometric_edges(-100, 100, 1, 5)
    ((1, 10.0, 100), (-100, -10.0, -1, 1, 10.0, 100))
    >>> geometric_edges(0, 1000, 1, 4)
    (0, 1, 10.0, 100.0, 1000)
    """
    start = low if smallest is None else smallest
    above = math.log(high / start) if high > start else 0.0
    below = math.log(-low / start) if -low > start else 0.0
    if smallest is None:
        return (low, *_between(low, high, bins), high)
    left = max(2, bins) - 1
    right = round(left * above / (above + below)) if above + below > 0 else 0
    right = min(max(right, int(above > 0)), left - int(below > 0)) if left > 1 else int(above >= below)
    inner: list[float] = []
    if left - right > 0 and below > 0:
        inner += [-edge for edge in reversed(_between(start, -low, left - right))] + [-start]
    if right > 0 and above > 0:
        inner += [start, *_between(start, high, right)]
    return (low, *inner, high)


def _between(start: float, stop: float, bins: int) -> list[float]:
    """The inner edges of so many bins of equal ratio, without the noise in the last digits of a power."""
    ratio = math.log(stop / start)
    return [float(f"{start * math.exp(ratio * step / bins):.12g}") for step in range(1, bins)]


def edge_words(edges: Sequence[float]) -> list[str]:
    """Edges as texts: without rounding noise, and with no more digits than needed for them to differ.

    >>> edge_words([380.75, 6271.0560000000005, 1234567.5]), edge_words([0.0, 10 / 3, 20 / 3, 1e6])
    (['380.75', '6271.056', '1234567.5'], ['0', '3.33333', '6.66667', '1000000'])
    """
    size = max(abs(edge) for edge in edges)
    shortest = [_shortest(edge, size) for edge in map(float, edges)]
    for digits in range(6, 17):
        texts = [
            f"{edge:.{digits}g}" if word is None else word for edge, word in zip(edges, shortest, strict=True)
        ]
        if all(a < b for a, b in pairwise(map(float, texts))):
            return texts
    return [repr(edge) for edge in edges]


def _shortest(edge: float, size: float) -> str | None:
    """A text of few digits that is the edge, up to the noise of arithmetic; None where there is none."""
    if edge.is_integer() and abs(edge) < 1e15:
        return f"{edge:.0f}"
    noise = 1e-15 * size
    if abs(edge) <= noise:
        return "0"
    texts = (f"{edge:.{digits}g}" for digits in range(6, 13))
    return next((text for text in texts if abs(float(text) - edge) <= min(noise, 1e-13 * abs(edge))), None)


def is_finite(value: object) -> bool:
    """Whether a value is a number that a double can hold; a whole number in a file may have hundreds of digits."""
    try:
        return is_real(value) and math.isfinite(value)  # type: ignore[arg-type]
    except OverflowError:
        return False


def is_real(value: object) -> bool:
    """Whether a value is a real number and not a truth value."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)
