"""WorkloadMeasurement: a workload's noisy tables, measured in several steps, and forecasts of the error from them.

`two_looks` measures all tables roughly, fits two models, forecasts the error of each, and measures again.
"""

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
"""A table stands out of the noise if its squared distance from independence, in units of the noise, exceeds its k
degrees of freedom, which is what noise alone makes it on average, by this many times sqrt(k)."""
UNDERSTATED_NOISE = 0.25
"""A fitted tree is smoother than the private table where noise is large, so noise changes a fit to the tree's own
tables by less. The error is multiplied by 1 + this times the noise, in mean counts of a cell and at most one."""
TableOfCounts = Callable[[Columns], Floats]
"""A function that returns the table of counts of a set of columns."""


@dataclass(frozen=True, kw_only=True)
class TreeError:
    """A forecast of the average total variation distance of a tree, after its tables are measured once more."""

    structure: float
    """The part that remains however precisely the tree's tables are measured."""
    noise: float

    @property
    def total(self) -> float:
        """Both parts together, as if they were independent."""
        return math.hypot(self.structure, self.noise)


class WorkloadMeasurement:
    """The private table, and all values released about it so far; each measurement adds to the precision."""

    def __init__(self, data: ExactCounts, workload: Workload, account: Account) -> None:
        self.data, self.domain = data, data.domain
        self.tables, self.weights = wanted_tables(workload)
        self.residuals = measure_residuals(
            data, self.tables, weights=self.weights, account=account, label="first look"
        )
        self.singles = [columns for columns in self.residuals.values if len(columns) == 1]
        self.total = total_of(data, self.noisy_tables())

    def measure(
        self, tables: Sequence[Columns], account: Account, label: str, weights: Sequence[float] | None = None
    ) -> None:
        """Measure these tables, and combine the result with earlier measurements of the same residuals."""
        measured = measure_residuals(self.data, tables, weights=weights, account=account, label=label)
        self.residuals = self.residuals.combined_with(measured)

    def noisy_tables(self) -> tuple[Measurement, ...]:
        """The workload's tables, from all measurements so far."""
        return self.residuals.tables(self.tables)

    def fit_tree(self, held: Sequence[Columns], residuals: NoisyResiduals | None = None) -> Model:
        """A junction tree of the single columns and these tables, from all measurements, or from other residuals."""
        noisy = self.residuals if residuals is None else residuals
        single = noisy.tables(self.singles)
        centre = column_centres(single, self.total)
        measured = [*single, *noisy.tables(held)]
        return estimate_model(self.domain, measured, total=self.total, centre=centre).model

    def reconciled_tables(self, model: Model, share: float) -> dict[Columns, Floats]:
        """The tables that synthetic rows are fitted to: the model's share, and the noisy tables for the rest."""
        return blended_tables(self.noisy_tables(), model, share, self.total)

    def mean_errors(self, models: Sequence[TableOfCounts], account: Account) -> list[float]:
        """The average total variation distance of each model from the private table, with noise.

        A row moves one cell of each table: the L1 distance of a table by at most 1, and so the weighted mean of the
        distances. Under `replace` by at most 2; a unit of several rows by as much as all its rows together.
        """
        exact = self.data.counts(self.tables)
        distances = [
            _mean_distance(zip(exact, map(model, self.tables), strict=True), self.weights) for model in models
        ]
        l2 = counts_l1(self.data.adjacency, self.data.unit) * math.sqrt(len(models)) * ROUNDING
        mechanism = Gaussian.within(account.remaining(), l2_sensitivity=l2, adjacency=account.adjacency)
        noisy = account.release(mechanism, np.array(distances), label="mean errors of two models")
        return [max(0.0, float(distance)) / (2.0 * self.total) for distance in noisy]

    def forecast_tree_error(
        self, error: float, tree: Model, forest: Sequence[Columns], account: Account, coins: Source
    ) -> TreeError:
        """The error that the tree will have once the account is spent on the forest's tables.

        `error` is the tree's error today. How much of it is due to noise is found by simulation: the tree is taken for
        the truth, its tables get noise of the same size, and a tree is fitted to them. The rest is due to structure.
        """
        sets = [*self.singles, *forest]
        strategy = Strategy.of(self.domain, sets, total=self.residuals.rows is None)
        factor = float(residual_noise(strategy, self.data, account).sigma)
        zeros = {columns: np.zeros_like(self.residuals.values[columns]) for columns in strategy.sets}
        planned = NoisyResiduals(strategy=strategy, factor=factor, values=zeros, rows=self.residuals.rows)
        noise_now, noise_later = (
            self._simulated_distance(tree, forest, noisy, coins)
            for noisy in (self.residuals, self.residuals.combined_with(planned))
        )
        relative_noise = [
            measurement.noise_std * measurement.values.size / self.total
            for measurement in self.residuals.tables(forest)
        ]
        noise_now *= 1.0 + UNDERSTATED_NOISE * min(1.0, float(np.mean(relative_noise)))
        return TreeError(structure=math.sqrt(max(0.0, error**2 - noise_now**2)), noise=noise_later)

    def _simulated_distance(
        self, tree: Model, forest: Sequence[Columns], noisy: NoisyResiduals, coins: Source
    ) -> float:
        """The distance from a tree to one that is fitted to the first tree's own tables, with the noise of `noisy`."""
        simulated = {}
        for columns, deviation in zip(noisy.strategy.sets, noisy.strategy.deviations.tolist(), strict=True):
            exact = residual_table(tree.project(columns)) if columns else np.array(self.total)
            noise = normal(coins, size=exact.size).reshape(exact.shape)
            simulated[columns] = exact + noisy.factor * deviation * noise
        refitted = self.fit_tree(forest, replace(noisy, values=simulated))
        pairs = ((tree.project(columns), refitted.project(columns)) for columns in self.tables)
        return _mean_distance(pairs, self.weights) / (2.0 * self.total)

    def with_worst_tables(
        self,
        held: Sequence[Columns],
        choices: Mapping[Columns, float],
        times: int,
        *,
        choosing: Account,
        measuring: Account,
    ) -> list[Columns]:
        """The held tables, and up to `times` more in which their tree has the largest error, if it has room for them.

        Which tables were selected is released, so leaving some out is post-processing.
        """
        candidates = {columns: weight for columns, weight in choices.items() if columns not in held}
        sets = list(held)
        if not candidates:
            return sets
        noise_std = math.sqrt(len(held) + times + 1) * single_table_noise((measuring,), self.data)
        for columns in choose_tables(
            self.data,
            candidates,
            self.fit_tree(held),
            times=times,
            apart=False,
            noise_std=noise_std,
            account=choosing,
        ):
            graph = Triangulation(self.domain, [*((name,) for name in self.domain), *sets])
            if graph.cells_with(columns) <= MOST_FOREST_CELLS:
                sets.append(columns)
        return sets

    def stands_out(self, columns: Columns, independent: Model) -> bool:
        """Whether a noisy table is further from independent columns than noise alone would mostly make it."""
        subsets = [subset for size in range(1, len(columns) + 1) for subset in combinations(columns, size)]
        measured = {tuple(residual.columns): residual for residual in self.residuals.measurements()}
        gaps = [
            (measured[subset].values - residual_table(independent.project(subset)))
            / measured[subset].noise_std
            for subset in subsets
            if subset in measured
        ]
        distance, degrees = sum(float(np.sum(gap**2)) for gap in gaps), sum(gap.size for gap in gaps)
        return distance > degrees + STANDING_OUT * math.sqrt(degrees)


def _mean_distance(pairs: Iterable[tuple[Floats, Floats]], weights: Sequence[float]) -> float:
    """The weighted mean of the L1 distances between the two tables of each pair."""
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
    """Select up to `times` tables in which the model has the largest error, for all that is left in the account.

    Scores are those of `adaptive`: the weighted L1 error, less what noise of this deviation would leave. With `apart`,
    each table joins columns that the tables selected before have not joined: together they are a forest.
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


def single_table_noise(accounts: Sequence[Account], data: ExactCounts) -> float:
    """The noise of one table on which all these accounts are spent; precisions add up."""
    l2 = counts_l2(data.adjacency, data.unit)
    each = [
        Gaussian.within(account.remaining(), l2_sensitivity=l2, adjacency=account.adjacency)
        for account in accounts
    ]
    return 1.0 / math.sqrt(math.fsum(float(mechanism.sigma) ** -2.0 for mechanism in each))
