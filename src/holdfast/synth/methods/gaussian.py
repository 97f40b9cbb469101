"""The Gaussian mechanism on a workload of marginals: table by table, or optimally factorised."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from holdfast.data.sensitivity import counts_l2
from holdfast.errors import ParameterError
from holdfast.privacy.account import Account
from holdfast.privacy.mechanisms.gaussian import Gaussian
from holdfast.synth.exact_counts import ExactCounts
from holdfast.synth.methods.measure import measure_tables, total_of
from holdfast.synth.methods.method import Synthesis, SynthesisMethod, SynthesisRank, SynthesisTask
from holdfast.synth.models.dense import RowsModel
from holdfast.synth.models.graphical.estimation import estimate_model
from holdfast.synth.models.graphical.junction_tree import JunctionTree, sum_onto
from holdfast.synth.models.graphical.model import GraphicalModel
from holdfast.synth.models.model import Measurement, Model
from holdfast.synth.rows.fit_rows import fit_rows
from holdfast.synth.workload import Workload
from holdfast.synth.workload.residual_basis import Columns, Strategy, residual_table, restored_table

Floats = NDArray[np.float64]
MOST_CELLS = 300_000
"""The largest junction tree that a graphical model is fitted on; beyond, rows are."""
SWEEPS = 4
SIGNIFICANT = 2.0
"""Where the noise exceeds the mean count of a cell, rows move only for a gain of so many deviations of what the noise
alone would make of a move (chosen on Adult at epsilon 1: of 0, 1.1, 2.7 and 5.7 the middle two were best)."""
MOST_ROWS = 2**32
"""No table whose number of rows is private may have more."""
PLAIN = "Gaussian mechanism on all tables of the workload at once (soundness, section 20)"
LAPLACE = "Laplace mechanism on all tables of the workload at once (soundness, section 20)"
FACTORISED = (
    "Gaussian mechanism on a factorised workload: residual basis, largest column norm (soundness, section 20)"
)


def gaussian(
    data: ExactCounts,
    workload: Workload,
    *,
    account: Account,
    factorised: bool = True,
    objective: Literal["max", "sum"] = "max",
    sweeps: int = SWEEPS,
    most_cells: int = MOST_CELLS,
) -> Synthesis:
    """Noise on every table that the workload reads, once; then a distribution that agrees with all of them.

    Private for rows and for users. `factorised` measures in the residual basis with the noise that makes the largest
    cell variance ("max"), or their sum ("sum"), least: the tables are then consistent and never noisier than table by
    table. Groups of other queries are answered from the joint table of their columns. A graphical model is fitted
    where its junction tree is small, else rows are, with as many records as the table is said to have.
    """
    tables, weights = wanted_tables(workload)
    pure = account.remaining().as_pure() is not None
    if pure or not factorised:
        measured, parameters, theorem = _plain(data, tables, account, pure)
        lower = partial(summed_tables, measured)
    else:
        residuals = measure_residuals(data, tables, weights=weights, objective=objective, account=account)
        measured = residuals.tables(tables)
        lower = partial(residuals.tables, lower_sets(tables))
        parameters, theorem = {"objective": objective, **residuals.parameters(tables)}, FACTORISED
    total = total_of(data, measured)
    model = fitted_model(
        measured, data, total, lower=lower, sweeps=sweeps, most_cells=most_cells, account=account
    )
    kind = "graphical" if isinstance(model, GraphicalModel) else "rows"
    return Synthesis(
        model=model,
        theorem=theorem,
        measurements=measured,
        parameters={"factorised": factorised and not pure, **parameters, "model": kind},
    )


def _plain(
    data: ExactCounts, tables: list[Columns], account: Account, pure: bool
) -> tuple[tuple[Measurement, ...], dict[str, Any], str]:
    if pure:
        measured = measure_tables(data, tables, account=account, label="tables")
        return measured, {"noise_std": measured[0].noise_std}, LAPLACE
    l2 = counts_l2(data.adjacency, data.unit, marginals=len(tables))
    mechanism = Gaussian.within(account.remaining(), l2_sensitivity=l2, adjacency=account.adjacency)
    exact = [np.rint(table).astype(np.int64) for table in data.counts(tables)]
    noisy = account.release(mechanism, np.concatenate([table.reshape(-1) for table in exact]), label="tables")
    parts = np.split(noisy, np.cumsum([table.size for table in exact])[:-1])
    measured = tuple(
        Measurement(columns=columns, values=part.reshape(table.shape), noise_std=float(mechanism.sigma))
        for columns, table, part in zip(tables, exact, parts, strict=True)
    )
    return measured, {"noise_std": float(mechanism.sigma)}, PLAIN


def lower_sets(tables: Sequence[Columns]) -> list[Columns]:
    """The single columns and pairs inside the tables of three columns and more, but for those that are tables here.

    >>> lower_sets([("a", "b", "c"), ("b", "a"), ("d", "e")])
    [('a',), ('b',), ('c',), ('a', 'c'), ('b', 'c')]
    """
    wide = [one for one in tables if len(one) > 2]
    inside = (subset for one in wide for size in (1, 2) for subset in combinations(one, size))
    known = {frozenset(one) for one in tables}
    return [columns for columns in dict.fromkeys(inside) if frozenset(columns) not in known]


def summed_tables(measured: Sequence[Measurement]) -> tuple[Measurement, ...]:
    """The same tables from ones with independent noise: each summed out of the one that tells it best."""
    made = {}
    for columns in lower_sets([tuple(one.columns) for one in measured]):
        whole = min(
            (one for one in measured if set(columns) <= set(one.columns)),
            key=lambda one: one.noise_std * math.sqrt(one.values.size),
        )
        summed = sum_onto(whole.values, whole.columns, columns)
        made[columns] = Measurement(
            columns=columns,
            values=summed,
            noise_std=whole.noise_std * math.sqrt(whole.values.size / summed.size),
        )
    return tuple(made.values())


@dataclass(frozen=True, kw_only=True, eq=False)
class NoisyResiduals:
    """The residuals of a workload as they were released: independent noise in every coordinate. Public."""

    strategy: Strategy
    factor: float
    """The noise of a coordinate, in units of the strategy's deviation for it."""
    values: Mapping[Columns, Floats]
    """In counts, each in its shape."""
    rows: int | None
    """The number of rows, where it is public and so not among the residuals."""

    def tables(self, wanted: Sequence[Columns]) -> tuple[Measurement, ...]:
        """Marginals, which agree with each other; the noise is correlated between cells."""
        return tuple(
            Measurement(
                columns=columns,
                values=reconstructed(self.strategy, self.values, columns, self.rows),
                noise_std=self._noise_std(columns),
            )
            for columns in wanted
        )

    def parts(self) -> tuple[Measurement, ...]:
        """The residuals themselves, but for the total."""
        deviations = self.strategy.deviations.tolist()
        return tuple(
            Measurement(columns=columns, values=self.values[columns], noise_std=self.factor * deviation)
            for columns, deviation in zip(self.strategy.sets, deviations, strict=True)
            if columns
        )

    def parameters(self, wanted: Sequence[Columns]) -> dict[str, Any]:
        """What a reader is told of the noise."""
        spread = [self._noise_std(columns) for columns in wanted]
        return {
            "residuals": len(self.strategy.sets),
            "noise_std": max(spread),
            "least_noise_std": min(spread),
        }

    def _noise_std(self, columns: Columns) -> float:
        return max(self.factor * math.sqrt(self.strategy.variance(columns)), 1e-9)


def measure_residuals(
    data: ExactCounts,
    tables: Sequence[Columns],
    *,
    weights: Sequence[float] | None = None,
    objective: str = "max",
    account: Account,
) -> NoisyResiduals:
    """Every residual that these tables need, once, for all that is left in the account."""
    rows = data.public_rows
    strategy = Strategy.of(data.domain, tables, weights=weights, objective=objective, total=rows is None)
    values = scaled_residuals(strategy, data)
    l2 = l2_sensitivity(strategy, data, values.size)
    if values.size:
        mechanism = Gaussian.within(account.remaining(), l2_sensitivity=l2, adjacency=account.adjacency)
        noisy, factor = account.release(mechanism, values, label="residuals"), float(mechanism.sigma)
    else:  # one cell in every table: nothing but the public total is asked
        noisy, factor = values, 0.0
    return NoisyResiduals(strategy=strategy, factor=factor, values=_parts(strategy, noisy), rows=rows)


def wanted_tables(workload: Workload) -> tuple[list[Columns], list[float]]:
    """The joint tables that a workload reads, each once, and the largest weight of its groups."""
    weights: dict[Columns, float] = {}
    for group in workload.groups:
        columns = tuple(group.columns)
        weights[columns] = max(group.weight, weights.get(columns, 0.0))
    return list(weights), list(weights.values())


def scaled_residuals(strategy: Strategy, data: ExactCounts) -> Floats:
    """All residuals of a private table, each in units of its own noise: what is released. Private until then."""
    exact = data.counts(strategy.sets)
    if data.public_rows is None and any(table.sum() > MOST_ROWS for table in exact):
        raise ParameterError(
            "n_public must be declared for a table of more than 2**32 rows; nothing was spent"
        )
    parts = [
        residual_table(table).reshape(-1) / s
        for table, s in zip(exact, strategy.deviations.tolist(), strict=True)
    ]
    return np.concatenate(parts) if parts else np.zeros(0)


def l2_sensitivity(strategy: Strategy, data: ExactCounts, dimension: int) -> float:
    """The strategy's, and what rounding in the transform can add: 16 units in the last place of n, per coordinate.

    A private n is not looked at: `MOST_ROWS` stands for it, which at a million coordinates costs 2 % of noise.
    """
    if not strategy.sets:
        return 1.0
    rows = MOST_ROWS if data.public_rows is None else max(1, data.public_rows)
    rounding = 16 * 2.0**-52 * rows * math.sqrt(dimension) / float(strategy.deviations.min())
    return strategy.sensitivity(data.adjacency, data.unit) + rounding


def _parts(strategy: Strategy, noisy: Floats) -> dict[Columns, Floats]:
    """The noisy residuals in counts again, each in its shape."""
    made, first = {}, 0
    for columns, deviation in zip(strategy.sets, strategy.deviations.tolist(), strict=True):
        shape = tuple(strategy.domain[name] - 1 for name in columns)
        size = math.prod(shape)
        made[columns] = noisy[first : first + size].reshape(shape) * deviation
        first += size
    return made


def reconstructed(
    strategy: Strategy, parts: Mapping[Columns, Floats], columns: Sequence[str], rows: int | None
) -> Floats:
    """A marginal: the sum over the subsets of its columns of their residuals, spread evenly over the others."""
    order = tuple(name for name in strategy.domain if name in columns)
    shape = [strategy.domain[name] for name in order]
    made = np.full(shape, 0.0 if rows is None else rows / math.prod(shape))
    held = [c for size in range(len(order) + 1) for c in combinations(order, size) if c in parts]
    # In the order in which they were released: sums keep their last digits, and rows their coins.
    for subset in sorted(held, key=strategy.places.__getitem__):
        spread = math.prod(strategy.domain[name] for name in order if name not in subset)
        made += (
            restored_table(parts[subset]).reshape([strategy.domain[n] if n in subset else 1 for n in order])
            / spread
        )
    return np.ascontiguousarray(np.transpose(made, [order.index(name) for name in columns]))


def fitted_model(
    measured: Sequence[Measurement],
    data: ExactCounts,
    total: float,
    *,
    lower: Callable[[], Sequence[Measurement]],
    sweeps: int,
    most_cells: int,
    account: Account,
) -> Model:
    """A graphical model where the junction tree of all tables is small enough, else rows.

    `lower` sums the measured tables. A model that is held back from the noise of many small cells would lose these
    sums, though they stand well above theirs; rows have no use for them.
    """
    tree = JunctionTree.of(data.domain, [entry.columns for entry in measured])
    if tree.cells <= most_cells:
        return estimate_model(data.domain, [*measured, *lower()], total=total).model
    codes = fit_rows(
        measured,
        data.domain,
        max(1, round(total)),
        account.source,
        sweeps=sweeps,
        least_gain=least_gain(measured, total),
    )
    return RowsModel(domain=data.domain, codes=codes, total=total)


def least_gain(measured: Sequence[Measurement], total: float) -> float:
    """What a move must gain: nothing where the noise is below the mean count of a cell, else more than noise would.

    A move takes a record out of one cell and into another in each of the k tables of a column: with noise alone its
    gain has deviation 2 sqrt(2 k) / sigma. Released and declared values only.
    """
    mean_count = len(measured) * total / sum(entry.values.size for entry in measured)
    noise_std = max(entry.noise_std for entry in measured)
    if noise_std <= mean_count:
        return 0.0
    columns = [name for entry in measured for name in entry.columns]
    tables = len(columns) / max(1, len(set(columns)))
    return SIGNIFICANT * 2.0 * math.sqrt(2.0 * tables) / noise_std


METHOD = SynthesisMethod(
    name="gaussian",
    run=gaussian,
    paper="Xiao et al. 2023",
    pure=True,
    currency="gdp",
    ranks=(
        SynthesisRank(
            place=2.5,
            reason="the whole workload at once, where the account cannot pay for a selection",
            when=SynthesisTask.cannot_select,
        ),
        SynthesisRank(
            place=0.95,
            reason="objective='largest': the whole workload at once, so that no answer rests on a model alone",
            when=SynthesisTask.wants_largest,
        ),
    ),
    seconds=(2.0, 50.0),
)
