"""A first schema to edit: what the data look like, with every guess marked as taken from them.

A draft reads bounds and categories from the data, which is exactly what a schema must not do. So each guess
is marked, the reading is warned about, and whatever is computed with the draft carries the guesses as
assumptions until somebody replaces them.
"""

from __future__ import annotations

import math
import os
import warnings
from typing import Any

import numpy as np

from holdfast.data.engines.file_rows import CsvRows, pointed, rows_of_files
from holdfast.data.mixed import MixedColumn
from holdfast.data.rows import Kind, kind_of, numbers, texts
from holdfast.data.schema import Categorical, CsvFormat, Identifier, Numeric, Schema
from holdfast.data.schema.kinds import Column
from holdfast.data.sniff import sniffed_format
from holdfast.errors import DataError, NotPrivateWarning, withholding

#: A column with more distinct texts than this is taken for an identifier.
MOST_CATEGORIES = 200


def draft_schema(source: Any) -> Schema:
    """Guess a schema from a data frame, Arrow table, mapping, or Parquet or CSV files.

    Not private: the result shows values of the data. Replace each guess by what is publicly known.
    """
    warnings.warn(
        "a draft schema shows values taken from the data; replace each marked one before publishing it",
        NotPrivateWarning, stacklevel=2,
    )  # fmt: skip
    values, csv = _columns(source)
    columns = [_guess(name, column, csv.decimal) for name, column in values.items()]
    said = "a draft: replace what was taken from the data, then remove the marks"
    return Schema(columns, description=said, csv=csv)


def _columns(source: Any) -> tuple[dict[str, Any], CsvFormat]:
    """The whole table, and how its files are written."""
    from holdfast.data.engines import engine_for
    from holdfast.data.rows import arrow_columns

    engine = engine_for(source)
    if engine.name == "memory":
        names = (
            list(source)
            if isinstance(source, dict)
            else list(getattr(source, "column_names", source.columns))
        )
        return arrow_columns(source, [_as_name(name) for name in names]), CsvFormat()
    csv = CsvFormat()
    if isinstance(source, str | os.PathLike) and not os.fspath(source).startswith("duckdb://"):
        rows = rows_of_files(os.fspath(source))
        first = rows.files[0]
        if isinstance(first, CsvRows):
            csv = sniffed_format(first.file.path)
            rows = rows_of_files(os.fspath(source), csv=csv)
        with withholding("Arrow", "read the rows"):
            made = rows.table()
    else:
        from holdfast.data.engines.duckdb.table import read_all

        made = read_all(source)
    return {name: made.column(place) for place, name in enumerate(made.column_names)}, csv


def _as_name(name: Any) -> str:
    if not isinstance(name, str):
        raise DataError("column names must be texts")
    return name


def _guess(name: str, values: Any, decimal: str) -> Column:
    """Numbers become Numeric, few texts Categorical, many texts an Identifier."""
    kind = Kind.text if isinstance(values, MixedColumn) else kind_of(values.type)
    words = texts(values)
    some_missing = words.null_count > 0
    raw = numbers(pointed(values) if decimal == "," and kind is Kind.text else values)
    finite = raw[np.isfinite(raw)]
    if kind is Kind.boolean:
        return Categorical(name, ["false", "true"], null="(missing)" if some_missing else None)
    all_numerals = len(finite) > 0 and len(finite) == len(words) - words.null_count
    if kind in (Kind.integer, Kind.floating, Kind.decimal) or all_numerals:
        return _guess_numeric(name, finite, missing=bool(np.isnan(raw).any()))
    labels = sorted({word for word in words.to_pylist() if word is not None and "\0" not in word})
    if len(labels) > MOST_CATEGORIES:
        return Identifier(name)
    other = _unused("(other)", labels)
    null = _unused("(missing)", labels) if some_missing else None
    return Categorical(name, labels or [other], other=other, null=null, taken_from_data=True)


def _guess_numeric(name: str, finite: Any, *, missing: bool) -> Numeric:
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
    low, high = (low, high) if low < high else (low, low + max(1.0, abs(low)))
    low, high = max(low, -1e300), min(high, 1e300)
    whole = bool(np.all(finite == np.floor(finite))) and max(abs(low), abs(high)) <= 2.0**50
    integer = whole and math.floor(low) == low and math.floor(high) == high
    return Numeric(
        name, low, high, integer=integer, null="category" if missing else "midpoint", taken_from_data=True
    )


def _unused(name: str, labels: list[str]) -> str:
    while name in labels:
        name = f"({name})"
    return name
