"""A whole table as it is stored: for drafts and checks, which are the owner's, and for nothing else."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from holdfast.data.draft.sniff import sniffed_format
from holdfast.data.engines import engine_for
from holdfast.data.engines.file_rows import CsvRows, rows_of_files
from holdfast.data.rows import arrow_columns
from holdfast.data.schema import CsvFormat
from holdfast.errors import DataError, withholding


@dataclass(frozen=True, kw_only=True)
class StoredTable:
    """Columns as Arrow arrays, the types that their storage declares, and how its files are written."""

    columns: Mapping[str, Any]
    types: Mapping[str, Any] = field(default_factory=dict)
    csv: CsvFormat = CsvFormat()  # noqa: RUF009 - frozen

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(next(iter(self.columns.values()))) if self.columns else 0

    @classmethod
    def of(cls, source: Any, *, csv: CsvFormat | None = None) -> StoredTable:
        """All rows of a source; `csv` says how its files are written, which is guessed otherwise."""
        engine = engine_for(source)
        if engine.name == "memory":
            return cls._of_frame(source)
        if engine.name == "postgres":
            return cls(columns=_named(_of_postgres(source)))
        if engine.name == "spark":
            return cls(columns=_named(source.toArrow()))
        if isinstance(source, str | os.PathLike) and not os.fspath(source).startswith("duckdb://"):
            return cls._of_files(os.fspath(source), csv)
        from holdfast.data.engines.duckdb.table import read_all

        made = read_all(source)
        return cls(columns=_named(made), types={field.name: field.type for field in made.schema})

    @classmethod
    def _of_frame(cls, source: Any) -> StoredTable:
        listed = source if isinstance(source, Mapping) else getattr(source, "column_names", None)
        names = list(source.columns if listed is None else listed)
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
        return cls(columns=arrow_columns(source, names), types=types)

    @classmethod
    def _of_files(cls, path: str, csv: CsvFormat | None) -> StoredTable:
        rows = rows_of_files(path)
        first: Any = rows.files[0]
        types: dict[str, Any] = {}
        form = CsvFormat() if csv is None else csv
        if isinstance(first, CsvRows):
            form = sniffed_format(first.file.path) if csv is None else csv
            rows = rows_of_files(path, csv=form)
        else:
            import pyarrow.parquet as parquet

            with withholding("Arrow", "read the types"):
                types = {one.name: one.type for one in parquet.read_schema(first.path)}
        with withholding("Arrow", "read the rows"):
            return cls(columns=_named(rows.table()), types=types, csv=form)
        raise AssertionError("the block above returns or raises")


def _type_of(nothing: Any) -> Any:
    import pyarrow as pa

    try:
        stored = nothing.to_arrow() if hasattr(nothing, "to_arrow") else pa.array(nothing, from_pandas=True)
        return stored.type
    except (pa.ArrowException, TypeError, ValueError):
        return None


def _named(made: Any) -> dict[str, Any]:
    return {name: made.column(place) for place, name in enumerate(made.column_names)}


def _of_postgres(source: str) -> Any:
    import pyarrow as pa

    from holdfast.data.engines.postgres.session import Session
    from holdfast.data.engines.postgres.source import Address, find_relation
    from holdfast.errors import ParameterError

    address = Address.of(source)
    asked = address.merged(table=None, way=None, keep=None)
    if "table" not in asked:
        raise ParameterError("table must be named: postgresql://...?table=name")
    session = Session(address.url)
    try:
        relation = find_relation(session, asked["table"], asked.get("schema"))
        batches = list(session.stream(f"SELECT * FROM {relation.name}", "read the rows", empty=True))
        return pa.Table.from_batches(batches)
    finally:
        session.close()
