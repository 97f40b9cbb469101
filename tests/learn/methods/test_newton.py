from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast._arrays import Floats
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import Logistic
from holdfast.learn._rows.clipped_blocks import ClippedBlocks
from holdfast.learn._rows.examples import ArrayExamples
from holdfast.learn._whitening import from_upper_triangle
from holdfast.learn.methods.newton import (
    METHOD,
    POOLED_RELEASES,
    STEP_SHARES,
    JointScore,
    NewtonStep,
    _newton_step,
    score_of,
)
from holdfast.privacy import Account, Adjacency, GaussianDP

NEIGHBOURS = list(Adjacency)


def examples_of(rows: Floats, labels: Floats, adjacency: Adjacency = Adjacency.zero_out) -> ArrayExamples:
    return ArrayExamples(
        features=rows, labels=labels, adjacency=adjacency, public_count=max(1, rows.shape[0])
    )


def vector(rows: Floats, labels: Floats, theta: Floats, joint: JointScore, along: Any = None) -> Floats:
    problem = Problem(loss=Logistic(), dimension=theta.size)
    return joint.at(theta, ClippedBlocks(examples_of(rows, labels), problem), problem, along)


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 2**31),
    size=st.floats(0.0, 30.0),
    adjacency=st.sampled_from(NEIGHBOURS),
    rows=st.integers(1, 3),
    third=st.booleans(),
)
def test_no_unit_moves_gradient_and_curvature_further(
    seed: int, size: float, adjacency: Adjacency, rows: int, third: bool
) -> None:
    """Together they cost what the gradient costs, at every prediction; the third derivative along the row included."""
    random = np.random.default_rng(seed)
    joint = JointScore.of(adjacency, row_norm=1.0, rows_per_unit=rows)
    theta = random.normal(size=3)
    theta *= size / np.linalg.norm(theta)

    def drawn() -> Floats:
        made = random.normal(size=(rows, 3)) + random.choice([-1, 0, 1]) * theta
        return np.asarray(made / np.linalg.norm(made, axis=1, keepdims=True))

    labels, first = random.choice([-1.0, 1.0], size=(2, rows)), drawn()
    along = first[0] if third else None
    mine = vector(first, labels[0], theta, joint, along)
    other = np.zeros_like(mine)
    if adjacency is Adjacency.replace:
        other = vector(drawn(), labels[1], theta, joint, along)
    assert np.linalg.norm(mine - other) <= joint.l2_sensitivity * (1 + 1e-9)


@pytest.mark.parametrize("adjacency", NEIGHBOURS)
def test_the_bound_is_attained_and_a_larger_lift_would_break_it(adjacency: Adjacency) -> None:
    # Both far on the wrong side of a steep model, and nearly opposite: slopes of full length that differ by twice it.
    row, theta = np.array([[0.005, math.sqrt(1 - 0.005**2)]]), np.array([1e4, 0.0])
    joint = JointScore.of(adjacency, row_norm=1.0)
    both = vector(row, np.array([-1.0]), theta, joint)
    if adjacency is Adjacency.replace:
        both = both - vector(row * [1.0, -1.0], np.array([-1.0]), theta, joint)
    assert np.linalg.norm(both) == pytest.approx(joint.l2_sensitivity, rel=1e-4)
    # A row's squared length, all parts along it: nowhere above its value at r = 1, and with a tenth more it is.
    r = np.linspace(0.0, 1.0, 4001)

    def longest(factor: float) -> float:
        second = factor * joint.lift**2 / adjacency.gradient_factor
        third = factor * joint.tilt_lift**2
        return float(np.max(r**2 * (1 + (1 - r) ** 2 * (second + third * (1 - 2 * r) ** 2))))

    assert longest(1.0) == 1.0
    assert longest(1.1) > 1.0
    # (1 - length) / (1 - r), the polynomial of the proof.
    left = np.polyval([36, -72, 55, -19, 1, 1], r)
    assert left.min() > 0.01
    assert 1 - r**2 * (1 + (1 - r) ** 2 * (10 + 9 * (1 - 2 * r) ** 2)) == pytest.approx(left * (1 - r))


def test_the_third_derivative_is_that_of_the_curvature() -> None:
    rows, labels = separable(50)
    joint, theta, step = JointScore.of(Adjacency.zero_out, row_norm=1.0), np.array([1.0, -0.5, 2.0]), 1e-5
    along = np.array([0.6, 0.0, -0.8])
    tilt = vector(rows, labels, theta, joint, along)[9:] / joint.tilt_lift
    for place in range(3):
        move = step * np.eye(3)[place]
        ends = [
            from_upper_triangle(vector(rows, labels, theta + sign * move, joint)[3:], 3) / joint.lift
            for sign in (1, -1)
        ]
        assert tilt[place] == pytest.approx(along @ (ends[0] - ends[1]) @ along / (2 * step), rel=1e-5)


def separable(n: int, seed: int = 0) -> tuple[Floats, Floats]:
    random = np.random.default_rng(seed)
    rows = random.uniform(-1, 1, size=(n, 3)) / math.sqrt(3)
    chance = 1 / (1 + np.exp(-rows @ [4.0, -2.0, 1.0]))
    return rows, np.where(random.random(n) < chance, 1.0, -1.0)


def test_without_noise_to_speak_of_it_is_the_maximum_likelihood() -> None:
    rows, labels = separable(3000)
    fit = METHOD.fit(
        examples_of(rows, labels),
        Problem(loss=Logistic(), dimension=3),
        account=Account(GaussianDP(200.0), adjacency="zero_out", seed=0),
        arithmetic="idealised",
    )
    gradient = Logistic().slopes(rows @ fit.weights, labels) @ rows
    assert np.linalg.norm(gradient) < 0.5
    assert fit.score is not None
    assert fit.weights == pytest.approx(fit.score.solution)


def test_it_spends_the_account_once() -> None:
    assert sum(STEP_SHARES) == 100
    rows, labels = separable(200)
    account = Account(GaussianDP(0.5), adjacency="zero_out", seed=0)
    METHOD.fit(examples_of(rows, labels), Problem(loss=Logistic(), dimension=3), account=account)
    left = account.remaining().as_gdp()
    assert left is not None
    assert 0 <= float(left) < 1e-9


@pytest.mark.parametrize("changes", [{"penalty": 0.1}, {"radius": 2.0}])
def test_what_moves_the_estimate_leaves_no_score(changes: dict[str, Any]) -> None:
    rows, labels = separable(400)
    fit = METHOD.fit(
        examples_of(rows, labels),
        Problem(loss=Logistic(), dimension=3, **changes),
        account=Account(GaussianDP(1.0), adjacency="zero_out", seed=0),
    )
    assert fit.score is None
    assert np.linalg.norm(fit.weights) <= changes.get("radius", math.inf) * (1 + 1e-12)


def quadratic_steps(root: Floats) -> list[NewtonStep]:
    """Exact releases of a quadratic at points of their own."""
    random, bent = (
        np.random.default_rng(3),
        np.array([[900.0, 100.0, 0.0], [100.0, 800.0, 50.0], [0.0, 50.0, 700.0]]),
    )
    points = random.normal(size=(len(STEP_SHARES), 3))
    return [
        NewtonStep(
            point=point,
            gradient=bent @ (point - root),
            curvature=bent,
            share=share / 100,
            gradient_noise=1.0 / math.sqrt(share / 100),
            curvature_noise=0.5 / math.sqrt(share / 100),
        )
        for point, share in zip(points, STEP_SHARES, strict=True)
    ]


def test_a_step_goes_to_the_common_root_of_the_last_releases() -> None:
    root = np.array([0.5, -0.2, 0.1])
    steps = quadratic_steps(root)
    problem = Problem(loss=Logistic(), dimension=3)
    assert _newton_step(steps[-POOLED_RELEASES:], problem, penalties=np.zeros(3)) == pytest.approx(root)
    score = score_of(steps, 100, bend=1.5)
    assert score.solution == pytest.approx(root)
    # What decides was paid with 10 + 12 per cent, the estimate with 62.
    assert score.pilot_noise == pytest.approx(0.5 / math.sqrt(0.22))
    assert score.deviation == pytest.approx(0.5 / math.sqrt(0.62))
    assert score.bend == 1.5
    assert score.tilt is None, "nothing was told of it"
    told = [dataclasses.replace(one, tilt=np.full(3, float(place))) for place, one in enumerate(steps)]
    tilt = score_of(told, 100, bend=1.5).tilt
    assert tilt == pytest.approx((16 * 8 + 20 * 9 + 26 * 10) / 62)
