"""OneLayer: a declared finite list of one-layer neural functions of whole rows, as queries answered row by row.

The discriminators of adversarial query release are f(x) = sigma(<theta, x> + b), with x the one-hot encoding of a
row's cells. A list of them is a query class like any other: its largest error can be computed, so a noisy maximum
certifies it (soundness, section 10). The class of *all* theta cannot be certified: a certificate needs an upper bound
on the largest error over theta, but that error is neither convex nor concave in theta, and a local search only finds
lower bounds. A fine net does not help: one that is within eta of every theta in [-1, 1]^p has (1 / eta)^p members.

Other groups are answered from the joint count of their columns, which has a million cells for twenty binary columns.
These are answered in one pass over the rows, in any engine. Weights are whole multiples of 2^-20, so every sum is
exact, in whatever order rows come.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, product
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from holdfast._arguments import Seed, checked
from holdfast._arrays import Codes, Floats
from holdfast._ranges import require_numbers
from holdfast.data._batch import Batch
from holdfast.errors import require
from holdfast.privacy._adjacency import Adjacency, PrivacyUnit
from holdfast.synth._workload.workload import Group, Shape

STEPS_OF_ONE = 2**20
"""The value 1, in steps of the grid."""
LARGEST_WEIGHT = 2.0**10
BLOCK_VALUES = 2**21
"""Values of functions at rows that are in memory at a time."""
MOST_JOINT_CELLS = 2**20
"""The most cells of a joint count from which answers are computed."""


def _no_weights() -> Floats:
    return np.zeros((0, 0))


@checked
@dataclass(frozen=True, eq=False)
class OneLayer(Group):
    """f(x) = min(1, max(0, bias + the sum over columns of the weight of x's cell)): a capped ReLU of one layer.

    Parameters
    ----------
    columns : sequence of str
        The columns that the functions read.
    weight : float
        How much the group counts in the workload.
    cells : sequence of int
        How many cells each column has.
    weights : array_like
        A row for each function, with the cells of the first column, then of the second, and so on.
    bias : array_like
        A number for each function.
    step : bool
        Whether a function is 1 where the sum is above 0, and 0 elsewhere.

    Examples
    --------
    >>> both = OneLayer(("ill", "old"), cells=(2, 2), weights=[[0, 1, 0, 1]], bias=[-1])
    >>> both.values(np.array([[1, 1], [1, 0], [0, 0]])).tolist()
    [[1.0], [0.0], [0.0]]
    """

    cells: Sequence[int] = ()
    weights: ArrayLike = field(default_factory=_no_weights)
    bias: ArrayLike = ()
    step: bool = False

    by_rows: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        cells = tuple(int(size) for size in self.cells)
        weights, bias = (require_numbers(name, getattr(self, name)).copy() for name in ("weights", "bias"))
        require(len(cells) == len(self.columns) >= 1, "cells", cells, "the number of cells of each column")
        width = sum(cells)
        shaped = weights.ndim == 2 and weights.shape[1] == width and len(weights) > 0
        require(shaped, "weights.shape", weights.shape, f"(functions, {width}), all cells side by side")
        require(bias.shape == (len(weights),), "bias.shape", bias.shape, f"({len(weights)},), one a function")
        for name, part in (("weights", weights), ("bias", bias)):
            inside = bool(np.all(np.abs(part) <= LARGEST_WEIGHT))
            require(inside, name, "some outside", f"within [-{LARGEST_WEIGHT:g}, {LARGEST_WEIGHT:g}]")
            rounded = np.rint(part * STEPS_OF_ONE) / STEPS_OF_ONE
            rounded.setflags(write=False)
            object.__setattr__(self, name, rounded)
        object.__setattr__(self, "cells", cells)

    # Nets.

    @classmethod
    def of_marginals(cls, columns: Sequence[str], cells: Sequence[int], *, order: int) -> Self:
        """Every cell of every marginal of `order` of the columns: weight 1 on its cells, bias 1 - order."""
        require(len(cells) == len(columns), "cells", len(cells), "as many as columns, each a number of cells")
        starts = np.concatenate([[0], np.cumsum(cells)]).astype(int)
        rows = []
        for chosen in combinations(range(len(columns)), order):
            for codes in product(*(range(cells[place]) for place in chosen)):
                row = np.zeros(sum(cells))
                row[[starts[place] + code for place, code in zip(chosen, codes, strict=True)]] = 1.0
                rows.append(row)
        return cls(columns, cells=cells, weights=np.array(rows), bias=np.full(len(rows), 1.0 - order))

    @classmethod
    def random(cls, columns: Sequence[str], cells: Sequence[int], *, functions: int, seed: Seed) -> Self:
        """So many `functions` of `columns` with these `cells`, with weights and a bias in [-1, 1] from a public `seed`.

        A claim is about these functions and no others.
        """
        require(functions >= 1, "functions", functions, "a whole number >= 1")
        generator = np.random.Generator(np.random.PCG64(seed))
        weights = generator.uniform(-1.0, 1.0, size=(functions, sum(cells)))
        return cls(columns, cells=cells, weights=weights, bias=generator.uniform(-1.0, 1.0, size=functions))

    # From rows.

    def values(self, codes: Codes) -> Floats:
        """The values of every function (columns) at every row of cell codes (rows)."""
        return np.asarray(self._steps(codes) / STEPS_OF_ONE)

    def sums_over(self, codes: Codes) -> Floats:
        """The sums over rows, given as `codes`, a block at a time; exact for up to 2^33 rows."""
        total = np.zeros(len(self._grid_weights[1]), dtype=np.int64)
        at_once = max(1, BLOCK_VALUES // len(total))
        for start in range(0, len(codes), at_once):
            total += self._steps(codes[start : start + at_once]).sum(axis=0)
        return np.asarray(total / STEPS_OF_ONE)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the sums; with `columns` and a call, every engine can add up this statistic."""
        return (len(self._grid_weights[1]),)

    def __call__(self, batch: Batch) -> Floats:
        """The sums over a batch's rows."""
        codes = np.stack([batch.codes(name) for name in self.columns], axis=1)
        return self.sums_over(codes if batch.present is None else codes[batch.present])

    def _steps(self, codes: Codes) -> Codes:
        tables, bias = self._grid_weights
        linear = np.tile(bias, (len(codes), 1))
        for place, table in enumerate(tables):
            linear += table[codes[:, place]]
        return np.where(linear > 0, STEPS_OF_ONE, 0) if self.step else np.clip(linear, 0, STEPS_OF_ONE)

    @cached_property
    def _grid_weights(self) -> tuple[list[Codes], Codes]:
        """Weights as whole numbers of grid steps, a (cells, functions) table for each column; and the bias."""
        steps = np.rint(np.asarray(self.weights) * STEPS_OF_ONE).astype(np.int64)
        parts = np.split(steps, np.cumsum(self.cells)[:-1], axis=1)
        return [np.ascontiguousarray(part.T) for part in parts], np.rint(
            np.asarray(self.bias) * STEPS_OF_ONE
        ).astype(np.int64)

    # What one record can do.

    def extremes(self) -> tuple[Floats, Floats]:
        """The least and the largest value of every function; each column contributes its own extreme."""
        tables, bias = self._grid_weights
        ends = []
        for pick in (np.min, np.max):
            linear = bias + sum(pick(table, axis=0) for table in tables)
            ends.append(
                (np.where(linear > 0, STEPS_OF_ONE, 0) if self.step else np.clip(linear, 0, STEPS_OF_ONE))
                / STEPS_OF_ONE
            )
        return ends[0], ends[1]

    def l2_sensitivity(self, adjacency: Adjacency | str, unit: PrivacyUnit | None = None) -> float:
        """The L2 sensitivity of all sums: the norm of the largest values, c times for a unit of c rows.

        Where one row is replaced by another (`adjacency`), a sum moves by the difference of two values of its
        function.
        """
        low, high = self.extremes()
        rows = 1 if unit is None else unit.max_rows
        exchanged = Adjacency.of(adjacency) is Adjacency.replace and rows == 1
        reach = high - low if exchanged else high
        return rows * math.sqrt(float(np.sum(reach**2))) * (1.0 + 1e-12)

    # As a group.

    def size(self, shape: Shape) -> int:
        """One per function."""
        self._check(shape)
        return len(self._grid_weights[1])

    def answers(self, counts: Floats) -> Floats:
        """The answers from a joint count, where the columns have few enough cells for one."""
        table = np.asarray(counts, dtype=np.float64)
        return np.asarray(table.reshape(-1) @ self._joint(table.shape))

    def weighted_sum(self, weights: Floats, shape: Shape) -> Floats:
        """The weighted sum of the functions, in every joint cell."""
        return np.asarray(self._joint(shape) @ np.asarray(weights, dtype=np.float64)).reshape(shape)

    def column_norm(self, shape: Shape) -> float:
        """An upper bound: the norm of the functions' largest values."""
        self._check(shape)
        return self.l2_sensitivity(Adjacency.add_remove)

    def describe(self, index: int, shape: Shape) -> str:
        """Which function; its weights were given."""
        return f"function {index} of {self.name}"

    def _joint(self, shape: Shape) -> Floats:
        self._check(shape)
        size = math.prod(shape)
        require(
            size <= MOST_JOINT_CELLS,
            "cells",
            size,
            f"at most {MOST_JOINT_CELLS} for a joint count",
            "ask from rows",
        )
        return self.values(np.indices(shape).reshape(len(shape), -1).T)

    def _check(self, shape: Shape) -> None:
        known = tuple(shape)
        require(known == tuple(self.cells), "cells", tuple(self.cells), f"{known}, as in the schema")
