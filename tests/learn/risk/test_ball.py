"""Objective perturbation over a ball: the true laws of small problems, the certificate, and the method."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.learn import PrivateLinearRegression
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import Logistic, Squared
from holdfast.learn._risk.ball import BallRisk, minimise_in_ball
from holdfast.learn._risk.minimise import NotCertified
from holdfast.learn._rows.examples import ArrayExamples
from holdfast.learn.methods.objective import BARRIER, RELATIVE_TOLERANCE, Losses, objective_mechanism
from holdfast.privacy import Adjacency, PureDP

RADIUS = 0.7


def a_problem(loss: str, dimension: int) -> Problem:
    chosen: Any = Logistic() if loss == "logistic" else Squared(target_bound=1.0, prediction_bound=RADIUS)
    return Problem(loss=chosen, dimension=dimension, radius=RADIUS)


def a_risk(loss: str, dimension: int, seed: int, *, size: float = 1.0, weight: float = 0.5) -> BallRisk:
    random = np.random.default_rng(seed)
    x = random.normal(size=(30, dimension))
    x /= np.maximum(1.0, np.linalg.norm(x, axis=1))[:, None]
    rows = ArrayExamples(
        features=x, labels=np.sign(random.normal(size=30)), adjacency=Adjacency.replace, public_count=30
    )
    return BallRisk(
        examples=rows,
        problem=a_problem(loss, dimension),
        penalty=0.3,
        linear=size * random.normal(size=dimension),
        weight=weight,
    )


LINEAR = st.sampled_from([0.0, 1.0, 300.0])


@settings(max_examples=30)
@given(st.sampled_from(["logistic", "squared"]), st.integers(1, 5), st.integers(0, 50), LINEAR)
def test_the_point_is_inside_and_no_other_is_better(
    loss: str, dimension: int, seed: int, size: float
) -> None:
    risk = a_risk(loss, dimension, seed, size=size)
    w = minimise_in_ball(risk, tolerance=1e-7)
    assert float(np.linalg.norm(w)) < RADIUS
    random = np.random.default_rng(seed)
    for reach in (1e-3, 0.1, 1.0):
        assert risk.value(w + reach * random.normal(size=dimension)) >= risk.value(w) - 1e-9 * (1 + size)


def test_what_arithmetic_cannot_show_is_refused() -> None:
    with pytest.raises(NotCertified):
        minimise_in_ball(a_risk("squared", 2, 0), tolerance=1e-25)


def test_gradient_and_hessian_are_those_of_the_value() -> None:
    risk, w, step = a_risk("squared", 3, 1), np.array([0.3, -0.2, 0.4]), 1e-5
    around = [(w + step * axis, w - step * axis) for axis in np.eye(3)]
    by_value = [(risk.value(up) - risk.value(down)) / (2 * step) for up, down in around]
    np.testing.assert_allclose(risk.gradient(w)[0], by_value, rtol=1e-6)
    by_gradient = [(risk.gradient(up)[0] - risk.gradient(down)[0]) / (2 * step) for up, down in around]
    np.testing.assert_allclose(risk.hessian(w, precise=True), by_gradient, rtol=1e-5)
    assert math.isinf(risk.value(np.array([0.7, 0.7, 0.0])))


@pytest.mark.parametrize("loss", ["logistic", "squared"])
@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_the_true_law_in_one_column_stays_within_epsilon(loss: str, adjacency: str) -> None:
    """ln of the ratio of densities at every point of the ball: nu(b(w)) |b'(w)|, b(w) = -(gradient of all else)."""
    problem, others = a_problem(loss, 1), ([0.2, -1.0, 1.0], [1.0, 1.0, -1.0])
    told: Any = {"limit": PureDP(1.0), "adjacency": adjacency, "public_count": 4, "penalty_factor": 1.3}
    mechanism = objective_mechanism(problem, **told)
    barrier = BARRIER * RADIUS * float(mechanism.tolerance) / RELATIVE_TOLERANCE
    grid, laws = np.linspace(-RADIUS * 0.9999, RADIUS * 0.9999, 801), []
    lasts: tuple[Any, ...] = (([1.0], [1.0]), ([1.0], [-1.0]), ([-1.0], [-1.0]), ([], []))
    for last in lasts[:3] if adjacency == "replace" else lasts:
        x, y = np.array([*others[0], *last[0]])[:, None], np.array([*others[1], *last[1]])
        rows = ArrayExamples(features=x, labels=y, adjacency=Adjacency.of(adjacency), public_count=4)
        losses = Losses(examples=rows, problem=problem, barrier=barrier)
        penalty = float(mechanism.penalty)
        b = np.array([-losses.gradient(np.array([w]))[0] - penalty * w for w in grid])
        slopes = np.array([losses.log_determinant(np.array([w]), penalty=penalty) for w in grid])
        laws.append(-np.abs(b) / float(getattr(mechanism, "scale")) + slopes)  # noqa: B009
    pairs = [(p, q) for p in laws for q in laws] if adjacency == "replace" else [(p, laws[-1]) for p in laws]
    largest = max(float(np.max(np.abs(p - q))) for p, q in pairs)

    assert 0.25 < largest <= 1.0


@pytest.mark.filterwarnings(
    "ignore::holdfast.errors.NotPrivateWarning", "ignore::holdfast.errors.BudgetWarning"
)
def test_least_squares_by_objective_perturbation_in_an_account() -> None:
    random = np.random.default_rng(0)
    x = random.normal(size=(3_000, 3)) / 3.0
    y = np.clip(x @ [0.8, -0.4, 0.1] + 0.05 * random.normal(size=3_000), -1, 1)
    told: Any = {"target_bounds": (-1, 1), "radius": 1.5, "random_state": 0, "method": "objective"}
    model: Any = PrivateLinearRegression(epsilon=4.0, **told).fit(x, y)
    assert model.score(x, y) > 0.5
    pure: Any = PrivateLinearRegression(epsilon=4.0, delta=0.0, **told).fit(x, y)
    assert math.hypot(*pure.coef_.ravel(), *np.atleast_1d(pure.intercept_)) <= 1.5 + 1e-9
