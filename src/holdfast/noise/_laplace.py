"""Exact Laplace noise on the integers: the discrete Laplace law, and Laplace numbers truncated towards zero."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from holdfast._arguments import checked
from holdfast._ranges import MOST_DRAWS, require_whole
from holdfast.noise._bernoulli import Threshold
from holdfast.noise._fixed_point import exp_minus, laplace_survival
from holdfast.noise._source import Source
from holdfast.noise._symmetric import POSITION_ERROR, checked_width, draw_symmetric


@checked
def discrete_laplace(source: Source, *, scale: Fraction, size: int) -> NDArray[np.int64]:
    """Integers k with probability exactly proportional to exp(-|k| / scale).

    Added to an integer that a neighbour moves by at most D, it is (D / scale)-DP with no slack
    (Ghosh, Roughgarden and Sundararajan 2009, the geometric mechanism).

    >>> discrete_laplace(Source(seed=1), scale=Fraction(10), size=5)
    array([ -7,   0, -19,   1, -12])
    """
    require_whole("size", size, most=MOST_DRAWS)
    return draw_symmetric(source, law=_DiscreteLaplaceLaw(width=checked_width("scale", scale)), size=size)


@dataclass(frozen=True, kw_only=True)
class _DiscreteLaplaceLaw:
    """S(m) = 2 q^m / (1 + q) with q = exp(-1/width), so m < width (log(2 / (1 + q)) - log V)."""

    width: Fraction

    @property
    def tolerance(self) -> float:
        return float(self.width) * POSITION_ERROR

    def position(self, uniform: NDArray[np.float64]) -> NDArray[np.float64]:
        # log(2 / (1 + q)), in [0, log 2], without cancellation for large scales where q is near 1.
        offset = -math.log1p(math.expm1(-1 / float(self.width)) / 2)
        return float(self.width) * (offset - np.log(uniform))

    def survival(self, magnitude: int) -> Threshold:
        return partial(laplace_survival, magnitude, self.width)

    def loss(self, k: NDArray[np.int64], nearest: NDArray[np.int64]) -> NDArray[np.float64]:
        # 1 - exp(-x) <= x
        return (k - nearest) / float(self.width)

    def ratio(self, k: int, nearest: int) -> Threshold:
        return partial(exp_minus, (k - nearest) / self.width)


@checked
def truncated_laplace(source: Source, *, scale: Fraction, size: int) -> NDArray[np.int64]:
    """The integer parts of independent Laplace numbers of this scale, with exactly that law.

    Every draw is less than 1 away from a real Laplace number, unlike a draw of the discrete Laplace law: for noise that
    enters a computation whose proof is about a density. It is not for adding to integers.

    >>> truncated_laplace(Source(seed=1), scale=Fraction(10), size=5)
    array([ -6,   0, -19,   0, -11])
    """
    require_whole("size", size, most=MOST_DRAWS)
    return draw_symmetric(source, law=_TruncatedLaplaceLaw(width=checked_width("scale", scale)), size=size)


@dataclass(frozen=True, kw_only=True)
class _TruncatedLaplaceLaw:
    """floor(|X|) >= m if and only if |X| >= m, which has probability exp(-m / width).

    With q = exp(-1/width), P[0] = 1 - q and P[k] = (1 - q) q^|k| / 2 elsewhere: symmetric and decreasing in |k|.
    """

    width: Fraction

    @property
    def tolerance(self) -> float:
        return float(self.width) * POSITION_ERROR

    def position(self, uniform: NDArray[np.float64]) -> NDArray[np.float64]:
        return -float(self.width) * np.log(uniform)

    def survival(self, magnitude: int) -> Threshold:
        return partial(exp_minus, magnitude / self.width)

    def loss(self, k: NDArray[np.int64], nearest: NDArray[np.int64]) -> NDArray[np.float64]:
        # 1 - exp(-x) <= x, and beside 0, which has both signs, 1 - exp(-x) / 2 <= (1 + x) / 2.
        x = (k - nearest) / float(self.width)
        return np.where((nearest == 0) & (k > 0), (1 + x) / 2, x)

    def ratio(self, k: int, nearest: int) -> Threshold:
        gap = (k - nearest) / self.width
        if nearest == 0 < k:
            return lambda bits: exp_minus(gap, bits - 1)  # exp(-gap) / 2 to within 1
        return partial(exp_minus, gap)
