"""The contract of an engine, or of a way to store rows: it answers as the memory engine does, row by row.

The neighbour contract is tried on random tables with everything that storage may hold (missing numbers, infinities,
exact decimals, identifiers of every type), and on neighbours of these tables. If one unit changes, the rows of all
others are kept and read as before, whatever the changed rows hold, and counts and sums move no further than the
sensitivity that mechanisms are calibrated to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

import numpy as np

from holdfast._arguments import Seed, checked
from holdfast._arrays import Floats
from holdfast.data import Encoder, Order, RowSum, Schema, Table, counts_l1, open_table, sum_l2
from holdfast.data._engines.engine import Engine
from holdfast.noise._source import Source
from holdfast.testing._contract import Check, ensure
from holdfast.testing._drawn_tables import STORED_VALUES, DrawnTable, drawn_table

COINS_SEED = 11
"""The seed, the same for all engines, of the coins that choose among a user's rows."""


def same_rows(rows: Any) -> Any:
    """The `rows` unchanged, as a store reads them that keeps every type."""
    return rows


@checked
@dataclass(frozen=True, kw_only=True)
class EngineStore:
    """Where an engine finds its rows: a function that stores an Arrow table, and what the store makes of its values.

    Parameters
    ----------
    put : callable
        Stores an Arrow table and returns the arguments of `open_table`.
    reads : callable
        What the store makes of the rows: texts, for CSV files. By default they stay as they are.
    types : tuple of str
        The storage types that it has.
    leave_out : tuple
        Values that it cannot hold.

    Examples
    --------
    >>> store = EngineStore(put=lambda rows: {"source": rows})
    >>> "float64" in store.types
    True
    """

    put: Callable[[Any], Mapping[str, Any]]
    reads: Callable[[Any], Any] = same_rows
    types: tuple[str, ...] = tuple(STORED_VALUES)
    leave_out: tuple[Any, ...] = ()

    def open(self, rows: Any, schema: Schema) -> Table:
        """The stored `rows` behind the `schema`, with coins that are the same everywhere."""
        return open_table(schema=schema, entropy=Source(seed=COINS_SEED), **self.put(rows))

    def reference(self, rows: Any, schema: Schema) -> Table:
        """The same `rows` behind the `schema` in memory."""
        return open_table(self.reads(rows), schema, engine="memory", entropy=Source(seed=COINS_SEED))


def read_rows(table: Table, order: Order | None = None) -> Floats:
    """Every row that takes part: its values, and which numbers were missing."""
    chunks = []
    for batch in table.batches(order=Order.irrelevant() if order is None else order, rows=5):
        flags = [batch.missing[name] for name in sorted(batch.missing)]
        read = np.column_stack([batch.matrix(), *flags])
        chunks.append(read if batch.present is None else read[batch.present])
    return np.concatenate(chunks) if chunks else np.empty((0, 0))


def _sorted_rows(rows: Floats) -> list[tuple[float, ...]]:
    return sorted(map(tuple, rows.tolist()))


def _by_tag(rows: Floats, schema: Schema) -> dict[int, tuple[float, ...]]:
    place = schema.names.index("tag")
    return {int(row[place]): tuple(row) for row in rows.tolist()}


def answers_as_memory_does(store: EngineStore, case: DrawnTable) -> None:
    """The same rows are kept and read alike, and counted and summed as they are read."""
    schema = case.schema
    with store.open(case.rows, schema) as table, store.reference(case.rows, schema) as reference:
        expected = _sorted_rows(read_rows(reference))
        ensure(_sorted_rows(read_rows(table)) == expected, "other rows are kept, or read otherwise")
        ensure(
            (table.count(), table.units()) == (reference.count(), reference.units()), "count or units differ"
        )
        column_sets = [[name] for name in schema.names] + [list(schema.names[:2])]
        pairs = zip(table.counts(column_sets), reference.counts(column_sets), strict=True)
        ensure(all(np.array_equal(first, second) for first, second in pairs), "counts differ")
        statistic = RowSum(Encoder(schema))
        gap = np.abs(table.sums(statistic) - reference.sums(statistic)).max()
        ensure(bool(gap <= 1e-12), "sums differ")
        order = (
            Order.permutation(Source(seed=COINS_SEED))
            if table.adjacency.count_is_public
            else Order.per_record_batches(batches=3, cap=100, source=Source(seed=COINS_SEED))
        )
        ensure(_sorted_rows(read_rows(table, order)) == expected, "an ordered pass reads other rows")


def a_neighbour_changes_no_other_row(store: EngineStore, case: DrawnTable) -> None:
    """Rows of other units are kept and read alike; counts and sums move no further than their sensitivity."""
    schema = case.schema
    encoder = Encoder(schema)
    statistic = RowSum(encoder)
    column_sets = [[name] for name in schema.names]
    own_readings, counts, sums, adjacency = [], [], [], None
    for rows in (case.rows, case.neighbour):
        with store.open(rows, schema) as table:
            read_back = _by_tag(read_rows(table), schema)
            own_readings.append({tag: row for tag, row in read_back.items() if tag in case.untouched})
            counts.append(table.counts(column_sets))
            sums.append(table.sums(statistic))
            adjacency = table.adjacency
    assert adjacency is not None
    ensure(
        own_readings[0] == own_readings[1], "the change of one unit changes how others' rows are kept or read"
    )
    for names, before, after in zip(column_sets, counts[0], counts[1], strict=True):
        moved = int(np.abs(before - after).sum())
        ensure(moved <= counts_l1(adjacency, schema.confirmed_unit), f"the counts of {names} move by {moved}")
    bound = sum_l2(encoder.row_norm_bound, adjacency, schema.confirmed_unit)
    moved_sum = float(np.linalg.norm(sums[0] - sums[1]))
    ensure(moved_sum <= bound + 1e-12, f"the sum moves by {moved_sum}, more than {bound}")


def its_engine_takes_its_sources_only(store: EngineStore, case: DrawnTable) -> None:
    """An engine that is given by `engine=` accepts what is stored for it, and nothing else."""
    arguments = store.put(case.rows)
    engine = arguments.get("engine")
    if isinstance(engine, Engine):
        ensure(
            bool(engine.accepts(arguments["source"])),
            f"the engine {engine.name!r} refuses what is stored for it",
        )
        for foreign in (object(), None, 0, b""):
            ensure(
                not engine.accepts(foreign), f"the engine {engine.name!r} accepts {type(foreign).__name__}"
            )
    with store.open(case.rows, case.schema) as table:
        ensure(isinstance(table, Table), f"it opens a {type(table).__name__}, which is no Table")


NEIGHBOUR_CONTRACT = (answers_as_memory_does, a_neighbour_changes_no_other_row)


@checked
def engine_checks(store: EngineStore, *, cases: int, seed: Seed) -> Iterator[Check]:
    """Each statement of the neighbour contract on each of so many random tables.

    Parameters
    ----------
    store : EngineStore
        Where the engine finds its rows.
    cases : int
        How many random tables are tried.
    seed : int
        What they are drawn from.

    Yields
    ------
    Check
        One statement about one table each.

    Examples
    --------
    >>> checks = engine_checks(EngineStore(put=lambda rows: {"source": rows}), cases=1, seed=0)
    >>> next(checks)()
    """
    first = drawn_table(Random(seed), leave_out=store.leave_out, types=store.types)
    sources_check = its_engine_takes_its_sources_only
    yield Check(name=sources_check.__name__, run=partial(sources_check, store, first))
    for number in range(cases):
        case = drawn_table(Random(seed + number), leave_out=store.leave_out, types=store.types)
        for statement in NEIGHBOUR_CONTRACT:
            yield Check(name=f"{statement.__name__}-{seed + number}", run=partial(statement, store, case))
