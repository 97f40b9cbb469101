"""Shared sums: many small marginals of one large distribution, each summed out of a middle-sized table.

To sum a million records for each of a thousand pairs of columns is to go through them a thousand times. All pairs of
twelve columns are marginals of the table of those twelve; so the records are summed once for each such shared table,
and the pairs are summed out of it. Which tables are shared depends on declared sizes only, and is planned once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Floats
from holdfast.synth._models.dense import marginal_sums

Columns = tuple[str, ...]
MOST_SHARED_CELLS = 2**12
"""The most cells of a shared table: few compared with the records, enough for many small tables."""
FEW_TABLES = 8
"""Up to so many tables are summed out of a shared table one by one, without further shared tables between."""


@dataclass(frozen=True, kw_only=True)
class SharedTable:
    """A table, and those that are summed out of it: one by one, or through smaller shared tables `within` it."""

    columns: Columns
    members: tuple[Columns, ...]
    within: tuple[SharedTable, ...]


def shared_tables(
    domain: Mapping[str, int], wanted: Sequence[Columns], *, most_cells: int = MOST_SHARED_CELLS
) -> tuple[SharedTable, ...]:
    """Tables of at most `most_cells` that together contain all wanted ones; a larger wanted one is a table by itself.

    Greedy: begin with the first wanted table that no table contains yet, and add the columns that complete most others.

    >>> pairs = [("a", "b"), ("b", "c"), ("a", "c"), ("c", "d")]
    >>> shared = shared_tables(dict.fromkeys("abcd", 2), pairs, most_cells=8)
    >>> [(table.columns, len(table.members)) for table in shared]
    [(('a', 'b', 'c'), 3), (('c', 'd'), 1)]
    """
    names = list(domain)
    left = list(dict.fromkeys(wanted))
    incidence = np.array([[name in columns for name in names] for columns in left], dtype=np.int64)
    tables = []
    while left:
        held, missing = incidence[0].copy(), incidence @ (1 - incidence[0])
        while (best := _next_column(domain, names, held, incidence, missing, most_cells)) is not None:
            held[best] = 1
            missing -= incidence[:, best]
        columns = tuple(name for name, inside in zip(names, held, strict=True) if inside)
        inside = missing == 0
        members = tuple(member for member, contained in zip(left, inside, strict=True) if contained)
        tables.append(SharedTable(columns=columns, members=members, within=_within(domain, columns, members)))
        left = [member for member, contained in zip(left, inside, strict=True) if not contained]
        incidence = incidence[~inside]
    return tuple(tables)


def _next_column(
    domain: Mapping[str, int],
    names: Sequence[str],
    held: NDArray[np.int64],
    incidence: NDArray[np.int64],
    missing: NDArray[np.int64],
    most_cells: int,
) -> int | None:
    """The column that most of the tables with the fewest missing columns lack, among those for which there is room."""
    cells = math.prod(domain[name] for name, inside in zip(names, held, strict=True) if inside)
    room = np.array(
        [not inside and cells * domain[name] <= most_cells for name, inside in zip(names, held, strict=True)]
    )
    outside = missing[missing > 0]
    if not room.any() or len(outside) == 0:
        return None
    votes = np.where(room, incidence[missing == outside.min()].sum(axis=0), 0)
    return int(np.argmax(votes)) if votes.any() else None


def _within(
    domain: Mapping[str, int], columns: Columns, members: Sequence[Columns]
) -> tuple[SharedTable, ...]:
    inner = {name: domain[name] for name in columns}
    most = math.isqrt(math.prod(inner.values()))
    if len(members) <= FEW_TABLES or any(
        math.prod(domain[name] for name in member) >= most for member in members
    ):
        return ()
    return shared_tables(inner, members, most_cells=most)


def summed_together(
    project: Callable[[Columns], Floats], domain: Mapping[str, int], plan: Sequence[SharedTable]
) -> dict[Columns, Floats]:
    """All members of the shared tables; `project` computes a shared table from the distribution."""
    sums: dict[Columns, Floats] = {}
    for shared in plan:
        whole = project(shared.columns)
        inner = {name: domain[name] for name in shared.columns}

        def part(columns: Columns, whole: Floats = whole, inner: Mapping[str, int] = inner) -> Floats:
            return marginal_sums(whole, inner, columns)

        if shared.within:
            sums |= summed_together(part, inner, shared.within)
        else:
            sums |= {columns: part(columns) for columns in shared.members}
    return sums
