"""Moments as whole numbers of a unit since 1970-01-01, and the formats of texts that hold them.

A text is read by a regular expression into a packed number YYYYMMDDhhmmss. The rest is arithmetic on whole numbers, the
same in Python and in SQL (`holdfast.data._sql.dialect`), so that no calendar of a database is used.
"""

from __future__ import annotations

import datetime
import re
from functools import cache
from typing import Any

import numpy as np

from holdfast._argument_kinds import LARGEST_FLOAT
from holdfast._arrays import Floats
from holdfast.data._schema.spelling import BLANKS
from holdfast.errors import ParameterError, require

UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
"""From the coarsest to the finest."""
DAILY = UNITS[:5]
"""Units that are made of days: they come back as dates."""
ISO = "iso"
SECONDS = {"hour": 3600, "minute": 60, "second": 1}
_MONTHS = {"year": 12, "quarter": 3, "month": 1}
_ISO = (
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})"
    r"([ T]([0-9]{2}):([0-9]{2})(:([0-9]{2})([.,][0-9]{1,9})?)?( ?(Z|[+-][0-9]{2}(:?[0-9]{2})?))?)?"
)
_ISO_GROUPS = {"Y": 1, "m": 2, "d": 3, "H": 5, "M": 6, "S": 8}
_DIRECTIVES = {
    "Y": "[0-9]{4}",
    "y": "[0-9]{2}",
    "b": "[A-Za-zÀ-ÿ]{3,10}",
    "p": "[AaPp][.]?[Mm][.]?",
}
_SIGNS = " ./:,-_T年月日時分秒"
_CLOCKS = ("", "H", "HM", "HMS", "Ip", "IMp", "IMSp")
_MONTH_NAMES = (
    "jan january januar jänner janvier janv enero ene",
    "feb february februar feber février févr fév febrero",
    "mar march mär märz mrz mars marzo",
    "apr april avril avr abril abr",
    "may mai mayo",
    "jun june juni juin junio",
    "jul july juli juillet juil julio",
    "aug august août aout agosto ago",
    "sep sept september septembre septiembre",
    "oct october okt oktober octobre octubre",
    "nov november novembre noviembre",
    "dec december dez dezember décembre déc diciembre dic",
)
MONTHS = {
    written: month
    for month, names in enumerate(_MONTH_NAMES, start=1)
    for name in names.split()
    for written in (name, name.title(), name.upper())
}
"""Months in English, German, French and Spanish, in full and as they are shortened: small, capital or all capitals."""
AFTERNOON = tuple(
    f"{letter}{dot}{m}{end}" for letter in "pP" for dot in ("", ".") for m in "mM" for end in ("", ".")
)
_EPOCH = datetime.datetime(1970, 1, 1)


def pattern_of(form: str) -> tuple[str, dict[str, int]]:
    """The regular expression of a format, and the group of each part of the moment.

    >>> pattern_of("%d.%m.%Y")
    ('([0-9]{1,2})[.]([0-9]{1,2})[.]([0-9]{4})', {'d': 1, 'm': 2, 'Y': 3})
    """
    if form == ISO:
        return _ISO, dict(_ISO_GROUPS)
    tokens = re.findall(r"%[YymbdHIMSp]|[^%]", form) if isinstance(form, str) else []
    good = "".join(tokens) == form and all(token[0] == "%" or token in _SIGNS for token in tokens)
    parts = [token[1] for token in tokens if token[0] == "%"]
    clock = "".join(part for part in "HIMSp" if part in parts)
    dated = ("m" in parts) != ("b" in parts) and ("Y" in parts) != ("y" in parts)
    once = len(set(parts)) == len(parts)
    require(
        good and once and dated and clock in _CLOCKS and (clock == "" or "d" in parts),
        "format",
        form,
        "'iso', or a month (%m, or %b by its name) of a year (%Y or %y), possibly with a day (%d) and a time "
        f"(%H, %M, %S, or %I, %M, %S, %p) and the signs {_SIGNS!r} between them",
        "such as '%d.%m.%Y', '%m/%d/%Y %I:%M %p' or '%b %Y'",
    )
    if form.startswith("%Y-%d"):
        raise ParameterError(
            f"format must not write a day as other people write a month, got {form!r}; use '%Y-%m-%d'"
        )
    written: list[str] = []
    groups: dict[str, int] = {}
    for place, token in enumerate(tokens):
        if token[0] != "%":
            written.append(f"[{token}]")
            continue
        beside = [tokens[near] for near in (place - 1, place + 1) if 0 <= near < len(tokens)]
        joined = any(near[0] == "%" and near[1] not in "bp" for near in beside)
        digits = "[0-9]{2}" if joined else "[0-9]{1,2}"
        groups[token[1]] = len(groups) + 1
        written.append(f"({_DIRECTIVES.get(token[1], digits)})" + ("[.]?" if token[1] == "b" else ""))
    return "".join(written), groups


@cache
def _reader(form: str) -> tuple[re.Pattern[str], dict[str, int]]:
    pattern, groups = pattern_of(form)
    return re.compile(pattern, flags=re.ASCII), groups


def packed_text(text: str, form: str) -> float:
    """YYYYMMDDhhmmss of a text, NaN where it has another format. Whether such a day exists is not checked here.

    >>> packed_text("31.12.2024", "%d.%m.%Y"), packed_text("2024-12-31T08:30", "iso")
    (20241231000000.0, 20241231083000.0)
    >>> packed_text("Dec-2024", "%b-%Y"), packed_text("1/31/2024 12:05 AM", "%m/%d/%Y %I:%M %p")
    (20241201000000.0, 20240131000500.0)
    """
    pattern, groups = _reader(form)
    match = pattern.fullmatch(text)
    if match is None:
        return float("nan")
    fields = {name: match.group(group) or "" for name, group in groups.items()}
    parts: dict[str, Any] = {name: int(field or 0) for name, field in fields.items() if name not in "bp"}
    if "b" in fields:
        parts["m"] = MONTHS.get(fields["b"], 0)
    return float(_pack(parts, fields.get("p") in AFTERNOON))


#: How many texts are parsed at a time.
_BLOCK = 2**16


def packed_texts(texts: Any, form: str) -> Floats:
    """`packed_text` of every text of an Arrow array; NaN also where it is null.

    >>> import pyarrow as pa
    >>> packed_texts(pa.array(["1.2.2024", None, "x"]), "%d.%m.%Y").tolist()
    [20240201000000.0, nan, nan]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    pattern, groups = pattern_of(form)
    pieces = re.split(r"\((?!\?)", pattern)  # no bracket of a pattern stands for itself
    named = pieces[0] + "".join(f"(?P<g{place}>{piece}" for place, piece in enumerate(pieces[1:], start=1))
    packed = np.full(len(texts), np.nan)
    for begin in range(0, len(texts), _BLOCK):
        block = texts.slice(begin, _BLOCK).cast(pa.large_string())
        matches = pc.extract_regex(block, pattern=f"^(?:{named})$")
        good = matches.is_valid()
        rows = matches.filter(good)
        if not len(rows):
            continue
        fields = {name: pc.struct_field(rows, f"g{group}") for name, group in groups.items()}
        parts: dict[str, Any] = {name: _whole(text) for name, text in fields.items() if name not in "bp"}
        if "b" in fields:
            months = pc.index_in(fields["b"], value_set=pa.array(list(MONTHS), pa.large_string()))
            parts["m"] = np.array([*MONTHS.values(), 0])[pc.fill_null(months, len(MONTHS)).to_numpy()]
        later: Any = False
        if "p" in fields:
            afternoon = pc.is_in(fields["p"], value_set=pa.array(AFTERNOON, pa.large_string()))
            later = afternoon.to_numpy(zero_copy_only=False).astype(bool)
        places = np.flatnonzero(good.to_numpy(zero_copy_only=False))
        packed[begin + places] = _pack(parts, later)
    return packed


def _pack(parts: dict[str, Any], later: Any) -> Any:
    """The packed number of the parts of one moment, or of arrays of them; `later` says whether it is after noon."""
    if "y" in parts:
        parts["Y"] = parts["y"] + 1900 + 100 * (parts["y"] < 69)
    if "I" in parts:
        hour = parts["I"]
        none = (hour < 1) | (hour > 12)
        parts["H"] = (1 - none) * (hour % 12 + 12 * later) + 99 * none
    total: Any = 0
    for name in "YmdHMS":
        total = total * 100 + parts.get(name, 1 if name == "d" else 0)
    return total


def _whole(digits: Any) -> Any:
    """Digits as whole numbers; a part that is left out is 0."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.if_else(pc.equal(digits, ""), "0", digits).cast(pa.int64()).to_numpy()


def read_moment(text: object, unit: str, form: str) -> float:
    """The number of a text's unit, as the format or ISO 8601 writes it; NaN where neither does."""
    packed = packed_text(str(text).strip(BLANKS), form)
    packed = packed if packed == packed or form == ISO else packed_text(str(text).strip(BLANKS), ISO)
    return float(unit_numbers(np.array([packed]), unit)[0])


def unit_numbers(packed: Floats, unit: str) -> Floats:
    """The number of the unit, NaN where there is no such day or time."""
    parts = []
    rest = packed
    with np.errstate(invalid="ignore"):
        for _ in range(5):
            above = np.floor(rest / 100)
            parts.append(rest - 100 * above)
            rest = above
        second, minute, hour, day, month = parts
        year = rest
        # Days of a month: 30 + (m + floor(m / 8)) mod 2, but for February.
        odd = month + np.floor(month / 8)
        leap = (_divides(4, year) & ~_divides(100, year)) | _divides(400, year)
        length = np.where(month == 2, np.where(leap, 29, 28), 30 + odd - 2 * np.floor(odd / 2))
        good = (year >= 1) & (month >= 1) & (month <= 12) & (day >= 1) & (day <= length)
        good &= (hour <= 23) & (minute <= 59) & (second <= 59)
        if unit in _MONTHS:
            numbers_of_units = np.floor(((year - 1970) * 12 + month - 1) / _MONTHS[unit])
        else:
            # Years that begin in March, so that the leap day is the last of its year.
            shifted = year - (month <= 2)
            place = month + np.where(month <= 2, 9, -3)
            days = (
                365 * shifted
                + np.floor(shifted / 4)
                - np.floor(shifted / 100)
                + np.floor(shifted / 400)
                + np.floor((153 * place + 2) / 5)
                + day
                - 719469
            )
            numbers_of_units = _of_seconds(days, hour * 3600 + minute * 60 + second, unit)
    return np.where(good, numbers_of_units, np.nan)


def _divides(number: int, year: Floats) -> Any:
    return number * np.floor(year / number) == year


def _of_seconds(days: Floats, seconds: Floats, unit: str) -> Floats:
    if unit == "day":
        return days
    if unit == "week":  # Monday is its first day: 1969-12-29 was one
        return np.floor((days + 3) / 7)
    return np.floor((days * 86400 + seconds) / SECONDS[unit])


def unit_of_seconds(seconds: Any, unit: str) -> Floats:
    """The unit that each whole second since 1970 is in."""
    whole = np.asarray(seconds, dtype=np.int64)
    days = np.floor_divide(whole, 86_400)
    if unit in _MONTHS:
        months = days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
        return np.floor_divide(months, _MONTHS[unit]).astype(np.float64)
    return _of_seconds(days.astype(np.float64), (whole - days * 86_400).astype(np.float64), unit)


def number_of(moment: object, unit: str) -> float:
    """A declared moment: a number, a date, or a text such as 2024-01-31, 2024-01-31 08:30, 2024-01 or 2024.

    >>> number_of("1970-02", "month"), number_of(datetime.date(1970, 1, 3), "day")
    (1.0, 2.0)
    """
    if isinstance(moment, datetime.datetime | datetime.date):
        moment = moment.isoformat()[:19]
    if isinstance(moment, str):
        whole = moment + {4: "-01-01", 7: "-01"}.get(len(moment), "")
        value = float(unit_numbers(np.array([packed_text(whole, ISO)]), unit)[0])
        require(value == value, "moment", moment, "a date such as 2024-01-31, or 2024-01-31 08:30")
        return value
    require(
        isinstance(moment, int | float) and abs(moment) <= LARGEST_FLOAT and float(moment).is_integer(),
        "moment",
        moment,
        "a date or a text of one",
    )
    return float(moment)  # type: ignore[arg-type]


def starts(numbers: Any, unit: str) -> Any:
    """The first second of each unit, as datetime64."""
    whole = np.asarray(numbers).astype(np.int64)
    if unit in _MONTHS:
        return (whole * _MONTHS[unit]).astype("datetime64[M]").astype("datetime64[s]")
    if unit == "week":
        return (whole * 7 - 3).astype("datetime64[D]").astype("datetime64[s]")
    if unit == "day":
        return whole.astype("datetime64[D]").astype("datetime64[s]")
    return (whole * SECONDS[unit]).astype("datetime64[s]")


def name_of(number: float, unit: str) -> str:
    """A unit as people write it.

    >>> name_of(0, "quarter"), name_of(649, "month"), name_of(19000, "day"), name_of(474000, "hour")
    ('1970-Q1', '2024-02', '2022-01-08', '2024-01-28 00:00')
    """
    text = str(starts([number], unit)[0]).replace("T", " ")
    if unit == "quarter":
        return f"{text[:4]}-Q{1 + (int(text[5:7]) - 1) // 3}"
    return text[: {"year": 4, "month": 7, "week": 10, "day": 10, "hour": 16, "minute": 16}.get(unit, 19)]
