"""Kinds of storage types: whether a column of a file, a frame or a database holds numbers, texts, dates or others."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any


class Kind(Enum):
    """How a storage type is read; every engine maps its own types to these."""

    integer = "integer"
    floating = "floating"
    decimal = "decimal"
    boolean = "boolean"
    text = "text"
    date = "date"
    timestamp = "timestamp"
    zoned = "zoned"  # a timestamp with a time zone
    unknown = "unknown"


def kind_of(dtype: Any) -> Kind:
    """The kind of an Arrow type (of the values, where the type is a dictionary)."""
    import pyarrow.types as types

    if types.is_dictionary(dtype):
        return kind_of(dtype.value_type)
    if types.is_timestamp(dtype):
        return Kind.timestamp if dtype.tz is None else Kind.zoned
    tests: tuple[tuple[Callable[[Any], bool], Kind], ...] = (
        (types.is_integer, Kind.integer),
        (types.is_floating, Kind.floating),
        (types.is_decimal, Kind.decimal),
        (types.is_boolean, Kind.boolean),
        (types.is_string, Kind.text),
        (types.is_large_string, Kind.text),
        (types.is_string_view, Kind.text),
        (types.is_date, Kind.date),
    )
    return next((kind for test, kind in tests if test(dtype)), Kind.unknown)
