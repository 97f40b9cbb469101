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

from holdfast.data.dialect import Dialect
from holdfast.errors import DataError, ParameterError, require

_QUOTE = Dialect()
_CSV = {".csv": ",", ".tsv": "\t", ".csv.gz": ",", ".tsv.gz": "\t"}
_NUMBERED = "row_number() OVER ()"


@dataclass(frozen=True, kw_only=True)
class Scan:
    """What follows FROM, an expression that tells any two rows apart, and who runs statements."""

    source: str
    position: str
    run: Callable[[str], Any]
    close: Callable[[], None]


def scan(source: Any, *, table: str | None, connection: Any) -> Scan:
    """Find out how to read a source; a connection or relation of the caller's is used as it is."""
    if hasattr(source, "cursor"):
        require(table is not None, "table", table, "the name of a table when the source is a connection")
        name = _QUOTE.identifier(str(table))
        connection.close()
        return Scan(source=name, position=_rowid(source.sql, name), run=source.sql, close=_nothing)
    require(
        table is None,
        "table",
        table,
        "left out unless the source is a connection",
        "or use ?table= in the URL",
    )
    if hasattr(source, "query"):
        view = "holdfast_source"
        connection.close()
        return Scan(source=view, position=_NUMBERED, run=lambda sql: source.query(view, sql), close=_nothing)

    def run(statement: str) -> Any:
        return connection.cursor().sql(statement)  # a cursor each, so that streams do not disturb each other

    text = os.fspath(source)
    if text.startswith("duckdb://"):
        name = _attach(text, connection)
        return Scan(source=name, position=_rowid(run, name), run=run, close=connection.close)
    return Scan(source=_files(text), position=_NUMBERED, run=run, close=connection.close)


def _nothing() -> None:
    """A caller's connection stays open."""


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
