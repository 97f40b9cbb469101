"""The PostgreSQL engine: a table is counted and summed on the server, or pulled once into a private copy.

The option `way` says what happens to rows:

* `"sql"`: no row leaves the server. Counts, sums and gradients are aggregate queries over rows that are clipped
  and coded in SQL; whatever needs rows one by one is refused.
* `"pull"`: the declared columns are copied once, when they are first needed, and every answer comes from the copy.
* `"extension"`: as `"sql"`, and bolt-on SGD runs in the database too, by the extension that
  `holdfast postgres install` puts there.
* `"auto"` (default): counts and sums are taken on the server; rows, where a method needs them, are pulled once.
  Methods that can do with sums take them where the copy would be large (see `MOST_PULLED_VALUES`).

All ways answer from one snapshot, need only the right to read the table, and keep the same rows of each user.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Sequence
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from holdfast._assumption import READING_OF_ROWS, Assumption
from holdfast._caution import warn
from holdfast._kernel.options import SgdOptions
from holdfast.data._arrow_columns import check_columns
from holdfast.data._batch import Batch
from holdfast.data._engines.duckdb.table import DuckDBTable
from holdfast.data._engines.postgres.copy import COPY_PLACES, CopyPlace, copy_place, pull
from holdfast.data._engines.postgres.dialect import PostgresDialect
from holdfast.data._engines.postgres.epochs import AggregatePasses, RowsInSql, keyed_rows, train
from holdfast.data._engines.postgres.extension import require_installed
from holdfast.data._engines.postgres.session import Session
from holdfast.data._engines.postgres.source import Address, find_relation
from holdfast.data._order import KEY_BYTES, Order
from holdfast.data._schema import Schema
from holdfast.data._sql.statements import Statements, distinct_sets, zero_filled
from holdfast.data._sql.sums import SpelledStatistic, StatementRow, sum_in_sql
from holdfast.data._table import CHUNK_ROWS, Aggregate, Statistic, Table
from holdfast.errors import AssumptionWarning, DataError, ParameterError, require
from holdfast.noise._source import Source
from holdfast.privacy._adjacency import Adjacency

MOST_QUERY_COLUMNS = 300
"""How many stored columns one query reads: a result has room for 1664 columns, and each stored one takes up to five."""
MOST_GROUPING_SETS = 500
"""How many grouping sets one query has; PostgreSQL takes 4096."""
T = TypeVar("T")
Way = Literal["auto", "pull", "sql", "extension"]
WAYS = ("auto", "pull", "sql", "extension")
FILTERED = Assumption(
    kind=READING_OF_ROWS,
    text="row-level security hides rows of the table from this user: the table is what its policies show, and each "
    "policy decides by the row alone",
)
MOST_PULLED_VALUES = 2**25
"""Expected values (rows times declared columns) up to which `"auto"` pulls rows and keeps the copy in memory."""


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
    trusted_owner: str | Sequence[str] | None = None,
) -> PostgresTable:
    """Open the table that a URL names; only its description in the catalogue is read."""
    address = Address.of(source)
    options = address.with_options(table=table, way=way, keep=keep)
    named_owners = _role_names(trusted_owner)
    if "table" not in options:
        raise ParameterError(
            "table must be named: postgresql://...?table=name, or open_table(..., table='name')"
        )
    way = options.get("way", "auto")
    require(way in WAYS, "way", way, f"one of {WAYS}")
    require(
        options.get("keep", "memory") in COPY_PLACES, "keep", options.get("keep"), f"one of {COPY_PLACES}"
    )
    session = Session(address.url)
    try:
        if way == "extension":
            require_installed(session)
        owners = (*address.trusted_owners, *named_owners)
        relation = find_relation(session, options["table"], options.get("schema"), trusted_owners=owners)
        names = [column.name for column in schema.columns]
        check_columns(names, list(relation.kinds))
        denied = [name for name in names if not relation.readable[name]]
        if denied:
            raise DataError(f"the user may not read the columns {denied}: GRANT SELECT on them")
        statements = Statements(
            schema=schema,
            dialect=PostgresDialect(names=relation.read_as),
            source=relation.name,
            position=relation.position,
            kinds=relation.kinds,
            key=entropy.bytes(KEY_BYTES),
        )
        values = (relation.rows if n_public is None else n_public) * len(names)
        keep_in = copy_place(options.get("keep"), values=values, most=MOST_PULLED_VALUES)
    except BaseException:
        session.close()
        raise
    opened = PostgresTable(
        schema,
        session,
        statements,
        way=way,
        keep=keep_in,
        large=values > MOST_PULLED_VALUES,
        adjacency=adjacency,
        n_public=n_public,
    )
    if relation.filtered:
        opened.notes = (FILTERED,)
        warn(FILTERED.text, AssumptionWarning)
    return opened


def _role_names(given: Any) -> tuple[str, ...]:
    """One name or several."""
    names = () if given is None else (given,) if isinstance(given, str) else given
    is_listed = isinstance(names, list | tuple) and all(isinstance(name, str) for name in names)
    require(is_listed, "trusted_owner", given, "the name of a role, or a list of names")
    return tuple(names)


class PostgresTable(Table):
    """A table of a PostgreSQL server, in one snapshot."""

    capabilities = Table.capabilities | {"aggregates"}

    def __init__(
        self,
        schema: Schema,
        session: Session,
        statements: Statements,
        *,
        way: str,
        keep: CopyPlace,
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
            self.capabilities = frozenset({"sums", "engine_sums", "aggregates"})
        elif way == "extension":
            self.capabilities = frozenset({"sums", "engine_sums", "engine_epochs", "aggregates"})
        elif way == "auto" and large:
            self.capabilities = self.capabilities | {"engine_sums"}
        # Where rows may be pulled into a file, a fit may also keep encoded rows in a file.
        if way in ("auto", "pull") and keep == "file":
            self.capabilities = self.capabilities | {"local_copy"}

    def close(self) -> None:
        """End the snapshot and the connection, and delete the copy."""
        if self._copy is not None:
            self._copy.close()
        self._finalizer()

    def sums(self, statistic: Statistic, *, rows: int = CHUNK_ROWS) -> NDArray[np.float64]:
        """The sum of a statistic: on the server where it can be written in SQL, else over pulled rows."""
        if self._way != "pull" and self._copy is None and isinstance(statistic, SpelledStatistic):
            columns = self._select(statistic.columns).names
            spelling = None
            if len(columns) <= MOST_QUERY_COLUMNS:
                spelling = statistic.spelling(StatementRow(self._statements))
            if spelling is not None:
                return sum_in_sql(self._statements, columns, spelling, self._ask).reshape(statistic.shape)
        return super().sums(statistic, rows=rows)

    def _aggregate(self, aggregate: Aggregate[T]) -> T:
        local = self._copy_in_use()
        if local is not None:
            return local.aggregate(aggregate)
        return aggregate.of_answer(self.schema, self._ask(aggregate.statement(self._statements)).to_batches())

    def epochs(
        self, rows: RowsInSql, options: SgdOptions, *, order: Order, passes: int, records: int
    ) -> NDArray[np.float64]:
        """Passes of permutation SGD in the database, in one order; the result is exact and has no noise yet."""
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

    def _copy_in_use(self) -> DuckDBTable | None:
        """The copy, where this table answers from it."""
        return self._pull() if self._way == "pull" else self._copy

    def _pull(self) -> DuckDBTable:
        """The copy, which is made at its first use."""
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
        local = self._copy_in_use()
        return self._number(self._statements.count()) if local is None else local.count()

    def _units(self) -> int:
        local = self._copy_in_use()
        if local is not None:
            return local.units()
        return self._rows() if self.unit.column is None else self._number(self._statements.users())

    def _beyond(self, most: int) -> int:
        local = self._copy_in_use()
        return self._number(self._statements.beyond(most)) if local is None else local.beyond(most)

    def _stream(self, schema: Schema, order: Order, rows: int) -> Iterator[Batch]:
        return self._pull().batches(schema.names, order=order, rows=rows)

    def _count_cells(self, sets: list[tuple[str, ...]]) -> list[NDArray[np.int64]]:
        local = self._copy_in_use()
        if local is not None:
            return local.counts(sets)
        return [count for part in _parts(sets) for count in self._count_part(part)]

    def _count_part(self, sets: list[tuple[str, ...]]) -> list[NDArray[np.int64]]:
        statement = self._statements.counts(distinct_sets(sets))
        return zero_filled(self.schema, sets, self._session.stream(statement, "count"))


def _parts(sets: list[tuple[str, ...]]) -> Iterator[list[tuple[str, ...]]]:
    """The sets in groups, as many at a time as one query has room for."""
    part: list[tuple[str, ...]] = []
    names: set[str] = set()
    for group in sets:
        if part and (len(part) == MOST_GROUPING_SETS or len(names | set(group)) > MOST_QUERY_COLUMNS):
            yield part
            part, names = [], set()
        part.append(group)
        names |= set(group)
    if part:
        yield part
