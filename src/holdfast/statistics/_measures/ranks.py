"""What quantiles are found from: choices on a public grid, or a tree of counts.

Both start from the numbers of rows at each place of a grid, by groups. `RankChoices` chooses the place of each quantile
by an exponential mechanism: nothing is smaller for a few of them, but it gives no interval. `GridTree` counts on
several levels, and everything follows from its noisy counts: any number of quantiles, with an interval for each.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Codes, Floats
from holdfast.data._conditions import Condition
from holdfast.data._group_sums import Amount, GroupSums, Key, Weighing
from holdfast.data._schema import Numeric
from holdfast.data._table import Table
from holdfast.errors import require
from holdfast.privacy._adjacency import Adjacency
from holdfast.privacy._mechanisms.several_choices import SeveralChoices
from holdfast.statistics._measures.bounding import choice_epsilon
from holdfast.statistics._measures.measure import Measure, Purse
from holdfast.statistics._measures.moments import USER_BITS
from holdfast.statistics._noise_law import NoiseLaw
from holdfast.statistics._shares import CountNoise, Currency, Share, root_of
from holdfast.statistics._table_facts import TableFacts

STEPS = 1000
"""How many steps the grid of a number has that is not whole, or has more values."""
MOST_STEPS = 4096
MOST_CELLS = 2**24
_BRANCHINGS = (2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32, 64)


@dataclass(frozen=True, kw_only=True)
class GridCounts:
    """The rows by groups and places on the grid of a column; units of several rows are weighed down to `bound` rows.

    A unit moves the counts by at most one row (or `bound` rows) in L1, under `replace` by twice that.
    """

    keys: tuple[Key, ...] = ()
    column: str
    where: Condition | None = None
    bound: int | None = None
    steps: int | None = None

    def amount(self, facts: TableFacts) -> Amount:
        """The grid: each whole number where they are few, else a thousand steps."""
        column = facts.schema[self.column]
        assert isinstance(column, Numeric)
        width = column.high - column.low
        few = column.integer and width <= MOST_STEPS
        return Amount(self.column, self.steps or (int(width) if few else STEPS))

    def values(self, facts: TableFacts) -> Floats:
        """The numbers of the grid."""
        column, steps = facts.schema[self.column], self.amount(facts).steps
        assert isinstance(column, Numeric)
        places = np.arange(steps + 1)
        if column.integer and steps == column.high - column.low:
            return column.low + places.astype(np.float64)  # whole numbers, which thirds and tenths would miss
        return column.low + (column.high - column.low) * (places / steps)

    def groups(self, facts: TableFacts) -> int:
        """How many groups there are."""
        return math.prod(key.cells(facts.schema) for key in self.keys)

    def most(self, facts: TableFacts) -> int:
        """What one unit counts at most, in units of `unit`."""
        return (self.bound or 1) * self.unit(facts)

    def unit(self, facts: TableFacts) -> int:
        """One row."""
        return 1 << USER_BITS if facts.users else 1

    def counts(self, table: Table, facts: TableFacts) -> NDArray[Any]:
        """Groups by places; private."""
        weighing = Weighing(norm=1, limit=self.bound or 1, bits=USER_BITS) if facts.users else None
        keys = (*self.keys, self.amount(facts))
        # Rows without a number are at no place.
        sums = GroupSums(
            keys=keys, forms=((0, 1, 0, 0),), amount=self.amount(facts), where=self.where, weighing=weighing
        )
        return table.aggregate(sums).reshape(self.groups(facts), -1)

    def check(self, facts: TableFacts) -> None:
        """A declared number, and not too many cells."""
        column = facts.schema[self.column]
        require(isinstance(column, Numeric), "column", self.column, "a number of the schema")
        if self.where is not None:
            self.where.check(facts.schema)
        require(
            self.steps is None or 1 <= self.steps <= MOST_STEPS, "steps", self.steps, f"1 to {MOST_STEPS}"
        )
        cells = self.groups(facts) * (self.amount(facts).steps + 1)
        require(cells <= MOST_CELLS, "cells", cells, f"<= {MOST_CELLS}", "use fewer groups or steps")

    def label(self, what: str) -> str:
        """Column, groups, rows."""
        by = "".join(f" by {name}" for key in self.keys for name in key.columns)
        return f"{what} of {self.column}{by}{'' if self.where is None else f' where {self.where.describe()}'}"


@dataclass(frozen=True, kw_only=True)
class RankChoices(Measure):
    """The place of each of some quantiles, each chosen by the exponential mechanism in every group.

    The score of place t for the quantile a/b is -max(0, b #{x < t} - a n, a n - b #{x <= t}), a whole number. Under
    `add_remove` and `zero_out` a row moves it by at most max(a, b - a), under `replace` by twice that; over all groups
    together by as much, as a unit's rows are weighed down in all. For a = 0 and a = b it is monotone (soundness, 25).
    """

    grid: GridCounts
    quantiles: tuple[Fraction, ...]

    @property
    def label(self) -> str:
        """Quantiles of a column."""
        return self.grid.label(f"quantiles {', '.join(f'{float(alpha):g}' for alpha in self.quantiles)}")

    def currencies(self) -> tuple[Currency, ...]:
        """Choices are not counted in mu."""
        return ("pure", "zcdp")

    def check(self, facts: TableFacts) -> None:
        """As the grid."""
        self.grid.check(facts)

    def sensitivity(self, alpha: Fraction, facts: TableFacts) -> int:
        """How far one unit moves the scores of a quantile, all groups together."""
        factor = 2 if facts.adjacency is Adjacency.replace else 1
        return factor * max(alpha.numerator, alpha.denominator - alpha.numerator) * self.grid.most(facts)

    def deviation(self, share: Share, facts: TableFacts) -> float:
        """How many rows a chosen rank is off, about."""
        epsilon = float(choice_epsilon(share.parts([1.0] * len(self.quantiles))[0]))
        alpha = self.quantiles[0]
        rows = self.sensitivity(alpha, facts) / alpha.denominator / self.grid.unit(facts)
        return 2.0 * rows / epsilon

    def expected(self, share: Share, facts: TableFacts) -> dict[Fraction, Codes]:
        """Place 0 everywhere."""
        return {alpha: np.zeros(self.grid.groups(facts), dtype=np.int64) for alpha in self.quantiles}

    def measure(self, table: Table, purse: Purse, facts: TableFacts) -> dict[Fraction, Codes]:
        """One query, and a release for each quantile."""
        counts = self.grid.counts(table, facts).astype(object)
        places = {}
        for alpha, part in zip(self.quantiles, purse.parts(*[1.0] * len(self.quantiles)), strict=True):
            end = alpha in (0, 1) and facts.adjacency is not Adjacency.replace
            mechanism = SeveralChoices(
                epsilon=choice_epsilon(part.share),
                sensitivity=self.sensitivity(alpha, facts),
                groups=self.grid.groups(facts),
                monotone=end,
                adjacency=facts.adjacency,
            )
            places[alpha] = part.release(
                mechanism, rank_scores(counts, alpha).ravel(), step=f"{float(alpha):g}"
            )
        return places


def rank_scores(counts: NDArray[Any], alpha: Fraction) -> NDArray[Any]:
    """The scores of all places, from whole counts by groups and places.

    >>> rank_scores(np.array([[1, 0, 3]]), Fraction(1, 2)).tolist()
    [[-2, -2, 0]]
    """
    a, b = alpha.numerator, alpha.denominator
    upto = np.cumsum(counts, axis=1)
    below, total = upto - counts, upto[:, -1:]
    return np.asarray(np.minimum(0, np.minimum(a * total - b * below, b * upto - a * total)))


@dataclass(frozen=True, kw_only=True, eq=False)
class NoisyTree:
    """Noisy counts of each group on the levels of a tree, coarsest first, in rows; and the law of their noise."""

    levels: tuple[Floats, ...]
    """Groups by nodes."""
    branching: int
    places: int
    law: NoiseLaw
    unit: float

    def ranks(self, alpha: float) -> Floats:
        """#{x <= t} - alpha n for each group and place t, from noisy counts."""
        upto = np.zeros((len(self.levels[0]), self.places))
        place = np.arange(self.places)
        for depth, level in enumerate(self.levels):
            size = self.branching ** (len(self.levels) - 1 - depth)
            before = np.concatenate([np.zeros((len(level), 1)), np.cumsum(level, axis=1)], axis=1)
            node = place // size
            last = depth == len(self.levels) - 1
            first = node if depth == 0 else node - node % self.branching
            start = before[:, first] if depth else 0.0
            upto += before[:, node + 1 if last else node] - start
        return np.asarray((upto - alpha * self.levels[0].sum(axis=1, keepdims=True)) / self.unit)

    def band(self, alpha: float, failure: float) -> float:
        """How far the rank of one place can be off, except with this probability.

        The place of the table's own quantile is one place, wherever it is: only what noise does there can leave it out.
        """
        top = self.levels[0].shape[1]
        weights = [max(alpha, 1.0 - alpha)] * top + [1.0] * (
            (self.branching - 1) * (len(self.levels) - 1) + 1
        )
        return self.law.many_reach(np.array(weights), failure) / self.unit

    @property
    def count(self) -> Floats:
        """The noisy number of rows in each group."""
        return np.asarray(self.levels[0].sum(axis=1) / self.unit)

    def count_reach(self, failure: float) -> float:
        """How far that can be off."""
        return self.law.many_reach(np.ones(self.levels[0].shape[1]), failure) / self.unit


@dataclass(frozen=True, kw_only=True)
class GridTree(Measure):
    """Counts of the rows in each node of a tree over the grid, level by level, without a root.

    A row counts once on each of the levels, so their L1 sensitivity is that of a count times their number, the L2
    sensitivity times its root.
    """

    grid: GridCounts

    @property
    def label(self) -> str:
        """Counts on a tree."""
        return self.grid.label("a tree of counts")

    def check(self, facts: TableFacts) -> None:
        """As the grid."""
        self.grid.check(facts)

    def mechanism(self, share: Share, facts: TableFacts) -> tuple[CountNoise, int, int]:
        """The noise, the branching and the number of levels with the smallest noise in a rank."""
        places = self.grid.amount(facts).steps + 1
        options = []
        for branching in _BRANCHINGS:
            depth = max(1, math.ceil(math.log(places) / math.log(branching) - 1e-9))
            noise = share.least_noise(*self.sensitivity(depth, facts), facts.adjacency)
            nodes = (branching - 1) * depth
            options.append((math.sqrt(nodes * NoiseLaw.of(noise).variance), branching, depth, noise))
        _, branching, depth, noise = min(options, key=lambda option: option[:3])
        return noise, branching, depth

    def sensitivity(self, depth: int, facts: TableFacts) -> tuple[int, Fraction]:
        """In L1 and in L2, rounded up. A unit of several rows may have all of its weight in one node of each level."""
        most = self.grid.most(facts)
        if facts.adjacency is not Adjacency.replace:
            return depth * most, root_of(depth * most * most)
        return 2 * depth * most, root_of(2 * depth * most * most)

    def deviation(self, share: Share, facts: TableFacts) -> float:
        """Of a rank."""
        noise, branching, depth = self.mechanism(share, facts)
        return math.sqrt((branching - 1) * depth * NoiseLaw.of(noise).variance) / self.grid.unit(facts)

    def levels(
        self, share: Share, facts: TableFacts, counts: NDArray[Any]
    ) -> tuple[CountNoise, int, list[NDArray[Any]]]:
        """The noise, the branching, and the counts of each level, coarsest first."""
        noise, branching, depth = self.mechanism(share, facts)
        levels = [counts]
        for _ in range(depth - 1):
            fine = levels[0]
            padded = -fine.shape[1] % branching
            fine = np.concatenate([fine, np.zeros((len(fine), padded), dtype=fine.dtype)], axis=1)
            levels.insert(0, fine.reshape(len(fine), -1, branching).sum(axis=2))
        return noise, branching, levels

    def _noisy(
        self, noise: CountNoise, branching: int, levels: list[NDArray[Any]], facts: TableFacts
    ) -> NoisyTree:
        return NoisyTree(
            levels=tuple(np.asarray(level, dtype=np.float64) for level in levels),
            branching=branching,
            places=levels[-1].shape[1],
            law=NoiseLaw.of(noise),
            unit=float(self.grid.unit(facts)),
        )

    def expected(self, share: Share, facts: TableFacts) -> NoisyTree:
        """With counts of 0."""
        places = self.grid.amount(facts).steps + 1
        noise, branching, levels = self.levels(share, facts, np.zeros((self.grid.groups(facts), places)))
        return self._noisy(noise, branching, levels, facts)

    def typical(self, share: Share, facts: TableFacts, rows: float) -> NoisyTree:
        """With rows spread evenly over the grid."""
        places, groups = self.grid.amount(facts).steps + 1, self.grid.groups(facts)
        each = rows / groups / places * self.grid.unit(facts)
        noise, branching, levels = self.levels(share, facts, np.full((groups, places), each))
        return self._noisy(noise, branching, levels, facts)

    def measure(self, table: Table, purse: Purse, facts: TableFacts) -> NoisyTree:
        """One query, one release."""
        noise, branching, levels = self.levels(purse.share, facts, self.grid.counts(table, facts))
        noisy = purse.release(noise, np.concatenate([level.ravel() for level in levels]))
        ends = np.cumsum([0, *(level.size for level in levels)])
        drawn = [
            np.asarray(noisy[first:last]).reshape(level.shape)
            for first, last, level in zip(ends, ends[1:], levels, strict=False)
        ]
        return self._noisy(noise, branching, drawn, facts)


@lru_cache(maxsize=256)
def rational(alpha: float) -> Fraction:
    """A quantile as a fraction of whole numbers.

    >>> rational(0.25), rational(1 / 3)
    (Fraction(1, 4), Fraction(1, 3))
    """
    return Fraction(alpha).limit_denominator(100_000)
