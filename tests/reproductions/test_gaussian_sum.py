"""The reduced simulator has the law of the definition: moments, two-sample tests, joint statistics."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import ks_2samp, norm
from studies.reproductions import gaussian_sum
from studies.reproductions.gaussian_sum import GaussianSum

from holdfast.audit._canaries import RademacherCanaries
from holdfast.errors import ParameterError
from tests.studies.size import Study, trials

Statistic = Callable[[np.ndarray, np.ndarray], float]
STATISTICS: dict[str, Statistic] = {
    "a score in": lambda scores, coins: float(scores[coins][0]),
    "a score out": lambda scores, coins: float(scores[~coins][-1]),
    "the last score in": lambda scores, coins: float(scores[coins][-1]),
    "sum in (theta's own length)": lambda scores, coins: float(scores[coins].sum()),
    "two in, product": lambda scores, coins: float(np.prod(scores[coins][:2])),
    "in times out squared": lambda scores, coins: float(scores[coins][0] * scores[~coins][0] ** 2),
    "squares out": lambda scores, coins: float(np.sum(scores[~coins] ** 2)),
    "right guesses of the surest": lambda scores, coins: float(
        np.max(scores[coins]) - np.max(scores[~coins])
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(("count", "dimension"), [(12, 40), (30, 6), (16, 8)])
def test_the_law_is_that_of_the_definition(
    monkeypatch: pytest.MonkeyPatch, count: int, dimension: int, study: Study
) -> None:
    monkeypatch.setattr(gaussian_sum, "ROWS", 4)  # several blocks
    game = GaussianSum(count=count, dimension=dimension, sigma=0.4)
    coins, runs = np.arange(count) % 2 == 0, trials(6000)
    generator = np.random.default_rng(20)
    reduced = [game.scores(coins, generator=generator) for _ in range(runs)]
    dense = [game.dense_scores(coins, generator=generator) for _ in range(runs)]
    chances = {}
    for name, statistic in STATISTICS.items():
        a, b = ([statistic(scores, coins) for scores in made] for made in (reduced, dense))
        chances[name] = float(ks_2samp(a, b).pvalue)
        assert chances[name] > 1e-4, name
    study.note(trials=runs, **chances)


@pytest.mark.parametrize(("count", "dimension"), [(600, 3000), (600, 50)])
def test_moments_of_the_scores(count: int, dimension: int) -> None:
    sigma, generator = 0.5, np.random.default_rng(1)
    game = GaussianSum(count=count, dimension=dimension, sigma=sigma)
    coins = np.arange(count) < 301
    made = np.array([game.scores(coins, generator=generator) for _ in range(40)])
    inside, outside = made[:, coins], made[:, ~coins]
    # In: 1 + N(0, sigma^2) + 300 others of variance 1/d. Out: sigma^2 + 301/d.
    n = inside.size
    in_variance, out_variance = sigma**2 + 300 / dimension, sigma**2 + 301 / dimension
    assert inside.mean() == pytest.approx(1.0, abs=12 * np.sqrt(in_variance / n) + 0.05 * 300 / dimension)
    assert inside.var() == pytest.approx(in_variance, rel=0.08)
    assert outside.var() == pytest.approx(out_variance, rel=0.08)


def test_rows_are_unit_vectors_and_the_same_twice() -> None:
    game = GaussianSum(count=700, dimension=300, sigma=1.0)
    seeds = np.array([5, 6, 7], np.int64)
    first, second = list(game._triangle(600, seeds)), list(game._triangle(600, seeds))
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))
    assert all(np.allclose(np.linalg.norm(rows, axis=1), 1.0) for rows in first)
    assert first[0].shape == (256, 256)
    assert first[1].shape == (256, 300)
    assert np.all(np.triu(first[0], 1) == 0)


def test_all_in_none_in_and_a_dimension_nobody_could_hold() -> None:
    generator = np.random.default_rng(1)
    game = GaussianSum(count=50, dimension=10**12, sigma=0.01)
    assert np.all(np.abs(game.scores(np.ones(50, bool), generator=generator) - 1) < 0.06)
    assert np.all(np.abs(game.scores(np.zeros(50, bool), generator=generator)) < 0.06)


def test_orthogonal_scores_are_coins_plus_noise() -> None:
    game = GaussianSum(count=4000, dimension=4000, sigma=0.7)
    coins = np.arange(4000) % 2 == 0
    noise = (game.orthogonal_scores(coins, generator=np.random.default_rng(3)) - coins) / 0.7
    assert abs(noise.mean()) < 5 / np.sqrt(4000)
    assert noise.var() == pytest.approx(1.0, abs=0.12)
    with pytest.raises(ParameterError, match="count"):
        GaussianSum(count=5, dimension=4, sigma=1.0).orthogonal_scores(
            coins[:5], generator=np.random.default_rng(3)
        )


def test_real_sign_canaries_score_as_the_simulator_says() -> None:
    count, dimension, sigma = 300, 2000, 0.4
    canaries, generator = (
        RademacherCanaries(count=count, dimension=dimension, seed=8),
        np.random.default_rng(8),
    )
    coins = np.arange(count) % 2 == 0
    real = canaries.project(canaries.combine(coins) + sigma * generator.normal(size=dimension))
    simulated = GaussianSum(count=count, dimension=dimension, sigma=sigma).scores(coins, generator=generator)
    for part in (coins, ~coins):
        assert ks_2samp(real[part], simulated[part]).pvalue > 1e-4
    accuracy = np.mean((simulated > 0.5) == coins)
    expected = norm.cdf(0.5 / np.sqrt(sigma**2 + count / 2 / dimension))
    assert accuracy == pytest.approx(expected, abs=0.1)


def test_bad_numbers_are_refused() -> None:
    for change, name in (
        ({"count": 0}, "count"),
        ({"dimension": 1}, "dimension"),
        ({"sigma": -1.0}, "sigma"),
    ):
        with pytest.raises(ParameterError, match=name):
            GaussianSum(**({"count": 3, "dimension": 4, "sigma": 1.0} | change))
    with pytest.raises(ParameterError, match="truth values"):
        GaussianSum(count=3, dimension=4, sigma=1.0).scores([1, 0, 1], generator=np.random.default_rng(1))


def test_each_coordinate_carries_its_share_of_the_length() -> None:
    game = GaussianSum(count=3, dimension=3, sigma=1.0)
    made = np.array([next(game._triangle(3, np.array([seed], np.int64))) for seed in range(3000)])
    # A uniform point of the sphere has mean squares 1/3; what is right of the diagonal is gathered on it.
    expected = np.array([[3, 0, 0], [1, 2, 0], [1, 1, 1]]) / 3
    assert np.allclose(np.mean(made**2, axis=0), expected, rtol=0, atol=0.03)
