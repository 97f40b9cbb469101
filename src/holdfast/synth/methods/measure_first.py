"""Measure first, choose afterwards: all tables of the workload once, then a model of those with more signal than noise.

`adaptive` pays for selecting a table before it measures it. Here every table of the workload is released at once in
the residual basis (Xiao et al. 2023), with the noise of `gaussian`; tables of fewer columns are sums of the same
residuals and cost nothing more. Which tables a junction tree is to hold is then decided as in AIM (McKenna et al.
2022), by the error of the model, but against released values and so for free. At the end, noisy tables are shrunk
towards the model where noise exceeds the variation of a count, and synthetic rows are changed until they agree with
all tables. For workloads whose tables can all be measured well; where the budget is enough for few of many, a
selection before the noise (`adaptive`) is better.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from holdfast.errors import require
from holdfast.privacy._account import Account
from holdfast.synth._exact_counts import ExactCounts
from holdfast.synth._models.graphical.estimation import (
    GraphicalEstimate,
    column_centres,
    estimate_model,
    merge,
)
from holdfast.synth._models.graphical.junction_tree import Columns, shape_of
from holdfast.synth._models.model import Measurement
from holdfast.synth._rows.fit_rows import ReconciledModel, shrink_to_model
from holdfast.synth._rows.impossible_rows import Zeros
from holdfast.synth._workload import Workload
from holdfast.synth.methods.adaptive import (
    MOST_MODEL_CELLS,
    downward_closure,
    fitting_candidates,
    in_domain_order,
    sweep_sets,
)
from holdfast.synth.methods.measure import total_of
from holdfast.synth.methods.method import Synthesis, SynthesisMethod
from holdfast.synth.methods.residuals import FACTORISED, measure_residuals, wanted_tables

THEOREM = FACTORISED + "; which tables a model holds is chosen among released values: post-processing"


def measure_first(
    data: ExactCounts,
    workload: Workload,
    *,
    account: Account,
    objective: Literal["max", "sum"] = "sum",
    most_cells: int = MOST_MODEL_CELLS,
    constraints: Sequence[Zeros] = (),
) -> Synthesis:
    """Noise on every residual of the workload, once; then a junction tree of the tables with more signal than noise.

    Private for rows and for users: one release (soundness, section 20), the rest is post-processing. The noise is
    divided among the residuals so that the `objective` is least: the "sum" of the variances of all cells, or their
    "max". `most_cells` bounds the size of the model.
    """
    require(most_cells >= 1, "most_cells", most_cells, ">= 1")
    wanted, weights = wanted_tables(workload)
    residuals = measure_residuals(data, wanted, weights=weights, objective=objective, account=account)
    measured = residuals.tables(wanted)
    # Everything below reads released and declared values only.
    total = total_of(data, measured)
    weighted = downward_closure(workload, data.domain)
    sets = [*((name,) for name in data.domain if name in workload.columns), *weighted]
    lower = residuals.tables(sets)
    fitted, held = chosen_model(
        data.domain, lower, weighted, total=total, most_cells=most_cells, constraints=constraints
    )
    swept = {in_domain_order(measurement.columns, data.domain): measurement for measurement in lower}
    tables = {
        columns: shrink_to_model(
            merge([swept[columns]], total)[columns], fitted.model.project(columns), total
        )
        for columns in sweep_sets(data, workload, round(total))
    }
    masks = [
        (tuple(zeros.columns), zeros.possible_cells(shape_of(zeros.columns, data.domain)))
        for zeros in constraints
    ]
    return Synthesis(
        model=ReconciledModel(base=fitted.model, tables=tables, allowed=masks),
        theorem=THEOREM,
        measurements=measured,
        parameters={
            "objective": objective,
            **residuals.parameters(wanted),
            "held": [list(columns) for columns in held],
            "fitted": len(tables),
            "model_cells": fitted.model.tree.cells,
        },
    )


def chosen_model(
    domain: Mapping[str, int],
    released: Sequence[Measurement],
    weights: Mapping[Columns, float],
    *,
    total: float,
    most_cells: int,
    constraints: Sequence[Zeros] = (),
) -> tuple[GraphicalEstimate, list[Columns]]:
    """A model of noisy tables, and which of them it holds beside the single columns. Reads released values only.

    In each round the table is added whose weighted distance from the model exceeds its expected noise most (AIM,
    equation (1), with the released table in place of the private one), until none does or the tree has no room.
    """
    tables = {in_domain_order(measurement.columns, domain): measurement for measurement in released}
    held = [measurement for columns, measurement in tables.items() if len(columns) == 1]
    centre = column_centres(held, total)
    zeros = [zeros.potential(domain) for zeros in constraints]
    constrained = [columns for columns, _ in zeros]
    chosen: list[Columns] = []
    fitted: GraphicalEstimate | None = None
    while True:
        start = None if fitted is None else fitted.theta
        fitted = estimate_model(domain, held, total=total, centre=centre, start=start, zeros=zeros)
        sets = [tuple(measurement.columns) for measurement in held]
        candidates = fitting_candidates(
            fitted.model.tree,
            [columns for columns in weights if columns not in chosen],
            [*sets, *constrained],
            most_cells=most_cells,
            round_number=len(chosen),
        )
        scores = [
            weights[columns] * _distance_beyond_noise(tables[columns], fitted) for columns in candidates
        ]
        if not candidates or max(scores) <= 0:
            return fitted, chosen
        chosen.append(candidates[int(np.argmax(scores))])
        held.append(tables[chosen[-1]])


def _distance_beyond_noise(released: Measurement, fitted: GraphicalEstimate) -> float:
    """The L1 distance of the model from a released table, less what the table's noise alone is expected to add."""
    gap = np.abs(released.values - fitted.model.project(released.columns)).sum()
    return float(gap) - math.sqrt(2.0 / math.pi) * released.noise_std * released.values.size


METHOD = SynthesisMethod(
    name="measure_first",
    run=measure_first,
    paper="Xiao et al. 2023; McKenna et al. 2022",
    currency="gdp",
    zeros=True,
    seconds=(3.0, 45.0),
)
