"""DQRS: DualQuery that reuses most of its queries from round to round, by rejection sampling (Vietri et al. 2020).

The weights of two rounds differ little. So a query drawn in one round, if it is kept with the right probability, is a
draw of the next round too. Only rejected queries are drawn again, at the full cost of a draw.

**Proof of privacy** (written for this file, since the decision to keep or redraw depends on the table).
Write a_i(q) = c_q/n - q(x_i) in [-1, 1], Q_t for the weights exp(eta sum_{i<=t} a_i), r = Q_t/Q_{t-1} =
exp(eta a_t)/Z_t. Keeping q with probability p(q) = c r(q) and else drawing from Q_t makes a draw of Q_t exactly:
c Q_t + (1 - c) Q_t. As log r has oscillation at most 2 eta, c = (1 - gamma) exp(-2 eta) keeps p at most 1 - gamma.
One unit moves every a_i by at most 1/n, in the same way, so log Z_t = L(t) - L(t-1), a difference of two
log-sum-exps, moves by at most (eta/n) [1 + 2 (t-1) TV(Q_t, Q_{t-1})], and TV <= tanh(eta/2); log p moves by at most
Delta = (eta/n) [2 + 2 (t-1) tanh(eta/2)], and the log-odds of keeping by Delta/gamma. Choosing between "keep" and
"redraw" by these odds is an exponential mechanism of two candidates of which one score moves: range Delta/gamma,
charged for every slot. A redraw is charged 2 eta t/n like a draw of DualQuery; how many there are is known from the
released decisions, so the charges are a legal adaptive sequence (soundness, section 19).
"""

from __future__ import annotations

import math

import numpy as np

from holdfast._arrays import Floats
from holdfast._progress import progress
from holdfast.noise._uniform import integers
from holdfast.privacy._account import Account
from holdfast.privacy._account.remaining import SAFE_FACTOR, remaining_amount
from holdfast.privacy._mechanisms.selection import Exponential
from holdfast.privacy._rounding import as_written
from holdfast.synth._exact_counts import SINGLE_ROWS, ExactAnswers, ExactCounts
from holdfast.synth._models.dense import RowsModel, universe_size
from holdfast.synth._models.oracle import Oracle, best_records
from holdfast.synth._workload import Workload
from holdfast.synth.classics.dual_query import (
    MOST_DRAWS,
    MOST_STEP,
    DualQueryPlan,
    complete_plan,
    draw_queries,
    largest_step,
    objective_of_draws,
    payoff,
)
from holdfast.synth.methods.method import Synthesis, SynthesisMethod

THEOREM = (
    "DualQuery with rejection sampling: every decision to keep and every fresh draw is an exponential mechanism "
    "(proved in the module's docstring)"
)
ROUNDING = 1.0 + 1e-6
"""Log-odds are computed in floating point: their sensitivity is declared this much larger."""


def dqrs(
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
    """DualQuery whose queries are kept or redrawn, so that they follow the weights at less cost.

    Private under every adjacency, by the account's filter: a round is begun only if it fits even when every query is
    redrawn. Where keeping would cost more than it saves (large steps), all are redrawn and this is DualQuery.
    """
    truth = ExactAnswers.of(data, workload)
    # a_i must lie in [-1, 1]: under add_remove a count may exceed the public n; capping it moves no further.
    truth = ExactAnswers(layout=truth.layout, counts=np.clip(truth.counts, 0.0, truth.size), size=truth.size)
    plan = complete_plan(
        truth,
        account,
        log_universe=math.log(max(2, universe_size(data.domain))),
        rounds=rounds,
        samples=samples,
        step=step,
        most_draws=most_draws,
        largest=largest_expected_step,
    )
    scores, gain = np.zeros(2 * truth.layout.size), np.zeros(0)
    sample = [int(index) for index in integers(account.source, bound=scores.size, size=plan.samples)]
    records, gaps, redrawn = [], [], plan.samples
    with progress(desc="dqrs", total=plan.rounds) as bar:
        for past in range(plan.rounds):
            if past:
                if not round_fits(account, truth, plan, past):
                    break
                sample, fresh = resample_queries(truth, plan, scores, sample, past, gain, account)
                redrawn += fresh
            best = best_records(objective_of_draws(truth, data, sample), account.source, oracle=oracle)
            records.append(best.codes[0])
            gaps.append(best.gap / plan.samples)
            gain = payoff(truth, data, records[-1])
            scores += gain
            bar.update()
    return Synthesis(
        model=RowsModel(domain=data.domain, codes=np.array(records), total=truth.size),
        theorem=THEOREM,
        parameters={
            "rounds": len(records),
            "samples": plan.samples,
            "step": plan.step,
            "queries_drawn": redrawn,
            "oracle": oracle,
            "largest_oracle_gap": max(gaps),
        },
    )


def resample_queries(
    truth: ExactAnswers,
    plan: DualQueryPlan,
    scores: Floats,
    sample: list[int],
    past: int,
    gain: Floats,
    account: Account,
) -> tuple[list[int], int]:
    """The queries of the next round, and how many of them are new. `scores` include `gain`, that of the last round."""
    share = rejection(plan, past)
    if share >= 1.0:
        return draw_queries(truth, plan, scores, past, len(sample), account), len(sample)
    odds = log_odds(plan, scores, gain, past, truth.size)[sample]
    permit = account.permit(
        keep_mechanism(plan, past, truth.size, account), times=len(sample), label=f"keep, round {past + 1}"
    )
    retained = [permit.release(np.array([each, -each]) / 2) == 0 for each in odds.tolist()]
    rejected = retained.count(False)
    fresh = iter(draw_queries(truth, plan, scores, past, rejected, account) if rejected else [])
    return [query if keep else next(fresh) for query, keep in zip(sample, retained, strict=True)], rejected


def log_odds(plan: DualQueryPlan, scores: Floats, gain: Floats, past: int, count: float) -> Floats:
    """ln(p / (1 - p)) for the probability p = c r of keeping each signed query, after `past` rounds. Private."""
    rate = plan.step / count
    log_ratio = rate * gain - (log_sum_exp(rate * scores) - log_sum_exp(rate * (scores - gain)))
    # c = (1 - gamma) exp(-2 eta), and r <= exp(2 eta): the minimum is for rounding only.
    log_keep = np.minimum(log_ratio - 2.0 * plan.step, 0.0) + math.log1p(-rejection(plan, past))
    return np.asarray(log_keep - np.log(-np.expm1(log_keep)))


def keep_mechanism(plan: DualQueryPlan, past: int, count: float, account: Account) -> Exponential:
    """The exponential mechanism that keeps or redraws, with scores of plus and minus half the log-odds of keeping.

    One unit moves each score by at most half of Delta / gamma.
    """
    reach = odds_sensitivity(plan, past, count)
    return Exponential(epsilon=reach, sensitivity=as_written(reach) / 2, adjacency=account.adjacency)


def odds_sensitivity(plan: DualQueryPlan, past: int, count: float) -> float:
    """(eta/n) [2 + 2 (t-1) tanh(eta/2)] / gamma: how far one unit moves the log-odds of keeping after t rounds.

    >>> round(odds_sensitivity(DualQueryPlan(rounds=20, samples=5, step=0.1), 10, 1000.0), 6)
    0.000834
    """
    moved = 2.0 + 2.0 * (past - 1) * math.tanh(plan.step / 2.0)
    return ROUNDING * plan.step / count * moved / rejection(plan, past)


def rejection(plan: DualQueryPlan, past: int) -> float:
    """gamma, the least probability of a redraw, which minimises the cost of a query; 1 where keeping does not pay."""
    # Costs in units of a fresh draw's: (kappa / gamma)^2 for the decision, gamma + 2 eta for the expected draws.
    kappa = (1.0 + (past - 1) * math.tanh(plan.step / 2.0)) / past
    gamma = math.pow(2.0 * kappa * kappa, 1.0 / 3.0)
    if gamma >= 1.0 or (kappa / gamma) ** 2 + 1.0 - (1.0 - gamma) * math.exp(-2.0 * plan.step) >= 1.0:
        return 1.0
    return gamma


def round_cost(plan: DualQueryPlan, past: int, count: float, *, redraw: float | None = None) -> float:
    """The rho of a round if the share `redraw` of the queries is drawn again; by default the expected share."""
    share = rejection(plan, past)
    fresh = plan.draw_epsilon(past, count) ** 2 / 8.0
    if share >= 1.0:
        return plan.samples * fresh
    expected = 1.0 - (1.0 - share) * math.exp(-2.0 * plan.step) if redraw is None else redraw
    return plan.samples * (odds_sensitivity(plan, past, count) ** 2 / 8.0 + expected * fresh)


def round_fits(account: Account, truth: ExactAnswers, plan: DualQueryPlan, past: int) -> bool:
    """Whether the next round can be paid even if every query is redrawn."""
    kind, left = remaining_amount(account)
    if kind == "zcdp":
        return round_cost(plan, past, truth.size, redraw=1.0) <= left * SAFE_FACTOR
    share = rejection(plan, past)
    decision = 0.0 if share >= 1.0 else odds_sensitivity(plan, past, truth.size)
    return plan.samples * (decision + plan.draw_epsilon(past, truth.size)) <= left * SAFE_FACTOR


def largest_expected_step(rounds: int, samples: int, count: float, kind: str, left: float) -> float:
    """The step whose expected cost is what is left; longer than DualQuery's, because kept queries cost less."""
    low = largest_step(rounds, samples, count, kind, left)
    if kind == "pure" or low >= MOST_STEP:
        return low

    def excess(step: float) -> float:
        plan = DualQueryPlan(rounds=rounds, samples=samples, step=step)
        return math.fsum(round_cost(plan, past, count) for past in range(1, rounds)) - left

    high = min(MOST_STEP, 4.0 * low)
    for _ in range(12):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if excess(middle) <= 0 else (low, middle)
    return low


def log_sum_exp(values: Floats) -> float:
    """ln(sum of exp(values)), without overflow."""
    top = float(values.max())
    return float(top + math.log(float(np.exp(values - top).sum())))


METHOD = SynthesisMethod(
    name="dqrs",
    run=dqrs,
    paper="Vietri et al. 2020",
    pure=True,
    single_rows=SINGLE_ROWS,
    divides_within=math.inf,
)
