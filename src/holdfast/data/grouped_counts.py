"""From the rows of a GROUPING SETS query to zero-filled tables of counts, the same for every SQL engine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.data.schema import Schema

Codes = NDArray[np.int64]


def distinct_sets(sets: Iterable[Sequence[str]]) -> list[tuple[str, ...]]:
    """The sets of columns to ask for: each once, whatever the order of its columns.

    >>> distinct_sets([["b", "a"], ["a", "b"], []])
    [('a', 'b'), ()]
    """
    return list(dict.fromkeys(tuple(sorted(names)) for names in sets))


def zero_filled(schema: Schema, sets: Sequence[tuple[str, ...]], batches: Iterable[Any]) -> list[Codes]:
    """The counts of `Statements.counts(distinct_sets(sets))`, read from its Arrow batches.

    A column is NULL where it is outside a row's set, and the last column is the count. Cells that no row of
    the query names hold 0: which cells are empty must not be visible before noise is added.
    """
    asked = distinct_sets(sets)
    tables = {names: np.zeros(schema.shape(*names), dtype=np.int64) for names in asked}
    names = list(dict.fromkeys(name for group in asked for name in group))
    by_pattern = {
        np.packbits(np.array([name in group for name in names], dtype=np.bool_)).tobytes(): group
        for group in asked
    }
    for arrow in batches:
        cells = [column.to_numpy(zero_copy_only=False) for column in arrow.columns[:-1]]
        found = arrow.column(arrow.num_columns - 1).to_numpy().astype(np.int64)
        for pattern, rows in _by_pattern(arrow.columns[:-1], len(found)):
            group = by_pattern[pattern]
            place = tuple(cells[names.index(name)][rows].astype(np.int64) for name in group)
            np.add.at(tables[group], place, found[rows] if group else found[rows].sum())
    return [_in_order(tables[tuple(sorted(group))], group) for group in sets]


def _by_pattern(columns: Sequence[Any], rows: int) -> Iterator[tuple[bytes, Codes]]:
    """The rows of each set: those that have a value in the same columns."""
    if not columns or not rows:
        if rows:
            yield b"", np.arange(rows)
        return
    inside = np.stack([column.is_valid().to_numpy(zero_copy_only=False) for column in columns], axis=1)
    packed = np.packbits(inside, axis=1)
    keys = packed.view(np.dtype((np.void, packed.shape[1])))[:, 0]
    order = np.argsort(keys, kind="stable")
    borders = np.flatnonzero(keys[order][1:] != keys[order][:-1]) + 1
    for part in np.split(order, borders):
        yield keys[part[0]].tobytes(), part


def _in_order(table: Codes, names: tuple[str, ...]) -> Codes:
    """A count whose axes are in alphabetical order, with its axes in the order asked for."""
    alphabetical = sorted(names)
    return table.transpose([alphabetical.index(name) for name in names]).copy()
