"""Query groups: bounded linear queries that look at a few columns.

A query is a function q from records to [0, 1]; its answer on a table is the sum, or the mean, of q over the
records. Every query here looks at the cells of a few columns only, so its answer is a linear function of the
joint count of these columns: nothing else of the data is ever read.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import require

Floats = NDArray[np.float64]
Shape = tuple[int, ...]


@dataclass(frozen=True)
class Group(ABC):
    """Queries over the same columns. `weight` says how much a workload cares about them."""

    columns: Sequence[str]
    weight: float = 1.0

    def __post_init__(self) -> None:
        require(not isinstance(self.columns, str), "columns", self.columns, "a list of names")
        object.__setattr__(self, "columns", tuple(self.columns))
        require(len(set(self.columns)) == len(self.columns), "columns", self.columns, "names given once each")
        require(math.isfinite(self.weight) and self.weight > 0, "weight", self.weight, "a finite number > 0")

    @property
    def name(self) -> str:
        """The columns, as a reader would write them."""
        return " x ".join(self.columns) or "total"

    @abstractmethod
    def size(self, shape: Shape) -> int:
        """How many queries, where the columns have this many cells each."""

    @abstractmethod
    def answers(self, counts: Floats) -> Floats:
        """The summed answers, from a joint count (or a joint distribution) of the columns."""

    @abstractmethod
    def combined(self, weights: Floats, shape: Shape) -> Floats:
        """The weighted sum of all queries, as its value in every cell: the adjoint of `answers`."""

    def query(self, index: int, shape: Shape) -> Floats:
        """One query as its value in every cell."""
        alone = np.zeros(self.size(shape))
        alone[index] = 1.0
        return self.combined(alone, shape)

    @abstractmethod
    def column_norm(self, shape: Shape) -> float:
        """The L2 norm of all answers of the worst single record: the group's L2 sensitivity to add one."""

    @abstractmethod
    def describe(self, index: int, shape: Shape) -> str:
        """One query in words: cells only, never a data value."""


@dataclass(frozen=True)
class Marginal(Group):
    """Every cell of the joint count of some columns.

    >>> Marginal(("sex", "income")).size((2, 2))
    4
    """

    def size(self, shape: Shape) -> int:
        """One query per cell."""
        return math.prod(shape)

    def answers(self, counts: Floats) -> Floats:
        """The counts themselves."""
        return np.asarray(counts, dtype=np.float64).reshape(-1)

    def combined(self, weights: Floats, shape: Shape) -> Floats:
        """The weights, cell by cell."""
        return np.asarray(weights, dtype=np.float64).reshape(shape)

    def column_norm(self, shape: Shape) -> float:
        """A record is in one cell."""
        return 1.0

    def describe(self, index: int, shape: Shape) -> str:
        """The cell's coordinates."""
        return cells_in_words(self.columns, index, shape)


def cells_in_words(columns: Sequence[str], index: int, shape: Shape) -> str:
    """A cell by its coordinates.

    >>> cells_in_words(("age", "sex"), 3, (4, 2))
    'age=1, sex=1'
    """
    cell = np.unravel_index(index, shape)
    return ", ".join(f"{name}={int(place)}" for name, place in zip(columns, cell, strict=True))
