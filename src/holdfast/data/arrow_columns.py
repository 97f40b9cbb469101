"""Columns of a data frame, Arrow table or mapping as Arrow arrays, each value read by itself.

A list or a column of objects has no declared type. To find one type for all of its elements would let a single one
decide how the others are read: one text makes texts of a thousand truth values. Where all elements are of one type they
are read as a column of that type; otherwise one by one, with the same result.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from holdfast.data.rows import Kind, MixedColumn, identifier_of_number, kind_of, numbers, plain_array, texts
from holdfast.errors import DataError

_UNREAD = (bytes, bytearray, memoryview, list, tuple, dict, set, frozenset, np.ndarray, np.bytes_, np.void)
_DATES = (datetime.date, np.datetime64)
#: Of these Arrow makes one type that means the same as each element by itself.
_ALIKE = (str, bool, int, float, Decimal, datetime.date, datetime.datetime)


def arrow_column(values: Any) -> Any:
    """An Arrow array of any one-dimensional values; objects of several types are read one by one.

    >>> arrow_column([1, None, 3]).to_pylist()
    [1, None, 3]
    >>> from holdfast.data.rows import numbers, texts
    >>> numbers(arrow_column([True, "2", None])).tolist(), texts(arrow_column([True, "2", None])).to_pylist()
    ([1.0, 2.0, nan], ['true', '2', None])
    """
    import pyarrow as pa

    if isinstance(values, pa.Array | pa.ChunkedArray):
        return _unicode_only(plain_array(values))
    untyped = isinstance(values, list | tuple) or str(getattr(values, "dtype", "")) == "object"
    if untyped and not _single_type(values):
        return _one_by_one(values)
    try:
        made = pa.array(values, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return _one_by_one(values)
    return _unicode_only(plain_array(made))


def _unicode_only(values: Any) -> Any:
    """Texts whose bytes are no UTF-8 are missing; nothing else is touched."""
    import pyarrow as pa

    if kind_of(values.type) is not Kind.text:
        return values
    try:
        values.validate(full=True)
    except pa.ArrowInvalid:
        stored = values.cast(pa.large_string()).view(pa.large_binary()).to_pylist()
        return pa.array([_unicode(text) for text in stored], pa.large_string())
    return values


def _unicode(text: bytes | None) -> str | None:
    try:
        return None if text is None else text.decode()
    except UnicodeDecodeError:
        return None


def _single_type(values: Sequence[Any]) -> bool:
    """Whether all elements that are not missing have one type that Arrow keeps as it is."""
    found = {type(value) for value in values if not _is_missing(value)}
    return not found or (len(found) == 1 and next(iter(found)) in _ALIKE)


def _is_missing(value: Any) -> bool:
    """None, NaN, and what pandas writes for them."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating | np.datetime64) and bool(value != value)


def _one_by_one(values: Iterable[Any]) -> MixedColumn:
    """Each element, read as a column of its own type would be."""
    import pyarrow as pa

    readings = [_reading(value) for value in values]
    return MixedColumn(
        numbers=np.array([number for number, _, _ in readings], dtype=np.float64),
        texts=pa.array([text for _, text, _ in readings], pa.large_string()),
        by_value=np.array([kind == "value" for _, _, kind in readings], dtype=np.bool_),
        whole=np.array([kind == "whole" for _, _, kind in readings], dtype=np.bool_),
    )


def _reading(value: Any) -> tuple[float, str | None, str]:
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
        import pyarrow as pa

        plain = value if isinstance(value, _DATES) else str(value)
        read = pa.array([plain])
        return float(numbers(read)[0]), texts(read)[0].as_py(), ""
    except Exception:  # whatever an object's own methods raise, a value never raises here
        return missing


def _double(value: int) -> float:
    """A whole number of any size; beyond the doubles it is infinite, and clipped like every large number."""
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def arrow_columns(source: Any, names: list[str]) -> dict[str, Any]:
    """The named columns as Arrow arrays of equal length."""
    present = list(source.keys()) if isinstance(source, Mapping) else _column_names(source)
    check_columns(names, present)
    columns = {name: _column(source, name) for name in names}
    if len({len(column) for column in columns.values()}) > 1:
        raise DataError("all columns must have the same number of rows")
    return columns


def check_columns(names: list[str], present: list[Any]) -> None:
    """Refuse a table that lacks a declared column, before anything is read."""
    missing = [name for name in names if present.count(name) != 1]
    if missing:
        raise DataError(
            f"the table must have each declared column exactly once; missing or repeated: {missing}"
        )


def _column_names(source: Any) -> list[Any]:
    return list(source.column_names) if hasattr(source, "column_names") else list(source.columns)


def _column(source: Any, name: str) -> Any:
    values = source[name]
    if getattr(values, "ndim", 1) != 1:
        raise DataError(f"column {name!r} must have one dimension")
    to_arrow = getattr(values, "to_arrow", None)
    if (
        to_arrow is None or str(getattr(values, "dtype", "")) == "Object"
    ):  # of polars, which Arrow cannot carry
        return arrow_column(values if to_arrow is None else values.to_list())
    return arrow_column(to_arrow())
