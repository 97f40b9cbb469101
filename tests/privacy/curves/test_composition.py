"""Composition of fixed plans: exact where there is a closed form, and never below an alternative."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from studies.reproductions.textbook_composition import optimal

from holdfast.errors import ParameterError
from holdfast.privacy._curves.composition import Composed, compose, point
from holdfast.privacy._curves.curve import ApproxDP, PrivacyCurve, PureDP
from holdfast.privacy._curves.finite_curve import BoundedRange, FinitePair
from holdfast.privacy._curves.gaussian import DiscreteGaussianCurve, GaussianDP
from holdfast.privacy._curves.laplace import DiscreteLaplaceCurve, LaplaceCurve
from holdfast.privacy._curves.loss_distribution import LossDistribution
from holdfast.privacy._curves.renyi import ZCDP, RenyiDP
from holdfast.privacy._curves.slack import WithSlack
from holdfast.privacy._curves.stored import curve_from_json
from holdfast.privacy._curves.subsampled import SubsampledCurve, SubsampledGaussianCurve

EVERY_KIND: list[PrivacyCurve] = [
    PureDP(0.1),
    BoundedRange(0.2),
    ApproxDP(0.1, 1e-9),
    ZCDP(0.01),
    GaussianDP(0.1),
    RenyiDP.of(lambda order: 0.01 * order),
    LaplaceCurve(0.2),
    DiscreteLaplaceCurve(8.0, 2),
    DiscreteGaussianCurve(8.0, 1),
    FinitePair((0.4, 0.35, 0.25), (0.35, 0.4, 0.25)),
    SubsampledCurve(LaplaceCurve(1.0), 0.05),
    SubsampledGaussianCurve(1.0, 0.02),
    SubsampledGaussianCurve(2.0, 0.99),
    SubsampledGaussianCurve(3.0, 0.3),
    LossDistribution.laplace(0.2, spacing=0.01),
    WithSlack(GaussianDP(0.1), 1e-12, 1e-9),
]


@pytest.mark.parametrize("curve", EVERY_KIND, ids=repr)
def test_n_times_one_is_one_times_n(curve: PrivacyCurve) -> None:
    """dp-accounting 0.6.0 ignores the count of randomised response: 0.1001 instead of 4.77."""
    looped = curve
    for _ in range(7):
        looped = looped.compose(curve)
    at_once, listed = curve.repeat(8), compose([curve] * 8)
    twice = compose([curve, curve], times=4)
    for delta in (1e-3, 1e-6):
        values = [c.epsilon(delta) for c in (looped, at_once, listed, twice)]
        assert values == pytest.approx([values[0]] * 4, rel=2e-4)
    assert at_once.delta(0.05) > curve.delta(0.05)
    assert at_once.epsilon(1e-6) >= curve.epsilon(1e-6)


def test_hundred_randomised_responses() -> None:
    composed = compose([PureDP(0.1)], times=100)
    low, high = composed.bracket(1e-6)  # type: ignore[attr-defined]
    assert high == pytest.approx(4.774568, abs=1e-6)
    assert high - low < 1e-6
    assert optimal(0.1, times=100, at=high) <= 1e-6 <= optimal(0.1, times=100, at=low * (1 - 1e-8))
    assert composed.epsilon(0.0) == 10.0
    assert composed.as_pure() == 10


def test_gaussians_merge_exactly() -> None:
    assert compose([GaussianDP(Fraction(1, 3))], times=9) == GaussianDP(Fraction(1))
    assert compose([GaussianDP(Fraction(1, 3))] * 9) == GaussianDP(Fraction(1))
    mixed = compose([GaussianDP(0.3), GaussianDP(0.4)])
    assert mixed == GaussianDP(Fraction(1, 2))
    irrational = compose([GaussianDP(1.0)], times=2)
    assert irrational.as_gdp() == 2
    assert Fraction(irrational.mu) ** 2 >= 2  # type: ignore[attr-defined]
    # Task A: a closed form.
    assert compose([GaussianDP(1.0)], times=1000).epsilon(1e-6) == pytest.approx(649.38509, abs=1e-5)


def test_costs_add_up_exactly() -> None:
    plan = compose([PureDP(0.1), GaussianDP(0.2), BoundedRange(0.4)], times=10)
    assert plan.as_zcdp() == 10 * (Fraction(1, 200) + Fraction(1, 50) + Fraction(16, 800))
    assert plan.as_pure() is None
    assert compose([ZCDP(0.1)] * 10) == ZCDP(Fraction(1))
    assert compose([RenyiDP((2.0,), (0.25,))], times=4) == RenyiDP((2.0,), (1.0,))


def test_dp_sgd() -> None:
    low, high = SubsampledGaussianCurve(0.8, 0.01).repeat(3000).bracket(1e-5)  # type: ignore[attr-defined]
    assert low <= 5.24200 <= high
    assert high < 5.24200 * (1 + 1e-4)
    assert high - low < 2e-3


@pytest.mark.parametrize(
    ("curve", "times"),
    [
        (GaussianDP(1.0), 1000),
        (SubsampledGaussianCurve(1.0, 0.5), 500),
        (PureDP(5.0), 100),
        (LaplaceCurve(10.0), 40),
        (FinitePair((0.99, 0.01), (0.01, 0.99)), 100),
    ],
    ids=repr,
)
def test_epsilon_in_the_hundreds(curve: PrivacyCurve, times: int) -> None:
    composed = Composed(((curve, times),))
    low, high = composed.bracket(1e-6)
    assert 100 < low <= high < 700
    assert high - low < 1e-3 * high
    assert composed.delta(high) <= 1e-6 * (1 + 1e-9)


@pytest.mark.parametrize("epsilon", [1e-2, 1e-4])
def test_tiny_epsilons_need_no_memory(epsilon: float) -> None:
    composed = Composed(((PureDP(epsilon), 1), (GaussianDP(epsilon), 1), (LaplaceCurve(epsilon), 2)))
    low, high = composed.bracket(1e-6)
    assert epsilon < high < 12 * epsilon
    assert 0.98 * high < low <= high
    assert composed.upper is not None
    assert max(way.masses.size for way in composed.upper.directions) < 500_000


@pytest.mark.slow
@pytest.mark.parametrize(
    ("noise", "rate", "times", "width"),
    [(1.0, 1e-6, 10**6, 0.05), (2.0, 0.99, 500, 1e-3), (0.6, 1e-3, 20_000, 0.02), (3.0, 0.01, 5000, 1e-3)],
)
def test_rates_from_one_in_a_million_to_nearly_all(
    noise: float, rate: float, times: int, width: float
) -> None:
    curve = SubsampledGaussianCurve(noise, rate)
    low, high = curve.repeat(times).bracket(1e-6)  # type: ignore[attr-defined]
    assert 0 < low <= high
    assert high - low < width * high
    # Below the Renyi bound, above what one use costs.
    assert (
        curve.epsilon(1e-6)
        <= high
        <= RenyiDP.of(lambda order: times * curve.renyi(order)).epsilon(1e-6) * 1.01
    )


@pytest.mark.parametrize("delta", [1e-9, 1e-18])
def test_tiny_deltas_against_the_closed_form(delta: float) -> None:
    """A plain transform is wrong by a factor 6 at 1e-18 (prv-accountant, issue 17)."""
    parts = ((GaussianDP(0.05), 400),)
    truth = GaussianDP(1.0).epsilon(delta)
    low, high = Composed(parts).bracket(delta)
    assert low <= truth <= high
    assert high - low < 1e-4 * truth
    exact = GaussianDP(1.0).delta(truth)
    upper, lower = Composed(parts).upper, Composed(parts).lower
    assert upper is not None
    assert lower is not None
    assert lower.delta(truth) <= exact <= upper.delta(truth) < exact * 1.01


@settings(max_examples=25)
@given(
    st.lists(
        st.sampled_from([PureDP(0.3), GaussianDP(0.2), LaplaceCurve(0.5), DiscreteGaussianCurve(3.0, 1)]),
        min_size=1,
        max_size=3,
    ),
    st.integers(1, 5),
)
def test_more_releases_are_never_more_private(curves: list[PrivacyCurve], times: int) -> None:
    whole = compose(curves, times=times)
    for epsilon in (0.0, 0.4, 1.3):
        assert whole.delta(epsilon) >= max(curve.delta(epsilon) for curve in curves) * (1 - 1e-3) - 1e-12
    # Order does not matter.
    assert whole.epsilon(1e-5) == pytest.approx(compose(curves[::-1], times=times).epsilon(1e-5), rel=1e-4)


def test_composition_with_nothing_changes_nothing() -> None:
    free = compose([LaplaceCurve(0.5), PureDP(0.0)])
    assert free.epsilon(1e-6) == pytest.approx(LaplaceCurve(0.5).epsilon(1e-6), rel=1e-4)


def test_bounded_range_uses_the_better_of_two_bounds() -> None:
    many = compose([BoundedRange(0.1)], times=400)
    assert many.epsilon(1e-6) <= ZCDP(Fraction(4, 8)).epsilon(1e-6) * (1 + 1e-12)
    one = compose([BoundedRange(3.0)], times=2)
    assert one.epsilon(1e-6) <= 6.0
    beside = compose([BoundedRange(0.1)] * 200 + [SubsampledGaussianCurve(2.0, 0.01)])
    assert beside.epsilon(1e-6) < compose([PureDP(0.1)], times=200).epsilon(1e-6)


def test_slack_is_set_aside_and_added_back() -> None:
    parts = [WithSlack(GaussianDP(0.3), 1e-10, 1e-8), GaussianDP(0.4), WithSlack(PureDP(0.1), 1e-11, 0.0)]
    whole = compose(parts, times=3)
    assert whole.total_variation == 3 * (Fraction("1e-10") + Fraction("1e-11"))
    assert whole.failure == 3 * Fraction("1e-8")
    bare = compose([GaussianDP(0.3), GaussianDP(0.4), PureDP(0.1)], times=3)
    epsilon = 2.0
    assert whole.delta(epsilon) >= bare.delta(epsilon) + (1 + math.exp(epsilon)) * 3.3e-10 + 3e-8 - 1e-18


def test_mixtures_without_a_common_pair() -> None:
    mixed = compose([ZCDP(0.1), PureDP(0.2), ApproxDP(0.1, 1e-7)])
    # The delta of the approximate part is set aside, then divergences add up; it is no event of its own.
    assert mixed.failure == 0
    expected = ZCDP(Fraction(1, 10) + Fraction(4, 200) + Fraction(1, 200))
    assert 1e-7 < mixed.delta(3.0) <= expected.delta(3.0) + 1e-7
    assert mixed.delta(60.0) >= 1e-7
    renyi = compose([ZCDP(0.1), SubsampledGaussianCurve(1.0, 0.1)])
    assert math.isfinite(renyi.epsilon(1e-6))
    assert renyi.epsilon(1e-6) >= ZCDP(0.1).epsilon(1e-6)
    with pytest.raises(ParameterError, match=r"point\(curve, delta\)"):
        compose([ZCDP(0.1), LossDistribution.from_atoms([0.0], [0.999], infinity=1e-3, spacing=0.1)]).delta(
            1.0
        )


def test_storage_keeps_the_parts() -> None:
    plan = compose([SubsampledGaussianCurve(1.0, 0.01)] * 5 + [PureDP(0.1)] * 3)
    again = curve_from_json(json.loads(json.dumps(plan.to_json())))
    assert again == plan
    assert len(json.dumps(plan.to_json())) < 400


def test_a_point_can_be_charged() -> None:
    plan = SubsampledGaussianCurve(1.0, 0.01).repeat(100)
    entry = point(plan, 1e-6)
    assert plan.within(entry)
    assert entry.as_approximate()[1] == Fraction("1e-6")
    with pytest.raises(ParameterError):
        point(ApproxDP(1.0, 1e-3), 1e-6)


def test_counts_must_be_whole() -> None:
    with pytest.raises(ParameterError, match="times"):
        compose([PureDP(0.1)], times=0)
    with pytest.raises(ParameterError, match="curves"):
        compose([])


def test_groups_go_through() -> None:
    plan = compose([PureDP(0.1), GaussianDP(0.2)], times=2)
    assert plan.group(3).as_zcdp() == 9 * (plan.as_zcdp() or 0)


def test_trade_off_of_a_composition() -> None:
    polygon = compose([LaplaceCurve(0.5)], times=4).trade_off()
    assert 0.2 < polygon.advantage() < 0.76
    for epsilon in (0.0, 0.5, 1.5):
        assert polygon.delta(epsilon) >= compose([LaplaceCurve(0.5)], times=4).delta(epsilon) - 1e-9


def test_deltas_are_the_least_of_the_bounds() -> None:
    plan = compose([PureDP(0.1)], times=3)
    points = np.array([0.0, 0.1, 0.2999, 0.3000001, 0.4])
    assert plan.deltas(points)[-2:].tolist() == [0.0, 0.0]
    assert np.all(plan.deltas(points)[:3] > 0)


DEGENERATE: list[tuple[tuple[PrivacyCurve, int], ...]] = [
    ((PureDP(0.0), 5),),
    ((GaussianDP(0.0), 1), (PureDP(0.0), 1)),
    ((PureDP(700.0), 3),),
    ((LaplaceCurve(1e-9), 10),),
    ((GaussianDP(200.0), 1), (PureDP(1.0), 1)),
    ((SubsampledGaussianCurve(100.0, 1e-6), 10),),
    ((FinitePair((1.0, 0.0), (0.0, 1.0)), 2),),
    ((ApproxDP(1.0, 0.9), 3),),
    ((DiscreteGaussianCurve(0.05, 1), 2),),
    ((DiscreteLaplaceCurve(1e5, 300), 5),),
    ((LaplaceCurve(300.0), 3),),
    ((SubsampledGaussianCurve(1.0, 1.0), 10),),
]


@pytest.mark.parametrize("parts", DEGENERATE, ids=repr)
def test_degenerate_plans_still_have_a_bracket(parts: tuple[tuple[PrivacyCurve, int], ...]) -> None:
    plan = Composed(parts)
    for delta in (0.0, 1e-300, 1e-18, 1e-6, 0.5, 0.9999, 1.0):
        low, high = plan.bracket(delta)
        assert low <= high * (1 + 1e-12)
        assert math.isinf(high) or plan.delta(high) <= delta * (1 + 1e-12) or plan.as_pure() is not None
    assert 0 <= plan.delta(math.inf) <= plan.delta(1.0) <= plan.delta(0.0) <= 1
    assert plan.epsilon(1.0) == 0.0


@settings(max_examples=30)
@given(
    p=st.lists(st.floats(0.02, 1.0), min_size=3, max_size=3),
    q=st.lists(st.floats(0.02, 1.0), min_size=3, max_size=3),
    times=st.integers(1, 7),
    share=st.floats(0.0, 0.95),
)
def test_finite_pairs_against_enumeration(p: list[float], q: list[float], times: int, share: float) -> None:
    """All outcomes of the product, counted with multiplicity."""
    first, second = [x / math.fsum(p) for x in p], [x / math.fsum(q) for x in q]
    plan = Composed(((FinitePair(tuple(first), tuple(second)), times),))
    epsilon = share * times * float(FinitePair(tuple(first), tuple(second)).as_pure() or 0)
    truth = 0.0
    for a, b in ((first, second), (second, first)):
        total = 0.0
        for i in range(times + 1):
            for j in range(times + 1 - i):
                k = times - i - j
                ways = math.factorial(times) / (math.factorial(i) * math.factorial(j) * math.factorial(k))
                log_a = i * math.log(a[0]) + j * math.log(a[1]) + k * math.log(a[2])
                log_b = i * math.log(b[0]) + j * math.log(b[1]) + k * math.log(b[2])
                total += ways * max(0.0, math.exp(log_a) - math.exp(epsilon + log_b))
        truth = max(truth, total)
    assert plan.lower is not None
    assert plan.lower.delta(epsilon) <= truth * (1 + 1e-9) + 1e-15
    assert plan.delta(epsilon) >= truth * (1 - 1e-12) - 1e-16


@pytest.mark.parametrize("delta", [1e-2, 1e-6])
def test_the_order_of_the_directions_does_not_matter(delta: float) -> None:
    """The second direction is skipped only when a bound says that it cannot decide."""
    one, other = (0.9, 0.1), (0.6, 0.4)
    density = (LaplaceCurve(1e-3), 1)  # so that the sum is one on a grid
    forward, backward = (
        Composed(((FinitePair(*laws), 12), density)) for laws in ((one, other), (other, one))
    )
    assert forward.epsilon(delta) == pytest.approx(backward.epsilon(delta), rel=1e-6)
    assert forward.delta(3.0) == pytest.approx(backward.delta(3.0), rel=1e-6)
    upper = forward.upper
    assert upper is not None
    ways = [way.epsilon(delta) for way in upper.directions]
    assert abs(ways[0] - ways[1]) > 0.1
    assert forward.epsilon(delta) == pytest.approx(max(ways), rel=1e-6)
