"""Exact Gaussian noise on the integers: the nearest integer to a normal number, and the discrete Gaussian.

The discrete Gaussian is drawn by rejection from the rounded normal. With f(k) = exp(-k^2 / (2 sigma^2)),
the rounded normal has P[k] = h(k) f(k) where, up to a constant,
h(k) = integral over |t| < 1/2 of exp(-t^2 / (2 sigma^2)) cosh(k t / sigma^2). This h is even and grows
with |k|, so a proposal accepted with probability h(0) / h(k) has the law f(k) / sum f, exactly. The
rounded normal is so close (soundness: total variation 0.02 / sigma^2) that the worst acceptance over
all sigma is 0.856 (near sigma = 0.425), 0.96 at sigma = 1, and 1 - 1 / (24 sigma^2) for large sigma.
Canonne, Kamath and Steinke 2020 reject from the discrete Laplace instead: simpler in rational
arithmetic, about 1.3 proposals and twice the bits each.

The acceptance is decided by lazy coins of 16 bits (`bernoulli_many`) against bounds in doubles:
h(k) / h(0) is a mean of cosh(k t / sigma^2) over |t| < 1/2, hence at most cosh(k / (2 sigma^2)), and
1 / cosh(x) >= 1 - x^2 / 2 gives 1 - k^2 / (8 sigma^4) <= h(0) / h(k) <= 1. For small sigma, where that
is not sharp, a table of h(0) / h(k) itself is used.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from holdfast._arguments import checked
from holdfast._ranges import MOST_DRAWS, require_whole
from holdfast.noise._bernoulli import Threshold, bernoulli_many
from holdfast.noise._fixed_point import midpoint_ratio, normal_mass_ratio, normal_survival
from holdfast.noise._source import CHUNK, Source
from holdfast.noise._symmetric import POSITION_ERROR, checked_width, draw_symmetric

TABULATED_BELOW_SIGMA = 16
"""Below this sigma, acceptance probabilities are read from a table."""


@checked
def rounded_gaussian(source: Source, *, sigma: Fraction, size: int) -> NDArray[np.int64]:
    """The integers nearest to independent N(0, sigma^2) numbers, with exactly that law.

    For an integer x, x + round(Z) = round(x + Z): adding this noise to a point of the grid is
    post-processing of the Gaussian mechanism, so it is exactly mu-GDP with mu = sensitivity / sigma.

    >>> rounded_gaussian(Source(seed=1), sigma=Fraction(10), size=5)
    array([ -7,   1, -15,   1, -10])
    """
    require_whole("size", size, most=MOST_DRAWS)
    return draw_symmetric(source, law=_RoundedNormalLaw(width=checked_width("sigma", sigma)), size=size)


@dataclass(frozen=True, kw_only=True)
class _RoundedNormalLaw:
    """With width sigma: |round(sigma Z)| >= m if and only if |Z| >= (m - 1/2) / sigma."""

    width: Fraction

    @property
    def tolerance(self) -> float:
        return float(self.width) * POSITION_ERROR

    def position(self, uniform: NDArray[np.float64]) -> NDArray[np.float64]:
        from scipy.special import ndtri

        # Cephes gives ndtri with relative error below 1e-15 on (0, 1/2].
        return 0.5 - float(self.width) * ndtri(uniform / 2)

    def survival(self, magnitude: int) -> Threshold:
        square = Fraction(2 * magnitude - 1, 2) ** 2 / self.width**2
        return partial(normal_survival, square)

    def loss(self, k: NDArray[np.int64], nearest: NDArray[np.int64]) -> NDArray[np.float64]:
        # The mass at k is at least f(k + 1/2), that at nearest at most f(nearest - 1/2) (or f(0)), so the
        # ratio is at least exp(-x), x = (k - nearest + 1) (k + nearest + 1) / (2 sigma^2) or less.
        sigma = float(self.width)
        return ((k - nearest + 1) / sigma) * ((k + nearest + 1) / sigma) / 2

    def ratio(self, k: int, nearest: int) -> Threshold:
        return partial(normal_mass_ratio, k, nearest, self.width)


@checked
def discrete_gaussian(source: Source, *, sigma: Fraction, size: int) -> NDArray[np.int64]:
    """Integers k with probability exactly proportional to exp(-k^2 / (2 sigma^2)).

    Added to integers that a neighbour moves by at most D in the Euclidean norm, it is exactly
    D^2 / (2 sigma^2)-zCDP (Canonne, Kamath and Steinke 2020, Theorem 4). It is not mu-GDP: for that,
    use `rounded_gaussian`.

    >>> discrete_gaussian(Source(seed=1), sigma=Fraction(10), size=5)
    array([ -7,   1, -15,   1, -10])
    """
    require_whole("size", size, most=MOST_DRAWS)
    sigma = checked_width("sigma", sigma)
    draws = np.empty(size, dtype=np.int64)
    filled = 0
    while filled < size:
        proposals = rounded_gaussian(source, sigma=sigma, size=min(CHUNK, size - filled))
        accepted = proposals[_accepts(source, sigma, np.abs(proposals))]
        draws[filled : filled + len(accepted)] = accepted
        filled += len(accepted)
    return draws


def _accepts(source: Source, sigma: Fraction, magnitudes: NDArray[np.int64]) -> NDArray[np.bool_]:
    """One coin per proposal, heads with probability exactly h(0) / h(k)."""
    least, most = _acceptance_bounds(sigma, magnitudes)
    return bernoulli_many(
        source,
        least=least,
        most=most,
        exact=lambda index: partial(midpoint_ratio, int(magnitudes[index]), sigma),
    )


def _acceptance_bounds(
    sigma: Fraction, magnitudes: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Doubles below and above h(0) / h(k), up to rounding."""
    if sigma >= TABULATED_BELOW_SIGMA:
        loss = np.square(magnitudes / float(sigma) ** 2) / 8
        return 1 - loss, np.ones(len(magnitudes))
    ratios = _ratios(sigma)
    within = np.minimum(magnitudes, len(ratios) - 1)
    outside = magnitudes >= len(ratios)
    return np.where(outside, 0.0, ratios[within]), np.where(outside, 1.0, ratios[within])


@lru_cache(maxsize=64)
def _ratios(sigma: Fraction) -> NDArray[np.float64]:
    """h(0) / h(k) to double precision for k up to about ten sigma."""
    ratios = [midpoint_ratio(k, sigma, 64) / 2**64 for k in range(int(10 * sigma) + 2)]
    table = np.array(ratios)
    table.flags.writeable = False
    return table
