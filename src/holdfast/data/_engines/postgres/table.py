"""A table of a PostgreSQL server: counted and summed there, or pulled once into a private copy.

`way` says what happens to rows:

* `"sql"`: no row leaves the server. Counts, sums and gradients are aggregate queries over rows that are clipped
  and coded in SQL; whatever needs rows one by one is refused.
* `"pull"`: the declared columns are copied once, at the first question, and every answer comes from the copy.
* `"extension"`: as `"sql"`, and bolt-on SGD runs in the database, too, by the extension that
  `holdfast postgres install` puts there.
* `"auto"` (default): counts and sums are taken on the server; rows, where a method needs them, are pulled once.
  Methods that can live on sums do so where the copy would be large (see `PULL_VALUES`).

All ways answer from one snapshot, need the right to read the table and no other, and keep the same rows of users.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from holdfast._assumption import READING_OF_ROWS, Assumption
from holdfast._caution import warn
from holdfast._kernel.options import SgdOptions
from holdfast.data._arrow_columns import check_columns
from holdfast.data._batch import Batch
from holdfast.data._engines.duckdb.table import DuckDBTable
from holdfast.data._engines.postgres.copy import KEEPS, Keep, keep_for, pull
from holdfast.data._engines.postgres.dialect import PostgresDialect
from holdfast.data._engines.postgres.epochs import AggregatePasses, SpelledRows, keyed_rows, train
from holdfast.data._engines.postgres.extension import require_installed
from holdfast.data._engines.postgres.session import Session
from holdfast.data._engines.postgres.source import Address, find_relation
from holdfast.data._order import KEY_BYTES, Order
from holdfast.data._schema import Schema
from holdfast.data._sql.statements import Statements, distinct_sets, zero_filled
from holdfast.data._sql.sums import SpelledStatistic, StatementRow, sum_in_sql
from holdfast.data._table import CHUNK_ROWS, Statistic, Table
from holdfast.errors import AssumptionWarning, DataError, ParameterError, require
from holdfast.noise._source import Source
from holdfast.privacy._adjacency import Adjacency

MOST_COLUMNS = 300
"""In one query: PostgreSQL has room for 1664 columns in a result, and each stored one takes up to five."""
MOST_SETS = 500
"""Of grouping sets in one query; PostgreSQL takes 4096."""
Way = Literal["auto", "pull", "sql", "extension"]
WAYS = ("auto", "pull", "sql", "extension")
FILTERED = Assumption(
    kind=READING_OF_ROWS,
    text="row-level security hides rows of the table from this user: the table is what its policies show, and each "
    "policy decides by the row alone",
)
PULL_VALUES = 2**25
"""Expected values (rows times declared columns) up to which `"auto"` rather pulls, and keeps the copy in memory."""


def connect(
    source: Any,
    schema: Schema,
    *,
    table: str | None = None,
    adjacency: Adjacency,
    n_public: int | None,
    entropy: Source,
    way: str | None = None,
    keep: str | None = None,
) -> PostgresTable:
    """Open a table of the server of a URL; nothing but its description in the catalogue is read."""
    address = Address.of(source)
    options = address.with_options(table=table, way=way, keep=keep)
    if "table" not in options:
        raise ParameterError(
            "table must be named: postgresql://...?table=name, or open_table(..., table='name')"
        )
    way = options.get("way", "auto")
    require(way in WAYS, "way", way, f"one of {WAYS}")
    require(options.get("keep", "memory") in KEEPS, "keep", options.get("keep"), f"one of {KEEPS}")
    session = Session(address.url)
    try:
        if way == "extension":
            require_installed(session)
        relation = find_relation(session, options["table"], options.get("schema"))
        names = [column.name for column in schema.columns]
        check_columns(names, list(relation.kinds))
        denied = [name for name in names if not relation.readable[name]]
        if denied:
            raise DataError(f"the user may not read the columns {denied}: GRANT SELECT on them")
        statements = Statements(
            schema=schema,
            dialect=PostgresDialect(),
            source=relation.name,
            position=relation.position,
            kinds=relation.kinds,
            key=entropy.bytes(KEY_BYTES),
        )
        values = (relation.rows if n_public is None else n_public) * len(names)
        place_of_copy = keep_for(options.get("keep"), values=values, most=PULL_VALUES)
    except BaseException:
        session.close()
        raise
    opened = PostgresTable(
        schema,
        session,
        statements,
        way=way,
        keep=place_of_copy,
        large=values > PULL_VALUES,
        adjacency=adjacency,
        n_public=n_public,
    )
    if relation.filtered:
        opened.notes = (FILTERED,)
        warn(FILTERED.text, AssumptionWarning)
    return opened


class PostgresTable(Table):
    """A table of a PostgreSQL server, in one snapshot."""

    def __init__(
        self,
        schema: Schema,
        session: Session,
        statements: Statements,
        *,
        way: str,
        keep: Keep,
        large: bool,
        adjacency: Adjacency,
        n_public: int | None,
    ) -> None:
        super().__init__(schema, adjacency=adjacency, n_public=n_public)
        self._session = session
        self._statements = statements
        self._way = way
        self._keep = keep
        self._copy: DuckDBTable | None = None
        self._finalizer = weakref.finalize(self, session.close)
        if way == "sql":
            self.capabilities = frozenset({"sums", "engine_sums"})
        elif way == "extension":
            self.capabilities = frozenset({"sums", "engine_sums", "engine_epochs"})
        elif way == "auto" and large:
            self.capabilities = self.capabilities | {"engine_sums"}
        # Rows that are pulled into a file may be kept in another one, as a fit encodes them.
        if way in ("auto", "pull") and keep == "file":
            self.capabilities = self.capabilities | {"local_copy"}

    def close(self) -> None:
        """End the snapshot and the connection, and delete the copy."""
        if self._copy is not None:
            self._copy.close()
        self._finalizer()

    def sums(self, statistic: Statistic, *, rows: int = CHUNK_ROWS) -> NDArray[np.float64]:
        """The sum of a statistic: on the server if it can be written in SQL, else over pulled rows."""
        if self._way != "pull" and self._copy is None and isinstance(statistic, SpelledStatistic):
            columns = self._select(statistic.columns).names
            spelling = None
            if len(columns) <= MOST_COLUMNS:
                spelling = statistic.spelling(StatementRow(self._statements))
            if spelling is not None:
                return sum_in_sql(self._statements, columns, spelling, self._ask).reshape(statistic.shape)
        return super().sums(statistic, rows=rows)

    def epochs(
        self, rows: SpelledRows, options: SgdOptions, *, order: Order, passes: int, records: int
    ) -> NDArray[np.float64]:
        """Passes of permutation SGD in the database, in one order; exact, hence private before noise."""
        require(self.can("engine_epochs"), "way", self._way, "'extension' for epochs in the database")
        order.admit(self.adjacency, self.schema)
        self._select(rows.columns)
        course = AggregatePasses(options=options, passes=passes, records=records)
        return train(
            lambda query: self._session.answer(query, "train beside the rows", copy=False),
            lambda portion: keyed_rows(self._statements, rows, order, portion=portion),
            course,
        )

    def _ask(self, statement: str) -> Any:
        return self._session.answer(statement, "add up the rows")

    def _local(self) -> DuckDBTable | None:
        """The copy, if this table answers from it already."""
        return self._pulled() if self._way == "pull" else self._copy

    def _pulled(self) -> DuckDBTable:
        """The copy, made at its first use."""
        if self._way in ("sql", "extension"):
            raise DataError(
                f"this table was opened with way={self._way!r}: its rows do not leave the server, and this needs "
                "them one by one (or has too many columns for one query); use counts, sums or method='noisy_gd', "
                "or open it with way='auto' or way='pull'"
            )
        if self._copy is None:
            self._copy = pull(
                lambda: self._session.stream(self._statements.readings(), "send the rows"),
                self._statements,
                self.schema,
                keep=self._keep,
                adjacency=self.adjacency,
                n_public=self.n_public,
            )
            self._session.close()  # everything else is answered by the copy
        return self._copy

    def _number(self, statement: str) -> int:
        return int(self._session.answer(statement, "count").column(0)[0].as_py())

    def _rows(self) -> int:
        local = self._local()
        return self._number(self._statements.count()) if local is None else local.count()

    def _units(self) -> int:
        local = self._local()
        if local is not None:
            return local.units()
        return self._rows() if self.unit.column is None else self._number(self._statements.users())

    def _beyond(self, most: int) -> int:
        local = self._local()
        return self._number(self._statements.beyond(most)) if local is None else local.beyond(most)

    def _stream(self, schema: Schema, order: Order, rows: int) -> Iterator[Batch]:
        return self._pulled().batches(schema.names, order=order, rows=rows)

    def _count_cells(self, sets: list[tuple[str, ...]]) -> list[NDArray[np.int64]]:
        local = self._local()
        if local is not None:
            return local.counts(sets)
        return [count for part in _parts(sets) for count in self._count_part(part)]

    def _count_part(self, sets: list[tuple[str, ...]]) -> list[NDArray[np.int64]]:
        statement = self._statements.counts(distinct_sets(sets))
        return zero_filled(self.schema, sets, self._session.stream(statement, "count"))


def _parts(sets: list[tuple[str, ...]]) -> Iterator[list[tuple[str, ...]]]:
    """As many sets at a time as one query has room for."""
    part: list[tuple[str, ...]] = []
    names: set[str] = set()
    for group in sets:
        if part and (len(part) == MOST_SETS or len(names | set(group)) > MOST_COLUMNS):
            yield part
            part, names = [], set()
        part.append(group)
        names |= set(group)
    if part:
        yield part
