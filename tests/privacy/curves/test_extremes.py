"""Laws over the whole range of doubles: delta 0, infinite epsilon, parameters that underflow."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from holdfast.errors import ParameterError
from holdfast.privacy._curves.composition import compose
from holdfast.privacy._curves.curve import LEAST_DELTA, ApproxDP, PrivacyCurve, PureDP
from holdfast.privacy._curves.finite_curve import BoundedRange, FinitePair
from holdfast.privacy._curves.gaussian import DiscreteGaussianCurve, GaussianDP
from holdfast.privacy._curves.group_replace import GroupReplace
from holdfast.privacy._curves.laplace import DiscreteLaplaceCurve, LaplaceCurve
from holdfast.privacy._curves.objective import ObjectiveCurve
from holdfast.privacy._curves.renyi import ZCDP, RenyiDP
from holdfast.privacy._curves.slack import WithSlack
from holdfast.privacy._curves.stored import curve_from_json
from holdfast.privacy._curves.subsampled import SubsampledGaussianCurve, subsample
from holdfast.privacy._mechanisms.gaussian import Gaussian


def log_uniform(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(math.log10(low), math.log10(high)).map(lambda power: 10.0**power)


PARAMETERS = log_uniform(1e-300, 1e6)
MODERATE = log_uniform(1e-8, 30.0)
PURE: list[st.SearchStrategy[PrivacyCurve]] = [
    PARAMETERS.map(PureDP),
    PARAMETERS.map(BoundedRange),
    PARAMETERS.map(LaplaceCurve),
    st.builds(DiscreteLaplaceCurve, log_uniform(1e-3, 1e9), st.integers(1, 50)),
    MODERATE.map(
        lambda e: FinitePair(
            (1 / (1 + math.exp(-e)), 1 / (1 + math.exp(e))), (1 / (1 + math.exp(e)), 1 / (1 + math.exp(-e)))
        )
    ),
]
NEVER_PURE: list[st.SearchStrategy[PrivacyCurve]] = [
    PARAMETERS.map(GaussianDP),
    PARAMETERS.map(ZCDP),
    st.builds(lambda rho: RenyiDP.of(lambda order: order * rho), PARAMETERS),
    st.builds(DiscreteGaussianCurve, log_uniform(0.05, 1e6), st.integers(1, 50)),
    st.builds(SubsampledGaussianCurve, log_uniform(0.05, 1e6), log_uniform(1e-9, 1.0)),
    st.builds(
        lambda mu, ratio, freedom: ObjectiveCurve(mu=mu, log_ratio=ratio, freedom=freedom),
        log_uniform(1e-6, 100.0),
        log_uniform(1e-6, 5.0),
        st.sampled_from([1, 2]),
    ),
    st.builds(
        lambda mu, rate: subsample(GaussianDP(mu), rate), log_uniform(1e-6, 30.0), log_uniform(1e-9, 1.0)
    ),
    st.builds(lambda mu: GroupReplace(subsample(GaussianDP(mu), 0.01)), log_uniform(1e-3, 5.0)),
]
EPSILONS = st.one_of(log_uniform(1e-320, 1e300), st.sampled_from([0.0, 1.0, 745.2, 1e308]))


def delta_of(curve: PrivacyCurve, epsilon: float) -> float:
    """With every warning an error: a nan or an overflow would be one."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        value = curve.delta(epsilon)
    assert 0.0 <= value <= 1.0
    return value


@given(curve=st.one_of(NEVER_PURE), epsilon=EPSILONS)
def test_without_a_pure_parameter_no_epsilon_has_delta_zero(curve: PrivacyCurve, epsilon: float) -> None:
    assert curve.as_pure() is None
    assert curve.epsilon(0.0) == math.inf
    assert delta_of(curve, epsilon) > 0.0
    assert delta_of(curve, math.inf) == 0.0
    assert not curve.within(ApproxDP(min(epsilon, 1e9), 0.0))


@given(curve=st.one_of(PURE), epsilon=EPSILONS)
def test_a_pure_parameter_is_the_epsilon_at_delta_zero(curve: PrivacyCurve, epsilon: float) -> None:
    pure = curve.as_pure()
    assert pure is not None
    assert Fraction(curve.epsilon(0.0)) >= pure
    assert curve.epsilon(0.0) <= float(pure) * (1 + 1e-15) + math.ulp(0.0)
    if epsilon >= curve.epsilon(0.0):
        assert delta_of(curve, epsilon) == 0.0
    elif epsilon < float(pure) * (1 - 1e-12):
        assert delta_of(curve, epsilon) > 0.0


@settings(max_examples=20)
@given(curves=st.lists(st.one_of(PURE + NEVER_PURE), min_size=1, max_size=3), times=st.integers(1, 4))
def test_sums_are_pure_just_where_all_parts_are(curves: list[PrivacyCurve], times: int) -> None:
    whole = compose(curves, times=times)
    pures = [curve.as_pure() for curve in curves]
    try:
        epsilon = whole.epsilon(0.0)
    except ParameterError:  # no bound covers these together
        assume(False)
    if any(pure is None for pure in pures):
        assert epsilon == math.inf
    else:
        exact = times * sum((pure for pure in pures if pure is not None), Fraction(0))
        assert math.isclose(epsilon, float(exact), rel_tol=1e-9)


@given(curve=st.one_of(NEVER_PURE[:3] + PURE[:3]), slack=log_uniform(1e-300, 0.5))
def test_slack_leaves_no_epsilon_at_delta_zero(curve: PrivacyCurve, slack: float) -> None:
    for event in (WithSlack(curve, slack), WithSlack(curve, 0.0, slack), WithSlack(curve, 0.0, 0.0, slack)):
        assert event.epsilon(0.0) == math.inf
    assert ApproxDP(1.0, min(slack, 0.5)).epsilon(0.0) == math.inf


@given(curve=st.one_of(PURE + NEVER_PURE), delta=log_uniform(1e-320, 1.0))
def test_the_epsilon_of_any_delta_keeps_to_it(curve: PrivacyCurve, delta: float) -> None:
    epsilon = curve.epsilon(delta)
    assert not math.isnan(epsilon)
    if math.isfinite(epsilon):
        assert delta_of(curve, epsilon) <= delta * (1 + 1e-6)


# Against numbers of as many digits as it takes.


def exact_gaussian(mu: float, epsilon: float) -> mpmath.mpf:
    m, e = mpmath.mpf(mu), mpmath.mpf(epsilon)
    return mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m)


def exact_pure(own: float, epsilon: float) -> mpmath.mpf:
    e0, e = mpmath.mpf(own), mpmath.mpf(epsilon)
    return (mpmath.exp(e0) - mpmath.exp(e)) / (1 + mpmath.exp(e0)) if e < e0 else mpmath.mpf(0)


def exact_range(own: float, epsilon: float) -> mpmath.mpf:
    e0, e = mpmath.mpf(own), mpmath.mpf(epsilon)
    return (1 - mpmath.exp((e - e0) / 2)) ** 2 / (1 - mpmath.exp(-e0)) if e < e0 else mpmath.mpf(0)


def exact_laplace(own: float, epsilon: float) -> mpmath.mpf:
    e0, e = mpmath.mpf(own), mpmath.mpf(epsilon)
    return 1 - mpmath.exp((e - e0) / 2) if e < e0 else mpmath.mpf(0)


ORACLES: list[tuple[Callable[[float], PrivacyCurve], Callable[[float, float], mpmath.mpf]]] = [
    (GaussianDP, exact_gaussian),
    (PureDP, exact_pure),
    (BoundedRange, exact_range),
    (LaplaceCurve, exact_laplace),
]


@pytest.mark.parametrize(("curve", "exact"), ORACLES, ids=["gaussian", "pure", "range", "laplace"])
@given(parameter=log_uniform(1e-90, 100.0), factor=log_uniform(1e-3, 30.0))
def test_delta_is_not_below_the_truth_and_close_to_it(
    curve: Callable[[float], PrivacyCurve],
    exact: Callable[[float, float], mpmath.mpf],
    parameter: float,
    factor: float,
) -> None:
    epsilon = parameter * factor
    with mpmath.workdps(700):
        truth = exact(parameter, epsilon)
        value = mpmath.mpf(curve(parameter).delta(epsilon))
        assert value >= truth * (1 - mpmath.mpf("1e-15"))
        assert value <= truth * mpmath.mpf("1.01") + mpmath.mpf(parameter) * mpmath.mpf("1e-12") + LEAST_DELTA


@given(own=log_uniform(1e-140, 1e5), above=log_uniform(1e-9, 1e9))
def test_the_divergence_of_randomised_response_is_not_below_the_truth(own: float, above: float) -> None:
    order = 1.0 + above
    assume(order > 1.0)
    with mpmath.workdps(400):
        e, a = mpmath.mpf(own), mpmath.mpf(order)
        outer, inner, half = (a - 0.5) * e, mpmath.mpf(0), e / 2
        truth = (mpmath.log(mpmath.cosh(outer)) - mpmath.log(mpmath.cosh(half))) / (a - 1) + inner
        value = mpmath.mpf(PureDP(own).renyi(order))
        assert value >= truth * (1 - mpmath.mpf("1e-15"))
        assert value <= truth * (1 + mpmath.mpf("1e-9")) + mpmath.mpf("1e-320")


@given(order=log_uniform(1e-3, 1e3), divergence=MODERATE, pure=MODERATE)
def test_an_infinite_order_is_the_pure_parameter(order: float, divergence: float, pure: float) -> None:
    curve = RenyiDP((1 + order, math.inf), (divergence, pure))
    assert curve.epsilon(0.0) == pure
    assert curve.epsilon(1e-6) <= pure
    assert curve.epsilon(1e-6) == min(pure, RenyiDP((1 + order,), (divergence,)).epsilon(1e-6))
    assert RenyiDP((1 + order, math.inf), (divergence, math.inf)).epsilon(1e-6) == RenyiDP(
        (1 + order,), (divergence,)
    ).epsilon(1e-6)


@given(square=st.fractions(min_value=Fraction(1, 10**300), max_value=10**9))
def test_the_root_of_a_square_is_the_least_double_above_it(square: Fraction) -> None:
    mu = GaussianDP.from_square(square).mu
    assert Fraction(mu) ** 2 >= square
    if not isinstance(mu, Fraction):
        assert Fraction(math.nextafter(mu, 0.0)) ** 2 < square


def test_two_facts_that_disagree_are_refused() -> None:
    with pytest.raises(ParameterError, match="square of mu"):
        GaussianDP(0.1, Fraction(4))
    with pytest.raises(ParameterError, match="square of mu"):
        curve_from_json({"kind": "GaussianDP", "mu": 0.1, "square": "1/4"})


def test_gaussian_noise_names_the_way_out_where_delta_is_zero() -> None:
    for limit in (PureDP(1.0), ApproxDP(1.0, 0.0)):
        with pytest.raises(ParameterError, match="Laplace"):
            Gaussian.within(limit, l2_sensitivity=1.0)


def test_sums_of_divergences_are_rounded_up() -> None:
    rng = np.random.default_rng(0)
    for _ in range(300):
        first, second = rng.lognormal(size=2)
        total = RenyiDP((2.0,), (first,)).merge(RenyiDP((2.0,), (second,)))
        assert total is not None
        assert Fraction(total.divergences[0]) >= Fraction(first) + Fraction(second)
        times = int(rng.integers(1, 10**6))
        assert Fraction(RenyiDP((2.0,), (first,)).merge_copies(times).divergences[0]) >= times * Fraction(
            first
        )
