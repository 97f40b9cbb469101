"""Anytime-valid audits: the wealth is a fair bet, and optional stopping does not help a null."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.audit._bounds import one_run, sequential
from holdfast.audit._bounds.sequential import SequentialTest
from holdfast.errors import ParameterError


@given(st.integers(0, 60), st.floats(0, 5), st.floats(0, 0.2))
def test_wealth_is_a_martingale_at_the_null(guesses: int, epsilon: float, delta: float) -> None:
    q = sequential.right_at_most(epsilon, delta=delta)
    v = np.arange(guesses + 1)
    now = np.exp(sequential.log_wealth(guesses, v, epsilon=epsilon, delta=delta))
    right = np.exp(sequential.log_wealth(guesses + 1, v + 1, epsilon=epsilon, delta=delta))
    wrong = np.exp(sequential.log_wealth(guesses + 1, v, epsilon=epsilon, delta=delta))
    assert q * right + (1 - q) * wrong == pytest.approx(now, rel=1e-6)
    assert np.all(right >= wrong * (1 - 1e-9))  # so less than q can only lose


@given(st.integers(1, 300).flatmap(lambda t: st.tuples(st.just(t), st.integers(0, t))))
def test_every_smaller_epsilon_is_refuted(case: tuple[int, int]) -> None:
    t, v = case
    bound = sequential.epsilon_lower(t, v)
    for share in (0.0, 0.5, 0.9, 1.0):
        if bound > 0:
            assert float(sequential.log_wealth(t, v, epsilon=share * bound)) >= math.log(20)
    assert float(
        np.max([sequential.log_wealth(t, v, epsilon=bound + e) for e in (1e-6, 0.1, 1.0, 5.0)])
    ) < math.log(20)


def test_the_price_of_stopping_is_small() -> None:
    anytime = sequential.epsilon_lower(1000, 900)
    fixed = one_run.epsilon_lower(1000, 900, canaries=1000)
    assert 0.9 * fixed < anytime < fixed


@pytest.mark.parametrize("epsilon", [0.0, 1.0, 4.0])
@pytest.mark.parametrize("delta", [0.0, 0.01])
def test_false_alarms_under_optional_stopping(epsilon: float, delta: float) -> None:
    # The auditor looks after every guess and stops at the first success.
    runs, longest = 2000, 600
    rng = np.random.default_rng(11)
    bits = rng.random((runs, longest)) < sequential.right_at_most(epsilon, delta=delta)
    t, v = np.meshgrid(np.arange(longest + 1), np.arange(longest + 1), indexing="ij")
    wealth = np.full(t.shape, -np.inf)
    wealth[v <= t] = sequential.log_wealth(t[v <= t], v[v <= t], epsilon=epsilon, delta=delta)
    ever = (wealth[np.arange(1, longest + 1), np.cumsum(bits, axis=1)] >= math.log(20)).any(axis=1)
    assert ever.mean() <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / runs)
    assert ever.mean() >= 0.005


def test_a_leak_is_found_early() -> None:
    rng = np.random.default_rng(3)
    stops = [sequential.stopping_time(rng.random(2000) < 0.9, epsilon=1.0) for _ in range(20)]
    assert all(stop is not None and stop < 400 for stop in stops)
    assert sequential.stopping_time(np.zeros(100, bool), epsilon=0.0) is None


def test_the_game_keeps_its_best_moment() -> None:
    game = SequentialTest()
    for right in [True] * 30 + [False] * 30:
        game = game.observe(right)
    assert (game.guesses, game.correct) == (60, 30)
    assert game.epsilon_lower() == pytest.approx(sequential.epsilon_lower(30, 30))
    assert game.epsilon_lower() == pytest.approx(sequential.path_epsilon_lower([True] * 30 + [False] * 30))
    assert game.refutes(1.0)
    assert not game.refutes(5.0)


def test_bad_input_is_refused() -> None:
    with pytest.raises(ParameterError, match="confidence"):
        sequential.epsilon_lower(10, 5, confidence=0.5)
    with pytest.raises(ParameterError, match="correct"):
        SequentialTest(guesses=1, correct=2)
