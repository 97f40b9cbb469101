"""The cells of every column, which follow from its declaration alone, and the code of each row's cell.

A numeric column has 128 equal cells on its declared range, and is cut at 128 more edges that grow geometrically away
from zero (or from the bound nearest to zero), so that a range that was declared too wide still has cells where the rows
are. Where the budget can tell finer cells apart both numbers are 512, so that amounts which many rows share have a cell
of their own. The smallest geometric cell is one unit for whole numbers, and a millionth of the range for others. Whole
numbers are cut at halves. Missing numbers have a cell of their own where the schema says so, and otherwise count as the
number that the schema declares for them.
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
"""How many equal cells a numeric column has, and as many geometric ones."""
SMALLEST_CELL_SHARE = 2.0**-20
"""The smallest geometric cell of a number that is not whole, as a share of its range."""


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
        """The name of the column."""
        return self.column.name

    @property
    def numeric(self) -> bool:
        """Whether cells lie on a line; categories do not."""
        return isinstance(self.column, Numeric)

    @cached_property
    def edges(self) -> Floats:
        """The inner borders of the cells of a number: cell i is [edges[i - 1], edges[i])."""
        column = self.column
        assert isinstance(column, Numeric)
        low, high = column.low, column.high
        if column.integer and high - low < self.grid:
            return np.arange(low, high) + 0.5
        even = np.linspace(low, high, self.grid + 1)[1:-1]
        edges = np.unique(
            np.concatenate([even, _geometric_edges(low, high, self.grid, whole=column.integer)])
        )
        if column.integer:
            edges = np.unique(np.floor(edges) + 0.5)
        return np.asarray(edges[(edges > low) & (edges < high)])

    @property
    def missing(self) -> bool:
        """Whether missing numbers have a cell, which is the last."""
        return isinstance(self.column, Numeric) and self.column.has_null_cell

    @property
    def count(self) -> int:
        """The number of cells."""
        return len(self.edges) + 1 + self.missing if isinstance(self.column, Numeric) else self.column.cells

    @cached_property
    def widths(self) -> Floats:
        """The width of each cell of a number, but for the cell of missing numbers."""
        column = self.column
        assert isinstance(column, Numeric)
        return np.diff(np.concatenate([[column.low], self.edges, [column.high]])) + 1e-300

    @cached_property
    def middles(self) -> Floats:
        """The middle of each cell of a number, but for the cell of missing numbers."""
        column = self.column
        assert isinstance(column, Numeric)
        ends = np.concatenate([[column.low], self.edges, [column.high]])
        middles = ends[:-1] + np.diff(ends) / 2
        return np.asarray(
            np.clip(np.floor(middles + 0.5), column.low, column.high) if column.integer else middles
        )

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """A label for each cell."""
        if isinstance(self.column, Categorical):
            return self.column.labels
        return (*(f"{middle:.6g}" for middle in self.middles), *(["(missing)"] if self.missing else []))

    @cached_property
    def short_labels(self) -> tuple[str, ...]:
        """Labels for people: numbers are rounded to about a thousandth of the declared range.

        >>> ColumnCells(Numeric("share", 0, 1)).short_labels[1]
        '0'
        """
        if not isinstance(self.column, Numeric):
            return self.labels
        digits = max(0, 3 - math.floor(math.log10(self.column.high - self.column.low)))
        rounded = (f"{middle:.{digits}f}" for middle in self.middles)
        return (*(f"{float(text) + 0.0:.15g}" for text in rounded), *self.labels[len(self.middles) :])

    def codes(self, batch: Batch) -> NDArray[np.uint16]:
        """The cell of each row."""
        values = batch.column(self.name)
        if isinstance(self.column, Categorical):
            return values.astype(np.uint16)
        codes = np.searchsorted(self.edges, values, side="right")
        if self.missing:
            codes = np.where(batch.missing[self.name], self.count - 1, codes)
        return codes.astype(np.uint16)


def _geometric_edges(low: float, high: float, count: int, *, whole: bool) -> Floats:
    """About `count` edges at growing distances from zero, or from the bound that is nearest to it."""
    anchor = min(max(0.0, low), high)
    unit = 1.0 if whole else SMALLEST_CELL_SHARE * (high - low)
    sides = [(sign, reach) for sign, reach in ((-1.0, anchor - low), (1.0, high - anchor)) if reach > unit]
    per_side = count // max(len(sides), 1)
    powers = np.arange(per_side) / per_side
    parts = [anchor + sign * unit * (reach / unit) ** powers for sign, reach in sides]
    return np.concatenate([[anchor], *parts])


def code_rows(cells: Sequence[ColumnCells], batch: Batch) -> NDArray[np.uint16]:
    """The code of each row's cell in each column, (rows, columns)."""
    codes = np.empty((len(batch), len(cells)), dtype=np.uint16)
    for place, column in enumerate(cells):
        codes[:, place] = column.codes(batch)
    return codes


def cells_of_columns(columns: Sequence[Any], grid: int = COARSE_GRID) -> tuple[ColumnCells, ...]:
    """The cells of some declared columns, in their order; at least one is needed."""
    require(len(columns) > 0, "columns", len(columns), ">= 1 beside the target")
    return tuple(ColumnCells(column, grid) for column in columns)
