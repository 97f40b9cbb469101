"""One column's guess, and what it rests on."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from holdfast.data.draft import texts as text_guesses
from holdfast.data.draft.round_bounds import round_bounds, round_edges, round_moments
from holdfast.data.engines.file_rows import pointed
from holdfast.data.mixed import MixedColumn
from holdfast.data.moments import moment_numbers
from holdfast.data.rows import Kind, kind_of, numbers, texts
from holdfast.data.schema import Categorical, DateTime, Hierarchy, Identifier, Numeric
from holdfast.data.schema.amounts import form_of
from holdfast.data.schema.calendar import ISO, name_of, packed_text
from holdfast.data.schema.kinds import Column

#: A column with more distinct texts than this is taken for an identifier, or for codes with coarser ones above them.
MOST_CATEGORIES = 200
MOST_CODES = 10_000
_ID = re.compile(
    r"(?i:(^|[_\- .])(id|ids|nr|no|number|key|uuid|guid|customer|patient|user|person|client|account|pupil|student"
    r"|visitor|session|reader|member|borrower|employee|respondent|participant|subscriber|policyholder|household|tenant"
    r"|kunde|fall|schüler)$)|(?i:nummer$)|[a-zäöü](ID|Nr|Id)$"
)
_CODES = re.compile(
    r"zip|post|plz|postal|area|region|district|naics|icd|fips|nuts|sic|isco|code", re.IGNORECASE
)
_CLASSES = 20
SKEWED_BINS = 12
_MARKERS = (-1.0, -9.0, -99.0, -999.0, -9999.0, 999.0, 9999.0, 99999.0)


@dataclass(frozen=True, kw_only=True)
class Guess:
    """A column, and what each part of its declaration rests on."""

    column: Column
    reasons: tuple[str, ...] = ()
    repeats: int = 0
    """Of an identifier: how many rows one of its values has, at the ninth tenth."""


@dataclass(kw_only=True)
class Evidence:
    """What is known of a column before something is guessed."""

    name: str
    values: Any
    dtype: Any = None
    decimal: str = "."
    target: bool = False
    written_as: str | None = None
    order: Sequence[str] = ()
    """The texts in the order that the storage declares, where it does."""
    reasons: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        mixed = isinstance(self.values, MixedColumn)
        self.kind = Kind.text if mixed else kind_of(self.values.type)
        words = texts(self.values)
        self.rows = len(words)
        self.counted: Counter[str] = Counter(w for w in words.to_pylist() if w is not None and "\0" not in w)
        self.missing = int(words.null_count)
        self.numbers = numbers(
            pointed(self.values) if self.decimal == "," and self.kind is Kind.text else self.values
        )

    @property
    def found(self) -> int:
        """How many values are not missing."""
        return self.rows - self.missing

    def say(self, reason: str) -> None:
        """Add what a guess rests on."""
        self.reasons.append(reason)

    def made(self, column: Column, repeats: int = 0) -> Guess:
        """The guess, in the type that the storage declares."""
        dtype = _dtype(column, self.dtype)
        if dtype is not None and not isinstance(column, Identifier):
            column = replace(column, dtype=dtype)
            self.say(f"dtype: the column is stored as {self.dtype}")
        return Guess(column=column, reasons=tuple(self.reasons), repeats=repeats)


def guessed_column(evidence: Evidence) -> Guess:
    """Dates, truth values, identifiers, numbers, codes, categories: the first that fits."""
    kind = evidence.kind
    if kind is Kind.boolean:
        return _truth_values(evidence, "by the type of the column")
    if kind in (Kind.date, Kind.timestamp, Kind.zoned):
        evidence.say(f"a date, by the type of the column ({evidence.values.type})")
        return _dates(evidence, ISO, [])
    markers: list[str] = []
    if kind is Kind.text:
        markers = text_guesses.null_markers(evidence.counted)
        if markers:
            gone = sum(evidence.counted.pop(marker) for marker in markers)
            evidence.missing += gone
            evidence.say(f"nulls: {gone} values are written {', '.join(map(repr, markers))}")
    if (
        kind in (Kind.text, Kind.integer)
        and (found := text_guesses.date_format(evidence.counted)) is not None
    ):
        form, others, unread = found
        if kind is Kind.text or (form == "%Y%m%d" and len(evidence.counted) > 1):
            evidence.say(f"a date: {evidence.found - unread} of {evidence.found} values are written {form}")
            if others:
                evidence.say(
                    f"format: {', '.join(others)} would fit as well; which of them is meant must be known"
                )
            return _dates(evidence, form, markers)
    if kind is Kind.text and (amounts := _amounts(evidence, markers)) is not None:
        return amounts
    if (identifier := _identifier(evidence)) is not None:
        return identifier
    if (codes := _codes(evidence)) is not None:
        return codes
    finite = evidence.numbers[np.isfinite(evidence.numbers)]
    enough = text_guesses.MOST * evidence.found if len(evidence.counted) > MOST_CATEGORIES else evidence.found
    if kind in (Kind.integer, Kind.floating, Kind.decimal) or (len(finite) and len(finite) >= enough):
        return _numbers(evidence, finite, markers)
    return _categories(evidence, markers)


def _truth_values(evidence: Evidence, why: str, **options: Any) -> Guess:
    """Known without a look at the rows; folded, because files write True as well."""
    evidence.say(f"two truth values, {why}")
    null = "(missing)" if evidence.missing else None
    return evidence.made(Categorical(evidence.name, ["false", "true"], null=null, fold=True, **options))


def _dates(evidence: Evidence, form: str, markers: list[str]) -> Guess:
    name = evidence.name
    stored = evidence.kind is not Kind.text and evidence.kind is not Kind.integer
    if stored:
        packed = [packed_text(word[:19], ISO) for word in evidence.counted]
    else:
        packed = [packed_text(word.strip(), form) for word in evidence.counted]
    unit = text_guesses.unit_of(packed)
    probe = DateTime(name, 0, 1, unit=unit, format=form)
    read = moment_numbers(probe, evidence.values)
    read = read[np.isfinite(read)]
    low, high = (float(read.min()), float(read.max())) if len(read) else (0.0, 1.0)
    evidence.say(
        f"unit: no value is finer than a {unit}; the first is {name_of(low, unit)}, the last {name_of(high, unit)}"
    )
    low, high = round_moments(low, high, unit)
    high = high if low < high else low + 1
    lacking = evidence.rows - len(read)
    if lacking:
        evidence.say(f"null: {lacking} values are missing or no dates, which get a cell of their own")
    null = "category" if lacking else "midpoint"
    made = DateTime(name, low, high, unit=unit, format=form, null=null, taken_from_data=True)
    return evidence.made(made)


def _amounts(evidence: Evidence, markers: list[str]) -> Guess | None:
    """Numbers with signs of currency or thousands around and between their digits."""
    found = text_guesses.amount_form(evidence.counted, decimal=evidence.decimal)
    plain = int(np.isfinite(evidence.numbers).sum())
    if found is None or found[2] <= plain or isinstance(evidence.values, MixedColumn):
        return None
    sample, others, read = found
    evidence.say(
        f"written_as: {read} of {evidence.found} texts write numbers as {sample!r} is 1234.5, {plain} plainly"
    )
    if others:
        evidence.say(
            f"written_as: {', '.join(map(repr, others))} would fit as well; which of them is meant must be known"
        )
    evidence.written_as = sample
    evidence.numbers = numbers(form_of(sample).cleaned(texts(evidence.values)))
    return _numbers(evidence, evidence.numbers[np.isfinite(evidence.numbers)], markers)


def _identifier(evidence: Evidence) -> Guess | None:
    """Something that tells people or rows apart: nearly as many values as rows, or a name that says so."""
    distinct = len(evidence.counted)
    named = _ID.search(evidence.name) is not None
    whole = evidence.kind in (Kind.integer, Kind.text)
    if not whole or distinct < 2:
        return None
    share = distinct / max(1, evidence.found)
    numerals = _all_numerals(evidence)
    raised = (
        numerals
        and _without_gaps(evidence)
        and (distinct == evidence.found >= 50 or _far_from_zero(evidence))
    )
    many = not numerals and distinct > MOST_CATEGORIES and _code(evidence) is None
    named = named and distinct > _CLASSES
    dense = numerals and _without_gaps(evidence) and distinct > MOST_CATEGORIES
    if not (raised or many or (named and (share > 0.05 or dense))):
        return None
    if many and not named and len(text_guesses.spellings(evidence.counted)[0]) <= MOST_CATEGORIES:
        return None
    repeats = int(np.quantile(list(evidence.counted.values()), 0.9, method="higher"))
    why = "its name says so, and " if named else "numbers without gaps, and " if raised else ""
    evidence.say(f"an identifier: {why}{evidence.found} rows have {distinct} different values")
    once = max(evidence.counted.values()) == 1
    return evidence.made(Identifier(evidence.name), repeats=0 if once else max(2, repeats))


def _without_gaps(evidence: Evidence) -> bool:
    """Whole numbers as they are given out one after another."""
    finite = evidence.numbers[np.isfinite(evidence.numbers)]
    whole = bool(np.all(finite == np.floor(finite)))
    return whole and bool(finite.max() - finite.min() < 2 * len(evidence.counted))


def _far_from_zero(evidence: Evidence) -> bool:
    """Many numbers that begin far up, such as 10000 to 11499: what is measured or counted does not."""
    finite = evidence.numbers[np.isfinite(evidence.numbers)]
    many = not evidence.target and len(evidence.counted) > MOST_CATEGORIES
    return many and bool(finite.min() > 3 * (finite.max() - finite.min()))


def _all_numerals(evidence: Evidence) -> bool:
    return int(np.isfinite(evidence.numbers).sum()) >= max(1, evidence.found)


def _code(evidence: Evidence) -> int | None:
    """The length of codes; of whole numbers only where the name says that they are codes."""
    named = _CODES.search(evidence.name) is not None
    numerals = (
        evidence.kind is Kind.integer or _all_numerals(evidence) or text_guesses.serial(evidence.counted)
    )
    return None if numerals and not named else text_guesses.code_length(evidence.counted)


def _codes(evidence: Evidence) -> Guess | None:
    length, distinct = _code(evidence), len(evidence.counted)
    if length is None or not 10 <= distinct <= MOST_CODES:
        return None
    levels = [most for most in sorted({max(1, length // 2), 1}, reverse=True)
              if len({word[:most] for word in evidence.counted}) > 1]  # fmt: skip
    if not levels:
        return None
    evidence.say(
        f"a hierarchy: {distinct} codes of {length} letters; coarser levels are their first {levels} letters"
    )
    evidence.say("level: left out, so that a release takes the finest one that noise leaves visible")
    words = sorted(evidence.counted)
    made = Hierarchy(
        evidence.name, words, other="(other)", null="(missing)" if evidence.missing else None, coarser=levels,
        taken_from_data=True,
    )  # fmt: skip
    return evidence.made(made)


def _numbers(evidence: Evidence, finite: Any, markers: list[str]) -> Guess:
    name = evidence.name
    values, times = np.unique(finite, return_counts=True)
    whole = bool(np.all(values == np.floor(values))) and (not len(values) or np.abs(values).max() <= 2.0**50)
    few = 2 <= len(values) <= (_CLASSES if evidence.target else 2)
    if whole and few and (evidence.target or set(values) <= {0.0, 1.0} or set(values) <= {1.0, 2.0}):
        evidence.say(f"classes: {len(values)} whole numbers only; as a target it is a classification")
        null = "(missing)" if evidence.missing else None
        labels = [int(value) for value in values]
        return evidence.made(Categorical(name, labels, null=null, taken_from_data=True))
    nulls = [one for one in _MARKERS if _stands_apart(one, values, times)]
    if nulls:
        evidence.say(
            f"nulls: {', '.join(f'{one:g}' for one in nulls)} lies far from all other values, and is frequent"
        )
        finite = finite[~np.isin(finite, nulls)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
    low, high = (low, high) if low < high else (low, low + max(1.0, abs(low)))
    low, high = max(low, -1e300), min(high, 1e300)
    integer = bool(whole) and math.floor(low) == low and math.floor(high) == high
    options: dict[str, Any] = {"nulls": [*nulls, *markers]} if nulls or markers else {}
    options |= {"written_as": evidence.written_as} if evidence.written_as is not None else {}
    digits = None if integer else _decimals(finite)
    if (smallest := _skewed(finite, low, high)) is not None:
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
    lacking = evidence.rows - len(finite)
    if lacking:
        evidence.say(f"null: {lacking} values are missing, or no numbers, and get a cell of their own")
    evidence.say(f"bounds: round numbers around the smallest and the largest of {len(finite)} values")
    null = "category" if lacking else "midpoint"
    return evidence.made(
        Numeric(name, low, high, integer=integer, null=null, taken_from_data=True, **options)
    )


def _stands_apart(marker: float, values: Any, times: Any) -> bool:
    """Whether a usual code for missing values is there, is no part of the others' range, and is not alone."""
    place = np.flatnonzero(values == marker)
    others = values[values != marker]
    if not place.size or len(others) < 10 or times[place[0]] < 3:
        return False
    spread = float(np.quantile(others, 0.99) - np.quantile(others, 0.01)) + 1.0
    beyond = others.min() - marker if marker < 0 else marker - others.max()
    return bool(beyond > 0 and (others.min() >= 0 or beyond > spread) and (marker < 0 or beyond > spread))


def _skewed(finite: Any, low: float, high: float) -> float | None:
    """From which size on amounts are told apart, where they are skewed; None where they are not."""
    positive = finite[finite > 0]
    if len(positive) < 20 or len(positive) < 0.5 * len(finite):
        return None
    middle, most = np.quantile(positive, [0.5, 0.99])
    # Of as many cells of one length, half of the values would then share the first.
    if most <= SKEWED_BINS * middle or high <= 1:
        return None
    return float(min(10.0 ** math.floor(math.log10(float(np.quantile(positive, 0.05)))), high / 10))


def _decimals(finite: Any) -> int | None:
    for digits in range(1, 5):
        if len(finite) and np.abs(finite).max() < 1e11 and bool(np.all(np.round(finite, digits) == finite)):
            return digits
    return None


def _categories(evidence: Evidence, markers: list[str]) -> Guess:
    labels, trim, fold, more = text_guesses.spellings(evidence.counted)
    options: dict[str, Any] = {"nulls": markers} if markers else {}
    if more:
        evidence.say(
            f"{'trim, ' * trim}{'fold' if fold else ''}: {more} texts are other spellings of {len(labels)} words"
        )
        options |= {"trim": trim, "fold": fold}
    if {label.lower() for label in labels} == {"false", "true"}:
        return _truth_values(evidence, "as texts", **{"trim": trim, **options} if trim else options)
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
    elif set(labels) <= set(evidence.order):
        labels = list(evidence.order)
        options["ordered"] = True
        evidence.say("ordered: an ordered categorical or an enumeration, by the type of the column")
    evidence.say(f"categories: all {len(labels)} texts that were found")
    other, null = _unused("(other)", labels), _unused("(missing)", labels) if evidence.missing else None
    if evidence.target and len(labels) >= 2:
        evidence.say("other: left out, because it would be one more class of a target")
        return evidence.made(Categorical(evidence.name, labels, null=null, taken_from_data=True, **options))
    made = Categorical(
        evidence.name, labels or [other], other=other, null=null, taken_from_data=True, **options
    )
    return evidence.made(made)


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
