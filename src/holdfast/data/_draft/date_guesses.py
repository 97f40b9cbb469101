"""Guesses of date columns: format, unit, bounds, and days that stand for a missing date."""

from __future__ import annotations

from typing import Any

import numpy as np

from holdfast._arrays import Floats
from holdfast.data._draft import texts as text_guesses
from holdfast.data._draft.evidence import Evidence
from holdfast.data._draft.guess import Guess, finish_guess
from holdfast.data._draft.round_bounds import round_moments
from holdfast.data._schema import DateTime
from holdfast.data._schema.calendar import ISO, name_of, packed_text, unit_numbers, unit_of_seconds

_PLACEHOLDER_DAYS = ("9999-12-31", "9999-01-01", "2999-12-31", "1900-01-01", "1800-01-01", "0001-01-01")
"""Days that many systems write where there is no date."""


def dates_in_texts(evidence: Evidence, form: str, others: list[str], seconds: Floats) -> Guess:
    read = int(evidence.times[np.isfinite(seconds)].sum())
    evidence.add_reason(f"a date: {read} of {evidence.present} values are written {form}")
    if others:
        evidence.add_reason(
            f"format: {', '.join(others)} would fit as well; which of them is meant must be known"
        )
    return date_guess(evidence, form, seconds)


def date_guess(evidence: Evidence, form: str, seconds: Floats) -> Guess:
    name = evidence.name
    good = np.isfinite(seconds)
    read, times = seconds[good], evidence.times[good]
    moments = {
        end: float(unit_numbers(np.array([packed_text(end, ISO)]), "second")[0]) for end in _PLACEHOLDER_DAYS
    }
    ends = [end for end, moment in moments.items() if _is_far_end(moment, read)]
    if ends:
        evidence.add_reason(f"nulls: {', '.join(ends)} lies far from all other dates, and stands for none")
        other = ~np.isin(read, [moments[end] for end in ends])
        read, times = read[other], times[other]
    unit = "month" if form != ISO and "%d" not in form else text_guesses.unit_of(read)
    units = unit_of_seconds(read.astype(np.int64), unit)
    low, high = (float(units.min()), float(units.max())) if len(units) else (0.0, 1.0)
    evidence.add_reason(
        f"unit: no value is finer than a {unit}; the first is {name_of(low, unit)}, the last {name_of(high, unit)}"
    )
    low, high = round_moments(low, high, unit)
    high = high if low < high else low + 1
    lacking = evidence.rows - int(times.sum())
    if lacking:
        evidence.add_reason(f"null: {lacking} values are missing or no dates, which get a cell of their own")
    null = "category" if lacking else "midpoint"
    options: dict[str, Any] = {"nulls": ends} if ends else {}
    return finish_guess(
        evidence,
        DateTime(name, low, high, unit=unit, format=form, null=null, taken_from_data=True, **options),
    )


def _is_far_end(end: float, seconds: Floats) -> bool:
    """Whether this moment occurs, and lies far from all other moments, of which there are at least two."""
    others = seconds[seconds != end]
    if len(others) == len(seconds) or len(others) < 2:
        return False
    gap = max(end - others.max(), others.min() - end)
    return bool(gap > 2 * (others.max() - others.min()) + 86_400 * 366)
