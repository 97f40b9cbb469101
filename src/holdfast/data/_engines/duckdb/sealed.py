"""A connection of our own to DuckDB, sealed before any row or name of somebody else's is looked at.

A DuckDB file is code as much as data: its views may read any file that the user may read, list folders, ask settings,
take Python variables for tables and load extensions. So a connection of ours attaches what it needs, the file of others
for reading only, and is then shut for good: no other file, no network, no extension, no variable of Python, and nothing
that a statement could change about that. Of the file itself tables are read, and views of which DuckDB says, once it is
shut, that they read nothing but tables of this file.

A connection of the caller's is the caller's to shut. What its databases define is refused where it would stand in the
place of a function or operator of DuckDB's own, which it does without a word.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from holdfast.data._sql.dialect import Dialect
from holdfast.errors import DataError, withholding

CLOSED = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_unsigned_extensions": "false",
}
"""How every connection of ours is opened."""
SEAL = (
    "SET GLOBAL python_enable_replacements = false",
    "SET GLOBAL enable_external_access = false",
    "SET GLOBAL lock_configuration = true",
)
"""What shuts it, once files are attached. GLOBAL, because each statement has a cursor and its own settings."""
_TOKEN = secrets.token_hex(8)
STORED_DATABASE = f"holdfast_stored_{_TOKEN}"
WORK_DATABASE = f"holdfast_work_{_TOKEN}"
"""The databases of a connection of ours: the file of others, and a place for rows.

A view that names a schema is refused by DuckDB where a database has the schema's name, so these are drawn anew in each
process, and no schema of a file has them.
"""
IN_MEMORY_DATABASE = "memory"
"""What DuckDB calls the database that every connection without a file begins with."""
IN_MEMORY = ":memory:"
"""The place of a database without a file."""
INSIDE = ("CTE_SCAN", "COLUMN_DATA_SCAN", "DELIM_SCAN", "EMPTY_RESULT")
"""Steps of a plan that read other steps, constants of the statement, or nothing."""
_QUOTE = Dialect()


def sealed_connection(
    folder: str,
    *,
    work: str,
    attach: Callable[[Any], None] | None = None,
    memory_limit: str | None = None,
    threads: int | None = None,
) -> Any:
    """A connection that reaches a database of ours at the place `work`, what `attach` attaches to it, and nothing else.

    It spills into `folder`, or never where that is empty.
    """
    import duckdb

    connection = duckdb.connect(config={"temp_directory": folder, **CLOSED})
    try:
        with withholding("DuckDB", "apply the options memory_limit and threads"):
            if memory_limit is not None:
                connection.execute(f"SET memory_limit = {_QUOTE.literal(memory_limit)}")
            if threads is not None:
                connection.execute(f"SET threads = {int(threads)}")
            _attach_work(connection, work)
        if attach is not None:
            attach(connection)
        for statement in SEAL:
            connection.execute(statement)
    except BaseException:
        connection.close()
        raise
    return connection


def _attach_work(connection: Any, place: str) -> None:
    """A database of our own for rows. A file is unlinked as soon as it is open, and has no log, which had a name."""
    import duckdb

    attach = f"ATTACH {_QUOTE.literal(place)} AS {WORK_DATABASE} (TYPE duckdb"
    try:
        connection.execute(f"{attach}, RECOVERY_MODE no_wal_writes)")
    except (
        duckdb.Error
    ):  # a version that does not know the option: the folder goes at the end, as for all that spills
        connection.execute(f"{attach})")
        return
    if place != IN_MEMORY:
        with suppress(OSError):  # a system that keeps the names of open files
            os.unlink(place)


def attach_file(connection: Any, path: str, *, name: str) -> None:
    """A DuckDB file, for reading only; its type is named, as DuckDB would load an extension for another."""
    connection.execute(f"ATTACH {_QUOTE.literal(path)} AS {name} (READ_ONLY, TYPE duckdb)")


def reads_own_tables(connection: Any, view: str, *, database: str) -> bool:
    """Whether a view reads tables of that database and nothing else, as DuckDB plans it on a sealed connection."""
    import duckdb

    try:
        explained = connection.execute(f"EXPLAIN (FORMAT json) SELECT * FROM {view}").fetchall()
        sources = list(_sources(json.loads(explained[0][1])))
    except (duckdb.Error, ValueError, LookupError):
        return False
    starts = (f'"{database}".', f"{database}.")
    return all(source.startswith(starts) for source in sources)


def _sources(steps: list[dict[str, Any]]) -> Iterator[str]:
    """The tables that the steps of a plan read from which its rows come; '' for what is no table."""
    for step in steps:
        if step["children"]:
            yield from _sources(step["children"])
        elif step["name"].strip() not in INSIDE:
            table = step["extra_info"].get(
                "Table", ""
            )  # by its whole name, a list where that has several lines
            yield str(table[0] if isinstance(table, list) else table)


def require_no_shadows(ask: Callable[[str], Any]) -> None:
    """Refuse a connection or relation in whose databases something is called like a function of DuckDB's own."""
    listed = ask("SELECT DISTINCT function_name, internal FROM system.main.duckdb_functions()").fetchall()
    own = {str(name).lower() for name, internal in listed if internal}
    shadows = sorted({str(name) for name, internal in listed if not internal and str(name).lower() in own})
    if shadows:
        raise DataError(
            f"a database of the connection has macros called {', '.join(map(repr, shadows[:8]))}, like functions and "
            "operators of DuckDB's own: they would run in their place. Drop them, or name the file in a URL, "
            "duckdb:///file.db?table=name, where macros of a file are not looked for"
        )
