"""Random tables with every storage type and extreme values, and neighbours of them, on which engines are tried."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from decimal import Decimal
from random import Random
from typing import Any

from holdfast.data import Categorical, Identifier, Numeric, Schema
from holdfast.data._bounded_users import identifier_texts
from holdfast.data._schema.kinds import Column
from holdfast.privacy._adjacency import Adjacency, PrivacyUnit

INFINITY, NAN = float("inf"), float("nan")
TEXT_WITH_NUL = "a\0b"
"""A text that PostgreSQL cannot hold."""
MOST_DRAWN_ROWS = 14
"""Rows of a table at most; each has its own number in the column `tag`."""
_DAY, _TIME = datetime.date, datetime.datetime
# By storage type; the last value of each is extreme.
STORED_VALUES: dict[str, list[Any]] = {
    "float64": [
        None,
        0.5,
        -0.0,
        0.0,
        NAN,
        1.0,
        0.1,
        -0.3,
        5e-324,
        1e308,
        2.0**53,
        1e16,
        2.5,
        -INFINITY,
        INFINITY,
    ],
    "float32": [None, 0.5, -0.0, NAN, 1.0, 0.25, -2.5, 1e30, -INFINITY, INFINITY],
    "int64": [None, 0, 1, -1, 2, 3, 2**53 + 1, -(2**63), 2**63 - 1],
    "uint64": [None, 0, 1, 2, 2**53 + 1, 2**64 - 1],
    "decimal": [
        None,
        *map(Decimal, ("0", "1", "0.5", "-0.5000", "1.5", "0.0001", "-12.34", "9999999999999999.9999")),
    ],
    "text": [
        None,
        "",
        "0",
        "1",
        "0.5",
        " 2 ",
        "-0.0",
        "1.5",
        "nan",
        "inf",
        "1e99",
        "x",
        "é",
        "a,b",
        'q"q',
        '"',
        "'; --",
        "\u2028",
        "new\nline",
        "\r",
        "\t",
        "😀",
        "true",
        "NULL",
        TEXT_WITH_NUL,
        "x" * 300,
    ],
    "boolean": [None, True, False],
    "date": [None, _DAY(2020, 1, 1), _DAY(1, 1, 1), _DAY(1969, 12, 31), _DAY(9999, 12, 31)],
    "timestamp": [
        None,
        _TIME(2020, 1, 1, 10),
        _TIME(1960, 5, 4, 1, 2, 3, 100000),
        _TIME(1, 1, 1),
        _TIME(9999, 12, 31),
    ],
}
_CATEGORIES = (
    "0",
    "1",
    "0.5",
    "1.0",
    "2.50",
    "x",
    "é",
    "true",
    "a,b",
    "2020-01-01",
    "2020-01-01 10:00:00",
    "new\nline",
)


@dataclass(frozen=True, kw_only=True)
class DrawnTable:
    """A table, a neighbour of it, and the tags of all rows that do not belong to the unit that changed."""

    schema: Schema
    rows: Any
    neighbour: Any
    untouched: frozenset[int]


def drawn_table(
    coins: Random, *, leave_out: tuple[Any, ...] = (), types: tuple[str, ...] = tuple(STORED_VALUES)
) -> DrawnTable:
    """Columns of random types under random declarations; rows or users are protected, by either adjacency.

    `leave_out` are values that a store cannot hold, `types` the storage types that it has.
    """
    column_types = [coins.choice(types) for _ in range(coins.randint(1, 3))]
    columns: list[Column] = [_declared_column(f"c{place}", coins) for place in range(len(column_types))]
    owner_type = coins.choice(types)
    adjacency = coins.choice(("replace", "add_remove"))
    users = coins.random() < 0.6
    unit = PrivacyUnit.user("who", max_rows=coins.randint(1, 3)) if users else PrivacyUnit.row()
    schema = Schema(
        [*columns, Numeric("tag", 0, 4 * MOST_DRAWN_ROWS, bins=8), Identifier("who")],
        unit=unit,
        adjacency=adjacency,
    )
    kinds = [*column_types, owner_type]
    pools = [[v for v in STORED_VALUES[kind] if v not in leave_out] for kind in kinds]
    pools[-1] = coins.sample(pools[-1], min(len(pools[-1]), 4))  # so that a user has several rows
    # Half of the tables have no extreme row, so that an engine that uses statistics of a whole column shows it.
    without_extremes = coins.random() < 0.5
    usual_pools = (
        [[v for v in pool if v not in (INFINITY, -INFINITY)] for pool in pools] if without_extremes else pools
    )
    rows = [_row(usual_pools, coins, extreme=False) for _ in range(coins.randint(1, MOST_DRAWN_ROWS))]
    if not without_extremes:
        rows[coins.randrange(len(rows))] = _row(pools, coins, extreme=True)
    tagged = [(tag, *row) for tag, row in enumerate(rows)]
    neighbour, untouched = _neighbour(
        tagged, pools, kinds, coins, users=users, adjacency=Adjacency.of(adjacency)
    )
    return DrawnTable(
        schema=schema,
        rows=arrow_table(tagged, kinds),
        neighbour=arrow_table(neighbour, kinds),
        untouched=untouched,
    )


def _declared_column(name: str, coins: Random) -> Column:
    if coins.random() < 0.5:
        other, null = coins.choice((None, "(other)")), coins.choice((None, "(missing)"))
        return Categorical(name, coins.sample(_CATEGORIES, coins.randint(1, 5)), other=other, null=null)
    integer = coins.random() < 0.3
    low, high = coins.choice(((-1, 1), (0, 3), (-4, 4)))
    bins = None if integer else coins.choice((2, 5))
    return Numeric(
        name, low, high, bins=bins, integer=integer, null=coins.choice(("category", "low", "midpoint", 1))
    )


def _row(pools: list[list[Any]], coins: Random, *, extreme: bool) -> tuple[Any, ...]:
    return tuple(pool[-1] if extreme else coins.choice(pool) for pool in pools)


def arrow_table(rows: list[tuple[Any, ...]], kinds: list[str]) -> Any:
    """Rows that begin with a tag, as an Arrow table of these storage types; the last column is the owner."""
    import pyarrow as pa

    arrow_types: dict[str, Any] = {
        "float64": pa.float64(),
        "float32": pa.float32(),
        "int64": pa.int64(),
        "uint64": pa.uint64(),
        "decimal": pa.decimal128(20, 4),
        "text": pa.string(),
        "boolean": pa.bool_(),
        "date": pa.date32(),
        "timestamp": pa.timestamp("us"),
    }
    columns = {"tag": pa.array([row[0] for row in rows], pa.int64())}
    for place, kind in enumerate(kinds):
        name = "who" if place == len(kinds) - 1 else f"c{place}"
        columns[name] = pa.array([row[1 + place] for row in rows], arrow_types[kind])
    return pa.table(columns)


def _neighbour(
    rows: list[tuple[Any, ...]],
    pools: list[list[Any]],
    kinds: list[str],
    coins: Random,
    *,
    users: bool,
    adjacency: Adjacency,
) -> tuple[list[tuple[Any, ...]], frozenset[int]]:
    """Rows of a neighbour, in which one unit has other rows or none; and the tags of the rows of all other units."""
    owners = (
        identifier_texts(arrow_table(rows, kinds).column("who")) if users else [str(row[0]) for row in rows]
    )
    changed_owner = coins.choice(owners)
    changed_places = [place for place, owner in enumerate(owners) if owner == changed_owner]
    if adjacency is Adjacency.add_remove:
        new_rows: list[tuple[Any, ...]] = []
    else:
        count = coins.randint(1, 5) if users else 1
        new_rows = [
            (2 * MOST_DRAWN_ROWS + i, *_row(pools, coins, extreme=coins.random() < 0.3)) for i in range(count)
        ]
        new_rows = [(*row[:-1], rows[changed_places[0]][-1]) for row in new_rows] if users else new_rows
    other_rows = [row for place, row in enumerate(rows) if place not in changed_places]
    neighbour = [*other_rows[: changed_places[0]], *new_rows, *other_rows[changed_places[0] :]]
    return neighbour, frozenset(int(row[0]) for row in other_rows)
