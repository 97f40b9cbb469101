"""Guesses about texts: markers of missing values, date formats, spellings of the same word, steps of a scale."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Floats
from holdfast.data._draft.evidence import Evidence
from holdfast.data._readings import numbers
from holdfast.data._schema.amounts import THOUSANDS, AmountForm
from holdfast.data._schema.calendar import ISO, UNITS, packed_text, packed_texts, unit_numbers
from holdfast.data._schema.spelling import BLANKS, normalise_text

#: Texts that mean a missing value in any column, in small letters.
NULLS = frozenset(
    "|na|n/a|n.a.|nan|null|nil|-|--|---|?|.|..|...|*|**|(null)|<na>|<null>|[null]|\\n|#n/a|#na|#null!|#value!|missing|(missing)"
    "|not available|k.a.|k. a.|keine angabe|no answer|nat|prefer not to say|\u2013|\u2014|無回答|欠測".split(
        "|"
    )
)
#: Texts that say why a value is missing: categories among other texts, and missing among numbers.
ABSENT = frozenset(
    (
        "n|niu|iap|nd|none|ref|refused|refusal|dk|don't know|dont know|do not know|not applicable|inapplicable|"
        "not in universe|not stated|not reported|not asked|not collected|suppressed|withheld|redacted|exempt|"
        "no response|skipped|unknown|unbekannt|weiß nicht|verweigert|trifft nicht zu|entfällt|inconnu|"
        "ne sait pas|refus|sans objet|non réponse|non renseigné|nsp|desconocido|no sabe|no contesta|no aplica|不明|"
        "非該当|該当なし|s|d|x|b|m|z"
    ).split("|")
)
_DAYS = "%d.%m.%Y|%d/%m/%Y|%m/%d/%Y|%Y/%m/%d|%Y.%m.%d|%d-%m-%Y|%m-%d-%Y|%d.%m.%y|%d/%m/%y|%m/%d/%y|%m-%d-%y|%d-%m-%y"
_NAMED = "%d-%b-%Y|%d-%b-%y|%d %b %Y|%d. %b %Y|%b %d, %Y|%b %d %Y|%d/%b/%Y|%Y-%b-%d|%d%b%Y|%d%b%y"
_CLOCKS = "%H:%M|%H:%M:%S|%I:%M %p|%I:%M:%S %p|%I:%M%p"
_MONTHS = "%Y-%m|%Y/%m|%m/%Y|%m.%Y|%m-%Y|%b-%Y|%b %Y|%b-%y|%Y-%b|%Y年%m月"
_DIGITS = "%Y%m%d|%m%d%Y|%d%m%Y|%Y%m%d%H%M%S|%Y%m"
FORMATS = (
    ISO,
    *f"{_DAYS}|{_DIGITS}|{_NAMED}|{_MONTHS}|%Y年%m月%d日|%d%b%Y:%H:%M:%S|%Y%m%d %H:%M:%S".split("|"),
    *(
        f"{day} {clock}"
        for day in f"{_DAYS}|{_NAMED}|%Y-%m-%d".split("|")
        for clock in _CLOCKS.split("|")
        if not (day == "%Y-%m-%d" and clock.startswith("%H"))  # which ISO 8601 reads
    ),
)
YES = {"yes", "y", "true", "t", "1", "ja", "j", "oui", "si", "sí", "x"}
NO = {"no", "n", "false", "f", "0", "nein", "non"}
SCALES = tuple(
    tuple(scale.split("|"))
    for scale in (
        "|",
        "xxs|xs|s|m|l|xl|xxl|xxxl",
        "very small|small|medium|middle|large|very large",
        "none|very low|low|mid|middle|medium|moderate|high|very high",
        "never|rarely|seldom|sometimes|often|usually|always",
        "strongly disagree|disagree|neutral|neither agree nor disagree|agree|strongly agree",
        "strongly disagree|disagree|somewhat disagree|slightly disagree|neutral|neither|undecided"
        "|slightly agree|somewhat agree|agree|strongly agree",
        "very bad|bad|poor|fair|good|very good|excellent",
        "very dissatisfied|dissatisfied|neutral|satisfied|very satisfied",
        "not at all|a little|somewhat|quite a bit|a lot|very much|extremely",
        "none|minimal|mild|light|moderate|serious|severe|heavy",
        "nie|selten|manchmal|gelegentlich|oft|häufig|meistens|immer",
        "keine|sehr leicht|leicht|mittel|mittelschwer|schwer|sehr schwer",
        "sehr niedrig|niedrig|gering|mittel|hoch|sehr hoch",
        "sehr schlecht|schlecht|mittel|befriedigend|gut|sehr gut",
        "stimme gar nicht zu|stimme nicht zu|stimme eher nicht zu|teils teils|teils/teils|neutral"
        "|stimme eher zu|stimme zu|stimme voll zu",
        "january|february|march|april|may|june|july|august|september|october|november|december",
        "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec",
        "monday|tuesday|wednesday|thursday|friday|saturday|sunday",
        "mon|tue|wed|thu|fri|sat|sun",
        "bronze|silver|gold|platinum",
        "i|ii|iii|iv|v",
    )
)
#: What stands around amounts, beside signs of currencies.
UNITS_OF_AMOUNTS = frozenset(
    "EUR USD GBP CHF JPY CNY INR AUD CAD SEK NOK DKK PLN CZK HUF BRL ZAR Euro euro Rs. Rs "
    "kr kr. Fr. Fr zł Kč Ft lei TL 円 万円 千円 元 원 % \u2030 kg g mg t km m cm mm l ml h min s °C kWh".split()
)
_AMOUNT = re.compile(
    r"[+-]?\s*([^0-9\s+-]{0,6})\s*[+-]?\s*[0-9](?:[0-9.,'\u2019_ \u00a0\u202f]*[0-9])?\s*([^0-9\s]{0,6})"
)
CLOCK_TIME = re.compile(r"[0-9]{1,2}:[0-9]{2}(:[0-9]{2})?([.,][0-9]+)?( ?[AaPp][Mm])?")
#: At least this share of the texts must be readable as what the column is taken for.
LEAST_SHARE_READ = 0.95


def markers_among(evidence: Evidence, listed: set[str]) -> NDArray[np.bool_]:
    """Which of the distinct texts are among these, without blanks around them and in small letters."""
    import pyarrow as pa
    import pyarrow.compute as pc

    trimmed = pc.ascii_trim(evidence.words, characters=BLANKS)
    short = pc.less_equal(pc.utf8_length(trimmed), max(map(len, listed)))
    marks = np.zeros(evidence.distinct, dtype=np.bool_)
    places = np.flatnonzero(short.to_numpy(zero_copy_only=False))
    lowered = pc.utf8_lower(trimmed.take(pa.array(places)))
    is_marker = pc.is_in(lowered, value_set=pa.array(sorted(listed), pa.large_string()))
    marks[places[is_marker.to_numpy(zero_copy_only=False).astype(bool)]] = True
    return marks


def date_format(evidence: Evidence) -> tuple[str, list[str], Floats] | None:
    """The date format that fits most texts, others that fit as well, and the seconds of each distinct text."""
    import pyarrow.compute as pc

    shapes = {re.sub(r"[0-9]", "9", word): word for word in evidence.probe}
    likely = [word for shape, word in shapes.items() if "9" in shape and len(shape) <= _LONGEST]
    if not likely or len(shapes) > _MOST_SHAPES or 2 * len(likely) < len(shapes):
        return None
    forms = [
        form for form in FORMATS if any(packed_text(word, form) == packed_text(word, form) for word in likely)
    ]
    if not forms:
        return None
    trimmed = pc.ascii_trim(evidence.words, characters=BLANKS)
    total = evidence.present
    readings: list[tuple[int, str, Floats]] = []
    for form in forms:
        packed = packed_texts(trimmed, form)
        seconds = unit_numbers(packed, "second")
        if form in _DIGITS.split("|"):  # digits alone are a date if they are one of our time
            seconds[(packed < _EARLIEST) | (packed > _LATEST)] = np.nan
        readings.append((int(evidence.times[np.isfinite(seconds)].sum()), form, seconds))
    best = max(read for read, _, _ in readings)
    digits = all(word.isascii() and word.isdigit() for word in likely)
    if total == 0 or best < LEAST_SHARE_READ * total or (digits and evidence.distinct < 2):
        return None
    good = [(form, seconds) for read, form, seconds in readings if read == best]
    return good[0][0], [form for form, _ in good[1:]], good[0][1]


#: Texts of dates are no longer than this, and of few shapes once digits are alike.
_LONGEST = 36
_MOST_SHAPES = 40
_EARLIEST, _LATEST = 19000101000000.0, 21001231235959.0


def amount_form(evidence: Evidence) -> tuple[str, list[str], Floats] | None:
    """How most texts write 1234.5, other forms that fit as well, and their numbers; None for plain numbers."""
    decimal = evidence.decimal
    matches = [_AMOUNT.fullmatch(word) for word in evidence.probe]
    if sum(match is not None for match in matches) < max(1, len(matches) / 2):
        return None
    around: list[Counter[str]] = [Counter(), Counter()]
    signs: set[str] = set()
    for match in matches:
        for side, counter in zip((1, 2), around, strict=True):
            text = "" if match is None else match.group(side)
            currency = unicodedata.category(text[-1:] or " ") == "Sc"
            counter[text if text in UNITS_OF_AMOUNTS or currency else ""] += 1
        if match is not None:
            signs |= set(re.findall(r"(?<=[0-9])[^0-9](?=[0-9])", match.group()))
    before, after = (max(counter, key=lambda text: (text != "", counter[text])) for counter in around)
    read: dict[str, tuple[int, Floats]] = {}
    for thousands in (*(sign for sign in THOUSANDS if sign in signs), ""):
        for point in dict.fromkeys((decimal, *(sign for sign in ".," if sign in signs))):
            if thousands == point or (before, after, thousands, point) == ("", "", "", decimal):
                continue
            form = AmountForm(before, thousands, point, after)
            cleaned = numbers(form.numerals(evidence.words))
            read[form.sample] = int(evidence.times[np.isfinite(cleaned)].sum()), cleaned
    best = max((count for count, _ in read.values()), default=0)
    if best < max(1, LEAST_SHARE_READ * evidence.present):
        return None
    forms = [sample for sample, (count, _) in read.items() if count == best]
    return forms[0], forms[1:], read[forms[0]][1]


def unit_of(seconds: Floats) -> str:
    """The coarsest of day, hour, minute and second that tells all of these moments apart."""
    for unit, size in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if bool(np.all(seconds % size == 0)):
            return unit
    return UNITS[-1]


def spellings(counts: Mapping[str, int]) -> tuple[list[str], bool, bool, int]:
    """The most frequent spelling of each word, whether to trim and to fold, and how many other spellings there are."""
    groups: dict[str, Counter[str]] = defaultdict(Counter)
    for word, count in counts.items():
        groups[normalise_text(word, trim=True, fold=True)][word] += count
    chosen = [
        max(sorted(group), key=lambda word: (group[word], word == word.strip())) for group in groups.values()
    ]
    trim = any(word != word.strip(BLANKS) for word in counts)
    trimmed = {word.strip(BLANKS) for word in counts}
    fold = len({normalise_text(word, trim=False, fold=True) for word in trimmed}) < len(trimmed)
    return (
        sorted((word.strip(BLANKS) for word in chosen), key=_natural),
        trim,
        fold,
        len(counts) - len(groups),
    )


def _natural(word: str) -> tuple[list[tuple[bool, int, str]], str]:
    """The order in which people list words: numbers in them by their size, letters of either case together.

    >>> sorted(["10A", "b", "9A", "B", "a", "²x"], key=_natural)
    ['9A', '10A', 'a', 'B', 'b', '²x']
    """
    parts = re.findall(r"([0-9]{1,15})|([^0-9]+)", word)
    return [(not digits, int(digits or 0), other.lower()) for digits, other in parts], word


def yes_and_no(labels: list[str]) -> tuple[list[str], dict[str, str]] | None:
    """The two answers, no first, and other texts for them; None where the labels say something else."""
    folded = {label: normalise_text(label, trim=True, fold=True) for label in labels}
    yes, no = ([label for label, text in folded.items() if text in side] for side in (YES, NO))
    if not yes or not no or len(yes) + len(no) < len(labels):
        return None
    first, second = max(no, key=len), max(yes, key=len)
    aliases = {label: first for label in no if label != first} | {
        label: second for label in yes if label != second
    }
    return [first, second], aliases


def known_scale(labels: list[str]) -> list[str] | None:
    """The labels in the order of a known scale; None where they are of none."""
    places = [normalise_text(label, trim=True, fold=True) for label in labels]
    for scale in SCALES:
        if len(labels) >= 3 and all(place in scale for place in places):
            return [label for _, label in sorted(zip(map(scale.index, places), labels, strict=True))]
    return None
