"""AdditiveDesign: whitened features of all columns and pairs, as tables that rows look up.

A row's features are z = (1, features / sqrt(variance + floor), ...). The effective dimension is the mean of |z|^2 if
the columns are independent; the floor is raised until that is no more than the budget can estimate. Everything here is
public or released.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from holdfast._arrays import Floats
from holdfast._kernel.lookup import CellPlan
from holdfast.learn._additive.basis import Axes

FIRST_FLOOR = {"classes": 7.0, "numbers": 4.5}
"""The floor starts at this number over mu n."""
FLOOR_GROWTH = 1.4
"""The floor is raised by this factor at a time."""
LEAST_DIMENSION = 5.0
"""An effective dimension that every budget is allowed."""
SIGNAL_PER_DIMENSION = 15.0
ROWS_PER_DIMENSION = 200.0
"""The signal mu n and the rows that each effective dimension needs."""
STRONG_SIGNAL = 3.0
"""Where mu is above 1 / 3 (and up to 2 / 3), rows allow more dimensions in proportion, up to twice as many."""
SHARPENING = 2.0
"""How much a small budget favours slopes: one that cannot estimate the slopes of all columns has nothing to spend on
finer axes of a line. Their factors are raised to a power of up to 1 + this number."""
LEAST_VARIANCE_SHARE = 0.01
"""Axes whose variance is below this share of the floor are left out, since noise hides them."""


def budget_dimension(signal: float) -> float:
    """The largest effective dimension that the budget allows by itself; `signal` is mu n."""
    return max(LEAST_DIMENSION, signal / SIGNAL_PER_DIMENSION)


def dimension_limit(signal: float, rows: float) -> float:
    """The largest effective dimension that the budget and the number of rows allow; `signal` is mu n."""
    per_row = min(2.0, max(1.0, STRONG_SIGNAL * signal / rows)) / ROWS_PER_DIMENSION
    return max(LEAST_DIMENSION, min(budget_dimension(signal), rows * per_row))


@dataclass(frozen=True, eq=False)
class AdditiveDesign:
    """Blocks of axes, one for each column and pair, with the `factors` by which their features are multiplied.

    `ranks` says how many axes of each block are used, the widest ones.
    """

    plan: CellPlan
    blocks: tuple[Axes, ...]
    factors: tuple[Floats, ...]
    ranks: tuple[int, ...]

    @cached_property
    def tables(self) -> tuple[Floats, ...]:
        """The features of the cells of each block, (cells, k)."""
        return tuple(
            block.features[:, :rank] * factor[:rank]
            for block, factor, rank in zip(self.blocks, self.factors, self.ranks, strict=True)
        )

    @cached_property
    def squares(self) -> Floats:
        """The squared norm of the features of every cell of every block, in the plan's order."""
        return np.concatenate([np.einsum("ij,ij->i", table, table) for table in self.tables])

    @property
    def dimension(self) -> int:
        """The number of features, the constant included."""
        return 1 + sum(self.ranks)

    @cached_property
    def effective_dimension(self) -> float:
        """The mean of |z|^2 under the released shares, if the columns are independent."""
        return 1.0 + sum(
            float(block.variances[:rank] @ factor[:rank] ** 2)
            for block, factor, rank in zip(self.blocks, self.factors, self.ranks, strict=True)
        )

    @cached_property
    def ends(self) -> list[int]:
        """Where each block's weights begin, after that of the constant, and last where they end."""
        return [1, *(1 + np.cumsum(self.ranks)).tolist()]

    def parts(self, weights: Floats) -> list[Floats]:
        """All weights (K, D) cut into those of each block, (K, k)."""
        return [weights[:, start:end] for start, end in zip(self.ends[:-1], self.ends[1:], strict=True)]

    def explained_variance(self, weights: Floats) -> float:
        """The mean square of the scores under the released shares, if the columns are independent."""
        blocks = zip(self.blocks, self.factors, self.ranks, self.parts(weights), strict=True)
        block_variances = (
            float(np.sum(part**2 @ (block.variances[:rank] * factor[:rank] ** 2)))
            for block, factor, rank, part in blocks
        )
        return float(np.sum(weights[:, 0] ** 2)) + sum(block_variances)

    def values(self, weights: Floats) -> list[Floats]:
        """What each cell of each block adds to the scores, (cells, K)."""
        return [table @ part.T for table, part in zip(self.tables, self.parts(weights), strict=True)]

    def lookup(self, weights: Floats) -> Floats:
        """The values of all blocks as one table, with the features' squared norms behind, as the kernel reads it."""
        return np.ascontiguousarray(np.column_stack([np.concatenate(self.values(weights)), self.squares]))

    def gather(self, sums: Floats) -> Floats:
        """The gradient (K, D) by the weights, from the gradient (cells + 1, K) by the cells' values."""
        columns, start = [sums[-1:].T], 0
        for table in self.tables:
            columns.append((table.T @ sums[start : start + len(table)]).T)
            start += len(table)
        return np.hstack(columns)

    def rounding(self, most: int) -> float:
        """How far rounding may move the norm of `gather`, over the clipping norm, with at most `most` rows.

        Sums over rows are exact. Each row adds at most the clipping norm in every block, and the products over the
        cells of a block are added up with a relative error of at most (cells + 4) units of roundoff (Higham 2002,
        section 3.1).
        """
        roundoff_units = max(len(table) for table in self.tables) + 4.0
        return roundoff_units * 2.0**-53 * (1.0 + len(self.tables)) * most


def whitened_design(
    plan: CellPlan,
    blocks: tuple[Axes, ...],
    *,
    signal: float,
    rows: float,
    target: str = "classes",
    shrink: tuple[Floats, ...] | None = None,
) -> AdditiveDesign:
    """The design whose floor keeps the effective dimension within what mu n = `signal` and n = `rows` allow.

    `shrink` has a factor for each axis of each block: small for axes that an earlier phase showed to be mostly noise.
    """
    shrinkage = tuple(np.ones(len(block.variances)) for block in blocks) if shrink is None else shrink
    variances = np.concatenate([block.variances for block in blocks])
    weights = np.concatenate(shrinkage) ** 2
    budget_floor = _floor(variances, weights, FIRST_FLOOR[target] / signal, budget_dimension(signal))
    floor = _floor(variances, weights, budget_floor, dimension_limit(signal, rows))
    line_power = 1.0 + SHARPENING * (1.0 - _widest_share(variances, budget_floor))
    # The widest axis is made as wide as the constant, however high the floor: otherwise all steps would be too short.
    widest = _widest_share(variances, floor)
    whitened_variances = (
        (block.variances / (block.variances + floor) / widest) ** (line_power if block.line else 1.0)
        for block in blocks
    )
    factors = tuple(
        factor * np.sqrt(whitened / block.variances)
        for block, factor, whitened in zip(blocks, shrinkage, whitened_variances, strict=True)
    )
    ranks = tuple(int(np.sum(block.variances > LEAST_VARIANCE_SHARE * floor)) for block in blocks)
    return AdditiveDesign(plan, blocks, factors, ranks)


def _floor(variances: Floats, weights: Floats, floor: float, limit: float) -> float:
    """The floor, raised from `floor` on until the effective dimension is within the limit."""
    while 1.0 + float(np.sum(weights * variances / (variances + floor))) > limit and floor < 1e6:
        floor *= FLOOR_GROWTH
    return floor


def _widest_share(variances: Floats, floor: float) -> float:
    """The variance that the widest axis has once the floor is added to what it is divided by; at most 1."""
    return float(np.max(variances / (variances + floor), initial=1e-300))
