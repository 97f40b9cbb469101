"""Columns of Python objects: each is read by its own type, so that no element changes how another is read.

A list or a column of objects has no declared type. To find one type for all of its elements would let a single one
decide how the others are read: one text makes texts of a thousand truth values. Where all elements are of one type they
are read as a column of that type; otherwise one by one, with the same result.
"""

from __future__ import annotations

import datetime
import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

_UNREAD = (bytes, bytearray, memoryview, list, tuple, dict, set, frozenset, np.ndarray, np.bytes_, np.void)
_DATES = (datetime.date, np.datetime64)
#: Types whose elements mean the same in one Arrow array as each by itself.
_ALIKE = (str, bool, int, float, Decimal, datetime.date, datetime.datetime)


@dataclass(frozen=True, kw_only=True)
class MixedColumn:
    """The readings of a column whose elements have several types.

    `by_value` marks floating and decimal numbers, `whole` integers: how an element is compared with categories.
    """

    numbers: NDArray[np.float64]
    texts: Any
    by_value: NDArray[np.bool_]
    whole: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.numbers)


def single_type(values: Sequence[Any]) -> bool:
    """Whether all elements that are not missing have one type that Arrow keeps as it is."""
    types = {type(value) for value in values if not _is_missing(value)}
    return not types or (len(types) == 1 and next(iter(types)) in _ALIKE)


def _is_missing(value: Any) -> bool:
    """None, NaN, and what pandas writes for them."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating | np.datetime64) and bool(value != value)


def one_by_one(values: Iterable[Any], read: Callable[[Any], tuple[float, str | None]]) -> MixedColumn:
    """Each element as a column of its own type would be read; `read` reads texts and dates."""
    import pyarrow as pa

    readings = [_reading(value, read) for value in values]
    return MixedColumn(
        numbers=np.array([number for number, _, _ in readings], dtype=np.float64),
        texts=pa.array([text for _, text, _ in readings], pa.large_string()),
        by_value=np.array([kind == "value" for _, _, kind in readings], dtype=np.bool_),
        whole=np.array([kind == "whole" for _, _, kind in readings], dtype=np.bool_),
    )


def _reading(value: Any, read: Callable[[Any], tuple[float, str | None]]) -> tuple[float, str | None, str]:
    """The number (NaN for none), the text (None for none) and how it is compared with categories."""
    missing = (float("nan"), None, "")
    try:
        if _is_missing(value) or isinstance(value, _UNREAD):
            return missing
        if isinstance(value, bool | np.bool_):
            return float(value), "true" if value else "false", ""
        if isinstance(value, int | np.integer):
            return _double(int(value)), str(int(value)), "whole"
        if isinstance(value, float | np.floating):
            return float(value), identifier_of_number(float(value)), "value"
        if isinstance(value, Decimal):
            if value.is_nan():
                return missing
            return float(value), identifier_of_number(value), "value"
        number, text = read(value if isinstance(value, _DATES) else str(value))
        return number, text, ""
    except Exception:  # whatever an object's own methods raise, a value never raises here
        return missing


def _double(value: int) -> float:
    """A whole number of any size; beyond the doubles it is infinite, and clipped like every large number."""
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def identifier_of_number(number: float | Decimal | None) -> str | None:
    """The text by which a number identifies somebody, in every engine: no two numbers of a column share one.

    Whole numbers are written with their digits, as in a column of whole numbers; other doubles by their 64 bits,
    because engines do not agree on the digits of a double; other decimals exactly, without zeros at the end.

    >>> identifier_of_number(7.0), identifier_of_number(Decimal("7.50")), identifier_of_number(float("nan"))
    ('7', '7.5', None)
    """
    if number is None or number != number:
        return None
    if isinstance(number, Decimal):
        written = format(number, "f")
        short = written.rstrip("0").rstrip(".") if "." in written else written
        return "0" if short == "-0" else short
    whole = abs(number) < 2**53 and number == int(number)
    return str(int(number)) if whole else format(struct.unpack(">Q", struct.pack(">d", number))[0], "064b")


def read_by_kind(
    read: Callable[[float, str | None], float | str | None],
    numbers: NDArray[np.float64],
    texts: list[str | None],
) -> list[float | str | None]:
    """The values that the `read` function of a column kind gives, called for one value at a time.

    Where it raises an error, or returns neither a number nor a text, the value is missing: an error would be an output.
    """
    readings: list[float | str | None] = []
    for number, text in zip(numbers.tolist(), texts, strict=True):
        try:
            value = read(number, text)
        except Exception:
            value = None
        plain = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
        readings.append(float(value) if plain else value if type(value) is str else None)  # type: ignore[arg-type]
    return readings
