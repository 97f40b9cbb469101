"""Shared sums: many small tables of one large distribution, each summed out of a middle-sized one that several share.

A sum over a million records for each of a thousand pairs of columns goes through every record a thousand times. All
pairs of twelve columns lie in one table of those twelve; so the records are gone through once for each such table, and
the pairs are summed out of it. Which tables are shared depends on declared sizes only, and is planned once.
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
"""Of a shared table: small beside the records, large enough to hold many tables."""
FEW_TABLES = 8
"""So few tables are summed one by one."""


@dataclass(frozen=True, kw_only=True)
class SharedTable:
    """A table, and those that are summed out of it, one by one or again by way of shared ones."""

    columns: Columns
    members: tuple[Columns, ...]
    within: tuple[SharedTable, ...]


def shared_tables(
    domain: Mapping[str, int], wanted: Sequence[Columns], *, most_cells: int = MOST_SHARED_CELLS
) -> tuple[SharedTable, ...]:
    """Tables of at most so many cells in which all wanted ones lie; a wanted one that is larger is none's part.

    Greedy: the first wanted table that lies in none, and to it, one by one, the columns that bring most others in.

    >>> pairs = [("a", "b"), ("b", "c"), ("a", "c"), ("c", "d")]
    >>> [(one.columns, len(one.members)) for one in shared_tables(dict.fromkeys("abcd", 2), pairs, most_cells=8)]
    [(('a', 'b', 'c'), 3), (('c', 'd'), 1)]
    """
    names = list(domain)
    left = list(dict.fromkeys(wanted))
    incidence = np.array([[name in columns for name in names] for columns in left], dtype=np.int64)
    tables = []
    while left:
        held, missing = incidence[0].copy(), incidence @ (1 - incidence[0])
        while (best := _next(domain, names, held, incidence, missing, most_cells)) is not None:
            held[best] = 1
            missing -= incidence[:, best]
        columns = tuple(name for name, inside in zip(names, held, strict=True) if inside)
        inside = missing == 0
        members = tuple(columns_of for columns_of, at in zip(left, inside, strict=True) if at)
        tables.append(SharedTable(columns=columns, members=members, within=_within(domain, columns, members)))
        left = [columns_of for columns_of, at in zip(left, inside, strict=True) if not at]
        incidence = incidence[~inside]
    return tuple(tables)


def _next(
    domain: Mapping[str, int],
    names: Sequence[str],
    held: NDArray[np.int64],
    incidence: NDArray[np.int64],
    missing: NDArray[np.int64],
    most_cells: int,
) -> int | None:
    """The column for which there is room and which brings most tables in; else most of those nearest to being in."""
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
    """All members of the shared tables, which `project` makes."""
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
