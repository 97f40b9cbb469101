"""Exact coins.

Many coins with different exact probabilities, most of them decided by 16 random bits.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import require
from holdfast.noise.fixed_point import exp_minus, rational
from holdfast.noise.lazy_uniform import CHUNK, WORD, LazyUniform, Threshold
from holdfast.noise.source import Source

COIN_BITS = 16
COIN_ERROR = 2.0**-10
"""Slack, in units of 2^-16, between a coin and its bound: 2^-26, against rounding errors near 2^-52."""


def bernoulli_many(
    source: Source,
    *,
    least: NDArray[np.float64],
    most: NDArray[np.float64],
    exact: Callable[[int], Threshold],
) -> NDArray[np.bool_]:
    """Coin i is true with probability exactly `exact(i)`, a number between `least[i]` and `most[i]`.

    The bounds are doubles and may be off by their rounding; the sharper they are, the fewer coins
    need the exact probability.
    """
    numerators = np.frombuffer(source.bytes(COIN_BITS // 8 * len(least)), dtype="<u2").astype(np.int64)
    heads: NDArray[np.bool_] = numerators + 1 <= least * 2**COIN_BITS - COIN_ERROR
    doubtful = ~heads & (numerators < most * 2**COIN_BITS + COIN_ERROR)
    for index in np.flatnonzero(doubtful).tolist():
        coin = LazyUniform(source, numerator=int(numerators[index]), bits=COIN_BITS)
        heads[index] = coin.below(exact(index))
    return heads


def bernoulli(source: Source, *, p: Fraction, size: int) -> NDArray[np.bool_]:
    """Coins that are true with probability exactly p, a rational number in [0, 1].

    >>> bernoulli(Source(seed=1), p=Fraction(1, 3), size=6).tolist()
    [False, False, True, False, True, False]
    """
    require(size >= 0, "size", size, ">= 0")
    p = rational("p", p, least=Fraction(0), most=Fraction(1), range_text="in [0, 1]")
    if p in (0, 1):
        return np.full(size, p == 1)
    return _coins(source, threshold=lambda bits: (p.numerator << bits) // p.denominator, size=size)


def bernoulli_exp(source: Source, *, gamma: Fraction, size: int) -> NDArray[np.bool_]:
    """Coins that are true with probability exactly exp(-gamma), for a rational gamma >= 0.

    >>> bernoulli_exp(Source(seed=1), gamma=Fraction(1), size=6).tolist()
    [False, False, True, False, True, False]
    """
    require(size >= 0, "size", size, ">= 0")
    gamma = rational("gamma", gamma, least=Fraction(0), most=Fraction(2**64), range_text="in [0, 2^64]")
    if gamma == 0:
        return np.ones(size, dtype=bool)
    return _coins(source, threshold=partial(exp_minus, gamma), size=size)


def _coins(source: Source, *, threshold: Threshold, size: int) -> NDArray[np.bool_]:
    # Integers all the way: a word k stands for [k, k+1) / 2^64, the threshold is known to within 1.
    approximate = threshold(WORD)
    heads = np.empty(size, dtype=bool)
    for start in range(0, size, CHUNK):
        words = source.words(min(CHUNK, size - start))
        chunk = _at_most(words, approximate - 2)
        for index in np.flatnonzero(_at_most(words, approximate) & ~chunk).tolist():
            chunk[index] = LazyUniform(source, numerator=int(words[index]), bits=WORD).below(threshold)
        heads[start : start + len(words)] = chunk
    return heads


def _at_most(words: NDArray[np.uint64], bound: int) -> NDArray[np.bool_]:
    if bound < 0:
        return np.zeros(len(words), dtype=bool)
    return words <= np.uint64(min(bound, 2**WORD - 1))
