"""The integer nearest to a normal number, exactly."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import require
from holdfast.noise.fixed_point import normal_mass_ratio, normal_survival
from holdfast.noise.lazy import Threshold
from holdfast.noise.magnitude import POSITION_ERROR
from holdfast.noise.rational import width
from holdfast.noise.source import Source
from holdfast.noise.symmetric import symmetric


def rounded_gaussian(source: Source, *, sigma: Fraction, size: int) -> NDArray[np.int64]:
    """The integers nearest to independent N(0, sigma^2) numbers, with exactly that law.

    For an integer x, x + round(Z) = round(x + Z): adding this noise to a point of the grid is
    post-processing of the Gaussian mechanism, so it is exactly mu-GDP with mu = sensitivity / sigma.

    >>> rounded_gaussian(Source(seed=1), sigma=Fraction(10), size=5)
    array([ -7,   1, -15,   1, -10])
    """
    require(size >= 0, "size", size, ">= 0")
    return symmetric(source, law=_Rounded(width=width("sigma", sigma)), size=size)


@dataclass(frozen=True, kw_only=True)
class _Rounded:
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
