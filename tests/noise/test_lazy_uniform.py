from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from holdfast.noise.lazy_uniform import LazyUniform, Threshold, last_integer
from holdfast.noise.source import Source

words = st.integers(0, 2**64 - 1)


def rational(p: Fraction) -> Threshold:
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
    assert uniform.below(rational(p)) == (whole < p)


@given(middle=words, off=st.integers(-2, 2))
def test_close_calls_draw_more_bits_and_stay_right(middle: int, off: int) -> None:
    # The threshold agrees with the first word: only the second can tell.
    t = Fraction((middle << 64) + 2**63, 2**128)
    second = 2**63 + off * 2**40
    uniform = LazyUniform(Scripted([second, 0, 1]), numerator=middle, bits=64)
    assume(off != 0)
    assert uniform.below(rational(t)) == (off < 0)


@given(start=words, one=st.fractions(0, 1), two=st.fractions(0, 1))
def test_answers_to_two_questions_agree(start: int, one: Fraction, two: Fraction) -> None:
    uniform = LazyUniform(Source(seed=start), numerator=start, bits=64)
    low, high = sorted((one, two))
    assume(0 < low)
    below_low, below_high = (uniform.below(rational(t)) for t in (low, high))
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
        outcomes = [LazyUniform(Source(seed=k), numerator=k, bits=10).below(rational(p)) for k in range(1024)]
        assert sum(outcomes) == numerator * 64


@given(boundary=st.integers(-(10**9), 10**9), guess=st.integers(-(10**9), 10**9))
def test_the_search_finds_the_boundary_from_anywhere(boundary: int, guess: int) -> None:
    asked: list[int] = []

    def holds(m: int) -> bool:
        asked.append(m)
        return m <= boundary

    assert last_integer(holds, guess=guess) == boundary
    assert len(asked) <= 2 * abs(boundary - guess).bit_length() + 3
