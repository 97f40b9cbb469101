from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from holdfast.errors import ParameterError
from holdfast.noise.bernoulli import bernoulli, bernoulli_exp
from holdfast.noise.source import Source


class Scripted(Source):
    def __init__(self, script: list[int]) -> None:
        super().__init__(seed=0)
        self.script = list(script)

    def words(self, count: int) -> NDArray[np.uint64]:
        return np.array([self.script.pop(0) for _ in range(count)], dtype=np.uint64)


@pytest.mark.parametrize("p", [Fraction(1, 3), Fraction(1, 1000), Fraction(999, 1000), Fraction(22, 45)])
def test_coins_have_their_probability(p: Fraction) -> None:
    heads = int(bernoulli(Source(seed=40), p=p, size=400_000).sum())
    assert stats.binomtest(heads, 400_000, float(p)).pvalue > 1e-3


@pytest.mark.parametrize("gamma", [Fraction(1, 1000), Fraction(1, 3), Fraction(1), Fraction(5), Fraction(9)])
def test_exponential_coins_have_their_probability(gamma: Fraction) -> None:
    heads = int(bernoulli_exp(Source(seed=41), gamma=gamma, size=400_000).sum())
    assert stats.binomtest(heads, 400_000, float(np.exp(-float(gamma)))).pvalue > 1e-3


def test_certain_coins_are_certain() -> None:
    assert bernoulli(Source(seed=1), p=Fraction(1), size=1000).all()
    assert not bernoulli(Source(seed=1), p=Fraction(0), size=1000).any()
    assert bernoulli_exp(Source(seed=1), gamma=Fraction(0), size=1000).all()
    assert not bernoulli_exp(Source(seed=1), gamma=Fraction(2**40), size=1000).any()


@given(
    p=st.fractions(0, 1).filter(lambda p: 0 < p < 1), off=st.integers(-3, 3), rest=st.integers(0, 2**64 - 1)
)
def test_words_next_to_the_threshold_are_decided_exactly(p: Fraction, off: int, rest: int) -> None:
    word = min(max(int(p * 2**64) + off, 0), 2**64 - 1)
    whole = Fraction((((word << 64) | rest) << 64) | 12345, 2**192)
    assert bernoulli(Scripted([word, rest, 12345, 678]), p=p, size=1)[0] == (whole < p)


@pytest.mark.parametrize("p", [Fraction(-1, 2), Fraction(3, 2)])
def test_impossible_probabilities_are_refused(p: Fraction) -> None:
    with pytest.raises(ParameterError, match=r"p must be in \[0, 1\]"):
        bernoulli(Source(seed=1), p=p, size=1)


def test_floats_are_refused_because_they_hide_what_is_meant() -> None:
    with pytest.raises(ParameterError, match="rational"):
        bernoulli(Source(seed=1), p=0.1, size=1)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="gamma"):
        bernoulli_exp(Source(seed=1), gamma=Fraction(-1), size=1)
