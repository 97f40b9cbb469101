"""Whole files of rows, read and written without an engine: Parquet, CSV, NumPy and Arrow."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from holdfast._regular_file import open_regular, require_regular
from holdfast.data._engines.file_rows import number_names, rows_of_files
from holdfast.data._engines.parquet_files import open_parquet
from holdfast.data._moments import column_numbers
from holdfast.data._readings import numbers
from holdfast.data._schema import CsvFormat, DateTime, Numeric, Schema
from holdfast.data._storage_kinds import Kind, kind_of
from holdfast.errors import DataError, ParameterError, withholding

READABLE_ENDINGS = (".parquet", ".csv")
WRITABLE_ENDINGS = (".parquet", ".csv", ".arrow")
"""Endings of the tables that `write_table` writes."""


def read_table(
    path: Path,
    *,
    name: str = "file",
    endings: Sequence[str] = READABLE_ENDINGS,
    csv: CsvFormat | None = None,
    numbers: Sequence[str] = (),
) -> Any:
    """A file as an Arrow table; errors call it `name`.

    All columns of a CSV file are texts; in the columns `numbers` decimal commas are points.
    """
    require_regular(path, what=f"the file of {name}", error=ParameterError)
    if path.suffix not in endings or not path.is_file():
        raise ParameterError(
            f"{name} must be a {' or '.join(endings)} file that exists, or a database URL, got {path.name!r}"
        )
    with withholding("Arrow", f"read {path.name}"):
        if path.suffix == ".csv":
            return rows_of_files(str(path), csv=csv, numbers=numbers).table()
        return open_parquet(path).read()


def read_arrays(path: Path, label: str | None) -> tuple[Any, Any]:
    """Rows of numbers, and the labels where a column is named as `label`; a .npy file holds no labels."""
    if path.suffix == ".npy":
        return _array(path), None
    table = read_table(path, name="data", endings=(*READABLE_ENDINGS, ".npy"))
    if label is not None and label not in table.column_names:
        raise DataError(f"the table has no column {label!r}")
    names = [name for name in table.column_names if name != label]
    rows = np.column_stack([numeric_column(table.column(name), name) for name in names])
    return rows, None if label is None else _labels(table.column(label))


def _array(path: Path) -> Any:
    """The numbers of a .npy file, whose header is held against the file's size before there is room for them."""
    from numpy.lib import format as npy

    require_regular(path, what="the file of data", error=ParameterError)
    with withholding("NumPy", f"read {path.name}"), open_regular(path) as (file, size):
        if npy.read_magic(file) != (
            1,
            0,
        ):  # others are for long headers, which say how long before they are there
            raise DataError(f"{path.name} must be a .npy file of numbers, with a header of version 1.0")
        shape, _, dtype = npy.read_array_header_1_0(file)
        if dtype.kind not in "biuf" or math.prod(shape) * dtype.itemsize != size - file.tell():
            raise DataError(f"{path.name} must be a .npy file of numbers, of the size that its header says")
        file.seek(0)
        return npy.read_array(file, allow_pickle=False)


def numeric_column(values: Any, name: str) -> Any:
    """A column of a table without a schema as doubles, NaN where it is empty; refused where it holds other values."""
    doubles = numbers(values)
    if (
        int((doubles == doubles).sum()) < len(values) - values.null_count
        and kind_of(values.type) is not Kind.floating
    ):
        raise DataError(
            f"the column {name!r} must hold numbers only; texts become numbers by a schema and an Encoder "
            "(holdfast.Encoder), or leave the column out"
        )
    return doubles


def _labels(values: Any) -> Any:
    """Labels as they are stored; texts become numbers where each of them is a number."""
    if kind_of(values.type) is not Kind.text:
        return values.to_numpy()
    doubles = numbers(values)
    if np.isnan(doubles).any():
        return np.array([str(label) for label in values.to_pylist()])
    whole = bool(np.all(doubles == np.floor(doubles)) and np.all(np.abs(doubles) < 2**53))
    return doubles.astype(np.int64) if whole else doubles


def read_columns(source: Any, schema: Schema, *, name: str) -> dict[str, Any]:
    """The schema's columns of a file or an Arrow table, with identifiers, as arrays; refused where one is missing."""
    table = source
    if isinstance(source, Path):
        table = read_table(source, name=name, csv=schema.csv, numbers=number_names(schema))
    missing = [column.name for column in schema.columns if column.name not in table.column_names]
    if missing:
        raise ParameterError(f"{name} must hold the schema's columns, {', '.join(missing)} are not there")
    arrays = {}
    for column in schema.columns:
        key = column.name
        if isinstance(column, Numeric) and not isinstance(column, DateTime):
            arrays[key] = column_numbers(column, table[key])
        else:
            arrays[key] = table[key].to_numpy()
    return arrays


def write_table(table: Any, path: Path) -> None:
    """Write an Arrow table in the format that the ending of its path names."""
    if path.suffix == ".parquet":
        from pyarrow import parquet

        parquet.write_table(table, path)
    elif path.suffix == ".csv":
        from pyarrow import csv

        csv.write_csv(table, path)
    elif path.suffix == ".arrow":
        from pyarrow import feather

        feather.write_feather(table, str(path), compression="uncompressed")
    else:
        raise ParameterError(f"a table is written to {', '.join(WRITABLE_ENDINGS)}, got {path.name!r}")
