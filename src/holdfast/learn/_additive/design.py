"""AdditiveDesign: whitened features of all columns and pairs, as tables that rows look up.

z = (1, features / sqrt(variance + floor), ...). The floor grows until the effective dimension, the expected |z|^2 were
columns independent, is what the budget can see. Everything is public or released.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from holdfast._arrays import Floats
from holdfast._kernel.lookup import CellPlan
from holdfast.learn._additive.basis import Axes

FIRST_FLOOR = {"classes": 7.0, "numbers": 4.5}
"""Over mu n: where the floor starts."""
DIMENSION_GROWTH = 1.4
LEAST_DIMENSION = 5.0
SIGNAL_PER_DIMENSION = 15.0
ROWS_PER_DIMENSION = 200.0
STRONG_SIGNAL = 3.0
"""From mu = 1/3 on, rows pay for up to twice as many."""
SHARPENING = 2.0
"""How much more finer axes of a line are put back where the budget's floor leaves hardly anything of the widest: one
that cannot pay for the slopes of all columns has nothing for what is finer."""
UNSEEN_SHARE = 0.01
"""Axes whose variance is below this share of the floor are left out, since they are hidden by noise."""


def budget_limit(signal: float) -> float:
    """The largest effective dimension that the budget alone allows; `signal` is mu n."""
    return max(LEAST_DIMENSION, signal / SIGNAL_PER_DIMENSION)


def dimension_limit(signal: float, rows: float) -> float:
    """The largest effective dimension that the budget and the number of rows allow."""
    per_row = min(2.0, max(1.0, STRONG_SIGNAL * signal / rows)) / ROWS_PER_DIMENSION
    return max(LEAST_DIMENSION, min(budget_limit(signal), rows * per_row))


@dataclass(frozen=True, eq=False)
class AdditiveDesign:
    """Blocks of features with the factor of each: table = features x factor. `ranks`: axes of each."""

    plan: CellPlan
    blocks: tuple[Axes, ...]
    factors: tuple[Floats, ...]
    ranks: tuple[int, ...]

    @cached_property
    def tables(self) -> tuple[Floats, ...]:
        """(cells, k) for each block."""
        return tuple(
            block.features[:, :few] * factor[:few]
            for block, factor, few in zip(self.blocks, self.factors, self.ranks, strict=True)
        )

    @cached_property
    def squares(self) -> Floats:
        """|features|^2 of every cell of every block, in the plan's order."""
        return np.concatenate([np.einsum("ij,ij->i", table, table) for table in self.tables])

    @property
    def dimension(self) -> int:
        """Features, the constant included."""
        return 1 + sum(self.ranks)

    @cached_property
    def effective_dimension(self) -> float:
        """E |z|^2 under independent columns."""
        return 1.0 + sum(
            float(block.variances[:few] @ factor[:few] ** 2)
            for block, factor, few in zip(self.blocks, self.factors, self.ranks, strict=True)
        )

    @cached_property
    def ends(self) -> list[int]:
        """Where each block's weights begin, the constant's being the first."""
        return [1, *(1 + np.cumsum(self.ranks)).tolist()]

    def parts(self, weights: Floats) -> list[Floats]:
        """The weights (K, D) of each block, (K, k)."""
        return [weights[:, a:b] for a, b in zip(self.ends[:-1], self.ends[1:], strict=True)]

    def explained_variance(self, weights: Floats) -> float:
        """The mean square of the scores, were columns independent; a released number where the weights are."""
        blocks = zip(self.blocks, self.factors, self.ranks, self.parts(weights), strict=True)
        spreads = (
            float(np.sum(part**2 @ (block.variances[:few] * factor[:few] ** 2)))
            for block, factor, few, part in blocks
        )
        return float(np.sum(weights[:, 0] ** 2)) + sum(spreads)

    def values(self, weights: Floats) -> list[Floats]:
        """What each cell of each block adds to the scores, (cells, K)."""
        return [table @ part.T for table, part in zip(self.tables, self.parts(weights), strict=True)]

    def lookup(self, weights: Floats) -> Floats:
        """The same as one table with the squared lengths behind, as the kernel reads it."""
        return np.ascontiguousarray(np.column_stack([np.concatenate(self.values(weights)), self.squares]))

    def gather(self, sums: Floats) -> Floats:
        """The gradient (K, D) from what was summed over cells, (cells + 1, K)."""
        columns, start = [sums[-1:].T], 0
        for table in self.tables:
            columns.append((table.T @ sums[start : start + len(table)]).T)
            start += len(table)
        return np.hstack(columns)

    def rounding(self, most: int) -> float:
        """What rounding may add to |gather|, over the clipping norm, for that many rows.

        Sums over cells are exact. Each row has at most C in every block, and the products over a block's cells are
        added up with a relative error of at most (cells + 4) units of roundoff (Higham 2002, section 3.1).
        """
        worst = max(len(table) for table in self.tables) + 4.0
        return worst * 2.0**-53 * (1.0 + len(self.tables)) * most


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

    `shrink` multiplies axes that an earlier phase showed to be mostly noise.
    """
    held = tuple(np.ones(len(block.variances)) for block in blocks) if shrink is None else shrink
    variances = np.concatenate([block.variances for block in blocks])
    weights = np.concatenate(held) ** 2
    poor = _floor(variances, weights, FIRST_FLOOR[target] / signal, budget_limit(signal))
    floor = _floor(variances, weights, poor, dimension_limit(signal, rows))
    sharper = 1.0 + SHARPENING * (1.0 - _widest(variances, poor))
    # However high the floor, the widest axis is as wide as the constant: steps would be too short for all others.
    widest = _widest(variances, floor)
    parts = (
        (block.variances / (block.variances + floor) / widest) ** (sharper if block.line else 1.0)
        for block in blocks
    )
    factors = tuple(
        a * np.sqrt(part / block.variances) for block, a, part in zip(blocks, held, parts, strict=True)
    )
    ranks = tuple(int(np.sum(block.variances > UNSEEN_SHARE * floor)) for block in blocks)
    return AdditiveDesign(plan, blocks, factors, ranks)


def _floor(variances: Floats, weights: Floats, floor: float, limit: float) -> float:
    """From `floor` on, the first that keeps the effective dimension within the limit."""
    while 1.0 + float(np.sum(weights * variances / (variances + floor))) > limit and floor < 1e6:
        floor *= DIMENSION_GROWTH
    return floor


def _widest(variances: Floats, floor: float) -> float:
    """What the floor leaves of the widest axis."""
    return float(np.max(variances / (variances + floor), initial=1e-300))
