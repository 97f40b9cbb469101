"""FEM: follow the perturbed leader over records, exponential mechanism over queries (Vietri et al. 2020)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import require
from holdfast.noise.source import Source
from holdfast.privacy.account import Account
from holdfast.privacy.mechanisms.exponential import Exponential
from holdfast.progress import progress
from holdfast.synth.budget import selection_epsilon
from holdfast.synth.counted import Counted
from holdfast.synth.method import Method, Synthesis
from holdfast.synth.objective import Objective
from holdfast.synth.oracle import best_records
from holdfast.synth.rounds import best_rounds
from holdfast.synth.support import RowsModel, universe_size
from holdfast.synth.truth import SCORE_SENSITIVITY, Truth
from holdfast.synth.workload import Workload

Floats = NDArray[np.float64]
#: One-hot coefficients for so many records: domain, records, scale, source.
Perturbation = Callable[[Any, int, float, Source], Floats]
MOST_ROUNDS = 200
SAMPLES = 20
PERTURBATION = 1.0
THEOREM = "exponential mechanism, T adaptive selections of sensitivity 1; the oracle post-processes (FEM)"


def fem(
    data: Counted,
    workload: Workload,
    *,
    account: Account,
    rounds: int | None = None,
    samples: int = SAMPLES,
    perturbation: float = PERTURBATION,
    oracle: str = "auto",
    most_rounds: int = MOST_ROUNDS,
    **options: Any,
) -> Synthesis:
    """T times: s records that follow the perturbed leader of the queries so far, then the query they err on most.

    Private under every adjacency: the only reads of the table are T selections of sensitivity 1. The number of rounds
    is fixed first and each round's epsilon follows from it, so the last round fits (published code stops one round
    after the budget is passed). Noise in the oracle, exponential with mean `perturbation` on one-hot records, is for
    stability only: no privacy rests on it.
    """
    return play(
        data, workload, account=account, method="fem", noise=exponential_noise, rounds=rounds, samples=samples,
        perturbation=perturbation, oracle=oracle, most_rounds=most_rounds, theorem=THEOREM,
    )  # fmt: skip


def play(
    data: Counted,
    workload: Workload,
    *,
    account: Account,
    method: str,
    noise: Perturbation,
    rounds: int | None,
    samples: int,
    perturbation: float,
    oracle: str,
    most_rounds: int,
    theorem: str,
) -> Synthesis:
    """The game of FEM and sepFEM, which differ in the leader's noise."""
    truth = Truth.of(data, workload, account=account, method=method)
    require(samples >= 1, "samples", samples, "a whole number >= 1")
    log_universe = math.log(max(2, universe_size(data.domain)))
    times = rounds
    if times is None:
        times = best_rounds(
            account, count=truth.size, log_universe=log_universe, queries=truth.layout.size, most=most_rounds
        )
    require(times >= 1, "rounds", times, "a whole number >= 1")
    require(perturbation > 0, "perturbation", perturbation, "> 0")
    epsilon = selection_epsilon(account, times)
    permit = account.permit(
        Exponential(epsilon=epsilon, sensitivity=SCORE_SENSITIVITY, adjacency=account.adjacency),
        times=times,
        label="worst queries",
    )
    leader, records, gaps = Objective(domain=data.domain), [], []
    with progress(method, total=times) as bar:
        for _ in range(times):
            found = best_records(
                leader,
                account.source,
                noise=noise(data.domain, samples, perturbation, account.source),
                oracle=oracle,
            )
            records.append(found.codes)
            gaps.append(found.gap)
            rows = RowsModel(domain=data.domain, codes=found.codes, total=1.0)
            index, sign = truth.chosen(permit.release(truth.signed(truth.layout.answers_of(rows.project))))
            leader.add(*truth.layout.query(index), sign)
            bar.step()
    return Synthesis(
        model=RowsModel(domain=data.domain, codes=np.concatenate(records), total=truth.size),
        theorem=theorem,
        parameters={
            "rounds": times,
            "samples": samples,
            "perturbation": perturbation,
            "epsilon_per_selection": epsilon,
            "oracle": oracle,
            "largest_oracle_gap": max(gaps),
        },
    )


def uniforms(source: Source, rows: int, width: int) -> Floats:
    """In (0, 1): for perturbations, on which no privacy rests."""
    words = (source.words(rows * width) >> np.uint64(11)).astype(np.float64)
    return np.asarray((words + 0.5) * 2.0**-53).reshape(rows, width)


def exponential_noise(domain: Any, rows: int, scale: float, source: Source) -> Floats:
    """Independent exponential variables of this mean, one for each one-hot coordinate."""
    return -scale * np.log(uniforms(source, rows, sum(domain.values())))


METHOD = Method(name="fem", run=fem, paper="Vietri et al. 2020", pure=True)
