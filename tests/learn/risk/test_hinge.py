"""The plain hinge: its minimiser against brute force, its certificate against the truth, and neighbours' distance."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import Hinge
from holdfast.learn._risk.hinge import HingeRisk, minimise_hinge
from holdfast.learn._risk.minimise import NotCertified
from holdfast.learn._rows.examples import ArrayExamples
from holdfast.learn.methods.output import certified_weights, minimiser_sensitivity
from holdfast.privacy import Adjacency


def a_risk(rows: int, columns: int, penalty: float, seed: int) -> HingeRisk:
    random = np.random.default_rng(seed)
    x = random.normal(size=(rows, columns))
    x /= np.maximum(1.0, np.linalg.norm(x, axis=1))[:, None]
    return HingeRisk(rows=x, share=1.0 / max(rows, 1), penalty=penalty, norm=1.0)


def value(risk: HingeRisk, w: Any) -> float:
    return float(risk.share * np.maximum(0.0, 1.0 - risk.rows @ w).sum() + 0.5 * risk.penalty * float(w @ w))


@given(st.integers(1, 30), st.integers(1, 6), st.sampled_from([1e-4, 0.01, 0.3, 5.0]), st.integers(0, 99))
def test_no_point_nearby_is_better(rows: int, columns: int, penalty: float, seed: int) -> None:
    risk = a_risk(rows, columns, penalty, seed)
    w = minimise_hinge(risk, distance=1e-4 / penalty)
    random = np.random.default_rng(seed)
    least = value(risk, w) - 0.5 * penalty * (1e-4 / penalty) ** 2 - 1e-4 / penalty
    for size in (1e-3, 0.1, 3.0):
        assert value(risk, w + size * random.normal(size=columns)) >= least


def test_one_column_is_as_by_hand() -> None:
    # c sum max(0, 1 - a w) + w^2 / 2: with a = (1, 1/2) and c = 1 the slopes -1.5, -.5 meet w at 1.
    risk = HingeRisk(rows=np.array([[1.0], [0.5]]), share=1.0, penalty=1.0, norm=1.0)
    assert minimise_hinge(risk, distance=1e-7)[0] == pytest.approx(1.0, abs=1e-7)
    assert (
        minimise_hinge(dataclasses.replace(risk, rows=np.zeros((0, 3))), distance=1e-9).tolist() == [0.0] * 3
    )


@given(st.integers(0, 200))
def test_the_certificate_is_never_less_than_the_distance(seed: int) -> None:
    risk = a_risk(25, 3, 0.05, seed)
    exact = minimise_hinge(risk, distance=2e-6)
    random = np.random.default_rng(seed)
    for size in (1e-5, 1e-2, 1.0):
        w = exact + size * random.normal(size=3)
        alpha = random.uniform(size=25)
        assert risk.distance_bound(w, alpha) >= float(np.linalg.norm(w - exact)) - 2e-6


def test_where_the_certificate_is_tight() -> None:
    # Null records: the penalty alone is left, its minimum is at 0, and the gap is (penalty / 2) |w|^2.
    nothing = HingeRisk(rows=np.zeros((4, 2)), share=0.25, penalty=0.3, norm=1.0)
    assert nothing.distance_bound(np.array([3.0, 4.0]), np.ones(4)) == pytest.approx(5.0)
    # One record, c / penalty = 3: the minimum is at the corner, 1, and w(1) = 3 lies 2 beyond it.
    one = HingeRisk(rows=np.ones((1, 1)), share=3.0, penalty=1.0, norm=1.0)
    assert one.distance_bound(np.array([3.0]), np.ones(1)) >= 2.0
    # From the other side: w(0) = 0 lies 1 before it.
    assert one.distance_bound(np.array([0.0]), np.zeros(1)) >= 1.0


def test_what_arithmetic_cannot_show_is_refused() -> None:
    with pytest.raises(NotCertified, match="below what this machine"):
        minimise_hinge(a_risk(40, 3, 0.1, 0), distance=1e-30)


@pytest.mark.parametrize("adjacency", ["replace", "zero_out"])
def test_one_record_moves_the_minimiser_by_no_more_than_declared_and_nearly_as_far(adjacency: str) -> None:
    problem = Problem(loss=Hinge(), dimension=2, penalty=0.1)
    count, reached = 30, 0.0
    declared = minimiser_sensitivity(problem, adjacency=Adjacency.of(adjacency), public_count=count)
    # A hinge far from its corner has the slope of its bound, all of it: records that agree, and one that does not.
    for others in (0.3, 0.0):
        features = np.tile([[others, 0.0]], (count, 1))
        found = []
        for last in ([1.0, 0.0], [-1.0, 0.0] if adjacency == "replace" else [0.0, 0.0]):
            features[-1] = last
            rows = ArrayExamples(
                features=features.copy(),
                labels=np.ones(count),
                adjacency=Adjacency.of(adjacency),
                public_count=count,
            )
            found.append(certified_weights(rows, problem, inexactness=1e-3))
        reached = max(reached, float(np.linalg.norm(found[0] - found[1])) / declared)
    assert 0.98 < reached <= 1.0


def test_a_ball_comes_after_the_noise() -> None:
    free = Problem(loss=Hinge(), dimension=2, penalty=0.1)
    rows = ArrayExamples(
        features=np.tile([[0.9, 0.1]], (20, 1)),
        labels=np.ones(20),
        adjacency=Adjacency.replace,
        public_count=20,
    )
    inside = certified_weights(rows, dataclasses.replace(free, radius=0.2), inexactness=1e-3)
    np.testing.assert_allclose(inside, certified_weights(rows, free, inexactness=1e-3), atol=1e-3)
    assert math.hypot(*inside) > 0.2
