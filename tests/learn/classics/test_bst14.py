from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from studies.reproductions.printed_constants import printed_noise_std

from holdfast._arrays import Floats
from holdfast.errors import AdjacencyError, ParameterError
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import Hinge, Logistic, Squared
from holdfast.learn._rows.examples import ArrayExamples
from holdfast.learn.classics.bst14 import METHOD as BST14
from holdfast.learn.classics.bst14 import noise_for, step_size, without_replacement
from holdfast.noise._source import Source
from holdfast.privacy import Account, Adjacency, ApproxDP, GaussianDP, PrivacyUnit
from holdfast.privacy._curves.fixed_size import FixedSizeGaussianCurve
from holdfast.privacy._mechanisms.subsampled import FixedSizeGaussian

bst14 = BST14.fit


def examples_of(
    features: Floats, labels: Floats, adjacency: str = "replace", **changes: Any
) -> ArrayExamples:
    arguments: dict[str, Any] = {"public_count": max(1, features.shape[0])} | changes
    return ArrayExamples(features=features, labels=labels, adjacency=Adjacency(adjacency), **arguments)


def renyi(epsilon: float, delta: float = 1e-6, **options: Any) -> Account:
    return Account(ApproxDP(epsilon, delta), currency="renyi", seed=1, **options)


def classes(n: int) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(n, 4))
    features /= np.maximum(1.0, np.linalg.norm(features, axis=1, keepdims=True))
    return features, np.where(features @ np.array([1.0, -1.0, 0.5, 0.0]) > 0, 1.0, -1.0)


# The Renyi bound of one step.


def exact_divergence(order: int, first: Floats, second: Floats, step: float) -> float:
    with np.errstate(under="ignore"):
        return math.log(float(np.sum(first * (first / second) ** (order - 1))) * step) / (order - 1)


@pytest.mark.parametrize("rate", [0.01, 0.1, 0.5, 0.9])
@pytest.mark.parametrize("sigma", [0.7, 1.0, 4.0])
@pytest.mark.parametrize("order", [2, 3, 8])
def test_the_bound_covers_exact_mixtures(rate: float, sigma: float, order: int) -> None:
    # The record, if sampled, puts the sum at 0 or 1; if not, another record puts it anywhere between.
    grid = np.linspace(-60 * sigma, 60 * sigma, 60_001)
    step = float(grid[1] - grid[0])

    def normal(centre: float) -> Floats:
        with np.errstate(under="ignore"):
            return (
                np.asarray(np.exp(-0.5 * ((grid - centre) / sigma) ** 2) / (sigma * math.sqrt(2 * math.pi)))
                + 1e-300
            )

    bound = FixedSizeGaussianCurve(sigma, rate).renyi(float(order))
    largest = 0.0
    for other in (0.0, 0.25, 0.5):
        first = (1 - rate) * normal(other) + rate * normal(0.0)
        second = (1 - rate) * normal(other) + rate * normal(1.0)
        largest = max(
            largest,
            exact_divergence(order, first, second, step),
            exact_divergence(order, second, first, step),
        )
    assert 0 < largest <= bound
    assert bound <= 0.5 * order / sigma**2 * (1 + 1e-12)


def test_agrees_with_another_library() -> None:
    rdp = pytest.importorskip("dp_accounting.rdp")
    import dp_accounting

    accountant = rdp.RdpAccountant(
        [float(a) for a in range(2, 65)], dp_accounting.NeighboringRelation.REPLACE_ONE
    )
    accountant.compose(
        dp_accounting.SampledWithoutReplacementDpEvent(10_000, 100, dp_accounting.GaussianDpEvent(4.0)), 500
    )
    theirs = accountant.get_epsilon(1e-6)
    ours = (
        FixedSizeGaussian(sigma=4.0, l2_sensitivity=1.0, batch=100, population=10_000)
        .curve.repeat(500)
        .epsilon(1e-6)
    )
    # Theirs rests on a theorem about divergences (Wang, Balle and Kasiviswanathan 2019), ours on the pair.
    assert 0.2 * theirs <= ours <= theirs


def test_batches_are_uniform_sets() -> None:
    source = Source(5)
    counts = dict.fromkeys(itertools.combinations(range(5), 2), 0)
    for _ in range(4_000):
        first, second = sorted(without_replacement(source, size=2, population=5).tolist())
        counts[first, second] += 1
    expected = 4_000 / 10
    assert sum((c - expected) ** 2 / expected for c in counts.values()) < 33  # chi-square, 9 degrees: 1e-4
    assert sorted(without_replacement(source, size=4, population=5).tolist()) != [0, 1, 2, 3, 4]
    assert without_replacement(source, size=5, population=5).size == 5


# The printed version.


def test_the_printed_noise_has_half_the_deviation_that_replacing_needs() -> None:
    # At w = -40 x both rows have lost their margin: (x, 1) has gradient -x, and (-x, 1) is safe; (-x, -1) again
    # has gradient -x. Far out, (x, 1) against (x, -1) moves by X; (x, 1) at -40 against (x, -1) at 40 by 2 X.
    loss = Logistic()
    lost = float(loss.slopes(np.array([-40.0]), np.array([1.0]))[0])
    other = float(loss.slopes(np.array([40.0]), np.array([-1.0]))[0])
    assert other - lost == pytest.approx(2.0), "iota = 2 L, not 1"
    problem = Problem(loss=loss, dimension=2, radius=1.0)
    account = renyi(1.0)
    mechanism = noise_for(account, problem, batch=1, population=100, steps=10, arithmetic="idealised")
    assert float(mechanism.l2_sensitivity) == pytest.approx(2.0, rel=1e-6)
    printed = printed_noise_std(epsilon=1.0, delta=1e-6, passes=1, count=1000)
    assert printed_noise_std(epsilon=1.0, delta=1e-6, passes=1, count=1000, sensitivity=2.0) == pytest.approx(
        2 * printed
    )


def test_the_step_sizes_are_the_papers() -> None:
    problem = Problem(loss=Logistic(), dimension=4, radius=3.0)
    assert step_size(9, problem, noise_std=2.0) == pytest.approx(2 * 3 / (math.sqrt(4 * 4 + 1) * 3))
    assert step_size(9, Problem(loss=Logistic(), dimension=4, penalty=0.1), noise_std=2.0) == pytest.approx(
        1 / 0.9
    )


# End to end.


@pytest.mark.parametrize(
    "problem",
    [
        Problem(loss=Logistic(), dimension=4, radius=10.0),
        Problem(loss=Hinge(), dimension=4, radius=10.0),
        Problem(loss=Logistic(), dimension=4, penalty=0.05),
    ],
    ids=["convex", "hinge", "strongly-convex"],
)
@pytest.mark.parametrize("adjacency", ["replace", "zero_out"])
def test_learns_and_spends_exactly_its_limit(problem: Problem, adjacency: str) -> None:
    features, labels = classes(5_000)
    account = renyi(8.0, adjacency=adjacency)
    start = account.remaining()
    fit = bst14(examples_of(features, labels, adjacency), problem, account=account, passes=2, batch=100)
    assert np.mean(np.sign(features @ fit.weights) == labels) > 0.9
    assert fit.parameters["steps"] == 100
    assert account.spent().within(start)
    assert account.spent().epsilon(1e-6) == pytest.approx(8.0, rel=1e-3)


def test_noise_grows_as_epsilon_falls_and_falls_with_the_batch() -> None:
    features, labels = classes(1_000)
    problem = Problem(loss=Logistic(), dimension=4, radius=1.0)

    def deviation(epsilon: float, batch: int) -> float:
        fit = bst14(examples_of(features, labels), problem, account=renyi(epsilon), batch=batch)
        return float(fit.parameters["gradient_noise_std"])

    assert deviation(0.5, 50) > 1.5 * deviation(2.0, 50)
    assert deviation(1.0, 10) > deviation(1.0, 100)


def test_each_step_draws_the_declared_noise() -> None:
    rows = examples_of(np.zeros((100, 300)), np.ones(100))
    problem = Problem(loss=Logistic(), dimension=300, penalty=1.0)
    ends = []
    for seed in range(4):
        account = Account(ApproxDP(1.0, 1e-6), currency="renyi", seed=seed)
        fit = bst14(rows, problem, account=account, batch=100)
        sigma = fit.parameters["gradient_noise_std"]
        ends.append(fit.weights / step_size(1, problem, noise_std=sigma))
    assert fit.parameters["steps"] == 1
    assert np.sqrt(np.mean(np.square(ends))) == pytest.approx(sigma, rel=0.1)
    # One step on the whole table is the plain Gaussian mechanism of sensitivity 2 L / n.
    order = Account(ApproxDP(1.0, 1e-6), currency="renyi").remaining()
    assert order.admits(GaussianDP(2.0 / (100 * sigma)))


@pytest.mark.parametrize(
    ("problem", "options", "word"),
    [
        (Problem(loss=Logistic(), dimension=4), {}, "radius"),
        (Problem(loss=Squared(target_bound=1.0), dimension=4, radius=1.0), {}, "gradient"),
        (Problem(loss=Logistic(), dimension=3, radius=1.0), {}, "dimension"),
        (Problem(loss=Logistic(), dimension=4, radius=1.0), {"batch": 51}, "batch"),
        (Problem(loss=Logistic(), dimension=4, radius=1.0), {"passes": 0}, "passes"),
    ],
)
def test_refuses_before_spending(problem: Problem, options: dict[str, Any], word: str) -> None:
    features, labels = classes(50)
    account = renyi(1.0)
    with pytest.raises(ParameterError, match=word):
        bst14(examples_of(features, labels), problem, account=account, **options)
    assert account.journal.spent("") is None


def test_refuses_what_its_proof_does_not_cover() -> None:
    features, labels = classes(60)
    problem = Problem(loss=Logistic(), dimension=4, radius=1.0)
    with pytest.raises(AdjacencyError, match="add_remove"):
        bst14(
            examples_of(features, labels, "add_remove"), problem, account=renyi(1.0, adjacency="add_remove")
        )
    with pytest.raises(ParameterError, match="currency"):
        bst14(examples_of(features, labels), problem, account=Account(GaussianDP(1.0)))
    unit = PrivacyUnit("user", max_rows=2)
    with pytest.raises(ParameterError, match="max_rows"):
        bst14(examples_of(features, labels, unit=unit), problem, account=renyi(1.0, unit=unit))
    empty = examples_of(np.zeros((0, 4)), np.zeros(0), public_count=60)
    assert np.all(np.isfinite(bst14(empty, problem, account=renyi(1.0)).weights))
