"""Samples of fixed size under replace: against exact mixtures, and against a mechanism whose tables are enumerated."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr

from holdfast.errors import ParameterError
from holdfast.privacy._curves.composition import Composed
from holdfast.privacy._curves.fixed_size import FixedSizeGaussianCurve
from holdfast.privacy._curves.gaussian import GaussianDP
from holdfast.privacy._curves.loss_distribution import LossDistribution
from holdfast.privacy._curves.subsampled import subsample

EPSILONS = np.array([0.0, 0.01, 0.1, 0.5, 1.0, 2.0])
LARGEST_GAP = 1.0
"""Contributions lie between 0 and this, so an exchange moves a sum by at most this."""


def mixture_delta(first: np.ndarray, second: np.ndarray, noise: float, epsilon: float) -> float:
    """The hockey stick between two equal mixtures of normals, by quadrature on a fine grid."""
    grid = np.linspace(-12 * noise - 3, 12 * noise + 6, 40_001)
    p, q = (
        np.mean(np.exp(-0.5 * ((grid[:, None] - centres) / noise) ** 2), axis=1)
        / (noise * math.sqrt(2 * math.pi))
        for centres in (first, second)
    )
    return float(np.sum(np.maximum(p - math.exp(epsilon) * q, 0.0)) * (grid[1] - grid[0]))


def batch_sums(table: tuple[float, ...], batch: int) -> np.ndarray:
    return np.array([sum(chosen) for chosen in itertools.combinations(table, batch)])


@pytest.mark.parametrize(("batch", "noise"), [(1, 1.0), (2, 0.7), (2, 2.0), (3, 1.0)])
def test_no_exchange_of_a_row_shows_more_than_the_curve(batch: int, noise: float) -> None:
    """All tables of four rows that are 0, a half or 1, and every exchange of the last row, both ways."""
    curve = FixedSizeGaussianCurve(noise / LARGEST_GAP, batch / 4)
    for others in itertools.combinations_with_replacement((0.0, 0.5, 1.0), 3):
        for old, new in itertools.permutations((0.0, 0.5, 1.0), 2):
            first, second = (batch_sums((*others, row), batch) for row in (old, new))
            for epsilon in (0.0, 0.3, 1.0):
                # The bound is reached, and a kink between grid points adds the square of their distance.
                assert mixture_delta(first, second, noise, epsilon) <= curve.delta(epsilon) + 1e-7


def test_the_curve_is_reached() -> None:
    """Where the other rows agree with one end, the bound is the truth: the batch holds the row, or it does not."""
    curve = FixedSizeGaussianCurve(1.0, 0.25)
    without, with_row = batch_sums((0.0,) * 4, 1), batch_sums((0.0, 0.0, 0.0, 1.0), 1)
    for epsilon in (0.0, 0.1, 0.3):
        assert curve.delta(epsilon) == pytest.approx(mixture_delta(with_row, without, 1.0, epsilon), rel=1e-6)


@given(st.floats(0.3, 50.0), st.floats(-6.0, 0.0).map(lambda power: 10.0**power), st.floats(1e-3, 5.0))
def test_delta_has_its_closed_form(noise: float, rate: float, epsilon: float) -> None:
    with mpmath.workdps(60):
        mu, q, e = 1 / mpmath.mpf(noise), mpmath.mpf(rate), mpmath.mpf(epsilon)
        inner = mpmath.log(1 + (mpmath.exp(e) - 1) / q)
        base = mpmath.ncdf(mu / 2 - inner / mu) - mpmath.exp(inner) * mpmath.ncdf(-mu / 2 - inner / mu)
        value = FixedSizeGaussianCurve(noise, rate).delta(epsilon)
        assert q * base <= value <= q * base * (1 + mpmath.mpf("1e-6")) + mpmath.mpf("1e-300")


@pytest.mark.parametrize(("noise", "rate"), [(0.7, 0.5), (1.0, 0.01), (4.0, 1e-4), (2.0, 0.999)])
def test_the_pair_has_the_curves_delta_in_both_directions_and_sums_to_one(noise: float, rate: float) -> None:
    curve = FixedSizeGaussianCurve(noise, rate)
    upper, lower = (LossDistribution.of(curve.pair(), spacing=2e-4, lower=side) for side in (False, True))
    assert len(upper.directions) == 1
    for epsilon in EPSILONS:
        assert lower.delta(epsilon) <= curve.delta(epsilon) * (1 + 1e-9) + 1e-15
        assert curve.delta(epsilon) <= upper.delta(epsilon) * (1 + 1e-9)
        assert upper.delta(epsilon) <= curve.delta(epsilon) * 1.01 + 1e-9
    cells = curve.pair().cells(np.array([-math.inf, -0.3, -1e-3, 0.0, 1e-3, 0.3, math.inf]))
    assert np.sum(cells.p) == pytest.approx(1.0, abs=1e-12)
    assert np.sum(cells.q) == pytest.approx(1.0, abs=1e-12)
    assert cells.q[1:3] * np.exp([-0.3, -1e-3]) == pytest.approx(cells.q_scaled[1:3], rel=1e-12)


@pytest.mark.parametrize("order", [1.001, 1.5, 2.0, 7.0, 64.0, 300.0])
@pytest.mark.parametrize(("noise", "rate"), [(1.0, 0.01), (4.0, 0.5), (0.8, 1e-6)])
def test_divergences_are_those_of_the_pair(noise: float, rate: float, order: float) -> None:
    def tails(x: mpmath.mpf) -> mpmath.mpf:
        r = 1 + q * (mpmath.exp(mu * x - mu * mu / 2) - 1)
        return mpmath.npdf(x) * (r ** (a - 1) - 1) * r * (1 - r**-a)

    with mpmath.workdps(30):
        mu, q, a = 1 / mpmath.mpf(noise), mpmath.mpf(rate), mpmath.mpf(order)
        start, centre = mu / 2, max(a * mu, mu / 2)
        points = sorted({start, start + 1, start + 4, *(max(start, centre + k) for k in (-12, -4, 0, 4, 14))})
        truth = mpmath.log(1 + mpmath.quad(tails, points)) / (a - 1)
        value = FixedSizeGaussianCurve(noise, rate).renyi(order)
        plain = a * mu * mu / 2
        assert min(truth, plain) * (1 - mpmath.mpf("1e-9")) <= value <= truth * mpmath.mpf("1.003")


def test_compositions_are_tight_and_below_the_curve_of_all_rows() -> None:
    whole = Composed(((FixedSizeGaussianCurve(4.0, 0.01), 1000),))
    low, high = whole.bracket(1e-6)
    assert 0.999 * high <= low <= high < GaussianDP(0.25).repeat(1000).epsilon(1e-6)


@pytest.mark.parametrize("change", [lambda c: subsample(c, 0.1), lambda c: c.pair().subsample(0.1)])
def test_it_is_not_sampled_again(change: Callable[[FixedSizeGaussianCurve], object]) -> None:
    with pytest.raises(ParameterError, match="subsample first"):
        change(FixedSizeGaussianCurve(1.0, 0.1))


def test_everything_sampled_is_the_noise_alone() -> None:
    curve = FixedSizeGaussianCurve(2.0, 1.0)
    assert curve.delta(1.0) == pytest.approx(GaussianDP(0.5).delta(1.0), rel=1e-9)
    assert curve.renyi(3.0) == pytest.approx(3.0 / 8.0)
    assert float(ndtr(0.25) - ndtr(-0.25)) <= curve.delta(0.0) * (1 + 1e-12)
