"""From the rows of a GROUPING SETS query to zero-filled tables of counts, the same for every SQL engine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
    for arrow in batches:
        cells = [column.to_numpy(zero_copy_only=False) for column in arrow.columns[:-1]]
        found = arrow.column(arrow.num_columns - 1).to_numpy().astype(np.int64)
        inside = [column.is_valid().to_numpy(zero_copy_only=False) for column in arrow.columns[:-1]]
        for group in asked:
            rows = np.ones(len(found), dtype=np.bool_)
            for name, valid in zip(names, inside, strict=True):
                rows &= valid if name in group else ~valid
            place = tuple(cells[names.index(name)][rows].astype(np.int64) for name in group)
            np.add.at(tables[group], place, found[rows] if group else found[rows].sum())
    return [_in_order(tables[tuple(sorted(group))], group) for group in sets]


def _in_order(table: Codes, names: tuple[str, ...]) -> Codes:
    """A count whose axes are in alphabetical order, with its axes in the order asked for."""
    alphabetical = sorted(names)
    return table.transpose([alphabetical.index(name) for name in names]).copy()
