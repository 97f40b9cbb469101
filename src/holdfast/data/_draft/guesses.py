"""Which kind of column the values of a draft seem to be, tried one after another."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from holdfast.data._draft import texts as text_guesses
from holdfast.data._draft.category_guesses import categories, listed_categories, text_categories, truth_values
from holdfast.data._draft.code_guesses import code_guess
from holdfast.data._draft.codes import reason_for_codes, special_numbers, zeros_in_front
from holdfast.data._draft.date_guesses import date_guess, dates_in_texts
from holdfast.data._draft.evidence import MOMENTS, NUMBERS, Evidence
from holdfast.data._draft.guess import MOST_CATEGORIES, MOST_CLASSES, MOST_CODES, Guess, LeftOut
from holdfast.data._draft.identifier_guesses import identifier_guess
from holdfast.data._draft.names import says_code, says_identifier
from holdfast.data._draft.number_guesses import number_guess
from holdfast.data._schema.calendar import ISO
from holdfast.data._schema.spelling import BLANKS
from holdfast.data._storage_kinds import Kind

_MOST_EXPLAINING_WORDS = 5
"""At most so many words among numbers or dates are read as reasons why there is none."""


def guess_column(evidence: Evidence) -> Guess | LeftOut:
    """The guess of a column: the first of dates, identifiers, codes, numbers and categories that fits."""
    kind = evidence.kind
    if kind is Kind.boolean:
        return truth_values(evidence, "by the type of the column")
    if kind in MOMENTS:
        evidence.add_reason(f"a date, by the type of the column ({evidence.values.type})")
        return date_guess(evidence, ISO, evidence.numbers)
    if kind in NUMBERS:
        return _stored_numbers(evidence)
    missing = evidence.missing
    markers = _mark_missing(evidence, text_guesses.markers_among(evidence, set(text_guesses.NULLS)))
    if markers:
        evidence.add_reason(
            f"nulls: {evidence.missing - missing} values are written {', '.join(map(repr, markers))}"
        )
    for rest, texts in _with_and_without_words(evidence):
        guess = (
            _dates_or_amounts(rest, [*markers, *texts])
            or identifier_guess(rest)
            or code_guess(rest, texts, markers)
        )
        guess = guess or _numerals(rest, [*markers, *texts], texts)
        if guess is not None:
            return guess
    return text_categories(evidence, markers)


def _mark_missing(evidence: Evidence, marks: NDArray[np.bool_]) -> list[str]:
    """Count these texts as missing; returns them without the blanks around them."""
    if not marks.any():
        return []
    listed = list(map(str, evidence.words.filter(marks).to_pylist()))
    markers = [word.strip(BLANKS) for word in listed]
    evidence.blanks = evidence.blanks or markers != listed
    evidence.count_as_missing(marks)
    return list(dict.fromkeys(markers))


def _with_and_without_words(evidence: Evidence) -> list[tuple[Evidence, list[str]]]:
    """The column as it is; before that, without its few words, where all other texts have digits."""
    import pyarrow.compute as pc

    plain = pc.invert(pc.match_substring_regex(evidence.words, pattern="[0-9]"))
    plain = np.asarray(plain.to_numpy(zero_copy_only=False), dtype=np.bool_)
    count = int(plain.sum())
    if 0 < count <= _MOST_EXPLAINING_WORDS and evidence.distinct - count >= 2 * _MOST_EXPLAINING_WORDS:
        texts = list(map(str, evidence.words.filter(plain).to_pylist()))
        rest = evidence.copy_without(plain)
        listed = ", ".join(repr(word.strip(BLANKS)) for word in texts)
        rest.add_reason(
            f"nulls: {evidence.present - rest.present} values are words among numbers or dates, {listed}: they say why"
        )
        return [(rest, [word.strip(BLANKS) for word in texts]), (evidence, [])]
    return [(evidence, [])]


def _dates_or_amounts(evidence: Evidence, markers: list[str]) -> Guess | None:
    """Dates, or numbers with signs of currency or thousands around and between their digits."""
    dated = text_guesses.date_format(evidence)
    if dated is not None:
        return dates_in_texts(evidence, *dated)
    amounts = (
        text_guesses.amount_form(evidence)
        if evidence.read < evidence.present and not evidence.mixed
        else None
    )
    if amounts is None:
        return None
    sample, others, cleaned = amounts
    read = int(evidence.times[np.isfinite(cleaned)].sum())
    if read <= evidence.read:
        return None
    evidence.add_reason(
        f"written_as: {read} of {evidence.present} texts write numbers as {sample!r} is 1234.5, {evidence.read} plainly"
    )
    if others:
        evidence.add_reason(
            f"written_as: {', '.join(map(repr, others))} would fit as well; which of them is meant must be known"
        )
    evidence.written_as = sample
    evidence.numbers = cleaned
    evidence.__dict__.pop("finite", None)
    return number_guess(evidence, markers, np.zeros(evidence.distinct, dtype=np.bool_))


def _stored_numbers(evidence: Evidence) -> Guess | LeftOut:
    """The guess of a column that is stored as numbers: dates in digits, identifiers, codes, classes, or numbers."""
    if evidence.whole:
        digits = evidence.kind is Kind.integer and bool(
            np.all((evidence.numbers > 190_000) & (evidence.numbers < 21_010_000))
        )
        dated = text_guesses.date_format(evidence) if digits and evidence.distinct > 1 else None
        if dated is not None and dated[0] in ("%Y%m%d", "%Y%m"):
            return dates_in_texts(evidence, *dated)
        guess = identifier_guess(evidence)
        if guess is None and evidence.numbers.size and evidence.numbers.min() >= 0:
            guess = code_guess(evidence, [], [])
        if guess is not None:
            return guess
    return _numbers_or_codes(evidence, [])


def _numerals(evidence: Evidence, markers: list[str], words: list[str]) -> Guess | None:
    """The guess of a column in which nearly all texts are numbers; None for others."""
    share = text_guesses.LEAST_SHARE_READ if evidence.distinct > MOST_CATEGORIES else 1.0
    if not evidence.read or evidence.read < share * evidence.present:
        return None
    if words and (says_code(evidence.name) or zeros_in_front(evidence.probe)):
        return None
    return _numbers_or_codes(evidence, markers)


def _numbers_or_codes(evidence: Evidence, markers: list[str]) -> Guess:
    """Categories, for whole numbers that are codes and for few numbers of a target; else numbers."""
    special = special_numbers(evidence)
    values = evidence.numbers[~special]
    classes = evidence.target and evidence.whole and 2 <= len(values) <= MOST_CLASSES
    named = says_identifier(evidence.name) and evidence.distinct <= MOST_CODES
    why = reason_for_codes(evidence, special)
    if why is None and evidence.whole and named:
        why = "its name is that of a number of things"
    if classes:
        evidence.add_reason(f"classes: {len(values)} whole numbers only; as a target it is a classification")
    elif why is not None:
        evidence.add_reason(f"codes: whole numbers, but {why}")
    # Floats beyond 2^53 are no exact codes; texts and whole numbers keep every digit.
    inexact = evidence.kind is Kind.floating and bool(np.any(np.abs(evidence.numbers) >= 2.0**53))
    if inexact or (not classes and why is None):
        return number_guess(evidence, markers, special)
    if special.any():
        listed = ", ".join(f"{number:g}" for number in np.sort(evidence.numbers[special]))
        evidence.add_reason(
            f"categories: {listed} seem to say why there is no answer, and stay categories of their own"
        )
    if evidence.kind is Kind.text:
        return categories(evidence, markers)
    return listed_categories(evidence, [str(int(value)) for value in np.sort(evidence.numbers)], {})
