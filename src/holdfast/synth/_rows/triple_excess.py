"""TripleExcess: by how much the counts of rows exceed noisy tables of three columns, as one cube (for `fit_rows`).

With X the 0/1 matrix of a batch of records (a column for each cell of each column) and S_v the slice of the cube of
precision times excess that belongs to a value v, the score of v for a record x is x S_v x / 2. That is one matrix
product however many tables there are, where `_TableExcess` looks up each table. The changes are the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations

import numpy as np

from holdfast._arrays import Codes, Floats
from holdfast.synth._models.model import Measurement
from holdfast.synth._rows.pair_excess import ROWS_AT_ONCE, CellColumns

#: The most cells of all columns together: the cube has their third power, at most 134 MB.
MOST_TRIPLE_WIDTH = 256
#: Matrix products are faster than looking tables up where the cube has at most so many entries for each table.
MOST_CUBE_CELLS_PER_TABLE = 600
#: With fewer tables than this, looking them up one by one is as fast.
LEAST_TABLES = 64
#: About how many multiplications take the time of looking one cell up.
PRODUCTS_PER_LOOKUP = 500


class TripleExcess(CellColumns):
    """The state of `fit_rows` where every table has three columns and no two have the same."""

    def __init__(
        self, measurements: Sequence[Measurement], domain: Mapping[str, int], codes: Codes, *, scale: float
    ) -> None:
        super().__init__(domain, codes)
        self._precision = np.zeros((len(domain), self._width, self._width))
        self._steps = [0.0] * len(domain)
        self._first_table: dict[int, list[int]] = {}
        self._scores = self._counts()
        names = list(domain)
        for measurement in measurements:
            columns = sorted(names.index(name) for name in measurement.columns)
            values = measurement.values.transpose(
                [measurement.columns.index(names[column]) for column in columns]
            )
            excess = self._scores[self._at(columns)] - scale * values
            precision = (scale * measurement.noise_std) ** -2
            # The cube is symmetric: it holds every order of the three columns.
            for axes in permutations(range(3)):
                order = [columns[axis] for axis in axes]
                self._scores[self._at(order)] = excess.transpose(axes)
                self._precision[order[0]][self._at(order[1:])] = precision
            for column in columns:
                self._steps[column] += precision
                self._first_table.setdefault(column, columns)
        for block, precision_of in zip(self._blocks, self._precision, strict=True):
            self._scores[block] *= precision_of  # 0 where there is no table

    @staticmethod
    def takes(measurements: Sequence[Measurement], domain: Mapping[str, int]) -> bool:
        """Whether these tables fit in a cube, and products are faster than looking them up."""
        sets = {frozenset(measurement.columns) for measurement in measurements}
        width = sum(domain.values())
        return (
            len(sets) == len(measurements) >= LEAST_TABLES
            and all(len(columns) == 3 for columns in sets)
            and width <= MOST_TRIPLE_WIDTH
            and width**3 <= MOST_CUBE_CELLS_PER_TABLE * len(sets)
        )

    def lookups(self) -> int:
        """The time of the products for one record in one pass over all columns, in looked up cells."""
        return len(self._blocks) * self._width**2 // PRODUCTS_PER_LOOKUP

    def touches(self, column: int) -> bool:
        """Whether some table has the column."""
        return column in self._first_table

    def misfit(self) -> float:
        """Squared distances from the tables, in units of their noise."""
        total = 0.0
        for block, precision in zip(self._blocks, self._precision, strict=True):
            held = precision > 0
            total += float(((self._scores[block] ** 2).sum(axis=0)[held] / precision[held]).sum())
        return total / 6.0  # every cell of a table occurs in six orders

    def scores(self, codes: Codes, column: int) -> tuple[Floats, float]:
        """Precision times excess for every value, less that of the first; and the column's summed precision."""
        block, cells = self._blocks[column], self._cells(codes)
        scores = np.zeros((len(codes), block.stop - block.start))
        for value in range(1, scores.shape[1]):
            slope = cells @ (self._scores[block.start + value] - self._scores[block.start])
            scores[:, value] = 0.5 * np.einsum("rc,rc->r", slope, cells)
        return scores, self._steps[column]

    def cells_that_move(self, codes: Codes, column: int) -> Codes:
        """The cell of each record in the column's first table; at most a few records of one cell change together."""
        groups = np.zeros(len(codes), dtype=np.int64)
        for other in self._first_table[column]:
            groups = groups * self._width + codes[:, other]
        return groups

    def move(self, before: Codes, after: Codes, column: int) -> None:
        """Update the cube for records that change from one value of the column to another."""
        block, cells = self._blocks[column], self._cells(before)
        change = self._cells(after)[:, block] - cells[:, block]
        for value, by in enumerate(change.T, start=block.start):
            # The precision is 0 at cells of the column itself, and where both other columns are the same one.
            changed = self._precision[column] * ((cells * by[:, None]).T @ cells)
            self._scores[value] += changed
            self._scores[:, value] += changed
            self._scores[:, :, value] += changed

    def _at(self, columns: Sequence[int]) -> tuple[slice, ...]:
        return tuple(self._blocks[column] for column in columns)

    def _counts(self) -> Floats:
        """The counts of the rows in all cells of three columns, in the order of the domain."""
        counts = np.zeros((self._width,) * 3)
        for first in range(0, len(self.codes), ROWS_AT_ONCE):
            cells = self._cells(self.codes[first : first + ROWS_AT_ONCE]).astype(np.float32)
            for block in self._blocks:
                later = slice(block.stop, self._width)
                for value in range(block.start, block.stop):
                    held = cells[cells[:, value] > 0, later]
                    counts[value, later, later] += held.T @ held
        return counts
