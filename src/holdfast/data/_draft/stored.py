"""A whole table as it is stored, for drafts and checks, which only the owner of the rows may see."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from holdfast._progress import progress
from holdfast.data._arrow_columns import arrow_columns, column_names
from holdfast.data._draft.evidence import Evidence
from holdfast.data._draft.sniff import sniff_format
from holdfast.data._engines import engine_for
from holdfast.data._engines.file_rows import PLACE, CsvRows, FileRows, rows_of_files
from holdfast.data._engines.parquet_files import open_parquet
from holdfast.data._readings import numbers
from holdfast.data._schema import CsvFormat
from holdfast.data._storage_kinds import Kind
from holdfast.errors import DataError, withholding


@dataclass(frozen=True, kw_only=True)
class StoredTable:
    """Columns as Arrow arrays, the types that their storage declares, and how its files are written."""

    columns: Mapping[str, Any]
    types: Mapping[str, Any] = field(default_factory=dict)
    csv: CsvFormat = CsvFormat()  # noqa: RUF009 - frozen
    orders: Mapping[str, list[str]] = field(default_factory=dict)
    """The texts of ordered categoricals and of enumerations, in the order that their storage declares."""
    texts: bool = False
    """Whether all columns are texts whose names are in the first line of a file."""
    remarks: tuple[str, ...] = ()
    """Remarks about the files as a whole."""

    @property
    def rows(self) -> int:
        """How many rows there are."""
        if isinstance(self.columns, ParquetColumns):
            return self.columns.rows
        return len(next(iter(self.columns.values()))) if self.columns else 0

    def require_names(self, rows: int) -> None:
        """Refuse a file without names: `rows` is how many of its names are values of their own columns."""
        if self.texts and rows >= max(2, len(self.columns) / 2):
            raise DataError(
                "the first line of a CSV file must hold the names of its columns, but it looks like a row; write a "
                "line of names in front of it"
            )

    @classmethod
    def of(cls, source: Any, *, csv: CsvFormat | None = None, encoding: str | None = None) -> StoredTable:
        """All rows of a source; `csv` says how its files are written, which is guessed otherwise."""
        engine = engine_for(source)
        if engine.name == "memory":
            return cls._of_frame(source)
        if engine.name == "postgres":
            columns, types, orders = _of_postgres(source)
            return cls(columns=columns, types=types, orders=orders)
        if engine.name == "spark":
            return cls(columns=_columns_by_name(source.toArrow()))
        if isinstance(source, str | os.PathLike) and not os.fspath(source).startswith("duckdb://"):
            return cls._of_files(os.fspath(source), csv, encoding)
        from holdfast.data._engines.duckdb.table import read_all

        table = read_all(source)
        columns = _columns_by_name(table)
        types = {field.name: field.type for field in table.schema}
        return cls(columns=columns, types=types, orders=_orders(columns, enumerations=True))

    @classmethod
    def _of_frame(cls, source: Any) -> StoredTable:
        listed = source if isinstance(source, Mapping) else getattr(source, "column_names", None)
        names = column_names(source) if listed is None else list(listed)
        if not all(isinstance(name, str) for name in names):
            raise DataError("column names must be texts")
        types = {}
        for name in names:
            values = source[name]
            stored = getattr(values, "type", None)  # of Arrow
            if stored is None and hasattr(values, "dtype") and str(values.dtype) not in ("object", "Object"):
                stored = _type_of(values[:0])
            if stored is not None:
                types[name] = stored
        orders = _orders({name: source[name] for name in names})
        return cls(columns=arrow_columns(source, names), types=types, orders=orders)

    @classmethod
    def _of_files(cls, path: str, csv: CsvFormat | None, encoding: str | None) -> StoredTable:
        rows = rows_of_files(path)
        first: Any = rows.files[0]
        if isinstance(first, CsvRows):
            form = sniff_format(first.file.path, encoding=encoding) if csv is None else csv
            rows = rows_of_files(path, csv=form)
            with withholding("Arrow", "read the rows"):
                columns = _columns_by_name(_all_rows(rows))
            return cls(columns=columns, csv=form, texts=True, remarks=_broken_lines(columns))
        with withholding("Arrow", "read the types"):
            file = open_parquet(first.path)
            stored = file.schema_arrow
            twice = sorted(name for name, times in Counter(stored.names).items() if times > 1)
            if twice:
                raise DataError(f"columns must have different names, {twice} stand for several; rename them")
            types = {field.name: field.type for field in stored}
            ordered = [name for name, dtype in types.items() if getattr(dtype, "ordered", False)]
            orders = _orders(_columns_by_name(file.read(columns=ordered))) if ordered else {}
        return cls(columns=ParquetColumns(rows), types=types, orders=orders)


class ParquetColumns(Mapping[str, Any]):
    """The columns of Parquet files, each of which is read when it is first needed."""

    def __init__(self, files: FileRows) -> None:
        self._files = files

    def __getitem__(self, name: str) -> Any:
        import pyarrow as pa

        if name not in self._files.names:
            raise KeyError(name)
        place = self._files.names.index(name)
        with withholding("Arrow", "read the rows"):
            parts = [
                values[0]
                for file in self._files.files
                for values, _ in file.batches([file.names.index(name)])
            ]
            return pa.chunked_array(parts, type=self._files.types[place])
        raise AssertionError("the block above returns or raises")

    def __iter__(self) -> Iterator[str]:
        return iter(self._files.names)

    def __len__(self) -> int:
        return len(self._files.names)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return sum(rows for file in self._files.files for _, rows in file.batches([]))


def _all_rows(rows: FileRows) -> Any:
    """The rows of CSV files; how many there are is known at the end."""
    import pyarrow as pa

    reader = rows.reader(range(len(rows.names)))
    read = list(progress(reader, desc="reading", unit="block"))
    table = pa.Table.from_batches(read, schema=reader.schema).drop_columns([PLACE])
    pa.default_memory_pool().release_unused()  # of what parsing took
    return table.rename_columns(list(rows.names))


def _broken_lines(columns: Mapping[str, Any]) -> tuple[str, ...]:
    """Rows of which no value can be read are said, because they count wherever rows are counted."""
    import pyarrow.compute as pc

    empty = min((values.null_count for values in columns.values()), default=0)
    if not empty or len(columns) < 2:
        return ()
    parts = list(columns.values())
    gone = parts[0].is_null()
    for values in parts[1:]:
        gone = pc.and_(gone, values.is_null())
    count = int(pc.sum(gone).as_py() or 0)
    if count == len(gone):
        raise DataError(
            f"none of the {count} lines behind the names of the columns can be read as a row; say the encoding, "
            "or write the file again with one row a line and as many fields in each as there are names"
        )
    said = (
        f"{count} rows have no value in any column: lines that cannot be read with the encoding, delimiter and quote "
        "below, or empty ones; they count as rows with missing values"
    )
    return (said,) if count else ()


def header_is_row(name: str, column: Evidence) -> bool:
    """Whether a name is a value like those of its column."""
    import pyarrow.compute as pc

    if _NUMERAL.fullmatch(name.strip()):
        return column.present > 0 and column.read >= 0.9 * column.present
    return bool(pc.any(pc.equal(column.words, name)).as_py())


_NUMERAL = re.compile(r"[+-]?[0-9]*[.,]?[0-9]+")


def _type_of(nothing: Any) -> Any:
    import pyarrow as pa

    try:
        stored = nothing.to_arrow() if hasattr(nothing, "to_arrow") else pa.array(nothing, from_pandas=True)
        return stored.type
    except (pa.ArrowException, TypeError, ValueError):
        return None


def _columns_by_name(table: Any) -> dict[str, Any]:
    return {name: table.column(place) for place, name in enumerate(table.column_names)}


def _of_postgres(source: str) -> tuple[dict[str, Any], dict[str, Any], dict[str, list[str]]]:
    """Columns as the engine reads them, the types that the server declares, and its enumerations in their order."""
    import pyarrow as pa

    from holdfast.data._engines.postgres.source import read_relation

    table, relation = read_relation(source)
    columns, types = _columns_by_name(table), {field.name: field.type for field in table.schema}
    for name in columns:
        kind, written = relation.kinds[name], relation.stored[name]
        if kind is Kind.unknown:
            types[name] = written
        elif kind is Kind.decimal:
            columns[name] = pa.array(numbers(columns[name]), from_pandas=True)
            digits = re.fullmatch(r"numeric\(([0-9]+),([0-9]+)\)", written)
            types[name] = (
                pa.decimal128(*map(int, digits.groups())) if digits and int(digits[1]) <= 38 else None
            )
    return columns, types, {name: labels for name, labels in relation.orders.items() if labels}


def _orders(columns: Mapping[str, Any], *, enumerations: bool = False) -> dict[str, list[str]]:
    """The texts of ordered categoricals (or of every one), in their order."""
    orders = {}
    for name, values in columns.items():
        own: Any = getattr(values, "cat", None)  # of pandas; polars has one as well
        if getattr(own, "ordered", False):
            orders[name] = [str(category) for category in own.categories]
        elif type(values).__module__.startswith("polars") and str(values.dtype).startswith("Enum"):
            orders[name] = values.dtype.categories.to_list()
        elif hasattr(values, "type") and hasattr(values.type, "ordered") and len(values):
            part = values.chunk(0) if hasattr(values, "chunk") else values
            if enumerations or values.type.ordered:
                orders[name] = [str(category) for category in part.dictionary.to_pylist()]
    return orders
