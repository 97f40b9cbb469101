"""The Gaussian mechanism on a workload of marginals: noise on each table, or on an optimal factorisation of all."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations
from typing import Any, Literal

import numpy as np

from holdfast.data._sensitivity import counts_l2
from holdfast.privacy._account import Account
from holdfast.privacy._mechanisms.gaussian import Gaussian
from holdfast.synth._exact_counts import ExactCounts
from holdfast.synth._models.dense import RowsModel
from holdfast.synth._models.graphical.estimation import estimate_model
from holdfast.synth._models.graphical.junction_tree import JunctionTree, sum_onto
from holdfast.synth._models.graphical.model import GraphicalModel
from holdfast.synth._models.model import Measurement, Model
from holdfast.synth._rows.fit_rows import fit_rows
from holdfast.synth._workload import Workload
from holdfast.synth._workload.residual_basis import Columns
from holdfast.synth.methods.measure import measure_tables, total_of
from holdfast.synth.methods.method import Synthesis, SynthesisMethod, SynthesisRank, SynthesisTask
from holdfast.synth.methods.residuals import FACTORISED, measure_residuals, wanted_tables

MOST_TREE_CELLS = 300_000
"""The most cells of a junction tree on which a graphical model is fitted; beyond, synthetic rows are fitted."""
SWEEPS = 4
"""Passes over all rows and columns in which rows are fitted to the tables."""
SIGNIFICANT_DEVIATIONS = 2.0
"""Where the noise exceeds the mean count of a cell, a record is only changed if the fit gains more than this many
standard deviations of the gain that noise alone would show (chosen on Adult at epsilon 1: of 0, 1.1, 2.7 and 5.7 the
middle two were best)."""
TABLE_BY_TABLE = "Gaussian mechanism on all tables of the workload at once (soundness, section 20)"
LAPLACE = "Laplace mechanism on all tables of the workload at once (soundness, section 20)"


def gaussian(
    data: ExactCounts,
    workload: Workload,
    *,
    account: Account,
    factorised: bool = True,
    objective: Literal["max", "sum"] = "max",
    sweeps: int = SWEEPS,
    most_cells: int = MOST_TREE_CELLS,
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
        measured, parameters, theorem = _measure_each_table(data, tables, account, pure)
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


def _measure_each_table(
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
    return measured, {"noise_std": float(mechanism.sigma)}, TABLE_BY_TABLE


def lower_sets(tables: Sequence[Columns]) -> list[Columns]:
    """The single columns and pairs inside the tables of three columns and more, but for those that are tables here.

    >>> lower_sets([("a", "b", "c"), ("b", "a"), ("d", "e")])
    [('a',), ('b',), ('c',), ('a', 'c'), ('b', 'c')]
    """
    wide = [columns for columns in tables if len(columns) > 2]
    inside = (subset for columns in wide for size in (1, 2) for subset in combinations(columns, size))
    known = {frozenset(columns) for columns in tables}
    return [columns for columns in dict.fromkeys(inside) if frozenset(columns) not in known]


def summed_tables(measured: Sequence[Measurement]) -> tuple[Measurement, ...]:
    """The tables of `lower_sets` from tables with independent noise: each summed out of the most precise one."""
    tables = {}
    for columns in lower_sets([tuple(measurement.columns) for measurement in measured]):
        whole = min(
            (measurement for measurement in measured if set(columns) <= set(measurement.columns)),
            key=lambda measurement: measurement.noise_std * math.sqrt(measurement.values.size),
        )
        summed = sum_onto(whole.values, whole.columns, columns)
        tables[columns] = Measurement(
            columns=columns,
            values=summed,
            noise_std=whole.noise_std * math.sqrt(whole.values.size / summed.size),
        )
    return tuple(tables.values())


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

    `lower` returns the marginals of the measured tables. The fit of a graphical model is regularised against the noise
    of many small cells and would lose these sums, whose own noise is small; fitted rows have no use for them.
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
    """What changing a record must gain: 0 where noise is below the mean count of a cell, else more than noise gives.

    A change takes a record out of one cell and into another in each of the k tables of a column: with noise alone its
    gain has standard deviation 2 sqrt(2 k) / sigma. Reads released and declared values only.
    """
    mean_count = len(measured) * total / sum(entry.values.size for entry in measured)
    noise_std = max(entry.noise_std for entry in measured)
    if noise_std <= mean_count:
        return 0.0
    columns = [name for entry in measured for name in entry.columns]
    tables = len(columns) / max(1, len(set(columns)))
    return SIGNIFICANT_DEVIATIONS * 2.0 * math.sqrt(2.0 * tables) / noise_std


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
