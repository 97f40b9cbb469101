"""FrameTypes: synthetic values get the types of the fitted frame, so int8 stays int8, a categorical a categorical.

The types of a frame's columns are public like their names; types that depend on values are not copied. So whole
numbers stay whole even if a missing value has made a frame's column floating, and the categories of a categorical are
the declared ones. A `dtype` of the schema takes precedence. A type is used only if every value, read again, falls into
the cell that it came from: rounding an amount to cents must not move it to the next cell.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast._extras import import_optional
from holdfast.data._batch import encode_batch
from holdfast.data._schema import Categorical, DateTime, Numeric, Schema
from holdfast.data._storage_kinds import Kind, kind_of

Declared = Numeric | Categorical
FRAMES = ("pandas", "polars", "pyarrow")


@dataclass(frozen=True, kw_only=True)
class FrameTypes:
    """The Arrow type of each column of a frame, and the frame library's own where Arrow has none for it."""

    arrow: Mapping[str, Any] = field(default_factory=dict)
    native: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, source: Any, names: tuple[str, ...]) -> FrameTypes:
        """The types of a frame, an Arrow table or a mapping of arrays; none of anything else."""
        arrow: dict[str, Any] = {}
        native: dict[str, Any] = {}
        for name in names:
            values = source[name]
            if isinstance(values, list | tuple) or getattr(values, "ndim", 1) != 1:
                continue
            native[name] = getattr(values, "dtype", None)
            kind = _arrow_type(values[:0])
            if kind is not None:
                arrow[name] = kind
        return cls(arrow=arrow, native=native)


def _arrow_type(empty: Any) -> Any:
    """The Arrow type of a column, from an empty slice of it; None where its type depends on its values."""
    import pyarrow as pa

    try:
        stored = empty.to_arrow() if hasattr(empty, "to_arrow") else empty
        converted = (
            stored.type
            if isinstance(stored, pa.Array | pa.ChunkedArray)
            else pa.array(stored, from_pandas=True).type
        )
    except (pa.ArrowException, TypeError, ValueError):
        return None
    if str(getattr(empty, "dtype", "")) == "object" or pa.types.is_null(converted):
        return None
    return converted


def restore_types(table: Any, schema: Schema, types: FrameTypes) -> Any:
    """The table with every column in its declared type, or else in the frame's type if its values allow that."""
    import pyarrow as pa

    columns = {}
    for name in table.column_names:
        column, frame_type = schema[name], types.arrow.get(name)
        if column.dtype is None and frame_type is not None:
            columns[name] = as_type(column, table[name], frame_type)
        else:
            columns[name] = table[name]
    return pa.table(columns)


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
    new = column.null is not None and column.null not in column.listed and column.null != column.other
    return str(column.null) if new else None


def _cells(column: Declared, values: Any) -> NDArray[np.int64]:
    return encode_batch(Schema([column]), {column.name: values}, len(values)).codes(column.name)


def in_pandas(frame: Any, types: FrameTypes, table: Any) -> Any:
    """The frame with pandas' own types: nullable numbers, the fitted frame's types of text, and object."""
    import pyarrow as pa

    pandas = import_optional("pandas")

    for name in frame.columns:
        dtype, column = types.native.get(name), table[name]
        if pa.types.is_integer(column.type) and column.null_count:
            frame[name] = pandas.array(column.to_pylist(), dtype=_nullable(column.type))
        elif pa.types.is_boolean(column.type) and column.null_count:
            frame[name] = pandas.array(column.to_pylist(), dtype="boolean")
        pandas_only = dtype is not None and (
            isinstance(dtype, pandas.api.extensions.ExtensionDtype) or str(dtype) == "object"
        )
        if not pandas_only or frame[name].dtype == dtype or isinstance(dtype, pandas.CategoricalDtype):
            continue
        same_family = _family(frame[name].dtype) == _family(dtype)
        if same_family and (str(dtype) != "object" or kind_of(column.type) is Kind.text):
            frame[name] = frame[name].astype(dtype)
    return frame


def _nullable(dtype: Any) -> str:
    """The name of pandas' nullable type of whole numbers: Int8 for int8."""
    return (
        str(dtype).replace("uint", "UInt").replace("int", "Int")
        if str(dtype)[0] == "i"
        else f"UInt{str(dtype)[4:]}"
    )


def _family(dtype: Any) -> str:
    kind = getattr(dtype, "kind", "O")
    return {"i": "integer", "u": "integer", "f": "floating", "b": "boolean", "M": "time"}.get(kind, "text")


def in_polars(frame: Any, types: FrameTypes, schema: Schema) -> Any:
    """The frame with polars' categoricals; an `Enum` has the declared labels, in their order."""
    polars = import_optional("polars")

    for name in frame.columns:
        column, dtype = schema[name], types.native.get(name)
        if not isinstance(column, Categorical) or dtype is None:
            continue
        listed = [label for label in column.labels if label != _null_label(column)]
        if dtype == polars.Enum:
            frame = frame.with_columns(polars.col(name).cast(polars.String).cast(polars.Enum(listed)))
        elif dtype == polars.Categorical:
            frame = frame.with_columns(polars.col(name).cast(polars.String).cast(polars.Categorical))
    return frame
