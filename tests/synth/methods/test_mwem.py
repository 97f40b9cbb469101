from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from holdfast.data import Categorical as Column
from holdfast.data import Identifier, Schema, open_table
from holdfast.errors import AdjacencyError, ParameterError
from holdfast.privacy import ZCDP, Account, ApproxDP, PrivacyUnit, PureDP
from holdfast.synth._exact_counts import ExactAnswers, ExactCounts
from holdfast.synth._models.dense import DenseModel, RowsModel
from holdfast.synth._models.graphical.model import GraphicalModel
from holdfast.synth._models.universe import AllCells
from holdfast.synth.methods.mwem import METHOD, _score, answer_noise, replay_measurements
from tests.synth.synth_binary import account, bits, counted, marginals, max_error, neighbours, options

mwem = METHOD.fit
WORK = marginals()
WAYS = [
    options(rounds=30),
    options(rounds=60, measure=False),
    options(factored=True, rounds=4),
    options(rounds=30, held=8, support=400, factored=False),
]
each_way = pytest.mark.parametrize("given", WAYS, ids=["measured", "unmeasured", "factored", "sampled"])


@each_way
@pytest.mark.parametrize("currency", ["zcdp", "pure"])
def test_every_way_spends_its_limit_and_finds_the_table(given: dict[str, Any], currency: str) -> None:
    data = counted(bits(8000))
    limit = PureDP(1.0) if currency == "pure" else ApproxDP(1.0, 1e-6)
    opened = account(data, limit, currency=currency)
    made = mwem(data, WORK, account=opened, **given)
    assert opened.spent().within(limit)
    assert opened.remaining().delta(0.0) < 1e-4
    assert max_error(data, made, WORK) < 0.08


def test_kinds_of_models() -> None:
    data = counted(bits())
    kinds = [type(mwem(data, WORK, account=account(data), **given).model) for given in WAYS]
    assert kinds == [DenseModel, DenseModel, GraphicalModel, RowsModel]
    # A domain too large to hold is factored unless told otherwise.
    assert isinstance(mwem(data, WORK, account=account(data), held=8, rounds=2).model, GraphicalModel)


def test_half_selects_and_half_measures() -> None:
    data = counted(bits())
    opened = account(data, ZCDP(0.04))
    made = mwem(data, WORK, account=opened, rounds=10)
    costs = [float(entry.charge.cost.amounts[0]) for entry in opened.journal.entries]
    assert costs == pytest.approx([0.02, 0.02], rel=1e-9)
    select, answer = (entry.charge.mechanism for entry in opened.journal.entries)
    assert 1.0 < float(select["sensitivity"]) == float(answer["l2_sensitivity"]) < 1.00001
    # rho / (2T) each: epsilon^2 / 8 = 0.002 and 1 / (2 sigma^2) = 0.002.
    assert made.parameters["epsilon_per_selection"] == pytest.approx(math.sqrt(8 * 0.002))
    assert made.parameters["noise_std"] == pytest.approx(math.sqrt(1 / 0.004))


def test_measured_answers_carry_the_stated_noise() -> None:
    mechanism, noise_std = answer_noise(Account(ZCDP(0.01), seed=1), 4)
    assert noise_std == pytest.approx(math.sqrt(4 / 0.02))
    permit = Account(ZCDP(1e9), seed=1).permit(mechanism, times=2000)
    drawn = [float(permit.release(np.array([5.0]))[0]) for _ in range(2000)]
    assert np.std(drawn) == pytest.approx(noise_std, rel=0.06)
    laplace, deviation = answer_noise(Account(PureDP(0.5), seed=1), 4)
    assert float(laplace.curve.as_pure() or 0) == pytest.approx(0.125)
    assert deviation == pytest.approx(math.sqrt(2) * 8)


@pytest.mark.parametrize(("adjacency", "reach"), [("replace", 2.0), ("add_remove", 1.0)])
def test_the_score_of_a_table_moves_by_its_l1_distance(adjacency: str, reach: float) -> None:
    modelled = np.full((2, 2), 3.0)
    moved = [
        abs(_score(first("x0", "x1"), modelled, 1.0) - _score(second("x0", "x1"), modelled, 1.0))
        for first, second in neighbours(adjacency)
    ]
    assert max(moved) == pytest.approx(reach)
    data = counted(bits(), adjacency)
    opened = account(data)
    mwem(data, WORK, account=opened, factored=True, rounds=2)
    selections = [entry.charge for entry in opened.journal.entries if entry.charge.label == "worst tables"]
    assert [float(entry.mechanism["sensitivity"]) for entry in selections] == pytest.approx([reach], rel=1e-5)


def test_tables_too_large_for_the_model_are_no_candidates() -> None:
    data = counted(bits())
    made = mwem(data, WORK, account=account(data), factored=True, rounds=6, most_cells=8)
    assert made.parameters["cells"] <= 8
    assert 1 <= len(made.parameters["tables"]) <= 2


def test_users_are_protected_by_the_factored_way_and_refused_by_the_dense() -> None:
    schema = Schema(
        [Column("x0", ["0", "1"]), Column("x1", ["0", "1"]), Identifier("who")],
        unit=PrivacyUnit.user("who", max_rows=2),
        adjacency="add_remove",
        n_public=50,
    )
    frame = {"x0": ["0", "1"] * 50, "x1": ["1", "1"] * 50, "who": [str(i // 2) for i in range(100)]}
    data = ExactCounts(open_table(frame, schema))
    opened = Account(ApproxDP(1.0, 1e-6), adjacency="add_remove", unit=data.unit, currency="zcdp", seed=1)
    work = marginals(2, 2)
    with pytest.raises(ParameterError, match="max_rows"):
        METHOD.fit(data, work, account=opened)
    assert not opened.journal.entries
    mwem(data, work, account=opened, factored=True)
    mechanisms = [entry.charge.mechanism for entry in opened.journal.entries]
    assert [float(m["sensitivity"]) for m in mechanisms if "sensitivity" in m] == pytest.approx(
        [2.0], rel=1e-5
    )
    # Two rows of one user may share every cell: two columns' tables move by 2 sqrt(2).
    assert float(mechanisms[0]["l2_sensitivity"]) == pytest.approx(2 * math.sqrt(2))


def test_what_does_not_fit_is_refused_before_anything_is_spent() -> None:
    data = counted(bits())
    wrong = Account(ApproxDP(1.0, 1e-6), adjacency="add_remove", currency="zcdp", seed=1)
    for given in WAYS:
        with pytest.raises(AdjacencyError):
            METHOD.fit(data, WORK, account=wrong, **given)
        opened = account(data)
        with pytest.raises(ParameterError, match="rounds"):
            METHOD.fit(data, WORK, account=opened, **(given | {"rounds": 0, "held": 2**20}))
        assert not opened.journal.entries
    assert not wrong.journal.entries


def test_a_replay_is_multiplicative_weights_by_hand() -> None:
    """w(x) *= exp(q(x) (a - q(p)) / 2) with p normalised anew at every query, over all records."""
    data = counted(bits())
    truth, universe = ExactAnswers.of(data, WORK), AllCells(data.domain)
    known = {0: [0.4, 0.5], 3: [0.1], 9: [0.9]}
    log_weights, expected = np.zeros(universe.size), np.zeros(universe.size)
    found = replay_measurements(universe, truth, log_weights, known, 3)
    for _ in range(3):
        for index, heard in known.items():
            values = universe.values(*truth.layout.query(index))
            p = np.exp(expected) / np.exp(expected).sum()
            expected = expected + values * (np.mean(heard) - values @ p) / 2
    np.testing.assert_allclose(log_weights, expected, atol=1e-12)
    np.testing.assert_allclose(found, np.exp(expected) / np.exp(expected).sum(), atol=1e-12)
