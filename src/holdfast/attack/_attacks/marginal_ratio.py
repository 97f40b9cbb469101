"""Marginal ratio: a density ratio for synthesisers that are made of marginals (Golob et al. 2024).

A synthesiser that measures joint counts of a few columns can give away a record through these counts only. The score
is the mean log-ratio of the record's cells in the released rows to the same cells among other people, over all
marginals of up to three columns.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Codes, Floats
from holdfast.attack._attack import Attack
from holdfast.attack._rows.rows_case import RowsCase

WIDEST_COLUMN_SET = 3
MOST_COLUMN_SETS = 400
"""Column sets, smallest first: with many columns no triples, and with very many only some pairs."""


def marginal_ratio(case: RowsCase) -> Floats:
    """Mean over marginals of log (count + 1/2) / (n + 1/2) in the rows, minus the same in the reference."""
    rows, population, records = case.rows.cells, case.known_population().cells, case.records.cells
    total = np.zeros(len(records))
    sets = column_sets(records.shape[1])
    for columns in sets:
        released, in_population = (matches(records, table, columns) for table in (rows, population))
        total += np.log((released + 0.5) / (len(rows) + 0.5)) - np.log(
            (in_population + 0.5) / (len(population) + 0.5)
        )
    return np.asarray(total / len(sets))


def column_sets(columns: int) -> list[tuple[int, ...]]:
    """All sets of one column, two and three, as many as are allowed.

    >>> column_sets(2)
    [(0,), (1,), (0, 1)]
    """
    sets = [
        chosen
        for width in range(1, min(WIDEST_COLUMN_SET, columns) + 1)
        for chosen in combinations(range(columns), width)
    ]
    return sets[:MOST_COLUMN_SETS]


def matches(records: Codes, table: Codes, columns: tuple[int, ...]) -> NDArray[np.int64]:
    """How many rows of the table share each record's cells in these columns.

    >>> matches(np.array([[0, 1]]), np.array([[0, 1], [0, 0], [0, 1]]), (0, 1)).tolist()
    [2]
    """
    chosen = list(columns)
    all_cells = np.concatenate([table[:, chosen], records[:, chosen]])
    keys = np.ravel_multi_index(tuple(all_cells.T), tuple(all_cells.max(axis=0) + 1))
    distinct, places = np.unique(keys, return_inverse=True)
    counts = np.bincount(places[: len(table)], minlength=distinct.size)
    return np.asarray(counts[places[len(table) :]], dtype=np.int64)


ATTACK = Attack(
    name="marginal_ratio", kind="rows", guess=marginal_ratio, paper="GPDD24", knows=("rows", "population")
)
