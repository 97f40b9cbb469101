"""PairExcess: by how much the counts of rows exceed noisy tables of one and two columns, as one matrix (`fit_rows`).

With X the 0/1 matrix of a batch of records (a column for each cell of each column) and S the matrix of precision times
excess, the scores of all values of a column for all records are X S. That is one matrix product however many tables
there are, where `_TableExcess` looks up each table. The changes are the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from holdfast._arrays import Codes, Floats
from holdfast.synth._models.model import Measurement

#: The most cells of all columns together: the matrix has their square.
MOST_PAIR_WIDTH = 4_000
#: With fewer tables than this, looking them up one by one is as fast.
LEAST_TABLES = 8
#: Rows that are counted at once.
ROWS_AT_ONCE = 8192


class CellColumns:
    """Cell codes of records, which `_cells` turns into a 0/1 matrix with a column for each cell of each column."""

    def __init__(self, domain: Mapping[str, int], codes: Codes) -> None:
        self.codes = np.array(codes, dtype=np.int64)
        ends = np.cumsum([0, *domain.values()])
        self._first, self._width = ends[:-1], int(ends[-1])
        self._blocks = [slice(int(a), int(b)) for a, b in pairwise(ends)]

    def _cells(self, codes: Codes) -> Floats:
        indicators = np.zeros((len(codes), self._width))
        indicators[np.arange(len(codes))[:, None], codes + self._first] = 1.0
        return indicators


class PairExcess(CellColumns):
    """The state of `fit_rows` where no table has more than two columns and no two have the same."""

    def __init__(
        self, measurements: Sequence[Measurement], domain: Mapping[str, int], codes: Codes, *, scale: float
    ) -> None:
        super().__init__(domain, codes)
        # The matrix is symmetric: both halves hold the tables of two columns, the diagonal blocks those of one.
        self._excess, self._precision = (np.zeros((self._width, self._width)) for _ in range(2))
        self._touching: list[list[tuple[int, ...]]] = [[] for _ in domain]
        place = {name: at for at, name in enumerate(domain)}
        counts = self._pair_counts()
        for measurement in measurements:
            columns = tuple(place[name] for name in measurement.columns)
            rows, across = self._blocks[columns[0]], self._blocks[columns[-1]]
            wanted = np.diag(measurement.values) if len(columns) == 1 else measurement.values
            weight = (
                np.eye(len(measurement.values)) if len(columns) == 1 else np.ones(measurement.values.shape)
            )
            weight = weight * (scale * measurement.noise_std) ** -2
            gap = counts[rows, across] - scale * wanted
            self._excess[rows, across], self._excess[across, rows] = gap, gap.T
            self._precision[rows, across], self._precision[across, rows] = weight, weight.T
            for column in columns:
                self._touching[column].append(columns)
        self._step = [
            sum(float(self._precision[self._first[c[0]], self._first[c[-1]]]) for c in touching)
            for touching in self._touching
        ]

    @staticmethod
    def takes(measurements: Sequence[Measurement], domain: Mapping[str, int]) -> bool:
        """Whether these tables fit in a matrix, and products are faster than looking them up."""
        sets = {frozenset(measurement.columns) for measurement in measurements}
        return (
            len(sets) == len(measurements) >= LEAST_TABLES
            and all(1 <= len(columns) <= 2 for columns in sets)
            and sum(domain.values()) <= MOST_PAIR_WIDTH
        )

    def lookups(self) -> int:
        """The number of table cells looked up for one record in one pass; the products take no more time than that."""
        return sum(len(touching) for touching in self._touching)

    def touches(self, column: int) -> bool:
        """Whether some table has the column."""
        return bool(self._touching[column])

    def misfit(self) -> float:
        """Squared distances from the tables, in units of their noise."""
        squares = self._precision * self._excess**2
        alone = sum(float(np.trace(squares[block, block])) for block in self._blocks)
        return 0.5 * (float(squares.sum()) - alone) + alone

    def scores(self, codes: Codes, column: int) -> tuple[Floats, float]:
        """Precision times excess for every value of the column, and the summed precision of the column's tables."""
        block = self._blocks[column]
        held = self._precision[:, block] * self._excess[:, block]
        alone = np.diag(held[block]).copy()
        held[block] = 0.0
        return self._cells(codes) @ held + alone, self._step[column]

    def cells_that_move(self, codes: Codes, column: int) -> Codes:
        """The cell of each record in the column's first table; at most a few records of one cell change together."""
        columns = self._touching[column][0]
        first, last = codes[:, columns[0]], codes[:, columns[-1]]
        return np.asarray(first * (self._blocks[columns[-1]].stop - self._first[columns[-1]]) + last)

    def move(self, before: Codes, after: Codes, column: int) -> None:
        """Update the excess for records that change from one value of the column to another."""
        block = self._blocks[column]
        others = self._cells(before)
        old, new = others[:, block].copy(), self._cells(after)[:, block]
        others[:, block] = 0.0
        changed = (new - old).T @ others
        self._excess[block] += changed
        self._excess[:, block] += changed.T
        at = np.arange(block.start, block.stop)
        self._excess[at, at] += (new - old).sum(axis=0)

    def _pair_counts(self) -> Floats:
        """The counts of the rows in all cells of two columns."""
        table = np.zeros((self._width, self._width))
        for first in range(0, len(self.codes), ROWS_AT_ONCE):
            cells = self._cells(self.codes[first : first + ROWS_AT_ONCE])
            table += cells.T @ cells
        return table
