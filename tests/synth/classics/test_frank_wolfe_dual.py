from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.errors import AdjacencyError, ParameterError
from holdfast.privacy import ZCDP, Account, ApproxDP, PrivacyUnit, PureDP
from holdfast.synth._exact_counts import SCORE_SENSITIVITY, ExactAnswers
from holdfast.synth._models.dense import DenseModel, RowsModel
from holdfast.synth._models.universe import AllCells
from holdfast.synth.classics.frank_wolfe_dual import METHOD, error_bound, frank_wolfe_dual, softmax
from holdfast.synth.methods.initial_universe import UniverseOptions
from holdfast.synth.methods.measure import best_rounds
from tests.synth.synth_binary import account, bits, counted, marginals, max_error, neighbours

WORK = marginals()


# Soundness, section 9: the numbers of its test block.


@pytest.mark.parametrize("alpha", [0.001, 0.02])
def test_the_noiseless_gap_and_the_error_it_bounds(alpha: float) -> None:
    # d = 8 bits, all 3-way marginals, T = 200: the mean gap is at most sqrt(2 ln 256 / 200) = 0.2355.
    data, work = counted(bits(300, 8)), marginals(8, 3)
    truth = ExactAnswers.of(data, work)
    universe = AllCells(data.domain)
    true_answers = truth.counts / truth.size
    log_size, rounds = math.log(256), 200
    step = alpha * math.sqrt(2 * log_size / rounds)
    dual, chosen, gaps = np.zeros(256), np.zeros(truth.layout.size), []
    for _ in range(rounds):
        answers = universe.answers(softmax(dual / alpha), truth.layout)
        errors = true_answers - answers
        index = int(np.argmax(np.abs(errors)))
        # g_t = max_s <grad, s - v_t>, with v_t a combination of centred queries whose weights are `chosen`.
        gap = float(np.abs(errors).max() - errors @ chosen)
        gaps.append(gap)
        assert np.abs(errors).max() <= gap + alpha * log_size + 1e-12
        sign = math.copysign(1.0, errors[index])
        columns, table = truth.layout.query(index)
        dual = (1 - step) * dual + step * sign * universe.values(columns, table - 0.5)
        chosen *= 1 - step
        chosen[index] += step * sign
        assert np.abs(dual).max() <= 0.5 + 1e-12
    assert np.mean(gaps) <= 0.2355
    assert math.sqrt(2 * log_size / rounds) == pytest.approx(0.2355, abs=5e-5)


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10**6), size=st.integers(2, 60), spread=st.floats(0.01, 30.0))
def test_softmax_is_lipschitz_from_the_largest_entry_to_the_sum(seed: int, size: int, spread: float) -> None:
    random = np.random.default_rng(seed)
    first = spread * random.normal(size=size)
    second = first + random.normal(size=size) * random.random()
    assert np.abs(softmax(first) - softmax(second)).sum() <= np.abs(first - second).max() + 1e-12


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_a_neighbour_moves_every_score_by_at_most_one_and_some_by_one(adjacency: str) -> None:
    moved = []
    for first, second in neighbours(adjacency):
        truths = [ExactAnswers.of(data, WORK) for data in (first, second)]
        answers = AllCells(first.domain).answers(np.full(16, 1 / 16), truths[0].layout)
        scores = [truth.signed_excess(answers) for truth in truths]
        moved.append(float(np.abs(scores[0] - scores[1]).max()))
    assert max(moved) == pytest.approx(1.0, abs=1e-12)
    assert SCORE_SENSITIVITY > 1.0


def test_the_public_count_divides_under_add_remove_whatever_the_table_holds() -> None:
    data = counted(bits(120), "add_remove", n_public=100)
    truth = ExactAnswers.of(data, WORK)
    assert truth.size == 100.0
    assert truth.counts[:4].sum() == 120.0
    assert frank_wolfe_dual(data, WORK, account=account(data), rounds=3).model.total == 100.0


def test_selections_cost_what_the_notes_say() -> None:
    data = counted(bits())
    opened = account(data, ZCDP(0.02))
    made = frank_wolfe_dual(data, WORK, account=opened, rounds=16)
    assert made.parameters["epsilon_per_selection"] == pytest.approx(math.sqrt(8 * 0.02 / 16), rel=1e-9)
    assert len(opened.journal.entries) == 1
    assert opened.journal.entries[0].charge.times == 16
    assert 1.0 < float(opened.journal.entries[0].charge.mechanism["sensitivity"]) < 1.00001
    assert 0.999 * 0.02 < float(opened.spent().as_zcdp() or 0) <= 0.02


def test_steps_and_rounds_are_public() -> None:
    # The same domain, count and limit: another table changes no parameter (the printed T and step are private).
    runs = [
        frank_wolfe_dual(data, WORK, account=account(data)).parameters
        for data in (counted(bits(seed=1)), counted(np.zeros((400, 4), dtype=np.int64)))
    ]
    assert runs[0] == runs[1]
    assert runs[0]["step"] / runs[0]["smoothing"] == pytest.approx(
        math.sqrt(2 * math.log(16) / runs[0]["rounds"])
    )


def test_the_bound_holds_on_average() -> None:
    data, work = counted(bits(1500, 5)), marginals(5, 3)
    errors = []
    for seed in range(4):
        made = frank_wolfe_dual(data, work, account=account(data, seed=seed))
        errors.append(max_error(data, made, work))
    assert isinstance(made.model, DenseModel)
    rho = float(account(data).remaining().as_zcdp() or 0)
    found = made.parameters
    bound = error_bound(1500, rho, math.log(32), 80, found["rounds"], found["smoothing"])
    assert np.mean(errors) < bound
    assert np.mean(errors) < 0.09


def test_large_domains_run_on_a_sampled_support_that_is_paid_for() -> None:
    data = counted(bits(2000))
    opened = account(data)
    made = frank_wolfe_dual(data, WORK, account=opened, points=UniverseOptions(held=8, support=500))
    assert isinstance(made.model, RowsModel)
    assert made.parameters["universe"] == "sampled"
    assert len(made.measurements) == 4
    labels = [entry.charge.label for entry in opened.journal.entries]
    assert labels == ["one-way tables", "worst queries"]
    assert opened.spent().within(ApproxDP(1.0, 1e-6))
    assert max_error(data, made, WORK) < 0.15


def test_best_rounds_grow_with_the_data() -> None:
    found = [
        best_rounds(Account(ZCDP(0.02)), count=n, log_universe=5.5, queries=448, most=10**6)
        for n in (1000, 4000)
    ]
    assert found[1] == pytest.approx(4 * found[0], rel=0.02)
    pure = [
        best_rounds(Account(PureDP(1.0)), count=n, log_universe=5.5, queries=448, most=10**6)
        for n in (1000, 8000)
    ]
    assert pure[1] == pytest.approx(4 * pure[0], rel=0.05)


def test_what_does_not_fit_is_refused_before_anything_is_spent() -> None:
    data = counted(bits())
    wrong = Account(ApproxDP(1.0, 1e-6), adjacency="add_remove", currency="zcdp", seed=1)
    users = Account(ApproxDP(1.0, 1e-6), unit=PrivacyUnit.user("who", max_rows=2), currency="zcdp", seed=1)
    gdp = account(data, currency="gdp")
    for opened, error in ((wrong, AdjacencyError), (users, AdjacencyError), (gdp, ParameterError)):
        with pytest.raises(error):
            METHOD.fit(data, WORK, account=opened)
        assert not opened.journal.entries
    for changes in ({"rounds": 0}, {"smoothing": 0.0}, {"held": 8, "share": 1.0}):
        opened = account(data)
        with pytest.raises(ParameterError):
            METHOD.fit(data, WORK, account=opened, **changes)
        assert not opened.journal.entries
