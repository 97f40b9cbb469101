"""Moments as whole numbers of a unit since 1970-01-01, and how they are written in texts.

A text is read by one pattern of digits into `packed`, the number YYYYMMDDhhmmss; everything else is arithmetic on whole
numbers, the same here and in SQL (`holdfast.data.sql.dialect`), so that no database's own calendar is asked.
"""

from __future__ import annotations

import datetime
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.arguments import LARGEST
from holdfast.data.schema.spelling import BLANKS
from holdfast.errors import ParameterError, require

Floats = NDArray[np.float64]
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
    "m": "[0-9]",
    "d": "[0-9]",
    "H": "[0-9]",
    "M": "[0-9]",
    "S": "[0-9]",
}
_EPOCH = datetime.datetime(1970, 1, 1)


def pattern_of(form: str) -> tuple[str, dict[str, int]]:
    """The regular expression of a format, and which group holds which part.

    >>> pattern_of("%d.%m.%Y")
    ('([0-9]{1,2})[.]([0-9]{1,2})[.]([0-9]{4})', {'d': 1, 'm': 2, 'Y': 3})
    """
    if form == ISO:
        return _ISO, dict(_ISO_GROUPS)
    tokens = re.findall(r"%[YymdHMS]|[^%]", form) if isinstance(form, str) else []
    good = "".join(tokens) == form and all(token[0] == "%" or token in " ./:,-_T" for token in tokens)
    parts = [token[1] for token in tokens if token[0] == "%"]
    days = len(set(parts)) == len(parts) and {"m", "d"} <= set(parts) and (("Y" in parts) != ("y" in parts))
    clock = [part for part in "HMS" if part in parts]
    require(
        good and days and clock in ([], ["H"], ["H", "M"], ["H", "M", "S"]), "format", form,
        "'iso', or a day and possibly a time of %Y (or %y), %m, %d, %H, %M, %S and the signs ./:-_, between them",
        "such as '%d.%m.%Y' or '%m/%d/%Y %H:%M'",
    )  # fmt: skip
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
        alone = token[1] in "Yy" or (place + 1 < len(tokens) and tokens[place + 1][0] == "%") or (
            place > 0 and tokens[place - 1][0] == "%"
        )  # fmt: skip
        digits = _DIRECTIVES[token[1]]
        wide = digits if token[1] in "Yy" else digits + ("{2}" if alone else "{1,2}")
        groups[token[1]] = len(groups) + 1
        written.append(f"({wide})")
    return "".join(written), groups


def packed_text(text: str, form: str) -> float:
    """YYYYMMDDhhmmss of a text, NaN where it is not written so; whether there is such a day is seen later.

    >>> packed_text("31.12.2024", "%d.%m.%Y"), packed_text("2024-12-31T08:30", "iso")
    (20241231000000.0, 20241231083000.0)
    """
    pattern, groups = pattern_of(form)
    found = re.fullmatch(pattern, text, flags=re.ASCII)
    if found is None:
        return float("nan")
    parts = {name: int(found.group(group) or 0) for name, group in groups.items()}
    if "y" in parts:
        parts["Y"] = parts["y"] + (1900 if parts["y"] >= 69 else 2000)
    total = 0
    for name in "YmdHMS":
        total = total * 100 + parts.get(name, 0)
    return float(total)


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
            made = np.floor(((year - 1970) * 12 + month - 1) / _MONTHS[unit])
        else:
            # Years that begin in March, so that the leap day is the last of its year.
            shifted = year - (month <= 2)
            place = month + np.where(month <= 2, 9, -3)
            days = (
                365 * shifted + np.floor(shifted / 4) - np.floor(shifted / 100) + np.floor(shifted / 400)
                + np.floor((153 * place + 2) / 5) + day - 719469
            )  # fmt: skip
            made = _of_seconds(days, hour * 3600 + minute * 60 + second, unit)
    return np.where(good, made, np.nan)


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
        isinstance(moment, int | float) and abs(moment) <= LARGEST and float(moment).is_integer(),
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
