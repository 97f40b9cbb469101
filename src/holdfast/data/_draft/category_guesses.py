"""Guesses of categories: truth values, texts and numbers that are listed one by one, and scales with an order."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from holdfast.data._draft import texts as text_guesses
from holdfast.data._draft.evidence import NUMBERS, Evidence
from holdfast.data._draft.guess import (
    MOST_CATEGORIES,
    MOST_CLASSES,
    MOST_CODES,
    MOST_NUMBER_CATEGORIES,
    Guess,
    LeftOut,
    finish_guess,
    unused_name,
)
from holdfast.data._draft.texts import CLOCK_TIME
from holdfast.data._schema import Categorical
from holdfast.data._schema.spelling import normalise_text
from holdfast.data._storage_kinds import Kind

_POINT_ZERO = re.compile(r"-?(0|[1-9][0-9]*)\.0")


def truth_values(evidence: Evidence, why: str, **options: Any) -> Guess:
    """Two truth values. The case of letters is ignored, because files write True as well."""
    evidence.add_reason(f"two truth values, {why}")
    null = "(missing)" if evidence.missing else None
    return finish_guess(
        evidence, Categorical(evidence.name, ["false", "true"], null=null, fold=True, **options)
    )


def text_categories(evidence: Evidence, markers: list[str]) -> Guess | LeftOut:
    """Categories, the most frequent ones where there are many; columns of free text are left out."""
    distinct, probe = evidence.distinct, evidence.probe
    if evidence.target or distinct <= MOST_CLASSES:
        return categories(evidence, markers)
    single = evidence.share > 0.5 and distinct >= 50
    long = (
        float(np.mean([len(word) for word in probe])) > 40
        or float(np.mean([word.count(" ") for word in probe])) >= 3
    )
    if single or (distinct > MOST_CATEGORIES and long and evidence.share > 0.2):
        what = "holds free text" if long else "holds names or free text"
        if sum(CLOCK_TIME.fullmatch(word) is not None for word in probe) > 0.9 * len(probe):
            what = "holds times of a day, which no kind of column reads"
        return LeftOut(
            name=evidence.name,
            why=f"{what} ({distinct} different texts in {evidence.present} rows); make categories of it where it "
            "matters",
        )
    return categories(evidence, markers)


def categories(evidence: Evidence, markers: list[str]) -> Guess:
    counts = evidence.text_counts
    if evidence.distinct > MOST_CODES:
        common = np.sort(np.argsort(-evidence.times, kind="stable")[:MOST_CODES])
        listed = evidence.words.take(common).to_pylist()
        counts = dict(zip(map(str, listed), evidence.times[common].tolist(), strict=True))
    labels, trim, fold, more = text_guesses.spellings(counts)
    options: dict[str, Any] = {"nulls": markers} if markers else {}
    if more:
        evidence.add_reason(
            f"{'trim, ' * trim}{'fold' if fold else ''}: {more} texts are other spellings of {len(labels)} words"
        )
        options |= {"trim": trim or evidence.blanks, "fold": fold}
    elif trim or evidence.blanks:
        evidence.add_reason("trim: there are blanks around the texts")
        options["trim"] = True
    if {label.lower() for label in labels} == {"false", "true"}:
        return truth_values(
            evidence, "as texts", **{name: value for name, value in options.items() if name != "fold"}
        )
    answers = text_guesses.yes_and_no(labels)
    ordered = text_guesses.known_scale(labels)
    if answers is not None:
        labels, aliases = answers
        if aliases:
            options["aliases"] = aliases
            evidence.add_reason(
                f"aliases: {', '.join(map(repr, aliases))} seem to mean the same as {labels[0]!r} or {labels[1]!r}"
            )
    elif ordered is not None:
        labels = ordered
        options["ordered"] = True
        evidence.add_reason("ordered: the texts are steps of a known scale")
    elif labels and set(labels) <= set(evidence.order):
        labels = list(evidence.order)
        options["ordered"] = True
        evidence.add_reason("ordered: an ordered categorical or an enumeration, by the type of the column")
    most = MOST_NUMBER_CATEGORIES if evidence.whole and evidence.read == evidence.present else MOST_CATEGORIES
    if len(labels) > most and not evidence.target and not options.get("ordered"):
        labels = _most_frequent(evidence, labels, counts, most, options)
    return listed_categories(evidence, labels, options)


def _most_frequent(
    evidence: Evidence, labels: list[str], counts: Mapping[str, int], most: int, options: Mapping[str, Any]
) -> list[str]:
    """The most frequent labels, in the order in which they are listed."""
    trim, fold = bool(options.get("trim")), bool(options.get("fold"))
    rows_of: dict[str, int] = {}
    for word, times in counts.items():
        compared = normalise_text(word, trim=trim, fold=fold)
        rows_of[compared] = rows_of.get(compared, 0) + times
    size = {label: rows_of[normalise_text(label, trim=trim, fold=fold)] for label in labels}
    chosen = set(sorted(labels, key=lambda label: -size[label])[:most])
    share = sum(size[label] for label in chosen) / evidence.present
    evidence.add_reason(
        f"many texts: {evidence.distinct} differ; the {len(chosen)} most frequent ({100 * share:.0f} % "
        "of the rows) are categories, and all others are '(other)': group them, or declare a hierarchy"
    )
    return [label for label in labels if label in chosen]


def listed_categories(evidence: Evidence, labels: list[str], options: dict[str, Any]) -> Guess:
    """Categories, with cells for other and missing values, which a target does not get."""
    if len(labels) > MOST_NUMBER_CATEGORIES and evidence.kind in NUMBERS:
        counts = dict(zip(map(str, evidence.numbers.astype(np.int64)), evidence.times.tolist(), strict=True))
        labels = _most_frequent(evidence, labels, counts, MOST_NUMBER_CATEGORIES, options)
    elif len(labels) == evidence.distinct or len(labels) <= MOST_CATEGORIES:
        kind = "values" if evidence.kind in NUMBERS else "texts"
        evidence.add_reason(f"categories: all {len(labels)} {kind} that were found")
    if evidence.kind is Kind.text and labels and all(_POINT_ZERO.fullmatch(label) for label in labels):
        labels = [label.removesuffix(".0") for label in labels]
        evidence.add_reason("categories: whole numbers, which the file writes with .0 behind them")
    other, null = (
        unused_name("(other)", labels),
        unused_name("(missing)", labels) if evidence.missing else None,
    )
    values: list[Any] = [int(label) for label in labels] if evidence.kind in NUMBERS else labels
    if evidence.target and len(labels) >= 2:
        evidence.add_reason("other: left out, because it would be one more class of a target")
        return finish_guess(
            evidence, Categorical(evidence.name, values, null=null, taken_from_data=True, **options)
        )
    if labels in (["0", "1"], ["1", "2"]):
        return finish_guess(
            evidence, Categorical(evidence.name, values, null=null, taken_from_data=True, **options)
        )
    column = Categorical(
        evidence.name, values or [other], other=other, null=null, taken_from_data=True, **options
    )
    return finish_guess(evidence, column)
