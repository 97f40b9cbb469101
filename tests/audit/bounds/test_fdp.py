"""f-DP in one run: agreement with peers, laws, and false alarms under mechanisms of every correlation."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from holdfast.audit._bounds import fdp
from holdfast.audit._bounds.worst_case import upper_tail
from holdfast.errors import ParameterError
from holdfast.privacy import ApproxDP, GaussianDP, PureDP, TradeOff

RUNS = 2000
ALLOWED = 0.05 + 2 * np.sqrt(0.05 * 0.95 / RUNS)
COIN = TradeOff([0, 1], [1, 0], claim="proved")


def test_agrees_with_peers() -> None:
    # Anchor: 3.728 by PrivacyGuard (grid), 3.727 ours; 500 perfect guesses of 1000 canaries, 10.91.
    assert fdp.epsilon_lower(100, 95, canaries=1000, delta=1e-6) == pytest.approx(3.727, abs=1e-3)
    assert fdp.epsilon_lower(500, 500, canaries=1000, delta=1e-6) == pytest.approx(10.91, abs=5e-3)


def test_coin_flipping_shows_nothing() -> None:
    # PrivacyGuard reports 0.397 here.
    assert fdp.mu_lower(100, 50, canaries=100) == 0.0
    assert fdp.epsilon_lower(100, 50, canaries=100, delta=1e-6) == 0.0
    assert fdp.p_value(COIN, 100, 50, canaries=100) > 0.5


def counts() -> st.SearchStrategy[tuple[int, int, int]]:
    return st.integers(1, 60).flatmap(
        lambda r: st.tuples(st.integers(r, r + 60), st.just(r), st.integers(0, r))
    )


@given(counts(), st.floats(0, 3), st.floats(0, 2), st.floats(0.001, 0.3))
def test_less_privacy_refutes_less(case: tuple[int, int, int], mu: float, more: float, beta: float) -> None:
    m, r, v = case
    if fdp.rejects(fdp.gaussian_inverse(mu + more), r, v, canaries=m, beta=beta):
        assert fdp.rejects(fdp.gaussian_inverse(mu), r, v, canaries=m, beta=beta)
        assert fdp.rejects(fdp.gaussian_inverse(mu), r, v, canaries=m, beta=min(0.99, 2 * beta))


@given(counts(), st.floats(0, 4))
def test_never_below_a_law_that_is_reached(case: tuple[int, int, int], epsilon: float) -> None:
    # Randomised response reaches its binomial tail; a bound on all epsilon-DP mechanisms cannot be smaller.
    m, r, v = case
    assert fdp.p_value(PureDP(epsilon).trade_off(), r, v, canaries=m) >= float(upper_tail(r, v, epsilon)) * (
        1 - 1e-6
    )


@given(counts(), st.floats(0.05, 3))
def test_polygon_and_formula_agree(case: tuple[int, int, int], mu: float) -> None:
    m, r, v = case
    polygon, formula = fdp.polygon_inverse(GaussianDP(mu).trade_off()), fdp.gaussian_inverse(mu)
    for x in (1e-6, 0.01, 0.3, 0.9):
        assert polygon(x) <= formula(x) * (1 + 1e-6)  # the polygon proves slightly less
        assert polygon(x) == pytest.approx(formula(x), rel=2e-2, abs=1e-12)
    if fdp.rejects(polygon, r, v, canaries=m, beta=0.05):
        assert fdp.rejects(formula, r, v, canaries=m, beta=0.05)


def test_the_bound_is_where_refutation_ends() -> None:
    mu = fdp.mu_lower(200, 170, canaries=500)
    assert fdp.rejects(fdp.gaussian_inverse(mu), 200, 170, canaries=500, beta=0.05)
    assert not fdp.rejects(fdp.gaussian_inverse(mu * 1.001), 200, 170, canaries=500, beta=0.05)
    p = fdp.p_value(GaussianDP(mu).trade_off(), 200, 170, canaries=500)
    assert p == pytest.approx(0.05, rel=0.02)


def test_a_failure_probability_is_allowed_for() -> None:
    claim = ApproxDP(1.0, 0.01)
    assert fdp.p_value(claim.trade_off(), 50, 50, canaries=50) >= 0.01  # it may reveal everything that often
    assert fdp.polygon_inverse(claim.trade_off())(0.005) == 0.0


@cache
def bound(guesses: int, correct: int, canaries: int) -> float:
    return fdp.mu_lower(guesses, correct, canaries=canaries)


def independent(rng: np.random.Generator, mu: float, m: int, r: int) -> NDArray[np.int64]:
    """A Gaussian mechanism with orthogonal canaries: guess the r surest."""
    member = rng.random((RUNS, m)) < 0.5
    score = np.where(member, mu / 2, -mu / 2) + rng.standard_normal((RUNS, m))
    surest = np.argsort(-np.abs(score), axis=1)[:, :r]
    right = np.take_along_axis((score > 0) == member, surest, axis=1)
    return np.asarray(right.sum(axis=1))


def common(rng: np.random.Generator, mu: float, m: int, r: int) -> NDArray[np.int64]:
    """One noisy count of the members: all guesses are the same, so right or wrong together."""
    member = rng.random((RUNS, m)) < 0.5
    count = mu * (member.sum(axis=1) - m / 2) + rng.standard_normal(RUNS)
    inside = member[:, :r].sum(axis=1)
    return np.asarray(np.where(count > 0, inside, r - inside))


def response(rng: np.random.Generator, mu: float, m: int, r: int) -> NDArray[np.int64]:
    """Randomised response, which is mu-GDP at epsilon = logit Phi(mu / 2) (soundness, section 0)."""
    from scipy.special import ndtr

    return np.asarray(rng.binomial(r, float(ndtr(mu / 2)), size=RUNS))


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", [independent, common, response])
@pytest.mark.parametrize("epsilon", [0.0, 1.0, 4.0])
@pytest.mark.parametrize(("m", "r"), [(100, 100), (200, 50)])
def test_false_alarms(mechanism, epsilon: float, m: int, r: int) -> None:  # type: ignore[no-untyped-def]
    mu = {0.0: 0.0, 1.0: 0.2699, 4.0: 0.9241}[epsilon]  # epsilon at delta 1e-5
    correct = mechanism(np.random.default_rng(41), mu, m, r)
    alarms = np.mean([bound(r, v, m) > mu for v in correct.tolist()])
    assert alarms <= ALLOWED


def test_the_mu_of_the_nulls() -> None:
    assert GaussianDP(0.2699).epsilon(1e-5) == pytest.approx(1.0, abs=0.01)
    assert GaussianDP(0.9241).epsilon(1e-5) == pytest.approx(4.0, abs=0.01)


def test_other_families() -> None:
    family = lambda epsilon: fdp.polygon_inverse(PureDP(epsilon).trade_off())  # noqa: E731
    found = fdp.largest_rejected(family, 100, 90, canaries=100, confidence=0.95)
    assert 1.0 < found <= 1.6308 + 1e-6  # never above the exact worst case


def test_bad_input_is_refused() -> None:
    with pytest.raises(ParameterError, match="claim"):
        fdp.p_value(TradeOff([0, 1], [1, 0], claim="measured"), 10, 5, canaries=10)
    with pytest.raises(ParameterError, match="delta"):
        fdp.epsilon_lower(10, 5, canaries=10, delta=0.0)
    with pytest.raises(ParameterError, match="correct"):
        fdp.mu_lower(10, 11, canaries=10)
