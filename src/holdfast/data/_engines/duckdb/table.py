"""The DuckDB engine: files and in-process tables, counted in SQL and streamed as Arrow, never loaded whole."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from holdfast._assumption import READING_OF_ROWS, Assumption
from holdfast.data._arrow_columns import check_columns
from holdfast.data._batch import Batch, encode_batch
from holdfast.data._engines.duckdb.sealed import WORK_DATABASE, sealed_connection
from holdfast.data._engines.duckdb.source import (
    DatabaseTable,
    Scan,
    interruptible,
    scan_of_caller,
    scan_of_files,
    scan_of_stored,
)
from holdfast.data._engines.places import DUCKDB_SCHEME
from holdfast.data._order import KEY_BYTES, Order, PerRecordBatches
from holdfast.data._schema import Schema
from holdfast.data._sql.dialect import Dialect
from holdfast.data._sql.statements import Statements, count_cells, distinct_sets, zero_filled
from holdfast.data._storage_kinds import Kind
from holdfast.data._table import Aggregate, Table
from holdfast.data._work_folder import WorkFolder
from holdfast.errors import require, withholding
from holdfast.noise._source import Source
from holdfast.privacy._adjacency import Adjacency

T = TypeVar("T")
DIALECT = Dialect()
#: About how many rows are ranked within their users at a time.
PART_ROWS = 500_000
#: The table of the rows that are kept of each user.
KEPT_ROWS_TABLE = f"{WORK_DATABASE}.kept"
#: From this number of joint counts on, rows are read once and counted in Python; fewer are grouped in SQL.
MANY_SETS = 8
COUNTED_BATCH_ROWS = 131_072
JOINED_LINES = Assumption(
    kind=READING_OF_ROWS,
    text="quoted fields of the CSV files may hold line ends, as the schema declares: a stray quote may join its row "
    "with those that follow, so one person's row could change how others are read",
)
#: How values of DuckDB's types (without their parameters) are read.
KINDS = {
    **dict.fromkeys(
        ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"),
        Kind.integer,
    ),
    **dict.fromkeys(("FLOAT", "DOUBLE"), Kind.floating),
    **dict.fromkeys(("DECIMAL", "HUGEINT", "UHUGEINT"), Kind.decimal),
    **dict.fromkeys(("VARCHAR", "ENUM", "UUID"), Kind.text),
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"), Kind.timestamp),
    "TIMESTAMP WITH TIME ZONE": Kind.zoned,
    "BOOLEAN": Kind.boolean,
    "DATE": Kind.date,
}


_withholding = partial(withholding, "DuckDB")


def _open(
    source: Any,
    schema: Schema,
    *,
    table: str | None = None,
    memory_limit: str | None = None,
    threads: int | None = None,
) -> tuple[Scan, Callable[[], None]]:
    """The source as a scan, and a function that closes what was opened and deletes what was written to disk."""
    require(threads is None or threads >= 1, "threads", threads, ">= 1")
    with _withholding("open the table"):
        scan = scan_of_caller(source, table=table)
        if scan is not None:
            options = [option for option in (memory_limit, threads) if option is not None]
            require(not options, "options", options, "left out: the connection is the caller's")
            return scan, _close_nothing
    stored = DatabaseTable.of(os.fspath(source)) if os.fspath(source).startswith(DUCKDB_SCHEME) else None
    work = WorkFolder()  # for what does not fit into memory
    cleanup = work.delete
    try:
        with _withholding("open the source"):
            connection = sealed_connection(
                str(work.path),
                work=f"{work.path}/work.db",
                attach=None if stored is None else stored.attach,
                memory_limit=memory_limit,
                threads=threads,
            )
            cleanup = partial(_close_and_delete, connection.close, work)
            if stored is not None:
                return scan_of_stored(stored, connection), cleanup
            return scan_of_files(source, connection, schema), cleanup
        raise AssertionError("the block above returns or raises")
    except BaseException:
        cleanup()
        raise


def read_all(source: Any) -> Any:
    """A whole table of a DuckDB file, connection or relation as one Arrow table: for drafts only."""
    scan, cleanup = _open(source, Schema([]))
    try:
        with _withholding("read the rows"):
            return scan.run(f"SELECT * FROM {scan.source}").to_arrow_table()
        raise AssertionError("the block above returns or raises")
    finally:
        cleanup()


def connect(
    source: Any,
    schema: Schema,
    *,
    adjacency: Adjacency,
    n_public: int | None,
    entropy: Source,
    **options: Any,
) -> DuckDBTable:
    """Open files, a DuckDB file, a connection or a relation; nothing but column names and types is read."""
    scan, cleanup = _open(source, schema, **options)
    try:
        kinds = dict(scan.kinds) or _kinds(scan)
        check_columns([column.name for column in schema.columns], list(kinds))
        statements = Statements(
            schema=schema,
            dialect=replace(DIALECT, names=scan.names),
            source=scan.source,
            position=scan.position,
            kinds=kinds,
            key=entropy.bytes(KEY_BYTES),
        )
    except BaseException:
        cleanup()
        raise
    table = DuckDBTable(schema, scan, statements, cleanup, adjacency=adjacency, n_public=n_public)
    if scan.names and schema.csv.quoted_newlines:
        table.notes = (JOINED_LINES,)
    return table


def _kinds(scan: Scan) -> dict[str, Kind]:
    """How each stored column is read, from its type alone."""
    types: dict[str, str] = {}
    with _withholding("read the columns"):
        relation = scan.run(f"SELECT * FROM {scan.source}")
        types = {name: str(kind) for name, kind in zip(relation.columns, relation.types, strict=True)}
    return {name: KINDS.get(kind.partition("(")[0], Kind.unknown) for name, kind in types.items()}


class DuckDBTable(Table):
    """A table that DuckDB reads: memory stays bounded whatever its size."""

    capabilities = Table.capabilities | {"aggregates"}

    def __init__(
        self,
        schema: Schema,
        scan: Scan,
        statements: Statements,
        cleanup: Callable[[], None],
        *,
        adjacency: Adjacency,
        n_public: int | None,
    ) -> None:
        super().__init__(schema, adjacency=adjacency, n_public=n_public)
        self._scan = scan
        self._statements = statements
        self._finalizer = weakref.finalize(self, cleanup)
        # A shuffle on our own connection may write to disk, and so may a copy of the shuffled rows.
        if scan.can_write:
            self.capabilities = self.capabilities | {"local_copy"}

    def close(self) -> None:
        """Close the connection that was opened here, and delete what was written to disk."""
        self._finalizer()

    def _statements_on_kept_rows(self) -> Statements:
        """The statements, over a table of the rows that are kept of each user.

        That table is made once, for a part of the users at a time, because ranking rows within users must fit into
        memory. A connection of the caller's is only read from: there each statement chooses the rows again.
        """
        if (
            self._statements.bounds_users
            and self._scan.can_write
            and self._statements.kept_rows_table is None
        ):
            parts = 1 + self._number(f"SELECT count(*) FROM {self._scan.source}") // PART_ROWS
            for part in range(parts):
                put = f"INSERT INTO {KEPT_ROWS_TABLE}" if part else f"CREATE TABLE {KEPT_ROWS_TABLE} AS"
                statement = f"{put} {self._statements.kept_part(part, parts)}"
                self._do("choose the rows of each user", partial(self._scan.run, statement))
            self._statements = replace(self._statements, kept_rows_table=KEPT_ROWS_TABLE)
        return self._statements

    def _number(self, statement: str) -> int:
        return int(self._do("count", lambda: self._scan.run(statement).fetchall())[0][0])

    def _do(self, doing: str, call: Callable[[], T]) -> T:
        """A call of DuckDB that can be interrupted, and whose errors are shown without DuckDB's message."""
        with _withholding(doing):
            return interruptible(call, self._scan.interrupt)
        raise AssertionError("the block above returns or raises")

    def _rows(self) -> int:
        return self._number(self._statements_on_kept_rows().count())

    def _units(self) -> int:
        return self._rows() if self.unit.column is None else self._number(self._statements.users())

    def _beyond(self, most: int) -> int:
        return self._number(self._statements.beyond(most))

    def _arrow(self, statement: str, rows: int) -> Iterator[Any]:
        """The result as Arrow record batches of at most that many rows."""

        def begin() -> Any:
            relation = self._scan.run(statement)
            # The names of one method in DuckDB 2, in 1.x, and in the oldest version that is allowed.
            names = ("to_arrow_reader", "fetch_record_batch", "fetch_arrow_reader")
            reader = next(getattr(relation, name) for name in names if hasattr(type(relation), name))
            return reader(rows)

        stream = self._do("read the rows", begin)
        while True:
            batch = self._do("read the rows", partial(next, stream, None))
            if batch is None:
                return
            yield batch

    def _stream(self, schema: Schema, order: Order, rows: int) -> Iterator[Batch]:
        statement = self._statements_on_kept_rows().rows_in_order(schema.names, order)
        if isinstance(order, PerRecordBatches):
            yield from self._sampled_batches(schema, order, statement, rows)
            return
        for arrow in _even_batches(self._arrow(statement, rows), rows):
            present = None
            if self._statements.pads(order):
                present = np.asarray(
                    arrow.column(arrow.num_columns - 1).to_numpy(zero_copy_only=False), dtype=np.bool_
                )
            yield _encode(schema, arrow, present)

    def _sampled_batches(
        self, schema: Schema, order: PerRecordBatches, statement: str, rows: int
    ) -> Iterator[Batch]:
        """Batches of a stream that is sorted by batch number; empty ones where no row was drawn."""
        import pyarrow as pa

        parts: list[Any] = []
        number = 0
        empty: Any = None
        for arrow in self._arrow(statement, rows):
            empty = arrow.slice(0, 0)
            numbers = arrow.column(arrow.num_columns - 1).to_numpy()
            borders = [0, *(np.flatnonzero(np.diff(numbers)) + 1).tolist(), len(numbers)]
            for first, last in pairwise(borders):
                while first < last and number < numbers[first]:
                    yield _encode(schema, _combine(pa, parts, empty), None)
                    parts, number = [], number + 1
                parts.append(arrow.slice(first, last - first))
        while number < order.batches:
            yield _encode(schema, _combine(pa, parts, empty), None)
            parts, number = [], number + 1

    def _aggregate(self, aggregate: Aggregate[T]) -> T:
        return aggregate.of_answer(self.schema, self._arrow(aggregate.statement(self._statements), 65_536))

    def _count_cells(self, sets: list[tuple[str, ...]]) -> list[NDArray[np.int64]]:
        if not sets:
            return []
        names = list(dict.fromkeys(name for group in sets for name in group))
        if len(sets) >= MANY_SETS and names:
            return count_cells(
                self.schema,
                sets,
                names,
                self._arrow(self._statements_on_kept_rows().cells(names), COUNTED_BATCH_ROWS),
            )
        return zero_filled(
            self.schema,
            sets,
            self._arrow(self._statements_on_kept_rows().counts(distinct_sets(sets)), 65_536),
        )


def _close_nothing() -> None:
    """A connection of the caller's is left open."""


def _close_and_delete(close: Callable[[], None], work: WorkFolder) -> None:
    try:
        close()
    finally:
        work.delete()


def _combine(pa: Any, parts: list[Any], empty: Any) -> Any:
    if parts:
        return pa.Table.from_batches(parts).combine_chunks()
    return empty


def _encode(schema: Schema, arrow: Any, present: NDArray[np.bool_] | None) -> Batch:
    columns: dict[str, Any] = {}
    if arrow is None:
        import pyarrow as pa

        columns = {name: pa.nulls(0) for name in schema.names}
    else:
        columns = {name: arrow.column(place) for place, name in enumerate(schema.names)}
    batch = encode_batch(schema, columns, 0 if arrow is None else arrow.num_rows)
    return batch if present is None else replace(batch, present=present)


def _even_batches(stream: Iterator[Any], rows: int) -> Iterator[Any]:
    """The same rows in batches of exactly that many (the last one may be shorter)."""
    import pyarrow as pa

    parts: list[Any] = []
    part_rows = 0
    for arrow in stream:
        parts.append(arrow)
        part_rows += arrow.num_rows
        while part_rows >= rows:
            whole = pa.Table.from_batches(parts)
            yield whole.slice(0, rows).combine_chunks()
            parts = whole.slice(rows).to_batches()
            part_rows -= rows
    if part_rows:
        yield pa.Table.from_batches(parts).combine_chunks()
