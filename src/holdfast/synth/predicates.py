"""Bounded predicates: any functions from a small joint domain to [0, 1]."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from holdfast.errors import require
from holdfast.synth.queries import Floats, Group, Shape


def _nothing() -> Floats:
    return np.zeros((0,))


@dataclass(frozen=True, eq=False)
class Predicates(Group):
    """Functions of the cells of some columns, given by their values: one more axis, first, for the functions.

    Values lie in [0, 1], and fractions are allowed: a query then counts a record in part.

    >>> half = Predicates(("sex",), values=[[0.5, 0.5], [0.0, 1.0]])
    >>> half.answers(np.array([4.0, 6.0])).tolist()
    [5.0, 6.0]
    """

    values: ArrayLike = field(default_factory=_nothing)

    def __post_init__(self) -> None:
        super().__post_init__()
        made = np.array(self.values, dtype=np.float64)
        made.setflags(write=False)
        object.__setattr__(self, "values", made)
        require(made.ndim == len(self.columns) + 1 and made.size > 0, "values.shape", made.shape,
                "(functions, cells of the first column, cells of the second, ...)")  # fmt: skip
        require(bool(np.all((made >= 0) & (made <= 1))), "values", "some outside", "in [0, 1]",
                "rescale the predicates; a range of r costs r times the noise")  # fmt: skip

    def _matrix(self, shape: Shape) -> Floats:
        held = np.asarray(self.values)
        require(held.shape[1:] == tuple(shape), "values.shape", held.shape, f"(functions, *{shape})")
        return held.reshape(len(held), -1)

    def size(self, shape: Shape) -> int:
        """One per function."""
        return len(self._matrix(shape))

    def answers(self, counts: Floats) -> Floats:
        """Weighted sums of cells."""
        made = np.asarray(counts, dtype=np.float64)
        return np.asarray(self._matrix(made.shape) @ made.reshape(-1))

    def combined(self, weights: Floats, shape: Shape) -> Floats:
        """The weighted sum of the functions."""
        return np.asarray(np.asarray(weights, dtype=np.float64) @ self._matrix(shape)).reshape(shape)

    def column_norm(self, shape: Shape) -> float:
        """The largest norm of the values in one cell, a little up for rounding."""
        largest = float(np.max(np.sum(self._matrix(shape) ** 2, axis=0)))
        return math.sqrt(largest) * (1 + 1e-12)

    def describe(self, index: int, shape: Shape) -> str:
        """Which function; its values were given."""
        return f"predicate {index} of {self.name}"
