"""SCS13: a pass costs one step, passes add up, and one record moves one gradient of each pass."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest

from holdfast.errors import BudgetExceeded, DataError, HoldfastError, ParameterError
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import Hinge, Logistic, Loss, Squared
from holdfast.learn._rows.examples import ArrayExamples
from holdfast.learn.methods.scs13 import METHOD, gradient_sum, step_noise
from holdfast.privacy import Account, Adjacency, Gaussian, GaussianDP, PrivacyUnit, PureDP, VectorLaplace

scs13 = METHOD.fit


def table(x: Any, y: Any, adjacency: str = "replace", count: int | None = None) -> ArrayExamples:
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    return ArrayExamples(
        features=x, labels=y, adjacency=Adjacency.of(adjacency), public_count=count or max(1, len(y))
    )


def learnable(adjacency: str = "replace", rows: int = 4003) -> ArrayExamples:
    rng = np.random.Generator(np.random.PCG64(3))
    x = rng.normal(size=(rows, 5))
    x /= np.maximum(1.0, np.linalg.norm(x, axis=1))[:, None]
    return table(x, np.sign(x @ np.array([2.0, -1.0, 0.5, 0.0, 0.0])), adjacency)


def test_one_record_moves_a_batch_gradient_by_no_more_than_the_noise_is_scaled_to() -> None:
    rng = np.random.Generator(np.random.PCG64(5))
    problem = Problem(loss=Logistic(), dimension=3)
    x, y = rng.normal(size=(9, 3)), np.sign(rng.normal(size=9))
    largest = 0.0
    for _ in range(200):
        w = 10 * rng.normal(size=(1, 3))
        x2, y2 = x.copy(), y.copy()
        x2[4], y2[4] = 100 * rng.normal(size=3), -y[4]
        moved = np.linalg.norm(gradient_sum(problem, w, (x, y)) - gradient_sum(problem, w, (x2, y2)))
        largest = max(largest, float(moved) / problem.gradient_change("replace"))
    assert largest <= 1.0
    # The worst that is known: two features that w puts far on the wrong side, almost opposite.
    w = np.array([[-60.0, 0.0, 0.0]])
    pair = [(np.array([[0.3, s * math.sqrt(0.91), 0.0]]), np.ones(1)) for s in (1.0, -1.0)]
    moved = np.linalg.norm(gradient_sum(problem, w, pair[0]) - gradient_sum(problem, w, pair[1]))
    assert 0.9 < moved / problem.gradient_change("replace") <= 1.0


@pytest.mark.parametrize(("adjacency", "change"), [("replace", 2.0), ("zero_out", 1.0), ("add_remove", 1.0)])
@pytest.mark.parametrize("passes", [1, 4])
def test_the_charge_is_that_of_the_passes(adjacency: str, change: float, passes: int) -> None:
    rows, problem = learnable(adjacency, 1003), Problem(loss=Logistic(), dimension=5)
    gaussian = Account(GaussianDP(2.0), adjacency=adjacency, seed=1)
    scs13(rows, problem, account=gaussian, passes=passes, batch=50)
    (entry,) = gaussian.journal.entries
    assert entry.charge.times == passes
    noise = Gaussian.from_json(entry.charge.mechanism)
    # mu = sqrt(k) G / (b sigma): soundness, section 6.
    assert float(noise.l2_sensitivity) == pytest.approx(change / 50, rel=1e-8)
    assert float(noise.sigma) == pytest.approx(math.sqrt(passes) * change / 50 / 2.0, rel=1e-6)
    assert gaussian.spent().within(GaussianDP(2.0))
    pure = Account(PureDP(3.0), adjacency=adjacency, seed=1)
    scs13(rows, problem, account=pure, passes=passes, batch=50)
    (entry,) = pure.journal.entries
    assert VectorLaplace.from_json(entry.charge.mechanism).curve == PureDP(3.0).__class__(3.0 / passes)
    assert pure.spent() == PureDP(3)


@pytest.mark.parametrize("limit", [PureDP(2.0), GaussianDP(0.5)], ids=["pure", "gaussian"])
@pytest.mark.parametrize("arithmetic", ["strict", "idealised"])
def test_every_step_has_its_own_noise(limit: Any, arithmetic: Any) -> None:
    """Null records: the weights are the sum of the steps' noises and nothing else."""
    width, rows, passes, batch = 800, 35, 2, 10
    problem = Problem(loss=Logistic(), dimension=width)
    account = Account(limit, adjacency="zero_out", seed=1)
    fit = scs13(
        table(np.zeros((rows, width)), np.zeros(rows), "zero_out"),
        problem,
        account=account,
        passes=passes,
        batch=batch,
        step=3.0,
        arithmetic=arithmetic,
    )
    steps = 3.0 / np.sqrt(np.arange(1, 9))  # two passes of ceil(35/10) batches
    if limit == GaussianDP(0.5):
        each = math.sqrt(passes) / batch / 0.5
    else:
        each = passes / batch / 2.0 * math.sqrt(2 * width if arithmetic == "strict" else width + 1)
    assert float(np.std(fit.weights)) == pytest.approx(each * math.sqrt(np.sum(steps**2)), rel=0.12)


def test_a_permit_of_disjoint_parts_is_drawn_once_on_each() -> None:
    account = Account(PureDP(2.0), seed=1)
    permit = account.permit(VectorLaplace(epsilon=1.0, l2_sensitivity=1.0), times=2, parts=3)
    assert account.spent() == PureDP(2)
    for _ in range(6):
        permit.release(np.zeros(2))
    with pytest.raises(BudgetExceeded):
        permit.release(np.zeros(2))
    with pytest.raises(ParameterError, match="parts"):
        account.permit(VectorLaplace(epsilon=1.0, l2_sensitivity=1.0), times=1, parts=0)


@pytest.mark.parametrize("adjacency", METHOD.adjacencies)
@pytest.mark.parametrize(
    ("loss", "radius", "penalty"),
    [
        (Logistic(), math.inf, 0.0),
        (Hinge(), math.inf, 0.01),
        (Squared(target_bound=1.0, prediction_bound=3.0), 3.0, 0.0),
    ],
    ids=["logistic", "hinge", "squared"],
)
def test_learns(loss: Loss, radius: float, penalty: float, adjacency: str) -> None:
    rows = learnable(adjacency)
    account = Account(GaussianDP(10.0), adjacency=adjacency, seed=1)
    problem = Problem(loss=loss, dimension=5, penalty=penalty, radius=radius)
    fit = scs13(rows, problem, account=account, passes=5)
    assert np.mean(np.sign(rows.features @ fit.weights) == rows.labels) > 0.9
    assert np.linalg.norm(fit.weights) <= radius * (1 + 1e-12)
    assert fit.assumptions


@pytest.mark.parametrize(
    ("problem", "options", "named"),
    [
        (Problem(loss=Squared(target_bound=1.0), dimension=5), {}, "radius"),
        (Problem(loss=Logistic(), dimension=4), {}, "dimension"),
        (Problem(loss=Logistic(), dimension=5), {"batch": 0}, "batch"),
        (Problem(loss=Logistic(), dimension=5), {"passes": 0}, "passes"),
        (Problem(loss=Logistic(), dimension=5), {"step": 0.0}, "step"),
        (Problem(loss=Logistic(), dimension=5), {"average": "last"}, "average"),
    ],
)
def test_bad_constants_are_refused_before_spending(
    problem: Problem, options: dict[str, Any], named: str
) -> None:
    account = Account(GaussianDP(1.0), seed=1)
    with pytest.raises(ParameterError, match=named):
        scs13(learnable(rows=60), problem, account=account, **options)
    assert account.journal.entries == ()


def test_other_refusals() -> None:
    account = Account(GaussianDP(1.0), seed=1)
    with pytest.raises(DataError, match="public_count"):
        scs13(
            table(np.ones((9, 1)), np.ones(9), count=8),
            Problem(loss=Logistic(), dimension=1),
            account=account,
        )
    user = PrivacyUnit("user", max_rows=3)
    with pytest.raises(HoldfastError, match="max_rows"):
        scs13(
            dataclasses.replace(learnable(rows=10), unit=user),
            Problem(loss=Logistic(), dimension=5),
            account=Account(GaussianDP(1.0), unit=user, seed=1),
        )
    assert account.journal.entries == ()


def test_noise_of_a_step_never_exceeds_the_limit() -> None:
    for passes in (1, 2, 3, 7, 50):
        curve = step_noise(GaussianDP(0.7), passes=passes, l2_sensitivity=0.04).curve
        assert curve.repeat(passes).within(GaussianDP(0.7))
