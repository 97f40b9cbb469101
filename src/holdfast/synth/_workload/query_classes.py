"""Groups of queries other than marginals: conjunctions, predicates, thresholds and ranges."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from holdfast._arguments import checked
from holdfast._arrays import Floats
from holdfast.errors import require
from holdfast.synth._workload.workload import Group, Shape, cells_in_words

#: The most columns of a group of conjunctions, whose joint count has 2 to their number of cells.
MOST_COLUMNS = 24


@checked
@dataclass(frozen=True)
class Conjunctions(Group):
    """How many records have 1 in all columns of S, for every set S of `order` of the group's binary columns: monotone.

    A group reads the joint count of its columns: for many columns use `conjunctions`, which makes one group for
    each set.

    Parameters
    ----------
    columns : sequence of str
        The binary columns.
    weight : float
        How much the group counts in the workload.
    order : int, optional
        How many columns a set has; by default the one set of all columns.

    Examples
    --------
    >>> group = Conjunctions(("smokes", "drinks", "runs"), order=2)
    >>> group.size((2, 2, 2)), group.describe(1, (2, 2, 2))
    (3, 'smokes=1 and runs=1')
    """

    order: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        width = len(self.columns)
        require(
            1 <= width <= MOST_COLUMNS,
            "columns",
            width,
            f"1 to {MOST_COLUMNS} binary columns",
            "use conjunctions(columns, order=k), one small group for each set",
        )
        fits = self.order is None or (isinstance(self.order, int) and 1 <= self.order <= width)
        require(fits, "order", self.order, f"a whole number from 1 to {width}")

    def _sets(self) -> list[tuple[int, ...]]:
        width = len(self.columns)
        return list(combinations(range(width), width if self.order is None else self.order))

    def _masks(self, shape: Shape) -> np.ndarray:
        """The flat cell whose ones are exactly the set, for every set."""
        require(all(cells == 2 for cells in shape), "columns", shape, "binary columns, with two cells each")
        last = len(shape) - 1
        return np.array([sum(1 << (last - place) for place in chosen) for chosen in self._sets()])

    def size(self, shape: Shape) -> int:
        """The number of sets."""
        width = len(self.columns)
        return math.comb(width, width if self.order is None else self.order)

    def answers(self, counts: Floats) -> Floats:
        """Sums over all cells that contain a set, by one pass over each axis."""
        masks = self._masks(np.shape(counts))
        sums = np.array(counts, dtype=np.float64)
        for axis in range(sums.ndim):
            without, within = np.split(sums, 2, axis=axis)
            without += within
        return np.asarray(sums.reshape(-1)[masks])

    def weighted_sum(self, weights: Floats, shape: Shape) -> Floats:
        """The weights of all sets that each cell contains, summed."""
        sums = np.zeros(shape)
        sums.reshape(-1)[self._masks(shape)] = weights
        for axis in range(sums.ndim):
            without, within = np.split(sums, 2, axis=axis)
            within += without
        return sums

    def column_norm(self, shape: Shape) -> float:
        """The norm for a record of ones, which satisfies every conjunction."""
        return math.sqrt(self.size(shape))

    def describe(self, index: int, shape: Shape) -> str:
        """The columns that are 1."""
        return " and ".join(f"{self.columns[place]}=1" for place in self._sets()[index])


def conjunctions(columns: Sequence[str], *, order: int) -> list[Conjunctions]:
    """Every monotone conjunction of `order` of these columns, one group of one query each.

    >>> [group.name for group in conjunctions(("a", "b", "c"), order=2)]
    ['a x b', 'a x c', 'b x c']
    """
    require(1 <= order <= len(columns), "order", order, f"a whole number from 1 to {len(columns)}")
    return [Conjunctions(chosen) for chosen in combinations(columns, order)]


def _no_values() -> Floats:
    return np.zeros((0,))


@checked
@dataclass(frozen=True, eq=False)
class Predicates(Group):
    """Functions of the cells of some columns, given by their values: a query then counts a record in part.

    Parameters
    ----------
    columns : sequence of str
        The columns that the functions read.
    weight : float
        How much the group counts in the workload.
    values : array_like
        For each function its value in [0, 1] in every joint cell: one more axis, first, for the functions.

    Examples
    --------
    >>> half = Predicates(("sex",), values=[[0.5, 0.5], [0.0, 1.0]])
    >>> half.answers(np.array([4.0, 6.0])).tolist()
    [5.0, 6.0]
    """

    values: ArrayLike = field(default_factory=_no_values)

    def __post_init__(self) -> None:
        super().__post_init__()
        values = np.array(self.values, dtype=np.float64)
        values.setflags(write=False)
        object.__setattr__(self, "values", values)
        require(
            values.ndim == len(self.columns) + 1 and values.size > 0,
            "values.shape",
            values.shape,
            "(functions, cells of the first column, cells of the second, ...)",
        )
        require(
            bool(np.all((values >= 0) & (values <= 1))),
            "values",
            "some outside",
            "in [0, 1]",
            "rescale the predicates; a range of r costs r times the noise",
        )

    def _matrix(self, shape: Shape) -> Floats:
        held = np.asarray(self.values)
        require(held.shape[1:] == tuple(shape), "values.shape", held.shape, f"(functions, *{shape})")
        return held.reshape(len(held), -1)

    def size(self, shape: Shape) -> int:
        """One per function."""
        return len(self._matrix(shape))

    def answers(self, counts: Floats) -> Floats:
        """Weighted sums of cells."""
        table = np.asarray(counts, dtype=np.float64)
        return np.asarray(self._matrix(table.shape) @ table.reshape(-1))

    def weighted_sum(self, weights: Floats, shape: Shape) -> Floats:
        """The weighted sum of the functions."""
        return np.asarray(np.asarray(weights, dtype=np.float64) @ self._matrix(shape)).reshape(shape)

    def column_norm(self, shape: Shape) -> float:
        """The largest norm of the values in one cell, a little up for rounding."""
        largest = float(np.max(np.sum(self._matrix(shape) ** 2, axis=0)))
        return math.sqrt(largest) * (1 + 1e-12)

    def describe(self, index: int, shape: Shape) -> str:
        """Which function; its values were given."""
        return f"predicate {index} of {self.name}"


@checked
@dataclass(frozen=True)
class Ordered(Group):
    """Queries on the order of the first column, within every joint cell of the other columns."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require(len(self.columns) >= 1, "columns", self.columns, "the ordered column first, then any others")

    def _within(self, inner: int, shape: Shape) -> str:
        return "" if len(shape) == 1 else " and " + cells_in_words(self.columns[1:], inner, shape[1:])


@checked
@dataclass(frozen=True)
class Thresholds(Ordered):
    """How many records are in the cells 0..t of the first column, for every t: a cumulative distribution.

    Parameters
    ----------
    columns : sequence of str
        The column with the thresholds; with further columns, the same within every joint cell of these.
    weight : float
        How much the group counts in the workload.

    Examples
    --------
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

    def weighted_sum(self, weights: Floats, shape: Shape) -> Floats:
        """For each cell, the summed weights of the thresholds from its own on."""
        table = np.asarray(weights, dtype=np.float64).reshape(shape)
        return np.ascontiguousarray(np.cumsum(table[::-1], axis=0)[::-1])

    def column_norm(self, shape: Shape) -> float:
        """The norm for a record in the first cell, which is under all thresholds."""
        return math.sqrt(shape[0])

    def describe(self, index: int, shape: Shape) -> str:
        """At most the threshold's cell."""
        top, inner = divmod(index, math.prod(shape[1:]))
        return f"{self.columns[0]}<={top}" + self._within(inner, shape)


@checked
@dataclass(frozen=True)
class Ranges(Ordered):
    """How many records are in the cells a..b of the first column, for all a <= b.

    Parameters
    ----------
    columns : sequence of str
        The column with the ranges; with further columns, the same within every joint cell of these.
    weight : float
        How much the group counts in the workload.

    Examples
    --------
    >>> Ranges(("age",)).answers(np.array([2.0, 3.0, 5.0])).tolist()
    [2.0, 5.0, 10.0, 3.0, 8.0, 5.0]
    """

    def size(self, shape: Shape) -> int:
        """Half of d (d + 1) intervals, in each cell of the others."""
        return shape[0] * (shape[0] + 1) // 2 * math.prod(shape[1:])

    def answers(self, counts: Floats) -> Floats:
        """Differences of running sums."""
        table = np.asarray(counts, dtype=np.float64)
        low, high = np.triu_indices(len(table))
        sums = np.concatenate([np.zeros((1, *table.shape[1:])), np.cumsum(table, axis=0)])
        return np.asarray(sums[high + 1] - sums[low]).reshape(-1)

    def weighted_sum(self, weights: Floats, shape: Shape) -> Floats:
        """For each cell, the summed weights of the intervals that contain it."""
        low, high = np.triu_indices(shape[0])
        given = np.asarray(weights, dtype=np.float64).reshape(low.size, *shape[1:])
        change = np.zeros((shape[0] + 1, *shape[1:]))
        np.add.at(change, low, given)
        np.subtract.at(change, high + 1, given)
        return np.ascontiguousarray(np.cumsum(change, axis=0)[:-1])

    def column_norm(self, shape: Shape) -> float:
        """The norm for a record in the middle cell: cell c is in (c + 1)(d - c) intervals."""
        middle = (shape[0] - 1) // 2
        return math.sqrt((middle + 1) * (shape[0] - middle))

    def describe(self, index: int, shape: Shape) -> str:
        """From one cell to another."""
        interval, inner = divmod(index, math.prod(shape[1:]))
        low, high = np.triu_indices(shape[0])
        return f"{low[interval]}<={self.columns[0]}<={high[interval]}" + self._within(inner, shape)
