"""The least noise within a target: checked to be within, and not by much."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.errors import ParameterError
from holdfast.privacy._calibration import calibrate, classical_gaussian_sigma, gaussian_sigma
from holdfast.privacy._curves.composition import compose
from holdfast.privacy._curves.curve import ApproxDP, PrivacyCurve, PureDP
from holdfast.privacy._curves.gaussian import GaussianDP
from holdfast.privacy._curves.laplace import LaplaceCurve
from holdfast.privacy._curves.renyi import ZCDP
from holdfast.privacy._curves.subsampled import SubsampledGaussianCurve
from holdfast.privacy._rounding import as_written


def test_the_numbers_of_section_0() -> None:
    assert classical_gaussian_sigma(1.0, 1e-6) == pytest.approx(5.2988, abs=5e-5)
    assert gaussian_sigma(1.0, 1e-6) == pytest.approx(4.2247, abs=5e-5)
    assert gaussian_sigma(16.0, 1e-6) == pytest.approx(0.3686, abs=5e-5)
    # The classical formula beyond its range: refused, because it breaks its promise.
    with pytest.raises(ParameterError, match="gaussian_sigma"):
        classical_gaussian_sigma(16.0, 1e-6)
    classical = math.sqrt(2 * math.log(1.25e6)) / 16
    assert classical == pytest.approx(0.3312, abs=5e-5)
    assert GaussianDP(1 / classical).delta(16.0) == pytest.approx(3.18e-5, rel=2e-3)
    assert GaussianDP(1 / classical).epsilon(1e-6) == pytest.approx(18.31, abs=5e-3)
    wrong = math.sqrt(2 * math.log(1.25e3)) / 8
    assert GaussianDP(1 / wrong).delta(8.0) == pytest.approx(1.31e-3, rel=5e-3)


@given(epsilon=st.floats(0.01, 50.0), delta=st.floats(1e-15, 0.1), sensitivity=st.floats(1e-3, 1e3))
def test_analytic_gaussian_is_safe_and_tight(epsilon: float, delta: float, sensitivity: float) -> None:
    sigma = gaussian_sigma(epsilon, delta, l2_sensitivity=sensitivity)
    mu = as_written(sensitivity) / as_written(sigma)
    assert GaussianDP(mu).delta(epsilon) <= delta
    assert GaussianDP(mu * Fraction("1.000000001")).delta(epsilon) > delta


@pytest.mark.parametrize(
    "target", [PureDP(0.7), ZCDP(0.2), ApproxDP(1.0, 1e-6), ApproxDP(0.1, 1e-3)], ids=repr
)
def test_the_answer_is_within_and_a_little_less_is_not(target: PrivacyCurve) -> None:
    def make(noise: float) -> PrivacyCurve:
        return compose([LaplaceCurve(1 / as_written(noise))], times=3)

    noise = calibrate(make, target, tolerance=1e-6)
    assert make(noise).within(target)
    assert not make(noise * (1 - 1e-4)).within(target)


def test_gaussian_dp_targets_are_exact() -> None:
    noise = calibrate(lambda s: GaussianDP(1 / as_written(s)).merge_copies(4), GaussianDP(1.0))
    assert 2.0 <= noise < 2.0 * (1 + 1e-8)


def test_dp_sgd_noise() -> None:
    """Task D: 3.0956 by the converged grid, 3.1174 at a fixed spacing of 1e-3."""
    noise = calibrate(
        lambda s: SubsampledGaussianCurve(s, 0.01).repeat(5000), ApproxDP(1.0, 1e-6), tolerance=1e-5
    )
    assert noise == pytest.approx(3.0956, rel=2e-4)
    assert SubsampledGaussianCurve(noise, 0.01).repeat(5000).delta(1.0) <= 1e-6


def test_small_targets_stay_in_memory() -> None:
    """A peer ran out of memory calibrating at epsilon = 0.01."""
    noise = calibrate(
        lambda s: compose([GaussianDP(1 / as_written(s)), PureDP(1 / as_written(s))]),
        ApproxDP(0.01, 1e-6),
        tolerance=1e-4,
    )
    assert 280 < noise < 600


@settings(max_examples=4)
@given(epsilon=st.floats(0.1, 5.0), times=st.integers(1, 50))
def test_more_releases_need_more_noise(epsilon: float, times: int) -> None:
    target = ApproxDP(epsilon, 1e-6)

    def needed(count: int) -> float:
        return calibrate(
            lambda s: compose([LaplaceCurve(1 / as_written(s))], times=count), target, tolerance=1e-4
        )

    assert needed(2 * times) > needed(times)


def test_impossible_targets_say_so() -> None:
    with pytest.raises(ParameterError, match="high="):
        calibrate(lambda s: PureDP(1.0), ApproxDP(0.1, 1e-6))
    assert calibrate(lambda s: PureDP(0.01), ApproxDP(0.1, 1e-6), low=0.5) == 0.5
