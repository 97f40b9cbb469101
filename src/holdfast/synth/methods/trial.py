"""Looks: what is known of a table between two looks at it, and what that foretells. `two_looks` is made of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from holdfast._arrays import Floats
from holdfast.data._sensitivity import counts_l1, counts_l2
from holdfast.noise._idealised import normal
from holdfast.noise._source import Source
from holdfast.privacy._account import Account
from holdfast.privacy._account.remaining import selection_epsilon
from holdfast.privacy._mechanisms.gaussian import Gaussian
from holdfast.privacy._mechanisms.selection import Exponential
from holdfast.synth._exact_counts import ExactCounts
from holdfast.synth._models.graphical.estimation import column_centres, estimate_model
from holdfast.synth._models.graphical.growing import MOST_FOREST_CELLS, Forest
from holdfast.synth._models.graphical.junction_tree import Columns, Triangulation
from holdfast.synth._models.model import Measurement, Model
from holdfast.synth._workload import Workload
from holdfast.synth._workload.residual_basis import Strategy, residual_table
from holdfast.synth.methods.adaptive import weighted_errors
from holdfast.synth.methods.measure import ROUNDING, total_of
from holdfast.synth.methods.query_gan import blended_tables
from holdfast.synth.methods.residuals import NoisyResiduals, measure_residuals, residual_noise, wanted_tables

STANDING_OUT = 1.0
"""In roots of a table's degrees of freedom: the squared distance from independence, in units of the noise and beyond
what noise alone makes it on average, from which on a tried table is kept."""
WEAKER = 0.25
"""How much more noise makes of the true table than of one that the tree describes, for each mean count of noise in a
cell, up to one: where noise is large a tree is held back, and its columns depend less on each other than the true."""
Answers = Callable[[Columns], Floats]
"""A table of counts for a set of columns."""


@dataclass(frozen=True, kw_only=True)
class TreeError:
    """The average total variation of a tree that is measured once more."""

    structure: float
    """What no measurement of its tables mends."""
    noise: float

    @property
    def together(self) -> float:
        """As if they were independent."""
        return math.hypot(self.structure, self.noise)


class Looks:
    """What was seen so far of one table: released values, beside the table itself."""

    def __init__(self, data: ExactCounts, workload: Workload, account: Account) -> None:
        self.data, self.domain = data, data.domain
        self.tables, self.weights = wanted_tables(workload)
        self.residuals = measure_residuals(
            data, self.tables, weights=self.weights, account=account, label="first look"
        )
        self.singles = [columns for columns in self.residuals.values if len(columns) == 1]
        self.total = total_of(data, self.known_tables())

    def look(
        self, tables: Sequence[Columns], account: Account, label: str, weights: Sequence[float] | None = None
    ) -> None:
        """Measure these, too; what was known of them before counts as well."""
        seen = measure_residuals(self.data, tables, weights=weights, account=account, label=label)
        self.residuals = self.residuals.with_residuals(seen)

    def known_tables(self) -> tuple[Measurement, ...]:
        """The workload's tables, as they are known by now."""
        return self.residuals.tables(self.tables)

    def tree(self, held: Sequence[Columns], residuals: NoisyResiduals | None = None) -> Model:
        """A junction tree of the single columns and these tables, from what is known, or from other residuals."""
        known = self.residuals if residuals is None else residuals
        single = known.tables(self.singles)
        centre = column_centres(single, self.total)
        measured = [*single, *known.tables(held)]
        return estimate_model(self.domain, measured, total=self.total, centre=centre).model

    def reconciled_tables(self, model: Model, share: float) -> dict[Columns, Floats]:
        """The tables that rows are fitted to, from what is known by now."""
        return blended_tables(self.known_tables(), model, share, self.total)

    def mean_errors(self, models: Sequence[Answers], account: Account) -> list[float]:
        """The average total variation of each model from the table, with noise.

        A row moves one cell of each table: the L1 distance of a table by at most 1, and so their weighted mean. Under
        `replace` it is 2, and a unit of several rows moves it by as much as each of them.
        """
        exact = self.data.counts(self.tables)
        far = [
            _mean_distance(zip(exact, map(model, self.tables), strict=True), self.weights) for model in models
        ]
        reach = counts_l1(self.data.adjacency, self.data.unit) * math.sqrt(len(models)) * ROUNDING
        mechanism = Gaussian.within(account.remaining(), l2_sensitivity=reach, adjacency=account.adjacency)
        noisy = account.release(mechanism, np.array(far), label="mean errors of two models")
        return [max(0.0, float(distance)) / (2.0 * self.total) for distance in noisy]

    def foretold(
        self, error: float, tree: Model, forest: Sequence[Columns], account: Account, coins: Source
    ) -> TreeError:
        """The tree's error at the end, if the account is spent on the forest: of its structure and of its noise.

        The noise's part, now and then, is what it makes of a table that the tree describes: a table of its own.
        """
        sets = [*self.singles, *forest]
        strategy = Strategy.of(self.domain, sets, total=self.residuals.rows is None)
        factor = float(residual_noise(strategy, self.data, account).sigma)
        blank = {columns: np.zeros_like(self.residuals.values[columns]) for columns in strategy.sets}
        to_come = NoisyResiduals(strategy=strategy, factor=factor, values=blank, rows=self.residuals.rows)
        now, then = (
            self._distance_by_noise(tree, forest, known, coins)
            for known in (self.residuals, self.residuals.with_residuals(to_come))
        )
        noise = [
            measurement.noise_std * measurement.values.size / self.total
            for measurement in self.residuals.tables(forest)
        ]
        now *= 1.0 + WEAKER * min(1.0, float(np.mean(noise)))
        return TreeError(structure=math.sqrt(max(0.0, error**2 - now**2)), noise=then)

    def _distance_by_noise(
        self, tree: Model, forest: Sequence[Columns], known: NoisyResiduals, coins: Source
    ) -> float:
        """How far from the tree another is that is fitted to the tree's own tables with this noise."""
        drawn = {}
        for columns, deviation in zip(known.strategy.sets, known.strategy.deviations.tolist(), strict=True):
            exact = residual_table(tree.project(columns)) if columns else np.array(self.total)
            noise = normal(coins, size=exact.size).reshape(exact.shape)
            drawn[columns] = exact + known.factor * deviation * noise
        again = self.tree(forest, replace(known, values=drawn))
        pairs = ((tree.project(columns), again.project(columns)) for columns in self.tables)
        return _mean_distance(pairs, self.weights) / (2.0 * self.total)

    def with_more(
        self,
        held: Sequence[Columns],
        choices: Mapping[Columns, float],
        times: int,
        *,
        choosing: Account,
        measuring: Account,
    ) -> list[Columns]:
        """These tables, and so many more: those in which their tree is most wrong, where it has room for them.

        Which ones were selected is released, so that leaving some out is post-processing.
        """
        left = {columns: weight for columns, weight in choices.items() if columns not in held}
        sets = list(held)
        if not left:
            return sets
        noise_std = math.sqrt(len(held) + times + 1) * noise_of_one((measuring,), self.data)
        for columns in choose_tables(
            self.data, left, self.tree(held), times=times, apart=False, noise_std=noise_std, account=choosing
        ):
            graph = Triangulation(self.domain, [*((name,) for name in self.domain), *sets])
            if graph.cells_with(columns) <= MOST_FOREST_CELLS:
                sets.append(columns)
        return sets

    def stands_out(self, columns: Columns, independent: Model) -> bool:
        """Whether a table is further from independent columns than noise alone mostly makes it."""
        inner = [
            columns_of for size in range(1, len(columns) + 1) for columns_of in combinations(columns, size)
        ]
        parts = {tuple(part.columns): part for part in self.residuals.parts()}
        gaps = [
            (parts[subset].values - residual_table(independent.project(subset))) / parts[subset].noise_std
            for subset in inner
            if subset in parts
        ]
        distance, degrees = sum(float(np.sum(gap**2)) for gap in gaps), sum(gap.size for gap in gaps)
        return distance > degrees + STANDING_OUT * math.sqrt(degrees)


def _mean_distance(pairs: Iterable[tuple[Floats, Floats]], weights: Sequence[float]) -> float:
    """Of tables in the L1 norm, each by its weight."""
    return float(np.average([np.abs(table - other).sum() for table, other in pairs], weights=weights))


def choose_tables(
    data: ExactCounts,
    choices: Mapping[Columns, float],
    model: Model,
    *,
    times: int,
    apart: bool,
    noise_std: float,
    account: Account,
) -> list[Columns]:
    """By turns the table in which the model is most wrong, for all that is left in the account.

    A score is that of `adaptive`: the weighted L1 error, less what noise of this deviation would leave. Where tables
    are to be `apart`, each joins columns that the others have not joined yet: a forest.
    """
    listed = list(choices)
    scores = weighted_errors(data, listed, choices, model, noise_std)
    mechanism = Exponential(
        epsilon=selection_epsilon(account, times),
        sensitivity=max(choices.values()) * counts_l1(data.adjacency, data.unit) * ROUNDING,
        adjacency=account.adjacency,
    )
    permit = account.permit(mechanism, times=times, label="tables to look at")
    joined, chosen = Forest(data.domain), []
    for _ in range(times):
        left = [
            place
            for place, columns in enumerate(listed)
            if columns not in chosen and (not apart or joined.is_apart(columns))
        ]
        if not left:
            break
        chosen.append(listed[left[permit.release(scores[left])]])
        joined.join(chosen[-1])
    return chosen


def noise_of_one(accounts: Sequence[Account], data: ExactCounts) -> float:
    """The noise of one table on which all of these are spent: precisions add up."""
    l2 = counts_l2(data.adjacency, data.unit)
    each = [
        Gaussian.within(account.remaining(), l2_sensitivity=l2, adjacency=account.adjacency)
        for account in accounts
    ]
    return 1.0 / math.sqrt(math.fsum(float(mechanism.sigma) ** -2.0 for mechanism in each))
