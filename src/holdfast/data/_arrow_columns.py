"""Columns of data frames, Arrow tables and mappings as Arrow arrays of equal length."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from holdfast._argument_kinds import type_text
from holdfast.data._mixed import one_by_one, single_type
from holdfast.data._readings import numbers, plain_array, texts
from holdfast.data._storage_kinds import Kind, kind_of
from holdfast.errors import DataError


def arrow_column(values: Any) -> Any:
    """An Arrow array of any one-dimensional values; objects of several types are read one by one.

    >>> arrow_column([1, None, 3]).to_pylist()
    [1, None, 3]
    >>> numbers(arrow_column([True, "2", None])).tolist(), texts(arrow_column([True, "2", None])).to_pylist()
    ([1.0, 2.0, nan], ['true', '2', None])
    """
    import pyarrow as pa

    if isinstance(values, pa.Array | pa.ChunkedArray):
        return _unicode_only(plain_array(values))
    categories = getattr(getattr(values, "dtype", None), "categories", None)
    if str(getattr(categories, "dtype", "")) == "object":  # of a categorical of pandas; polars has texts only
        values = values.astype(object)
    untyped = isinstance(values, list | tuple) or str(getattr(values, "dtype", "")) == "object"
    if untyped and not single_type(values):
        return one_by_one(values, _read_one)
    try:
        array = pa.array(values, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return one_by_one(values, _read_one)
    return _unicode_only(plain_array(array))


def _unicode_only(values: Any) -> Any:
    """The values with texts that are not valid UTF-8 replaced by nulls."""
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


def _read_one(value: Any) -> tuple[float, str | None]:
    import pyarrow as pa

    single = pa.array([value])
    return float(numbers(single)[0]), texts(single)[0].as_py()


def arrow_columns(source: Any, names: list[str]) -> dict[str, Any]:
    """The named columns as Arrow arrays of equal length."""
    check_columns(names, column_names(source))
    columns = {name: _column(source, name) for name in names}
    if len({len(column) for column in columns.values()}) > 1:
        raise DataError("all columns must have the same number of rows")
    return columns


def check_columns(names: list[str], present: list[Any]) -> None:
    """Refuse a table that lacks a declared column, before anything is read."""
    missing = [name for name in names if present.count(name) != 1]
    if missing:
        must = "the table must have each declared column exactly once"
        raise DataError(f"{must}; missing or repeated: {missing}")


def column_names(source: Any) -> list[Any]:
    """The names of the columns of a frame, an Arrow table or a mapping."""
    if isinstance(source, Mapping):
        return list(source)
    names = getattr(source, "column_names", None)
    names = getattr(source, "columns", None) if names is None else names
    if not isinstance(names, Iterable) or isinstance(names, str):
        raise DataError(
            f"rows must be a data frame, an Arrow table or a dict of columns, got {type_text(source)}; name the "
            "columns of an array as dict(zip(names, array.T))"
        )
    return list(names)


def _column(source: Any, name: str) -> Any:
    values = source[name]
    if getattr(values, "ndim", 1) != 1:
        raise DataError(f"column {name!r} must have one dimension")
    to_arrow = getattr(values, "to_arrow", None)
    # Arrow cannot hold the Object columns of polars.
    if to_arrow is None or str(getattr(values, "dtype", "")) == "Object":
        return arrow_column(values if to_arrow is None else values.to_list())
    return arrow_column(to_arrow())
