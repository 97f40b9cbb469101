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
from holdfast.learn._problem.losses import Logistic, OneVsAll, Softmax, as_codes
from holdfast.learn._risk.descent import ClippedGradients
from holdfast.learn._risk.minimise import minimise_certified
from holdfast.learn._risk.multiclass_risk import MulticlassRisk
from holdfast.learn._rows.clipped_blocks import ClippedBlocks
from holdfast.learn._rows.examples import ArrayExamples
from holdfast.learn._whitening import no_whitening
from holdfast.learn.methods.softmax import METHOD as SOFTMAX
from holdfast.privacy import Account, Adjacency, GaussianDP, PrivacyUnit, PureDP

multiclass = SOFTMAX.fit

LOSSES: list[Any] = [Softmax(classes=4), OneVsAll(classes=4)]


def examples_of(
    features: Floats, labels: Floats, adjacency: str = "replace", **changes: Any
) -> ArrayExamples:
    arguments: dict[str, Any] = {"public_count": max(1, features.shape[0])} | changes
    return ArrayExamples(features=features, labels=labels, adjacency=Adjacency(adjacency), **arguments)


def clipped(features: Floats) -> Floats:
    return np.asarray(features / np.maximum(1.0, np.linalg.norm(features, axis=1, keepdims=True)))


def four_classes(n: int) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(0)
    codes = rng.integers(4, size=n)
    corners = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]]) * 0.6
    return clipped(corners[codes] + 0.12 * rng.normal(size=(n, 2))), codes.astype(float)


def accuracy(weights: Floats, features: Floats, labels: Floats) -> float:
    return float(np.mean(np.argmax(features @ weights.T, axis=1) == labels))


# Constants (soundness, section 2).


def test_the_largest_slope_and_curvature_of_the_notes() -> None:
    rng = np.random.default_rng(0)
    loss = Softmax(classes=3)
    z = np.vstack([rng.normal(size=(500, 3)) * 10, [[40.0, -40.0, -40.0], [20.0, 20.0, -40.0]]])
    norms = np.linalg.norm(loss.slopes(z, np.ones(len(z))), axis=1)
    assert np.max(norms) == pytest.approx(1.41421, abs=1e-5)
    assert np.max(norms) <= loss.slope * (1 + 1e-15)
    p = loss.probabilities(z)
    largest = max(np.linalg.eigvalsh(np.diag(row) - np.outer(row, row))[-1] for row in p)
    assert 0.499 <= largest <= 0.5 + 1e-12
    # One-vs-all: sqrt(K), attained where every class is wrong.
    wrong = OneVsAll(classes=9).slopes(np.where(np.arange(9) == 1, -40.0, 40.0)[None, :], np.ones(1))
    assert np.linalg.norm(wrong) == pytest.approx(3.0)


@pytest.mark.parametrize("loss", LOSSES)
def test_slopes_are_derivatives(loss: Any) -> None:
    rng = np.random.default_rng(1)
    z, y = rng.normal(size=(6, 4)), np.array([0.0, 1, 2, 3, 1, 2])
    for k in range(4):
        step = np.zeros(4)
        step[k] = 1e-6
        numeric = (loss.values(z + step, y) - loss.values(z - step, y)) / 2e-6
        assert loss.slopes(z, y)[:, k] == pytest.approx(numeric, abs=1e-8)
        second = (loss.slopes(z + step, y) - loss.slopes(z - step, y))[:, k] / 2e-6
        assert loss.curvatures(z, y)[:, k] == pytest.approx(second, abs=1e-8)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**31),
    classes=st.integers(2, 6),
    softmax=st.booleans(),
    adjacency=st.sampled_from(list(Adjacency)),
)
def test_no_neighbour_moves_the_gradient_further(
    seed: int, classes: int, softmax: bool, adjacency: Adjacency
) -> None:
    rng = np.random.default_rng(seed)
    loss: Any = Softmax(classes=classes) if softmax else OneVsAll(classes=classes)
    problem = Problem(loss=loss, dimension=3)
    features, labels = clipped(rng.normal(size=(5, 3)) * 3), rng.integers(classes, size=5).astype(float)
    other, other_labels = features.copy(), labels.copy()
    other[-1], other_labels[-1] = -features[-1], (labels[-1] + 1) % classes
    if adjacency is not Adjacency.replace:
        other, other_labels = other[:-1], other_labels[:-1]
    weights = rng.normal(size=(classes, 3)) * 30

    def gradient(x: Floats, y: Floats) -> Floats:
        passes = ClippedBlocks(examples_of(x, y), problem)
        return ClippedGradients(problem=problem, passes=passes, whitening=no_whitening(3), clip=2.0).at(
            weights
        )

    moved = float(np.linalg.norm(gradient(features, labels) - gradient(other, other_labels)))
    assert moved <= problem.gradient_change(adjacency) * (1 + 1e-12)


def test_the_gradient_bound_is_attained() -> None:
    loss: Any = Softmax(classes=3)
    problem = Problem(loss=loss, dimension=2)
    weights = np.array([[40.0, 40.0], [0.0, 0.0], [0.0, 0.0]])

    def gradient(x: list[float], y: float) -> Floats:
        passes = ClippedBlocks(examples_of(np.array([x]), np.array([y])), problem)
        return ClippedGradients(problem=problem, passes=passes, whitening=no_whitening(2), clip=2.0).at(
            weights
        )

    # Both rows go to class 0 and belong to another one: adding one moves the sum by sqrt(2), replacing by 2.
    added = float(np.linalg.norm(gradient([1.0, 0.0], 1.0)))
    assert added == pytest.approx(problem.gradient_change("zero_out"), rel=1e-6)
    moved = float(np.linalg.norm(gradient([1.0, 0.0], 1.0) - gradient([0.0, 1.0], 1.0)))
    assert problem.gradient_change("replace") / 3 <= moved <= problem.gradient_change("replace")


def test_labels_outside_the_classes_break_no_bound() -> None:
    loss = Softmax(classes=3)
    slopes = loss.slopes(np.zeros((3, 3)), np.array([-7.0, 99.0, 1.4]))
    assert np.all(np.linalg.norm(slopes, axis=1) <= math.sqrt(2))
    assert as_codes(np.array([-7.0, 99.0, 1.4]), 3).tolist() == [0, 2, 1]


# The minimiser of output perturbation.


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_one_row_moves_the_minimiser_by_no_more_than_claimed(loss: Any) -> None:
    rng = np.random.default_rng(5)
    problem = Problem(loss=loss, dimension=2, penalty=0.05)
    features, labels = four_classes(40)

    def minimum(x: Floats, y: Floats) -> Floats:
        risk = MulticlassRisk(
            examples=examples_of(x, y), problem=problem, loss=loss, penalty=0.05, divisor=40.0
        )
        return risk.of_classes(minimise_certified(risk, tolerance=1e-9))

    first = minimum(features, labels)
    bound = problem.gradient_change("replace") / (0.05 * 40)
    for _ in range(8):
        other, other_labels = features.copy(), labels.copy()
        place = int(rng.integers(40))
        other[place], other_labels[place] = clipped(rng.normal(size=(1, 2)) * 5)[0], float(rng.integers(4))
        assert np.linalg.norm(minimum(other, other_labels) - first) <= bound
    passes = ClippedBlocks(examples_of(features, labels), problem)
    gradient = ClippedGradients(problem=problem, passes=passes, whitening=no_whitening(2), clip=2.0).at(first)
    assert np.linalg.norm(gradient / 40 + 0.05 * first) <= 1e-9


# End to end.


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@pytest.mark.parametrize(
    ("limit", "options"),
    [
        (GaussianDP(2.0), {}),
        (GaussianDP(2.0), {"preconditioner": "none"}),
        (GaussianDP(2.0), {"engine": "output"}),
        (PureDP(20.0), {}),
    ],
    ids=["gd", "plain", "output", "pure"],
)
@pytest.mark.parametrize("adjacency", ["replace", "zero_out"])
def test_learns_and_spends_its_limit(loss: Any, limit: Any, options: dict[str, Any], adjacency: str) -> None:
    features, labels = four_classes(4_000)
    account = Account(limit, adjacency=adjacency, seed=1)
    problem = Problem(loss=loss, dimension=2, penalty=0.01)
    fit = multiclass(examples_of(features, labels, adjacency), problem, account=account, **options)
    assert fit.weights.shape == (4, 2)
    assert accuracy(fit.weights, features, labels) > 0.93
    assert account.spent().within(limit)
    assert account.spent().epsilon(1e-6) == pytest.approx(limit.epsilon(1e-6), rel=1e-6)


def test_the_noise_is_as_large_as_the_sensitivity_says() -> None:
    features, labels = four_classes(100)
    draws = []
    problem = Problem(loss=Softmax(classes=4), dimension=2, penalty=1.0)
    rows = examples_of(features, labels)
    risk = MulticlassRisk(examples=rows, problem=problem, loss=Softmax(classes=4), penalty=1.0, divisor=100.0)
    centre = risk.of_classes(minimise_certified(risk, tolerance=1e-9))
    for seed in range(150):
        fit = multiclass(rows, problem, account=Account(GaussianDP(1.0), seed=seed), engine="output")
        draws.append(fit.weights - centre)
    expected = 2 * math.sqrt(2) / 100
    assert fit.parameters["l2_sensitivity"] == pytest.approx(expected * 1.001, rel=1e-6)
    assert np.sqrt(np.mean(np.square(draws))) == pytest.approx(expected, rel=0.1)
    gd = multiclass(rows, problem, account=Account(GaussianDP(1.0), seed=0), preconditioner="none", steps=16)
    assert gd.parameters["gradient_sensitivity"] == pytest.approx(2 * math.sqrt(2), rel=1e-6)
    assert gd.parameters["gradient_noise_std"] == pytest.approx(8 * math.sqrt(2), rel=1e-6)


def test_one_softmax_needs_less_noise_than_one_vs_all() -> None:
    features, labels = four_classes(100)
    deviations = [
        multiclass(
            examples_of(features, labels),
            Problem(loss=loss, dimension=2),
            account=Account(GaussianDP(1.0), seed=0),
            preconditioner="none",
            steps=10,
        ).parameters["gradient_noise_std"]
        for loss in LOSSES
    ]
    assert deviations[1] / deviations[0] == pytest.approx(math.sqrt(2), rel=1e-3)  # sqrt(K) / sqrt(2), K = 4


def test_refuses_before_spending() -> None:
    features, labels = four_classes(50)
    rows, account = examples_of(features, labels), Account(GaussianDP(1.0), seed=0)
    loss: Any = Softmax(classes=4)
    wrongs: list[tuple[Problem, dict[str, Any], str]] = [
        (Problem(loss=Logistic(), dimension=2), {}, "several predictions"),
        (Problem(loss=loss, dimension=3), {}, "dimension"),
        (Problem(loss=loss, dimension=2), {"engine": "output"}, "penalty"),
        (Problem(loss=loss, dimension=2), {"engine": "newton"}, "engine"),
        (Problem(loss=loss, dimension=2), {"batch": 3}, "options"),
    ]
    for problem, options, word in wrongs:
        with pytest.raises(ParameterError, match=word):
            multiclass(rows, problem, account=account, **options)
    with pytest.raises(ParameterError, match="delta"):
        multiclass(rows, Problem(loss=loss, dimension=2), account=Account(PureDP(1.0)), engine="noisy_gd")
    with pytest.raises(AdjacencyError):
        multiclass(
            rows, Problem(loss=loss, dimension=2), account=Account(GaussianDP(1.0), adjacency="zero_out")
        )
    unit = PrivacyUnit("user", max_rows=2)
    with pytest.raises(ParameterError, match="max_rows"):
        multiclass(
            examples_of(features, labels, unit=unit),
            Problem(loss=loss, dimension=2),
            account=Account(GaussianDP(1.0), unit=unit),
        )
    with pytest.raises(ParameterError, match="classes"):
        Softmax(classes=1)
    assert account.journal.spent("") is None
    empty = examples_of(np.zeros((0, 2)), np.zeros(0), public_count=10)
    for engine in ("noisy_gd", "output"):
        fit = multiclass(
            empty,
            Problem(loss=loss, dimension=2, penalty=0.1),
            account=Account(GaussianDP(1.0), seed=0),
            engine=engine,
        )
        assert np.all(np.isfinite(fit.weights))
