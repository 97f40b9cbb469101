"""The tempered mechanisms in several dimensions: what one number of a release cannot show."""

from __future__ import annotations

import math

import numpy as np
import pytest

from holdfast.noise._source import Source
from holdfast.privacy._mechanisms.gibbs import (
    BoxExponential,
    RegularisedExponential,
    tilted_quantile,
    tilted_share,
)


@pytest.mark.parametrize("dimension", [1, 3, 4])
def test_epsilon_is_the_change_times_the_diameter(dimension: int) -> None:
    """At the corners of the box the ratio of two densities comes near to it, and never above."""
    mechanism = BoxExponential(
        inverse_temperature=2.0, half_side=1.5, gradient_change=0.25, dimension=dimension
    )
    epsilon = mechanism.curve.epsilon(0.0)
    assert epsilon == pytest.approx(2.0 * 0.25 * 2 * 1.5 * math.sqrt(dimension), rel=1e-5)
    step = 0.25 / math.sqrt(dimension)
    steep = np.full(dimension, 500.0)
    corners = [np.full(dimension, sign * 1.5) for sign in (-1.0, 1.0)]
    ratios = [mechanism.log_ratio(steep, steep + step, corner) for corner in corners]
    assert max(abs(ratio) for ratio in ratios) <= epsilon
    assert ratios[0] - ratios[1] == pytest.approx(epsilon, rel=1e-5)
    assert max(abs(ratio) for ratio in ratios) > 0.99 * epsilon


def test_the_regularised_one_is_the_gaussian_mechanism_on_lines() -> None:
    mechanism = RegularisedExponential(inverse_temperature=395.28, penalty=6.3246e-3, gradient_change=2 / 500)
    square = mechanism.curve.as_gdp()
    assert square is not None
    assert float(square) == pytest.approx(1.0, rel=1e-4)
    low, high = (value / float(mechanism.penalty) for value in mechanism.worst_pair())
    assert float(np.linalg.norm(high - low)) / mechanism.deviation == pytest.approx(1.0, rel=1e-4)


@pytest.mark.parametrize("rate", [-800.0, -3.0, 0.0, 1e-12, 5.0, 900.0])
def test_tilted_quantiles_are_the_inverse_of_shares(rate: float) -> None:
    shares = np.linspace(0.01, 0.99, 9)
    at = tilted_quantile(np.full(9, rate), shares, 2.0)
    assert np.all(np.abs(at) <= 2.0)
    # A quantile comes from the steep end: shares above or below, whichever that is.
    found = tilted_share(rate, at, 2.0)
    assert np.minimum(np.abs(found - shares), np.abs(1 - found - shares)) == pytest.approx(0.0, abs=1e-9)


def test_draws_on_a_box_stay_there_however_steep() -> None:
    mechanism = BoxExponential(inverse_temperature=1e6, half_side=1.0, gradient_change=0.25, dimension=2)
    drawn = mechanism.sample(np.array([1e200, -1e200]), Source(seed=1))
    assert drawn.tolist() == [1.0, -1.0]
