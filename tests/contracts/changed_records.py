"""Every way in which one record can differ, from what its columns declare; and every door by which a table comes in."""

from __future__ import annotations

import csv
import datetime
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as parquet

from holdfast.data import Categorical, DateTime, Hierarchy, Identifier, Numeric, Schema
from holdfast.data._schema.kinds import KINDS, Column
from holdfast.privacy import PrivacyUnit

Columns = dict[str, list[Any]]
ROWS = 12
INFINITY, NAN = float("inf"), float("nan")
TOKYO = datetime.timezone(datetime.timedelta(hours=9))
ANYWHERE: tuple[Any, ...] = (
    *(None, NAN, INFINITY, -INFINITY, 0, 0.0, -0.0, 1, 2.5, -7, 2**70, 1e308, 5e-324, Decimal("0.25")),
    *("", " ", "x!", "12", "nan", "NULL", "é", "a,b", 'q"q', "😀", "x" * 300, True, b"\xff"),
    *(datetime.date(1800, 1, 1), datetime.datetime(2024, 2, 3, 4, 5, tzinfo=TOKYO), "2024-02-30"),
)
"""What may stand in any column, whatever it declares: each kind of value, missing, unreadable and out of range."""

SCHEMA = Schema(
    [
        Numeric("real", 0, 10, bins=4),
        Numeric("whole", 0, 9, integer=True, null="category"),
        Numeric("cents", 0, 100, bins=5, decimals=2),
        Categorical("ward", ["A", "B", "C"]),
        Categorical("code", [1, 2, 3], other="(other)", null="(missing)"),
        Categorical("ill", [False, True]),
        DateTime("day", "2024-01-01", "2024-12-31", bins="month", null="category"),
        DateTime("seen", "2024-01-01", "2024-03-31 23:00", unit="hour", bins="day"),
        Hierarchy("post", ["10115", "10117", "20095"], coarser=[2], level=1),
    ]
)
"""A column of each kind, with and without a cell for what is missing or not listed."""
USERS = Schema([*SCHEMA.columns, Identifier("who")], unit=PrivacyUnit.user("who", max_rows=2))
_DAY, _TIME = datetime.date, datetime.datetime
TABLE: Columns = {
    "real": [0.5, 2.0, 3.25, 9.5, 0.0, 1.0, 4.75, 7.5, 6.0, 2.25, 8.0, 5.5],
    "whole": [3, 5, 0, 9, 1, 2, 2, 7, 8, 4, 6, 3],
    "cents": [12.25, 99.99, 0.0, 5.5, 50.0, 60.75, 10.0, 20.2, 30.3, 45.0, 70.1, 88.88],
    "ward": ["A", "B", "A", "C", "B", "B", "A", "C", "C", "A", "B", "A"],
    "code": [1, 2, 3, 1, 1, 2, 3, 2, 1, 3, 1, 2],
    "ill": [True, False, False, True, False, True, True, False, False, True, False, False],
    "day": [_DAY(2024, 1 + place, 5) for place in range(ROWS)],
    "seen": [_TIME(2024, 1 + place % 3, 5, place) for place in range(ROWS)],
    "post": ["10115", "10117", "20095"] * 4,
    "who": ["u1", "u2", "u3", "u4", "u1", "u5", "u6", "u2", "u7", "u1", "u8", "u9"],
}


def entries(column: Column) -> list[Any]:
    """What one record may hold in this column: anything, and what the declaration names, within it and beyond."""
    own: list[Any] = []
    if isinstance(column, DateTime):
        own = [_DAY(2024, 2, 29), "2024-03-01", "01/02/2024", _DAY(2025, 7, 1), np.datetime64("2024-03-03")]
    elif isinstance(column, Numeric):
        own = [
            column.low,
            column.high,
            column.low - 1,
            column.high * 10,
            str(column.high),
            (column.low + column.high) / 2,
        ]
    elif isinstance(column, Categorical):
        own = [
            *column.categories,
            *(f" {label} " for label in column.categories[:1]),
            str(column.categories[0]).swapcase(),
        ]
        own += [label for label in (column.other, column.null) if label is not None]
    else:
        own = ["u1", "another", 1, 1.0]
    return [*own, *ANYWHERE]


def changed(table: Columns, name: str, place: int, entry: Any) -> Columns:
    """The table with one entry in the place of another."""
    return {**table, name: [*table[name][:place], entry, *table[name][place + 1 :]]}


def neighbours(schema: Schema, name: str, place: int) -> Iterator[tuple[str, Columns]]:
    """Every table that differs from `TABLE` in this entry of one record."""
    declared = {column.name: column for column in schema.columns}
    table = {column: TABLE[column] for column in declared}
    for entry in entries(declared[name]):
        yield f"{name}[{place}] = {entry!r:.40}", changed(table, name, place, entry)


def covers_every_kind() -> bool:
    """Whether the tables have a column of each kind that holdfast declares."""
    return {type(column) for column in USERS.columns} == set(KINDS.values())


# Doors: each is given what a user would make of the same entries, with the types that the library finds in them.

Door = Callable[[Path, Columns], Mapping[str, Any]]


def _numpy(folder: Path, table: Columns) -> Mapping[str, Any]:
    return {"source": {name: _array(values) for name, values in table.items()}}


def _array(values: list[Any]) -> Any:
    try:
        array = np.array(values)
    except UnicodeDecodeError:  # NumPy finds no type for such bytes beside texts
        return np.array(values, dtype=object)
    return (
        np.array(values, dtype=object) if array.dtype.kind == "S" else array
    )  # it would make bytes of all values


def _pandas(folder: Path, table: Columns) -> Mapping[str, Any]:
    return {"source": pd.DataFrame(table)}


def _pandas_small(folder: Path, table: Columns) -> Mapping[str, Any]:
    frame = pd.DataFrame(table)
    for name in frame:
        if frame[name].dtype == np.int64:
            frame[name] = frame[name].astype("int8")
        elif frame[name].dtype == object or str(frame[name].dtype) == "str":
            frame[name] = frame[name].astype("category")
    return {"source": frame}


def _polars(folder: Path, table: Columns) -> Mapping[str, Any]:
    columns = {}
    for name, values in table.items():
        try:
            columns[name] = pl.Series(name, values)
        except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
            columns[name] = pl.Series(name, [_word(value) for value in values])
    return {"source": pl.DataFrame(columns)}


def arrow_table(table: Columns) -> pa.Table:
    """The types that Arrow finds; texts where it finds none that holds all, or one that changes the other values."""
    columns = {}
    for name, values in table.items():
        try:
            columns[name] = pa.array(values)
            if any(
                type(a) is not type(b)
                for a, b in zip(columns[name].to_pylist()[1:-1], values[1:-1], strict=True)
            ):
                raise TypeError(name)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            columns[name] = pa.array([_word(value) for value in values], pa.string())
    return pa.table(columns)


def _word(value: Any) -> str | None:
    if isinstance(value, bytes):
        return value.decode("latin-1")
    return None if value is None else str(value)


def _dictionaries(folder: Path, table: Columns) -> Mapping[str, Any]:
    rows = arrow_table(table)
    texts = [pa.types.is_string(column.type) for column in rows.columns]
    encoded = [c.dictionary_encode() if text else c for c, text in zip(rows.columns, texts, strict=True)]
    return {"source": pa.table(encoded, names=rows.column_names)}


def parquet_file(folder: Path, table: Columns) -> Mapping[str, Any]:
    """One Parquet file."""
    parquet.write_table(arrow_table(table), folder / "rows.parquet")
    return {"source": folder / "rows.parquet"}


def csv_file(folder: Path, table: Columns) -> Mapping[str, Any]:
    """One CSV file."""
    with (folder / "rows.csv").open("w", newline="", encoding="utf-8") as lines:
        writer = csv.writer(lines)
        writer.writerow(table)
        writer.writerows([[_word(value) or "" for value in row] for row in zip(*table.values(), strict=True)])
    return {"source": folder / "rows.csv"}


def duckdb_file(folder: Path, table: Columns) -> Mapping[str, Any]:
    """A table of a DuckDB file."""
    with duckdb.connect(str(folder / "rows.duckdb")) as connection:
        connection.register("arrived", arrow_table(table))
        connection.execute("CREATE TABLE rows AS SELECT * FROM arrived")
    return {"source": f"duckdb:///{folder / 'rows.duckdb'}?table=rows"}


DOORS: dict[str, Door] = {
    "lists": lambda folder, table: {"source": table},
    "numpy": _numpy,
    "pandas": _pandas,
    "pandas, small types": _pandas_small,
    "polars": _polars,
    "arrow": lambda folder, table: {"source": arrow_table(table)},
    "arrow, dictionaries": _dictionaries,
    "parquet": parquet_file,
    "csv": csv_file,
    "duckdb": duckdb_file,
}
