"""Output perturbation: the minimiser never moves by more than its noise is scaled to."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest

from holdfast._arrays import Floats
from holdfast.errors import HoldfastError, ParameterError
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import Hinge, HuberHinge, Logistic, Loss, Squared
from holdfast.learn._risk.minimise import minimise_certified
from holdfast.learn._risk.risk import Risk
from holdfast.learn._rows.examples import ArrayExamples
from holdfast.learn.methods.output import METHOD, minimiser_sensitivity
from holdfast.privacy import Account, Adjacency, GaussianDP, PrivacyUnit, PureDP

output_perturbation = METHOD.fit


@dataclasses.dataclass(frozen=True)
class LinearLoss(Loss):
    """z y: the loss on which the bound is reached."""

    name: str = "linear"
    slope: float = 1.0
    curvature: float = 0.0

    def values(self, z: Floats, y: Floats) -> Floats:
        return z * y

    def slopes(self, z: Floats, y: Floats) -> Floats:
        return y

    def curvatures(self, z: Floats, y: Floats) -> Floats:
        return np.zeros_like(z)


def table(x: Any, y: Any, adjacency: str = "replace", count: int | None = None) -> ArrayExamples:
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    return ArrayExamples(
        features=x, labels=y, adjacency=Adjacency.of(adjacency), public_count=count or max(1, len(y))
    )


def learnable(adjacency: str = "replace", rows: int = 4000) -> ArrayExamples:
    rng = np.random.Generator(np.random.PCG64(3))
    x = rng.normal(size=(rows, 5))
    x /= np.maximum(1.0, np.linalg.norm(x, axis=1))[:, None]
    return table(x, np.sign(x @ np.array([2.0, -1.0, 0.5, 0.0, 0.0])), adjacency)


def minimiser(examples: ArrayExamples, problem: Problem, count: int) -> Floats:
    risk = Risk(examples=examples, problem=problem, penalty=problem.penalty, divisor=float(count))
    return minimise_certified(risk, tolerance=1e-3 * problem.lipschitz / count)


def test_a_flip_of_linear_losses_moves_exactly_as_far_as_claimed() -> None:
    """Soundness, section 3: l = z w, n = 100, penalty 0.1: 0.2 = 2/(penalty n); 001 prints 0.4."""
    problem = Problem(loss=LinearLoss(), dimension=1, penalty=0.1)
    labels = np.ones(100)
    flipped = labels.copy()
    flipped[17] = -1.0
    there = minimiser(table(np.ones((100, 1)), labels), problem, 100)
    moved = np.linalg.norm(there - minimiser(table(np.ones((100, 1)), flipped), problem, 100))
    claimed = minimiser_sensitivity(problem, adjacency=Adjacency.replace, public_count=100)
    assert moved == pytest.approx(0.2, rel=1e-9)
    assert 0.2 < claimed < 0.2003
    # One record more or less, divided by the public count: half of it.
    more = minimiser(table(np.ones((101, 1)), np.ones(101), "add_remove", 100), problem, 100)
    claimed = minimiser_sensitivity(problem, adjacency=Adjacency.add_remove, public_count=100)
    assert np.linalg.norm(more - there) == pytest.approx(0.1, rel=1e-9)
    assert 0.1 < claimed < 0.1003


def test_the_solver_is_charged_on_both_sides() -> None:
    problem = Problem(loss=Logistic(), dimension=1, penalty=0.1)
    loose = minimiser_sensitivity(problem, adjacency=Adjacency.replace, public_count=100, inexactness=1.0)
    # G/(penalty n) = 0.2, r = L/(penalty n) = 0.1 for each of the two neighbours.
    assert loose == pytest.approx(0.4, rel=1e-8)


@pytest.mark.parametrize("adjacency", [a.value for a in Adjacency])
@pytest.mark.parametrize(
    ("loss", "radius"),
    [
        (Logistic(), math.inf),
        (HuberHinge(width=0.1), math.inf),
        (Logistic(), 0.5),
        (Squared(target_bound=1.0, prediction_bound=0.5), 0.5),
    ],
    ids=["logistic", "huber", "ball", "squared"],
)
def test_random_and_adversarial_neighbours_stay_within(loss: Loss, radius: float, adjacency: str) -> None:
    rng = np.random.Generator(np.random.PCG64(11))
    problem = Problem(loss=loss, dimension=3, penalty=0.05, radius=radius)
    count, largest = 40, 0.0
    claimed = minimiser_sensitivity(problem, adjacency=Adjacency.of(adjacency), public_count=count)
    for trial in range(25):
        x = rng.normal(size=(count, 3))
        x /= np.linalg.norm(x, axis=1)[:, None]
        x = np.tile(x[:1], (count, 1)) if trial % 3 == 0 else x
        y = np.full(count, -1.0) if trial % 3 == 0 else np.sign(rng.normal(size=count))
        turned = [-x[-1] * 1e3, x[-1], 5 * rng.normal(size=3)][trial % 3]
        label = [-1.0, 1.0, float("inf")][trial % 3]
        if adjacency == "add_remove":
            other = table(np.vstack([x, turned]), np.append(y, label), adjacency, count)
        else:
            x2, y2 = x.copy(), y.copy()
            x2[-1] = turned if adjacency == "replace" else 0.0
            y2[-1] = label if adjacency == "replace" else 0.0
            other = table(x2, y2, adjacency)
        moved = float(
            np.linalg.norm(
                minimiser(table(x, y, adjacency, count), problem, count) - minimiser(other, problem, count)
            )
        )
        largest = max(largest, moved / claimed)
    assert 0.05 < largest <= 1.0


@pytest.mark.parametrize("limit", [PureDP(2.0), GaussianDP(0.5)], ids=["pure", "gaussian"])
@pytest.mark.parametrize("arithmetic", ["strict", "idealised"])
def test_the_noise_is_as_large_as_the_bound_says(limit: Any, arithmetic: Any) -> None:
    """Null records: the minimiser is 0, and what is released is the noise alone."""
    width, count = 1000, 50
    problem = Problem(loss=Logistic(), dimension=width, penalty=0.1)
    rows = table(np.zeros((count, width)), np.zeros(count), "zero_out")
    account = Account(limit, adjacency="zero_out", seed=1)
    fit = output_perturbation(rows, problem, account=account, arithmetic=arithmetic)
    delta = 1.0 / (0.1 * count) * 1.002
    expected = (
        delta / 0.5
        if limit == GaussianDP(0.5)
        else delta / 2.0 * math.sqrt(2 * width if arithmetic == "strict" else width + 1)
    )
    assert fit.noise_std == pytest.approx(expected, rel=1e-3)
    assert float(np.std(fit.weights)) == pytest.approx(expected, rel=0.12)


@pytest.mark.parametrize("adjacency", METHOD.adjacencies)
@pytest.mark.parametrize(
    ("loss", "radius"),
    [(Logistic(), math.inf), (Hinge(), math.inf), (Squared(target_bound=1.0, prediction_bound=3.0), 3.0)],
    ids=["logistic", "hinge", "squared"],
)
def test_learns_and_spends_its_limit(loss: Loss, radius: float, adjacency: str) -> None:
    rows = learnable(adjacency)
    account = Account(GaussianDP(30.0), adjacency=adjacency, seed=1)
    problem = Problem(loss=loss, dimension=5, penalty=0.01, radius=radius)
    fit = output_perturbation(rows, problem, account=account)
    assert np.mean(np.sign(rows.features @ fit.weights) == rows.labels) > 0.95
    assert float(account.spent().as_gdp() or 0) == pytest.approx(900.0, rel=1e-6)
    assert account.spent().within(GaussianDP(30.0))


@pytest.mark.parametrize(
    ("problem", "options", "named"),
    [
        (Problem(loss=Logistic(), dimension=5), {}, "penalty"),
        (Problem(loss=Squared(target_bound=1.0), dimension=5, penalty=0.1), {}, "radius"),
        (
            Problem(loss=Squared(target_bound=1.0, prediction_bound=1.0), dimension=5, penalty=0.1),
            {},
            "prediction_bound",
        ),
        (Problem(loss=Logistic(), dimension=4, penalty=0.1), {}, "dimension"),
        (Problem(loss=Logistic(), dimension=5, penalty=0.1), {"inexactness": 0.0}, "inexactness"),
        (Problem(loss=Hinge(), dimension=5, penalty=0.1), {"width": 0.0}, "width"),
        (Problem(loss=Logistic(), dimension=5, penalty=0.1), {"passes": 3}, "passes"),
    ],
)
def test_bad_constants_are_refused_before_spending(
    problem: Problem, options: dict[str, Any], named: str
) -> None:
    account = Account(GaussianDP(1.0), seed=1)
    with pytest.raises(ParameterError, match=named):
        output_perturbation(learnable(rows=10), problem, account=account, **options)
    assert account.journal.entries == ()


def test_units_of_several_rows_are_refused() -> None:
    rows = dataclasses.replace(learnable(rows=10), unit=PrivacyUnit("user", max_rows=3))
    account = Account(GaussianDP(1.0), unit=PrivacyUnit("user", max_rows=3), seed=1)
    with pytest.raises(HoldfastError, match="max_rows"):
        output_perturbation(rows, Problem(loss=Logistic(), dimension=5, penalty=0.1), account=account)
