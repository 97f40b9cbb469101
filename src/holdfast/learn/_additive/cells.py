"""The public grid of every column: cells that follow from the declaration alone, and the code of each row's cell.

A number has 128 equal cells on its declared range and 128 that grow geometrically away from zero (from the nearer
bound, where zero is not inside), so that a range declared too wide still has cells where the rows are; four times as
many of both where a budget can tell them apart, so that amounts which many rows share stand alone. The smallest
geometric cell is one unit for whole numbers, and a millionth of the range for others. Whole numbers are cut at
halves. A missing number has a cell of its own where the schema says so, and is the declared number otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Floats
from holdfast._kernel.lookup import MOST_CODES
from holdfast.data._batch import Batch
from holdfast.data._schema import Categorical, Numeric
from holdfast.errors import ParameterError, require

COARSE_GRID, FINE_GRID = 128, 512
"""Equal cells of a number, and as many geometric ones."""
FINEST_CELL = 2.0**-20
"""Of the range of a number that is not whole: its smallest geometric cell."""


@dataclass(frozen=True, eq=False)
class ColumnCells:
    """The cells of one declared column.

    >>> ColumnCells(Numeric("children", 0, 3, integer=True)).edges.tolist()
    [0.5, 1.5, 2.5]
    """

    column: Numeric | Categorical
    grid: int = COARSE_GRID

    def __post_init__(self) -> None:
        if self.count > MOST_CODES:
            raise ParameterError(
                f"column {self.column.name!r} must have at most {MOST_CODES} categories for an additive model, "
                f"got {self.count}; group them, or leave the column out"
            )

    @property
    def name(self) -> str:
        """The column's."""
        return self.column.name

    @property
    def numeric(self) -> bool:
        """Whether cells lie on a line; categories do not."""
        return isinstance(self.column, Numeric)

    @cached_property
    def edges(self) -> Floats:
        """Inner borders of a number's cells: cell i is [edges[i - 1], edges[i])."""
        column = self.column
        assert isinstance(column, Numeric)
        low, high = column.low, column.high
        if column.integer and high - low < self.grid:
            return np.arange(low, high) + 0.5
        even = np.linspace(low, high, self.grid + 1)[1:-1]
        edges = np.unique(np.concatenate([even, _geometric(low, high, self.grid, whole=column.integer)]))
        if column.integer:
            edges = np.unique(np.floor(edges) + 0.5)
        return np.asarray(edges[(edges > low) & (edges < high)])

    @property
    def missing(self) -> bool:
        """Whether the last cell is for missing numbers."""
        return isinstance(self.column, Numeric) and self.column.has_null_cell

    @property
    def count(self) -> int:
        """How many cells."""
        return len(self.edges) + 1 + self.missing if isinstance(self.column, Numeric) else self.column.cells

    @cached_property
    def widths(self) -> Floats:
        """Of a number's cells; the missing one left out."""
        column = self.column
        assert isinstance(column, Numeric)
        return np.diff(np.concatenate([[column.low], self.edges, [column.high]])) + 1e-300

    @cached_property
    def middles(self) -> Floats:
        """One number for each cell of a number; the missing one left out."""
        column = self.column
        assert isinstance(column, Numeric)
        ends = np.concatenate([[column.low], self.edges, [column.high]])
        middles = ends[:-1] + np.diff(ends) / 2
        return np.asarray(
            np.clip(np.floor(middles + 0.5), column.low, column.high) if column.integer else middles
        )

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """What each cell is called."""
        if isinstance(self.column, Categorical):
            return self.column.labels
        return (*(f"{middle:.6g}" for middle in self.middles), *(["(missing)"] if self.missing else []))

    @cached_property
    def short_labels(self) -> tuple[str, ...]:
        """The same as people read them: numbers rounded to about a thousandth of the declared range.

        >>> ColumnCells(Numeric("share", 0, 1)).short_labels[1]
        '0'
        """
        if not isinstance(self.column, Numeric):
            return self.labels
        digits = max(0, 3 - math.floor(math.log10(self.column.high - self.column.low)))
        shown = (f"{middle:.{digits}f}" for middle in self.middles)
        return (*(f"{float(text) + 0.0:.15g}" for text in shown), *self.labels[len(self.middles) :])

    def codes(self, batch: Batch) -> NDArray[np.uint16]:
        """The cell of each row."""
        values = batch.column(self.name)
        if isinstance(self.column, Categorical):
            return values.astype(np.uint16)
        codes = np.searchsorted(self.edges, values, side="right")
        if self.missing:
            codes = np.where(batch.missing[self.name], self.count - 1, codes)
        return codes.astype(np.uint16)


def _geometric(low: float, high: float, most: int, *, whole: bool) -> Floats:
    """Edges at growing distances from zero, or from the bound that is nearer to it."""
    anchor = min(max(0.0, low), high)
    unit = 1.0 if whole else FINEST_CELL * (high - low)
    sides = [(sign, reach) for sign, reach in ((-1.0, anchor - low), (1.0, high - anchor)) if reach > unit]
    each = most // max(len(sides), 1)
    parts = [anchor + sign * unit * (reach / unit) ** (np.arange(each) / each) for sign, reach in sides]
    return np.concatenate([[anchor], *parts])


def code_rows(cells: Sequence[ColumnCells], batch: Batch) -> NDArray[np.uint16]:
    """(rows, columns)."""
    codes = np.empty((len(batch), len(cells)), dtype=np.uint16)
    for place, column in enumerate(cells):
        codes[:, place] = column.codes(batch)
    return codes


def cells_of_columns(columns: Sequence[Any], grid: int = COARSE_GRID) -> tuple[ColumnCells, ...]:
    """Of declared columns, in their order; at least one."""
    require(len(columns) > 0, "columns", len(columns), ">= 1 beside the target")
    return tuple(ColumnCells(column, grid) for column in columns)
