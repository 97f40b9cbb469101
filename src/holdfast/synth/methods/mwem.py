"""MWEM: multiplicative weights driven by the exponential mechanism (Hardt, Ligett and McSherry 2012).

Where there are too many possible records to give each a weight, whole tables are selected and measured instead: the
weights then factor over their cells, and are a graphical model (McKenna, Sheldon and Miklau 2019).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Floats
from holdfast._progress import progress
from holdfast.data._sensitivity import counts_l1
from holdfast.errors import require
from holdfast.privacy._account import Account
from holdfast.privacy._account.remaining import SAFE_FACTOR, remaining_amount, selection_epsilon
from holdfast.privacy._mechanisms.gaussian import Gaussian
from holdfast.privacy._mechanisms.laplace import Laplace
from holdfast.privacy._mechanisms.mechanism import Mechanism
from holdfast.privacy._mechanisms.selection import Exponential
from holdfast.synth._exact_counts import SCORE_SENSITIVITY, ExactAnswers, ExactCounts
from holdfast.synth._models.dense import universe_size
from holdfast.synth._models.graphical.estimation import estimate_model, log_shares
from holdfast.synth._models.graphical.junction_tree import Triangulation
from holdfast.synth._models.universe import Universe
from holdfast.synth._workload import Workload
from holdfast.synth.methods.initial_universe import (
    DEFAULT_UNIVERSE,
    HELD_CELLS,
    UniverseOptions,
    initial_universe,
)
from holdfast.synth.methods.measure import ROUNDING, best_rounds, measure_tables, total_of
from holdfast.synth.methods.method import Synthesis, SynthesisMethod, SynthesisRank, SynthesisTask

Columns = tuple[str, ...]
MOST_ROUNDS = 200
PASSES = 10
"""Times that all measurements so far are replayed in each round (Hardt, Ligett and McSherry 2012, section 2.3)."""
THEOREM = "MWEM: selections of sensitivity 1 by the exponential mechanism and noisy answers of sensitivity 1"
SELECTIONS_THEOREM = (
    "multiplicative weights on selections of sensitivity 1 by the exponential mechanism, no measurements"
)
MOST_TABLE_ROUNDS = 16
"""The most tables that are selected on a large domain, where `rounds` is not given."""
MOST_MODEL_CELLS = 1_000_000
"""The most cells of a junction tree, all cliques together."""
ONE_WAY_SHARE, SELECTION_SHARE = 0.1, 0.1
"""Shares of the budget, on a large domain: for one-way tables, and for selections; the rest measures."""
FACTORED_THEOREM = (
    "MWEM over a graphical model: one-way tables, then tables selected by their L1 error (sensitivity 1, or 2 under "
    "replace) and measured with Gaussian noise"
)


def mwem(
    data: ExactCounts,
    workload: Workload,
    *,
    account: Account,
    rounds: int | None = None,
    measure: bool = True,
    factored: bool | None = None,
    passes: int = PASSES,
    most_rounds: int = MOST_ROUNDS,
    points: UniverseOptions = DEFAULT_UNIVERSE,
    most_cells: int = MOST_MODEL_CELLS,
) -> Synthesis:
    """Select the query that the weights answer worst, measure it, and move the weights to agree with what was measured.

    Private under every adjacency: selections and answers have sensitivity 1 in counts; half of the budget goes to
    each. With `measure=False` all of it goes to selections of signed queries, and a step of fixed length is taken.
    The average of the rounds is released. On domains too large to hold, `factored` (the default there) selects whole
    tables and keeps a graphical model of those measured; `factored=False` runs on a sampled support instead.
    """
    large = universe_size(data.domain) > points.held
    if factored or (factored is None and large and measure):
        return mwem_factored(data, workload, account=account, rounds=rounds, most_cells=most_cells)
    truth = ExactAnswers.of(data, workload)
    initial = initial_universe(data, account=account, options=points)
    universe, rest = initial.universe, initial.account
    # Where queries are measured, half of the budget selects and half measures.
    shares = rest.split(0.5, 0.5) if measure else (rest,)
    times = rounds
    if times is None:
        times = best_rounds(
            shares[0],
            count=truth.size,
            log_universe=universe.log_size,
            queries=truth.layout.size,
            most=most_rounds,
        )
    require(times >= 1, "rounds", times, "a whole number >= 1")
    run = _with_measurements if measure else _without_measurements
    average, facts = run(truth, universe, times, passes, *shares)
    return Synthesis(
        model=universe.model(average, truth.size),
        theorem=THEOREM if measure else SELECTIONS_THEOREM,
        measurements=initial.measurements,
        parameters={"rounds": times, "measure": measure, **facts, **initial.parameters},
    )


def _with_measurements(
    truth: ExactAnswers, universe: Universe, times: int, passes: int, selecting: Account, measuring: Account
) -> tuple[Floats, dict[str, object]]:
    epsilon = selection_epsilon(selecting, times)
    choose = selecting.permit(
        Exponential(epsilon=epsilon, sensitivity=SCORE_SENSITIVITY, adjacency=selecting.adjacency),
        times=times,
        label="worst queries",
    )
    mechanism, noise_std = answer_noise(measuring, times)
    answer = measuring.permit(mechanism, times=times, label="their answers")
    log_weights, average = np.zeros(universe.size), np.zeros(universe.size)
    current = universe.uniform()
    known: dict[int, list[float]] = {}
    with progress(desc="mwem", total=times) as bar:
        for _ in range(times):
            gap = np.abs(truth.excess(universe.answers(current, truth.layout)))
            index = choose.release(gap)
            noisy = float(np.ravel(answer.release(truth.counts[index : index + 1]))[0])
            known.setdefault(index, []).append(min(1.0, max(0.0, noisy / truth.size)))
            current = replay_measurements(universe, truth, log_weights, known, passes)
            average += current / times
            bar.update()
    return average, {"epsilon_per_selection": epsilon, "noise_std": noise_std, "passes": passes}


def replay_measurements(
    universe: Universe, truth: ExactAnswers, log_weights: Floats, known: dict[int, list[float]], passes: int
) -> Floats:
    """Apply all measurements `passes` times: w(x) *= exp(q(x) (a - q(p)) / 2), each with the current p.

    A query whose values are 0 or 1 multiplies the weights of the records that it counts by one number, so only these
    are changed, and the sum of all weights is updated; each pass begins with an exact sum.
    """
    queries = [
        _MeasuredQuery.of(universe.values(*truth.layout.query(index)), float(np.mean(noisy_answers)))
        for index, noisy_answers in known.items()
    ]
    for _ in range(passes):
        weights = np.exp(log_weights - log_weights.max())
        total = float(weights.sum())
        for query in queries:
            inside = weights[query.records] * query.values
            step = (query.target - float(inside.sum()) / total) / 2.0
            change = weights[query.records] * np.expm1(step * query.values)
            weights[query.records] += change
            total += float(change.sum())
            log_weights[query.records] += step * query.values
    weights = np.exp(log_weights - log_weights.max())
    return np.asarray(weights / weights.sum())


@dataclass(frozen=True, kw_only=True, eq=False)
class _MeasuredQuery:
    """The records at which a query is not 0, its values there (one number if all are equal), and its noisy answer."""

    records: NDArray[np.intp]
    values: Floats | float
    target: float

    @classmethod
    def of(cls, values: Floats, target: float) -> _MeasuredQuery:
        records = np.flatnonzero(values)
        nonzero = values[records]
        constant = len(nonzero) > 0 and bool((nonzero == nonzero[0]).all())
        return cls(records=records, values=float(nonzero[0]) if constant else nonzero, target=target)


def _without_measurements(
    truth: ExactAnswers, universe: Universe, times: int, passes: int, account: Account
) -> tuple[Floats, dict[str, object]]:
    epsilon = selection_epsilon(account, times)
    choose = account.permit(
        Exponential(epsilon=epsilon, sensitivity=SCORE_SENSITIVITY, adjacency=account.adjacency),
        times=times,
        label="worst signed queries",
    )
    # The limit of frank_wolfe_dual without smoothing: steps of sqrt(2 ln|X| / T).
    step = math.sqrt(2.0 * universe.log_size / times)
    log_weights, average = np.zeros(universe.size), np.zeros(universe.size)
    with progress(desc="mwem", total=times) as bar:
        for _ in range(times):
            weights = np.exp(log_weights - log_weights.max())
            current = weights / weights.sum()
            average += current / times
            index, sign = truth.query_and_sign(
                choose.release(truth.signed_excess(universe.answers(current, truth.layout)))
            )
            log_weights += step * sign * universe.values(*truth.layout.query(index))
            bar.update()
    return average, {"epsilon_per_selection": epsilon, "step": step}


def answer_noise(account: Account, times: int) -> tuple[Mechanism, float]:
    """Noise for `times` answers of sensitivity 1 that together spend what is left, and its standard deviation."""
    kind, left = remaining_amount(account)
    sensitivity, adjacency = SCORE_SENSITIVITY, account.adjacency
    if kind == "zcdp":
        sigma = sensitivity * math.sqrt(times / (2.0 * left)) / SAFE_FACTOR
        return Gaussian(sigma=sigma, l2_sensitivity=sensitivity, adjacency=adjacency), sigma
    scale = sensitivity * times / left / SAFE_FACTOR
    return Laplace(scale=scale, l1_sensitivity=sensitivity, adjacency=adjacency), math.sqrt(2.0) * scale


# On domains with too many possible records to give each a weight.


def mwem_factored(
    data: ExactCounts,
    workload: Workload,
    *,
    account: Account,
    rounds: int | None = None,
    most_cells: int = MOST_MODEL_CELLS,
) -> Synthesis:
    """Measure every column; then T times select the workload's table that the model fits worst, and measure it.

    A softmax of a sum of table queries *is* a graphical model, so the weights are never written out. Private for rows
    and for users, whose c rows multiply every sensitivity. Tables that would make the junction tree too large are not
    candidates: that depends on declared sizes and on earlier selections.
    """
    tables = list(dict.fromkeys(tuple(group.columns) for group in workload.groups if len(group.columns) > 1))
    weights: dict[Columns, float] = {}
    for group in workload.groups:
        key = tuple(group.columns)
        weights[key] = max(group.weight, weights.get(key, 0.0))
    times = min(MOST_TABLE_ROUNDS, max(1, len(tables))) if rounds is None else rounds
    require(times >= 1, "rounds", times, "a whole number >= 1")
    first, selecting, measuring = account.split(
        ONE_WAY_SHARE, SELECTION_SHARE, round(1.0 - ONE_WAY_SHARE - SELECTION_SHARE, 12)
    )
    measured = list(
        measure_tables(data, [(name,) for name in data.names], account=first, label="one-way tables")
    )
    total = total_of(data, measured)
    centre = {
        tuple(measurement.columns): log_shares(np.maximum(measurement.values, 0.0), total)
        for measurement in measured
    }
    state = estimate_model(data.domain, measured, total=total, centre=centre)
    shares = measuring.split(*[1.0 / (times * (1 + 1e-12))] * times)
    selected: list[Columns] = []
    epsilon = selection_epsilon(selecting, times)
    sensitivity = counts_l1(data.adjacency, data.unit) * max(weights.values()) * ROUNDING
    mechanism = Exponential(epsilon=epsilon, sensitivity=sensitivity, adjacency=account.adjacency)
    permit = selecting.permit(mechanism, times=times, label="worst tables")
    noise_std = _noise_std(measured[0].noise_std, len(data.names), times)
    with progress(desc="mwem", total=times) as bar:
        for place in range(times):
            graph = Triangulation(data.domain, [*((name,) for name in data.names), *selected])
            candidates = [
                columns
                for columns in tables
                if columns not in selected and graph.cells_with(columns) <= most_cells
            ]
            if not candidates:
                break
            scores = [
                weights[columns] * _score(exact, state.model.project(columns), noise_std)
                for columns, exact in zip(candidates, data.counts(candidates), strict=True)
            ]
            chosen = candidates[permit.release(np.array(scores))]
            label = f"table {place + 1}"
            measured += measure_tables(data, [chosen], account=shares[place], label=label)
            selected.append(chosen)
            state = estimate_model(data.domain, measured, total=total, centre=centre, start=state.theta)
            bar.update()
    return Synthesis(
        model=state.model,
        theorem=FACTORED_THEOREM,
        measurements=tuple(measured),
        parameters={
            "rounds": len(selected),
            "universe": "factored",
            "epsilon_per_selection": epsilon,
            "tables": [" x ".join(columns) for columns in selected],
            "cells": state.model.tree.cells,
        },
    )


def _score(exact: Floats, modelled: Floats, noise_std: float) -> float:
    """The L1 error, less what the noise of a measurement would add: so a large table needs a large error."""
    return float(np.abs(exact - modelled).sum()) - math.sqrt(2.0 / math.pi) * noise_std * exact.size


def _noise_std(one_way: float, columns: int, times: int) -> float:
    """The noise of a later table, from that of the one-way tables: T tables share eight times their budget."""
    share = round(1.0 - ONE_WAY_SHARE - SELECTION_SHARE, 12) / (ONE_WAY_SHARE * times)
    return one_way / math.sqrt(columns * share)


METHOD = SynthesisMethod(
    name="mwem",
    run=mwem,
    paper="Hardt, Ligett and McSherry 2012",
    pure=True,
    divides_within=HELD_CELLS,
    ranks=(
        SynthesisRank(
            place=1.0,
            reason="of the methods that need no delta, the smallest largest error",
            when=SynthesisTask.is_pure,
        ),
    ),
    seconds=(5.0, 25.0),
)
