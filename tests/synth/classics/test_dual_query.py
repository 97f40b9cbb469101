from __future__ import annotations

import numpy as np
import pytest

from holdfast.errors import AdjacencyError, ParameterError
from holdfast.privacy import ZCDP, Account, ApproxDP, PureDP
from holdfast.synth._exact_counts import ExactAnswers
from holdfast.synth._models.oracle import Oracle
from holdfast.synth.classics.dual_query import METHOD, DualQueryPlan, dual_query, payoff
from tests.synth.synth_binary import account, bits, counted, marginals, max_error, neighbours

WORK = marginals()


def test_the_accountant_of_the_notes() -> None:
    # Soundness, section 10: eta = 0.1, T = 20, s = 5, n = 1000.
    plan = DualQueryPlan(rounds=20, samples=5, step=0.1)
    assert plan.pure(1000) == pytest.approx(0.19)
    assert plan.rho(1000) == pytest.approx(6.175e-5, rel=1e-12)


@pytest.mark.parametrize("currency", ["zcdp", "pure"])
def test_the_account_is_charged_what_the_formula_says(currency: str) -> None:
    data = counted(bits(1000))
    opened = account(data, PureDP(1.0) if currency == "pure" else ZCDP(0.1), currency=currency)
    dual_query(data, WORK, account=opened, rounds=20, samples=5, step=0.1)
    spent = opened.spent()
    found = spent.as_pure() if currency == "pure" else spent.as_zcdp()
    assert float(found or 0) == pytest.approx(0.19 if currency == "pure" else 6.175e-5, rel=1e-9)
    # The first round is uniform and free; the other 19 draw 5 each.
    assert [entry.charge.times for entry in opened.journal.entries] == [5] * 19
    reach = [float(entry.charge.mechanism["sensitivity"]) for entry in opened.journal.entries]
    assert reach == pytest.approx(list(range(1, 20)), rel=1e-5)
    assert min(reach) > 1.0


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_scores_move_by_at_most_the_number_of_rounds_and_some_by_all_of_it(adjacency: str) -> None:
    moved = []
    records = bits(3, seed=9)
    for first, second in neighbours(adjacency):
        totals = []
        for data in (first, second):
            truth = ExactAnswers.of(data, WORK)
            totals.append(np.sum([payoff(truth, data, record) for record in records], axis=0))
        moved.append(float(np.abs(totals[0] - totals[1]).max()))
    assert max(moved) == pytest.approx(3.0)


def test_a_plan_spends_what_is_left_and_no_more() -> None:
    for currency, limit in (("zcdp", ApproxDP(0.5, 1e-6)), ("pure", PureDP(0.5))):
        data = counted(bits(300))
        opened = account(data, limit, currency=currency)
        made = dual_query(data, WORK, account=opened)
        assert opened.spent().within(limit)
        assert made.parameters["rounds"] * made.parameters["samples"] <= 1000


def test_the_plan_is_public() -> None:
    runs = [
        dual_query(data, WORK, account=account(data), most_draws=50).parameters
        for data in (counted(bits(seed=1)), counted(np.ones((400, 4), dtype=np.int64)))
    ]
    assert all(runs[0][name] == runs[1][name] for name in ("rounds", "samples", "step"))


def test_more_data_are_answered_better() -> None:
    errors = []
    for rows in (100, 6_000):
        data = counted(bits(rows))
        errors.append(
            np.mean(
                [
                    max_error(
                        data, dual_query(data, WORK, account=account(data, seed=s), most_draws=400), WORK
                    )
                    for s in (1, 2)
                ]
            )
        )
    assert errors[1] < 0.6 * errors[0]
    assert errors[1] < 0.12


@pytest.mark.parametrize("oracle", ["enumerate", "ascent", "milp"])
def test_privacy_does_not_depend_on_the_oracle(oracle: Oracle) -> None:
    data = counted(bits())
    opened = account(data, ZCDP(0.1))
    made = dual_query(data, WORK, account=opened, rounds=4, samples=3, step=0.5, oracle=oracle)
    assert float(opened.spent().as_zcdp() or 0) == pytest.approx(
        DualQueryPlan(rounds=4, samples=3, step=0.5).rho(400)
    )
    assert made.parameters["largest_oracle_gap"] >= 0.0
    if oracle != "ascent":
        assert made.parameters["largest_oracle_gap"] <= 1e-6


def test_what_does_not_fit_is_refused() -> None:
    data = counted(bits())
    wrong = Account(ApproxDP(1.0, 1e-6), adjacency="add_remove", currency="zcdp", seed=1)
    with pytest.raises(AdjacencyError):
        METHOD.fit(data, WORK, account=wrong)
    assert not wrong.journal.entries
    for changes in ({"rounds": 0}, {"samples": 0}, {"step": -1.0}):
        opened = account(data)
        with pytest.raises(ParameterError):
            METHOD.fit(data, WORK, account=opened, **changes)
        assert not opened.journal.entries
