"""Select, measure, estimate: round by round, the table that the model gets most wrong is measured.

After McKenna, Mullins, Sheldon and Miklau, "AIM: an adaptive and iterative mechanism for differentially private
synthetic data" (2022), with three changes. The estimate is regularised where noise is large (`graphical.estimation`),
so the expected noise of a candidate counts against it only a quarter as much. The model's marginals are exact, by
variable elimination along the tree. Where the budget is large, a last sweep measures all tables of the workload, and
synthetic rows are changed until they agree with them: rows can agree with more tables than a junction tree can hold.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from holdfast._arrays import Floats
from holdfast._progress import progress
from holdfast.data._sensitivity import counts_l1, counts_l2
from holdfast.errors import require
from holdfast.privacy._account import Account
from holdfast.privacy._account.remaining import SAFE_FACTOR, remaining_amount
from holdfast.privacy._mechanisms.gaussian import DiscreteGaussian
from holdfast.privacy._mechanisms.selection import Exponential
from holdfast.synth._exact_counts import ExactCounts
from holdfast.synth._models.graphical.estimation import (
    GraphicalEstimate,
    column_centres,
    estimate_model,
    merge,
)
from holdfast.synth._models.graphical.junction_tree import Columns, JunctionTree, Triangulation, shape_of
from holdfast.synth._models.model import Measurement, Model
from holdfast.synth._rows.fit_rows import ReconciledModel, shrink_to_model
from holdfast.synth._rows.impossible_rows import Zeros
from holdfast.synth._workload import Workload
from holdfast.synth.methods.measure import measure_tables, noisy_rows
from holdfast.synth.methods.method import Synthesis, SynthesisMethod, SynthesisRank

THEOREM = (
    "adaptive composition in zCDP of Gaussian tables and exponential-mechanism selections (McKenna et al. 2022; "
    "bounded range: Cesar and Rogers 2021); the model and its rows are post-processing"
)
#: The most cells of a model, all cliques together; in each round in proportion to the budget spent so far.
MOST_MODEL_CELLS = 100_000
#: How much of a candidate's expected noise is subtracted from its score. A change of the model below this much noise
#: makes the later rounds more precise. AIM: 1.
PENALTY = 0.25
#: The noise is divided by this factor when a table changed the model no more than noise would. AIM: 2.
ANNEALING_FACTOR = math.sqrt(2.0)
#: The share of the budget that counts the rows, where their number is not public.
COUNTING_SHARE = 0.01
#: A sweep is left out where fitting rows to its tables would take more table look-ups than this.
MOST_LOOKUPS = 2e9
#: The share of a round's budget that measures; the rest selects (McKenna et al. 2022 use the same).
MEASURING_SHARE = 0.9
#: A sweep takes at least this share of the budget.
LEAST_SWEEP_SHARE = 0.1
#: A sweep is made only where n is at least so many times its noise.
LEAST_SIGNAL_TO_NOISE = 90.0
#: The largest share of a sweep whose purpose is to show where the model is wrong.
MOST_CHECKING_SHARE = 0.4
#: The largest share of a sweep on whose tables most answers rest.
MOST_SWEEP_SHARE = 0.9
#: Subsets of more columns than this are candidates only where a query group is about exactly these columns.
WIDEST_SUBSET = 3
#: Candidates that are scored in one round; of a longer list, each round scores the next so many.
MOST_CANDIDATES = 600


@dataclass(frozen=True, kw_only=True)
class RoundSchedule:
    """How the budget is divided, from public quantities only.

    The numbers were chosen on Adult (studies/benchmarks/synth_tuning.py) at epsilon 0.1, 1 and 10. They depend on the
    *strength* n sqrt(rho) / sensitivity: n over the noise that the whole budget would leave on a table, up to sqrt(2).
    """

    one_way: float
    """The share for the 1-way tables, of what is left after the sweep."""
    sweep: float
    """The share of the whole budget for measuring all tables of the workload at the end."""
    rounds: int
    """The number of rounds that the first noise level pays for; annealing makes them fewer."""

    def __post_init__(self) -> None:
        require(0 < self.one_way <= 1, "one_way", self.one_way, "in (0, 1]")
        require(0 <= self.sweep < 1, "sweep", self.sweep, "in [0, 1)")
        require(self.rounds >= 1, "rounds", self.rounds, ">= 1")

    @classmethod
    def of(cls, strength: float, *, columns: int, tables: int) -> RoundSchedule:
        """The schedule for so many columns and so many workload tables that a sweep would measure.

        Adult at epsilon 1, where n sqrt(rho) is 5,977, with its 64 tables:

        >>> RoundSchedule.of(5977.0, columns=14, tables=64)
        RoundSchedule(one_way=0.17, sweep=0.4, rounds=48)
        """
        # A sweep over K tables is worth a large share where n is much larger than its noise, n sqrt(rho / K) >> 1: four
        # tenths of the budget at a quotient of 1,100, nine tenths from 6,300 on. Where there are too many tables for
        # the rounds to measure each, a smaller sweep finds those in which the model is far off: a tenth of the budget
        # from a quotient of 90 on, four tenths from 320 on.
        signal_to_noise = strength / math.sqrt(tables) if tables else 0.0
        sweep = 0.65 * math.log10(signal_to_noise / 258.0) if signal_to_noise > 258.0 else 0.0
        if signal_to_noise >= LEAST_SIGNAL_TO_NOISE and tables > columns:
            checking = LEAST_SWEEP_SHARE + 0.6 * math.log10(signal_to_noise / 100.0)
            sweep = max(LEAST_SWEEP_SHARE, min(MOST_CHECKING_SHARE, checking), sweep)
        sweep = 0.0 if sweep < LEAST_SWEEP_SHARE else min(MOST_SWEEP_SHARE, round(sweep, 2))
        left = strength * math.sqrt(1.0 - sweep)
        return cls(
            one_way=round(min(0.5, max(0.1, 11.5 / math.sqrt(max(left, 1.0)))), 2),
            sweep=sweep,
            rounds=max(1, round(columns * min(4.0, max(0.5, math.sqrt(left) / 20.0)))),
        )


def adaptive(
    data: ExactCounts,
    workload: Workload,
    *,
    account: Account,
    schedule: RoundSchedule | None = None,
    most_cells: int = MOST_MODEL_CELLS,
    constraints: Sequence[Zeros] = (),
) -> Synthesis:
    """Measure every column, then in each round the table with the largest error, until the budget is spent.

    Private for rows and for users. A table of counts has L2 sensitivity 1 (sqrt(2) under `replace`), a score
    w_c |x_c - model_c|_1 has max w times 1 (2), all times the rows of a unit (soundness, sections 18 and 20).
    Candidates, sizes and noise levels depend on the domain and on released values only.
    """
    require(most_cells >= 1, "most_cells", most_cells, ">= 1")
    rho = remaining_amount(account)[1]
    rows = data.public_rows
    if rows is None:  # the division of the budget depends on the number of rows: measure it first
        rows = noisy_rows(data, account=account, share=COUNTING_SHARE)
        rho = remaining_amount(account)[1]
    swept = sweep_sets(data, workload, rows)
    if schedule is None:
        strength = rows * math.sqrt(rho) / counts_l2(data.adjacency, data.unit)
        schedule = RoundSchedule.of(strength, columns=len(data.names), tables=len(swept))
    weights = downward_closure(workload, data.domain)
    if not weights:  # no table of two columns to choose: the whole budget measures the columns
        schedule = RoundSchedule(one_way=1.0, sweep=0.0, rounds=1)
    if not swept:
        schedule = replace(schedule, sweep=0.0)
    run = _Run(data=data, account=account, weights=weights, most_cells=most_cells, constraints=constraints)
    run.measure_columns(schedule.one_way * (1.0 - schedule.sweep) * rho)
    reserve = schedule.sweep * rho
    if schedule.one_way < 1:
        run.rounds(schedule.rounds, reserve, column_share=schedule.one_way)
    model: Model = run.fitted.model
    if schedule.sweep:
        run.measurements += measure_tables(data, swept, account=account, label="sweep of the workload")
        model = run.reconciled_model(swept)
    return Synthesis(
        model=model,
        theorem=THEOREM,
        measurements=tuple(run.measurements),
        parameters={
            "one_way_share": schedule.one_way,
            "sweep_share": schedule.sweep,
            "rounds": run.rounds_done,
            "selected": [
                list(measurement.columns)
                for measurement in run.measurements[len(data.names) :][: run.rounds_done]
            ],
            "model_cells": run.fitted.model.tree.cells,
        },
    )


@dataclass(kw_only=True)
class _Run:
    """The state of a run between rounds: the private table and its account; all else is released or declared."""

    data: ExactCounts
    account: Account
    weights: dict[Columns, float]
    most_cells: int
    constraints: Sequence[Zeros]
    measurements: list[Measurement] = field(default_factory=list)
    rounds_done: int = 0
    fitted: GraphicalEstimate = field(init=False)
    total: float = field(init=False)
    centre: dict[Columns, Floats] = field(init=False)

    def measure_columns(self, rho: float) -> None:
        """All 1-way tables at once: L2 sensitivity sqrt(d) times that of one."""
        names = self.data.names
        l2 = counts_l2(self.data.adjacency, self.data.unit, marginals=len(names))
        sigma = l2 / math.sqrt(2.0 * rho * SAFE_FACTOR)
        exact = np.concatenate([table.reshape(-1) for table in self.data.counts([(name,) for name in names])])
        noisy = self.account.release(
            DiscreteGaussian(sigma=sigma, l2_sensitivity=l2, adjacency=self.account.adjacency),
            np.rint(exact).astype(np.int64),
            label="1-way tables",
        )
        parts = np.split(noisy, np.cumsum([self.data.domain[name] for name in names])[:-1])
        self.measurements += [
            Measurement(columns=(name,), values=part, noise_std=sigma)
            for name, part in zip(names, parts, strict=True)
        ]
        rows = self.data.public_rows
        # Each table's sum estimates the number of records with variance cells sigma^2.
        trust = [1.0 / measurement.values.size for measurement in self.measurements]
        counted = float(np.average([measurement.total for measurement in self.measurements], weights=trust))
        self.total = max(1.0, counted if rows is None else float(rows))
        self.centre = column_centres(self.measurements, self.total)
        self._estimate(None)

    def rounds(self, planned: int, reserve: float, *, column_share: float) -> None:
        """Run rounds until only the reserve is left; the last round spends whatever else remains.

        `column_share` is the share of the budget that the columns took: the model may grow with the share spent.
        """
        whole = remaining_amount(self.account)[1] - reserve
        l2 = counts_l2(self.data.adjacency, self.data.unit)
        sigma = l2 * math.sqrt(planned / (2.0 * MEASURING_SHARE * whole))
        epsilon = math.sqrt(8.0 * (1.0 - MEASURING_SHARE) * whole / planned)
        left = whole
        with progress(desc="synthesising", total=100) as bar:
            while True:
                # The account would refuse a charge that does not fit, so what is left is compared first.
                last = left < 2.0 * (l2**2 / (2.0 * sigma**2) + epsilon**2 / 8.0)
                if last:
                    sigma = l2 / math.sqrt(2.0 * MEASURING_SHARE * left * SAFE_FACTOR)
                    epsilon = math.sqrt(8.0 * (1.0 - MEASURING_SHARE) * left * SAFE_FACTOR)
                spent = column_share + (1.0 - column_share) * (1.0 - left / whole)
                learnt = self._round(sigma, epsilon, share=spent)
                left = remaining_amount(self.account)[1] - reserve if not last else 0.0
                bar.update(round(100 * (1.0 - left / whole)) - bar.n)
                if last:
                    return
                if not learnt:  # AIM, annealing: the table told no more than noise, so measure more precisely
                    sigma, epsilon = sigma / ANNEALING_FACTOR, epsilon * ANNEALING_FACTOR

    def _round(self, sigma: float, epsilon: float, *, share: float) -> bool:
        """Select and measure one table; return whether the model changed by more than noise alone would change it."""
        candidates = fitting_candidates(
            self.fitted.model.tree,
            list(self.weights),
            [tuple(measurement.columns) for measurement in self.measurements],
            most_cells=self.most_cells * share,
            round_number=self.rounds_done,
        ) or [min(self.weights, key=lambda columns: math.prod(shape_of(columns, self.data.domain)))]
        columns = candidates[self._select(candidates, sigma, epsilon)]
        l2 = counts_l2(self.data.adjacency, self.data.unit)
        noisy = self.account.release(
            DiscreteGaussian(sigma=sigma, l2_sensitivity=l2, adjacency=self.account.adjacency),
            np.rint(self.data(*columns)).astype(np.int64),
            label=f"round {self.rounds_done + 1}: {' x '.join(columns)}",
        )
        before = self.fitted.model.project(columns)
        self.measurements.append(Measurement(columns=columns, values=noisy, noise_std=sigma))
        self._estimate(self.fitted)
        self.rounds_done += 1
        change = float(np.abs(self.fitted.model.project(columns) - before).sum())
        return change > PENALTY * math.sqrt(2.0 / math.pi) * sigma * before.size

    def _select(self, candidates: Sequence[Columns], sigma: float, epsilon: float) -> int:
        """AIM, equation (1): by weight times the L1 error that measuring is expected to remove."""
        scores = weighted_errors(self.data, candidates, self.weights, self.fitted.model, sigma)
        # A unit moves an L1 distance by at most its L1 sensitivity, and a score by that times the largest weight.
        sensitivity = max(self.weights.values()) * counts_l1(self.data.adjacency, self.data.unit)
        mechanism = Exponential(epsilon=epsilon, sensitivity=sensitivity, adjacency=self.account.adjacency)
        return int(self.account.release(mechanism, scores, label=f"round {self.rounds_done + 1}: selection"))

    def _estimate(self, start: GraphicalEstimate | None) -> None:
        domain = self.data.domain
        self.fitted = estimate_model(
            domain,
            self.measurements,
            total=self.total,
            centre=self.centre,
            start=None if start is None else start.theta,
            zeros=[zeros.potential(domain) for zeros in self.constraints],
        )

    def reconciled_model(self, swept: Sequence[Columns]) -> Model:
        """The graphical model together with the swept tables, to which its rows are then fitted."""
        merged, domain = merge(self.measurements, self.total), self.data.domain
        masks = [(tuple(z.columns), z.possible_cells(shape_of(z.columns, domain))) for z in self.constraints]
        cells = sum(math.prod(shape_of(columns, domain)) for columns in swept)
        tables = {
            columns: shrink_to_model(
                merged[columns], self.fitted.model.project(columns), self.total, cells=cells
            )
            for columns in swept
        }
        return ReconciledModel(base=self.fitted.model, tables=tables, allowed=masks)


def weighted_errors(
    data: ExactCounts,
    candidates: Sequence[Columns],
    weights: Mapping[Columns, float],
    model: Model,
    sigma: float,
) -> Floats:
    """Scores of a selection: the weighted L1 error, less what noise of this deviation would leave. Private."""
    return np.array(
        [
            weights[columns]
            * (
                float(np.abs(exact - model.project(columns)).sum())
                - PENALTY * math.sqrt(2.0 / math.pi) * sigma * exact.size
            )
            for columns, exact in zip(candidates, data.counts(candidates), strict=True)
        ]
    )


def sweep_sets(data: ExactCounts, workload: Workload, rows: int) -> list[Columns]:
    """The workload's own tables, where rows can be fitted to them in reasonable time; else none."""
    sets = list(dict.fromkeys(in_domain_order(group.columns, data.domain) for group in workload.groups))
    wide = [columns for columns in sets if len(columns) > 1]
    lookups = rows * sum(data.domain[name] for columns in wide for name in columns)
    cells = sum(math.prod(shape_of(columns, data.domain)) for columns in wide)
    return wide if lookups <= MOST_LOOKUPS and cells <= 2**24 else []


def in_domain_order(columns: Sequence[str], domain: Mapping[str, int]) -> Columns:
    """The columns in the domain's order, so that one set has one name."""
    return tuple(name for name in domain if name in set(columns))


def downward_closure(workload: Workload, domain: Mapping[str, int]) -> dict[Columns, float]:
    """Every set of at least two columns that some query group contains, with its weight.

    The weight is the square root of the summed weights of the groups that contain the set: a table counts for more
    the more answers it improves, but less than in proportion.

    >>> work = Workload.of([("a", "b", "c"), ("b", "c")])
    >>> {"".join(c): round(w, 3) for c, w in downward_closure(work, {"a": 2, "b": 2, "c": 2}).items()}
    {'ab': 1.0, 'ac': 1.0, 'bc': 1.414, 'abc': 1.0}
    """
    summed: dict[Columns, float] = {}
    for group in workload.groups:
        columns = in_domain_order(group.columns, domain)
        widths = {*range(2, min(WIDEST_SUBSET, len(columns)) + 1), len(columns)} - {0, 1}
        for width in sorted(widths):
            for subset in combinations(columns, width):
                summed[subset] = summed.get(subset, 0.0) + group.weight
    return {subset: math.sqrt(weight) for subset, weight in summed.items()}


def fitting_candidates(
    tree: JunctionTree,
    candidates: Sequence[Columns],
    measured: Sequence[Columns],
    *,
    most_cells: float,
    round_number: int,
) -> list[Columns]:
    """The candidates with which the model would still have at most `most_cells`; those inside a clique always do."""
    if len(candidates) > MOST_CANDIDATES:
        first = (round_number * MOST_CANDIDATES) % len(candidates)
        candidates = [*candidates[first:], *candidates[:first]][:MOST_CANDIDATES]
    cliques = [set(clique) for clique in tree.cliques]
    graph = Triangulation(tree.domain, list(dict.fromkeys(measured)))
    return [
        columns
        for columns in candidates
        if any(clique.issuperset(columns) for clique in cliques) or graph.cells_with(columns) <= most_cells
    ]


METHOD = SynthesisMethod(
    name="adaptive",
    run=adaptive,
    paper="MMSM22",
    zeros=True,
    ranks=(
        SynthesisRank(
            place=1.0, reason="select, measure, estimate: the smallest average error of large tables"
        ),
    ),
    seconds=(3.0, 45.0),
    selects=True,
)
