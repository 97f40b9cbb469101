"""Exact Bernoulli draws ("coins"): true with exactly the probability that is asked for, without rounding.

A coin of probability t is decided by a uniform number of which only as many bits are drawn as the decision needs. With
b bits drawn and numerator k, the number lies in the interval [k, k+1) / 2^b. Whether it is below t is known as soon as
the interval lies on one side of t; until then, the next 64 bits of the same number are drawn. So the answer is that
of a real uniform number and has exactly probability t, although only integers are computed with. (Von Neumann's idea;
Karney 2016, "Sampling exactly from the normal distribution", uses it bit by bit.) Probabilities and all other
parameters of noise are rational numbers, so that an exact law is well defined.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import require, require_rational
from holdfast.noise._fixed_point import exp_minus
from holdfast.noise._source import CHUNK, WORD, Source

Threshold = Callable[[int], int]
"""A real number t in [0, 1] at any precision: `t(bits)` is an integer within 1 of t * 2^bits."""
COIN_BITS = 16
COIN_ERROR = 2.0**-10
"""How far, in units of 2^-16, a number must lie from a bound to be decided by it. In units of 1 this is 2^-26, far more
than the rounding errors of the bounds, which are near 2^-52."""


class LazyUniform:
    """A uniform number in [0, 1) whose bits are drawn when a comparison needs them.

    >>> LazyUniform(Source(seed=1), numerator=0b01, bits=2).below(lambda bits: 3 << (bits - 2))
    True
    """

    def __init__(self, source: Source, *, numerator: int, bits: int) -> None:
        self._source = source
        self._numerator = numerator
        self._bits = bits

    def below(self, threshold: Threshold) -> bool:
        """Whether the number is less than the threshold; later questions agree with this answer."""
        while True:
            # |approximate - t 2^bits| <= 1, and the number times 2^bits lies in [numerator, numerator + 1).
            approximate = threshold(self._bits)
            if self._numerator + 1 <= approximate - 1:
                return True
            if self._numerator >= approximate + 1:
                return False
            self._extend()

    def _extend(self) -> None:
        self._numerator = (self._numerator << WORD) | int(self._source.words(1)[0])
        self._bits += WORD


def last_integer(holds: Callable[[int], bool], *, guess: int) -> int:
    """The largest integer at which a condition holds, where it is true up to some integer and false beyond.

    The search starts at `guess` and doubles its steps until the condition has both held and failed, then bisects. A
    good guess saves evaluations and cannot change the result.

    >>> last_integer(lambda m: m * m <= 200, guess=3)
    14
    """
    step = 1
    if holds(guess):
        low, high = guess, guess + 1
        while holds(high):
            step *= 2
            low, high = high, high + step
    else:
        low, high = guess - 1, guess
        while not holds(low):
            step *= 2
            low, high = low - step, low
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def bernoulli_many(
    source: Source,
    *,
    least: NDArray[np.float64],
    most: NDArray[np.float64],
    exact: Callable[[int], Threshold],
) -> NDArray[np.bool_]:
    """Coin i is true with probability exactly `exact(i)`, a number between `least[i]` and `most[i]`.

    The bounds are doubles, which may be rounded. The closer they are to each other, the fewer coins need the exact
    probability.
    """
    numerators = np.frombuffer(source.bytes(COIN_BITS // 8 * len(least)), dtype="<u2").astype(np.int64)
    heads: NDArray[np.bool_] = numerators + 1 <= least * 2**COIN_BITS - COIN_ERROR
    doubtful = ~heads & (numerators < most * 2**COIN_BITS + COIN_ERROR)
    for index in np.flatnonzero(doubtful).tolist():
        coin = LazyUniform(source, numerator=int(numerators[index]), bits=COIN_BITS)
        heads[index] = coin.below(exact(index))
    return heads


def bernoulli(
    source: Source, *, p: Fraction, size: int, records: NDArray[np.int64] | None = None
) -> NDArray[np.bool_]:
    """Coins that are true with probability exactly p, a rational number in [0, 1].

    With `records`, each coin is drawn from the random words of the record that it is for (`Source.words_of`).

    >>> bernoulli(Source(seed=1), p=Fraction(1, 3), size=6).tolist()
    [False, False, True, False, True, False]
    """
    require(size >= 0, "size", size, ">= 0")
    p = require_rational("p", p, least=Fraction(0), most=Fraction(1), range_text="in [0, 1]")
    if p in (0, 1):
        return np.full(size, p == 1)
    return _coins(
        source, threshold=lambda bits: (p.numerator << bits) // p.denominator, size=size, records=records
    )


def bernoulli_exp(source: Source, *, gamma: Fraction, size: int) -> NDArray[np.bool_]:
    """Coins that are true with probability exactly exp(-gamma), for a rational gamma >= 0.

    >>> bernoulli_exp(Source(seed=1), gamma=Fraction(1), size=6).tolist()
    [False, False, True, False, True, False]
    """
    require(size >= 0, "size", size, ">= 0")
    gamma = require_rational(
        "gamma", gamma, least=Fraction(0), most=Fraction(2**64), range_text="in [0, 2^64]"
    )
    if gamma == 0:
        return np.ones(size, dtype=bool)
    return _coins(source, threshold=partial(exp_minus, gamma), size=size)


def _coins(
    source: Source, *, threshold: Threshold, size: int, records: NDArray[np.int64] | None = None
) -> NDArray[np.bool_]:
    # In integers: the word k stands for the interval [k, k+1) / 2^64, and the threshold is known to within 1.
    approximate = threshold(WORD)
    heads = np.empty(size, dtype=bool)
    for start in range(0, size, CHUNK):
        stop = min(size, start + CHUNK)
        words = source.words(stop - start) if records is None else source.words_of(records[start:stop])
        chunk = _words_at_most(words, approximate - 2)
        for index in np.flatnonzero(_words_at_most(words, approximate) & ~chunk).tolist():
            chunk[index] = LazyUniform(source, numerator=int(words[index]), bits=WORD).below(threshold)
        heads[start : start + len(words)] = chunk
    return heads


def _words_at_most(words: NDArray[np.uint64], bound: int) -> NDArray[np.bool_]:
    if bound < 0:
        return np.zeros(len(words), dtype=bool)
    return words <= np.uint64(min(bound, 2**WORD - 1))
