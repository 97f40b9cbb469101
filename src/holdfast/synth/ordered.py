"""Thresholds and ranges: queries on a column whose cells have an order, alone or within cells of other columns."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from holdfast.errors import require
from holdfast.synth.queries import Floats, Group, Shape, cells_in_words


@dataclass(frozen=True)
class Ordered(Group):
    """Queries on the order of the first column, within every joint cell of the other columns."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require(len(self.columns) >= 1, "columns", self.columns, "the ordered column first, then any others")

    def _within(self, inner: int, shape: Shape) -> str:
        return "" if len(shape) == 1 else " and " + cells_in_words(self.columns[1:], inner, shape[1:])


@dataclass(frozen=True)
class Thresholds(Ordered):
    """How many records are in the cells 0..t of the first column, for every t: a cumulative distribution.

    With further columns: the same within every joint cell of these.

    >>> Thresholds(("age",)).answers(np.array([2.0, 3.0, 5.0])).tolist()
    [2.0, 5.0, 10.0]
    >>> Thresholds(("age", "sex")).describe(3, (4, 2))
    'age<=1 and sex=1'
    """

    def size(self, shape: Shape) -> int:
        """One per threshold and cell of the others; the last threshold takes everything."""
        return math.prod(shape)

    def answers(self, counts: Floats) -> Floats:
        """Running sums."""
        return np.cumsum(np.asarray(counts, dtype=np.float64), axis=0).reshape(-1)

    def combined(self, weights: Floats, shape: Shape) -> Floats:
        """A cell is under every threshold from its own on."""
        made = np.asarray(weights, dtype=np.float64).reshape(shape)
        return np.ascontiguousarray(np.cumsum(made[::-1], axis=0)[::-1])

    def column_norm(self, shape: Shape) -> float:
        """A record of the first cell is under all thresholds."""
        return math.sqrt(shape[0])

    def describe(self, index: int, shape: Shape) -> str:
        """At most the threshold's cell."""
        top, inner = divmod(index, math.prod(shape[1:]))
        return f"{self.columns[0]}<={top}" + self._within(inner, shape)


@dataclass(frozen=True)
class Ranges(Ordered):
    """How many records are in the cells a..b of the first column, for all a <= b.

    With further columns: the same within every joint cell of these.

    >>> Ranges(("age",)).answers(np.array([2.0, 3.0, 5.0])).tolist()
    [2.0, 5.0, 10.0, 3.0, 8.0, 5.0]
    """

    def size(self, shape: Shape) -> int:
        """Half of d (d + 1) intervals, in each cell of the others."""
        return shape[0] * (shape[0] + 1) // 2 * math.prod(shape[1:])

    def answers(self, counts: Floats) -> Floats:
        """Differences of running sums."""
        made = np.asarray(counts, dtype=np.float64)
        low, high = np.triu_indices(len(made))
        sums = np.concatenate([np.zeros((1, *made.shape[1:])), np.cumsum(made, axis=0)])
        return np.asarray(sums[high + 1] - sums[low]).reshape(-1)

    def combined(self, weights: Floats, shape: Shape) -> Floats:
        """Every interval adds its weight from its first cell on and takes it back after its last."""
        low, high = np.triu_indices(shape[0])
        given = np.asarray(weights, dtype=np.float64).reshape(low.size, *shape[1:])
        change = np.zeros((shape[0] + 1, *shape[1:]))
        np.add.at(change, low, given)
        np.subtract.at(change, high + 1, given)
        return np.ascontiguousarray(np.cumsum(change, axis=0)[:-1])

    def column_norm(self, shape: Shape) -> float:
        """Cell c is in (c + 1)(d - c) intervals: most in the middle."""
        middle = (shape[0] - 1) // 2
        return math.sqrt((middle + 1) * (shape[0] - middle))

    def describe(self, index: int, shape: Shape) -> str:
        """From one cell to another."""
        interval, inner = divmod(index, math.prod(shape[1:]))
        low, high = np.triu_indices(shape[0])
        return f"{low[interval]}<={self.columns[0]}<={high[interval]}" + self._within(inner, shape)
