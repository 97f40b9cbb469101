"""FEM: follow the perturbed leader over records, exponential mechanism over queries (Vietri et al. 2020).

sepFEM is the same game with the leader perturbed on a small separator set of queries.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from holdfast._arrays import Floats
from holdfast._progress import progress
from holdfast.errors import require
from holdfast.noise._source import Source
from holdfast.privacy._account import Account
from holdfast.privacy._account.remaining import selection_epsilon
from holdfast.privacy._mechanisms.selection import Exponential
from holdfast.synth._exact_counts import SCORE_SENSITIVITY, SINGLE_ROWS, ExactAnswers, ExactCounts
from holdfast.synth._models.dense import RowsModel, universe_size
from holdfast.synth._models.oracle import Oracle, RecordObjective, best_records, one_hot_starts
from holdfast.synth._workload import Workload
from holdfast.synth.methods.measure import best_rounds
from holdfast.synth.methods.method import Synthesis, SynthesisMethod

#: Noise as one-hot coefficients, from the domain, the number of records, the scale and the source of randomness.
Perturbation = Callable[[Any, int, float, Source], Floats]
MOST_ROUNDS = 200
RECORDS_PER_ROUND = 20
PERTURBATION_SCALE = 1.0
THEOREM = "exponential mechanism, T adaptive selections of sensitivity 1; the oracle post-processes (FEM)"
SEP_FEM_THEOREM = (
    "exponential mechanism, T adaptive selections of sensitivity 1; the oracle post-processes (sepFEM)"
)


@dataclass(frozen=True, kw_only=True)
class Leader:
    """What FEM and sepFEM differ in: the method's name, the noise that perturbs the leader, and the theorem quoted."""

    name: str
    noise: Perturbation
    theorem: str


def fem(
    data: ExactCounts,
    workload: Workload,
    *,
    account: Account,
    rounds: int | None = None,
    samples: int = RECORDS_PER_ROUND,
    perturbation: float = PERTURBATION_SCALE,
    oracle: Oracle = "auto",
    most_rounds: int = MOST_ROUNDS,
) -> Synthesis:
    """In each of T rounds, find s records by follow-the-perturbed-leader, then select the query they answer worst.

    Private under every adjacency: the only reads of the table are T selections of sensitivity 1. The number of rounds
    is fixed first and each round's epsilon follows from it, so the last round fits (published code stops one round
    after the budget is passed). Noise in the oracle, exponential with mean `perturbation` on one-hot records, is for
    stability only: no privacy rests on it.
    """
    return play(
        data,
        workload,
        account=account,
        leader=FEM_LEADER,
        rounds=rounds,
        samples=samples,
        perturbation=perturbation,
        oracle=oracle,
        most_rounds=most_rounds,
    )


def sep_fem(
    data: ExactCounts,
    workload: Workload,
    *,
    account: Account,
    rounds: int | None = None,
    samples: int = RECORDS_PER_ROUND,
    perturbation: float = PERTURBATION_SCALE,
    oracle: Oracle = "auto",
    most_rounds: int = MOST_ROUNDS,
) -> Synthesis:
    """FEM with Laplace noise on separators: queries of which any two records answer at least one differently.

    The separators are the binary digits of each column's cell code, ceil(log2 d) for a column of d cells, the least
    that separate; on binary columns they are the columns. Privacy as in `fem`: no privacy rests on the noise.
    """
    return play(
        data,
        workload,
        account=account,
        leader=SEP_FEM_LEADER,
        rounds=rounds,
        samples=samples,
        perturbation=perturbation,
        oracle=oracle,
        most_rounds=most_rounds,
    )


def play(
    data: ExactCounts,
    workload: Workload,
    *,
    account: Account,
    leader: Leader,
    rounds: int | None,
    samples: int,
    perturbation: float,
    oracle: Oracle,
    most_rounds: int,
) -> Synthesis:
    """Run FEM or sepFEM: the same rounds of perturbed records and selected queries, with the leader's noise."""
    truth = ExactAnswers.of(data, workload)
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
    objective, records, gaps = RecordObjective(domain=data.domain), [], []
    with progress(desc=leader.name, total=times) as bar:
        for _ in range(times):
            best = best_records(
                objective,
                account.source,
                noise=leader.noise(data.domain, samples, perturbation, account.source),
                oracle=oracle,
            )
            records.append(best.codes)
            gaps.append(best.gap)
            rows = RowsModel(domain=data.domain, codes=best.codes, total=1.0)
            index, sign = truth.query_and_sign(
                permit.release(truth.signed_excess(truth.layout.answers_of(rows.project)))
            )
            objective.add(*truth.layout.query(index), sign)
            bar.update()
    return Synthesis(
        model=RowsModel(domain=data.domain, codes=np.concatenate(records), total=truth.size),
        theorem=leader.theorem,
        parameters={
            "rounds": times,
            "samples": samples,
            "perturbation": perturbation,
            "epsilon_per_selection": epsilon,
            "oracle": oracle,
            "largest_oracle_gap": max(gaps),
        },
    )


def leader_uniforms(source: Source, rows: int, width: int) -> Floats:
    """Uniform numbers in (0, 1), for perturbations: their floating point is no risk, as no privacy rests on them."""
    integers = (source.words(rows * width) >> np.uint64(11)).astype(np.float64)
    return np.asarray((integers + 0.5) * 2.0**-53).reshape(rows, width)


def exponential_noise(domain: Any, rows: int, scale: float, source: Source) -> Floats:
    """Independent exponential variables of this mean, one for each one-hot coordinate."""
    return -scale * np.log(leader_uniforms(source, rows, sum(domain.values())))


def separators(domain: Mapping[str, int]) -> Floats:
    """The separators, queries that tell any two records apart: each a 0/1 row of one-hot coefficients.

    >>> separators({"a": 2, "b": 3}).astype(int).tolist()
    [[0, 1, 0, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0, 1]]
    """
    starts = one_hot_starts(domain)
    rows = []
    for start, cells in zip(starts[:-1], domain.values(), strict=True):
        for bit in range((cells - 1).bit_length()):
            row = np.zeros(starts[-1])
            row[start : start + cells] = (np.arange(cells) >> bit) & 1
            rows.append(row)
    return np.array(rows).reshape(-1, starts[-1])


def separator_noise(domain: Any, rows: int, scale: float, source: Source) -> Floats:
    """Independent Laplace variables of this scale, one for each separator, as one-hot coefficients."""
    basis = separators(domain)
    uniform = leader_uniforms(source, rows, len(basis))
    laplace = -scale * np.sign(uniform - 0.5) * np.log1p(-2.0 * np.abs(uniform - 0.5))
    return np.asarray(laplace @ basis)


FEM_LEADER = Leader(name="fem", noise=exponential_noise, theorem=THEOREM)
SEP_FEM_LEADER = Leader(name="sep_fem", noise=separator_noise, theorem=SEP_FEM_THEOREM)
METHOD = SynthesisMethod(
    name="fem",
    run=fem,
    paper="Vietri et al. 2020",
    pure=True,
    single_rows=SINGLE_ROWS,
    divides_within=math.inf,
    seconds=(5.0, 30.0),
)
SEP_FEM = SynthesisMethod(
    name="sep_fem",
    run=sep_fem,
    paper="Vietri et al. 2020",
    pure=True,
    single_rows=SINGLE_ROWS,
    divides_within=math.inf,
)
