"""How DuckDB reads a source: files, folders, a table of a DuckDB file, a connection, a relation."""

from __future__ import annotations

import os
import re
import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import parse_qs, urlsplit

from holdfast._regular_file import require_regular
from holdfast.data._engines.duckdb.sealed import (
    IN_MEMORY_DATABASE,
    STORED_DATABASE,
    attach_file,
    reads_own_tables,
    require_no_shadows,
)
from holdfast.data._engines.file_rows import PLACE, FileRows, number_names, rows_of_files
from holdfast.data._engines.places import database_file
from holdfast.data._schema import Schema
from holdfast.data._sql.dialect import Dialect
from holdfast.data._storage_kinds import Kind
from holdfast.errors import DataError, ParameterError, require

_DIALECT = Dialect()
_STREAM_NAME = "holdfast_rows"
STOP_SECONDS = 10.0
"""How long to wait for a statement that was interrupted."""
T = TypeVar("T")
_ROW_NUMBER = "row_number() OVER ()"


class Runner:
    """Runs statements, each on a cursor of its own (`cursor`), so that open streams do not disturb each other."""

    def __init__(self, cursor: Callable[[], Any]) -> None:
        self._cursor = cursor
        self._latest_cursors: deque[Any] = deque(maxlen=4)

    def __call__(self, statement: str, streams: Mapping[str, Any] | None = None) -> Any:
        """The result as a relation; `streams` are Arrow streams by the names that the statement calls them."""
        cursor = self._cursor()
        for name, stream in (streams or {}).items():
            cursor.register(name, stream)
        self._latest_cursors.append(cursor)
        return cursor.sql(statement)

    def interrupt(self) -> None:
        """End the statements that may be running."""
        for cursor in self._latest_cursors:
            cursor.interrupt()


def interruptible(call: Callable[[], T], interrupt: Callable[[], None]) -> T:
    """The result of a call, made in another thread so that Ctrl-C can end it; DuckDB itself does not react to it."""
    if threading.current_thread() is not threading.main_thread():
        return call()
    results: list[T] = []
    errors: list[BaseException] = []

    def work() -> None:
        try:
            results.append(call())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(1.0)
    except KeyboardInterrupt:
        interrupt()
        thread.join(STOP_SECONDS)
        raise KeyboardInterrupt from None  # without the error that DuckDB raised, which quotes the statement
    if errors:
        raise errors[0]
    return results[0]


@dataclass(frozen=True, kw_only=True)
class Scan:
    """A source that statements can read: what follows FROM, an expression that differs between rows, and a runner.

    `can_write` says that statements run on a connection of our own, in which tables can be made. `names` are the names
    of columns in statements where they are not the stored ones, and `kinds` how columns are read where that does not
    follow from DuckDB's types.
    """

    source: str
    position: str
    run: Callable[[str], Any]
    interrupt: Callable[[], None] = lambda: None
    can_write: bool = False
    names: Mapping[str, str] = field(default_factory=dict)
    kinds: Mapping[str, Kind] = field(default_factory=dict)


def scan_of_caller(source: Any, *, table: str | None) -> Scan | None:
    """A connection or relation of the caller's as a scan; None for anything else."""
    if hasattr(source, "cursor"):
        require(table is not None, "table", table, "the name of a table when the source is a connection")
        require_no_shadows(source.cursor().sql)
        return _scan_of_table(source, _DIALECT.identifier(str(table)))
    way_out = "or name the table in the URL: duckdb:///file.db?table=name"
    require(table is None, "table", table, "left out unless the source is a connection", way_out)
    if hasattr(source, "query"):
        view = "holdfast_source"
        require_no_shadows(lambda sql: source.query(view, sql))
        return Scan(source=view, position=_ROW_NUMBER, run=lambda sql: source.query(view, sql))
    return None


def scan_of_stored(stored: DatabaseTable, connection: Any) -> Scan:
    """A table of the file that is attached to a sealed connection, as a scan."""
    run = Runner(connection.cursor)
    name = stored.find(connection)
    return Scan(
        source=name, position=_row_position(run, name), run=run, interrupt=run.interrupt, can_write=True
    )


def scan_of_files(source: Any, connection: Any, schema: Schema) -> Scan:
    """Files as a scan on a sealed connection; Python opens them."""
    return scan_of_rows(
        rows_of_files(os.fspath(source), csv=schema.csv, numbers=number_names(schema)), connection
    )


def scan_of_rows(rows: FileRows, connection: Any) -> Scan:
    """Rows of files as a scan: each statement reads a new stream of Arrow batches."""
    runner = Runner(connection.cursor)

    def run(statement: str) -> Any:
        places_used = {int(place) for place in re.findall(r"\bn([0-9]+)\b", statement)}
        stream = rows.reader([place for place in range(len(rows.names)) if place in places_used])
        return runner(statement, {_STREAM_NAME: stream})

    names = {name: f"n{place}" for place, name in enumerate(rows.names)}
    return Scan(
        source=_STREAM_NAME,
        position=PLACE,
        run=run,
        interrupt=runner.interrupt,
        can_write=True,
        names=names,
        kinds=rows.kinds,
    )


def _scan_of_table(connection: Any, name: str) -> Scan:
    """A table of the caller's connection as a scan; without cursors where only the connection itself sees the table."""
    import duckdb

    run = Runner(connection.cursor)
    try:
        run(f"SELECT * FROM {name} LIMIT 0")
    except duckdb.Error:
        run = Runner(lambda: connection)
    return Scan(source=name, position=_row_position(run, name), run=run, interrupt=run.interrupt)


def _row_position(run: Callable[[str], Any], name: str) -> str:
    """The row number that DuckDB stores with a table, or one that is counted, for views, which have none."""
    import duckdb

    try:
        run(f"SELECT rowid FROM {name} LIMIT 0")
    except duckdb.Error:
        return _ROW_NUMBER
    return "rowid"


@dataclass(frozen=True, kw_only=True)
class DatabaseTable:
    """A table of a DuckDB file, as `duckdb:///path?table=name&schema=main` names it."""

    path: str
    schema: str
    table: str

    @classmethod
    def of(cls, url: str) -> DatabaseTable:
        """The table that a URL names; refused if the file does not exist."""
        parts = urlsplit(url)
        options = parse_qs(parts.query, keep_blank_values=True)
        if parts.netloc or "table" not in options or not set(options) <= {"table", "schema"}:
            raise ParameterError(
                "a DuckDB URL must be duckdb:///town.db?table=name (four slashes for an absolute path), with an "
                "optional &schema=name"
            )
        path = database_file(url)
        if not os.path.exists(path):
            raise DataError(
                f"the DuckDB file of the URL must exist, got {path!r}; three slashes are a path from here, four an "
                "absolute one"
            )
        for part in (path, f"{path}.wal"):
            require_regular(part, what="a DuckDB file", error=DataError)
        return cls(path=path, schema=options.get("schema", ["main"])[0], table=options["table"][0])

    def attach(self, connection: Any) -> None:
        """Attach the file, for reading only."""
        import duckdb

        try:
            attach_file(connection, os.path.abspath(self.path), name=STORED_DATABASE)
        except duckdb.Error as error:
            if not re.search("(?i)already attached|conflicting lock|same database file", str(error)):
                raise
            raise DataError(
                "the DuckDB file is open for writing, here or in another process: close that connection, open it with "
                "read_only=True, or hand it over, as in open_table(connection, schema, table=name)"
            ) from None

    def find(self, connection: Any) -> str:
        """The full name of the table, or of a view that reads only tables of the file."""
        listed = connection.execute(
            "SELECT table_schema, table_name, table_type FROM system.information_schema.tables "
            f"WHERE table_catalog = '{STORED_DATABASE}' ORDER BY ALL"
        ).fetchall()
        kinds = {(schema.lower(), table.lower()): kind for schema, table, kind in listed}
        kind = kinds.get((self.schema.lower(), self.table.lower()))
        if kind is None:
            known = [table if schema == "main" else f"{schema}.{table}" for schema, table, _ in listed]
            named = ", ".join(known[:12]) + (" and more" if len(known) > 12 else "")
            raise DataError(
                f"the DuckDB file has no table {self.table!r} in schema {self.schema!r}; it holds "
                f"{named or 'none'}. A table of another schema than main is written table=name&schema=schema"
            )
        name = ".".join(map(_DIALECT.identifier, (STORED_DATABASE, self.schema, self.table)))
        if kind != "BASE TABLE" and not reads_own_tables(connection, name, database=STORED_DATABASE):
            ambiguous = any(schema.lower() == IN_MEMORY_DATABASE for schema, _, _ in listed)
            raise DataError(
                f"the view {self.table!r} reads something else than tables of its file, and a file is not trusted with "
                "what else this user may read"
                + (
                    f" (its schema {IN_MEMORY_DATABASE!r} has the name of a database of DuckDB's own)"
                    * ambiguous
                )
                + ". Name a table; or, if you know who wrote the view, hand over a "
                "connection: open_table(duckdb.connect(path, read_only=True), schema, table=name)"
            )
        return name
