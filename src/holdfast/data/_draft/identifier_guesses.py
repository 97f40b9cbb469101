"""Guesses of identifiers: numbers and texts that tell people or rows apart, and so are no features."""

from __future__ import annotations

import re

import numpy as np

from holdfast.data._draft import texts as text_guesses
from holdfast.data._draft.codes import are_serial_numbers, code_form, code_length
from holdfast.data._draft.evidence import Evidence
from holdfast.data._draft.guess import (
    MOST_CATEGORIES,
    MOST_CLASSES,
    MOST_SINGLE_SHARE,
    Guess,
    finish_guess,
    weighted_quantile,
)
from holdfast.data._draft.names import says_code, says_identifier, says_measure, says_time
from holdfast.data._draft.texts import CLOCK_TIME
from holdfast.data._schema import Identifier

#: Values that have more rows each are things of which there are few, such as shops or zones.
MOST_ROWS_EACH = 200
#: Longer codes are more often the numbers of people and things than of kinds of them, so they must repeat more often.
LONGEST_SHORT_CODE, MOST_SINGLE_SHARE_OF_LONG_CODES = 7, 0.1
_ADDRESS_OR_KEY = re.compile(
    r"[0-9A-Fa-f]{16,}|[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}|[^@\s]+@[^@\s]+\.[^@\s]+"
)


def identifier_guess(evidence: Evidence) -> Guess | None:
    """An identifier, where there are nearly as many values as rows or the name says so; else None."""
    distinct = evidence.distinct
    if distinct < 2:
        return None
    named = (
        says_identifier(evidence.name)
        and distinct > MOST_CLASSES
        and evidence.present < MOST_ROWS_EACH * distinct
    )
    if evidence.read >= evidence.present:
        why = _reason_for_numbers(evidence, named) if evidence.whole and not evidence.target else None
    else:
        why = _reason_for_texts(evidence, named)
    if why is None:
        return None
    repeats = weighted_quantile(evidence.times.astype(np.float64), np.ones(distinct, dtype=np.int64), 0.9)
    evidence.add_reason(
        f"an identifier, and no feature: {why}, and {evidence.present} rows have {distinct} different values"
    )
    once = int(evidence.times.max()) == 1
    return finish_guess(evidence, Identifier(evidence.name), repeats=0 if once else max(2, int(repeats)))


def _reason_for_numbers(evidence: Evidence, named: bool) -> str | None:
    """Why whole numbers seem to be identifiers; None where they do not."""
    distinct, present = evidence.distinct, evidence.present
    low, high = float(evidence.numbers.min()), float(evidence.numbers.max())
    dense = high - low < 2 * distinct
    if named and (evidence.share > 0.05 or (dense and distinct > MOST_CATEGORIES)):
        return "its name says so"
    if says_measure(evidence.name) and not dense:
        return None
    if dense and distinct == present >= 50 and (high - low + 1 == distinct or low >= 1):
        return "they are numbers without gaps"
    if dense and distinct > MOST_CATEGORIES and low > 3 * (high - low):
        return "they are numbers without gaps that begin far up"
    long = len(f"{high:.0f}") == len(f"{low:.0f}") >= 8 and low > 0
    if long and evidence.share > 0.5 and distinct >= 50 and not says_time(evidence.name):
        return f"they are numbers of {len(f'{high:.0f}')} digits"
    return None


def _reason_for_texts(evidence: Evidence, named: bool) -> str | None:
    """Why texts seem to be identifiers; None where they do not."""
    probe, distinct = evidence.probe, evidence.distinct
    many = distinct > MOST_CATEGORIES or (distinct >= 50 and evidence.share > 0.9)
    if many and sum(_ADDRESS_OR_KEY.fullmatch(word) is not None for word in probe) >= 0.95 * len(probe):
        return "they are addresses, or keys that a machine gave"
    if named and evidence.share > 0.005:
        return "its name says so"
    tokens = [re.search(r"[0-9]", word) is not None and re.search(r"\s", word) is None for word in probe]
    few = evidence.present >= MOST_ROWS_EACH * distinct
    if (
        not many
        or few
        or sum(tokens) < 0.9 * len(probe)
        or sum(CLOCK_TIME.fullmatch(word) is not None for word in probe) > 0.5 * len(probe)
    ):
        return None
    # Codes repeat. Texts that hardly repeat are no codes, unless the way they are written says so.
    known = evidence.share <= 0.9 and code_form(evidence) is not None
    length = code_length(probe)
    short = length is not None and (
        length <= LONGEST_SHORT_CODE or evidence.share <= MOST_SINGLE_SHARE_OF_LONG_CODES
    )
    named = length is None and says_code(evidence.name)
    if known or (evidence.share <= MOST_SINGLE_SHARE and not are_serial_numbers(probe) and (short or named)):
        return None
    if text_guesses.date_format(evidence) is not None:
        return None
    return "they are words with digits, as things and people are numbered"
