"""Utility theorems as numbers: above what they bound, and with the powers that they claim."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from studies.reproductions.utility_theorems import (
    convex_excess,
    frank_wolfe_dual,
    mean_excess,
    noise_norm,
    rows_of,
    sgd_last_iterate,
    strongly_convex_excess,
)

from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import Logistic
from holdfast.learn._rows.examples import ArrayExamples
from holdfast.learn.methods.output import output_perturbation
from holdfast.privacy import Account, PureDP
from holdfast.privacy._adjacency import Adjacency


@pytest.mark.parametrize("dimension", [1, 3, 50])
def test_the_norm_of_vector_noise(dimension: int) -> None:
    printed, exact = noise_norm(dimension, sensitivity=2.0, epsilon=0.5, failure=0.05)
    norms = np.random.default_rng(0).gamma(dimension, 4.0, size=20_000)
    assert float(np.mean(norms <= exact)) == pytest.approx(0.95, abs=0.01)
    assert printed >= exact * (1 - 1e-12)


def test_rates_in_the_number_of_rows() -> None:
    told: dict[str, Any] = {"dimension": 10, "epsilon": 1.0, "failure": 0.1}
    strong = [strongly_convex_excess(lipschitz=1.0, penalty=0.1, count=n, **told) for n in (10**4, 10**6)]
    assert strong[0] / strong[1] == pytest.approx(100.0)
    convex = [convex_excess(lipschitz=1.0, radius=1.0, count=n, **told)[0] for n in (10**8, 10**10)]
    assert convex[0] / convex[1] == pytest.approx(10.0, rel=0.01)


def test_sgd_on_a_noisy_corner_stays_below_its_bound() -> None:
    random, steps = np.random.default_rng(3), 400
    excess = []
    for _ in range(200):
        w = 1.0
        for t in range(1, steps + 1):
            gradient = math.copysign(1.0, w) + random.normal()
            w = max(-1.0, min(1.0, w - 2.0 / (math.sqrt(2.0) * math.sqrt(t)) * gradient))
        excess.append(abs(w))
    assert np.mean(excess) <= sgd_last_iterate(radius=1.0, second_moment=math.sqrt(2.0), steps=steps)


def test_measured_excess_stays_below_every_bound_and_follows_its_rate() -> None:
    for name, bound, seen, exact in rows_of(400):
        assert 0 < seen <= bound, name
        if exact is not None:
            assert seen == pytest.approx(exact, rel=0.2)
    small, large = (float(np.mean(mean_excess(n, 10, 1.0, runs=400))) for n in (1_000, 100_000))
    assert small > 20 * large


def test_the_corrected_exponents() -> None:
    told: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6, "vertices": 1_000}
    small, large = (frank_wolfe_dual(count=10**6, alpha=alpha, **told) for alpha in (0.01, 0.08))
    assert small["error"] / large["error"] == pytest.approx(2.0)
    assert small["printed_error"] / large["printed_error"] == pytest.approx(4.0)
    # The optimum of 2 / (alpha T) + 4 ln(k) sqrt(2 T ln(1/delta)) / (n epsilon), by trying every T.
    n, logs, one = 10**6, math.log(1_000), math.log(1e6)
    grid = np.exp(np.linspace(0, 25, 20_001))
    for alpha, found in ((0.01, small), (0.08, large)):
        errors = 2 / (alpha * grid) + 4 * logs * np.sqrt(2 * grid * one) / n
        assert found["steps"] == pytest.approx(grid[np.argmin(errors)], rel=0.01)
        assert found["error"] == pytest.approx(errors.min(), rel=1e-4)


def test_the_population_excess_of_output_perturbation_is_below_its_bounds() -> None:
    count, dimension, epsilon = 50_000, 5, 1.0
    random = np.random.default_rng(4)

    def drawn(rows: int) -> tuple[Any, Any]:
        x = random.standard_normal((rows, dimension))
        x /= np.linalg.norm(x, axis=1, keepdims=True)
        return x, np.where(random.random(rows) < 1 / (1 + np.exp(-3 * x[:, 0])), 1.0, -1.0)

    told: dict[str, Any] = {"count": count, "dimension": dimension, "epsilon": epsilon, "failure": 0.1}
    bound, penalty = convex_excess(lipschitz=1.0, radius=3.0, **told)
    x, y = drawn(count)
    problem = Problem(loss=Logistic(), dimension=dimension, penalty=penalty, radius=3.0)
    examples = ArrayExamples(features=x, labels=y, adjacency=Adjacency.replace, public_count=count)
    account = Account(PureDP(epsilon), adjacency="replace", currency="pure", seed=5)
    w = output_perturbation(examples, problem, account=account, arithmetic="idealised").weights
    fresh, labels = drawn(50_000)
    best = np.zeros(dimension)
    best[0] = 3.0  # the law's own weights, of norm 3

    def risk(at: Any) -> float:
        return float(np.mean(np.logaddexp(0, -labels * (fresh @ at))))

    assert risk(w) - risk(best) <= bound
    assert (
        bound
        <= strongly_convex_excess(lipschitz=1.0 + penalty * 3.0, penalty=penalty, **told)
        + 4.5 * penalty
        + 1e-9
    )
