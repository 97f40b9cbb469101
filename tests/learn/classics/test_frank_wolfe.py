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
from holdfast.learn._problem.losses import Hinge, Logistic, Softmax, Squared
from holdfast.learn._rows.batches import disjoint_batches, poisson_sample
from holdfast.learn._rows.examples import ArrayExamples
from holdfast.learn.classics import frank_wolfe as module
from holdfast.learn.classics.frank_wolfe import METHOD as FRANK_WOLFE
from holdfast.learn.classics.frank_wolfe import Corners, L1Ball, bounds_of
from holdfast.learn.classics.frank_wolfe_sampling import AdmissibleRows, FrankWolfeBounds
from holdfast.noise._source import Source
from holdfast.privacy import ZCDP, Account, Adjacency, ApproxDP, GaussianDP, Laplace, PrivacyUnit, PureDP
from holdfast.privacy._account.parallel import accounts_for_parts

frank_wolfe = FRANK_WOLFE.fit


def examples_of(
    features: Floats, labels: Floats, adjacency: str = "replace", **changes: Any
) -> ArrayExamples:
    arguments: dict[str, Any] = {"public_count": max(1, features.shape[0])} | changes
    return ArrayExamples(features=features, labels=labels, adjacency=Adjacency(adjacency), **arguments)


def lasso(d: int, radius: float = 1.0) -> Problem:
    return Problem(loss=Squared(target_bound=1.0), dimension=d, radius=radius, row_norm=math.sqrt(d))


def regression(n: int, d: int = 20, seed: int = 0) -> tuple[Floats, Floats, Floats]:
    rng = np.random.default_rng(seed)
    weights = np.zeros(d)
    weights[:2] = 0.6, -0.4
    features = rng.choice([-1.0, 1.0], size=(n, d))
    return features, np.clip(features @ weights + 0.05 * rng.normal(size=n), -1, 1), weights


# The numbers of soundness, section 8.


def test_the_noise_scale_of_the_notes() -> None:
    # Delta = 1, T = 100, epsilon = 1, delta = 1e-6: rho = 0.02436 and Gumbel scale 45.3.
    account = Account(ApproxDP(1.0, 1e-6), currency="zcdp", seed=0)
    rho = float(account.remaining().as_zcdp() or 0)
    assert rho == pytest.approx(0.02436, abs=5e-6)
    features, labels, _ = regression(60)
    fit = frank_wolfe(examples_of(features, labels), lasso(20), account=account, steps=100, feature_bound=1.0)
    per_choice = fit.parameters["epsilon_per_choice"]
    assert per_choice == pytest.approx(math.sqrt(8 * rho / 100), rel=1e-9)
    assert 2.0 / per_choice == pytest.approx(45.3, abs=0.05)
    # Advanced composition with Laplace noise 2 Delta / eps would add 107.0; the two printed forms 420.5 and 210.3.
    assert 2.0 / per_choice < 107.0 < 210.3 < 420.5


def test_the_squared_loss_has_the_slope_of_the_whole_polytope() -> None:
    bounds = bounds_of(lasso(20, radius=3.0), L1Ball(radius=3.0, dimension=20), feature_bound=1.0)
    assert bounds.gradient == pytest.approx(4.0)  # C + Y; "L = O(1)" as printed would be 1
    assert bounds.score_change(Adjacency.replace, divisor=100.0) == pytest.approx(2 * 4 * 3 / 100)
    assert bounds.score_change(Adjacency.add_remove, divisor=100.0) == pytest.approx(4 * 3 / 100)
    assert bounds.curvature_term == pytest.approx(2 * 1.0 * 36)


def scores(
    features: Floats, labels: Floats, problem: Problem, w: Floats, polytope: Any, bound: float
) -> Floats:
    bounds = bounds_of(problem, polytope, feature_bound=bound)
    rows = AdmissibleRows(examples_of(features, labels), problem, bounds)
    gradient = module._gradient(rows.chunks(), w, problem, bounds)
    return np.asarray(polytope.products(gradient))


@settings(max_examples=80, deadline=None)
@given(
    seed=st.integers(0, 2**31),
    n=st.integers(1, 12),
    d=st.integers(1, 5),
    radius=st.floats(0.2, 5),
    logistic=st.booleans(),
    adjacency=st.sampled_from(list(Adjacency)),
)
def test_no_neighbour_moves_a_score_further(
    seed: int, n: int, d: int, radius: float, logistic: bool, adjacency: Adjacency
) -> None:
    rng = np.random.default_rng(seed)
    loss: Any = Logistic() if logistic else Squared(target_bound=1.0)
    problem = Problem(loss=loss, dimension=d, row_norm=math.sqrt(d))
    ball = L1Ball(radius=radius, dimension=d)
    w = rng.normal(size=d)
    w *= radius / np.sum(np.abs(w))
    if rng.random() < 0.5:
        w = ball.corner(int(rng.integers(ball.corners)))
    features, labels = rng.choice([-1.0, 1.0], size=(n, d)), rng.choice([-1.0, 1.0], size=n)
    other, other_labels = features.copy(), labels.copy()
    other[-1], other_labels[-1] = rng.choice([-1.0, 1.0], size=d), rng.choice([-1.0, 1.0])
    if adjacency is not Adjacency.replace:
        other, other_labels = other[:-1], other_labels[:-1]
    bounds = bounds_of(problem, ball, feature_bound=1.0)
    moved = scores(features, labels, problem, w, ball, 1.0) - scores(
        other, other_labels, problem, w, ball, 1.0
    )
    assert np.max(np.abs(moved)) <= bounds.score_change(adjacency, divisor=1.0) * (1 + 1e-12)


def test_the_score_bound_is_attained() -> None:
    # At the corner C e1 a row (1, -1) has residual C + Y; its opposite (-1, -1)... gives the other sign.
    ball, problem = L1Ball(radius=3.0, dimension=1), lasso(1, radius=3.0)
    first = scores(np.array([[1.0]]), np.array([-1.0]), problem, np.array([3.0]), ball, 1.0)
    second = scores(np.array([[1.0]]), np.array([1.0]), problem, np.array([-3.0]), ball, 1.0)
    assert first[0] == pytest.approx(12.0)
    assert second[0] == pytest.approx(-12.0)
    bounds = bounds_of(problem, ball, feature_bound=1.0)
    assert bounds.score_change(Adjacency.add_remove, divisor=1.0) == pytest.approx(12.0)


def test_rows_beyond_their_bounds_are_clipped() -> None:
    ball, problem = L1Ball(radius=1.0, dimension=2), lasso(2)
    wild = scores(np.array([[1e6, 1.0]]), np.array([-1e6]), problem, np.array([1.0, 0.0]), ball, 1.0)
    assert np.max(np.abs(wild)) <= bounds_of(problem, ball, feature_bound=1.0).score_change(
        Adjacency.add_remove, divisor=1.0
    )


def test_the_step_rule() -> None:
    bounds = FrankWolfeBounds(slope=2.0, feature_bound=1.0, l1_norm=1.0, curvature=1.0)
    change, corners = 0.004, 40
    for left, exponent in [(ZCDP(0.02), 0.5), (PureDP(1.0), 1.0)]:
        best = bounds.steps(left, score_change=change, corners=corners, count=1000)

        def risk(steps: float, left: Any = left, exponent: float = exponent) -> float:
            scale = math.sqrt(1 / (2 * 0.02)) if exponent == 0.5 else 2.0
            return bounds.curvature_term / steps + change * scale * math.pow(steps, exponent) * math.log(
                corners
            )

        assert risk(best) <= min(risk(best * 0.8), risk(best * 1.25)) * (1 + 1e-3)
    assert bounds.steps(ZCDP(1e9), score_change=1e-9, corners=2, count=10) == 100
    assert bounds.steps(ZCDP(1e-12), score_change=1e9, corners=2, count=10) == 1


# End to end.


@pytest.mark.parametrize(
    ("limit", "options"),
    [
        (ZCDP(20.0), {}),
        (PureDP(300.0), {"steps": 40}),
        (GaussianDP(30.0), {"steps": 40}),
        (ApproxDP(300.0, 1e-6), {"steps": 40, "currency": "renyi"}),
    ],
)
@pytest.mark.parametrize("arithmetic", ["strict", "idealised"])
def test_learns_and_spends_exactly_its_limit(limit: Any, options: dict[str, Any], arithmetic: Any) -> None:
    features, labels, weights = regression(4_000)
    named = dict(options)
    account = Account(limit, currency=named.pop("currency", None), seed=1)
    start = account.remaining()
    fit = frank_wolfe(
        examples_of(features, labels),
        lasso(20),
        account=account,
        feature_bound=1.0,
        arithmetic=arithmetic,
        **named,
    )
    assert np.sum(np.abs(fit.weights)) <= 1.0 + 1e-9
    assert np.linalg.norm(fit.weights - weights) < 0.2
    assert account.spent().within(start)
    assert account.spent().epsilon(1e-6) == pytest.approx(start.epsilon(1e-6), rel=1e-6)


def test_without_noise_the_excess_is_within_its_bound() -> None:
    features, labels, _ = regression(300)
    rows, problem = examples_of(features, labels), lasso(20, radius=0.5)
    from sklearn.linear_model import Lasso  # the constrained optimum, by searching its multiplier

    low, high = 1e-4, 1.0
    for _ in range(60):
        middle = math.sqrt(low * high)
        exact = Lasso(alpha=middle, fit_intercept=False, tol=1e-10, max_iter=100_000).fit(features, labels)
        low, high = (middle, high) if np.sum(np.abs(exact.coef_)) > 0.5 else (low, middle)

    def risk(w: Floats) -> float:
        return float(np.mean((features @ w - labels) ** 2) / 2)

    for steps in (5, 50, 400):
        fit = frank_wolfe(
            rows,
            problem,
            account=Account(ZCDP(1e9), seed=0),
            steps=steps,
            feature_bound=1.0,
            arithmetic="idealised",
        )
        excess = risk(fit.weights) - risk(exact.coef_)
        assert -1e-6 <= excess <= fit.parameters["excess_risk_bound"]


def test_with_noise_the_mean_excess_is_within_its_bound() -> None:
    features, labels, weights = regression(2_000)
    rows, problem = examples_of(features, labels), lasso(20)
    risks = []
    for seed in range(20):
        fit = frank_wolfe(
            rows, problem, account=Account(ZCDP(0.5), seed=seed), feature_bound=1.0, arithmetic="idealised"
        )
        risks.append(float(np.mean((features @ fit.weights - labels) ** 2) / 2))
    best = float(np.mean((features @ weights - labels) ** 2) / 2)
    assert np.mean(risks) - best <= fit.parameters["excess_risk_bound"]


def test_logistic_regression_over_a_list_of_corners() -> None:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(3_000, 2))
    features /= np.maximum(1.0, np.linalg.norm(features, axis=1, keepdims=True))
    labels = np.where(features[:, 0] + features[:, 1] > 0, 1.0, -1.0)
    corners = np.array([[2.0, 2.0], [-2.0, -2.0], [2.0, -2.0], [-2.0, 2.0]])
    problem = Problem(loss=Logistic(), dimension=2)
    fit = frank_wolfe(
        examples_of(features, labels), problem, account=Account(ZCDP(5.0), seed=0), vertices=corners, steps=20
    )
    assert np.mean(np.sign(features @ fit.weights) == labels) > 0.97
    assert fit.parameters["corners"] == 4
    assert Corners(points=corners).l1_norm == 4.0
    assert fit.parameters["score_sensitivity"] == pytest.approx(2 * 4.0 / 3_000, rel=1e-5)


@pytest.mark.parametrize("adjacency", ["replace", "zero_out", "add_remove"])
@pytest.mark.parametrize("limit", [ZCDP(30.0), PureDP(20.0)])
def test_disjoint_batches_cost_one_choice(adjacency: str, limit: Any) -> None:
    features, labels, weights = regression(20_000, d=5)
    account = Account(limit, adjacency=adjacency, seed=2)
    fit = frank_wolfe(
        examples_of(features, labels, adjacency),
        lasso(5),
        account=account,
        sampling="disjoint",
        steps=20,
        feature_bound=1.0,
    )
    factor = 2 if adjacency == "replace" else 1
    assert fit.parameters["score_sensitivity"] == pytest.approx(factor * 2.0 / 1_000, rel=1e-3)
    expected = math.sqrt(8 * 30.0) if isinstance(limit, ZCDP) else 20.0
    assert fit.parameters["epsilon_per_choice"] == pytest.approx(expected, rel=1e-6)
    assert account.spent().epsilon(1e-6) == pytest.approx(limit.epsilon(1e-6), rel=1e-6)
    assert np.linalg.norm(fit.weights - weights) < 0.2


@pytest.mark.parametrize("adjacency", ["zero_out", "add_remove"])
def test_poisson_samples_are_amplified(adjacency: str) -> None:
    features, labels, weights = regression(10_000, d=5)
    limit = PureDP(30.0)
    account = Account(limit, adjacency=adjacency, seed=2)
    fit = frank_wolfe(
        examples_of(features, labels, adjacency),
        lasso(5),
        account=account,
        sampling="poisson",
        batch=2_000,
        steps=30,
        feature_bound=1.0,
    )
    per_choice = fit.parameters["epsilon_per_choice"]
    assert math.log1p(0.2 * math.expm1(per_choice)) == pytest.approx(1.0, rel=1e-9)
    assert fit.parameters["score_sensitivity"] == pytest.approx(2.0 / 2_000, rel=1e-3)
    assert account.spent().within(limit)
    assert np.linalg.norm(fit.weights - weights) < 0.25


def numbered(n: int, adjacency: str) -> ArrayExamples:
    return examples_of(np.zeros((n, 1)), np.arange(n, dtype=float), adjacency)


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_batches_share_no_row(adjacency: str) -> None:
    rows = numbered(103, adjacency)
    batches = [
        np.concatenate([labels for _, labels in batch])
        for batch in disjoint_batches(rows, Source(3), size=10, count=10)
    ]
    seen = np.concatenate(batches)
    assert len(batches) == 10
    assert len(seen) == len(set(seen.tolist()))
    assert len(seen) == (100 if adjacency == "replace" else 103), (
        "a remainder is left out, or each row drew a batch"
    )
    if adjacency == "replace":
        assert all(batch.size == 10 for batch in batches)


def test_short_tables_give_empty_batches() -> None:
    sizes = [
        sum(labels.size for _, labels in batch)
        for batch in disjoint_batches(numbered(25, "replace"), Source(0), size=10, count=4)
    ]
    assert sizes == [10, 10, 5, 0]


def test_poisson_sample_has_its_rate() -> None:
    from fractions import Fraction

    drawn = sum(
        labels.size
        for _, labels in poisson_sample(numbered(20_000, "zero_out"), Source(1), rate=Fraction(1, 5))
    )
    assert drawn == pytest.approx(4_000, abs=5 * math.sqrt(20_000 * 0.16))


def test_parts_spend_no_more_than_the_whole() -> None:
    whole = Account(PureDP(1.0), seed=0)
    first, second = accounts_for_parts(whole, parts=2, label="test")
    first.release(Laplace(scale=1.0, l1_sensitivity=1.0), [1])
    second.release(Laplace(scale=1.0, l1_sensitivity=1.0), [1])
    from holdfast.errors import BudgetExceeded

    with pytest.raises(BudgetExceeded):
        first.release(Laplace(scale=1e6, l1_sensitivity=1.0), [1])
    with pytest.raises(BudgetExceeded):
        accounts_for_parts(whole, parts=2, label="again")


def test_a_user_of_several_rows() -> None:
    unit = PrivacyUnit("user", max_rows=3)
    features, labels, _ = regression(200)
    rows = examples_of(features, labels, unit=unit)
    account = Account(ZCDP(1.0), unit=unit, seed=0)
    fit = frank_wolfe(rows, lasso(20), account=account, steps=3, feature_bound=1.0)
    assert fit.parameters["score_sensitivity"] == pytest.approx(3 * 2 * 2.0 / 200, rel=1e-4)
    with pytest.raises(ParameterError, match="max_rows"):
        frank_wolfe(rows, lasso(20), account=Account(ZCDP(1.0), unit=unit), sampling="disjoint", steps=3)


@pytest.mark.parametrize(
    ("problem", "options", "word"),
    [
        (lasso(20, radius=math.inf), {}, "l1_radius"),
        (lasso(19), {}, "dimension"),
        (Problem(loss=Hinge(), dimension=20, radius=1.0), {}, "smooth"),
        (lasso(20), {"sampling": "shuffled"}, "sampling"),
        (lasso(20), {"sampling": "poisson", "batch": 10}, "poisson"),
        (lasso(20), {"steps": 0}, "steps"),
        (lasso(20), {"vertices": np.eye(3)}, "vertices"),
        (lasso(20), {"batch": 5}, "batch"),
        (lasso(20), {"feature_bound": -1.0}, "feature_bound"),
        (lasso(20), {"momentum": 1}, "options"),
    ],
)
def test_refuses_before_spending(problem: Problem, options: dict[str, Any], word: str) -> None:
    features, labels, _ = regression(50)
    account = Account(ZCDP(1.0), seed=0)
    with pytest.raises(ParameterError, match=word):
        frank_wolfe(examples_of(features, labels), problem, account=account, **options)
    assert account.journal.spent("") is None


def test_a_poisson_sample_needs_a_batch() -> None:
    features, labels, _ = regression(50)
    account = Account(ZCDP(1.0), adjacency="zero_out", seed=0)
    for batch in (None, 0, -3):
        with pytest.raises(ParameterError, match="batch must be a whole number >= 1"):
            frank_wolfe(
                examples_of(features, labels, adjacency="zero_out"),
                lasso(20),
                account=account,
                sampling="poisson",
                batch=batch,
            )
    assert account.journal.spent("") is None


def test_refuses_other_neighbours_and_survives_an_empty_table() -> None:
    rows = examples_of(np.zeros((0, 20)), np.zeros(0), public_count=10)
    with pytest.raises(AdjacencyError):
        frank_wolfe(rows, lasso(20), account=Account(ZCDP(1.0), adjacency="zero_out"))
    fit = frank_wolfe(rows, lasso(20), account=Account(ZCDP(1.0), seed=0))
    assert np.all(np.isfinite(fit.weights))


# Several classes.

SOFTMAX: Any = Softmax(classes=3)


def three_classes(n: int, d: int = 8, seed: int = 0) -> tuple[Floats, Floats]:
    """Class k where column k is the largest of the first three; the others say nothing."""
    rng = np.random.default_rng(seed)
    features = rng.choice([-1.0, 1.0], size=(n, d))
    features[:, :3] *= rng.uniform(0.2, 1.0, size=(n, 3))
    return features, np.argmax(features[:, :3], axis=1).astype(float)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**31), radius=st.floats(0.2, 20), adjacency=st.sampled_from(list(Adjacency)))
def test_no_neighbour_moves_a_softmax_score_further(seed: int, radius: float, adjacency: Adjacency) -> None:
    """sqrt(2) bounds a row's whole gradient; a corner sees one entry of it, at most 1."""
    rng = np.random.default_rng(seed)
    problem = Problem(loss=SOFTMAX, dimension=2, row_norm=math.sqrt(2))
    ball = L1Ball(radius=radius, dimension=6)
    w = ball.corner(int(rng.integers(ball.corners)))
    features, labels = rng.choice([-1.0, 1.0], size=(5, 2)), rng.integers(3, size=5).astype(float)
    other, other_labels = features.copy(), labels.copy()
    other[-1], other_labels[-1] = rng.choice([-1.0, 1.0], size=2), float(rng.integers(3))
    if adjacency is not Adjacency.replace:
        other, other_labels = other[:-1], other_labels[:-1]
    bounds = bounds_of(problem, ball, feature_bound=1.0)
    both = []
    for x, y in ((features, labels), (other, other_labels)):
        rows = AdmissibleRows(examples_of(x, y), problem, bounds)
        both.append(ball.products(module._gradient(rows.chunks(), w.reshape(3, 2), problem, bounds).ravel()))
    allowed = bounds.score_change(adjacency, divisor=1.0)
    assert np.max(np.abs(both[0] - both[1])) <= allowed * (1 + 1e-12)


def test_a_softmax_score_moves_by_nearly_its_bound() -> None:
    problem = Problem(loss=SOFTMAX, dimension=1)
    ball = L1Ball(radius=30.0, dimension=3)
    bounds = bounds_of(problem, ball, feature_bound=1.0)
    w = np.array([[30.0], [0.0], [0.0]])
    one, other = (
        module._gradient([(np.array([[sign]]), np.array([label]))], w, problem, bounds)
        for sign, label in ((1.0, 1.0), (-1.0, 1.0))
    )
    # Entry (1): p_0 = 1 at x = 1 with another label, p_0 = 0 at x = -1.
    assert bounds.score_change(Adjacency.add_remove, divisor=1.0) == pytest.approx(30.0)
    assert 30.0 * abs(one[0, 0]) == pytest.approx(30.0, rel=1e-6)
    assert abs(other[0, 0]) < 1e-6


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**31))
def test_a_softmax_curves_by_no_more_than_a_quarter_in_l1(seed: int) -> None:
    rng = np.random.default_rng(seed)
    features, labels = rng.uniform(-1, 1, size=(1, 2)), rng.integers(3, size=1).astype(float)
    start, move = rng.normal(size=(2, 3, 2)) * rng.choice([0.1, 1.0, 5.0])
    slopes = SOFTMAX.slopes(features @ start.T, labels).T @ features
    values = [float(SOFTMAX.values(features @ w.T, labels)[0]) for w in (start, start + move)]
    gap = values[1] - values[0] - float(np.sum(slopes * move))
    bound = 0.25 * np.sum(np.abs(move)) ** 2 * np.max(np.abs(features)) ** 2 / 2
    assert gap <= bound * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize("sampling", ["full", "disjoint"])
def test_a_softmax_is_learnt(sampling: Any) -> None:
    features, labels = three_classes(20_000)
    problem = Problem(loss=SOFTMAX, dimension=8, row_norm=math.sqrt(8))
    fit = frank_wolfe(
        examples_of(features, labels, "zero_out"),
        problem,
        sampling=sampling,
        l1_radius=20.0,
        feature_bound=1.0,
        account=Account(ApproxDP(2.0, 1e-7), adjacency="zero_out", currency="zcdp", seed=1),
        steps=40,
    )
    assert fit.weights.shape == (3, 8)
    assert np.sum(np.abs(fit.weights)) <= 20.0 * (1 + 1e-12)
    assert fit.parameters["corners"] == 48
    assert np.mean(np.argmax(features @ fit.weights.T, axis=1) == labels) > 0.8


def test_vertices_of_a_softmax_are_as_long_as_all_its_weights() -> None:
    features, labels = three_classes(50, d=3)
    problem = Problem(loss=SOFTMAX, dimension=3, row_norm=2.0)
    with pytest.raises(ParameterError, match="vertices"):
        frank_wolfe(
            examples_of(features, labels), problem, account=Account(PureDP(1.0), seed=0), vertices=np.eye(3)
        )


def test_an_account_that_adds_up_epsilons_beside_a_delta() -> None:
    """Choices are of pure epsilon: as many steps as a pure account would take."""
    random = np.random.default_rng(0)
    x = random.uniform(-0.5, 0.5, size=(500, 3))
    rows, problem = examples_of(x, np.sign(x[:, 0])), Problem(loss=Logistic(), dimension=3, radius=1.0)
    taken = [
        frank_wolfe(rows, problem, account=account).parameters["steps"]
        for account in (
            Account(ApproxDP(1.0, 1e-6), currency="basic", adjacency="replace", seed=0),
            Account(PureDP(1.0), adjacency="replace", seed=0),
        )
    ]
    assert taken[0] == taken[1] >= 1
