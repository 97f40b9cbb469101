from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from holdfast._arrays import Floats
from holdfast.errors import ParameterError
from holdfast.learn import PrivateLogisticRegression
from holdfast.learn._choice import choose_learner
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import OneVsAll, Softmax
from holdfast.learn._risk.minimise import is_certified, minimise_certified
from holdfast.learn._risk.multiclass_risk import MulticlassRisk, contrasts
from holdfast.learn._rows.examples import ArrayExamples, Chunk, DerivedExamples
from holdfast.learn.methods.softmax import METHOD as SOFTMAX
from holdfast.learn.methods.softmax_objective import (
    OUTPUT_SHARE,
    log_determinant,
    softmax_mechanism,
    softmax_penalty,
    weight_count,
)
from holdfast.noise._source import Source
from holdfast.privacy import Account, Adjacency, GaussianDP, PureDP
from holdfast.privacy._mechanisms.objective import PureObjectivePerturbation

multiclass = SOFTMAX.fit


def examples_of(features: Floats, labels: Floats, adjacency: str = "replace") -> ArrayExamples:
    return ArrayExamples(
        features=features, labels=labels, adjacency=Adjacency(adjacency), public_count=max(1, len(labels))
    )


def some_rows(n: int, classes: int, width: int, seed: int = 0) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, width))
    rows /= np.maximum(1.0, np.linalg.norm(rows, axis=1, keepdims=True))
    return rows, rng.integers(classes, size=n).astype(float)


def a_risk(n: int = 60, classes: int = 4, width: int = 3, seed: int = 0, **changes: Any) -> MulticlassRisk:
    rows, labels = some_rows(n, classes, width, seed)
    loss: Any = changes.pop("loss", Softmax(classes=classes))
    free = classes - (loss.name == "softmax")
    told: dict[str, Any] = {"penalty": 0.3, "linear": np.linspace(-1.0, 1.0, free * width)} | changes
    return MulticlassRisk(
        examples=examples_of(rows, labels), problem=Problem(loss=loss, dimension=width), loss=loss, **told
    )


# The risk and its solver.


@pytest.mark.parametrize("classes", [2, 3, 10])
def test_contrasts_are_orthonormal_and_leave_out_the_constant(classes: int) -> None:
    basis = contrasts(classes)
    assert np.allclose(basis.T @ basis, np.eye(classes - 1), atol=1e-14)
    assert np.allclose(basis.sum(axis=0), 0.0, atol=1e-14)


@pytest.mark.parametrize("loss", [Softmax(classes=4), OneVsAll(classes=4)], ids=lambda loss: loss.name)
def test_gradient_and_hessian_are_derivatives(loss: Any) -> None:
    risk = a_risk(divisor=7.0, loss=loss)
    w = np.random.default_rng(1).normal(size=risk.weights)
    gradient, hessian = risk.gradient(w)[0], risk.hessian(w)
    for place in range(risk.weights):
        step = np.zeros(risk.weights)
        step[place] = 1e-5
        assert gradient[place] == pytest.approx(
            (risk.value(w + step) - risk.value(w - step)) / 2e-5, abs=1e-6
        )
        column = (risk.gradient(w + step)[0] - risk.gradient(w - step)[0]) / 2e-5
        assert hessian[:, place] == pytest.approx(column, abs=1e-5)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), length=st.floats(0.0, 30.0), classes=st.integers(2, 12))
def test_the_doubt_covers_rounding(seed: int, length: float, classes: int) -> None:
    """Against the same sums in the machine's widest numbers, and the true basis to as many digits."""
    risk = a_risk(400, classes, 5, seed)
    w = length * np.random.default_rng(seed).normal(size=risk.weights)
    gradient, doubt = risk.gradient(w)
    basis = contrasts(classes).astype(np.longdouble)
    turned = basis @ w.reshape(classes - 1, 5).astype(np.longdouble)
    (x, y) = next(iter(risk.examples.chunks()))
    z = x.astype(np.longdouble) @ turned.T
    p = np.exp(z - z.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    p[np.arange(len(y)), y.astype(int)] -= 1
    wide = (basis.T @ (p.T @ x.astype(np.longdouble))).ravel() + np.longdouble(0.3) * w + risk.linear
    assert float(np.linalg.norm((gradient - wide).astype(np.float64))) <= doubt < 1e-9


@pytest.mark.parametrize("loss", [Softmax(classes=4), OneVsAll(classes=4)], ids=lambda loss: loss.name)
def test_the_minimiser_is_certified_and_that_of_another_solver(loss: Any) -> None:
    """L-BFGS over all K d weights, where a gradient of norm g is within g / penalty of the minimiser."""
    for n in (60, 9_000):  # with a start from a sample, and without
        risk = a_risk(n, linear=None, penalty=0.05, divisor=float(n), loss=loss)
        found = minimise_certified(risk, tolerance=1e-9)
        assert is_certified(risk, found, tolerance=1e-9)
        ((x, y),) = risk.examples.chunks()

        def both(flat: Floats, x: Floats = x, y: Floats = y, n: int = n) -> tuple[float, Floats]:
            w = flat.reshape(4, 3)
            value = float(np.sum(loss.values(x @ w.T, y))) / n + 0.025 * float(np.sum(w**2))
            return value, (loss.slopes(x @ w.T, y).T @ x / n + 0.05 * w).ravel()

        told: Any = {"gtol": 1e-9, "ftol": 0.0, "maxcor": 30, "maxiter": 5_000}
        other = minimize(both, np.zeros(12), jac=True, method="L-BFGS-B", options=told).x
        reached = float(np.linalg.norm(both(other)[1]))
        assert reached <= 1e-7
        assert np.linalg.norm(risk.of_classes(found).ravel() - other) <= (1e-9 + reached) / 0.05


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), length=st.floats(0.0, 30.0), classes=st.integers(2, 12))
def test_the_doubt_covers_the_rounding_of_one_vs_all(seed: int, length: float, classes: int) -> None:
    risk = a_risk(400, classes, 5, seed, loss=OneVsAll(classes=classes), linear=None)
    w = length * np.random.default_rng(seed).normal(size=risk.weights)
    gradient, doubt = risk.gradient(w)
    ((x, y),) = risk.examples.chunks()
    signs = np.where(y[:, None] == np.arange(classes), np.longdouble(1), np.longdouble(-1))
    z = x.astype(np.longdouble) @ w.reshape(classes, 5).astype(np.longdouble).T
    slopes = -0.5 * signs * (1 - np.tanh(0.5 * signs * z))
    wide = (slopes.T @ x.astype(np.longdouble)).ravel() + np.longdouble(0.3) * w
    assert float(np.linalg.norm((gradient - wide).astype(np.float64))) <= doubt < 1e-9


# The proof: log-densities of neighbours, at any point.


def log_density(
    rows: Floats, labels: Floats, w: Floats, mechanism: PureObjectivePerturbation, classes: int
) -> float:
    """ln nu(b(V)) + ln det H(V), up to a constant, computed apart from the solver's code."""
    basis, width, penalty, scale = (
        contrasts(classes),
        rows.shape[1],
        float(mechanism.penalty),
        float(mechanism.scale),
    )
    turned = basis @ w.reshape(classes - 1, width)
    gradient, hessian = penalty * w, penalty * np.eye(w.size)
    for x, y in zip(rows, labels, strict=True):
        p = np.exp(turned @ x - np.max(turned @ x))
        p /= p.sum()
        gradient = gradient + np.kron(basis.T @ (p - np.eye(classes)[int(y)]), x)
        hessian = hessian + np.kron(basis.T @ (np.diag(p) - np.outer(p, p)) @ basis, np.outer(x, x))
    size = (
        np.sum(np.abs(gradient)) / math.sqrt(w.size)
        if mechanism.arithmetic == "strict"
        else np.linalg.norm(gradient)
    )
    return float(-size / scale + np.linalg.slogdet(hessian)[1])


@settings(max_examples=80, deadline=None)
@given(
    seed=st.integers(0, 2**31),
    classes=st.integers(2, 5),
    adjacency=st.sampled_from(list(Adjacency)),
    arithmetic=st.sampled_from(["strict", "idealised"]),
    reach=st.sampled_from([0.0, 0.3, 3.0, 30.0]),
    penalty=st.sampled_from([0.5, 2.0, 20.0]),
)
def test_no_neighbours_differ_by_more_than_epsilon(
    seed: int, classes: int, adjacency: Adjacency, arithmetic: Any, reach: float, penalty: float
) -> None:
    rng = np.random.default_rng(seed)
    loss: Any = Softmax(classes=classes)
    problem = Problem(loss=loss, dimension=2)
    epsilon = log_determinant(problem, loss, penalty=penalty) + float(rng.choice([0.05, 1.0]))
    mechanism = softmax_mechanism(
        problem,
        loss,
        epsilon=epsilon,
        penalty=penalty,
        adjacency=adjacency,
        public_count=5,
        arithmetic=arithmetic,
    )
    rows, labels = some_rows(int(rng.integers(1, 5)), classes, 2, seed)
    rows[-1] /= np.linalg.norm(rows[-1])
    w = reach * rng.normal(size=weight_count(problem, loss))
    others, told = rows[:-1], labels[:-1]
    if adjacency is Adjacency.replace:
        others, told = np.vstack([others, -rows[-1:]]), np.append(told, (labels[-1] + 1) % classes)
    ratio = log_density(rows, labels, w, mechanism, classes) - log_density(
        others, told, w, mechanism, classes
    )
    assert abs(ratio) <= epsilon - float(mechanism.output_epsilon) + 1e-9


def test_determinants_of_the_notes() -> None:
    """Soundness, section 4: X = 1, penalty 0.2, p uniform; the rank-one formula says 1.2528 for every K."""
    for classes, expected in ((3, 1.9617), (10, 3.6492)):
        loss: Any = Softmax(classes=classes)
        problem = Problem(loss=loss, dimension=1)
        p = np.full(classes, 1.0 / classes)
        true = np.linalg.slogdet(np.eye(classes) + (np.diag(p) - np.outer(p, p)) / 0.2)[1]
        assert true == pytest.approx(expected, abs=1e-4)
        assert log_determinant(problem, loss, penalty=0.2) == pytest.approx(expected, abs=1e-4)
        assert true <= log_determinant(problem, loss, penalty=0.2)
        assert math.log1p(0.5 / 0.2) == pytest.approx(1.2528, abs=1e-4)


@pytest.mark.parametrize("rank_one", [False, True])
def test_as_if_of_rank_one_the_claim_is_false(rank_one: bool) -> None:
    """One record or none, ten classes: with ln(1 + X^2 / (2 penalty)) two tables differ by more than epsilon."""
    loss: Any = Softmax(classes=10)
    problem, penalty, epsilon = Problem(loss=loss, dimension=1), 5.0, 0.25
    mechanism = softmax_mechanism(
        problem,
        loss,
        epsilon=epsilon,
        penalty=penalty,
        adjacency=Adjacency.zero_out,
        public_count=1,
        arithmetic="idealised",
    )
    if rank_one:
        left = epsilon * (1 - OUTPUT_SHARE) - math.log1p(0.5 / penalty)
        mechanism = PureObjectivePerturbation(
            scale=math.sqrt(2.0) / left,
            output_epsilon=OUTPUT_SHARE * epsilon,
            lipschitz=math.sqrt(2.0),
            smoothness=0.5,
            penalty=penalty,
            tolerance=1e-9,
            adjacency=Adjacency.zero_out,
            arithmetic="idealised",
        )
        assert float(mechanism.curve.as_pure() or 9) <= epsilon + 1e-9  # what it would claim
    rows, labels = np.array([[1.0]]), np.array([0.0])
    w = -contrasts(10).T @ (np.full(10, 0.1) - np.eye(10)[0]) / penalty
    ratio = log_density(rows, labels, w, mechanism, 10) - log_density(rows[:0], labels[:0], w, mechanism, 10)
    assert (ratio > epsilon) == rank_one


@pytest.mark.parametrize(("adjacency", "factor"), [("zero_out", 1.0), ("replace", 2.0)])
@pytest.mark.parametrize("arithmetic", ["strict", "idealised"])
def test_the_noise_is_as_large_as_the_theorem_says(adjacency: str, factor: float, arithmetic: Any) -> None:
    """Null records: V = -b / penalty, and the penalty asked for is far above the rule's."""
    loss, width = Softmax(classes=4), 200
    rows = examples_of(np.zeros((1_000, width)), np.zeros(1_000), adjacency)
    problem = Problem(loss=loss, dimension=width, penalty=1.0)
    account = Account(PureDP(2.0), adjacency=adjacency, seed=1)
    fit = multiclass(rows, problem, account=account, arithmetic=arithmetic)
    numbers = 3 * width
    scale = factor * math.sqrt(2.0) / (2.0 * (1 - OUTPUT_SHARE) - 3 * math.log1p(1 / 4_000))
    spread = math.sqrt(2 * numbers if arithmetic == "strict" else numbers + 1)
    # W = Q V: as long as V, on one more row.
    assert np.linalg.norm(fit.weights) / math.sqrt(numbers) == pytest.approx(scale * spread / 1_000, rel=0.12)
    assert np.allclose(fit.weights.sum(axis=0), 0.0, atol=1e-12)
    assert 0 <= float(account.remaining().as_pure() or 0) < 1e-12


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 2**31), classes=st.integers(2, 6), adjacency=st.sampled_from(list(Adjacency)))
def test_mapped_gradients_are_within_the_l1_bound(seed: int, classes: int, adjacency: Adjacency) -> None:
    """One record of mapped rows, at any weights: what the mechanism that was charged for says of both norms."""
    rng = np.random.default_rng(seed)
    rows, labels = some_rows(60, classes, 4, seed)
    loss: Any = Softmax(classes=classes)
    problem, account = Problem(loss=loss, dimension=4), Account(PureDP(1.0), adjacency=adjacency, seed=seed)
    released: list[tuple[Any, Any]] = []
    releasing = account.release

    def spy(mechanism: Any, value: Any, **told: Any) -> Any:
        released.append((mechanism, value))
        return releasing(mechanism, value, **told)

    account.release = spy  # type: ignore[method-assign]
    multiclass(examples_of(rows, labels, adjacency.value), problem, account=account)
    mechanism, losses = released[-1]
    assert mechanism.l1_factor is not None
    at = 30.0 * rng.normal(size=losses.dimension)
    ((x, y),) = losses.examples.chunks()
    for place in range(20):
        other = (y[place] + 1) % classes
        one = dataclasses.replace(losses, examples=examples_of(x[place : place + 1], y[place : place + 1]))
        two = dataclasses.replace(losses, examples=examples_of(-x[place : place + 1], np.array([other])))
        if adjacency is not Adjacency.replace:
            two = dataclasses.replace(losses, examples=examples_of(np.zeros((1, 4)), np.zeros(1)))
        assert mechanism.distance(one, two, at=at) <= 1.0 + 1e-9


# The method.


def three_classes(n: int) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(0)
    codes = rng.integers(3, size=n)
    corners = np.array([[0.8, 0.0], [-0.4, 0.7], [-0.4, -0.7]])
    return corners[codes] + 0.08 * rng.normal(size=(n, 2)), codes.astype(float)


@pytest.mark.parametrize("adjacency", ["replace", "zero_out", "add_remove"])
@pytest.mark.parametrize("penalty", [0.0, 0.001])
def test_learns_whitened_and_plain_and_spends_its_limit(adjacency: str, penalty: float) -> None:
    rows, labels = three_classes(6_000)
    account = Account(PureDP(1.0), adjacency=adjacency, seed=1)
    loss: Any = Softmax(classes=3)
    fit = multiclass(
        examples_of(rows, labels, adjacency),
        Problem(loss=loss, dimension=2, penalty=penalty),
        account=account,
    )
    assert np.mean(np.argmax(rows @ fit.weights.T, axis=1) == labels) > 0.95
    assert fit.parameters["engine"] == "objective"
    assert fit.parameters["preconditioner"] == ("none" if penalty else "diagonal")
    assert np.allclose(fit.weights.sum(axis=0), 0.0, atol=1e-9)
    assert len(account.journal.entries) == (1 if penalty else 2)
    assert 0 <= float(account.remaining().as_pure() or 0) < 1e-12


def test_rows_that_are_streamed_give_the_same() -> None:
    rows, labels = three_classes(6_000)
    held = examples_of(rows, labels)
    loss: Any = Softmax(classes=3)

    class Streamed(DerivedExamples):
        examples = held

        def chunks(self) -> Iterator[Chunk]:
            for start in range(0, 6_000, 1_000):
                yield rows[start : start + 1_000].copy(), labels[start : start + 1_000].copy()

        def shuffled_chunks(self, source: Source) -> Iterator[Chunk]:
            raise AssertionError("nothing is shuffled")

    streamed: Any = Streamed()
    first, second = (
        multiclass(some, Problem(loss=loss, dimension=2), account=Account(PureDP(1.0), seed=3)).weights
        for some in (held, streamed)
    )
    assert first == pytest.approx(second, abs=1e-6)


@pytest.mark.filterwarnings(
    "ignore::holdfast.errors.NotPrivateWarning", "ignore::holdfast.errors.BudgetWarning"
)
def test_the_choice_is_public_and_falls_back_to_the_output() -> None:
    loss: Any = Softmax(classes=10)
    told: dict[str, Any] = {"count": 1_000, "limit": PureDP(1.0), "adjacency": "replace"}
    assert choose_learner(Problem(loss=loss, dimension=50), **told).options == {"engine": "objective"}
    assert choose_learner(Problem(loss=loss, dimension=784, penalty=0.1), **told).options == {
        "engine": "output"
    }
    rows, labels = three_classes(2_000)
    model = PrivateLogisticRegression(epsilon=2.0, delta=0.0, classes=[0.0, 1.0, 2.0], random_state=0)
    assert "engine=objective" in model.fit(rows, labels).summary()
    assert model.release_ is not None
    assert model.release_.provenance.parameters["penalty"] == 0.0
    model = model.set_params(radius=5.0).fit(rows[:1_500], labels[:1_500])
    assert "engine=output" in model.summary()
    assert model.release_ is not None
    assert model.release_.provenance.parameters["penalty"] > 0.0


def test_refuses_before_spending() -> None:
    rows, labels = three_classes(50)
    account, loss = Account(PureDP(1.0), seed=0), Softmax(classes=3)
    wrongs: list[Any] = [
        Problem(loss=OneVsAll(classes=3), dimension=2),
        Problem(loss=loss, dimension=2, radius=1.0),
    ]
    for problem in wrongs:
        with pytest.raises(ParameterError, match="objective"):
            multiclass(examples_of(rows, labels), problem, account=account, engine="objective")
    gaussian = Account(GaussianDP(1.0), seed=0)
    with pytest.raises(ParameterError, match="noisy_gd"):
        multiclass(
            examples_of(rows, labels), Problem(loss=loss, dimension=2), account=gaussian, engine="objective"
        )
    with pytest.raises(ParameterError, match="penalty"):
        softmax_mechanism(
            Problem(loss=loss, dimension=2),
            loss,
            epsilon=0.1,
            penalty=0.1,
            adjacency=Adjacency.replace,
            public_count=9,
        )
    assert account.journal.entries == gaussian.journal.entries == ()


def test_determinants_take_half_of_epsilon_at_most() -> None:
    for classes in (2, 3, 10):
        loss: Any = Softmax(classes=classes)
        problem = Problem(loss=loss, dimension=5)
        for epsilon in (1e-3, 0.1, 1.0, 8.0):
            for count in (10, 10**4, 10**8):
                penalty = softmax_penalty(
                    problem, loss, epsilon=epsilon, adjacency=Adjacency.replace, public_count=count
                )
                assert log_determinant(problem, loss, penalty=penalty) <= 0.5 * epsilon * (1 + 1e-6)
