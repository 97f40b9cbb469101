"""The certified minimiser: every answer is within tolerance / penalty of the exact one, or there is none."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import holdfast.learn._risk.minimise as module
from holdfast.errors import ParameterError
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import HuberHinge, Logistic, Squared
from holdfast.learn._risk.minimise import (
    NotCertified,
    gradient_descent,
    gradient_residual,
    is_certified,
    minimise_certified,
    near_start,
    newton,
    on_sphere,
    quasi_newton,
)
from holdfast.learn._risk.risk import Risk
from holdfast.learn._rows.clipped_blocks import clip_chunk
from holdfast.learn._rows.examples import ArrayExamples
from holdfast.privacy import Adjacency

PROBLEMS = [
    pytest.param(Logistic(), math.inf, id="logistic"),
    pytest.param(Logistic(), 0.4, id="logistic on a ball"),
    pytest.param(HuberHinge(width=0.1), math.inf, id="huber"),
    pytest.param(HuberHinge(width=0.1), 0.4, id="huber on a ball"),
    pytest.param(Squared(target_bound=1.0, prediction_bound=0.4), 0.4, id="squared on a ball"),
]


def a_risk(loss: Any, radius: float = math.inf, *, rows: int = 300, seed: int = 0, **options: Any) -> Risk:
    rng = np.random.Generator(np.random.PCG64(seed))
    x = rng.normal(size=(rows, 4))
    x /= np.maximum(1.0, np.linalg.norm(x, axis=1))[:, None]
    y = np.sign(x @ np.array([1.0, -2.0, 0.5, 0.0]) + 0.3 * rng.normal(size=rows))
    examples = ArrayExamples(features=x, labels=y, adjacency=Adjacency.replace, public_count=max(rows, 1))
    problem = Problem(loss=loss, dimension=4, penalty=0.02, radius=radius)
    return Risk(examples=examples, problem=problem, **({"penalty": 0.02, "divisor": 300.0} | options))


@pytest.mark.parametrize(("loss", "radius"), PROBLEMS)
def test_is_certified_and_near_what_plain_descent_finds(loss: Any, radius: float) -> None:
    risk = a_risk(loss, radius)
    w = minimise_certified(risk, tolerance=1e-9)
    assert gradient_residual(risk, w) <= 1e-9
    assert np.linalg.norm(w) <= radius * (1 + 1e-12)
    slow = gradient_descent(risk, tolerance=1e-8)
    # Both are within tolerance / penalty of the same point.
    assert np.linalg.norm(w - slow) <= (1e-9 + 1e-8) / risk.penalty


@pytest.mark.parametrize(("loss", "radius"), PROBLEMS)
def test_falls_back_to_descent_where_the_fast_solver_fails(
    loss: Any, radius: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    risk = a_risk(loss, radius)
    expected = minimise_certified(risk, tolerance=1e-7)
    monkeypatch.setattr(module, "newton", lambda risk, w, **_: w + 0.01)
    found = minimise_certified(risk, tolerance=1e-7)
    assert is_certified(risk, found, tolerance=1e-7)
    assert np.linalg.norm(found - expected) <= 2e-7 / risk.penalty


def test_an_uncertified_point_is_never_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NotCertified, match="tolerance"):
        minimise_certified(a_risk(Logistic()), tolerance=1e-25)
    monkeypatch.setattr(module, "newton", lambda risk, w, **_: w + 0.01)
    monkeypatch.setattr(module, "gradient_descent", lambda risk, **_: np.ones(4))
    with pytest.raises(NotCertified):
        minimise_certified(a_risk(Logistic()), tolerance=1e-3)


def test_a_point_outside_the_ball_has_no_certificate() -> None:
    risk = a_risk(Squared(target_bound=1.0, prediction_bound=0.4), 0.4)
    free = newton(risk, np.zeros(4), tolerance=1e-10)
    assert np.linalg.norm(free) > 0.4
    assert gradient_residual(risk, free) == math.inf
    assert gradient_residual(risk, on_sphere(risk, free, tolerance=1e-9)) <= 1e-9
    # Scaling the free minimiser onto the sphere is not the constrained one.
    assert gradient_residual(risk, free * (0.4 / np.linalg.norm(free))) > 1e-3
    # A gradient that points outwards, so that the minimiser is inside, is no excuse on the sphere.
    empty = a_risk(Logistic(), 0.4, rows=0)
    pushed = Risk(
        examples=empty.examples, problem=empty.problem, penalty=0.02, linear=np.array([9.0, 0, 0, 0])
    )
    assert gradient_residual(pushed, np.array([0.4, 0.0, 0.0, 0.0])) > 1.0
    assert gradient_residual(pushed, np.array([-0.4, 0.0, 0.0, 0.0])) < 1e-9


def test_many_columns_go_through_quasi_newton(monkeypatch: pytest.MonkeyPatch) -> None:
    risk = a_risk(Logistic())
    expected = minimise_certified(risk, tolerance=1e-8)
    monkeypatch.setattr(Risk, "dense", property(lambda self: False))
    assert np.linalg.norm(minimise_certified(risk, tolerance=1e-8) - expected) <= 2e-8 / risk.penalty
    assert np.linalg.norm(quasi_newton(risk, np.zeros(4)) - expected) < 1e-5


@given(seed=st.integers(0, 10_000), length=st.floats(0.0, 30.0))
def test_the_doubt_covers_rounding(seed: int, length: float) -> None:
    risk = a_risk(Logistic(), rows=700, seed=seed, divisor=1.0)
    rng = np.random.Generator(np.random.PCG64(seed))
    w = length * rng.normal(size=4)
    plain, doubt = risk.gradient(w)
    precise, small = risk.gradient(w, precise=True)
    assert np.linalg.norm(plain - precise) <= doubt + small
    assert small < doubt < 1e-9


def test_linear_losses_move_the_minimiser_by_exactly_the_bound() -> None:
    """A linear term: soundness, section 3, l = z w, one flip of n = 100, penalty 0.1."""
    empty = a_risk(Logistic(), rows=0)
    moved = []
    for total in (1.0, 0.98):  # the mean of z with all +1, and with one -1
        risk = Risk(
            examples=empty.examples,
            problem=empty.problem,
            penalty=0.1,
            linear=np.array([total, 0.0, 0.0, 0.0]),
        )
        moved.append(minimise_certified(risk, tolerance=1e-12))
    assert np.linalg.norm(moved[0] - moved[1]) == pytest.approx(0.2, rel=1e-9)


def test_no_rows_and_one_row() -> None:
    assert np.allclose(minimise_certified(a_risk(Logistic(), rows=0), tolerance=1e-9), 0.0)
    assert is_certified(
        a_risk(Logistic(), rows=1),
        minimise_certified(a_risk(Logistic(), rows=1), tolerance=1e-9),
        tolerance=1e-9,
    )


def test_rows_that_break_the_declaration_are_clipped_and_null_rows_count_for_nothing() -> None:
    problem = Problem(loss=Logistic(), dimension=2)
    x = np.array([[3.0, 4.0], [0.3, 0.4], [np.nan, 0.0], [1.0, 0.0], [1e200, 0.0]])
    rows, labels = clip_chunk((x, np.array([7.0, 0.0, 1.0, np.inf, -1.0])), problem)
    assert rows.tolist() == [[0.6000000000000001, 0.8], [0.3, 0.4], [0.0, 0.0], [0.0, 0.0], [1.0, 0.0]]
    assert set(labels.tolist()) <= {-1.0, 1.0}
    squared = Problem(loss=Squared(target_bound=1.0, prediction_bound=1.0), dimension=2, radius=1.0)
    assert clip_chunk((x, np.array([7.0, 0.0, 1.0, np.inf, -1.0])), squared)[1].tolist() == [
        7.0,
        0.0,
        1.0,
        0.0,
        -1.0,
    ]


def test_refusals() -> None:
    with pytest.raises(ParameterError, match="penalty"):
        a_risk(Logistic(), penalty=0.0)
    with pytest.raises(ParameterError, match="divisor"):
        a_risk(Logistic(), divisor=0.0)
    with pytest.raises(ParameterError, match="tolerance"):
        minimise_certified(a_risk(Logistic()), tolerance=0.0)


def test_a_sample_gives_a_start_and_the_certificate_is_about_all_rows() -> None:
    risk = a_risk(Logistic(), rows=10_000)
    start = near_start(risk)
    zero, near = (float(np.linalg.norm(risk.gradient(w)[0])) for w in (np.zeros(4), start))
    assert 0 < near < 0.1 * zero  # near, and not the minimiser
    found = minimise_certified(risk, tolerance=1e-9)
    assert is_certified(risk, found, tolerance=1e-9)
    assert np.linalg.norm(found - newton(risk, np.zeros(4), tolerance=1e-10)) <= 2e-9 / risk.penalty
    assert np.array_equal(near_start(a_risk(Logistic(), rows=200)), np.zeros(4))


def test_a_hessian_of_some_rows_is_an_estimate_of_the_whole() -> None:
    risk = a_risk(Logistic(), rows=5_000, divisor=3.0)
    w = np.array([0.5, -1.0, 0.2, 0.0])
    whole = risk.hessian(w)
    for place, step in enumerate(1e-5 * np.eye(4)):
        column = (risk.gradient(w + step)[0] - risk.gradient(w - step)[0]) / 2e-5
        assert whole[:, place] == pytest.approx(column, rel=1e-4, abs=1e-2)
    assert np.linalg.norm(risk.hessian(w, every=4) - whole) < 0.1 * np.linalg.norm(whole)


def test_the_doubt_covers_rounding_over_many_blocks() -> None:
    risk = a_risk(Logistic(), rows=9_000, divisor=1.0)
    for length in (0.0, 1.0, 30.0):
        w = length * np.array([0.3, -0.5, 0.1, 0.8])
        (plain, doubt), (precise, small) = risk.gradient(w), risk.gradient(w, precise=True)
        assert np.linalg.norm(plain - precise) <= doubt + small
        assert doubt < 1e-8
