from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.privacy import ApproxDP, PureDP
from holdfast.synth._exact_counts import ExactAnswers
from holdfast.synth.classics.dqrs import (
    dqrs,
    largest_expected_step,
    log_odds,
    odds_sensitivity,
    rejection,
    resample_queries,
    round_cost,
)
from holdfast.synth.classics.dual_query import DualQueryPlan, largest_step, payoff
from tests.synth.synth_binary import account, bits, counted, marginals, max_error

WORK = marginals()


def history(counts: np.ndarray, records: np.ndarray, answers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Scores after all records, and the last one's gain, from signed counts and the records' signed answers."""
    gains = counts[None, :] - answers[records]
    return gains.sum(axis=0), gains[-1]


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6), past=st.integers(1, 40), step=st.floats(0.02, 0.6), size=st.integers(5, 60)
)
def test_one_unit_moves_the_log_odds_by_no_more_than_is_declared(
    seed: int, past: int, step: float, size: int
) -> None:
    random = np.random.default_rng(seed)
    plan = DualQueryPlan(rounds=past + 1, samples=1, step=step)
    if rejection(plan, past) >= 1.0:
        return
    queries = random.random((4, 10)).round() if seed % 2 else random.random((4, 10))
    rows = random.integers(0, 4, size)
    counts = queries[rows].sum(axis=0)
    moved = counts + queries[random.integers(0, 4)] - queries[rows[0]]
    # Records that all pull one way make the weights lopsided, where a log-normaliser moves most.
    records = random.integers(0, 4, past) if seed % 3 else np.full(past, 2)
    odds = []
    for each in (counts, moved):
        signed, answers = np.r_[each, -each], size * np.hstack([queries, -queries])
        scores, gain = history(signed, records, answers)
        odds.append(log_odds(plan, scores, gain, past, size))
    assert np.abs(odds[0] - odds[1]).max() <= odds_sensitivity(plan, past, size)


def test_the_declared_reach_is_of_the_right_size() -> None:
    # One query out of two, a replaced record that moves both: at least a third of what is declared is seen.
    plan, size, past = DualQueryPlan(rounds=2, samples=1, step=0.3), 50, 2
    assert rejection(plan, past) == 1.0  # one round in, keeping does not pay
    plan, past = DualQueryPlan(rounds=60, samples=1, step=0.05), 30
    best = 0.0
    answers = size * np.array([[0.0, 0.0], [1.0, -1.0]])
    for held in range(51):
        odds = []
        for count in (held, min(50, held + 1)):
            scores, gain = history(np.array([count, -count], dtype=float), np.zeros(past, dtype=int), answers)
            odds.append(log_odds(plan, scores, gain, past, size))
        best = max(best, float(np.abs(odds[0] - odds[1]).max()))
    assert best >= odds_sensitivity(plan, past, size) / 3
    # The printed argument that only the last round's payoff moves the ratio would declare 2 eta / n over gamma.
    naive = 2 * plan.step / size / rejection(plan, past)
    assert odds_sensitivity(plan, past, size) > 1.5 * naive


def test_kept_and_fresh_queries_together_follow_the_new_weights() -> None:
    # c r(q) Q_old + (1 - c) Q_new is Q_new: by enumeration.
    random = np.random.default_rng(3)
    plan, size, past = DualQueryPlan(rounds=30, samples=1, step=0.1), 80.0, 20
    share = rejection(plan, past)
    assert share < 1.0
    gain = random.uniform(-80, 80, 12)
    scores = random.uniform(-800, 800, 12) + gain
    rate = plan.step / size
    old, new = (np.exp(rate * each - np.max(rate * each)) for each in (scores - gain, scores))
    old, new = old / old.sum(), new / new.sum()
    keep = 1 / (1 + np.exp(-log_odds(plan, scores, gain, past, size)))
    assert keep.max() <= 1 - share + 1e-12
    assert old * keep + float(old @ (1 - keep)) * new == pytest.approx(new, rel=1e-9)
    assert float(old @ (1 - keep)) == pytest.approx(1 - (1 - share) * math.exp(-2 * plan.step))


def test_decisions_and_fresh_draws_are_both_charged() -> None:
    data = counted(bits(1000))
    truth = ExactAnswers.of(data, WORK)
    plan, past = DualQueryPlan(rounds=60, samples=40, step=0.05), 30
    gains = [payoff(truth, data, record) for record in bits(past, seed=8)]
    opened = account(data, ApproxDP(8.0, 1e-6))
    kept, fresh = resample_queries(truth, plan, np.sum(gains, axis=0), [0] * 40, past, gains[-1], opened)
    assert len(kept) == 40
    entries = [entry.charge for entry in opened.journal.entries]
    assert [entry.times for entry in entries] == [40, fresh]
    assert 0 < fresh < 40
    decision, redraw = (float(entry.cost.amounts[0]) for entry in entries)
    assert decision == pytest.approx(40 * odds_sensitivity(plan, past, 1000.0) ** 2 / 8)
    assert redraw == pytest.approx(fresh * (2 * plan.step * past / 1000) ** 2 / 8)
    assert decision + redraw <= round_cost(plan, past, 1000.0, redraw=1.0) * (1 + 1e-9)


def test_keeping_is_never_dearer_than_drawing_all_afresh() -> None:
    for step in (0.01, 0.05, 0.2, 0.5, 2.0):
        for past in (1, 5, 30, 200):
            plan = DualQueryPlan(rounds=past + 1, samples=7, step=step)
            assert round_cost(plan, past, 500.0) <= 7 * plan.draw_epsilon(past, 500.0) ** 2 / 8 * (1 + 1e-5)
    small = DualQueryPlan(rounds=101, samples=1, step=0.02)
    assert round_cost(small, 100, 500.0) < 0.35 * small.draw_epsilon(100, 500.0) ** 2 / 8


@pytest.mark.parametrize("currency", ["zcdp", "pure"])
def test_the_account_stops_the_game(currency: str) -> None:
    limit = PureDP(0.4) if currency == "pure" else ApproxDP(0.4, 1e-6)
    data = counted(bits(300))
    opened = account(data, limit, currency=currency)
    made = dqrs(data, WORK, account=opened, rounds=500, samples=4, step=0.1)
    assert made.parameters["rounds"] < 500
    assert opened.spent().within(limit)
    assert made.parameters["queries_drawn"] < 4 * made.parameters["rounds"]


def test_what_keeping_saves_buys_a_longer_step() -> None:
    # 300 rounds of 4 draws on 1000 records at rho = 0.01: DualQuery's step, and that of the expected cost.
    plain = largest_step(300, 4, 1000.0, "zcdp", 0.01)
    longer = largest_expected_step(300, 4, 1000.0, "zcdp", 0.01)
    assert 1.5 * plain < longer
    plan = DualQueryPlan(rounds=300, samples=4, step=longer)
    assert 0.98 * 0.01 < sum(round_cost(plan, past, 1000.0) for past in range(1, 300)) <= 0.01
    assert largest_expected_step(300, 4, 1000.0, "pure", 0.1) == largest_step(300, 4, 1000.0, "pure", 0.1)


def test_counts_above_the_public_number_are_capped() -> None:
    data = counted(np.ones((50, 4), dtype=np.int64), "add_remove", n_public=10)
    made = dqrs(data, WORK, account=account(data), rounds=5, samples=3, step=0.1)
    assert made.model.total == 10.0


def test_answers_are_close_with_much_data() -> None:
    data = counted(bits(20_000))
    assert max_error(data, dqrs(data, WORK, account=account(data), most_draws=600), WORK) < 0.15
