"""Codes that look like numbers or words (of places, illnesses, industries, answers), and markers of missing values.

The reasons why a number is a code hold for any table: it is written with zeros in front; the name of the column says
so; or there are few values, whose frequencies do not rise and fall as those of a count or a measurement. A number is a
marker of a missing value where it does not belong among the others: below zero among counts, or 9, 99 or 999 behind a
gap.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Floats
from holdfast.data._draft.evidence import Evidence
from holdfast.data._draft.names import name_words, says_code, says_measure

#: More whole numbers than this are not taken for codes because of their frequencies alone.
MOST_BY_SHAPE = 25
#: Up to this many values a dip of the frequencies is enough; with more it must be a deep one.
_FEW_BY_SHAPE = 12
#: Codes repeat: where a larger share of the values occurs only once, a name alone makes no codes of them.
MOST_SINGLE_SHARE = 0.5
#: How many digits of a whole number a double keeps.
_DIGITS = 15
#: With fewer rows frequencies say nothing.
LEAST_ROWS = 60
_NEGATIVES = frozenset(
    -float(number)
    for number in (*range(1, 30), *range(66, 100), 666, 777, 888, *range(995, 1000), 9999, 99999)
)
_REPEATED = re.compile(r"[789]|9+[0-9]|8+|7+")
_SERIAL = re.compile(r"([A-Za-z]+)[-_ ]?[0-9]+")


@dataclass(frozen=True, kw_only=True)
class CodeForm:
    """A system of codes: how a code is written, words of column names, and how many letters its coarser levels have."""

    title: str
    words: frozenset[str]
    pattern: re.Pattern[str]
    levels: tuple[int, ...]
    by_name: bool = True
    """Whether the name of the column must say so; otherwise the way the codes are written is enough."""


def _form(title: str, words: str, pattern: str, *levels: int, by_name: bool = True) -> CodeForm:
    return CodeForm(
        title=title,
        words=frozenset(words.split()),
        pattern=re.compile(pattern),
        levels=levels,
        by_name=by_name,
    )


_ILLNESS = "icd icdcode dx diag diagnosis diagnose diagnoses cause reason dgns"
FORMS = (
    _form("ICD-10", _ILLNESS, r"[A-Z][0-9][0-9A-Z]\.?[0-9A-Z]{0,4}[!*+]?", 3, 1, by_name=False),
    _form("ICD-9", _ILLNESS, r"([0-9]{3}|V[0-9]{2}|E[0-9]{3})\.?[0-9]{0,2}", 3, 1),
    _form("ATC", "atc drug medication", r"[A-Z][0-9]{2}[A-Z]{1,2}[0-9]{0,2}", 5, 4, 3, 1, by_name=False),
    _form(
        "NAICS", "naics naicsp industry industrycode ind", r"[1-9][0-9]([0-9MPSZ]{0,6}|-[0-9]{2})", 4, 3, 2
    ),
    _form("NACE", "nace wz isic noga", r"([A-U]|[0-9]{2})(\.?[0-9]{1,2}){0,3}", 5, 4, 2, 1),
    _form("SOC", "soc onet occupation", r"[0-9]{2}-[0-9]{4}(\.[0-9]{2})?", 7, 4, 2, by_name=False),
    _form("ISCO", "isco isco08 beruf klassifikation kldb", r"[0-9]{4,5}", 3, 2, 1),
    _form("NUTS", "nuts", r"[A-Z]{2}[0-9A-Z]{1,3}", 4, 3, 2),
    _form("census tracts", "tract geoid geography blockgroup", r"[0-9]{11,12}", 5, 2),
    _form("counties", "fips county countyfips stcofips geoid", r"[0-9]{5}", 2),
    _form("ZIP codes", "zip zipcode postal postalcode", r"[0-9]{5}(-[0-9]{4})?", 3, 1),
    _form("postcodes", "plz postleitzahl postcode post cp cap codepostal postal", r"[0-9]{4,5}", 2, 1),
    _form("postcodes", "郵便番号 postcode zip postal", r"[0-9]{3}-?[0-9]{4}", 3, 1),
    _form("postcodes", "postcode zip postal", r"[A-Z][0-9][A-Z] ?[0-9][A-Z][0-9]", 3, 1),
    _form("postcodes", "postcode pcode pcd postal zip", r"[A-Z]{1,2}[0-9][0-9A-Z]? ?[0-9][A-Z]{2}", 2),
    _form("postcodes", "postcode pc4 pc6 zip postal", r"[0-9]{4} ?[A-Z]{2}", 4, 2),
    _form(
        "postcodes",
        "kod kodpocztowy postnummer psc cep cp codigopostal pin pincode zip postal postcode",
        r"[0-9]{2}-[0-9]{3}|[0-9]{3} [0-9]{2}|[0-9]{4}-[0-9]{3}|[0-9]{5}-?[0-9]{3}|[0-9]{6}",
        2,
        1,
    ),
    _form("areas of statistics", "lsoa msoa oa lad ward gss", r"[EWSN][0-9]{8}", 3, 1),
)


def code_form(evidence: Evidence) -> CodeForm | None:
    """The system of codes that nearly all texts belong to; None where there is none."""
    name_parts = set(name_words(evidence.name)) | {"".join(name_words(evidence.name))}
    probe = [word.upper() for word in evidence.probe]
    if len(probe) < 5:
        return None
    for form in FORMS:
        named = bool(form.words & name_parts) or any(
            word.startswith(key) or word.endswith(key)
            for key in form.words
            for word in name_parts
            if len(key) >= 4
        )
        fits = sum(form.pattern.fullmatch(word) is not None for word in probe) >= 0.95 * len(probe)
        if fits and (named or (not form.by_name and _unlike_serials(probe))):
            return form
    return None


def _unlike_serials(codes: Sequence[str]) -> bool:
    """Whether codes begin with different letters and have different lengths, unlike serial numbers."""
    return len({code[0] for code in codes}) > 2 and len({len(code) for code in codes}) > 1


_MIXED = re.compile(r"[A-Za-z0-9]{3,10}")


def code_length(codes: Sequence[str]) -> int | None:
    """The length of the texts, where all are codes of one length with a digit in them; else None."""
    lengths = set()
    for code in codes:
        if not _MIXED.fullmatch(code) or not re.search(r"[0-9]", code):
            return None
        lengths.add(len(code))
    return lengths.pop() if len(lengths) == 1 else None


def are_serial_numbers(texts: Sequence[str]) -> bool:
    """Whether all texts are numbers behind the same letters, like the numbers of policies, meters or members.

    >>> are_serial_numbers(["P000123", "P000124", "P020001"]), are_serial_numbers(["E110", "I251"])
    (True, False)
    """
    matches = [_SERIAL.fullmatch(text) for text in texts]
    return bool(matches) and None not in matches and len({match[1] for match in matches if match}) == 1


def _numeral(word: str) -> bool:
    return word.isascii() and word.isdigit()


def zeros_in_front(texts: Sequence[str]) -> bool:
    """Whether numerals are written with zeros in front, as codes are and numbers are not.

    >>> zeros_in_front(["01", "12"]), zeros_in_front(["0.5", "0", "12"])
    (True, False)
    """
    return all(map(_numeral, texts)) and any(len(text) > 1 and text[0] == "0" for text in texts)


def code_levels(codes: Sequence[str], lengths: Sequence[int]) -> list[int | Mapping[str, str]]:
    """Those of these numbers of leading letters that make coarser levels, from the finest on.

    Digits that lost their zeros in front are compared as if they had them.

    >>> code_levels(["10115", "10117", "20095"], (2, 1)), code_levels(["1011", "1012", "20095"], (2,))
    ([2, 1], [{'1011': '01*', '1012': '01*', '20095': '20*'}])
    >>> code_levels(["110", "111", "2010", "2120"], (3, 2, 1))[1:]
    [{'011*': '01*', '201*': '20*', '212*': '21*'}, {'01*': '0*', '20*': '2*', '21*': '2*'}]
    """
    width = max(map(len, codes))
    lost = all(map(_numeral, codes)) and any(len(code) < width for code in codes)
    full = {code: code.zfill(width) if lost else code for code in codes}
    levels: list[int | Mapping[str, str]] = []
    before = len(codes)
    names = {code: code for code in codes}
    for most in sorted({length for length in lengths if length < width}, reverse=True):
        count = len({code[:most] for code in full.values()})
        if 1 < count < before or (levels and count == before):
            above = {code: f"{whole[:most]}*" for code, whole in full.items()}
            # A mapping names each step of the level below once.
            levels.append({names[code]: above[code] for code in codes} if lost else most)
            names, before = above, count
    return levels


# Whole numbers.


def special_numbers(evidence: Evidence) -> NDArray[np.bool_]:
    """Which numbers seem to be markers of missing values: negative among others, or nines behind a gap."""
    values, times = evidence.numbers, evidence.times
    marks = np.zeros(len(values), dtype=np.bool_)
    if not evidence.distinct or not evidence.finite.all():
        return marks
    order = np.argsort(values)
    sorted_values, sorted_times = values[order], times[order]
    markers = _negative_markers(sorted_values, sorted_times) | _high_markers(sorted_values, sorted_times)
    marks[order[markers]] = True
    return marks


def _negative_markers(values: Floats, times: NDArray[np.int64]) -> NDArray[np.bool_]:
    negative = values < 0
    count, rest = int(negative.sum()), values[~negative]
    none = np.zeros(len(values), dtype=np.bool_)
    if not 0 < count <= 6 or len(rest) < 2 or not set(values[negative]) <= _NEGATIVES:
        # Far below whatever the others are, if they are below zero themselves.
        far = np.isin(values, [-99.0, -999.0, -9999.0, -99999.0]) & (times >= 3)
        others = values[~far]
        apart = len(others) >= 10 and bool(far.any()) and _apart(others.min() - values[far].max(), others)
        return far if apart and count > 1 else none
    if int(times[negative].sum()) < 3 and count == 1 and len(rest) >= 10:
        return none
    gapped = bool(rest.min() - values[negative].max() > 1) or bool(np.any(np.diff(values[negative]) > 1))
    frequent = bool(times[negative].max() >= times[~negative][0])
    return negative if count == 1 or gapped or frequent else none


def _high_markers(values: Floats, times: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which values at the upper end consist of 7, 8 and 9 and follow a gap that is wider than the others."""
    best = np.zeros(len(values), dtype=np.bool_)
    inside = values >= 0
    for cut in range(1, min(5, int(inside.sum()) - 1) + 1):
        top, below = values[-cut:], values[:-cut][inside[:-cut]]
        if (
            not all(number == int(number) and _REPEATED.fullmatch(str(int(number))) for number in top)
            or len(below) < 2
        ):
            break
        gap, width = float(top[0] - below[-1]), len(str(int(top[-1])))
        if len({len(str(int(number))) for number in top}) > 1:
            break
        steps = np.diff(below)
        # Where values stop while they are frequent, what follows behind a gap is something else.
        abrupt = bool(times[:-cut][-1] >= 10) or bool(times[-cut:].sum() > times[:-cut][-1])
        if width == 1:
            # A single 8 behind numbers from 0 on that get rarer is a large count.
            counted = cut == 1 and below[0] == 0 and bool(times[:-cut][-len(below)] == times.max())
            apart = gap >= 2 and len(below) <= 7 and bool(np.all(steps == 1)) and below[0] <= 1 and abrupt
            apart = apart and not counted
        elif len(below) <= MOST_BY_SHAPE:
            apart = gap > 3 * float(steps.max()) and gap >= 3
        else:
            apart = gap > 3 * float(steps.max()) or _apart(gap, below)
        if apart and int(times[-cut:].sum()) >= 3:
            best[:] = False
            best[-cut:] = True
    return best


def _apart(gap: float, others: Floats) -> bool:
    spread = float(np.quantile(others, 0.99) - np.quantile(others, 0.01)) + 1.0
    return bool(gap > spread)


def reason_for_codes(evidence: Evidence, special: NDArray[np.bool_]) -> str | None:
    """Why whole numbers seem to be codes; None where they may be a count or a measurement."""
    if not evidence.whole or evidence.distinct < 2:
        return None
    values, times = evidence.numbers[~special], evidence.times[~special]
    if not len(values):
        return None
    if evidence.kind.value == "text" and zeros_in_front(evidence.probe):
        return "they are written with zeros in front"
    order = np.argsort(values)
    values, times = values[order], times[order]
    if set(values) == {0.0, 1.0}:
        return "they are 0 and 1"
    if len(f"{np.abs(values).max():.0f}") > _DIGITS:
        return "they have more digits than a number keeps"
    answers = special.any() and _numbered_answers(values)
    if says_measure(evidence.name) and not (answers and values[0] == 1 and special.sum() > 1):
        return None
    if set(values) == {1.0, 2.0} or (len(values) == 1 and special.any()):
        return "there are two of them"
    dense = values[-1] - values[0] + 1 < 2 * len(values)
    counted = dense and values[0] == 0 and len(values) > MOST_BY_SHAPE
    if says_code(evidence.name) and values[0] >= 0 and not counted and evidence.share <= MOST_SINGLE_SHARE:
        return "the name of the column is that of a code"
    if not dense and _exact(values, evidence.share):
        return "all have as many digits, and the same ones come back again and again"
    if answers:
        return "they are numbered one after another, beside numbers that say why there is no answer"
    few = 3 <= len(values) <= MOST_BY_SHAPE and times.sum() >= LEAST_ROWS and values.min() >= 0
    if not few or _factor(values) > 1 or values[-1] - values[0] > 3 * len(values):
        return None
    deep = 0.4 if len(values) <= _FEW_BY_SHAPE else 0.1
    return (
        "their numbers rise and fall as no count or measurement does" if _dips(values, times, deep) else None
    )


def _numbered_answers(values: Floats) -> bool:
    """Whether these are 1, 2, 3 and so on, or consecutive numbers from 20 on that are no years."""
    low, count = float(values[0]), len(values)
    consecutive = float(values[-1]) - low + 1 == count
    year = 1800 <= low <= 2100
    return consecutive and ((low == 1 and count <= 9) or (low >= 20 and count <= MOST_BY_SHAPE and not year))


def _exact(values: Floats, share: float) -> bool:
    """Whether large numbers repeat exactly, as codes do: measurements do not, and prices have few last digits."""
    digits = {len(f"{value:.0f}") for value in (values[0], values[-1])}
    ends = len(set((values % 10).tolist()))
    return (
        digits <= {5, 6, 7, 8, 9}
        and len(digits) == 1
        and len(values) >= 5
        and share <= 0.1
        and ends >= min(5, len(values) // 2)
    )


def _factor(values: Floats) -> int:
    """The largest whole number that divides the distances between the values."""
    return int(np.gcd.reduce(np.diff(values).astype(np.int64))) if len(values) > 1 else 1


def _dips(values: Floats, times: NDArray[np.int64], deep: float) -> bool:
    """Whether a value between two others is far less frequent than both, more than by chance."""
    whole = np.zeros(int(values[-1] - values[0]) + 1)
    whole[(values - values[0]).astype(np.int64)] = times
    left, right = np.maximum.accumulate(whole), np.maximum.accumulate(whole[::-1])[::-1]
    beside = np.minimum(left, right)
    return bool(np.any((whole < deep * beside) & (beside - whole > 5 * np.sqrt(beside))))
