"""Independent 1-way marginals: sensitivity, noise, and the reference lines that they are one of."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.data import Categorical, Schema, open_table
from holdfast.data._sensitivity import counts_l1, counts_l2
from holdfast.errors import AdjacencyError, ParameterError
from holdfast.noise._source import Source
from holdfast.privacy import ApproxDP, PureDP
from holdfast.privacy._account import Account
from holdfast.synth._evaluation import LINES, evaluate, reference_lines
from holdfast.synth._exact_counts import ExactCounts
from holdfast.synth._forecast import forecast_lines, forecast_synthesis
from holdfast.synth._models.model import on_simplex
from holdfast.synth._models.product import ProductModel
from holdfast.synth._workload import Workload
from holdfast.synth._workload.workload import Marginal
from holdfast.synth.methods.independent import independent

SCHEMA = Schema([Categorical("a", ["0", "1", "2"]), Categorical("b", ["0", "1"])])
WORKLOAD = Workload.of([("a", "b")])


def table(rows: np.ndarray, adjacency: str = "replace") -> ExactCounts:
    frame = {"a": rows[:, 0].astype(str), "b": rows[:, 1].astype(str)}
    return ExactCounts(open_table(frame, SCHEMA, adjacency=adjacency))


def one_ways(data: ExactCounts) -> np.ndarray:
    return np.concatenate(data.counts([("a",), ("b",)]))


def test_the_declared_sensitivity_is_kept_and_reached() -> None:
    random = np.random.default_rng(0)
    rows = np.stack([random.integers(0, 3, 20), random.integers(0, 2, 20)], axis=1)
    base = one_ways(table(rows))
    moves: dict[str, list[np.ndarray]] = {"replace": [], "add_remove": []}
    for a in range(3):
        for b in range(2):
            other = rows.copy()
            other[0] = (a, b)
            moves["replace"].append(one_ways(table(other)) - base)
            moves["add_remove"].append(one_ways(table(np.vstack([rows, [(a, b)]]))) - base)
    for adjacency, differences in moves.items():
        l2 = max(float(np.linalg.norm(d)) for d in differences)
        l1 = max(float(np.abs(d).sum()) for d in differences)
        assert l2 == pytest.approx(counts_l2(adjacency, marginals=2))
        assert l1 == pytest.approx(counts_l1(adjacency, marginals=2))


@pytest.mark.parametrize("adjacency", ["replace", "zero_out", "add_remove"])
def test_the_noise_is_as_large_as_it_says(adjacency: str) -> None:
    data = table(np.zeros((100, 2), dtype=np.int64), adjacency)
    noise = []
    for seed in range(150):
        account = Account(ApproxDP(1.0, 1e-6), adjacency=adjacency, currency="gdp", seed=seed)
        made = independent(data, WORKLOAD, account=account)
        noise.append(np.concatenate([one.values for one in made.measurements]) - one_ways(data))
    std = made.measurements[0].noise_std
    # 4.2247 is the analytic Gaussian's sigma at (1, 1e-6) for sensitivity 1 (soundness, section 0).
    assert std == pytest.approx(4.2247 * counts_l2(adjacency, marginals=2), rel=1e-4)
    assert np.std(noise) == pytest.approx(std, rel=0.1)


def test_pure_noise_is_laplace() -> None:
    account = Account(PureDP(1.0), adjacency="add_remove", currency="pure", seed=1)
    made = independent(table(np.zeros((10, 2), dtype=np.int64), "add_remove"), WORKLOAD, account=account)
    assert made.measurements[0].noise_std == pytest.approx(2 * math.sqrt(2))


def test_another_adjacency_is_refused_before_spending() -> None:
    account = Account(ApproxDP(1.0, 1e-6), adjacency="add_remove", seed=1)
    with pytest.raises(AdjacencyError):
        independent(table(np.zeros((10, 2), dtype=np.int64)), WORKLOAD, account=account)
    assert not account.journal.entries


@given(values=st.lists(st.floats(-100, 100), min_size=1, max_size=20), total=st.floats(0.1, 1000))
@settings(max_examples=80, deadline=None)
def test_the_simplex_projection_is_the_nearest_point(values: list[float], total: float) -> None:
    array = np.array(values)
    nearest = on_simplex(array, total=total)
    assert nearest.sum() == pytest.approx(total)
    assert (nearest >= 0).all()
    # The optimality condition: a step towards any corner does not come closer.
    gradient = nearest - array
    assert float(gradient @ nearest) <= total * gradient.min() + 1e-6 * (1 + np.abs(array).max()) * total


def test_a_product_model_is_asked_and_drawn_from() -> None:
    model = ProductModel(columns={"a": [0.5, 0.25, 0.25], "b": [0.1, 0.9]}, total=200.0)
    codes = model.sample(200, Source(seed=2))
    assert np.array_equal(np.bincount(codes[:, 0]), [100, 50, 50])
    assert np.array_equal(np.bincount(codes[:, 1]), [20, 180])
    assert model.project(("b", "a")).sum() == pytest.approx(200)
    with pytest.raises(ParameterError, match="columns"):
        ProductModel(columns={"a": [0.0, 0.0]}, total=1.0)


def correlated() -> ExactCounts:
    a = np.random.default_rng(1).integers(0, 2, 4000)
    return table(np.stack([a, a], axis=1))


def test_the_lines_come_from_one_function_and_are_internal() -> None:
    data = correlated()
    known = tuple(name for name in LINES if name != "tree")
    found = {one.name: one for one in reference_lines(data, WORKLOAD, epsilon=1.0, delta=1e-6, options=known)}
    assert {one.audience for one in found.values()} == {"internal"}
    assert found["uniform"].max_error == pytest.approx(1 / 3, abs=0.02)
    assert found["independent"].max_error == pytest.approx(0.25, abs=0.02)
    assert found["gaussian answers"].max_error < 0.02
    assert "do not publish" in found["uniform"].summary()
    pure = reference_lines(data, WORKLOAD, epsilon=1.0, delta=0.0, options=known)
    assert pure[-1].max_error < 0.02


def test_total_variation_and_the_largest_error_are_those_of_the_definition() -> None:
    truth, made = np.array([[0.5, 0.0], [0.25, 0.25]]), np.array([[0.25, 0.25], [0.25, 0.25]])
    found = evaluate(lambda _: truth * 8, lambda _: made, Workload.of([("a", "b")]))
    assert found.average_total_variation == pytest.approx(0.25)
    assert found.max_error == pytest.approx(0.25)


def test_plans_get_better_with_epsilon_and_with_rows() -> None:
    few, many = (
        forecast_synthesis(SCHEMA, rows=rows, epsilons=[0.01, 0.1, 1.0], delta=1e-6)
        for rows in (100, 100_000)
    )
    assert [one.workload_error for one in few] == sorted([one.workload_error for one in few], reverse=True)
    assert all(a.smallest_claim >= b.smallest_claim for a, b in zip(few, many, strict=True))
    assert "lost in noise" in few[0].verdict
    assert many[-1].verdict == "the workload is kept"
    assert len(forecast_lines(many)) == 5


def cells(number: int) -> Any:
    return Schema([Categorical(name, [str(i) for i in range(number)]) for name in "abcd"])


def test_a_workload_keeps_to_its_size_limit_and_refuses_what_is_not_there() -> None:
    schema = cells(10)
    assert len(Workload.marginals(schema, 3).groups) == 4
    assert len(Workload.marginals(schema, 9).groups) == 1
    with pytest.raises(ParameterError, match="most_cells"):
        Workload.marginals(schema, 3, most_cells=100)
    with pytest.raises(ParameterError, match="columns"):
        Workload.of([("z",)]).check(schema)
    with pytest.raises(ParameterError, match="at least one group"):
        Workload([])
    weighted = Workload.of([("a",), Marginal(("b",))], weights=[2.0, 1.0])
    assert weighted.weight() == 3.0
