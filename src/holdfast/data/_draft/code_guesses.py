"""Guesses of hierarchies: codes of a known system or of one length, whose first letters are coarser levels."""

from __future__ import annotations

from typing import Any

from holdfast.data._draft.codes import are_serial_numbers, code_form, code_length, code_levels, zeros_in_front
from holdfast.data._draft.evidence import Evidence
from holdfast.data._draft.guess import (
    MOST_CLASSES,
    MOST_CODES,
    MOST_SINGLE_SHARE,
    Guess,
    finish_guess,
    unused_name,
)
from holdfast.data._draft.names import says_code, says_measure
from holdfast.data._schema import Hierarchy
from holdfast.data._schema.spelling import BLANKS
from holdfast.data._storage_kinds import Kind


def code_guess(evidence: Evidence, words: list[str], markers: list[str]) -> Guess | None:
    """A hierarchy, for codes of a known system or of one length; else None."""
    numerals = evidence.read >= evidence.present
    if not 2 <= evidence.distinct <= MOST_CODES or evidence.target:
        return None
    probe = evidence.probe
    named = says_code(evidence.name)
    padded = zeros_in_front(probe)
    known = code_form(evidence)
    # Of the systems, only codes of illnesses are written with a point, as numbers are.
    pointed = evidence.kind is Kind.text and known is not None and not says_measure(evidence.name)
    if numerals and not evidence.whole and not pointed:
        return None
    if known is None and (evidence.share > MOST_SINGLE_SHARE or (numerals and not (named or padded))):
        return None
    length = None if are_serial_numbers(probe) and not named else code_length(probe)
    wide = max(map(len, probe), default=0)
    if known is not None:
        lengths, what = known.levels, f"codes of {known.title}"
    elif length is not None and evidence.distinct >= 10 and (not numerals or wide >= 3):
        lengths, what = (max(1, length // 2), 1), f"codes of {length} letters"
    else:
        return None
    if evidence.distinct < 10 or (evidence.distinct <= MOST_CLASSES and wide < 4):
        return None
    listed = sorted(str(word).strip(BLANKS) for word in evidence.words.to_pylist())
    if len(set(listed)) < len(listed):
        return None
    levels = code_levels(listed, lengths)
    if not levels:
        return None
    said = ", ".join(str(step) if isinstance(step, int) else "a mapping" for step in levels)
    evidence.add_reason(
        f"a hierarchy: {evidence.distinct} {what}; coarser levels are their first letters ({said})"
    )
    evidence.add_reason("level: left out, so that a release takes the finest one that noise leaves visible")
    options: dict[str, Any] = {"nulls": [*markers, *words]} if markers or words else {}
    if evidence.blanks or listed != sorted(map(str, evidence.words.to_pylist())):
        options["trim"] = True
    hierarchy = Hierarchy(
        evidence.name,
        listed,
        other=unused_name("(other)", listed),
        null=unused_name("(missing)", listed) if evidence.missing else None,
        coarser=levels,
        taken_from_data=True,
        **options,
    )
    return finish_guess(evidence, hierarchy)
