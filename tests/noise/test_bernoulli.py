"""Exact coins: lazy uniforms, coins with one probability, and many coins with their own."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from holdfast.errors import ParameterError
from holdfast.noise._bernoulli import (
    COIN_BITS,
    LazyUniform,
    Threshold,
    bernoulli,
    bernoulli_exp,
    bernoulli_many,
    last_integer,
)
from holdfast.noise._source import Source

words = st.integers(0, 2**64 - 1)


def constant(p: Fraction) -> Threshold:
    return lambda bits: (p.numerator << bits) // p.denominator


class Scripted(Source):
    """A source that says what it is told, and fails when asked for more."""

    def __init__(self, script: list[int]) -> None:
        super().__init__(seed=0)
        self.left: Iterator[int] = iter(script)

    def words(self, count: int) -> NDArray[np.uint64]:
        return np.array([next(self.left) for _ in range(count)], dtype=np.uint64)


@given(start=words, more=st.lists(words, min_size=4, max_size=4), p=st.fractions(0, 1))
def test_the_answer_is_that_of_the_whole_number(start: int, more: list[int], p: Fraction) -> None:
    uniform = LazyUniform(Scripted(more), numerator=start, bits=64)
    whole = Fraction(sum(w << (64 * (4 - i)) for i, w in enumerate([start, *more])), 2**320)
    assume(abs(whole - p) > Fraction(2, 2**320))  # closer than that, even more bits would be asked for
    assert uniform.below(constant(p)) == (whole < p)


@given(middle=words, off=st.integers(-2, 2))
def test_close_calls_draw_more_bits_and_stay_right(middle: int, off: int) -> None:
    # The threshold agrees with the first word: only the second can tell.
    t = Fraction((middle << 64) + 2**63, 2**128)
    second = 2**63 + off * 2**40
    uniform = LazyUniform(Scripted([second, 0, 1]), numerator=middle, bits=64)
    assume(off != 0)
    assert uniform.below(constant(t)) == (off < 0)


@given(start=words, one=st.fractions(0, 1), two=st.fractions(0, 1))
def test_answers_to_two_questions_agree(start: int, one: Fraction, two: Fraction) -> None:
    uniform = LazyUniform(Source(seed=start), numerator=start, bits=64)
    low, high = sorted((one, two))
    assume(0 < low)
    below_low, below_high = (uniform.below(constant(t)) for t in (low, high))
    assert below_high or not below_low


def test_an_approximation_may_be_off_by_one_and_the_answer_may_not() -> None:
    for error in (-1, 0, 1):

        def half(bits: int, error: int = error) -> int:
            return (1 << (bits - 1)) + error

        for start in (6, 7, 8, 9):
            # The bits that follow keep the number well away from one half.
            follow = 2**63
            assert LazyUniform(Scripted([follow]), numerator=start, bits=4).below(half) == (start < 8)


def test_shares_are_exact_when_all_words_are_tried() -> None:
    for numerator in range(1, 16):
        p = Fraction(numerator, 16)
        outcomes = [LazyUniform(Source(seed=k), numerator=k, bits=10).below(constant(p)) for k in range(1024)]
        assert sum(outcomes) == numerator * 64


@given(boundary=st.integers(-(10**9), 10**9), guess=st.integers(-(10**9), 10**9))
def test_the_search_finds_the_boundary_from_anywhere(boundary: int, guess: int) -> None:
    asked: list[int] = []

    def holds(m: int) -> bool:
        asked.append(m)
        return m <= boundary

    assert last_integer(holds, guess=guess) == boundary
    assert len(asked) <= 2 * abs(boundary - guess).bit_length() + 3


# Coins with one probability.


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


# Many coins, each between its bounds.

P = Fraction(70_001, 100_003)


def exact(_: int) -> Threshold:
    return lambda bits: (P.numerator << bits) // P.denominator


@pytest.mark.parametrize("spread", [0.0, 1e-3, 0.2, 5.0])
def test_bounds_change_the_work_and_never_the_outcome(spread: float) -> None:
    size = 20_000
    least, most = np.full(size, float(P) - spread), np.full(size, float(P) + spread)
    heads = bernoulli_many(Source(seed=90), least=least, most=most, exact=exact)
    sharp = bernoulli_many(
        Source(seed=90), least=np.full(size, float(P)), most=np.full(size, float(P)), exact=exact
    )
    assert np.array_equal(heads, sharp)
    assert stats.binomtest(int(heads.sum()), size, float(P)).pvalue > 1e-3


def test_a_coin_between_its_bounds_is_decided_by_more_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    # One bit of 16 apart from the threshold on either side needs none; the unit that holds it does.
    asked: list[int] = []

    def counting(index: int) -> Threshold:
        asked.append(index)
        return exact(index)

    size = 2**17
    bound = np.full(size, float(P))
    heads = bernoulli_many(Source(seed=91), least=bound, most=bound, exact=counting)
    numerators = np.frombuffer(Source(seed=91).bytes(2 * size), dtype="<u2")
    unit = int(P * 2**16)
    assert asked == np.flatnonzero(numerators == unit).tolist()
    assert heads[numerators < unit].all()
    assert not heads[numerators > unit].any()


def test_certain_coins() -> None:
    ones = np.ones(200_000)
    assert bernoulli_many(
        Source(seed=92), least=ones, most=ones, exact=lambda _: lambda bits: 1 << bits
    ).all()
    assert not bernoulli_many(
        Source(seed=92), least=0 * ones, most=0 * ones, exact=lambda _: lambda bits: 0
    ).any()
    assert COIN_BITS == 16
