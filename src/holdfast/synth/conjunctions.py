"""Monotone conjunctions of binary columns: the marginals of QueryGAN (definition 5.1.1)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from holdfast.errors import require
from holdfast.synth.queries import Floats, Group, Shape

#: Conjunctions of one group are computed from the joint count of its columns, 2 to their number.
MOST_COLUMNS = 24


@dataclass(frozen=True)
class Conjunctions(Group):
    """How many records have 1 in all columns of S, for every set S of `order` of the group's binary columns.

    Without `order`, the one set of all columns. A group reads the joint count of its columns: for many columns
    use `conjunctions`, which makes one group for each set.

    >>> group = Conjunctions(("smokes", "drinks", "runs"), order=2)
    >>> group.size((2, 2, 2)), group.describe(1, (2, 2, 2))
    (3, 'smokes=1 and runs=1')
    """

    order: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        width = len(self.columns)
        require(1 <= width <= MOST_COLUMNS, "columns", width, f"1 to {MOST_COLUMNS} binary columns",
                "use conjunctions(columns, order=k), one small group for each set")  # fmt: skip
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

    def combined(self, weights: Floats, shape: Shape) -> Floats:
        """Every set gives its weight to all cells that contain it."""
        made = np.zeros(shape)
        made.reshape(-1)[self._masks(shape)] = weights
        for axis in range(made.ndim):
            without, within = np.split(made, 2, axis=axis)
            within += without
        return made

    def column_norm(self, shape: Shape) -> float:
        """The record of ones satisfies all."""
        return math.sqrt(self.size(shape))

    def describe(self, index: int, shape: Shape) -> str:
        """Which columns are 1."""
        return " and ".join(f"{self.columns[place]}=1" for place in self._sets()[index])


def conjunctions(columns: Sequence[str], *, order: int) -> list[Conjunctions]:
    """Every monotone conjunction of `order` of these columns, one group of one query each.

    >>> [group.name for group in conjunctions(("a", "b", "c"), order=2)]
    ['a x b', 'a x c', 'b x c']
    """
    require(1 <= order <= len(columns), "order", order, f"a whole number from 1 to {len(columns)}")
    return [Conjunctions(chosen) for chosen in combinations(columns, order)]
