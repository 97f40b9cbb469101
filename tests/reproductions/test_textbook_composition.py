"""Textbook composition theorems, with the numbers of soundness, section 0."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from studies.reproductions.textbook_composition import (
    advanced,
    basic,
    optimal,
    optimal_bounded_range,
    per_step,
    per_step_without_second_term,
)

from holdfast.privacy._curves.composition import Composed
from holdfast.privacy._curves.curve import ApproxDP, PureDP
from holdfast.privacy._curves.renyi import ZCDP


@pytest.mark.parametrize(("total", "times", "truth"), [(8.0, 10, 11.66), (1.0, 100, 1.044)])
def test_the_second_term_is_not_optional(total: float, times: int, truth: float) -> None:
    step = per_step_without_second_term(total, times=times, slack=1e-5)
    assert advanced(step, times=times, slack=1e-5) == pytest.approx(truth, abs=5e-3)
    right = per_step(total, times=times, slack=1e-5)
    assert advanced(right, times=times, slack=1e-5) <= total
    assert advanced(right * 1.0001, times=times, slack=1e-5) > total


def test_a_constant_of_4_is_loose() -> None:
    """000, theorem 20: under log(1/delta) >= eps^2 T, 1.354 times eps sqrt(2 T log(1/delta)) suffices."""
    worst = 0.0
    for times in (1, 2, 10, 100, 10_000):
        for log_delta in (0.1, 1.0, 10.0, 40.0):
            for share in (0.01, 0.5, 1.0):
                epsilon = share * math.sqrt(log_delta / times)
                # zCDP of pure DP: k eps^2 / 2 + sqrt(2 k log(1/delta)) eps.
                rho = times * epsilon**2 / 2
                reached = rho + 2 * math.sqrt(rho * log_delta)
                worst = max(worst, reached / (epsilon * math.sqrt(2 * times * log_delta)))
    assert 1.35 < worst <= 1.354


def test_basic() -> None:
    assert basic([(0.1, 1e-7)] * 10) == (Fraction(1), Fraction("1e-6"))


def test_optima() -> None:
    assert optimal(0.5, times=10, at=1.0) == pytest.approx(0.33168, abs=5e-6)
    assert optimal_bounded_range(0.5, times=10, at=1.0) == pytest.approx(0.064744, abs=5e-7)


@given(epsilon=st.floats(0.01, 2.0), times=st.integers(1, 40), share=st.floats(0.0, 0.99))
def test_the_order_of_the_theorems(epsilon: float, times: int, share: float) -> None:
    at = share * times * epsilon
    best = optimal(epsilon, times=times, at=at)
    assert optimal_bounded_range(epsilon, times=times, at=at) <= best + 1e-12
    assert best <= ZCDP(PureDP(epsilon).as_zcdp() * times).delta(at) + 1e-12
    assert Composed(((PureDP(epsilon), times),)).delta(at) >= best * (1 - 1e-9) - 1e-15


def test_optimal_with_failures() -> None:
    composed = Composed(((ApproxDP(0.2, 1e-5), 20),))
    truth = optimal(0.2, times=20, at=1.5, delta=1e-5)
    assert composed.delta(1.5) == pytest.approx(truth, rel=1e-6)
    assert composed.delta(1.5) >= truth * (1 - 1e-12)


def test_one_step_advanced_is_worse_than_basic() -> None:
    assert advanced(0.5, times=1, slack=1e-6) > 0.5
