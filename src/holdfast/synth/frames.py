"""The same kind of frame out as in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

FRAMES = ("pandas", "polars", "arrow", "dict")


def frame_kind(source: Any) -> str:
    """What the user works with: `pandas`, `polars`, `arrow` or `dict`; Arrow for files and tables.

    >>> frame_kind({"a": [1, 2]}), frame_kind("data.parquet")
    ('dict', 'arrow')
    """
    if isinstance(source, Mapping):
        return "dict"
    package = type(source).__module__.partition(".")[0]
    return package if package in FRAMES else "arrow"


def as_frame(table: Any, kind: str) -> Any:
    """An Arrow table as that kind of frame. A whole-number column with nulls is pandas' `Int64`, never float."""
    if kind == "pandas":
        return _pandas(table)
    if kind == "polars":
        import polars

        return polars.from_arrow(table)
    if kind == "dict":
        return {
            name: table[name].to_numpy(zero_copy_only=False)
            if table[name].null_count == 0
            else _with_nulls(table[name])
            for name in table.column_names
        }
    return table


def _pandas(table: Any) -> Any:
    import pandas
    import pyarrow

    nullable = {pyarrow.int64(): pandas.Int64Dtype(), pyarrow.bool_(): pandas.BooleanDtype()}
    frame = table.to_pandas()
    for name in table.column_names:
        column = table[name]
        if column.null_count and column.type in nullable:
            frame[name] = pandas.array(column.to_pylist(), dtype=nullable[column.type])
    return frame


def _with_nulls(column: Any) -> Any:
    """NaN in numbers; None in a column of texts."""
    import numpy
    import pyarrow

    if pyarrow.types.is_integer(column.type) or pyarrow.types.is_floating(column.type):
        return column.to_numpy(zero_copy_only=False).astype(numpy.float64)
    return numpy.array(column.to_pylist(), dtype=object)
