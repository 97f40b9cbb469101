"""MWEM over a graphical model: whole tables are selected and measured, the weights factor (McKenna et al. 2019)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.data.sensitivity import counts_l1
from holdfast.errors import require
from holdfast.privacy.account import Account
from holdfast.privacy.mechanisms.exponential import Exponential
from holdfast.progress import progress
from holdfast.synth.budget import measure_tables, selection_epsilon
from holdfast.synth.counted import Counted
from holdfast.synth.graphical.estimation import estimate, log_shares
from holdfast.synth.graphical.triangulation import cells_with
from holdfast.synth.measurement import Measurement
from holdfast.synth.method import Synthesis
from holdfast.synth.spending import admit
from holdfast.synth.workload import Workload

Floats = NDArray[np.float64]
Columns = tuple[str, ...]
ROUNDS = 16
MOST_CELLS = 1_000_000
"""The largest junction tree, in cells."""
ROUNDING = 1.0 + 2.0**-20
"""Scores are floating-point sums: their sensitivity is declared this much larger."""
FOR_ONE_WAY, FOR_SELECTIONS = 0.1, 0.1
THEOREM = (
    "MWEM over a graphical model: one-way tables, then tables selected by their L1 error (sensitivity 1, or 2 under "
    "replace) and measured with Gaussian noise"
)


def mwem_factored(
    data: Counted,
    workload: Workload,
    *,
    account: Account,
    rounds: int | None = None,
    most_cells: int = MOST_CELLS,
    **options: Any,
) -> Synthesis:
    """Measure every column; then T times select the workload's table that the model fits worst, and measure it.

    A softmax of a sum of table queries *is* a graphical model, so the weights are never written out. Private for rows
    and for users, whose c rows multiply every sensitivity. Tables that would make the junction tree too large are no
    candidates: that depends on declared sizes and on what was selected before.
    """
    admit(data, account, method="mwem")
    workload.check(data.table.schema)
    tables = list(dict.fromkeys(tuple(group.columns) for group in workload.groups if len(group.columns) > 1))
    weights: dict[Columns, float] = {}
    for group in workload.groups:
        key = tuple(group.columns)
        weights[key] = max(group.weight, weights.get(key, 0.0))
    times = min(ROUNDS, max(1, len(tables))) if rounds is None else rounds
    require(times >= 1, "rounds", times, "a whole number >= 1")
    first, selecting, measuring = account.split(
        FOR_ONE_WAY, FOR_SELECTIONS, round(1.0 - FOR_ONE_WAY - FOR_SELECTIONS, 12)
    )
    measured = list(
        measure_tables(data, [(name,) for name in data.names], account=first, label="one-way tables")
    )
    total = _total(data, measured)
    centre = {tuple(one.columns): log_shares(np.maximum(one.values, 0.0), total) for one in measured}
    state = estimate(data.domain, measured, total=total, centre=centre)
    shares = measuring.split(*[1.0 / (times * (1 + 1e-12))] * times)
    done: list[Columns] = []
    epsilon = selection_epsilon(selecting, times)
    reach = counts_l1(data.adjacency, data.unit) * max(weights.values()) * ROUNDING
    mechanism = Exponential(epsilon=epsilon, sensitivity=reach, adjacency=account.adjacency)
    permit = selecting.permit(mechanism, times=times, label="worst tables")
    noise_std = _noise_std(measured[0].noise_std, len(data.names), times)
    with progress("mwem", total=times) as bar:
        for place in range(times):
            known = [(name,) for name in data.names] + done
            open_to = [
                columns
                for columns in tables
                if columns not in done and cells_with(data.domain, known, columns) <= most_cells
            ]
            if not open_to:
                break
            scores = [
                weights[columns] * _score(exact, state.model.project(columns), noise_std)
                for columns, exact in zip(open_to, data.counts(open_to), strict=True)
            ]
            chosen = open_to[permit.release(np.array(scores))]
            label = f"table {place + 1}"
            measured += measure_tables(data, [chosen], account=shares[place], label=label)
            done.append(chosen)
            state = estimate(data.domain, measured, total=total, centre=centre, start=state.theta)
            bar.step()
    return Synthesis(
        model=state.model,
        theorem=THEOREM,
        measurements=tuple(measured),
        parameters={
            "rounds": len(done),
            "universe": "factored",
            "epsilon_per_selection": epsilon,
            "tables": [" x ".join(columns) for columns in done],
            "cells": state.model.tree.cells,
        },
    )


def _score(exact: Floats, modelled: Floats, noise_std: float) -> float:
    """The L1 error less what the noise of a measurement would add: large tables must be worth it."""
    return float(np.abs(exact - modelled).sum()) - math.sqrt(2.0 / math.pi) * noise_std * exact.size


def _noise_std(one_way: float, columns: int, times: int) -> float:
    """The noise of a later table, from that of the one-way tables: it buys 1 / T of eight times their budget."""
    share = round(1.0 - FOR_ONE_WAY - FOR_SELECTIONS, 12) / (FOR_ONE_WAY * times)
    return one_way / math.sqrt(columns * share)


def _total(data: Counted, one_way: list[Measurement]) -> float:
    """The number of rows where it is public, else the mean of the noisy totals."""
    rows = data.public_rows
    return max(1.0, float(np.mean([entry.total for entry in one_way])) if rows is None else float(rows))
