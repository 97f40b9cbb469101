"""The pulled copy: every declared column of a PostgreSQL table, in a private DuckDB database.

The copy holds doubles and texts, as the server read them, so the server's types and settings no longer matter.
It is held in memory, or in a file in a private folder that is deleted at the end, also after an error (`WorkFolder`).
All orders of rows are drawn in the copy, by a keyed hash of the row's place in it: with a fresh secret key that is a
uniform secret permutation whatever order the server sent the rows in (soundness, section 1, order (i)).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Literal

from holdfast.data._engines.duckdb.sealed import WORK_DATABASE, sealed_connection
from holdfast.data._engines.duckdb.source import Runner, Scan
from holdfast.data._engines.duckdb.table import DuckDBTable, _withholding
from holdfast.data._schema import Schema
from holdfast.data._sql.dialect import Dialect
from holdfast.data._sql.statements import Statements
from holdfast.data._storage_kinds import Kind
from holdfast.data._work_folder import WorkFolder
from holdfast.privacy._adjacency import Adjacency

CopyPlace = Literal["memory", "file"]
COPY_PLACES = ("memory", "file")
COPY_TABLE = f"{WORK_DATABASE}.copy"


def pull(
    batches: Callable[[], Iterator[Any]],
    statements: Statements,
    schema: Schema,
    *,
    keep: CopyPlace,
    adjacency: Adjacency,
    n_public: int | None,
) -> DuckDBTable:
    """Copy the batches of `statements.readings()`. Rows of users are chosen in the copy, with the same random key."""
    # A copy in memory writes nothing to a disk.
    work = WorkFolder() if keep == "file" else None
    folder = "" if work is None else str(work.path)
    try:
        with _withholding("make the private copy"):
            connection = sealed_connection(folder, work=f"{folder}/copy.db" if folder else ":memory:")
    except BaseException:
        if work is not None:
            work.delete()
        raise
    cleanup = partial(_close_and_delete, connection.close, work)
    try:
        names = tuple(column.name for column in schema.columns)
        numbers = {name: statements.reads_number(name) for name in names}
        with _withholding("make the private copy"):
            types = ["DOUBLE" if numbers[name] else "VARCHAR" for name in names]
            listed = ", ".join(f"r{place} {kind}" for place, kind in enumerate(types)) or "nothing INTEGER"
            connection.execute(f"CREATE TABLE {COPY_TABLE} ({listed})")
        for batch in batches():
            _append(connection, batch)
        run = Runner(connection.cursor)
        scan = Scan(source=COPY_TABLE, position="rowid", run=run, interrupt=run.interrupt, can_write=True)
        local = Statements(
            schema=schema,
            dialect=Dialect(names={name: f"r{place}" for place, name in enumerate(names)}),
            source=COPY_TABLE,
            position="rowid",
            kinds={name: Kind.floating if numbers[name] else Kind.text for name in names},
            key=statements.key,
        )
        return DuckDBTable(schema, scan, local, cleanup, adjacency=adjacency, n_public=n_public)
    except BaseException:
        cleanup()
        raise


def _append(connection: Any, batch: Any) -> None:
    """Add one Arrow batch to the copy."""
    import pyarrow as pa

    with _withholding("write the private copy"):
        connection.register("new_rows", pa.Table.from_batches([batch]))
        connection.execute(f"INSERT INTO {COPY_TABLE} SELECT * FROM new_rows")
        connection.unregister("new_rows")


def _close_and_delete(close: Callable[[], None], work: WorkFolder | None) -> None:
    try:
        close()
    finally:
        if work is not None:
            work.delete()


def copy_place(keep: str | None, *, values: int, most: int) -> CopyPlace:
    """Where the copy goes: where `keep` says, else into memory up to `most` expected values, else into a file."""
    small = values <= most if keep is None else keep == "memory"
    return "memory" if small else "file"
