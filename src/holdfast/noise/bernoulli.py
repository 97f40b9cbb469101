"""Exact coins."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import require
from holdfast.noise.fixed_point import exp_minus
from holdfast.noise.lazy import WORD, LazyUniform, Threshold
from holdfast.noise.magnitude import CHUNK
from holdfast.noise.rational import rational
from holdfast.noise.source import Source


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
