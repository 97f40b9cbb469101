"""Measure first, choose afterwards: the whole workload once, then a model of the tables that stand out of the noise.

The other order than `adaptive`, which pays for each selection before it knows what it will see. Here every table of the
workload is released at once in the residual basis (Xiao et al. 2023), with the noise of `gaussian`, and no lower table
costs anything more: it is a sum of the same residuals. Which of them a junction tree is to hold is then decided as AIM
does (McKenna et al. 2022), by what the model gets most wrong, but against released values: for nothing. Last, noisy
tables are drawn towards the model where noise exceeds what a count varies, and rows are moved until they agree with
all. For workloads of which every table can be paid for; where few of many can, a selection before the noise is better.
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
from holdfast.synth._rows.fit_rows import ReconciledModel, shrunk
from holdfast.synth._rows.impossible_rows import Zeros
from holdfast.synth._workload import Workload
from holdfast.synth.methods.adaptive import (
    MOST_MODEL_CELLS,
    affordable,
    downward_closure,
    in_order,
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
    """Noise on every residual of the workload, once; then a junction tree of the tables that say more than noise.

    Private for rows and for users: one release (soundness, section 20), the rest is post-processing. `objective` is the
    variance that the noise is divided for: the "sum" of all cells' or the "max" of them. `most_cells` bounds the model.
    """
    require(most_cells >= 1, "most_cells", most_cells, ">= 1")
    wanted, weights = wanted_tables(workload)
    residuals = measure_residuals(data, wanted, weights=weights, objective=objective, account=account)
    measured = residuals.tables(wanted)
    # From here on only released and declared values are read.
    total = total_of(data, measured)
    weighted = downward_closure(workload, data.domain)
    sets = [*((name,) for name in data.domain if name in workload.columns), *weighted]
    lower = residuals.tables(sets)
    fitted, held = chosen_model(
        data.domain, lower, weighted, total=total, most_cells=most_cells, constraints=constraints
    )
    swept = {in_order(measurement.columns, data.domain): measurement for measurement in lower}
    tables = {
        columns: shrunk(merge([swept[columns]], total)[columns], fitted.model.project(columns), total)
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

    By turns the table that is furthest from the model, by its weight and beyond what its noise would make (AIM,
    equation (1), with the released table in place of the private one), as long as one is, and the tree has room for it.
    """
    left = {in_order(measurement.columns, domain): measurement for measurement in released}
    held = [measurement for columns, measurement in left.items() if len(columns) == 1]
    centre = column_centres(held, total)
    zeros = [zeros.potential(domain) for zeros in constraints]
    tied = [columns for columns, _ in zeros]
    chosen: list[Columns] = []
    fitted: GraphicalEstimate | None = None
    while True:
        start = None if fitted is None else fitted.theta
        fitted = estimate_model(domain, held, total=total, centre=centre, start=start, zeros=zeros)
        open_ones = [columns for columns in weights if columns not in chosen]
        sets = [tuple(measurement.columns) for measurement in held]
        fits = affordable(
            fitted.model.tree, open_ones, [*sets, *tied], most_cells=most_cells, round_number=len(chosen)
        )
        scores = [weights[columns] * _beyond_noise(left[columns], fitted) for columns in fits]
        if not fits or max(scores) <= 0:
            return fitted, chosen
        chosen.append(fits[int(np.argmax(scores))])
        held.append(left[chosen[-1]])


def _beyond_noise(released: Measurement, fitted: GraphicalEstimate) -> float:
    """How far the model is from a released table, less what noise alone is expected to put between them."""
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
