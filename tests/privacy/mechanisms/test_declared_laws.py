"""The declared laws against closed forms and brute force, without drawing anything."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.stats import dlaplace, norm

from holdfast.privacy import (
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    Gaussian,
    Laplace,
    PermuteAndFlip,
    RandomisedResponse,
)
from holdfast.privacy._mechanisms.vector_laplace import gamma_norm_cdf


def test_gaussian() -> None:
    at = np.array([-1.0, 0.0, 2.5])
    ideal = Gaussian(sigma=2.0, l2_sensitivity=1.0, arithmetic="idealised")
    assert ideal.cdf(np.array([1.0]), at) == pytest.approx(norm.cdf((at - 1) / 2), rel=1e-12)
    strict = Gaussian(sigma=2.0, l2_sensitivity=1.0)
    # Whole numbers are real ones: the law is the normal's on the grid, with sigma larger by the rounding's share.
    sigma, step = 2.0 * (1 + 2.0**-19), 2.0**-19
    expected = norm.cdf((np.floor(at / step) * step - 3 + step / 2) / sigma)
    assert strict.cdf(np.array([3]), at) == pytest.approx(expected, rel=1e-9)
    near = strict.cdf(np.zeros(1), at) - ideal.cdf(np.zeros(1), at)
    assert 0 < np.max(np.abs(near)) < 1e-4


def test_laplace_and_its_discrete_twins() -> None:
    at = np.array([-3.0, -0.5, 0.0, 0.7, 4.0])
    ideal = Laplace(scale=2.0, l1_sensitivity=1.0, arithmetic="idealised")
    expected = np.where(at < 0, np.exp(at / 2) / 2, 1 - np.exp(-at / 2) / 2)
    assert ideal.cdf(np.zeros(1), at) == pytest.approx(expected, rel=1e-12)
    whole = dlaplace.cdf(np.floor(at), 0.5)
    strict = Laplace(scale=2.0, l1_sensitivity=1).cdf(np.array([0]), at)
    on_grid = dlaplace.cdf(np.floor(at * 2**19), 1 / (2.0 * (1 + 2.0**-19) * 2**19))
    assert strict == pytest.approx(on_grid, rel=1e-9)
    assert DiscreteLaplace(scale=2.0, l1_sensitivity=1).cdf(np.array([0]), at) == pytest.approx(
        whole, rel=1e-12
    )
    fine = DiscreteLaplace(scale=2.0, l1_sensitivity=1.0, dimension=1, grid=0.1)
    points = np.asarray(
        np.arange(-20, 20) * 0.1, float
    )  # not exact in binary: the last grid point must still count as reached
    assert fine.cdf(np.zeros(1), points) == pytest.approx(dlaplace.cdf(np.arange(-20, 20), 0.05), rel=1e-9)


def test_discrete_gaussian() -> None:
    k = np.arange(-60, 61)
    mass = np.exp(-(k**2) / 18.0)
    law = DiscreteGaussian(sigma=3.0, l2_sensitivity=1).cdf(np.array([2]), np.asarray(k + 2.0, float))
    assert law == pytest.approx(np.cumsum(mass) / mass.sum(), rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("dimension", [2, 3, 4, 7])
def test_gamma_norm_marginals(dimension: int) -> None:
    z = np.array([-4.0, -0.3, 0.0, 0.01, 1.0, 9.0])
    law = gamma_norm_cdf(z, dimension=dimension)
    assert law + gamma_norm_cdf(-z, dimension=dimension) == pytest.approx(np.ones(z.size), abs=1e-12)
    if dimension == 3:  # the marginal density is (1 + |x|) e^-|x| / 4
        tail = (2 + np.abs(z)) * np.exp(-np.abs(z)) / 4
        assert law == pytest.approx(np.where(z < 0, tail, 1 - tail), abs=1e-6)
    # E|X|^2 = E R^2 / d = d (d + 1) / d; by parts, E X^2 = 4 int x P[X > x] dx.
    x = np.linspace(0, 60, 5_001)
    height = 4 * x * (1 - gamma_norm_cdf(x, dimension=dimension))
    second = float(np.sum((height[1:] + height[:-1]) / 2) * (x[1] - x[0]))
    assert second == pytest.approx(dimension + 1, rel=1e-4)


def test_selections() -> None:
    at, scores = np.arange(3.0), np.array([0, 2, 1])
    reach = 1 + 2.0**-20  # the sensitivity, and the step of the grid to which scores are rounded
    weights = np.exp(0.5 * scores / reach)
    softmax = np.cumsum(weights) / weights.sum()
    assert Exponential(epsilon=1.0, sensitivity=1).cdf(scores, at) == pytest.approx(softmax, rel=1e-12)
    doubled = np.exp(scores / reach)
    monotone = Exponential(epsilon=1.0, sensitivity=1, monotone=True).cdf(scores, at)
    assert monotone == pytest.approx(np.cumsum(doubled) / doubled.sum(), rel=1e-12)
    flip = np.exp(0.5 * (scores - 2.0) / reach)
    shares = np.zeros(3)
    for order in itertools.permutations(range(3)):
        left = 1.0
        for i in order:
            shares[i] += left * flip[i] / 6
            left *= 1 - flip[i]
    found = PermuteAndFlip(epsilon=1.0, sensitivity=1).cdf(scores, at)
    assert found == pytest.approx(np.cumsum(shares), rel=1e-12)


def test_randomised_response() -> None:
    keep = math.e**2 / (math.e**2 + 4)
    law = RandomisedResponse(epsilon=2.0, categories=5).cdf(np.array([3]), np.arange(5.0))
    other = (1 - keep) / 4
    assert law == pytest.approx([other, 2 * other, 3 * other, 3 * other + keep, 1.0], rel=1e-12)


def test_distances_are_in_the_norm_of_the_sensitivity() -> None:
    first, second = np.array([0.0, 0.0]), np.array([3.0, -4.0])
    assert Laplace(scale=1, l1_sensitivity=2).distance(first, second) == 3.5
    assert Gaussian(sigma=1, l2_sensitivity=2).distance(first, second) == 2.5
    assert Exponential(epsilon=1, sensitivity=2).distance(first, second) == 2.0
    assert Exponential(epsilon=1, sensitivity=2, monotone=True).distance(first, second) == 3.5
    assert RandomisedResponse(epsilon=1.0).distance(np.array([0, 1]), np.array([0, 0])) == 1.0
