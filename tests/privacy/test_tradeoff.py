"""Curve and trade-off are convex duals, both ways (seed 002, definitions 2 and 3, lemma 1)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr, ndtri

from holdfast.privacy._curves.curve import ApproxDP, PrivacyCurve, PureDP
from holdfast.privacy._curves.gaussian import DiscreteGaussianCurve, GaussianDP
from holdfast.privacy._curves.laplace import LaplaceCurve
from holdfast.privacy._curves.loss_distribution import LossDistribution
from holdfast.privacy._curves.renyi import ZCDP, RenyiDP
from holdfast.privacy._curves.slack import WithSlack
from holdfast.privacy._curves.subsampled import SubsampledGaussianCurve
from holdfast.privacy._tradeoff import TradeOff

TIGHT = st.one_of(
    st.builds(PureDP, st.floats(0.0, 20.0)),
    st.builds(ApproxDP, st.floats(0.0, 5.0), st.floats(0.0, 0.5)),
    st.builds(GaussianDP, st.floats(0.01, 8.0)),
    st.builds(LaplaceCurve, st.floats(0.01, 8.0)),
    st.builds(DiscreteGaussianCurve, st.floats(0.5, 20.0), st.integers(1, 3)),
    st.builds(SubsampledGaussianCurve, st.floats(0.5, 5.0), st.sampled_from([1e-6, 0.01, 0.5, 0.99])),
    st.builds(lambda mu: LossDistribution.gaussian(mu, spacing=0.02), st.floats(0.1, 3.0)),
)
"""The curve of some pair of laws."""
LOOSE = st.one_of(
    st.builds(ZCDP, st.floats(0.001, 5.0)),
    st.builds(lambda rho: RenyiDP.of(lambda order: order * rho), st.floats(0.01, 3.0)),
    st.builds(lambda mu: WithSlack(GaussianDP(mu), 1e-9, 1e-4), st.floats(0.1, 3.0)),
)


def dual(curve: PrivacyCurve, false_alarm: float) -> float:
    """sup over epsilon of the two lines, on a grid that the polygon does not use."""
    largest = max(1e-6, min(curve.epsilon(1e-15), 690.0))
    epsilons = np.concatenate([[0.0], np.geomspace(1e-6, largest, 700), np.geomspace(1e-5, 600.0, 300)])
    tops = 1.0 - curve.deltas(epsilons)
    with np.errstate(over="ignore"):
        lines = np.maximum(tops - np.exp(epsilons) * false_alarm, np.exp(-epsilons) * (tops - false_alarm))
    return float(max(0.0, np.max(lines)))


@settings(max_examples=40)
@given(curve=TIGHT | LOOSE, x=st.floats(0.0, 1.0))
def test_the_polygon_is_the_dual_and_never_promises_more(curve: PrivacyCurve, x: float) -> None:
    polygon = curve.trade_off()
    assert polygon.claim == "proved"
    truth = dual(curve, x)
    assert polygon.miss_at(x) <= truth + 1e-12
    assert polygon.miss_at(x) >= truth - 2e-3


@settings(max_examples=40)
@given(curve=TIGHT, epsilon=st.floats(0.0, 30.0))
def test_the_dual_of_the_dual_is_the_curve(curve: PrivacyCurve, epsilon: float) -> None:
    """Never below what the curve says: a polygon of fewer lines proves less, not more."""
    assert curve.delta(epsilon) - 1e-12 <= curve.trade_off().delta(epsilon) <= curve.delta(epsilon) + 2e-3


@settings(max_examples=20)
@given(curve=LOOSE, epsilon=st.floats(0.0, 30.0))
def test_the_dual_of_the_dual_of_a_bound_is_no_worse(curve: PrivacyCurve, epsilon: float) -> None:
    """A bound that is no pair's own curve may improve: its points together imply more than each alone."""
    assert curve.trade_off().delta(epsilon) <= monotone(curve, epsilon) + 2e-3


def monotone(curve: PrivacyCurve, epsilon: float) -> float:
    """delta(epsilon), where a curve with slack may rise again: the best proof at or before epsilon."""
    return float(np.min(curve.deltas(np.linspace(0.0, epsilon, 60)))) if epsilon else curve.delta(0.0)


@given(a=st.floats(0.05, 5.0), b=st.floats(0.05, 5.0))
def test_order_is_the_same_on_both_sides(a: float, b: float) -> None:
    """Lemma 1: delta(P||Q) <= delta(P'||Q') everywhere just when the trade-off is above."""
    low, high = GaussianDP(min(a, b)), GaussianDP(max(a, b))
    above, below = low.trade_off(), high.trade_off()
    for x in (0.001, 0.1, 0.4, 0.9):
        assert above.miss_at(x) >= below.miss_at(x) - 1e-6


@pytest.mark.parametrize("mu", [0.1, 1.0, 4.0])
def test_gaussian_polygon_is_below_the_exact_curve(mu: float) -> None:
    polygon = GaussianDP(mu).trade_off()
    for x in np.concatenate([np.geomspace(1e-12, 0.5, 60), np.linspace(0.5, 1.0, 30)]):
        exact = float(ndtr(-ndtri(x) - mu))
        assert exact - 1e-3 <= polygon.miss_at(float(x)) <= exact + 1e-15


def test_tiny_deltas_do_not_vanish() -> None:
    curve = ApproxDP(0.5, 1e-18)
    polygon = curve.trade_off()
    assert polygon.miss_at(0.0) < 1.0
    assert polygon.delta(math.inf) >= 1e-18
    assert PureDP(0.5).trade_off().miss_at(0.0) == 1.0


def test_huge_epsilons() -> None:
    polygon = PureDP(500.0).trade_off()
    assert polygon.miss_at(0.0) == 1.0
    assert polygon.miss_at(1e-200) < 1e-16
    assert polygon.advantage() == pytest.approx(1.0)
    strong = GaussianDP(40.0).trade_off()
    assert strong.miss_at(0.5) >= 0.0
    assert strong.advantage() == pytest.approx(1.0)


def test_randomised_response_is_a_triangle() -> None:
    epsilon = 1.0
    polygon = PureDP(epsilon).trade_off()
    corner = 1 / (1 + math.exp(epsilon))
    assert polygon.miss_at(corner) == pytest.approx(corner, abs=1e-9)
    assert polygon.advantage() == pytest.approx(math.tanh(epsilon / 2), abs=1e-9)
    assert polygon.epsilon(0.0) >= epsilon - 1e-9


def test_jumps_at_both_ends() -> None:
    polygon = ApproxDP(0.0, 0.25).trade_off()
    assert polygon.miss_at(0.0) == pytest.approx(0.75)
    assert polygon.miss_at(0.75) == pytest.approx(0.0, abs=1e-12)
    assert polygon.delta(0.0) == pytest.approx(0.25)


@given(st.lists(st.tuples(st.floats(0.0, 8.0), st.floats(0.0, 1.0)), min_size=1, max_size=12))
def test_the_envelope_of_any_lines(lines: list[tuple[float, float]]) -> None:
    epsilons, deltas = np.array([e for e, _ in lines]), np.array([d for _, d in lines])
    polygon = TradeOff.from_lines(epsilons, deltas)
    for x in np.linspace(0.0, 1.0, 21):
        tops = 1 - deltas
        value = max(
            0.0, float(np.max(np.maximum(tops - np.exp(epsilons) * x, np.exp(-epsilons) * (tops - x))))
        )
        assert polygon.miss_at(float(x)) == pytest.approx(value, abs=1e-9)


@given(st.lists(st.tuples(st.floats(-6.0, 6.0), st.floats(0.0, 1.0)), min_size=1, max_size=12))
def test_the_one_sided_envelope(lines: list[tuple[float, float]]) -> None:
    # delta(eps) >= 1 - e^eps always holds for two laws.
    epsilons = np.array([e for e, _ in lines])
    deltas = np.maximum(np.array([d for _, d in lines]), np.clip(1 - np.exp(epsilons), 0.0, 1.0))
    polygon = TradeOff.from_one_sided(epsilons, deltas)
    for x in np.linspace(0.0, 1.0, 21):
        value = max(0.0, float(np.max(1 - deltas - np.exp(epsilons) * x)))
        assert polygon.miss_at(float(x)) == pytest.approx(value, abs=1e-9)


def test_contradiction_is_a_computed_fact() -> None:
    proved = GaussianDP(1.0).trade_off()
    attack = TradeOff([0.0, 0.01, 1.0], [1.0, 0.5, 0.0], claim="measured")
    weak = TradeOff([0.0, 0.01, 1.0], [1.0, 0.98, 0.0], claim="measured")
    assert attack.contradicts(proved)
    assert not weak.contradicts(proved)
