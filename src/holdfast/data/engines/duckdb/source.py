"""What DuckDB is asked to read: files, folders, a table of a DuckDB file, a connection, a relation."""

from __future__ import annotations

import csv
import glob
import gzip
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from holdfast.data.sql.dialect import Dialect
from holdfast.errors import DataError, ParameterError, require

_QUOTE = Dialect()
_CSV = {".csv": ",", ".tsv": "\t", ".csv.gz": ",", ".tsv.gz": "\t"}
_NUMBERED = "row_number() OVER ()"


@dataclass(frozen=True, kw_only=True)
class Scan:
    """What follows FROM, an expression that tells any two rows apart, and who runs statements.

    `can_write` says that statements run on a connection of our own, which has room for a table of ours.
    """

    source: str
    position: str
    run: Callable[[str], Any]
    can_write: bool = False


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


def scan_of_files(source: Any, connection: Any) -> Scan:
    """How a connection of our own reads files or a URL."""

    def run(statement: str) -> Any:
        return connection.cursor().sql(statement)  # a cursor each, so that streams do not disturb each other

    text = os.fspath(source)
    if text.startswith("duckdb://"):
        name = _attach(text, connection)
        return Scan(source=name, position=_rowid(run, name), run=run, can_write=True)
    return Scan(source=_files(text), position=_NUMBERED, run=run, can_write=True)


def _of_connection(connection: Any, name: str) -> Scan:
    """A table of the caller's connection, through cursors unless it is one that only the connection sees."""
    import duckdb

    def through_cursor(statement: str) -> Any:
        return connection.cursor().sql(statement)

    run: Callable[[str], Any] = through_cursor
    try:
        run(f"SELECT * FROM {name} LIMIT 0")
    except duckdb.Error:
        run = connection.sql
    return Scan(source=name, position=_rowid(run, name), run=run)


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
    asked = parse_qs(parts.query, keep_blank_values=True)
    if parts.netloc or "table" not in asked or not set(asked) <= {"table", "schema"}:
        raise ParameterError(
            "a DuckDB URL must be duckdb:///path/to/file.db?table=name, with an optional &schema=name"
        )
    # As with SQLite URLs, three slashes are a relative path and four an absolute one.
    path = unquote(parts.path.removeprefix("/"))
    path = path if os.path.exists(path) or not os.path.exists("/" + path) else "/" + path
    if not os.path.exists(path):
        raise DataError("the DuckDB file of the URL must exist")
    connection.execute(f"ATTACH {_QUOTE.literal(path)} AS stored (READ_ONLY)")
    schema = asked.get("schema", ["main"])[0]
    return ".".join(map(_QUOTE.identifier, ("stored", schema, asked["table"][0])))


def _files(text: str) -> str:
    """`read_parquet(...)` or `read_csv(...)` over a file, a folder or a pattern."""
    paths = [text] if os.path.isfile(text) else _found(text)
    if not paths:
        raise DataError(f"no Parquet or CSV file found at {text!r}")
    endings = {_ending(path) for path in paths}
    if len(endings) > 1:
        raise DataError(f"all files must be of one kind, found {sorted(endings)}")
    listed = "[" + ", ".join(_QUOTE.literal(glob.escape(path)) for path in paths) + "]"
    ending = endings.pop()
    if ending == ".parquet":
        return f"read_parquet({listed}, hive_partitioning = false)"
    # Every field is text and nothing is guessed from the data: the schema says what a text means.
    columns = ", ".join(f"{_QUOTE.literal(name)}: 'VARCHAR'" for name in _header(paths[0], _CSV[ending]))
    return (
        f"read_csv({listed}, auto_detect = false, header = true, delim = {_QUOTE.literal(_CSV[ending])}, "
        f"quote = '\"', escape = '\"', nullstr = '', columns = {{{columns}}})"
    )


def _found(text: str) -> list[str]:
    if os.path.isdir(text):
        inside = sorted(str(path) for path in Path(text).rglob("*") if path.is_file())
        return [path for path in inside if _ending(path, strict=False)]
    return sorted(glob.glob(text, recursive=True))


def _ending(path: str, *, strict: bool = True) -> str:
    for ending in (".parquet", *_CSV):
        if path.lower().endswith(ending):
            return ending
    if strict:
        raise DataError(f"a file must end in .parquet, .csv, .tsv or .csv.gz, got {path!r}")
    return ""


def _header(path: str, delimiter: str) -> list[str]:
    opener: Callable[..., Any] = gzip.open if path.lower().endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8-sig", newline="") as file:
        names = next(csv.reader(file, delimiter=delimiter), [])
    if len(set(names)) != len(names) or not names:
        raise DataError("a CSV file must start with a line of column names that differ")
    return names
