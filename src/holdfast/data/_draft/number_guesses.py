"""Guesses of numeric columns: bounds, bins, decimals and markers of missing values."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Floats
from holdfast.data._draft.evidence import Evidence
from holdfast.data._draft.guess import Guess, finish_guess, weighted_quantile
from holdfast.data._draft.round_bounds import round_bounds, round_edges
from holdfast.data._schema import Numeric
from holdfast.data._storage_kinds import Kind

SKEWED_BINS = 12
"""Amounts are skewed where the largest of a hundred is more than so many times the middle one."""


def number_guess(evidence: Evidence, markers: list[str], special: NDArray[np.bool_]) -> Guess:
    name = evidence.name
    good = evidence.finite & ~special
    order = np.argsort(evidence.numbers[good], kind="stable")
    values, times = evidence.numbers[good][order], evidence.times[good][order]
    count = int(times.sum())
    whole = bool(np.all(values == np.floor(values))) and (not len(values) or np.abs(values).max() <= 2.0**50)
    nulls = np.sort(evidence.numbers[special]).tolist()
    if nulls:
        evidence.add_reason(
            f"nulls: {', '.join(f'{number:g}' for number in nulls)} lies apart from all other values, and is frequent"
        )
    odd = int(evidence.times[~evidence.finite].sum())
    if odd and evidence.kind is Kind.text:
        shown = ", ".join(repr(str(word)) for word in evidence.words.filter(~evidence.finite).to_pylist()[:3])
        evidence.add_reason(
            f"null: {odd} texts are no numbers as they are written, such as {shown}, and count as missing"
        )
    low, high = (float(values[0]), float(values[-1])) if len(values) else (0.0, 1.0)
    low, high = (low, high) if low < high else (low, low + max(1.0, abs(low)))
    low, high = max(low, -1e300), min(high, 1e300)
    whole = whole and max(-low, high) <= 2.0**50
    integer = bool(whole) and math.floor(low) == low and math.floor(high) == high
    options: dict[str, Any] = {"nulls": [*nulls, *markers]} if nulls or markers else {}
    options |= {"written_as": evidence.written_as} if evidence.written_as is not None else {}
    digits = None if integer else _decimals(values)
    if (smallest := _smallest_of_skewed(values, times, high)) is not None:
        edges = round_edges(low, high, smallest if low <= 0 else None)
        low, high, options["bins"] = edges[0], edges[-1], edges
        evidence.add_reason(
            "bins: round numbers in ratio, because the largest of a hundred values is more than twelve times the "
            "middle one"
        )
    else:
        low, high, bins = round_bounds(low, high, integer=integer, decimals=digits)
        options |= {} if bins is None else {"bins": bins}
    if digits is not None:
        options["decimals"] = digits
        evidence.add_reason(
            f"decimals: no value has more than {digits} digit{'s' * (digits > 1)} behind the point"
        )
    lacking = evidence.rows - count
    if lacking:
        evidence.add_reason(f"null: {lacking} values are missing, or no numbers, and get a cell of their own")
    evidence.add_reason(f"bounds: round numbers around the smallest and the largest of {count} values")
    null = "category" if lacking else "midpoint"
    column = Numeric(name, low, high, integer=integer, null=null, taken_from_data=True, **options)
    return finish_guess(evidence, column)


def _smallest_of_skewed(values: Floats, times: NDArray[np.int64], high: float) -> float | None:
    """The size from which on amounts have cells of equal ratio, where they are skewed; else None."""
    above = values > 0
    positive, often = values[above], times[above]
    count = int(often.sum())
    if count < 20 or count < 0.5 * times.sum():
        return None
    middle, most = (weighted_quantile(positive, often, share) for share in (0.5, 0.99))
    # With cells of equal width half of the values would share the first one.
    if most <= SKEWED_BINS * middle or high <= 1:
        return None
    return float(min(10.0 ** math.floor(math.log10(weighted_quantile(positive, often, 0.05))), high / 10))


def _decimals(values: Floats) -> int | None:
    for digits in range(1, 5):
        if len(values) and np.abs(values).max() < 1e11 and bool(np.all(np.round(values, digits) == values)):
            return digits
    return None
