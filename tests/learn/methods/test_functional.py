from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast._arrays import Floats
from holdfast.errors import AdjacencyError, ParameterError
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import HuberHinge, Logistic, Squared
from holdfast.learn._rows.examples import ArrayExamples
from holdfast.learn.methods.functional import LINEAR, LOGISTIC, TAYLOR_SLOPE, Quadratic, minimise_quadratic
from holdfast.learn.methods.functional import METHOD as FUNCTIONAL
from holdfast.privacy import ZCDP, Account, Adjacency, PrivacyUnit, PureDP

functional = FUNCTIONAL.fit


def examples_of(
    features: Floats, labels: Floats, adjacency: str = "replace", **changes: Any
) -> ArrayExamples:
    arguments: dict[str, Any] = {"public_count": max(1, features.shape[0])} | changes
    return ArrayExamples(features=features, labels=labels, adjacency=Adjacency(adjacency), **arguments)


def clipped(features: Floats) -> Floats:
    return np.asarray(features / np.maximum(1.0, np.linalg.norm(features, axis=1, keepdims=True)))


# The numbers of soundness, section 7.


@pytest.mark.parametrize(
    ("quadratic", "sensitivity", "published"), [(LINEAR, 32.649, 242), (LOGISTIC, 5.6623, 55)]
)
def test_the_sensitivities_of_the_notes(quadratic: Quadratic, sensitivity: float, published: float) -> None:
    found = quadratic.l1_sensitivity(Adjacency.add_remove, dimension=10)
    assert 2 * found == pytest.approx(sensitivity, abs=5e-4)
    assert 2 * found < published / 7
    # The notes count two rows under replace; two rows cannot both do their worst.
    assert 0.7 * 2 * found < quadratic.l1_sensitivity(Adjacency.replace, dimension=10) < 0.76 * 2 * found


@pytest.mark.parametrize("quadratic", [LINEAR, LOGISTIC])
def test_two_halves_come_near_the_bound_under_replace(quadratic: Quadratic) -> None:
    for d, least in ((2, 0.96), (10, 0.96), (200, 0.98)):
        largest = max(
            moved_by_halves(quadratic, d, turn, apart)
            for turn in np.linspace(0, math.pi / 2, 91)
            for apart in np.linspace(0.8, 2.4, 41)
        )
        bound = quadratic.l1_sensitivity(Adjacency.replace, dimension=d)
        assert least * bound <= largest <= bound * (1 + 1e-12)


def moved_by_halves(quadratic: Quadratic, d: int, turn: float, apart: float) -> float:
    """Rows with one number in the first half of the columns and another in the second, with the worse of labels."""
    half = math.sqrt(2 / d)
    (a, b), (c, e) = (half * np.array([math.cos(t), math.sin(t)]) for t in (turn, turn + apart))
    linear = max(abs(a - c) + abs(b - e), abs(a + c) + abs(b + e)) * d / 2
    square = (abs(a * a - c * c) + abs(b * b - e * e) + 2 * abs(a * b - c * e)) * d * d / 4
    return float(abs(quadratic.linear) * linear + quadratic.square * square)


@settings(max_examples=100, deadline=None)
@given(
    seed=st.integers(0, 2**31),
    d=st.integers(1, 8),
    quadratic=st.sampled_from([LINEAR, LOGISTIC]),
    adjacency=st.sampled_from(list(Adjacency)),
)
def test_no_neighbour_moves_the_coefficients_further(
    seed: int, d: int, quadratic: Quadratic, adjacency: Adjacency
) -> None:
    rng = np.random.default_rng(seed)
    features = clipped(rng.normal(size=(4, d)) * 3)
    if rng.random() < 0.5:
        features[-1] = rng.choice([-1, 1], size=d) / math.sqrt(d)
    labels = rng.choice([-1.0, 1.0], size=4)
    other, other_labels = features.copy(), labels.copy()
    other[-1], other_labels[-1] = clipped(rng.normal(size=(1, d)) * 3)[0], rng.choice([-1.0, 1.0])
    if rng.random() < 0.5:  # in the plane of the first row, at any angle
        angle = rng.uniform(0, math.pi)
        other[-1] = clipped(math.cos(angle) * features[-1:] + math.sin(angle) * other[-1:])[0]
    if adjacency is not Adjacency.replace:
        other, other_labels = other[:-1], other_labels[:-1]
    moved = quadratic.coefficients(features, labels) - quadratic.coefficients(other, other_labels)
    assert np.sum(np.abs(moved)) <= quadratic.l1_sensitivity(adjacency, dimension=d) * (1 + 1e-12)


@pytest.mark.parametrize("quadratic", [LINEAR, LOGISTIC])
def test_the_bound_is_attained_when_a_row_is_added(quadratic: Quadratic) -> None:
    row = np.full((1, 6), 1 / math.sqrt(6))
    assert np.sum(np.abs(quadratic.coefficients(row, np.ones(1)))) == pytest.approx(
        quadratic.l1_sensitivity(Adjacency.add_remove, dimension=6)
    )


def test_coefficients_are_those_of_the_polynomial() -> None:
    rng = np.random.default_rng(0)
    features, labels, w = (
        clipped(rng.normal(size=(5, 3))),
        rng.choice([-1.0, 1.0], size=5),
        rng.normal(size=3),
    )
    monomials = np.concatenate([w, w**2, [w[0] * w[1], w[0] * w[2], w[1] * w[2]]])
    z = features @ w
    assert LINEAR.coefficients(features, labels) @ monomials == pytest.approx(
        np.sum((labels - z) ** 2) - np.sum(labels**2)
    )
    assert LOGISTIC.coefficients(features, labels) @ monomials == pytest.approx(
        np.sum(-labels * z / 2 + z**2 / 8)
    )


def test_the_stated_taylor_bias_covers_the_remainder() -> None:
    z = np.linspace(-6, 6, 2001)
    remainder = np.abs(np.logaddexp(0, -z) - (math.log(2) - z / 2 + z**2 / 8))
    assert np.all(remainder <= TAYLOR_SLOPE * np.abs(z) ** 3 + 1e-15)


def test_a_quadratic_without_a_minimum_is_floored() -> None:
    coefficients = np.array([1.0, 1.0, -3.0, 5.0, 0.0])
    assert minimise_quadratic(coefficients, dimension=2, ridge=1.0, floor=2.0) == pytest.approx(
        [-0.25, -1 / 12]
    )


# End to end.


def regression(n: int) -> tuple[Floats, Floats, Floats]:
    rng = np.random.default_rng(0)
    features, weights = clipped(rng.normal(size=(n, 3))), np.array([0.5, -0.3, 0.2])
    return features, np.clip(features @ weights + 0.05 * rng.normal(size=n), -1, 1), weights


@pytest.mark.parametrize(
    ("limit", "adjacency"), [(PureDP(5.0), "replace"), (PureDP(5.0), "zero_out"), (ZCDP(10.0), "replace")]
)
def test_linear_regression_learns_and_spends_its_limit(limit: Any, adjacency: str) -> None:
    features, labels, weights = regression(20_000)
    account = Account(limit, adjacency=adjacency, seed=1)
    problem = Problem(loss=Squared(target_bound=3.0), dimension=3, row_norm=2.0)
    fit = functional(examples_of(2 * features, 3 * labels, adjacency), problem, account=account)
    assert np.linalg.norm(fit.weights - 1.5 * weights) < 0.1, "scales of rows and labels are undone"
    assert account.spent().within(limit)
    assert account.spent().epsilon(1e-6) == pytest.approx(limit.epsilon(1e-6), rel=1e-6)


def test_at_large_epsilon_it_is_least_squares_with_the_problems_penalty() -> None:
    features, labels, _ = regression(2_000)
    problem = Problem(loss=Squared(target_bound=1.0), dimension=3, penalty=0.1)
    fit = functional(examples_of(features, labels), problem, account=Account(PureDP(1e7), seed=0), ridge=1e-9)
    exact = np.linalg.solve(features.T @ features + 200 * np.eye(3), features.T @ labels)
    assert fit.weights == pytest.approx(exact, abs=1e-3)
    assert fit.assumptions == ()


def test_logistic_regression_learns_and_states_its_bias() -> None:
    features, _, _ = regression(20_000)
    labels = np.where(features @ np.array([1.0, -1.0, 0.5]) > 0, 1.0, -1.0)
    problem = Problem(loss=Logistic(), dimension=3)
    fit = functional(examples_of(features, labels), problem, account=Account(PureDP(4.0), seed=0))
    assert np.mean(np.sign(features @ fit.weights) == labels) > 0.95
    assert "Taylor" in fit.assumptions[0].text
    exact = functional(
        examples_of(features, labels), problem, account=Account(PureDP(1e8), seed=0), ridge=1e-9
    )
    assert exact.weights == pytest.approx(
        np.linalg.solve(features.T @ features, features.T @ labels) * 2, rel=1e-3
    )


@pytest.mark.parametrize("arithmetic", ["strict", "idealised"])
def test_the_noise_is_as_large_as_the_sensitivity_says(arithmetic: Any) -> None:
    noise = []

    class Watched(Account):
        def release(self, mechanism: Any, value: Any, **named: Any) -> Any:
            noisy = super().release(mechanism, value, **named)
            noise.append(noisy - value)
            return noisy

    features, labels, _ = regression(50)
    problem = Problem(loss=Logistic(), dimension=3)
    for seed in range(200):
        functional(
            examples_of(features, np.sign(labels)),
            problem,
            account=Watched(PureDP(0.5), seed=seed),
            arithmetic=arithmetic,
        )
    drawn = np.array(noise)
    assert drawn.shape == (200, 3 + 6), "one variate per distinct monomial"
    scale = LOGISTIC.l1_sensitivity(Adjacency.replace, dimension=3) / 0.5
    assert np.mean(np.abs(drawn)) == pytest.approx(scale, rel=5 / math.sqrt(drawn.size))
    assert np.max(np.abs(np.corrcoef(drawn.T) - np.eye(9))) < 0.35


def test_users_radius_and_refusals() -> None:
    unit = PrivacyUnit("user", max_rows=2)
    features, labels, _ = regression(50)
    problem = Problem(loss=Squared(target_bound=1.0), dimension=3, radius=0.01)
    fit = functional(
        examples_of(features, labels, unit=unit), problem, account=Account(PureDP(1.0), unit=unit, seed=0)
    )
    assert fit.parameters["l1_sensitivity"] == pytest.approx(
        2 * LINEAR.l1_sensitivity(Adjacency.replace, dimension=3), rel=1e-6
    )
    assert np.linalg.norm(fit.weights) <= 0.01 * (1 + 1e-12)
    account = Account(PureDP(1.0), seed=0)
    for wrong, word in [
        (Problem(loss=HuberHinge(), dimension=3), "huber"),
        (Problem(loss=Logistic(), dimension=2), "dimension"),
    ]:
        with pytest.raises(ParameterError, match=word):
            functional(examples_of(features, labels), wrong, account=account)
    with pytest.raises(ParameterError, match="ridge"):
        functional(examples_of(features, labels), problem, account=account, ridge=0.0)
    with pytest.raises(AdjacencyError):
        functional(examples_of(features, labels, "zero_out"), problem, account=account)
    assert account.journal.spent("") is None
    empty = functional(examples_of(np.zeros((0, 3)), np.zeros(0)), problem, account=account)
    assert np.all(np.isfinite(empty.weights))
