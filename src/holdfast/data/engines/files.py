"""Whole files of rows, read and written as they are: Parquet, CSV, NumPy and Arrow."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from holdfast.errors import DataError, ParameterError, withholding

TABLES = (".parquet", ".csv")
WRITTEN = (".parquet", ".csv", ".arrow")
"""Endings of the tables that `write_table` writes."""


def read_table(path: Path, *, name: str = "file", kinds: Sequence[str] = TABLES) -> Any:
    """A file as an Arrow table; `name` is what the caller calls it."""
    if path.suffix not in kinds:
        raise ParameterError(f"{name} must be a {' or '.join(kinds)} file, got {path.name!r}")
    import pyarrow.parquet as parquet
    from pyarrow import csv

    with withholding("Arrow", f"read {path.name}"):
        return csv.read_csv(path) if path.suffix == ".csv" else parquet.read_table(path)


def read_arrays(path: Path, label: str | None) -> tuple[Any, Any]:
    """Rows of numbers, and the labels if a column of them is named; a .npy file holds rows alone."""
    import numpy as np

    if path.suffix == ".npy":
        with withholding("NumPy", f"read {path.name}"):
            return np.load(path, allow_pickle=False), None
    table = read_table(path, name="data", kinds=(*TABLES, ".npy"))
    if label is not None and label not in table.column_names:
        raise DataError(f"the table has no column {label!r}")
    names = [name for name in table.column_names if name != label]
    with withholding("NumPy", f"read the columns of {path.name} as numbers"):
        rows = np.column_stack([table.column(name).to_numpy() for name in names]).astype(float)
    return rows, None if label is None else table.column(label).to_numpy()


def read_columns(path: Path, columns: Sequence[str], *, name: str) -> dict[str, Any]:
    """These columns of a file, which must hold them, as arrays."""
    table = read_table(path, name=name)
    missing = [column for column in columns if column not in table.column_names]
    if missing:
        raise ParameterError(f"{name} must hold the schema's columns, {', '.join(missing)} are not there")
    return {column: table[column].to_numpy() for column in columns}


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
        raise ParameterError(f"a table is written to {', '.join(WRITTEN)}, got {path.name!r}")
