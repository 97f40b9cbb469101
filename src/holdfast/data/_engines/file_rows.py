"""The rows of Parquet and CSV files as one Arrow stream, in which how a row is read never depends on other rows.

Columns are found by their exact names and handed on as `n0`, `n1`, ..., with the row's number as `place`, so that an
engine that takes `a` and `A` for the same name can read both. The stream carries values and no statistics about them.
Types are those that the files declare (texts in CSV), and all files of a table must agree on them.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from holdfast._regular_file import require_regular
from holdfast.data._arrow_columns import arrow_column
from holdfast.data._engines.csv_files import CsvFile
from holdfast.data._engines.parquet_files import open_parquet, page_sizes, require_room
from holdfast.data._schema import DateTime, Numeric, Schema
from holdfast.data._schema.csv_format import CsvFormat
from holdfast.data._storage_kinds import Kind, kind_of
from holdfast.errors import DataError, withholding

CSV_ENDINGS = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
DATABASE_ENDINGS = (".db", ".duckdb", ".ddb")
PLACE = "place"
BATCH_ROWS, BATCH_BYTES = 2**16, 2**22
"""How much of a file is read at a time, whichever is less."""


class RowFile(Protocol):
    """One file: its columns, and their values batch by batch."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in the order of the file."""

    @property
    def types(self) -> tuple[Any, ...]:
        """The Arrow types in which the columns are handed on."""

    def batches(self, columns: Sequence[int]) -> Iterator[tuple[list[Any], int]]:
        """These columns of all rows in order, and the number of rows of each batch."""


@dataclass(frozen=True, kw_only=True)
class CsvRows:
    """A CSV file; its values are texts. In the columns `numbers` decimal commas become points."""

    file: CsvFile
    numbers: frozenset[str] = frozenset()

    @property
    def names(self) -> tuple[str, ...]:
        """The names in the first line."""
        return self.file.names

    @property
    def types(self) -> tuple[Any, ...]:
        """All columns are texts."""
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
    """Decimal commas as points; a text that already had a point is not a number, and does not become one."""
    import pyarrow.compute as pc

    without_points = pc.replace_substring(texts, pattern=".", replacement="'")
    return pc.replace_substring(without_points, pattern=",", replacement=".")


@dataclass(frozen=True, kw_only=True)
class ParquetRows:
    """A Parquet file, read without its statistics."""

    path: str

    @cached_property
    def _file(self) -> Any:
        # With `pre_buffer` column chunks stay in memory until the file is closed: as much as the file is large.
        return open_parquet(self.path, coerce_int96_timestamp_unit="us", pre_buffer=False)

    @property
    def names(self) -> tuple[str, ...]:
        """The names that the file declares."""
        return tuple(self._file.schema_arrow.names)

    @property
    def types(self) -> tuple[Any, ...]:
        """The types that the file declares, in the forms that every engine takes."""
        return tuple(_stream_type(dtype) for dtype in self._file.schema_arrow.types)

    def batches(self, columns: Sequence[int]) -> Iterator[tuple[list[Any], int]]:
        """The values, at most `BATCH_ROWS` rows at a time."""
        if not columns:
            rows = self._file.metadata.num_rows
            yield from (([], min(BATCH_ROWS, rows - at)) for at in range(0, rows, BATCH_ROWS))
            return
        names = [self.names[column] for column in columns]
        with withholding("Arrow", "read a Parquet file"):
            file, rows_at_once = self._file_for(names)
            stored_batches = file.iter_batches(batch_size=rows_at_once, columns=names)
        while True:
            with withholding("Arrow", "read a Parquet file"):
                batch = next(stored_batches, None)
            if batch is None:
                return
            for part in _parts_of_bounded_size(batch):
                stored = [part.column(part.schema.names.index(name)) for name in names]
                yield (
                    [_as(array, self.types[c]) for array, c in zip(stored, columns, strict=True)],
                    part.num_rows,
                )

    def _file_for(self, names: Sequence[str]) -> tuple[Any, int]:
        """The file, opened so that these columns can be read in bounded memory, and how many rows at once.

        A column whose pages point to long values is not written out before it is known how long it becomes.
        """
        metadata = self._file.metadata
        paths = [metadata.schema.column(place).path for place in range(metadata.num_columns)]
        sizes = {
            place: page_sizes(self.path, metadata, place)
            for place, path in enumerate(paths)
            if any(path == name or path.startswith(f"{name}.") for name in names)
        }
        require_room(self.path, list(sizes.values()))
        repeated = [paths[p] for p, pages in sizes.items() if pages.dictionary * BATCH_ROWS > BATCH_BYTES]
        rows_at_once = int(BATCH_BYTES // max(1.0, sum(pages.value for pages in sizes.values())))
        file = self._file
        if repeated:
            options = {"coerce_int96_timestamp_unit": "us", "pre_buffer": False}
            file = open_parquet(self.path, read_dictionary=repeated, **options)
        return file, max(1, min(BATCH_ROWS, rows_at_once))


def _parts_of_bounded_size(batch: Any) -> Iterator[Any]:
    """The batch in parts of about `BATCH_BYTES` each, however long the values are that its dictionaries hold."""
    import pyarrow as pa
    import pyarrow.compute as pc

    lengths = np.zeros(batch.num_rows, np.int64)
    for column in batch.columns:
        if pa.types.is_dictionary(column.type):
            of_values = pc.binary_length(column.dictionary.cast(pa.large_binary()))
            lengths += pc.fill_null(pc.take(of_values, column.indices), 0).to_numpy(zero_copy_only=False)
    ends, begin = np.cumsum(lengths), 0
    while begin < batch.num_rows:
        before = ends[begin - 1] if begin else 0
        end = max(begin + 1, int(np.searchsorted(ends, before + BATCH_BYTES, side="right")))
        yield batch.slice(begin, end - begin)
        begin = end


def _stream_type(dtype: Any) -> Any:
    """The Arrow type in which values of a stored type are handed on; null for types that are read as missing."""
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


def _common_type(types: Sequence[Any]) -> Any:
    """The one type of a column in all files that have values in it; None where there are several, or no column."""
    import pyarrow as pa

    distinct = [dtype for dtype in dict.fromkeys(types) if dtype is None or not pa.types.is_null(dtype)]
    return pa.null() if not distinct else distinct[0] if len(distinct) == 1 else None


@dataclass(frozen=True, kw_only=True)
class FileRows:
    """The files of one table, read one after another."""

    files: tuple[RowFile, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the first file."""
        return self.files[0].names

    @cached_property
    def types(self) -> tuple[Any, ...]:
        """The types of the columns, which no file may contradict; a file in which all values are missing has no say."""
        types_by_file = [dict(zip(file.names, file.types, strict=True)) for file in self.files]
        common = {name: _common_type([types.get(name) for types in types_by_file]) for name in self.names}
        differing = sorted(name for name, dtype in common.items() if dtype is None)
        if differing:
            raise DataError(f"all files must have the same columns of the same types; {differing} differ")
        return tuple(common.values())

    @property
    def kinds(self) -> dict[str, Kind]:
        """How each column is read, from its type alone."""
        return {name: kind_of(dtype) for name, dtype in zip(self.names, self.types, strict=True)}

    def reader(self, columns: Sequence[int]) -> Any:
        """A stream of these columns as `n0`, `n1`, ... by their places, and of `place`, the row's number."""
        import pyarrow as pa

        fields = [(f"n{column}", self.types[column]) for column in columns]
        schema = pa.schema([*fields, (PLACE, pa.int64())])
        return pa.RecordBatchReader.from_batches(schema, self._batches(columns, schema))

    def _batches(self, columns: Sequence[int], schema: Any) -> Iterator[Any]:
        import pyarrow as pa

        place = 0
        for file in self.files:
            places = [file.names.index(self.names[column]) for column in columns]
            for values, rows in file.batches(places):
                row_numbers = pa.array(np.arange(place, place + rows))
                typed = [
                    pa.nulls(rows, dtype) if pa.types.is_null(array.type) else array
                    for array, dtype in zip(values, schema.types[:-1], strict=True)
                ]
                yield pa.RecordBatch.from_arrays([*typed, row_numbers], schema=schema)
                place += rows

    def table(self) -> Any:
        """All rows in memory, under the columns' own names."""
        table = self.reader(range(len(self.names))).read_all().drop_columns([PLACE])
        return table.rename_columns(list(self.names))


def number_names(schema: Schema) -> list[str]:
    """The numeric columns that a text file holds as plain numbers, so without dates and amounts of another format."""
    numeric = [
        column
        for column in schema.columns
        if isinstance(column, Numeric) and not isinstance(column, DateTime)
    ]
    return [column.name for column in numeric if column.written_as is None]


def rows_of_files(source: str, *, csv: CsvFormat | None = None, numbers: Sequence[str] = ()) -> FileRows:
    """The rows of a file, a folder of files or a pattern, all of one kind; only the first lines are read at once."""
    paths = [source] if os.path.isfile(source) else _paths_of(source)
    if not paths:
        raise DataError(f"no Parquet or CSV file found at {source!r}")
    endings = {_ending(path) for path in paths}
    if len(endings) > 1:
        raise DataError(f"all files must be of one kind, found {sorted(endings)}")
    if endings == {".parquet"}:
        return FileRows(files=tuple(ParquetRows(path=path) for path in paths))
    csv_format = CsvFormat() if csv is None else csv
    return FileRows(
        files=tuple(
            CsvRows(file=CsvFile(path=path, format=csv_format), numbers=frozenset(numbers)) for path in paths
        )
    )


def _paths_of(text: str) -> list[str]:
    if os.path.isdir(text):
        files = sorted(str(path) for path in Path(text).rglob("*") if path.is_file())
        return [path for path in files if _ending(path, strict=False)]
    matching = sorted(glob.glob(text, recursive=True))
    for path in matching:
        require_regular(path, what="rows", error=DataError)
    return matching


def is_data_file(path: str) -> bool:
    """Whether a file of this name is read where its folder is the source."""
    return bool(_ending(path, strict=False))


def _ending(path: str, *, strict: bool = True) -> str:
    for ending in (".parquet", *CSV_ENDINGS):
        if path.lower().endswith(ending):
            return ending
    if strict:
        hint = (
            "; a table of a DuckDB file is duckdb:///PATH?table=NAME"
            if path.lower().endswith(DATABASE_ENDINGS)
            else ""
        )
        raise DataError(f"a file must end in .parquet, .csv, .tsv or .csv.gz, got {path!r}{hint}")
    return ""
