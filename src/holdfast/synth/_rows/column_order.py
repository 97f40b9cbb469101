"""ColumnsInOrder: a declared order of two columns, such as a discharge that is never before its admission.

Noisy counts may not show such an order where a pair of columns has many cells, and two dates that are drawn
independently within the same month come in either order. A declared order is public knowledge and costs nothing: pairs
of cells that contradict it are impossible, and the values of a row are drawn in that order inside their cells, too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from holdfast._arrays import Bools, Codes
from holdfast.data._schema import DateTime, Numeric, Schema
from holdfast.errors import ParameterError, require
from holdfast.synth._rows.coded_rows import whole_bounds
from holdfast.synth._rows.impossible_rows import MOST_MASK_CELLS, Zeros

FURTHEST_GAP = 2**51
"""More than the difference of any two whole numbers that a schema can declare."""


@dataclass(frozen=True)
class ColumnsInOrder(Zeros):
    """Two columns of which the second is at least `least` and at most `most` above the first (`Zeros.in_order`)."""

    least: int = 0
    most: int = FURTHEST_GAP

    @property
    def gap(self) -> tuple[int, int]:
        """By how much the second column is above the first, at least and at most."""
        return self.least, self.most

    @classmethod
    def of_columns(
        cls, schema: Schema, first: str, second: str, least: int, most: int | None
    ) -> ColumnsInOrder:
        """The order of two declared columns, with the pairs of cells that contradict it."""
        columns = [_integer_column(schema, name) for name in (first, second)]
        units = [column.unit if isinstance(column, DateTime) else None for column in columns]
        require(
            units[0] == units[1], "second", second, f"told in the unit of {first!r}, {units[0] or 'a number'}"
        )
        for name, value in (("least", least), ("most", FURTHEST_GAP if most is None else most)):
            whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
            require(whole and abs(value) <= FURTHEST_GAP, name, value, "a whole number of the columns' unit")
        upper = FURTHEST_GAP if most is None else int(most)
        require(least <= upper, "most", most, f">= least={least}")
        shape = columns[0].cells, columns[1].cells
        require(
            math.prod(shape) <= MOST_MASK_CELLS,
            "columns",
            f"{first!r} and {second!r}",
            f"of at most {MOST_MASK_CELLS:,} pairs of cells",
            "declare coarser bins",
        )
        (low, high), (low_second, high_second) = map(whole_bounds, columns)
        furthest = high_second[None, :] - low[:, None]
        nearest = low_second[None, :] - high[:, None]
        never = np.argwhere((furthest < least) | (nearest > upper))
        return cls((first, second), never.tolist(), least=int(least), most=upper)


def _integer_column(schema: Schema, name: str) -> Numeric:
    column = schema[name]
    if not isinstance(column, Numeric) or not column.integer:
        raise ParameterError(
            f"columns in order must be dates or whole numbers, got {name!r}; for others declare impossible cells"
        )
    return column


class OrderedCells:
    """The range of values that each row may take in each column, narrowed as its columns are drawn one by one.

    A value stays in its row's cell, since cells are what was certified. In rare cases three or more columns cannot
    keep all declared orders inside the cells of a row; its values are then drawn as if no order were declared.
    """

    def __init__(self, codes: Mapping[str, Codes], schema: Schema, orders: Sequence[Any]) -> None:
        self._orders = orders
        names = dict.fromkeys(name for order in orders for name in order.columns)
        self._low: dict[str, Codes] = {}
        self._high: dict[str, Codes] = {}
        self._present: dict[str, Bools] = {}
        for name in names:
            column = _integer_column(schema, name)
            low, high = whole_bounds(column)
            cell = np.minimum(codes[name], len(low) - 1)
            self._low[name], self._high[name] = low[cell], high[cell]
            self._present[name] = codes[name] < len(low)
        self._narrow()

    def __contains__(self, name: str) -> bool:
        return name in self._low

    def bounds(self, name: str) -> tuple[Codes, Codes]:
        """The smallest and the largest value that each row may still take."""
        return self._low[name], self._high[name]

    def decide(self, name: str, values: Codes) -> None:
        """Fix the values of a column, and narrow the ranges of the others to agree with them."""
        self._low[name], self._high[name] = values, values
        self._narrow()

    def _narrow(self) -> None:
        """Narrow all ranges until they agree: difference constraints need as many rounds as there are columns."""
        low, high = dict(self._low), dict(self._high)
        for _ in low:
            for order in self._orders:
                (first, second), (least, most) = order.columns, order.gap
                both = self._present[first] & self._present[second]
                for name, below, above in (
                    (second, low[first] + least, high[first] + most),
                    (first, low[second] - most, high[second] - least),
                ):
                    low[name] = np.where(both, np.maximum(low[name], below), low[name])
                    high[name] = np.where(both, np.minimum(high[name], above), high[name])
        possible = np.all([low[name] <= high[name] for name in low], axis=0)
        for name in low:
            self._low[name] = np.where(possible, low[name], self._low[name])
            self._high[name] = np.where(possible, high[name], self._high[name])
