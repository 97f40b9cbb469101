from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast._arrays import Floats
from holdfast.errors import AdjacencyError, ParameterError
from holdfast.learn import PrivateLinearRegression
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import Logistic, Squared
from holdfast.learn._rows.examples import ArrayExamples
from holdfast.learn._rows.moments import second_moments
from holdfast.learn._whitening import from_upper_triangle, upper_triangle
from holdfast.learn.methods.ridge import METHOD, RidgeBounds, solve_ridge
from holdfast.privacy import Account, Adjacency, ApproxDP, GaussianDP, PrivacyUnit, PureDP

ridge = METHOD.fit


def examples_of(
    features: Floats, labels: Floats, adjacency: str = "replace", count: int | None = None
) -> Any:
    return ArrayExamples(
        features=features,
        labels=labels,
        adjacency=Adjacency(adjacency),
        public_count=features.shape[0] if count is None else count,
    )


def solution(features: Floats, labels: Floats, ridge_: float, radius: float = math.inf) -> Floats:
    moments = second_moments(
        examples_of(features, labels), problem_of(dimension=features.shape[1]), target_bound=1.0
    )
    return solve_ridge(moments, ridge=ridge_, radius=radius)


def clipped(features: Floats) -> Floats:
    return np.asarray(features / np.maximum(1.0, np.linalg.norm(features, axis=1, keepdims=True)))


# Soundness, section 12, test block.


def worst_table() -> tuple[Floats, Floats]:
    features = np.zeros((10_000, 2))
    features[:, 0] = math.sqrt(5 / 10_000)
    return features, np.ones(10_000)


def test_the_worst_table_of_the_notes() -> None:
    features, labels = worst_table()
    before = solution(features, labels, 5.0)
    after = solution(np.vstack([features, [[1.0, 0.0]]]), np.append(labels, -1.0), 5.0)
    moved = float(np.linalg.norm(before - after))
    bounds = RidgeBounds(row_norm=1.0, target_bound=1.0, ridge=5.0, count_bound=10_000)
    assert np.linalg.norm(before) == pytest.approx(22.3607, abs=1e-4)
    assert np.linalg.norm(before) == pytest.approx(bounds.weight_norm, rel=1e-9)
    assert moved == pytest.approx(2.1237, abs=1e-4)
    assert bounds.residual * 1.0 / 5.0 == pytest.approx(4.672, abs=1e-3)
    assert moved <= bounds.one_row <= 3 * moved, "sound, and not vacuous"
    assert 2.0 * 1.0 / 5.0 < moved, "M = 2, read off the data, claims 0.4 and is refuted"


def test_the_tight_factor_is_attained() -> None:
    # One row of norm R against an empty table: H = lambda I, and theta moves by R Y / (lambda + R^2).
    for norm, ridge_ in [(1.0, 3.0), (0.5, 3.0), (1.0, 1.0)]:
        moved = float(np.linalg.norm(solution(np.array([[norm, 0.0]]), np.ones(1), ridge_)))
        bounds = RidgeBounds(row_norm=norm, target_bound=1.0, ridge=ridge_, count_bound=1)
        assert moved * bounds.residual == pytest.approx(bounds.one_row, rel=1e-12)
    # R^2 > lambda: the best norm is sqrt(lambda), not R.
    moved = float(np.linalg.norm(solution(np.array([[math.sqrt(0.2), 0.0]]), np.ones(1), 0.2)))
    bounds = RidgeBounds(row_norm=1.0, target_bound=1.0, ridge=0.2, count_bound=1)
    assert moved * bounds.residual == pytest.approx(bounds.one_row, rel=1e-12)


@pytest.mark.parametrize("radius", [math.inf, 2.0])
def test_units_of_rows_and_targets_change_the_bounds_as_they_change_the_solution(radius: float) -> None:
    """Rows, ridge and targets in other units: every bound follows as the weights do, the rounding's included."""
    bounds = RidgeBounds(row_norm=1.0, target_bound=1.0, ridge=3.0, count_bound=20, radius=radius)
    for rows, targets in [(4.0, 1.0), (1.0, 8.0), (0.5, 2.0)]:
        weight = targets / rows
        scaled = RidgeBounds(
            row_norm=rows, target_bound=targets, ridge=3.0 * rows**2, count_bound=20, radius=radius * weight
        )
        for name in ("weight_norm", "one_row"):
            assert getattr(scaled, name) == pytest.approx(getattr(bounds, name) * weight, rel=1e-12), name
        assert scaled.residual == pytest.approx(bounds.residual * targets, rel=1e-12)
        assert scaled.rounding(3) == pytest.approx(bounds.rounding(3) * weight, rel=1e-12)
        moved = bounds.l2_sensitivity(Adjacency.replace, dimension=3)
        assert moved == bounds.l2_sensitivity(Adjacency.replace, dimension=3, rows_per_unit=1)
        assert scaled.l2_sensitivity(Adjacency.replace, dimension=3) == pytest.approx(
            moved * weight, rel=1e-12
        )


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**31),
    n=st.integers(1, 60),
    d=st.integers(1, 5),
    ridge_=st.floats(0.05, 50),
    radius=st.sampled_from([math.inf, 0.1, 1.0, 5.0]),
)
def test_no_neighbour_moves_the_solution_further(
    seed: int, n: int, d: int, ridge_: float, radius: float
) -> None:
    rng = np.random.default_rng(seed)
    features = clipped(rng.normal(size=(n + 1, d)) * rng.choice([0.05, 1.0, 5.0]))
    labels = np.clip(features @ rng.normal(size=d) * 5, -1, 1) if rng.random() < 0.5 else np.ones(n + 1)
    labels[-1] = -1.0
    bounds = RidgeBounds(row_norm=1.0, target_bound=1.0, ridge=ridge_, count_bound=n + 1, radius=radius)
    without = solution(features[:-1], labels[:-1], ridge_, radius)
    added = solution(features, labels, ridge_, radius)
    assert np.linalg.norm(added) <= bounds.weight_norm * (1 + 1e-9)
    assert np.linalg.norm(added - without) <= bounds.l2_sensitivity(Adjacency.add_remove, dimension=d)
    features[-1] = clipped(rng.normal(size=(1, d)))[0]
    labels[-1] = 1.0
    replaced = solution(features, labels, ridge_, radius)
    assert np.linalg.norm(added - replaced) <= bounds.l2_sensitivity(Adjacency.replace, dimension=d)


def test_on_a_ball_the_bound_is_not_vacuous() -> None:
    # Labels +1 push theta to the sphere; one row (x, -1) at the radius changes the gradient by R (Y + R B).
    ridge_, radius = 2.0, 0.5
    features = np.array([[0.5, 0.0]])
    bounds = RidgeBounds(row_norm=1.0, target_bound=1.0, ridge=ridge_, count_bound=2, radius=radius)
    before = solution(features, np.ones(1), ridge_, radius)
    after = solution(np.vstack([features, [[-1.0, 0.0]]]), np.ones(2), ridge_, radius)
    moved = float(np.linalg.norm(before - after))
    assert bounds.one_row / 3 <= moved <= bounds.one_row


def test_the_constrained_solution_is_the_minimiser_on_the_ball() -> None:
    rng = np.random.default_rng(3)
    features, labels = clipped(rng.normal(size=(50, 3))), np.ones(50)
    best = solution(features, labels, 1.0, radius=0.1)
    assert np.linalg.norm(best) == pytest.approx(0.1, rel=1e-12)

    def objective(theta: Floats) -> float:
        return float(np.sum((features @ theta - labels) ** 2) / 2 + np.sum(theta**2) / 2)

    for _ in range(200):
        other = best + rng.normal(size=3) * 0.01
        other *= 0.1 / max(0.1, float(np.linalg.norm(other)))
        assert objective(other) >= objective(best) - 1e-12


def test_rounding_covers_what_long_double_arithmetic_sees() -> None:
    rng = np.random.default_rng(4)
    features, labels = clipped(rng.normal(size=(400, 4))), np.sign(rng.normal(size=400))
    wide = features.astype(np.longdouble)
    gram = wide.T @ wide + np.longdouble(0.5) * np.eye(4)
    theta = solution(features, labels, 0.5).astype(np.longdouble)
    gradient = gram @ theta - wide.T @ labels
    error = float(np.sqrt(np.sum(gradient**2))) / 0.5
    bounds = RidgeBounds(row_norm=1.0, target_bound=1.0, ridge=0.5, count_bound=400)
    assert 0 < error <= bounds.rounding(4) < 1e-4 * bounds.one_row


def test_matrices_keep_their_norm_when_packed() -> None:
    matrix = np.array([[1.0, 2.0, 3.0], [2.0, 5.0, 6.0], [3.0, 6.0, 9.0]])
    packed = upper_triangle(matrix)
    assert np.linalg.norm(packed) == pytest.approx(np.linalg.norm(matrix))
    assert from_upper_triangle(packed, 3) == pytest.approx(matrix)


# End to end.


def regression(n: int, seed: int = 0) -> tuple[Floats, Floats, Floats]:
    rng = np.random.default_rng(seed)
    features = clipped(rng.normal(size=(n, 4)))
    weights = np.array([0.5, -0.3, 0.2, 0.0])
    return features, np.clip(features @ weights + 0.05 * rng.normal(size=n), -1, 1), weights


def problem_of(**changes: Any) -> Problem:
    arguments: dict[str, Any] = {"loss": Squared(target_bound=1.0), "dimension": 4, "penalty": 0.01} | changes
    return Problem(**arguments)


@pytest.mark.parametrize(
    ("limit", "adjacency"),
    [(GaussianDP(5.0), "replace"), (GaussianDP(5.0), "zero_out"), (PureDP(60.0), "replace")],
)
@pytest.mark.parametrize("radius", [math.inf, 1.0])
def test_learns_and_spends_exactly_its_limit(limit: Any, adjacency: str, radius: float) -> None:
    features, labels, weights = regression(20_000)
    account = Account(limit, adjacency=adjacency, seed=1)
    fit = ridge(examples_of(features, labels, adjacency), problem_of(radius=radius), account=account)
    assert np.linalg.norm(fit.weights - weights) < 0.1
    spent = account.spent()
    assert spent.within(limit)
    assert spent.epsilon(1e-6) == pytest.approx(limit.epsilon(1e-6), rel=1e-6)
    assert fit.noise_std is not None


@pytest.mark.parametrize("arithmetic", ["strict", "idealised"])
@pytest.mark.parametrize(("limit", "tolerance"), [(GaussianDP(1.0), 0.06), (PureDP(1.0), 0.08)])
def test_the_noise_is_as_large_as_the_sensitivity_says(limit: Any, tolerance: float, arithmetic: Any) -> None:
    features, labels, _ = regression(200)
    rows, problem = examples_of(features, labels), problem_of(penalty=1.0)
    centre = solution(features, labels, 200.0)
    draws = []
    for seed in range(400):
        fit = ridge(rows, problem, account=Account(limit, seed=seed), arithmetic=arithmetic)
        draws.append(fit.weights - centre)
        # Two steps of R M / (lambda + R^2), M = 1 + sqrt(200) / (2 sqrt(200)).
    sensitivity = 2 * 1.5 / 201
    assert fit.parameters["l2_sensitivity"] == pytest.approx(sensitivity, rel=1e-6)
    # Gaussian: sensitivity / mu. Laplace of scale sqrt(d) s; or Gamma-norm with E|noise|^2 = d (d + 1) s^2.
    expected = sensitivity * (
        1.0 if limit == GaussianDP(1.0) else 8**0.5 if arithmetic == "strict" else 5**0.5
    )
    assert fit.noise_std == pytest.approx(expected, rel=1e-5)
    assert np.sqrt(np.mean(np.square(draws))) == pytest.approx(expected, rel=tolerance)


def test_a_private_count_needs_a_bound() -> None:
    features, labels, _ = regression(100)
    account = Account(GaussianDP(1.0), adjacency="add_remove", seed=0)
    rows = examples_of(features, labels, "add_remove", count=120)
    with pytest.raises(ParameterError, match="count_bound"):
        ridge(rows, problem_of(), account=account)
    assert account.journal.spent("") is None
    fit = ridge(rows, problem_of(), account=account, count_bound=500)
    assert fit.parameters["ridge"] == pytest.approx(1.2), "the public count divides, not the private one"
    assert [one.text for one in fit.assumptions] == ["the table has at most 500 rows"]


def test_a_user_of_several_rows_multiplies_the_sensitivity() -> None:
    bounds = RidgeBounds(row_norm=1.0, target_bound=1.0, ridge=5.0, count_bound=100)
    one = bounds.l2_sensitivity(Adjacency.replace, dimension=2)
    assert bounds.l2_sensitivity(Adjacency.replace, dimension=2, rows_per_unit=3) == pytest.approx(3 * one)
    unit = PrivacyUnit("patient", max_rows=3)
    rows = ArrayExamples(
        features=np.eye(2), labels=np.ones(2), adjacency=Adjacency.replace, public_count=50, unit=unit
    )
    fit = ridge(
        rows,
        problem_of(dimension=2, penalty=0.1),
        account=Account(GaussianDP(1.0), unit=unit, seed=0),
        count_bound=100,
    )
    assert fit.parameters["l2_sensitivity"] == pytest.approx(3 * one, rel=1e-8)


@pytest.mark.parametrize(
    ("changes", "word"),
    [({"penalty": 0.0}, "penalty"), ({"loss": Logistic()}, "least squares"), ({"dimension": 3}, "dimension")],
)
def test_refuses_bad_constants_before_spending(changes: dict[str, Any], word: str) -> None:
    features, labels, _ = regression(50)
    account = Account(GaussianDP(1.0), seed=0)
    with pytest.raises(ParameterError, match=word):
        ridge(examples_of(features, labels), problem_of(**changes), account=account)
    assert account.journal.spent("") is None


def test_refuses_other_neighbours_and_units() -> None:
    features, labels, _ = regression(50)
    with pytest.raises(AdjacencyError, match="zero_out"):
        ridge(
            examples_of(features, labels),
            problem_of(),
            account=Account(GaussianDP(1.0), adjacency="zero_out"),
        )
    unit = PrivacyUnit("user", max_rows=2)
    with pytest.raises(AdjacencyError, match="user"):
        ridge(examples_of(features, labels), problem_of(), account=Account(GaussianDP(1.0), unit=unit))


def test_survives_an_empty_table() -> None:
    rows = examples_of(np.zeros((0, 4)), np.zeros(0), count=10)
    fit = METHOD.fit(rows, problem_of(), account=Account(ApproxDP(1.0, 1e-6), currency="gdp", seed=0))
    assert np.all(np.isfinite(fit.weights))


@pytest.mark.filterwarnings("ignore::holdfast.errors.NotPrivateWarning")
@pytest.mark.filterwarnings("ignore::holdfast.errors.BudgetWarning")
@pytest.mark.parametrize("epsilon", [1.0, 4.0])
@pytest.mark.parametrize("delta", [1e-7, 0.0])
def test_the_default_on_tiled_warfarin_rises_with_the_rows(
    data_folder: Path, epsilon: float, delta: float
) -> None:
    """Finding L3: 190,000 rows at epsilon 4 once gave R^2 = -72."""
    table = parquet.read_table(data_folder / "warfarin_iwpc_clean.parquet")
    columns = []
    for name in ("race", "cyp2c9", "vkorc1_1639_imputed"):
        values = np.array([str(one) for one in table[name].to_pylist()])
        columns += [(values == level).astype(float) for level in np.unique(values)]
    for name, low, high in (("age_decade", 1, 9), ("height_cm", 120, 210), ("weight_kg", 30, 240)):
        values = np.array([math.nan if one is None else one for one in table[name].to_pylist()])
        columns.append(np.nan_to_num((values - low) / (high - low), nan=0.5))
    x, y = np.column_stack(columns), table["dose_mg_per_week"].to_numpy()
    reached = []
    for times in (2, 8, 34):
        model = PrivateLinearRegression(
            epsilon=epsilon, delta=delta, method="ridge", target_bounds=(0, 100), random_state=1
        )
        model.fit(np.tile(x, (times, 1)), np.tile(y, times))
        reached.append(float(model.score(x, np.clip(y, 0, 100))))
    assert reached[0] < reached[1] < reached[2]
    assert reached[2] > 0.2
