"""One column's guess, and what it rests on."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Floats
from holdfast.data._draft import texts as text_guesses
from holdfast.data._draft.codes import (
    code_form,
    code_length,
    code_levels,
    nominal,
    serial,
    special_numbers,
    zeros_in_front,
)
from holdfast.data._draft.evidence import MOMENTS, NUMBERS, Evidence
from holdfast.data._draft.names import says_code, says_identifier, says_measure, says_time
from holdfast.data._draft.round_bounds import round_bounds, round_edges, round_moments
from holdfast.data._schema import Categorical, DateTime, Hierarchy, Identifier, Numeric
from holdfast.data._schema.calendar import ISO, name_of, packed_text, unit_numbers, unit_of_seconds
from holdfast.data._schema.kinds import Column
from holdfast.data._schema.spelling import BLANKS, spelled
from holdfast.data._storage_kinds import Kind

#: A column with more distinct texts than this has only the most frequent of them as categories.
MOST_CATEGORIES = 200
MOST_NUMBERED = 1_000
"""The same where the categories are whole numbers."""
MOST_CODES = 10_000
#: Rows of one identifier: what has more is a thing of which there are few, such as a shop or a zone.
MOST_ROWS_EACH = 200
#: Codes come back: of their values no larger a share is there only once.
MOST_NEW = 0.5
#: Longer ones than this number people and things more often than kinds of them, and must come back more often.
LONGEST_CODE, MOST_NEW_OF_LONG = 7, 0.1
#: So many words among numbers or dates say why there is none.
_FEW_WORDS = 5
_CLASSES = 20
SKEWED_BINS = 12
_TOKENS = re.compile(
    r"[0-9A-Fa-f]{16,}|[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}|[^@\s]+@[^@\s]+\.[^@\s]+"
)
_POINT_ZERO = re.compile(r"-?(0|[1-9][0-9]*)\.0")
_CLOCK = re.compile(r"[0-9]{1,2}:[0-9]{2}(:[0-9]{2})?([.,][0-9]+)?( ?[AaPp][Mm])?")
_ENDS = ("9999-12-31", "9999-01-01", "2999-12-31", "1900-01-01", "1800-01-01", "0001-01-01")
"""Days that stand for none in many systems."""


@dataclass(frozen=True, kw_only=True)
class Guess:
    """A column, and what each part of its declaration rests on."""

    column: Column
    reasons: tuple[str, ...] = ()
    repeats: int = 0
    """Of an identifier: how many rows one of its values has, at the ninth tenth."""


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """A column that no kind reads, and why."""

    name: str
    why: str


def guessed_column(evidence: Evidence) -> Guess | LeftOut:
    """Dates, truth values, identifiers, codes, numbers, categories: the first that fits."""
    kind = evidence.kind
    if kind is Kind.boolean:
        return _truth_values(evidence, "by the type of the column")
    if kind in MOMENTS:
        evidence.say(f"a date, by the type of the column ({evidence.values.type})")
        return _dates(evidence, ISO, evidence.numbers)
    if kind in NUMBERS:
        return _stored_numbers(evidence)
    missing = evidence.missing
    markers = _gone(evidence, text_guesses.marked(evidence, set(text_guesses.NULLS)))
    if markers:
        evidence.say(
            f"nulls: {evidence.missing - missing} values are written {', '.join(map(repr, markers))}"
        )
    for rest, texts in _with_and_without_words(evidence):
        guess = (
            _dates_or_amounts(rest, [*markers, *texts]) or _identifier(rest) or _codes(rest, texts, markers)
        )
        guess = guess or _numerals(rest, [*markers, *texts], texts)
        if guess is not None:
            return guess
    return _texts(evidence, markers)


def _gone(evidence: Evidence, marks: NDArray[np.bool_]) -> list[str]:
    """Take these texts for missing; which they are, without the blanks around them."""
    if not marks.any():
        return []
    listed = list(map(str, evidence.words.filter(marks).to_pylist()))
    markers = [word.strip(BLANKS) for word in listed]
    evidence.blanks = evidence.blanks or markers != listed
    evidence.without(marks)
    return list(dict.fromkeys(markers))


def _with_and_without_words(evidence: Evidence) -> list[tuple[Evidence, list[str]]]:
    """The column without the few words in it, where all others have digits; and as it is."""
    import pyarrow.compute as pc

    plain = pc.invert(pc.match_substring_regex(evidence.words, pattern="[0-9]"))
    plain = np.asarray(plain.to_numpy(zero_copy_only=False), dtype=np.bool_)
    count = int(plain.sum())
    if 0 < count <= _FEW_WORDS and evidence.distinct - count >= 2 * _FEW_WORDS:
        texts = list(map(str, evidence.words.filter(plain).to_pylist()))
        rest = evidence.less(plain)
        listed = ", ".join(repr(word.strip(BLANKS)) for word in texts)
        rest.say(
            f"nulls: {evidence.found - rest.found} values are words among numbers or dates, {listed}: they say why"
        )
        return [(rest, [word.strip(BLANKS) for word in texts]), (evidence, [])]
    return [(evidence, [])]


def _made(evidence: Evidence, column: Column, repeats: int = 0) -> Guess:
    """The guess, in the type that the storage declares."""
    dtype = _dtype(column, evidence.dtype)
    if dtype is not None and not isinstance(column, Identifier):
        column = replace(column, dtype=dtype)
        evidence.say(f"dtype: the column is stored as {evidence.dtype}")
    return Guess(column=column, reasons=tuple(evidence.reasons), repeats=repeats)


def _truth_values(evidence: Evidence, why: str, **options: Any) -> Guess:
    """Known without a look at the rows; folded, because files write True as well."""
    evidence.say(f"two truth values, {why}")
    null = "(missing)" if evidence.missing else None
    return _made(evidence, Categorical(evidence.name, ["false", "true"], null=null, fold=True, **options))


# Dates.


def _dates_or_amounts(evidence: Evidence, markers: list[str]) -> Guess | None:
    """Dates, or numbers with signs of currency or thousands around and between their digits."""
    dated = text_guesses.date_format(evidence)
    if dated is not None:
        return _written_dates(evidence, *dated)
    amounts = (
        text_guesses.amount_form(evidence) if evidence.read < evidence.found and not evidence.mixed else None
    )
    if amounts is None:
        return None
    sample, others, cleaned = amounts
    read = int(evidence.times[np.isfinite(cleaned)].sum())
    if read <= evidence.read:
        return None
    evidence.say(
        f"written_as: {read} of {evidence.found} texts write numbers as {sample!r} is 1234.5, {evidence.read} plainly"
    )
    if others:
        evidence.say(
            f"written_as: {', '.join(map(repr, others))} would fit as well; which of them is meant must be known"
        )
    evidence.written_as = sample
    evidence.numbers = cleaned
    evidence.__dict__.pop("finite", None)
    return _numbers(evidence, markers, np.zeros(evidence.distinct, dtype=np.bool_))


def _written_dates(evidence: Evidence, form: str, others: list[str], seconds: Floats) -> Guess:
    read = int(evidence.times[np.isfinite(seconds)].sum())
    evidence.say(f"a date: {read} of {evidence.found} values are written {form}")
    if others:
        evidence.say(f"format: {', '.join(others)} would fit as well; which of them is meant must be known")
    return _dates(evidence, form, seconds)


def _dates(evidence: Evidence, form: str, seconds: Floats) -> Guess:
    name = evidence.name
    good = np.isfinite(seconds)
    read, times = seconds[good], evidence.times[good]
    moments = {end: float(unit_numbers(np.array([packed_text(end, ISO)]), "second")[0]) for end in _ENDS}
    ends = [end for end, moment in moments.items() if _is_an_end(moment, read)]
    if ends:
        evidence.say(f"nulls: {', '.join(ends)} lies far from all other dates, and stands for none")
        other = ~np.isin(read, [moments[end] for end in ends])
        read, times = read[other], times[other]
    unit = "month" if form != ISO and "%d" not in form else text_guesses.unit_of(read)
    units = unit_of_seconds(read.astype(np.int64), unit)
    low, high = (float(units.min()), float(units.max())) if len(units) else (0.0, 1.0)
    evidence.say(
        f"unit: no value is finer than a {unit}; the first is {name_of(low, unit)}, the last {name_of(high, unit)}"
    )
    low, high = round_moments(low, high, unit)
    high = high if low < high else low + 1
    lacking = evidence.rows - int(times.sum())
    if lacking:
        evidence.say(f"null: {lacking} values are missing or no dates, which get a cell of their own")
    null = "category" if lacking else "midpoint"
    options: dict[str, Any] = {"nulls": ends} if ends else {}
    return _made(
        evidence,
        DateTime(name, low, high, unit=unit, format=form, null=null, taken_from_data=True, **options),
    )


def _is_an_end(end: float, seconds: Floats) -> bool:
    """Whether this moment is there, apart from all others, and not alone."""
    others = seconds[seconds != end]
    if len(others) == len(seconds) or len(others) < 2:
        return False
    gap = max(end - others.max(), others.min() - end)
    return bool(gap > 2 * (others.max() - others.min()) + 86_400 * 366)


# Identifiers.


def _identifier(evidence: Evidence) -> Guess | None:
    """Something that tells people or rows apart: nearly as many values as rows, or a name that says so."""
    distinct = evidence.distinct
    if distinct < 2:
        return None
    named = (
        says_identifier(evidence.name) and distinct > _CLASSES and evidence.found < MOST_ROWS_EACH * distinct
    )
    if evidence.read >= evidence.found:
        why = _numbered(evidence, named) if evidence.whole and not evidence.target else None
    else:
        why = _labelled(evidence, named)
    if why is None:
        return None
    repeats = _quantile(evidence.times.astype(np.float64), np.ones(distinct, dtype=np.int64), 0.9)
    evidence.say(
        f"an identifier, and no feature: {why}, and {evidence.found} rows have {distinct} different values"
    )
    once = int(evidence.times.max()) == 1
    return _made(evidence, Identifier(evidence.name), repeats=0 if once else max(2, int(repeats)))


def _numbered(evidence: Evidence, named: bool) -> str | None:
    """Why whole numbers tell rows or people apart."""
    distinct, present = evidence.distinct, evidence.found
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


def _labelled(evidence: Evidence, named: bool) -> str | None:
    """Why texts tell rows or people apart."""
    probe, distinct = evidence.probe, evidence.distinct
    many = distinct > MOST_CATEGORIES or (distinct >= 50 and evidence.share > 0.9)
    if many and sum(_TOKENS.fullmatch(word) is not None for word in probe) >= 0.95 * len(probe):
        return "they are addresses, or keys that a machine gave"
    if named and evidence.share > 0.005:
        return "its name says so"
    tokens = [re.search(r"[0-9]", word) is not None and re.search(r"\s", word) is None for word in probe]
    few = evidence.found >= MOST_ROWS_EACH * distinct
    if (
        not many
        or few
        or sum(tokens) < 0.9 * len(probe)
        or sum(_CLOCK.fullmatch(word) is not None for word in probe) > 0.5 * len(probe)
    ):
        return None
    # Codes come back; what has a row of its own each time is no code, unless its writing says so.
    known = evidence.share <= 0.9 and code_form(evidence) is not None
    length = code_length(probe)
    short = length is not None and (length <= LONGEST_CODE or evidence.share <= MOST_NEW_OF_LONG)
    named = length is None and says_code(evidence.name)
    if known or (evidence.share <= MOST_NEW and not serial(probe) and (short or named)):
        return None
    if text_guesses.date_format(evidence) is not None:
        return None
    return "they are words with digits, as things and people are numbered"


# Codes.


def _codes(evidence: Evidence, words: list[str], markers: list[str]) -> Guess | None:
    """Codes of a known system, of one length, or by their name; a few words among them are levels like any other."""
    numerals = evidence.read >= evidence.found
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
    if known is None and (evidence.share > MOST_NEW or (numerals and not (named or padded))):
        return None
    length = None if serial(probe) and not named else code_length(probe)
    wide = max(map(len, probe), default=0)
    if known is not None:
        lengths, what = known.levels, f"codes of {known.title}"
    elif length is not None and evidence.distinct >= 10 and (not numerals or wide >= 3):
        lengths, what = (max(1, length // 2), 1), f"codes of {length} letters"
    else:
        return None
    if evidence.distinct < 10 or (evidence.distinct <= _CLASSES and wide < 4):
        return None
    listed = sorted(str(word).strip(BLANKS) for word in evidence.words.to_pylist())
    if len(set(listed)) < len(listed):
        return None
    levels = code_levels(listed, lengths)
    if not levels:
        return None
    said = ", ".join(str(step) if isinstance(step, int) else "a mapping" for step in levels)
    evidence.say(f"a hierarchy: {evidence.distinct} {what}; coarser levels are their first letters ({said})")
    evidence.say("level: left out, so that a release takes the finest one that noise leaves visible")
    options: dict[str, Any] = {"nulls": [*markers, *words]} if markers or words else {}
    if evidence.blanks or listed != sorted(map(str, evidence.words.to_pylist())):
        options["trim"] = True
    hierarchy = Hierarchy(
        evidence.name,
        listed,
        other=_unused("(other)", listed),
        null=_unused("(missing)", listed) if evidence.missing else None,
        coarser=levels,
        taken_from_data=True,
        **options,
    )
    return _made(evidence, hierarchy)


# Numbers.


def _stored_numbers(evidence: Evidence) -> Guess | LeftOut:
    """Numbers by their type: identifiers, codes, classes, dates in digits, or numbers."""
    if evidence.whole:
        digits = evidence.kind is Kind.integer and bool(
            np.all((evidence.numbers > 190_000) & (evidence.numbers < 21_010_000))
        )
        dated = text_guesses.date_format(evidence) if digits and evidence.distinct > 1 else None
        if dated is not None and dated[0] in ("%Y%m%d", "%Y%m"):
            return _written_dates(evidence, *dated)
        guess = _identifier(evidence)
        if guess is None and evidence.numbers.size and evidence.numbers.min() >= 0:
            guess = _codes(evidence, [], [])
        if guess is not None:
            return guess
    return _numbers_or_codes(evidence, [])


def _numerals(evidence: Evidence, markers: list[str], words: list[str]) -> Guess | None:
    """Numbers, where nearly all texts are numerals."""
    share = text_guesses.LEAST_SHARE_READ if evidence.distinct > MOST_CATEGORIES else 1.0
    if not evidence.read or evidence.read < share * evidence.found:
        return None
    if words and (says_code(evidence.name) or zeros_in_front(evidence.probe)):
        return None
    return _numbers_or_codes(evidence, markers)


def _numbers_or_codes(evidence: Evidence, markers: list[str]) -> Guess:
    """Whole numbers that are codes are categories, and so are few numbers of a target; others are numbers."""
    special = special_numbers(evidence)
    values = evidence.numbers[~special]
    classes = evidence.target and evidence.whole and 2 <= len(values) <= _CLASSES
    named = says_identifier(evidence.name) and evidence.distinct <= MOST_CODES
    why = nominal(evidence, special)
    if why is None and evidence.whole and named:
        why = "its name is that of a number of things"
    if classes:
        evidence.say(f"classes: {len(values)} whole numbers only; as a target it is a classification")
    elif why is not None:
        evidence.say(f"codes: whole numbers, but {why}")
    # Floats: texts and whole numbers of a file are kept to the last digit.
    inexact = evidence.kind is Kind.floating and bool(np.any(np.abs(evidence.numbers) >= 2.0**53))
    if inexact or (not classes and why is None):
        return _numbers(evidence, markers, special)
    if special.any():
        listed = ", ".join(f"{number:g}" for number in np.sort(evidence.numbers[special]))
        evidence.say(
            f"categories: {listed} seem to say why there is no answer, and stay categories of their own"
        )
    if evidence.kind is Kind.text:
        return _categories(evidence, markers)
    return _listed(evidence, [str(int(value)) for value in np.sort(evidence.numbers)], {})


def _numbers(evidence: Evidence, markers: list[str], special: NDArray[np.bool_]) -> Guess:
    name = evidence.name
    good = evidence.finite & ~special
    order = np.argsort(evidence.numbers[good], kind="stable")
    values, times = evidence.numbers[good][order], evidence.times[good][order]
    count = int(times.sum())
    whole = bool(np.all(values == np.floor(values))) and (not len(values) or np.abs(values).max() <= 2.0**50)
    nulls = np.sort(evidence.numbers[special]).tolist()
    if nulls:
        evidence.say(
            f"nulls: {', '.join(f'{number:g}' for number in nulls)} lies apart from all other values, and is frequent"
        )
    odd = int(evidence.times[~evidence.finite].sum())
    if odd and evidence.kind is Kind.text:
        shown = ", ".join(repr(str(word)) for word in evidence.words.filter(~evidence.finite).to_pylist()[:3])
        evidence.say(
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
    if (smallest := _skewed(values, times, high)) is not None:
        edges = round_edges(low, high, smallest if low <= 0 else None)
        low, high, options["bins"] = edges[0], edges[-1], edges
        evidence.say(
            "bins: round numbers in ratio, because the largest of a hundred values is more than twelve times the "
            "middle one"
        )
    else:
        low, high, bins = round_bounds(low, high, integer=integer, decimals=digits)
        options |= {} if bins is None else {"bins": bins}
    if digits is not None:
        options["decimals"] = digits
        evidence.say(f"decimals: no value has more than {digits} digit{'s' * (digits > 1)} behind the point")
    lacking = evidence.rows - count
    if lacking:
        evidence.say(f"null: {lacking} values are missing, or no numbers, and get a cell of their own")
    evidence.say(f"bounds: round numbers around the smallest and the largest of {count} values")
    null = "category" if lacking else "midpoint"
    column = Numeric(name, low, high, integer=integer, null=null, taken_from_data=True, **options)
    return _made(evidence, column)


def _quantile(values: Floats, times: NDArray[np.int64], share: float) -> float:
    """The smallest of the values that so large a share does not exceed."""
    order = np.argsort(values, kind="stable")
    above = np.cumsum(times[order])
    return float(values[order][min(int(np.searchsorted(above, share * above[-1])), len(values) - 1)])


def _skewed(values: Floats, times: NDArray[np.int64], high: float) -> float | None:
    """From which size on amounts are told apart, where they are skewed; None where they are not."""
    above = values > 0
    positive, often = values[above], times[above]
    count = int(often.sum())
    if count < 20 or count < 0.5 * times.sum():
        return None
    middle, most = (_quantile(positive, often, share) for share in (0.5, 0.99))
    # Of as many cells of one length, half of the values would then share the first.
    if most <= SKEWED_BINS * middle or high <= 1:
        return None
    return float(min(10.0 ** math.floor(math.log10(_quantile(positive, often, 0.05))), high / 10))


def _decimals(values: Floats) -> int | None:
    for digits in range(1, 5):
        if len(values) and np.abs(values).max() < 1e11 and bool(np.all(np.round(values, digits) == values)):
            return digits
    return None


# Texts.


def _texts(evidence: Evidence, markers: list[str]) -> Guess | LeftOut:
    """Categories; of many texts the most frequent, and none of free text."""
    distinct, probe = evidence.distinct, evidence.probe
    if evidence.target or distinct <= _CLASSES:
        return _categories(evidence, markers)
    single = evidence.share > 0.5 and distinct >= 50
    long = (
        float(np.mean([len(word) for word in probe])) > 40
        or float(np.mean([word.count(" ") for word in probe])) >= 3
    )
    if single or (distinct > MOST_CATEGORIES and long and evidence.share > 0.2):
        what = "holds free text" if long else "holds names or free text"
        if sum(_CLOCK.fullmatch(word) is not None for word in probe) > 0.9 * len(probe):
            what = "holds times of a day, which no kind of column reads"
        return LeftOut(
            name=evidence.name,
            why=f"{what} ({distinct} different texts in {evidence.found} rows); make categories of it where it matters",
        )
    return _categories(evidence, markers)


def _categories(evidence: Evidence, markers: list[str]) -> Guess:
    counted = evidence.counted
    if evidence.distinct > MOST_CODES:
        common = np.sort(np.argsort(-evidence.times, kind="stable")[:MOST_CODES])
        listed = evidence.words.take(common).to_pylist()
        counted = dict(zip(map(str, listed), evidence.times[common].tolist(), strict=True))
    labels, trim, fold, more = text_guesses.spellings(counted)
    options: dict[str, Any] = {"nulls": markers} if markers else {}
    if more:
        evidence.say(
            f"{'trim, ' * trim}{'fold' if fold else ''}: {more} texts are other spellings of {len(labels)} words"
        )
        options |= {"trim": trim or evidence.blanks, "fold": fold}
    elif trim or evidence.blanks:
        evidence.say("trim: there are blanks around the texts")
        options["trim"] = True
    if {label.lower() for label in labels} == {"false", "true"}:
        return _truth_values(
            evidence, "as texts", **{name: value for name, value in options.items() if name != "fold"}
        )
    answers = text_guesses.yes_and_no(labels)
    ordered = text_guesses.known_scale(labels)
    if answers is not None:
        labels, aliases = answers
        if aliases:
            options["aliases"] = aliases
            evidence.say(
                f"aliases: {', '.join(map(repr, aliases))} seem to mean the same as {labels[0]!r} or {labels[1]!r}"
            )
    elif ordered is not None:
        labels = ordered
        options["ordered"] = True
        evidence.say("ordered: the texts are steps of a known scale")
    elif labels and set(labels) <= set(evidence.order):
        labels = list(evidence.order)
        options["ordered"] = True
        evidence.say("ordered: an ordered categorical or an enumeration, by the type of the column")
    most = MOST_NUMBERED if evidence.whole and evidence.read == evidence.found else MOST_CATEGORIES
    if len(labels) > most and not evidence.target and not options.get("ordered"):
        labels = _most_frequent(evidence, labels, counted, most, options)
    return _listed(evidence, labels, options)


def _most_frequent(
    evidence: Evidence, labels: list[str], counted: Mapping[str, int], most: int, options: Mapping[str, Any]
) -> list[str]:
    """The most frequent of many texts, in the order in which they are listed."""
    trim, fold = bool(options.get("trim")), bool(options.get("fold"))
    often: dict[str, int] = {}
    for word, times in counted.items():
        compared = spelled(word, trim=trim, fold=fold)
        often[compared] = often.get(compared, 0) + times
    size = {label: often[spelled(label, trim=trim, fold=fold)] for label in labels}
    chosen = set(sorted(labels, key=lambda label: -size[label])[:most])
    held = sum(size[label] for label in chosen)
    evidence.say(
        f"many texts: {evidence.distinct} differ; the {len(chosen)} most frequent ({100 * held / evidence.found:.0f} % "
        "of the rows) are categories, and all others are '(other)': group them, or declare a hierarchy"
    )
    return [label for label in labels if label in chosen]


def _listed(evidence: Evidence, labels: list[str], options: dict[str, Any]) -> Guess:
    """Categories with cells for what is not among them, but for those of a target."""
    if len(labels) > MOST_NUMBERED and evidence.kind in NUMBERS:
        counted = dict(zip(map(str, evidence.numbers.astype(np.int64)), evidence.times.tolist(), strict=True))
        labels = _most_frequent(evidence, labels, counted, MOST_NUMBERED, options)
    elif len(labels) == evidence.distinct or len(labels) <= MOST_CATEGORIES:
        kind = "values" if evidence.kind in NUMBERS else "texts"
        evidence.say(f"categories: all {len(labels)} {kind} that were found")
    if evidence.kind is Kind.text and labels and all(_POINT_ZERO.fullmatch(label) for label in labels):
        labels = [label.removesuffix(".0") for label in labels]
        evidence.say("categories: whole numbers, which the file writes with .0 behind them")
    other, null = _unused("(other)", labels), _unused("(missing)", labels) if evidence.missing else None
    values: list[Any] = [int(label) for label in labels] if evidence.kind in NUMBERS else labels
    if evidence.target and len(labels) >= 2:
        evidence.say("other: left out, because it would be one more class of a target")
        return _made(evidence, Categorical(evidence.name, values, null=null, taken_from_data=True, **options))
    if labels in (["0", "1"], ["1", "2"]):
        return _made(evidence, Categorical(evidence.name, values, null=null, taken_from_data=True, **options))
    column = Categorical(
        evidence.name, values or [other], other=other, null=null, taken_from_data=True, **options
    )
    return _made(evidence, column)


def _dtype(column: Column, stored: Any) -> str | None:
    """The name of a storage type that synthetic values would not have by themselves."""
    import pyarrow.types as types

    if stored is None:
        return None
    if types.is_dictionary(stored):
        return "dictionary" if isinstance(column, Categorical) and not column.ordered else None
    if types.is_integer(stored) and not types.is_int64(stored):
        whole = isinstance(column, Numeric) and column.integer
        return str(stored) if whole or type(column) is Categorical else None
    if types.is_float32(stored):
        return "float32" if type(column) is Numeric and not column.integer else None
    if types.is_decimal(stored) and type(column) is Numeric and stored.precision <= 38:
        return f"decimal({stored.precision}, {stored.scale})"
    if types.is_timestamp(stored) and isinstance(column, DateTime):
        return f"timestamp[{stored.unit}{'' if stored.tz is None else f', {stored.tz}'}]"
    return None


def _unused(name: str, labels: list[str]) -> str:
    while name in labels:
        name = f"({name})"
    return name
