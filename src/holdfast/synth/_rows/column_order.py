"""Columns in order: a discharge is never before its admission, nor more than so many days behind it.

Counts of cells do not show it where a pair has too many of them for the noise, and two days that are drawn in the same
month for themselves are in either order. Declared, it is public knowledge that costs nothing: pairs of cells that no
record can be in are impossible, and the values of a row are drawn so that they keep to it inside their cells, too.
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
from holdfast.synth._rows.impossible_rows import HELD_CELLS, Zeros

FURTHEST_GAP = 2**51
"""More than two whole numbers of a schema can differ by."""


@dataclass(frozen=True)
class ColumnsInOrder(Zeros):
    """Two columns of which the second is `least` to `most` above the first; `Zeros.in_order` makes it."""

    least: int = 0
    most: int = FURTHEST_GAP

    @property
    def gap(self) -> tuple[int, int]:
        """How far the second is above the first."""
        return self.least, self.most

    @classmethod
    def of_columns(
        cls, schema: Schema, first: str, second: str, least: int, most: int | None
    ) -> ColumnsInOrder:
        """The order of two declared columns, with the pairs of cells that it leaves no record."""
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
            math.prod(shape) <= HELD_CELLS,
            "columns",
            f"{first!r} and {second!r}",
            f"of at most {HELD_CELLS:,} pairs of cells",
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
    """The values that are left to each row in its cells, as columns are decided one after the other.

    Cells come first: they are what was certified. Where several orders cannot all be kept in the cells of a row (each
    pair of them can, so three columns or more), its values are drawn as if none were declared.
    """

    def __init__(self, codes: Mapping[str, Codes], schema: Schema, orders: Sequence[Any]) -> None:
        self._orders = orders
        names = dict.fromkeys(name for order in orders for name in order.columns)
        self._low: dict[str, Codes] = {}
        self._high: dict[str, Codes] = {}
        self._there: dict[str, Bools] = {}
        for name in names:
            column = _integer_column(schema, name)
            low, high = whole_bounds(column)
            cell = np.minimum(codes[name], len(low) - 1)
            self._low[name], self._high[name] = low[cell], high[cell]
            self._there[name] = codes[name] < len(low)
        self._narrow()

    def __contains__(self, name: str) -> bool:
        return name in self._low

    def bounds(self, name: str) -> tuple[Codes, Codes]:
        """The first and the last value that each row may still take."""
        return self._low[name], self._high[name]

    def decide(self, name: str, values: Codes) -> None:
        """Take these values, and leave the other columns what goes with them."""
        self._low[name], self._high[name] = values, values
        self._narrow()

    def _narrow(self) -> None:
        """Differences of whole numbers: after as many rounds as there are columns no bound moves any more."""
        low, high = dict(self._low), dict(self._high)
        for _ in low:
            for order in self._orders:
                (first, second), (least, most) = order.columns, order.gap
                both = self._there[first] & self._there[second]
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
