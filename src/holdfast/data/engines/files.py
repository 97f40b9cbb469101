"""The one reader of whole files: Parquet, CSV and NumPy, for whatever takes rows as they are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from holdfast.errors import DataError, ParameterError

TABLES = (".parquet", ".csv")


def read_table(path: Path, *, name: str = "file", kinds: Sequence[str] = TABLES) -> Any:
    """A file as an Arrow table; `name` is what the caller calls it."""
    if path.suffix not in kinds:
        raise ParameterError(f"{name} must be a {' or '.join(kinds)} file, got {path.name!r}")
    if path.suffix == ".csv":
        from pyarrow import csv

        return csv.read_csv(path)
    import pyarrow.parquet as parquet

    return parquet.read_table(path)


def read_arrays(path: Path, label: str | None) -> tuple[Any, Any]:
    """Rows of numbers, and the labels if a column of them is named; a .npy file holds rows alone."""
    import numpy as np

    if path.suffix == ".npy":
        return np.load(path, allow_pickle=False), None
    table = read_table(path, name="data", kinds=(*TABLES, ".npy"))
    if label is not None and label not in table.column_names:
        raise DataError(f"the table has no column {label!r}")
    names = [name for name in table.column_names if name != label]
    rows = np.column_stack([table.column(name).to_numpy() for name in names]).astype(float)
    return rows, None if label is None else table.column(label).to_numpy()
