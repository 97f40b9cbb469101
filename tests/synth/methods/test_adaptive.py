"""Select, measure, estimate: the charges, the sensitivities, the choices, and what comes of them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from holdfast.data import Categorical, Schema, open_table
from holdfast.errors import ParameterError
from holdfast.noise._source import Source
from holdfast.privacy import Account, ApproxDP, PureDP
from holdfast.privacy._account.resume import ResumableAccount
from holdfast.privacy._mechanisms.selection import Exponential
from holdfast.synth._evaluation import evaluate
from holdfast.synth._exact_counts import ExactCounts
from holdfast.synth._models.dense import RowsModel
from holdfast.synth._models.graphical.junction_tree import JunctionTree
from holdfast.synth._models.model import Measurement
from holdfast.synth._rows.fit_rows import ReconciledModel, shrink_to_model
from holdfast.synth._rows.impossible_rows import Zeros, is_possible
from holdfast.synth._workload import Workload
from holdfast.synth.methods.adaptive import (
    METHOD,
    MOST_CANDIDATES,
    RoundSchedule,
    adaptive,
    downward_closure,
    fitting_candidates,
)
from holdfast.synth.methods.tree import METHOD as TREE
from tests.synth.synth_binary import account, bits, counted, marginals, max_error, neighbours
from tests.synth.synth_replay import distances

WORK = marginals(k=3)
SWEEPING = RoundSchedule(one_way=0.2, sweep=0.4, rounds=6)


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize("epsilon", [0.5, 8.0])
def test_neighbours_are_within_every_declared_sensitivity_and_reach_it(
    adjacency: str, epsilon: float
) -> None:
    seen: list[float] = []
    for first, second in neighbours(adjacency, 8):
        seen += distances(METHOD, first, second, WORK, limit=ApproxDP(epsilon, 1e-6))
    assert max(seen) <= 1.0 + 1e-9
    assert max(seen) > 0.99


def test_scores_have_the_sensitivity_of_the_largest_weight() -> None:
    data = counted(bits(), "add_remove")
    weighted = Workload.of([("x0", "x1", "x2"), ("x2", "x3")], weights=[4.0, 9.0])
    for adjacency, factor in (("add_remove", 1), ("zero_out", 1), ("replace", 2)):
        data = counted(bits(), adjacency)
        opened = account(data)
        adaptive(data, weighted, account=opened)
        chosen = [
            entry.charge.mechanism
            for entry in opened.journal.entries
            if entry.charge.mechanism["mechanism"] == "Exponential"
        ]
        assert chosen
        expected = Exponential(epsilon=1.0, sensitivity=3.0 * factor).to_json()
        assert {str(one["sensitivity"]) for one in chosen} == {str(expected["sensitivity"])}


def test_every_charge_is_for_what_was_measured_and_nothing_is_left() -> None:
    data = counted(bits(), "add_remove")
    opened = account(data)
    made = adaptive(data, WORK, account=opened, schedule=SWEEPING)
    rounds = made.parameters["rounds"]
    rho = float(opened.guarantee().curve.as_zcdp() or 0)
    tables = made.measurements
    assert len(tables) == 4 + rounds + 4
    assert len(opened.journal.entries) == 1 + 2 * rounds + 1
    # 1-ways and the sweep are four tables each, with their shares of rho.
    assert tables[0].noise_std == pytest.approx(math.sqrt(4 / (2 * 0.2 * 0.6 * rho)), rel=1e-6)
    assert tables[-1].noise_std == pytest.approx(math.sqrt(4 / (2 * 0.4 * rho)), rel=1e-6)
    assert [list(one.columns) for one in tables[4 : 4 + rounds]] == made.parameters["selected"]
    measured = sum(1 / (2 * one.noise_std**2) for one in tables)
    assert measured == pytest.approx(rho * (1 - 0.1 * 0.8 * 0.6), rel=1e-6)
    assert float(opened.remaining().as_zcdp() or 0) < 1e-9 * rho


def test_the_noise_is_as_large_as_stated() -> None:
    data = counted(bits(), "add_remove")
    gaps: list[float] = []
    for seed in range(12):
        for one in adaptive(data, WORK, account=account(data, seed=seed), schedule=SWEEPING).measurements:
            gaps += ((one.values - data(*one.columns)) / one.noise_std).reshape(-1).tolist()
    assert np.std(gaps) == pytest.approx(1.0, abs=0.05)


def test_it_measures_what_is_wrong_and_is_right_afterwards() -> None:
    random = np.random.default_rng(0)
    a, b = random.integers(0, 2, (2, 4000))
    codes = np.stack([a, b, a ^ b, random.integers(0, 2, 4000)], axis=1).astype(np.int64)
    data = counted(codes, "add_remove")  # pairs are independent: only the triple tells
    made = adaptive(data, WORK, account=account(data))
    assert ["x0", "x1", "x2"] in made.parameters["selected"]
    assert max_error(data, made, WORK) < 0.03


def test_a_sweep_and_rows_come_closer_than_the_model_alone() -> None:
    codes = bits(3000, 5)
    data, work = counted(codes, "add_remove"), marginals(5, 3)
    opened = account(data, ApproxDP(20.0, 1e-6))
    made = adaptive(
        data, work, account=opened, most_cells=10, schedule=RoundSchedule(one_way=0.2, sweep=0.8, rounds=3)
    )
    assert isinstance(made.model, ReconciledModel)
    names = dict(data.domain)

    def error(rows: np.ndarray) -> float:
        drawn = RowsModel(domain=names, codes=rows, total=3000.0)
        return evaluate(lambda c: data(*c), drawn.project, work).average_total_variation

    swept = error(made.model.sample(3000, Source(1)))
    assert swept < 0.5 * error(made.model.base.sample(3000, Source(1)))
    assert swept < 0.01
    assert made.model.sample(0, Source(1)).shape == (0, 5)


def test_a_private_number_of_rows_is_paid_for_and_never_read() -> None:
    columns = [Categorical(f"x{place}", ["0", "1"]) for place in range(4)]
    codes = bits(2000)
    frame = {f"x{place}": codes[:, place].astype(str).astype(object) for place in range(4)}
    data = ExactCounts(open_table(frame, Schema(columns, adjacency="add_remove")))
    opened = account(data)
    made = adaptive(data, WORK, account=opened)
    assert not [one for one in data.assumptions if "number of privacy units" in one.text]
    first = opened.journal.entries[0]
    assert "number of rows" in str(first)
    rho = float(opened.guarantee().curve.as_zcdp() or 0)
    sigma = math.sqrt(1 / (2 * 0.01 * rho))
    assert float(first.charge.mechanism["sigma"]) == pytest.approx(sigma, rel=1e-6)
    assert made.model.total != 2000.0
    assert made.model.total == pytest.approx(2000.0, abs=6 * made.measurements[0].noise_std)
    assert float(opened.remaining().as_zcdp() or 0) < 1e-9 * rho


def test_impossible_cells_are_never_drawn_nor_moved_into() -> None:
    data = counted(bits(), "add_remove")
    zeros = [Zeros(("x1", "x3"), [(1, 0)])]
    made = adaptive(data, WORK, account=account(data), schedule=SWEEPING, constraints=zeros)
    rows = made.model.sample(400, Source(2))
    assert is_possible(rows, list(data.domain), data.domain, zeros).all()


def test_a_killed_run_goes_on_where_it_was_and_pays_once() -> None:
    data = counted(bits(), "add_remove")
    opened = account(data)

    class Killed(Exception):
        pass

    left = [4]
    real = ResumableAccount.release

    def dying(self: ResumableAccount, *args: object, **options: object) -> object:
        if left[0] == 0:
            raise Killed
        left[0] -= 1
        return real(self, *args, **options)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ResumableAccount, "release", dying)
        with pytest.raises(Killed):
            adaptive(data, WORK, account=ResumableAccount.of(opened, "job"))
    paid = [entry.charge for entry in opened.journal.entries]
    made = adaptive(data, WORK, account=ResumableAccount.of(opened, "job"))
    again = adaptive(data, WORK, account=ResumableAccount.of(opened, "job"))
    assert [entry.charge for entry in opened.journal.entries][:4] == paid
    assert len(opened.journal.entries) == 1 + 2 * made.parameters["rounds"] + (
        made.parameters["sweep_share"] > 0
    )
    assert all(
        np.array_equal(a.values, b.values) for a, b in zip(made.measurements, again.measurements, strict=True)
    )


def test_pure_accounts_are_refused_before_anything_is_spent() -> None:
    data = counted(bits(), "add_remove")
    opened = Account(PureDP(1.0), adjacency=data.adjacency, seed=1)
    with pytest.raises(ParameterError, match="method='auto'"):
        METHOD.fit(data, WORK, account=opened)
    assert not opened.journal.entries


def test_unknown_options_are_refused_before_anything_is_spent() -> None:
    data = counted(bits(), "add_remove")
    for method in (METHOD, TREE):
        opened = account(data)
        with pytest.raises(ParameterError, match="options must be"):
            method.fit(data, WORK, account=opened, round=3)
        assert not opened.journal.entries


def test_columns_alone_take_the_whole_budget() -> None:
    data = counted(bits(), "add_remove")
    opened = account(data)
    made = adaptive(data, Workload.of([("x0",), ("x1",)]), account=opened)
    assert len(made.measurements) == 4
    assert float(opened.remaining().as_zcdp() or 0) < 1e-9


def test_candidates_depend_on_sizes_and_keep_to_the_limit() -> None:
    domain = {"a": 10, "b": 10, "c": 10}
    closure = list(downward_closure(Workload.of([("c", "b", "a")]), domain))
    assert closure == [("a", "b"), ("a", "c"), ("b", "c"), ("a", "b", "c")]
    small = JunctionTree.of(domain, [("a", "b")])
    listed = fitting_candidates(small, closure, [("a", "b")], most_cells=200, round_number=0)
    assert listed == [("a", "b"), ("a", "c"), ("b", "c")]
    assert fitting_candidates(small, closure, [("a", "b")], most_cells=0, round_number=0) == [("a", "b")]
    wide = {f"x{place}": 2 for place in range(36)}
    many = list(downward_closure(Workload.of([(a, b) for a in wide for b in wide if a < b]), wide))
    turns = [
        fitting_candidates(JunctionTree.of(wide, []), many, [], most_cells=1e9, round_number=r)
        for r in range(2)
    ]
    assert [len(turn) for turn in turns] == [MOST_CANDIDATES] * 2
    assert set(turns[0]) | set(turns[1]) == set(many)


def test_more_budget_means_a_larger_sweep_and_less_on_columns() -> None:
    plans = [RoundSchedule.of(strength, columns=14, tables=64) for strength in (1.0, 650.0, 6e3, 5e4, 1e9)]
    assert [plan.sweep for plan in plans] == sorted(plan.sweep for plan in plans)
    assert [plan.one_way for plan in plans] == sorted((plan.one_way for plan in plans), reverse=True)
    assert plans[0].sweep == plans[1].sweep == 0.0
    assert plans[-1].sweep == 0.9
    # A small sweep looks for what no round asked, once n is 90 times its noise.
    shows = [
        RoundSchedule.of(8.0 * apart, columns=14, tables=64).sweep
        for apart in (89.0, 90.0, 200.0, 320.0, 1060.0)
    ]
    assert shows == [0.0, 0.1, 0.28, 0.4, 0.4]
    assert RoundSchedule.of(200.0, columns=14, tables=1).sweep == 0.0
    assert RoundSchedule.of(1e9, columns=14, tables=0).sweep == 0.0
    with pytest.raises(ParameterError, match="sweep must be"):
        RoundSchedule(one_way=0.5, sweep=1.0, rounds=1)


def test_shrinking_is_towards_the_model_and_less_where_counts_are_large() -> None:
    noisy = Measurement(columns=("a",), values=np.array([1040.0, 40.0, -40.0]), noise_std=20.0)
    made = shrink_to_model(noisy, np.array([1000.0, 20.0, 20.0]), 1040.0)
    assert made.sum() == pytest.approx(1040.0)
    assert (made >= 0).all()
    assert 1000 < made[0] < 1040
    assert 20 < made[1] < 30
    assert made[2] < 20
