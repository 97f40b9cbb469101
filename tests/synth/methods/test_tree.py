"""The spanning tree: what it charges, what it protects, and that it finds who depends on whom."""

from __future__ import annotations

import math

import numpy as np
import pytest

from holdfast.errors import AdjacencyError
from holdfast.noise._source import Source
from holdfast.privacy import Account, ApproxDP, PureDP
from holdfast.synth._evaluation import evaluate
from holdfast.synth._rows.impossible_rows import Zeros, is_possible
from holdfast.synth._workload import Workload
from holdfast.synth.methods.independent import independent
from holdfast.synth.methods.tree import METHOD, tree
from tests.synth.synth_binary import account, bits, counted, marginals, max_error, neighbours
from tests.synth.synth_replay import distances

WORK = marginals()


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_neighbours_are_within_every_declared_sensitivity_and_reach_it(adjacency: str) -> None:
    seen: list[float] = []
    for first, second in neighbours(adjacency):
        seen += distances(METHOD, first, second, WORK, limit=ApproxDP(1.0, 1e-6))
    assert max(seen) <= 1.0 + 1e-9
    assert max(seen) > 0.99


@pytest.mark.parametrize(("adjacency", "factor"), [("add_remove", 1.0), ("replace", math.sqrt(2))])
def test_a_third_each_for_columns_edges_and_pairs(adjacency: str, factor: float) -> None:
    data = counted(bits(), adjacency)
    opened = account(data)
    made = tree(data, WORK, account=opened)
    rho = float(opened.guarantee().curve.as_zcdp() or 0)
    # 4 columns, then 3 pairs, each lot with a third: sigma^2 = tables / (2 rho / 3).
    for one, tables in zip(made.measurements, [4] * 4 + [3] * 3, strict=True):
        assert one.noise_std == pytest.approx(factor * math.sqrt(3 * tables / (2 * rho)), rel=1e-6)
    assert len(opened.journal.entries) == 1 + 3 + 1
    assert float(opened.remaining().as_zcdp() or 0) < 1e-9


def test_the_noise_is_as_large_as_stated() -> None:
    data = counted(bits(), "add_remove")
    gaps: list[float] = []
    for seed in range(40):
        for one in tree(data, WORK, account=account(data, seed=seed)).measurements:
            gaps += ((one.values - data(*one.columns)) / one.noise_std).reshape(-1).tolist()
    assert np.std(gaps) == pytest.approx(1.0, abs=0.05)
    assert abs(np.mean(gaps)) < 0.06


def test_the_edges_span_and_follow_dependence() -> None:
    random = np.random.default_rng(0)
    a = random.integers(0, 2, 3000)
    codes = np.stack([a, random.integers(0, 2, 3000), a ^ (random.random(3000) < 0.1), a], axis=1).astype(
        np.int64
    )
    data = counted(codes, "add_remove")
    made = tree(data, WORK, account=account(data, ApproxDP(2.0, 1e-6)))
    edges = {frozenset(edge) for edge in made.parameters["edges"]}
    assert len(edges) == 3
    assert frozenset({"x0", "x3"}) in edges
    assert max_error(data, made, WORK) < 0.03
    alone = independent(data, WORK, account=account(data, ApproxDP(2.0, 1e-6)))
    assert max_error(data, alone, WORK) > 0.2


def test_pure_accounts_pay_in_epsilon() -> None:
    data = counted(bits(), "add_remove")
    opened = Account(PureDP(1.0), adjacency=data.adjacency, seed=3)
    made = tree(data, WORK, account=opened)
    assert float(opened.spent().as_pure() or 0) == pytest.approx(1.0, rel=1e-6)
    assert opened.spent().epsilon(0.0) <= 1.0
    assert made.model.project(("x0", "x1")).sum() == pytest.approx(400)


def test_impossible_cells_are_not_drawn() -> None:
    data = counted(bits(), "add_remove")
    zeros = [Zeros(("x0", "x2"), [(0, 1)])]
    made = tree(data, WORK, account=account(data), constraints=zeros)
    rows = made.model.sample(400, Source(1))
    assert is_possible(rows, list(data.domain), data.domain, zeros).all()


def test_refuses_before_it_spends() -> None:
    data = counted(bits(), "add_remove")
    wrong = Account(ApproxDP(1.0, 1e-6), adjacency="replace", currency="zcdp", seed=1)
    with pytest.raises(AdjacencyError):
        METHOD.fit(data, WORK, account=wrong)
    assert not wrong.journal.entries


def test_columns_too_large_for_pairs_are_still_drawn() -> None:
    random = np.random.default_rng(0)
    codes = np.stack([random.integers(0, 1200, 50), random.integers(0, 1000, 50)], axis=1)
    data = counted(codes.astype(np.int64), "add_remove", cells=(1200, 1000))
    made = tree(data, Workload.of([("x0",)]), account=account(data))
    assert made.parameters["edges"] == []
    assert made.model.sample(10, Source(1)).shape == (10, 2)
    assert evaluate(lambda c: data(*c), made.model.project, Workload.of([("x0",)])).max_error < 1.0
