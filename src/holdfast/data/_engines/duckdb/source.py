"""What DuckDB is asked to read: files, folders, a table of a DuckDB file, a connection, a relation."""

from __future__ import annotations

import os
import re
import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import parse_qs, urlsplit

from holdfast.data._engines.file_rows import PLACE, FileRows, number_names, rows_of_files
from holdfast.data._engines.places import database_file
from holdfast.data._schema import Schema
from holdfast.data._sql.dialect import Dialect
from holdfast.data._storage_kinds import Kind
from holdfast.errors import DataError, ParameterError, require

_QUOTE = Dialect()
_STREAM = "holdfast_rows"
STOP_SECONDS = 10.0
"""How long an interrupted statement is waited for."""
T = TypeVar("T")
_NUMBERED = "row_number() OVER ()"


class Runner:
    """Runs statements, each on a cursor of its own (`begin`), so that streams do not disturb each other."""

    def __init__(self, begin: Callable[[], Any]) -> None:
        self._begin = begin
        self._latest: deque[Any] = deque(maxlen=4)

    def __call__(self, statement: str, streams: Mapping[str, Any] | None = None) -> Any:
        """A relation; the streams are Arrow's, by the names under which the statement reads them."""
        cursor = self._begin()
        for name, stream in (streams or {}).items():
            cursor.register(name, stream)
        self._latest.append(cursor)
        return cursor.sql(statement)

    def interrupt(self) -> None:
        """End the statements that may be running."""
        for cursor in self._latest:
            cursor.interrupt()


def interruptible(call: Callable[[], T], interrupt: Callable[[], None]) -> T:
    """The result of a call, made in another thread so that Ctrl-C can end it: DuckDB does not listen while it works."""
    if threading.current_thread() is not threading.main_thread():
        return call()
    results: list[T] = []
    failed: list[BaseException] = []

    def work() -> None:
        try:
            results.append(call())
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(1.0)
    except KeyboardInterrupt:
        interrupt()
        thread.join(STOP_SECONDS)
        raise KeyboardInterrupt from None  # without the statement, and what DuckDB says of it
    if failed:
        raise failed[0]
    return results[0]


@dataclass(frozen=True, kw_only=True)
class Scan:
    """What follows FROM, an expression that tells any two rows apart, and who runs statements.

    `can_write` says that statements run on a connection of our own, which has room for a table of ours. `names` are the
    columns where they are not called as they are stored, and `kinds` how they are read where DuckDB is not to say.
    """

    source: str
    position: str
    run: Callable[[str], Any]
    interrupt: Callable[[], None] = lambda: None
    can_write: bool = False
    names: Mapping[str, str] = field(default_factory=dict)
    kinds: Mapping[str, Kind] = field(default_factory=dict)


def scan_of_caller(source: Any, *, table: str | None) -> Scan | None:
    """How to read a connection or relation of the caller's, used as it is; None for anything else."""
    if hasattr(source, "cursor"):
        require(table is not None, "table", table, "the name of a table when the source is a connection")
        return _of_connection(source, _QUOTE.identifier(str(table)))
    way_out = "or name the table in the URL: duckdb:///file.db?table=name"
    require(table is None, "table", table, "left out unless the source is a connection", way_out)
    if hasattr(source, "query"):
        view = "holdfast_source"
        return Scan(source=view, position=_NUMBERED, run=lambda sql: source.query(view, sql))
    return None


def scan_of_files(source: Any, connection: Any, schema: Schema) -> Scan:
    """How a connection of our own reads files or a URL."""
    text = os.fspath(source)
    if not text.startswith("duckdb://"):
        return scan_of_rows(rows_of_files(text, csv=schema.csv, numbers=number_names(schema)), connection)

    run = Runner(connection.cursor)
    name = _attach(text, connection)
    return Scan(source=name, position=_rowid(run, name), run=run, interrupt=run.interrupt, can_write=True)


def scan_of_rows(rows: FileRows, connection: Any) -> Scan:
    """How a connection of our own reads files: as a stream of Arrow batches, opened anew for each statement."""
    runner = Runner(connection.cursor)

    def run(statement: str) -> Any:
        used = {int(place) for place in re.findall(r"\bn([0-9]+)\b", statement)}
        stream = rows.reader([place for place in range(len(rows.names)) if place in used])
        return runner(statement, {_STREAM: stream})

    names = {name: f"n{place}" for place, name in enumerate(rows.names)}
    return Scan(
        source=_STREAM,
        position=PLACE,
        run=run,
        interrupt=runner.interrupt,
        can_write=True,
        names=names,
        kinds=rows.kinds,
    )


def _of_connection(connection: Any, name: str) -> Scan:
    """A table of the caller's connection, through cursors unless it is one that only the connection sees."""
    import duckdb

    run = Runner(connection.cursor)
    try:
        run(f"SELECT * FROM {name} LIMIT 0")
    except duckdb.Error:
        run = Runner(lambda: connection)
    return Scan(source=name, position=_rowid(run, name), run=run, interrupt=run.interrupt)


def _rowid(run: Callable[[str], Any], name: str) -> str:
    """Tables have a row number of their own; views do not."""
    import duckdb

    try:
        run(f"SELECT rowid FROM {name} LIMIT 0")
    except duckdb.Error:
        return _NUMBERED
    return "rowid"


def _attach(url: str, connection: Any) -> str:
    """Attach the file of `duckdb:///path?table=name&schema=main`, read-only."""
    parts = urlsplit(url)
    options = parse_qs(parts.query, keep_blank_values=True)
    if parts.netloc or "table" not in options or not set(options) <= {"table", "schema"}:
        raise ParameterError(
            "a DuckDB URL must be duckdb:///town.db?table=name (four slashes for an absolute path), with an optional "
            "&schema=name"
        )
    path = database_file(url)
    if not os.path.exists(path):
        raise DataError(
            f"the DuckDB file of the URL must exist, got {path!r}; three slashes are a path from here, four an "
            "absolute one"
        )
    import duckdb

    try:
        connection.execute(f"ATTACH {_QUOTE.literal(path)} AS stored (READ_ONLY)")
    except duckdb.Error as error:
        if not re.search("(?i)already attached|conflicting lock|same database file", str(error)):
            raise
        raise DataError(
            "the DuckDB file is open for writing, here or in another process: close that connection, open it with "
            "read_only=True, or hand it over, as in open_table(connection, schema, table=name)"
        ) from None
    schema, table = options.get("schema", ["main"])[0], options["table"][0]
    held = connection.execute(
        "SELECT table_schema, table_name FROM information_schema.tables WHERE table_catalog = 'stored' ORDER BY ALL"
    ).fetchall()
    if (schema.lower(), table.lower()) not in {(one.lower(), name.lower()) for one, name in held}:
        known = [name if one == "main" else f"{one}.{name}" for one, name in held]
        listed = ", ".join(known[:12]) + (" and more" if len(known) > 12 else "")
        raise DataError(
            f"the DuckDB file has no table {table!r} in schema {schema!r}; it holds {listed or 'none'}"
        )
    return ".".join(map(_QUOTE.identifier, ("stored", schema, table)))
