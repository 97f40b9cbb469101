"""Types of synthetic values, and of the columns of a frame that holds them: declared, or those of the kind of column.

Types follow from the schema alone. How a fitted frame stored its values has no say in them: one missing value makes
whole numbers of pandas floating, and one date that cannot be read makes dates texts, so that a type taken over would
tell of one record. Only the kind of frame is the caller's, who works with it. A declared type is used only if every
value, read again, falls into the cell that it came from: rounding an amount to cents must not move it to the next cell.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast._extras import import_optional
from holdfast.data._batch import encode_batch
from holdfast.data._schema import Categorical, DateTime, Numeric, Schema
from holdfast.data._storage_kinds import Kind, kind_of
from holdfast.synth._rows.coded_rows import null_cell

Declared = Numeric | Categorical
FRAMES = ("pandas", "polars", "arrow", "dict")
_OTHER_FRAMES = "sample(frame='arrow') and sample(frame='dict') give the same rows"


def declared_type(column: Declared) -> Any:
    """The Arrow type that a column's `dtype` names; None without one."""
    import pyarrow as pa

    if column.dtype is None:
        return pa.dictionary(pa.int32(), pa.string(), True) if getattr(column, "ordered", False) else None
    name = column.dtype.replace(" ", "")
    if name == "dictionary":
        return pa.dictionary(pa.int32(), pa.string(), bool(getattr(column, "ordered", False)))
    if name.startswith("decimal"):
        precision, scale = name[8:-1].split(",")
        return pa.decimal128(int(precision), int(scale))
    if name.startswith("timestamp"):
        unit, _, zone = name[10:-1].partition(",")
        return pa.timestamp(unit, zone or None)
    return {"date": pa.date32(), "bool": pa.bool_(), "large_string": pa.large_string()}.get(
        name
    ) or pa.type_for_alias(name)


def as_type(column: Declared, values: Any, dtype: Any) -> Any:
    """The values in this type if the column may have it and no value changes its cell; else the values unchanged."""
    import pyarrow as pa

    plain = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    if plain.type == dtype or not _may_have(column, plain.type, dtype):
        return values
    if pa.types.is_dictionary(dtype):
        return _as_categorical(column, plain, dtype)
    cells = _cells(column, plain)
    missing = np.asarray(plain.is_null().to_numpy(zero_copy_only=False), dtype=np.bool_)
    best: Any = None
    for candidate in _candidates(plain, dtype, missing):
        in_other_cell = _cells(column, candidate) != cells
        if not in_other_cell.any():
            return candidate
        if best is None:
            best, wrong = candidate, in_other_cell
            continue
        corrected = wrong & ~in_other_cell
        best = _mix(best, candidate, corrected)
        wrong = wrong & ~corrected
        if not wrong.any():
            return best
    return values


def _may_have(column: Declared, stored: Any, dtype: Any) -> bool:
    """Whether a column may have the type: whole numbers never become floating, nor dates texts."""
    import pyarrow.types as types

    wanted = Kind.text if types.is_dictionary(dtype) else kind_of(dtype)
    if isinstance(column, DateTime):
        return wanted in (Kind.date, Kind.timestamp, Kind.zoned)
    if isinstance(column, Numeric):
        allowed = (Kind.integer, Kind.decimal) if column.integer else (Kind.floating, Kind.decimal)
        return wanted in allowed
    return (
        wanted in (Kind.text, Kind.integer, Kind.boolean, Kind.date) and kind_of(stored) is not Kind.unknown
    )


def _candidates(values: Any, dtype: Any, missing: NDArray[np.bool_]) -> Any:
    """The values cast to the type, then the next smaller and the next larger values of the type."""
    import pyarrow as pa
    import pyarrow.compute as pc

    steps: list[Any] = [values]
    if pa.types.is_floating(dtype) and pa.types.is_floating(values.type):
        near = values.fill_null(0.0).to_numpy(zero_copy_only=False).astype(dtype.to_pandas_dtype())
        steps = [pa.array(near, dtype, mask=missing)]
        steps += [
            pa.array(np.nextafter(near, near.dtype.type(end)), dtype, mask=missing)
            for end in (-np.inf, np.inf)
        ]
    elif pa.types.is_decimal(dtype) and pa.types.is_floating(values.type):
        steps = [
            pc.round(values, ndigits=dtype.scale, round_mode=mode) for mode in ("half_to_even", "down", "up")
        ]
    for step in steps:
        try:
            stamped = pa.types.is_timestamp(dtype) and dtype.tz is not None
            cast = step.cast(pa.timestamp(dtype.unit)) if stamped else step
            yield (pc.assume_timezone(cast, "UTC") if stamped else cast).cast(dtype)
        except (pa.ArrowException, ValueError):
            continue


def _mix(first: Any, second: Any, where: NDArray[np.bool_]) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.if_else(pa.array(where), second, first)


def _as_categorical(column: Declared, values: Any, dtype: Any) -> Any:
    """A categorical of the declared labels, in their order."""
    import pyarrow as pa

    labels = pa.array([label for label in column.labels if label != _null_label(column)]).cast(
        pa.large_string()
    )
    if not isinstance(column, Categorical):
        return values
    typed = (
        values.cast(pa.large_string()) if not pa.types.is_boolean(values.type) else values.cast(pa.string())
    )
    places = pa.compute.index_in(typed, value_set=labels.cast(typed.type))
    if pa.types.is_large_string(dtype.value_type) or pa.types.is_string(dtype.value_type):
        stored: Any = labels.cast(dtype.value_type)
    else:
        stored = labels.cast(values.type)
    return pa.DictionaryArray.from_arrays(
        places.cast(pa.int32()), stored, ordered=bool(column.ordered or dtype.ordered)
    )


def _null_label(column: Any) -> str | None:
    """The label of the cell for missing values, if it is not also a category."""
    new = (
        column.null is not None and column.null not in column.declared_labels and column.null != column.other
    )
    return str(column.null) if new else None


def _cells(column: Declared, values: Any) -> NDArray[np.int64]:
    return encode_batch(Schema([column]), {column.name: values}, len(values)).codes(column.name)


def frame_kind(source: Any) -> str:
    """The kind of frame that the user works with: `pandas`, `polars`, `arrow` or `dict`; Arrow for files and tables.

    >>> frame_kind({"a": [1, 2]}), frame_kind("data.parquet")
    ('dict', 'arrow')
    """
    if isinstance(source, Mapping):
        return "dict"
    package = type(source).__module__.partition(".")[0]
    return package if package in FRAMES else "arrow"


def as_frame(table: Any, kind: str, schema: Schema) -> Any:
    """An Arrow table of columns of `schema` as a frame of this kind."""
    if kind == "pandas":
        return _in_pandas(table, schema)
    if kind == "polars":
        return _in_polars(table, schema)
    if kind == "dict":
        return {name: _in_numpy(table[name], schema[name]) for name in table.column_names}
    return table


def _in_pandas(table: Any, schema: Schema) -> Any:
    """Whole numbers and truth values that may be missing have pandas' nullable types, and are never floating."""
    import pyarrow as pa

    pandas = import_optional("pandas", instead=_OTHER_FRAMES)
    frame = table.to_pandas()
    for name in table.column_names:
        dtype = table[name].type
        if null_cell(schema[name]) is not None and (pa.types.is_integer(dtype) or pa.types.is_boolean(dtype)):
            whole = str(dtype).replace("int", "Int").replace("u", "U")
            nullable = "boolean" if pa.types.is_boolean(dtype) else whole
            frame[name] = pandas.array(table[name].to_pylist(), dtype=nullable)
    return frame


def _in_polars(table: Any, schema: Schema) -> Any:
    """A column of type `dictionary` is an `Enum` of the declared labels, in their order."""
    import pyarrow as pa

    polars = import_optional("polars", instead=_OTHER_FRAMES)
    frame = polars.from_arrow(table)
    for name in table.column_names:
        column = schema[name]
        if isinstance(column, Categorical) and pa.types.is_dictionary(table[name].type):
            labels = [label for label in column.labels if label != _null_label(column)]
            frame = frame.with_columns(polars.col(name).cast(polars.String).cast(polars.Enum(labels)))
    return frame


def _in_numpy(values: Any, column: Declared) -> NDArray[Any]:
    """The values as an array; where some may be missing, NaN for numbers and None for all else."""
    import pyarrow as pa

    if null_cell(column) is None:
        return np.asarray(values.to_numpy(zero_copy_only=False))
    if pa.types.is_integer(values.type) or pa.types.is_floating(values.type):
        return np.asarray(values.to_numpy(zero_copy_only=False)).astype(np.float64)
    return np.array(values.to_pylist(), dtype=object)
