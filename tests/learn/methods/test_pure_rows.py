"""Rows at a pure price: shares of classes, what they cost and are good for, and numbers with a smooth loss."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.errors import ParameterError
from holdfast.learn._intercept_centre import LEAST_COUNT, ClassShares, class_counts, release_shares
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import Logistic, SmoothHuber, Softmax, Squared
from holdfast.learn._rows.examples import ArrayExamples
from holdfast.learn.methods.functional import METHOD as FUNCTIONAL
from holdfast.learn.methods.objective import METHOD as OBJECTIVE
from holdfast.learn.methods.objective import Losses
from holdfast.learn.methods.pure_rows import (
    CLASS_SHARE,
    balanced_ridge,
    noise_ridge,
    pure_rows,
    row_plan,
)
from holdfast.learn.methods.softmax import METHOD as SOFTMAX
from holdfast.learn.methods.softmax_objective import SoftmaxLosses
from holdfast.privacy import Account, Adjacency, ApproxDP, PureDP

CONSTANT = 0.5


def table(labels: Any, *, columns: int = 3, adjacency: str = "replace", seed: int = 0) -> ArrayExamples:
    """Columns that say nothing about the labels, and a constant."""
    rng = np.random.Generator(np.random.PCG64(seed))
    x = rng.uniform(-0.5, 0.5, size=(len(labels), columns))
    rows = np.hstack([x / math.sqrt(columns), np.full((len(labels), 1), CONSTANT)])
    return ArrayExamples(
        features=rows,
        labels=np.asarray(labels, dtype=np.float64),
        adjacency=Adjacency.of(adjacency),
        public_count=len(labels),
    )


def problem(classes: int = 2, columns: int = 3) -> Problem:
    loss: Any = Logistic() if classes == 2 else Softmax(classes=classes)
    return Problem(loss=loss, dimension=columns + 1, constant=CONSTANT)


@settings(max_examples=30)
@given(
    labels=st.lists(st.integers(0, 2), min_size=1, max_size=12),
    place=st.integers(0, 11),
    new=st.integers(0, 2),
)
def test_one_row_moves_the_counts_by_as_much_as_is_charged(labels: list[int], place: int, new: int) -> None:
    """Two under replace, one where a row is blanked, whatever label the blank has."""
    place %= len(labels)
    first = table(labels)
    assert class_counts(first, problem(3)).tolist() == [labels.count(label) for label in range(3)]
    other = first.labels.copy()
    other[place] = new
    replaced = class_counts(table(other), problem(3))
    assert np.abs(replaced - class_counts(first, problem(3))).sum() <= 2
    blank = first.features.copy()
    blank[place] = 0.0
    rows = ArrayExamples(features=blank, labels=other, adjacency=Adjacency.zero_out, public_count=len(labels))
    assert np.abs(class_counts(rows, problem(3)) - class_counts(first, problem(3))).sum() == 1


@pytest.mark.parametrize("adjacency", ["replace", "zero_out"])
def test_counts_take_their_share_and_the_fit_the_rest(adjacency: str) -> None:
    rows = table(np.where(np.arange(400) % 4 == 0, 1.0, -1.0), adjacency=adjacency)
    account = Account(PureDP(1.0), adjacency=adjacency, seed=0)
    release_shares(rows, problem(), account, share=CLASS_SHARE, arithmetic="strict", label="classes")
    left = account.remaining().as_pure()
    assert left is not None
    assert left <= 1 - Fraction(CLASS_SHARE)
    assert float(left) == pytest.approx(1.0 - CLASS_SHARE)
    account = Account(PureDP(1.0), adjacency=adjacency, seed=0)
    fit = OBJECTIVE.fit(rows, problem(), account=account)
    assert fit.parameters["class_share"] == float(CLASS_SHARE)
    spent = account.remaining().as_pure()
    assert spent is not None
    assert 0 <= spent < 1e-9


def test_a_class_that_noise_hides_is_not_taken_to_be_rarer() -> None:
    """No class is below so many deviations of its noise, of which replace has twice; with little, shares are right."""
    labels = np.full(20_000, -1.0)
    for adjacency, moved in (("replace", 2.0), ("zero_out", 1.0)):
        account = Account(PureDP(1.0), adjacency=adjacency, seed=0)
        rows = table(labels, adjacency=adjacency)
        found = release_shares(
            rows, problem(), account, share=CLASS_SHARE, arithmetic="strict", label="classes"
        )
        least = LEAST_COUNT * math.sqrt(2.0) * moved / CLASS_SHARE
        assert found.shares[1] == pytest.approx(least / (20_000 + least), rel=0.05)
    labels = np.full(1_000, -1.0)
    labels[:100] = 1.0
    account = Account(PureDP(1e5), seed=0)
    seen = release_shares(
        table(labels), problem(), account, share=CLASS_SHARE, arithmetic="strict", label="classes"
    )
    assert seen.shares == pytest.approx([0.9, 0.1], abs=1e-3)
    assert seen.curvature == pytest.approx(0.09, abs=1e-3)


def test_a_rare_class_is_seen_along_fewer_directions_with_a_larger_ridge() -> None:
    even, rare = np.where(np.arange(4_000) % 2 == 0, 1.0, -1.0), np.where(np.arange(4_000) < 80, 1.0, -1.0)
    wide = problem(columns=60)
    made = {
        name: pure_rows(table(labels, columns=60), wide, Account(PureDP(2.0), seed=0), preconditioner="none")
        for name, labels in (("even", even), ("rare", rare))
    }
    assert made["even"].row_map.directions is None
    directions, classes = made["rare"].row_map.directions, made["rare"].classes
    assert directions is not None
    assert classes is not None
    expected = row_plan(wide, epsilon=2.0, adjacency="replace", count=4_000, evenness=classes.evenness)
    assert len(directions) == expected.directions
    penalties = [
        OBJECTIVE.fit(
            table(labels, columns=20),
            problem(columns=20),
            account=Account(PureDP(2.0), seed=0),
            preconditioner="none",
        ).parameters["sum_penalty"]
        for labels in (even, rare)
    ]
    assert penalties[1] > 1.2 * penalties[0]
    assert made["rare"].curvature == classes.curvature < 0.1


def test_several_classes_start_from_their_shares() -> None:
    """Columns that say nothing: the commonest class is predicted, and weights at W0 predict the shares."""
    labels = np.repeat([0.0, 1.0, 2.0], [620, 330, 50])
    rows = table(labels, columns=8)
    several = problem(3, columns=8)
    mapped = pure_rows(rows, several, Account(PureDP(50.0), seed=1))
    assert mapped.classes is not None
    at_start = mapped.weights(np.asarray(mapped.origin).reshape(3, 9))
    scores = rows.features @ at_start.T
    shares = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    assert shares[0] == pytest.approx(mapped.classes.shares)
    assert shares[0] == pytest.approx([0.62, 0.33, 0.05], abs=0.01)
    right = []
    for seed in range(5):
        fit = SOFTMAX.fit(rows, several, account=Account(PureDP(1.0), seed=seed))
        right.append(float(np.mean(np.argmax(rows.features @ fit.weights.T, axis=1) == labels)))
    assert np.mean(right) > 0.55


def test_two_classes_start_from_their_shares() -> None:
    """The same of one score: noise is compared where it was drawn, and the start predicts the shares."""
    labels = np.repeat([1.0, -1.0], [800, 200])
    rows, two = table(labels), problem()
    mapped = pure_rows(rows, two, Account(PureDP(50.0), seed=1))
    assert mapped.classes is not None
    score = rows.features[0] @ mapped.weights(np.asarray(mapped.origin))
    assert 1.0 / (1.0 + math.exp(-score)) == pytest.approx(mapped.classes.shares[1])
    rng = np.random.Generator(np.random.PCG64(3))
    origin, linear = rng.normal(size=4), rng.normal(size=4)
    moved, plain = Losses(examples=rows, problem=two, origin=origin), Losses(examples=rows, problem=two)
    found = moved.minimise(linear, penalty=2.0, tolerance=1e-8)
    assert moved.gradient(found) + 2.0 * found + linear == pytest.approx(np.zeros(4), abs=1e-6)
    assert moved.gradient(found) == pytest.approx(plain.gradient(found + origin))
    assert moved.log_determinant(found, penalty=2.0) == pytest.approx(
        plain.log_determinant(found + origin, penalty=2.0)
    )


@given(
    seed=st.integers(0, 2**31),
    adjacency=st.sampled_from(list(Adjacency)),
    width=st.sampled_from([0.06, 0.25]),
    reach=st.sampled_from([0.0, 1.0, 30.0]),
    penalty=st.sampled_from([0.5, 4.0]),
)
@settings(max_examples=60, deadline=None)
def test_no_two_tables_of_numbers_differ_by_more_than_epsilon(
    seed: int, adjacency: Adjacency, width: float, reach: float, penalty: float
) -> None:
    """The exact density of minimisers of `SmoothHuber`: Laplace numbers at the gradient, times a determinant."""
    rng = np.random.Generator(np.random.PCG64(seed))
    rows, labels = rng.normal(size=(4, 2)), rng.uniform(-1.0, 1.0, size=4)
    rows /= np.abs(rows).sum(axis=1, keepdims=True)  # as long as they may be in the L1 norm, 1
    labels[-1] = rng.choice([-1.0, 1.0])
    inner, at = Problem(loss=SmoothHuber(width=width), dimension=2), reach * rng.normal(size=2)
    factor, scale = adjacency.gradient_factor, 2.0 * width

    def log_density(x: Any, y: Any) -> float:
        made = ArrayExamples(features=x, labels=y, adjacency=adjacency, public_count=4)
        losses = Losses(examples=made, problem=inner)
        linear = losses.gradient(at) + penalty * at
        return losses.log_determinant(at, penalty=penalty) - float(np.abs(linear).sum()) / scale

    others, told = rows[:-1], labels[:-1]
    if adjacency is Adjacency.replace:
        others, told = np.vstack([others, -rows[-1:]]), np.append(told, labels[-1])
    epsilon = factor * inner.loss.slope / scale + math.log1p(inner.smoothness / penalty)
    assert abs(log_density(rows, labels) - log_density(others, told)) <= epsilon + 1e-9


def numbers(count: int = 3_000, *, wide: float = 1.0) -> tuple[ArrayExamples, Any]:
    """Targets that are linear in rows of very different lengths, in a declared range of so many times their own."""
    rng = np.random.Generator(np.random.PCG64(5))
    x = rng.normal(size=(count, 3)) * rng.choice([0.02, 0.2], size=(count, 1))
    rows = np.hstack(
        [x / np.maximum(1.0, 2.0 * np.linalg.norm(x, axis=1))[:, None], np.full((count, 1), 0.5)]
    )
    true = np.array([0.8, -0.5, 0.3, 0.4])
    made = ArrayExamples(
        features=rows, labels=rows @ true / wide, adjacency=Adjacency.replace, public_count=count
    )
    return made, true / wide


@pytest.mark.parametrize("bound", [1.0, 5.0])
def test_what_is_linear_in_rows_is_learnt_though_rows_are_shortened(bound: float) -> None:
    rows, true = numbers()
    rows = ArrayExamples(
        features=rows.features, labels=bound * rows.labels, adjacency=rows.adjacency, public_count=3_000
    )
    squares = Problem(loss=Squared(target_bound=bound), dimension=4, constant=0.5)
    fit = OBJECTIVE.fit(rows, squares, account=Account(PureDP(500.0), seed=1))
    assert fit.weights == pytest.approx(bound * true, abs=0.02 * bound)
    assert any("residuals count by their size" in one.text for one in fit.assumptions)
    mapped = pure_rows(rows, squares, Account(PureDP(500.0), seed=1))
    parts = list(mapped.examples.chunks())
    shortened = np.concatenate([y for _, y in parts]) * bound / rows.labels
    assert shortened.min() < 0.7 * shortened.max()  # by factors of their own
    assert max(np.abs(x).sum(axis=1).max() for x, _ in parts) <= mapped.reach * (1.0 + 1e-9)


def test_a_declared_range_that_is_too_wide_costs_less_than_noisy_squares() -> None:
    """Forty times too wide: the slope is bounded by the width, not by the range."""
    rows, true = numbers(wide=40.0)
    squares = Problem(loss=Squared(target_bound=1.0), dimension=4, constant=0.5)

    def error(method: Any) -> float:
        tries = [
            method.fit(rows, squares, account=Account(PureDP(2.0), seed=seed)).weights for seed in range(4)
        ]
        return float(np.mean([np.abs(one - true).max() for one in tries]))

    assert error(OBJECTIVE) < 0.5 * error(FUNCTIONAL)


def test_squares_without_a_radius_are_for_pure_accounts() -> None:
    rows, _ = numbers(50)
    squares = Problem(loss=Squared(target_bound=1.0), dimension=4, constant=0.5)
    account = Account(ApproxDP(1.0, 1e-6), currency="basic", seed=1)
    with pytest.raises(ParameterError, match="radius"):
        OBJECTIVE.fit(rows, squares, account=account)
    assert account.journal.entries == ()


def test_penalty_and_noise_are_counted_from_the_origin() -> None:
    """The minimiser V has gradient(W0 + V) + penalty V + linear = 0, and shares as scores add up to 0."""
    rng = np.random.Generator(np.random.PCG64(3))
    rows = table(np.repeat([0.0, 1.0, 2.0], [60, 30, 10]))
    several, origin = problem(3), rng.normal(size=12)
    losses: Any = SoftmaxLosses(
        examples=rows, problem=several, loss=Softmax(classes=3), whole=True, origin=origin
    )
    plain: Any = SoftmaxLosses(examples=rows, problem=several, loss=Softmax(classes=3), whole=True)
    linear = rng.normal(size=12)
    found = losses.minimise(linear, penalty=2.0, tolerance=1e-8)
    assert losses.gradient(found) + 2.0 * found + linear == pytest.approx(np.zeros(12), abs=1e-6)
    assert losses.gradient(found) == pytest.approx(plain.gradient(found + origin))
    assert losses.log_determinant(found, penalty=2.0) == pytest.approx(
        plain.log_determinant(found + origin, penalty=2.0)
    )
    assert ClassShares(shares=np.array([0.6, 0.3, 0.1])).scores.sum() == pytest.approx(0.0, abs=1e-12)


@given(st.floats(0.05, 8.0), st.floats(1.0, 30.0), st.integers(2, 12), st.integers(100, 10**6))
@settings(max_examples=40, deadline=None)
def test_the_ridge_of_several_classes_has_the_least_error(
    epsilon: float, deviation: float, classes: int, count: int
) -> None:
    dimension, curvature = 20.0, (classes - 1) / classes**2
    least = 2.0 * (1.0 - 1.0 / classes) / -math.expm1(-epsilon)

    def determinants(penalty: float) -> float:
        return (classes - 1) * math.log1p(1.0 / (classes * penalty))

    def error(penalty: float) -> float:
        noise = deviation / (epsilon - determinants(penalty))
        return (penalty**2 + noise**2) / (count * curvature / dimension + penalty) ** 2

    told: Any = {
        "deviation": deviation,
        "effective_dimension": dimension,
        "curvature": curvature,
        "count": count,
        "least": least,
    }
    found = balanced_ridge(epsilon, determinants=determinants, **told)
    assert found >= least
    others = [found * step for step in (0.5, 0.9, 1.1, 2.0, 10.0)]
    others.append(noise_ridge(epsilon, determinants=determinants, **told))
    assert all(error(found) <= error(other) * 1.01 for other in others if other >= least)
    # Where determinants cost nothing, both rules are one.
    free = [rule(epsilon, determinants=lambda penalty: 0.0, **told) for rule in (balanced_ridge, noise_ridge)]
    assert free[0] == pytest.approx(min(free[1], least * math.exp(13.97)), rel=0.05)
