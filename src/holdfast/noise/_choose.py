"""Exact random choice among candidates by their scores: the exponential mechanism, and permute-and-flip.

Scores are integers on a public grid and `factor` is a rational number, so that the weight of candidate i,
exp(factor * score_i), is a well-defined real number. Only differences to the best score are used: unsigned integers
where the scores have 64 bits, Python integers where they are longer. So nothing overflows, and no score, however large,
raises an error that would reveal it.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast._arguments import checked
from holdfast._ranges import MOST_DRAWS, require_whole
from holdfast.errors import require, require_rational
from holdfast.noise._bernoulli import LazyUniform, last_integer
from holdfast.noise._fixed_point import exp_minus
from holdfast.noise._source import CHUNK, WORD, Source
from holdfast.noise._uniform import permutation

WEIGHT_ERROR = 2.0**-46
"""Bound on the relative error of exp(-x) in doubles, per unit of 1 + x: 64 units in the last place."""
SUM_ERROR = 2.0**-51
"""Bound on the error of a running sum, per term: four times the theorem for recursive summation."""


@checked
def choose_by_score(source: Source, *, scores: NDArray[Any], factor: Fraction) -> int:
    """An index, drawn with probability exactly proportional to exp(factor * score).

    This is the exponential mechanism: for scores of sensitivity D (in grid steps) it is epsilon-DP,
    and of bounded range epsilon, with epsilon = 2 * D * factor.

    >>> choose_by_score(Source(seed=1), scores=np.array([0, 5, 20]), factor=Fraction(1, 2))
    2
    """
    return int(choose_many(source, scores=scores, factor=factor, size=1)[0])


@checked
def choose_many(source: Source, *, scores: NDArray[Any], factor: Fraction, size: int) -> NDArray[np.int64]:
    """Independent indices, each as from `choose_by_score`.

    >>> choose_many(Source(seed=1), scores=np.array([0, 1, 2]), factor=Fraction(1), size=6)
    array([2, 2, 1, 2, 1, 2])
    """
    require_whole("size", size, most=MOST_DRAWS)
    gaps, factor = _gaps(scores, factor)
    exponents = _exponents(gaps, factor)
    weights = np.exp(-exponents)
    cumulative = np.cumsum(weights)
    total = cumulative[-1]
    # |cumulative - exact| for every entry; weights that underflow are off by less than 1e-300.
    slack = float(np.dot(weights, 1 + exponents)) * WEIGHT_ERROR + len(gaps) * (total * SUM_ERROR + 1e-300)
    shares = _CumulativeShares(gaps, factor)
    chosen = np.empty(size, dtype=np.int64)
    for start in range(0, size, CHUNK):
        words = source.words(min(CHUNK, size - start))
        target = (words + 0.5) * 2.0**-WORD * total
        # The target has errors of its own: the slack of the total, the width of the word's interval, and rounding.
        tolerance = 2 * slack + total * 2.0**-50
        low = np.searchsorted(cumulative, target - tolerance, side="right")
        high = np.searchsorted(cumulative, target + tolerance, side="right")
        for index in np.flatnonzero(low != high).tolist():
            uniform = LazyUniform(source, numerator=int(words[index]), bits=WORD)
            low[index] = last_integer(partial(shares.reaches, uniform), guess=int(low[index]))
        chosen[start : start + len(words)] = low
    return chosen


@checked
def permute_and_flip(source: Source, *, scores: NDArray[Any], factor: Fraction) -> int:
    """Visit the candidates in random order; take one with probability exp(factor * (score - best)).

    McKenna and Sheldon 2020, Algorithm 1, without rounding anywhere. The same pure privacy as
    `choose_by_score`, never a worse expected score; it is not of bounded range.

    >>> permute_and_flip(Source(seed=1), scores=np.array([0, 5, 20]), factor=Fraction(1, 2))
    2
    """
    gaps, factor = _gaps(scores, factor)
    gaps = gaps[order := permutation(source, len(gaps))]
    words = source.words(len(gaps))
    uniform = (words + 0.5) * 2.0**-WORD
    probability = np.exp(-_exponents(gaps, factor))
    # (1 + x) exp(-x) <= 1, so that the error is at most WEIGHT_ERROR for every gap.
    certain = (gaps == 0) | (uniform < probability - WEIGHT_ERROR)
    doubtful = ~certain & (uniform < probability + WEIGHT_ERROR)
    first = int(np.argmax(certain))  # it exists, since a candidate with the best score is always taken
    for index in np.flatnonzero(doubtful[:first]).tolist():
        coin = LazyUniform(source, numerator=int(words[index]), bits=WORD)
        if coin.below(partial(exp_minus, int(gaps[index]) * factor)):
            return int(order[index])
    return int(order[first])


def score_factor(factor: Fraction) -> Fraction:
    """The factor, checked to be rational and within [-2^64, 2^64]."""
    return require_rational(
        "factor", factor, least=Fraction(-(2**64)), most=Fraction(2**64), range_text="in [-2^64, 2^64]"
    )


def _gaps(scores: NDArray[Any], factor: Fraction) -> tuple[NDArray[Any], Fraction]:
    """By how much each candidate's score misses the best one, and the absolute value of the factor."""
    scores = np.asarray(scores)
    require(scores.ndim == 1 and len(scores) > 0, "scores.shape", scores.shape, "(candidates,), at least one")
    beyond_64_bits = scores.dtype == object
    whole = (
        all(type(score) is int for score in scores)
        if beyond_64_bits
        else np.issubdtype(scores.dtype, np.integer)
    )
    require(bool(whole), "scores.dtype", scores.dtype, "of whole numbers")
    factor = score_factor(factor)
    best = scores.max() if factor >= 0 else scores.min()
    if beyond_64_bits:
        return (best - scores if factor >= 0 else scores - best), abs(factor)
    unsigned = scores.astype(np.uint64)  # modulo 2^64: differences of these are exact
    gaps = best.astype(np.uint64) - unsigned if factor >= 0 else unsigned - best.astype(np.uint64)
    return gaps, abs(factor)


def _exponents(gaps: NDArray[Any], factor: Fraction) -> NDArray[np.float64]:
    """gap * factor in doubles; where it is above 2^20 any number above will do, since the weight is 0 in doubles."""
    if gaps.dtype != object:
        return np.asarray(gaps * float(factor))
    return np.array([float(min(gap * factor, Fraction(2**20))) for gap in gaps])


class _CumulativeShares:
    """The exact cumulative shares of the candidates, computed only when a draw is in doubt."""

    def __init__(self, gaps: NDArray[Any], factor: Fraction) -> None:
        self._gaps = gaps
        self._factor = factor
        self._by_precision: dict[int, list[int]] = {}

    def reaches(self, uniform: LazyUniform, index: int) -> bool:
        """Whether the uniform number is at least the share of all candidates before this index."""
        return index <= 0 or (index < len(self._gaps) and not uniform.below(partial(self._share, index - 1)))

    def _share(self, index: int, bits: int) -> int:
        sums = self._sums(bits)
        return ((sums[index] << (bits + 1)) + sums[-1]) // (2 * sums[-1])  # to the nearest

    def _sums(self, bits: int) -> list[int]:
        if bits not in self._by_precision:
            # Each weight is within 1 of exact and the total at least 2^precision, so a share is
            # within 2 n / 2^precision of exact: the extra bits make that less than 2^-(bits + 7).
            precision = bits + len(self._gaps).bit_length() + 8
            gaps = self._gaps.tolist()
            weights = {gap: exp_minus(gap * self._factor, precision) for gap in set(gaps)}
            self._by_precision[bits] = list(accumulate(weights[gap] for gap in gaps))
        return self._by_precision[bits]
