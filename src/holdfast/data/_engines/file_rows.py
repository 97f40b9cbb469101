"""The rows of Parquet and CSV files as one Arrow stream, in which no row is read with the help of another.

Columns are found by their exact names and handed on as `n0`, `n1`, ..., with the row's number as `place`, so that an
engine which takes `a` and `A` for one name can read both. The stream carries values and no statistics of them: what an
engine is not told of other rows it cannot use. Types come from the files' own declarations (all texts in CSV), and
all files of a table must agree on them.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from holdfast.data._arrow_columns import arrow_column
from holdfast.data._engines.csv_files import CsvFile
from holdfast.data._schema import DateTime, Numeric, Schema
from holdfast.data._schema.csv_format import CsvFormat
from holdfast.data._storage_kinds import Kind, kind_of
from holdfast.errors import DataError, withholding

CSV = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
DATABASES = (".db", ".duckdb", ".ddb")
PLACE = "place"
BATCH_ROWS = 2**16


class RowFile(Protocol):
    """One file: its columns, and their values a batch at a time."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, in the order of the file."""

    @property
    def types(self) -> tuple[Any, ...]:
        """Their Arrow types, as they are handed on."""

    def batches(self, columns: Sequence[int]) -> Iterator[tuple[list[Any], int]]:
        """These columns of all rows in order, and the number of rows of each batch."""


@dataclass(frozen=True, kw_only=True)
class CsvRows:
    """A CSV file: texts, of which those of `numbers` have a decimal point once they leave here."""

    file: CsvFile
    numbers: frozenset[str] = frozenset()

    @property
    def names(self) -> tuple[str, ...]:
        """From the first line."""
        return self.file.names

    @property
    def types(self) -> tuple[Any, ...]:
        """Texts."""
        import pyarrow as pa

        return (pa.string(),) * len(self.names)

    def batches(self, columns: Sequence[int]) -> Iterator[tuple[list[Any], int]]:
        """Texts, null where a field is empty or its line is broken."""
        comma = self.file.format.decimal == ","
        for batch in self.file.batches(columns):
            arrays = [batch.column(place) for place in range(len(columns))]
            if comma:
                numeric = [self.names[column] in self.numbers for column in columns]
                arrays = [as_decimal_points(v) if n else v for v, n in zip(arrays, numeric, strict=True)]
            yield arrays, batch.num_rows


def as_decimal_points(texts: Any) -> Any:
    """Decimal commas as points; a text that had a point is no number and stays none."""
    import pyarrow.compute as pc

    unread = pc.replace_substring(texts, pattern=".", replacement="'")
    return pc.replace_substring(unread, pattern=",", replacement=".")


@dataclass(frozen=True, kw_only=True)
class ParquetRows:
    """A Parquet file. Its statistics are not looked at."""

    path: str

    @cached_property
    def _file(self) -> Any:
        from pyarrow import parquet

        with withholding("Arrow", "open a Parquet file"):
            # Read ahead, column chunks would be held until the file is closed: as much memory as the file is large.
            return parquet.ParquetFile(self.path, coerce_int96_timestamp_unit="us", pre_buffer=False)

    @property
    def names(self) -> tuple[str, ...]:
        """As the file declares them."""
        return tuple(self._file.schema_arrow.names)

    @property
    def types(self) -> tuple[Any, ...]:
        """As the file declares them, in the forms that every engine takes."""
        return tuple(_carried(dtype) for dtype in self._file.schema_arrow.types)

    def batches(self, columns: Sequence[int]) -> Iterator[tuple[list[Any], int]]:
        """A part of a row group at a time."""
        if not columns:
            rows = self._file.metadata.num_rows
            yield from (([], min(BATCH_ROWS, rows - at)) for at in range(0, rows, BATCH_ROWS))
            return
        names = [self.names[column] for column in columns]
        for batch in self._file.iter_batches(batch_size=BATCH_ROWS, columns=names):
            stored = [batch.column(batch.schema.names.index(name)) for name in names]
            yield (
                [_as(array, self.types[c]) for array, c in zip(stored, columns, strict=True)],
                batch.num_rows,
            )


def _carried(dtype: Any) -> Any:
    """How values of a type travel; those of other types are missing wherever they are read."""
    import pyarrow as pa

    kind = kind_of(dtype)
    if kind is Kind.integer and pa.types.is_uint64(dtype):
        return pa.uint64()
    if kind is Kind.decimal:
        plain = dtype.value_type if pa.types.is_dictionary(dtype) else dtype
        return pa.decimal128(plain.precision, plain.scale) if plain.precision <= 38 else pa.null()
    forms = {
        Kind.integer: pa.int64(),
        Kind.floating: pa.float64(),
        Kind.boolean: pa.bool_(),
        Kind.date: pa.date32(),
        Kind.text: pa.large_string(),
        Kind.timestamp: pa.timestamp("us"),
        Kind.zoned: pa.timestamp("us", "UTC"),
    }
    return forms.get(kind, pa.null())


def _as(values: Any, dtype: Any) -> Any:
    import pyarrow as pa

    if pa.types.is_null(dtype):
        return pa.nulls(len(values))
    return arrow_column(values).cast(dtype, safe=False)


@dataclass(frozen=True, kw_only=True)
class FileRows:
    """Files of one table, one after another."""

    files: tuple[RowFile, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the first file."""
        return self.files[0].names

    @cached_property
    def types(self) -> tuple[Any, ...]:
        """The types of the columns, which no file may contradict."""
        first = dict(zip(self.names, self.files[0].types, strict=True))
        for file in self.files[1:]:
            here = dict(zip(file.names, file.types, strict=True))
            unlike = sorted(name for name in first if here.get(name) != first[name])
            if unlike:
                raise DataError(f"all files must have the same columns of the same types; {unlike} differ")
        return self.files[0].types

    @property
    def kinds(self) -> dict[str, Kind]:
        """How each column is read, from its type alone."""
        return {name: kind_of(dtype) for name, dtype in zip(self.names, self.types, strict=True)}

    def reader(self, columns: Sequence[int]) -> Any:
        """The stream: these columns as `nI`, and `place`."""
        import pyarrow as pa

        fields = [(f"n{column}", self.types[column]) for column in columns]
        schema = pa.schema([*fields, (PLACE, pa.int64())])
        return pa.RecordBatchReader.from_batches(schema, self._batches(columns, schema))

    def _batches(self, columns: Sequence[int], schema: Any) -> Iterator[Any]:
        import pyarrow as pa

        place = 0
        for file in self.files:
            wanted = [file.names.index(self.names[column]) for column in columns]
            for values, rows in file.batches(wanted):
                numbered = pa.array(np.arange(place, place + rows))
                yield pa.RecordBatch.from_arrays([*values, numbered], schema=schema)
                place += rows

    def table(self) -> Any:
        """All rows in memory, under the columns' own names."""
        read = self.reader(range(len(self.names))).read_all().drop_columns([PLACE])
        return read.rename_columns(list(self.names))


def number_names(schema: Schema) -> list[str]:
    """The columns that a text file writes as plain numbers: no dates, which are texts, nor amounts with other signs."""
    numeric = [
        column
        for column in schema.columns
        if isinstance(column, Numeric) and not isinstance(column, DateTime)
    ]
    return [column.name for column in numeric if column.written_as is None]


def rows_of_files(source: str, *, csv: CsvFormat | None = None, numbers: Sequence[str] = ()) -> FileRows:
    """A file, a folder of files or a pattern, all of one kind; nothing but their first lines is read."""
    paths = [source] if os.path.isfile(source) else _found(source)
    if not paths:
        raise DataError(f"no Parquet or CSV file found at {source!r}")
    endings = {_ending(path) for path in paths}
    if len(endings) > 1:
        raise DataError(f"all files must be of one kind, found {sorted(endings)}")
    make: Callable[[str], RowFile] = lambda path: ParquetRows(path=path)  # noqa: E731
    if endings != {".parquet"}:
        form = CsvFormat() if csv is None else csv
        make = lambda path: CsvRows(file=CsvFile(path=path, format=form), numbers=frozenset(numbers))  # noqa: E731
    return FileRows(files=tuple(map(make, paths)))


def _found(text: str) -> list[str]:
    if os.path.isdir(text):
        inside = sorted(str(path) for path in Path(text).rglob("*") if path.is_file())
        return [path for path in inside if _ending(path, strict=False)]
    return sorted(glob.glob(text, recursive=True))


def is_data_file(path: str) -> bool:
    """Whether a file of this name is read where a folder is the source."""
    return bool(_ending(path, strict=False))


def _ending(path: str, *, strict: bool = True) -> str:
    for ending in (".parquet", *CSV):
        if path.lower().endswith(ending):
            return ending
    if strict:
        hint = (
            "; a table of a DuckDB file is duckdb:///PATH?table=NAME"
            if path.lower().endswith(DATABASES)
            else ""
        )
        raise DataError(f"a file must end in .parquet, .csv, .tsv or .csv.gz, got {path!r}{hint}")
    return ""
