"""Doubles decide only where they are right: the margins, and the two paths against each other."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

from holdfast.noise import lazy_uniform as magnitude_module
from holdfast.noise.gaussian import _Rounded, discrete_gaussian, rounded_gaussian
from holdfast.noise.laplace import _Laplace, discrete_laplace
from holdfast.noise.lazy_uniform import MAGNITUDE_BITS, TRUSTED_FROM, LazyUniform, Threshold
from holdfast.noise.source import Source

mp = mpmath.MPContext()
mp.prec = 200

WIDTHS = [
    Fraction(1, 3),
    Fraction(1),
    Fraction(22, 7),
    Fraction(16),
    Fraction(10**4, 3),
    Fraction(2**20),
    Fraction(2**40),
    Fraction(2**50),
]
widths = pytest.mark.parametrize("width", WIDTHS, ids=float)


def trusted_words() -> list[int]:
    """Random words over the whole trusted range, its ends, and where Cephes changes formula (exp(-2))."""
    top = 2**MAGNITUDE_BITS
    random = [TRUSTED_FROM + int(w) % (top - TRUSTED_FROM) for w in Source(seed=30).words(150)]
    small = [TRUSTED_FROM + int(w) % (63 * TRUSTED_FROM) for w in Source(seed=31).words(50)]
    edges = [
        TRUSTED_FROM,
        TRUSTED_FROM + 1,
        top - 1,
        top - 2,
        top // 2,
        top // 2 - 1,
        top - 2**10,
        top - 2**12,
    ]
    branch = int(2 * np.exp(-2.0) * top)
    upper_branch = int(2 * (1 - np.exp(-2.0)) * top / 2)
    return [*random, *small, *edges, *(b + d for b in (branch, upper_branch) for d in (-(2**12), 0, 2**12))]


def double(words: list[int]) -> NDArray[np.float64]:
    return (np.array(words, dtype=np.uint64).astype(np.float64) + 0.5) * 2.0**-MAGNITUDE_BITS


@widths
def test_laplace_positions_are_a_sixteenth_of_their_tolerance_from_the_truth(width: Fraction) -> None:
    law = _Laplace(width=width)
    words = trusted_words()
    s = mp.mpf(width.numerator) / width.denominator
    offset = mp.log(2 / (1 + mp.exp(-1 / s)))
    for word, x in zip(words, law.position(double(words)).tolist(), strict=True):
        for end in (word, word + 1):  # both ends of the word's interval
            exact = s * (offset - mp.log(mp.mpf(end) / 2**MAGNITUDE_BITS))
            assert abs(exact - x) <= law.tolerance / 16


@widths
def test_normal_positions_are_a_sixteenth_of_their_tolerance_from_the_truth(width: Fraction) -> None:
    law = _Rounded(width=width)
    words = trusted_words()
    s = mp.mpf(width.numerator) / width.denominator
    for word, x in zip(words, law.position(double(words)).tolist(), strict=True):
        for end in (word, word + 1):
            # Check the claim forwards: erfc is decreasing, so v lies between its values at x -+ tolerance/16.
            v = mp.mpf(end) / 2**MAGNITUDE_BITS
            slack = mp.mpf(law.tolerance) / 16
            near, far = (mp.erfc((mp.mpf(x) - 0.5 + e) / (s * mp.sqrt(2))) for e in (-slack, slack))
            assert far <= v <= near


def all_laws(seed: int, width: Fraction, size: int) -> list[list[int]]:
    draws = [
        discrete_laplace(Source(seed=seed), scale=width, size=size),
        rounded_gaussian(Source(seed=seed), sigma=width, size=size),
        discrete_gaussian(Source(seed=seed), sigma=width, size=size),
    ]
    return [d.tolist() for d in draws]


@pytest.mark.parametrize("width", WIDTHS, ids=float)
def test_exact_arithmetic_alone_gives_the_same_integers(
    width: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    fast = all_laws(32, width, 1500)
    monkeypatch.setattr(magnitude_module, "TRUSTED_FROM", 2**63)
    monkeypatch.setattr("holdfast.noise.bernoulli.COIN_ERROR", 2.0**20)
    assert all_laws(32, width, 1500) == fast


def test_the_guess_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    # Even with positions that are plain wrong, the exact path finds the right integers.
    fast = all_laws(33, Fraction(7), 300)
    monkeypatch.setattr(magnitude_module, "TRUSTED_FROM", 2**63)
    for law in (_Laplace, _Rounded):
        right = law.position
        monkeypatch.setattr(law, "position", lambda self, v, right=right: 3 * right(self, v) + 5)
    assert all_laws(33, Fraction(7), 300) == fast


class Constant(Source):
    """The same word first, then honest bits."""

    def __init__(self, word: int) -> None:
        super().__init__(seed=34)
        self._first: int | None = word

    def words(self, count: int) -> NDArray[np.uint64]:
        if self._first is None:
            return super().words(count)
        first, self._first = self._first, None
        return np.array([first], dtype=np.uint64)


def test_the_far_tail_is_reached_by_drawing_more_bits() -> None:
    # The word 0 says V < 2^-63: a magnitude above 43.67 scales or 9.1 sigma, found with further bits.
    far = discrete_laplace(Constant(0), scale=Fraction(1000), size=1)[0]
    assert 43_668 <= far < 80_000
    far = rounded_gaussian(Constant(0), sigma=Fraction(1000), size=1)[0]
    assert 9_100 <= far < 14_000
    assert rounded_gaussian(Constant(2**64 - 1), sigma=Fraction(1000), size=1)[0] == 0
    assert discrete_laplace(Constant(1), scale=Fraction(1000), size=1)[0] <= -43_668


def test_doubtful_draws_are_rare() -> None:
    asked: list[LazyUniform] = []

    class Counting(LazyUniform):
        def below(self, threshold: Threshold) -> bool:
            asked.append(self)
            return super().below(threshold)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(magnitude_module, "LazyUniform", Counting)
        rounded_gaussian(Source(seed=35), sigma=Fraction(2**20), size=200_000)
    assert 0 < len(set(asked)) < 80
