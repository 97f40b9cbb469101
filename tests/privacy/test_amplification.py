"""Amplification and conversions: the formulas of soundness, sections 0 and 6."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import ParameterError
from holdfast.privacy._amplification import (
    gaussian_to_concentrated,
    poisson_approximate,
    poisson_pure,
    pure_to_concentrated,
    pure_to_gaussian,
    to_replace,
    without_replacement_approximate,
    without_replacement_pure,
)
from holdfast.privacy._curves.curve import ApproxDP, PureDP
from holdfast.privacy._curves.finite_curve import BoundedRange
from holdfast.privacy._curves.gaussian import GaussianDP
from holdfast.privacy._curves.group_replace import GroupReplace
from holdfast.privacy._curves.laplace import LaplaceCurve
from holdfast.privacy._curves.renyi import ZCDP, RenyiDP
from holdfast.privacy._curves.slack import WithSlack
from holdfast.privacy._curves.subsampled import SubsampledGaussianCurve, amplified_pure, subsample


@given(epsilon=st.floats(1e-6, 700.0), rate=st.floats(1e-6, 1.0))
def test_amplification_of_pure(epsilon: float, rate: float) -> None:
    import mpmath

    with mpmath.workdps(60):
        # A number means what is written.
        truth = mpmath.log1p(mpmath.mpf(repr(rate)) * mpmath.expm1(mpmath.mpf(repr(epsilon))))
        value = amplified_pure(epsilon, rate)
        got = mpmath.mpf(value.numerator) / value.denominator
        assert (
            truth * (1 - mpmath.mpf(10) ** -50)
            <= got
            <= truth * (1 + mpmath.mpf(10) ** -11) + mpmath.mpf(10) ** -300
        )
    assert value <= Fraction(repr(epsilon))


@pytest.mark.parametrize("epsilon", [1e-9, 0.03, 1.0, 29.9, 31.0, 40.0, 200.0, 699.0, 720.0])
@pytest.mark.parametrize("exponent", range(-3, 4))
def test_amplification_where_its_terms_cancel(epsilon: float, exponent: int) -> None:
    """Rates near e^-epsilon, where the logarithm of the rate and epsilon are nearly opposite."""
    import mpmath

    with mpmath.workdps(60):
        for step in range(20):
            rate = min(1.0, math.exp(-epsilon) * 10 ** (exponent + step / 20))
            truth = mpmath.log1p(mpmath.mpf(repr(rate)) * mpmath.expm1(mpmath.mpf(repr(epsilon))))
            value = amplified_pure(epsilon, rate)
            got = mpmath.mpf(value.numerator) / value.denominator
            # The last of these rates are so small that doubles have few digits.
            assert truth * (1 - mpmath.mpf(10) ** -50) <= got <= truth * (1 + mpmath.mpf(10) ** -7), rate


def test_amplification_of_points() -> None:
    point = poisson_approximate(ApproxDP(1.0, 1e-6), rate=0.01)
    assert float(point.as_approximate()[0]) == pytest.approx(math.log1p(0.01 * math.expm1(1.0)))
    assert point.as_approximate()[1] == Fraction("1e-8")
    assert poisson_pure(PureDP(1.0), rate=1.0).as_pure() == 1
    assert without_replacement_pure(PureDP(1.0), sample=1, population=100) == poisson_pure(
        PureDP(1.0), rate=0.01
    )
    assert without_replacement_approximate(ApproxDP(1.0, 1e-6), sample=1, population=100) == point
    with pytest.raises(ParameterError, match="population"):
        without_replacement_pure(PureDP(1.0), sample=101, population=100)


@given(ratio=st.floats(0.1, 5.0), rate=st.floats(1e-6, 0.99), share=st.floats(0.0, 1.0))
def test_the_amplified_curve_is_q_times_the_base_at_the_amplified_epsilon(
    ratio: float, rate: float, share: float
) -> None:
    base = share * ratio
    epsilon = math.log1p(rate * math.expm1(base))
    value = subsample(LaplaceCurve(ratio), rate).delta(epsilon)
    truth = rate * LaplaceCurve(ratio).delta(base)
    assert value >= truth * (1 - 1e-6) - 1e-15
    assert value == pytest.approx(truth, rel=1e-5, abs=1e-12 + 2e-16 / rate)


def test_two_steps_to_replace() -> None:
    assert to_replace(PureDP(0.3)).as_pure() == Fraction(3, 5)
    assert to_replace(ZCDP(0.1)) == ZCDP(Fraction(2, 5))
    assert to_replace(GaussianDP(0.5)) == GaussianDP(Fraction(1))
    point = to_replace(ApproxDP(0.5, 1e-6)).as_approximate()
    assert point is not None
    assert point[0] == 1
    assert float(point[1]) == pytest.approx((1 + math.exp(0.5)) * 1e-6)
    assert float(point[1]) >= (1 + math.exp(0.5)) * 1e-6


def test_two_steps_of_a_sampled_training_run() -> None:
    run = SubsampledGaussianCurve(1.0, 0.01).repeat(500)
    replace = to_replace(run)
    assert isinstance(replace, GroupReplace)
    epsilon = run.epsilon(1e-7)
    # (2 eps, (1 + e^eps) delta) is one of the splits.
    assert replace.delta(2 * epsilon) <= (1 + math.exp(epsilon)) * run.delta(epsilon) * (1 + 1e-9)
    assert replace.delta(2 * epsilon) > run.delta(2 * epsilon)
    assert replace.epsilon(1e-5) > 1.5 * run.epsilon(1e-5)
    slack = to_replace(WithSlack(run, 1e-12, 1e-9))
    assert slack.total_variation == Fraction("1e-12")
    assert slack.failure == Fraction("2e-9")


def test_weak_triangle_inequality() -> None:
    run = RenyiDP.of(lambda order: 0.01 * order, orders=(1.5, 2.0, 3.0, 4.0, 5.0, 8.0))
    a = 2.0
    assert GroupReplace(run).renyi(a) == pytest.approx((a - 0.5) / (a - 1) * 0.04 + 0.03)
    # For Gaussians the truth is 4 rho a: the inequality must be above it.
    gauss = GaussianDP(0.4)
    for order in (1.5, 2.0, 7.0):
        far = (order - 0.5) / (order - 1) * gauss.renyi(2 * order) + gauss.renyi(2 * order - 1)
        assert far >= 4 * 0.08 * order * (1 - 1e-12)


@given(mu=st.floats(0.05, 2.0), epsilon=st.floats(0.0, 6.0))
def test_two_steps_bound_the_real_two_steps(mu: float, epsilon: float) -> None:
    assert GroupReplace(GaussianDP(mu)).delta(epsilon) >= GaussianDP(2 * mu).delta(epsilon) * (1 - 1e-9)


@given(st.floats(0.01, 20.0))
def test_pure_to_gaussian(epsilon: float) -> None:
    curve = pure_to_gaussian(PureDP(epsilon))
    for at in np.linspace(0.0, epsilon, 7):
        assert curve.delta(float(at)) >= PureDP(epsilon).delta(float(at)) * (1 - 1e-9)


def test_conversions() -> None:
    assert gaussian_to_concentrated(GaussianDP(0.5)) == ZCDP(Fraction(1, 8))
    assert pure_to_concentrated(PureDP(0.5)) == ZCDP(Fraction(1, 8))
    assert pure_to_concentrated(BoundedRange(0.5)) == ZCDP(Fraction(1, 32))
    # mu = 2 Phi^-1(e / (1 + e)) at epsilon = 1.
    assert float(pure_to_gaussian(PureDP(1.0)).mu) == pytest.approx(1.2320, abs=1e-3)
