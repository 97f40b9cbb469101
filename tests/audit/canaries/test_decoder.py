"""Decoders solve what they say, beat the inner product where canaries interfere, and never see a coin."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.audit._canaries import (
    HadamardCanaries,
    RademacherCanaries,
    SphereCanaries,
    decoder,
    inclusion_coins,
)
from holdfast.audit._canaries.decoder import (
    Guesses,
    correct_path,
    guess,
    inner_product,
    message_passing,
    ridge_scores,
)
from holdfast.errors import ParameterError
from holdfast.noise._source import Source


@pytest.mark.parametrize(("count", "dimension"), [(20, 50), (60, 30)])
@pytest.mark.parametrize("noise_std", [0.1, 1.0])
def test_ridge_is_the_dense_solution(count: int, dimension: int, noise_std: float) -> None:
    canaries = SphereCanaries(count=count, dimension=dimension, seed=1, row_norm=1.5)
    x = canaries.rows(np.arange(count))
    theta = np.random.default_rng(1).normal(size=dimension)
    # The mean of b - 1/2 given theta, for a prior of mean 0 and variance 1/4.
    covariance = x.T @ x / 4 + noise_std**2 * np.eye(dimension)
    dense = x @ np.linalg.solve(covariance, theta - x.sum(axis=0) / 2) / 4
    found = ridge_scores(canaries, theta, noise_std=noise_std, tolerance=1e-12, most_steps=500)
    assert np.allclose(found, dense, rtol=0, atol=1e-9)


def test_with_orthogonal_canaries_all_decoders_rank_alike() -> None:
    canaries = HadamardCanaries(count=60, dimension=100, seed=1)
    theta = np.random.default_rng(1).normal(size=100)
    plain = np.argsort(inner_product(canaries, theta))
    assert np.array_equal(plain, np.argsort(inner_product(canaries, theta, centre=True)))
    assert np.array_equal(plain, np.argsort(ridge_scores(canaries, theta, noise_std=0.5)))


@pytest.mark.slow
def test_each_decoder_is_better_than_the_one_before_where_canaries_interfere() -> None:
    canaries = RademacherCanaries(count=500, dimension=500, seed=1)
    noise = np.random.default_rng(2)
    right = np.zeros(4)
    for seed in range(20):
        coins = inclusion_coins(Source(seed=seed), 500)
        theta = canaries.combine(coins) + 0.33 * noise.normal(size=500)
        scores = (
            inner_product(canaries, theta),
            inner_product(canaries, theta, centre=True),
            ridge_scores(canaries, theta, noise_std=0.33),
            message_passing(canaries, theta, noise_std=0.33),
        )
        right += [guess(score, include=250, exclude=250).correct(coins).mean() / 20 for score in scores]
    plain, centred, linear, iterated = right
    # Limits for m = d = 500 and sigma 0.33: accuracies Phi(0.5 / sqrt(sigma^2 + 1/2)) for the plain score, ...
    assert plain == pytest.approx(0.74, abs=0.02)
    assert centred == pytest.approx(0.80, abs=0.02)
    assert linear > centred + 0.01
    assert iterated > linear + 0.01


def test_the_log_odds_of_message_passing_are_calibrated() -> None:
    canaries = RademacherCanaries(count=400, dimension=1600, seed=3)
    noise, odds, truth = np.random.default_rng(3), [], []
    for seed in range(15):
        coins = inclusion_coins(Source(seed=seed), 400)
        theta = canaries.combine(coins) + 0.6 * noise.normal(size=1600)
        odds.append(message_passing(canaries, theta, noise_std=0.6))
        truth.append(coins)
    probability = 1 / (1 + np.exp(-np.concatenate(odds)))
    for low, high in ((0.05, 0.25), (0.25, 0.75), (0.75, 0.95)):
        inside = (probability > low) & (probability < high)
        said, seen = probability[inside].mean(), np.concatenate(truth)[inside].mean()
        assert abs(said - seen) < 4 * 0.5 / np.sqrt(inside.sum()) + 0.01


@given(
    st.lists(st.integers(-5, 5), min_size=1, max_size=12),
    st.integers(0, 12),
    st.integers(0, 12),
    st.randoms(),
)
def test_guesses_are_those_of_the_bounds(
    scores: list[int], include: int, exclude: int, random: object
) -> None:
    include = min(include, len(scores))
    exclude = min(exclude, len(scores) - include)
    coins = np.array([random.random() < 0.5 for _ in scores])  # type: ignore[attr-defined]
    found = guess(scores, include=include, exclude=exclude)
    assert len(set(found.order.tolist())) == include + exclude
    assert int(found.included.sum()) == include
    expected = correct_path(scores, coins, include=include, exclude=exclude)
    assert found.correct(coins).tolist() == expected.tolist()


def test_nothing_that_guesses_can_be_handed_a_coin() -> None:
    for function in (inner_product, ridge_scores, message_passing, guess):
        names = set(inspect.signature(function).parameters)
        assert not names & {"coins", "member", "included"}, function
    assert "coins" in inspect.signature(Guesses.correct).parameters


def test_one_sided_guesses_only_say_in() -> None:
    found = guess([3.0, 1.0, 2.0], include=2, exclude=0)
    assert found.order.tolist() == [0, 2]
    assert found.included.all()


def test_bad_numbers_are_refused() -> None:
    canaries = RademacherCanaries(count=3, dimension=4, seed=1)
    for solve in (ridge_scores, message_passing):
        with pytest.raises(ParameterError, match="noise_std"):
            solve(canaries, np.zeros(4), noise_std=0.0)
    with pytest.raises(ParameterError, match="output"):
        inner_product(canaries, np.zeros(5))
    with pytest.raises(ParameterError, match="include"):
        guess([1.0], include=1, exclude=1)
    with pytest.raises(ParameterError, match="finite"):
        guess([float("nan")], include=1, exclude=0)
    assert decoder.COIN_MEAN == 0.5
