"""Bounded range, the promise of the exponential mechanism: its curve, and what it costs in the Gaussian currency."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr, ndtri

from holdfast.privacy import Account, ApproxDP, Exponential, GaussianDP
from holdfast.privacy._account.remaining import fractions_of_rest, selection_epsilon
from holdfast.privacy._curves.finite_curve import BoundedRange

RANGES = (0.01, 0.5, 2.0, 8.0)


def two_outcomes(reach: float, top: float) -> tuple[float, float]:
    """The chance of the first outcome under either law: log-ratios top and top - reach."""
    second = -math.expm1(top - reach) / (math.exp(top) - math.exp(top - reach))
    return math.exp(top) * second, second


def mu_of(curve: BoundedRange) -> float:
    return math.sqrt(float(curve.as_gdp()))


@pytest.mark.parametrize("reach", RANGES)
def test_bounded_range_is_gaussian_by_its_worst_corner(reach: float) -> None:
    """No pair of log-ratios takes a larger mu, and the one around even odds takes all of it."""
    mu = mu_of(BoundedRange(reach))
    corners = [two_outcomes(reach, top) for top in np.linspace(0.001, 0.999, 333) * reach]
    taken = [ndtri(p) - ndtri(q) for p, q in corners]
    assert max(taken) <= mu * (1 + 1e-9)
    assert max(taken) == pytest.approx(mu, rel=1e-6)


@pytest.mark.parametrize("reach", RANGES)
def test_delta_of_bounded_range_is_that_of_the_worst_pair(reach: float) -> None:
    curve = BoundedRange(reach)
    tops = np.linspace(1e-6, 1 - 1e-6, 4001) * reach
    pairs = np.array([two_outcomes(reach, float(top)) for top in tops])
    for epsilon in (0.0, 0.1 * reach, 0.7 * reach, reach):
        worst = float(np.max(np.maximum(pairs[:, 0] - math.exp(epsilon) * pairs[:, 1], 0.0)))
        assert worst <= curve.delta(epsilon) + 1e-15
        assert curve.delta(epsilon) == pytest.approx(worst, rel=1e-3, abs=1e-9)


@pytest.mark.parametrize("reach", RANGES)
def test_the_pair_of_bounded_range_has_its_delta(reach: float) -> None:
    """All of both laws' mass, and above every loss what the curve says: with less, too much would be claimed."""
    curve = BoundedRange(reach)
    inner = np.linspace(-reach, reach, 201)
    cells = curve.pair().cells(np.concatenate([[-np.inf], inner, [np.inf]]))
    assert cells.p.sum() == pytest.approx(1.0, rel=1e-12)
    assert cells.q.sum() == pytest.approx(1.0, rel=1e-12)
    for place in (0, 60, 100, 140, 199):
        above = slice(place + 1, None)
        told = cells.p[above].sum() - math.exp(inner[place]) * cells.q[above].sum()
        if inner[place] >= 0:
            assert told == pytest.approx(curve.delta(float(inner[place])), rel=1e-9, abs=1e-15)


@given(
    st.lists(st.tuples(st.floats(-3, 3), st.floats(-1, 1)), min_size=2, max_size=6),
    st.sampled_from([0.3, 1.0, 3.0]),
)
def test_a_selection_is_as_gaussian_as_it_says(moves: list[tuple[float, float]], epsilon: float) -> None:
    """By all tests between a table and its neighbour: those of the largest likelihood ratios."""
    mechanism = Exponential(epsilon=epsilon, sensitivity=1.0, arithmetic="idealised")
    first = np.array([score for score, _ in [*moves, (0.0, 1.0), (0.0, -1.0)]])
    second = first + np.array([move for _, move in [*moves, (0.0, 1.0), (0.0, -1.0)]])
    p, q = (np.exp(mechanism.log_chances(scores)) for scores in (first, second))
    order = np.argsort(q / p)
    false_alarm, caught = np.cumsum(q[order])[:-1], np.cumsum(p[order])[:-1]
    mu = mu_of(BoundedRange(epsilon))
    assert np.all(caught <= ndtr(ndtri(false_alarm) + mu) + 1e-12)


@pytest.mark.parametrize("currency", ["gdp", "renyi", "zcdp"])
def test_selections_spend_what_is_left_and_no_more(currency: str) -> None:
    account = Account(ApproxDP(1.0, 1e-6), currency=currency, seed=1)
    epsilon = selection_epsilon(account, 7)
    for _ in range(7):
        account.release(Exponential(epsilon=epsilon, sensitivity=1.0), np.array([0.0, 1.0]))
    assert account.spent().within(ApproxDP(1.0, 1e-6))
    assert selection_epsilon(Account(ApproxDP(1.0, 1e-6), currency=currency, seed=1), 1) > 2 * epsilon
    if currency == "gdp":
        assert float(account.remaining().as_gdp() or 0) < 1e-6


@given(st.lists(st.floats(1e-6, 1.0), min_size=2, max_size=6))
def test_fractions_of_the_rest_can_always_be_split(parts: list[float]) -> None:
    """Shares of 1 that floats make a little more than 1, as they are written: an error after something was paid."""
    shares = [part / sum(parts) for part in parts]
    shares[-1] = 1.0 - sum(shares[:-1])
    account = Account(GaussianDP(1.0), seed=0)
    if min(shares) > 0:
        assert len(account.split(*fractions_of_rest(account, *shares))) == len(parts)
