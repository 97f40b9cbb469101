"""DualQuery: weights on queries, records from an optimisation oracle (Gaboardi et al. 2014)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Floats
from holdfast._progress import progress
from holdfast.errors import require
from holdfast.noise._uniform import integers
from holdfast.privacy._account import Account
from holdfast.privacy._account.remaining import SAFE_FACTOR, remaining_amount
from holdfast.privacy._mechanisms.selection import Exponential
from holdfast.synth._exact_counts import SCORE_SENSITIVITY, SINGLE_ROWS, ExactAnswers, ExactCounts
from holdfast.synth._models.dense import RowsModel, universe_size
from holdfast.synth._models.oracle import Oracle, RecordObjective, best_records
from holdfast.synth._workload import Workload
from holdfast.synth.methods.method import Synthesis, SynthesisMethod

MOST_DRAWS = 1_000
"""The most queries drawn in all, where rounds or samples are not given: each draw is a pass over all query weights."""
MOST_STEP = 2.0
#: Rounds and samples among which `complete_plan` chooses.
ROUND_CHOICES = (2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200, 300, 500, 800)
SAMPLE_CHOICES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
#: The largest step that can be paid for, from rounds, samples, count, currency and what is left.
LargestStep = Callable[[int, int, float, str, float], float]
THEOREM = "DualQuery: draws from multiplicative weights are exponential mechanisms (soundness, section 10 B)"


@dataclass(frozen=True, kw_only=True)
class DualQueryPlan:
    """T rounds of s draws with step eta: the weights of round t are exp(eta sum over i < t of [q(S) - q(x_i)])."""

    rounds: int
    samples: int
    step: float

    def __post_init__(self) -> None:
        require(self.rounds >= 1, "rounds", self.rounds, "a whole number >= 1")
        require(self.samples >= 1, "samples", self.samples, "a whole number >= 1")
        require(0 < self.step < math.inf, "step", self.step, "> 0 and finite")

    def draw_epsilon(self, past: int, count: float) -> float:
        """The epsilon of one draw after `past` rounds: 2 eta t / n, twice the step times the sensitivity t / n."""
        return 2.0 * self.step * past / count

    def pure(self, count: float) -> float:
        """The epsilon of the whole run under pure differential privacy, eta s T (T - 1) / n.

        >>> round(DualQueryPlan(rounds=20, samples=5, step=0.1).pure(1000), 9)
        0.19
        """
        return self.step * self.samples * self.rounds * (self.rounds - 1) / count

    def rho(self, count: float) -> float:
        """The rho of the whole run under zCDP, s eta^2 T (T - 1)(2T - 1) / (12 n^2).

        >>> round(DualQueryPlan(rounds=20, samples=5, step=0.1).rho(1000), 9)
        6.175e-05
        """
        t = self.rounds
        return self.samples * self.step**2 * t * (t - 1) * (2 * t - 1) / (12.0 * count**2)


def dual_query(
    data: ExactCounts,
    workload: Workload,
    *,
    account: Account,
    rounds: int | None = None,
    samples: int | None = None,
    step: float | None = None,
    oracle: Oracle = "auto",
    most_draws: int = MOST_DRAWS,
) -> Synthesis:
    """In each round, draw s signed queries from their weights, add the record of the largest sum, update the weights.

    Private under every adjacency: a draw after t rounds is an exponential mechanism whose score, the sum over rounds
    of a count minus a public number, moves by at most t. The first round is uniform and free. The oracle sees drawn
    queries only: privacy does not depend on it. Regret at most ln(2|Q|)/(eta T) + eta/2 in expectation.
    """
    truth = ExactAnswers.of(data, workload)
    plan = complete_plan(
        truth,
        account,
        log_universe=math.log(max(2, universe_size(data.domain))),
        rounds=rounds,
        samples=samples,
        step=step,
        most_draws=most_draws,
    )
    scores, records, gaps = np.zeros(2 * truth.layout.size), [], []
    with progress(desc="dual_query", total=plan.rounds) as bar:
        for past in range(plan.rounds):
            drawn = draw_queries(truth, plan, scores, past, plan.samples, account)
            best = best_records(objective_of_draws(truth, data, drawn), account.source, oracle=oracle)
            records.append(best.codes[0])
            gaps.append(best.gap / plan.samples)
            scores += payoff(truth, data, records[-1])
            bar.update()
    return Synthesis(
        model=RowsModel(domain=data.domain, codes=np.array(records), total=truth.size),
        theorem=THEOREM,
        parameters={
            "rounds": plan.rounds,
            "samples": plan.samples,
            "step": plan.step,
            "oracle": oracle,
            "largest_oracle_gap": max(gaps),
        },
    )


def draw_queries(
    truth: ExactAnswers, plan: DualQueryPlan, scores: Floats, past: int, size: int, account: Account
) -> list[int]:
    """`size` signed queries drawn from the weights after `past` rounds, charged at once."""
    if past == 0:
        return [int(index) for index in integers(account.source, bound=scores.size, size=size)]
    mechanism = Exponential(
        epsilon=plan.draw_epsilon(past, truth.size),
        sensitivity=past * SCORE_SENSITIVITY,
        adjacency=account.adjacency,
    )
    permit = account.permit(mechanism, times=size, label=f"queries of round {past + 1}")
    return [permit.release(scores) for _ in range(size)]


def objective_of_draws(truth: ExactAnswers, data: ExactCounts, drawn: list[int]) -> RecordObjective:
    """The sum of the drawn signed queries, as a function of a record."""
    objective = RecordObjective(domain=data.domain)
    for index in drawn:
        query, sign = truth.query_and_sign(index)
        objective.add(*truth.layout.query(query), sign)
    return objective


def payoff(truth: ExactAnswers, data: ExactCounts, record: NDArray[np.int64]) -> Floats:
    """c_q(S) - n q(x) for every signed query q and one record x. Private."""
    model = RowsModel(domain=data.domain, codes=record.reshape(1, -1), total=1.0)
    return truth.signed_excess(truth.layout.answers_of(model.project))


def complete_plan(
    truth: ExactAnswers,
    account: Account,
    *,
    log_universe: float,
    rounds: int | None,
    samples: int | None,
    step: float | None,
    most_draws: int,
    largest: LargestStep | None = None,
) -> DualQueryPlan:
    """The plan with the least error bound that spends what is left; given options stay. Reads public values only."""
    kind, left = remaining_amount(account)
    step_limit = largest_step if largest is None else largest
    choosing = rounds is None or samples is None
    plans = [
        DualQueryPlan(
            rounds=t, samples=s, step=step if step is not None else step_limit(t, s, truth.size, kind, left)
        )
        for t in ([rounds] if rounds is not None else ROUND_CHOICES)
        for s in ([samples] if samples is not None else SAMPLE_CHOICES)
        if not choosing or t * s <= most_draws
    ]
    log_queries = math.log(2.0 * truth.layout.size)
    # The regret of the weights, plus the error of the records, which see s sampled queries instead of all.
    return min(
        plans,
        key=lambda plan: (
            log_queries / (plan.step * plan.rounds)
            + plan.step / 2.0
            + math.sqrt(log_universe / (2.0 * plan.samples))
        ),
    )


def largest_step(rounds: int, samples: int, count: float, kind: str, left: float) -> float:
    """The step whose cost is what is left, at most MOST_STEP: pure cost is linear in the step, rho is quadratic."""
    # In both currencies `cost` is linear in the step: epsilon, or the square root of rho.
    unit = DualQueryPlan(rounds=rounds, samples=samples, step=1.0)
    cost, given = (
        (unit.pure(count), left) if kind == "pure" else (math.sqrt(unit.rho(count)), math.sqrt(left))
    )
    return MOST_STEP if cost == 0 else min(MOST_STEP, SAFE_FACTOR * given / cost)


METHOD = SynthesisMethod(
    name="dual_query",
    run=dual_query,
    paper="Gaboardi et al. 2014",
    pure=True,
    single_rows=SINGLE_ROWS,
    divides_within=math.inf,
)
