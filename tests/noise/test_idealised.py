from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from holdfast.errors import ParameterError
from holdfast.noise import _idealised as continuous
from holdfast.noise._idealised import gamma_ball
from holdfast.noise._source import Source

LAWS = {
    "uniform": stats.uniform(),
    "normal": stats.norm(),
    "laplace": stats.laplace(),
    "exponential": stats.expon(),
    "gumbel": stats.gumbel_r(),
}


@pytest.mark.parametrize("name", LAWS)
def test_laws(name: str) -> None:
    draws = getattr(continuous, name)(Source(seed=70), size=200_000)
    assert stats.kstest(draws, LAWS[name].cdf).pvalue > 1e-3
    for weight in (1e-3, 1e-4):  # tails, where a Kolmogorov test is blind
        for beyond in (draws > LAWS[name].isf(weight), draws < LAWS[name].ppf(weight)):
            assert stats.binomtest(int(beyond.sum()), len(draws), weight).pvalue > 1e-3


@pytest.mark.parametrize("shape", [1.0, 1.5, 10.0, 1000.0])
def test_gamma(shape: float) -> None:
    draws = continuous.gamma(Source(seed=71), shape=shape, size=100_000)
    assert stats.kstest(draws, stats.gamma(shape).cdf).pvalue > 1e-3


def test_extreme_words_give_finite_numbers() -> None:
    words = np.array([0, 1, 2, 3, 2**64 - 1, 2**64 - 2, 2**63, 2**63 - 1], dtype=np.uint64)

    class Extreme(Source):
        def words(self, count: int) -> np.ndarray:
            return np.resize(words, count)

    for name in LAWS:
        draws = getattr(continuous, name)(Extreme(), size=8)
        assert np.isfinite(draws).all()
        assert (draws != 0).all()
    assert continuous.normal(Extreme(), size=2).round(1).tolist() == [9.2, -9.2]


@pytest.mark.parametrize("dimension", [1, 2, 10])
def test_the_vector_has_a_gamma_length_and_a_uniform_direction(dimension: int) -> None:
    source = Source(seed=72)
    vectors = np.array([gamma_ball(source, dimension=dimension, scale=0.5) for _ in range(5_000)])
    lengths = np.linalg.norm(vectors, axis=1)
    assert stats.kstest(lengths, stats.gamma(dimension, scale=0.5).cdf).pvalue > 1e-3
    if dimension > 1:
        # One coordinate of a uniform direction: (1 + u) / 2 is Beta((d-1)/2, (d-1)/2).
        half = stats.beta((dimension - 1) / 2, (dimension - 1) / 2)
        for axis in range(dimension):
            assert stats.kstest((1 + vectors[:, axis] / lengths) / 2, half.cdf).pvalue > 1e-4
    else:
        assert stats.kstest(vectors[:, 0], stats.laplace(scale=0.5).cdf).pvalue > 1e-3


def test_the_mean_length_is_that_of_soundness_section_zero() -> None:
    source = Source(seed=73)
    lengths = [np.linalg.norm(gamma_ball(source, dimension=10, scale=1.0)) for _ in range(4_000)]
    assert abs(np.mean(lengths) - 10) < 4 * np.sqrt(10 / 4_000)


def test_bad_parameters_are_refused() -> None:
    with pytest.raises(ParameterError, match="shape"):
        continuous.gamma(Source(seed=1), shape=0.5, size=1)
    with pytest.raises(ParameterError, match="dimension"):
        gamma_ball(Source(seed=1), dimension=0, scale=1.0)
    for scale in (0.0, -1.0, float("inf"), float("nan")):
        with pytest.raises(ParameterError, match="scale"):
            gamma_ball(Source(seed=1), dimension=1, scale=scale)
    with pytest.raises(ParameterError, match="size"):
        continuous.normal(Source(seed=1), size=-1)
