"""Quantiles of sums of independent noise: what intervals are inverted from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from holdfast._arrays import Floats
from holdfast.privacy._mechanisms.laplace import DiscreteLaplace
from holdfast.statistics._shares import CountNoise

Family = Literal["laplace", "gaussian"]
_FEW_TERMS = 4
"""Up to so many terms the tail is a sum of exponentials; beyond, its terms would cancel."""
_APART = 2e-3
"""Scales of Laplace noise are moved apart by that, upwards: then their sum has a closed law, a little wider."""


@dataclass(frozen=True)
class NoiseLaw:
    """Independent noise of one family and scale on whole numbers."""

    family: Family
    scale: float

    @classmethod
    def of(cls, mechanism: CountNoise) -> NoiseLaw:
        """The law of a mechanism's noise in each number."""
        if isinstance(mechanism, DiscreteLaplace):
            return cls("laplace", float(mechanism.scale))
        return cls("gaussian", float(mechanism.sigma))

    @property
    def variance(self) -> float:
        """Of one number's noise; that of the discrete law is a little less (Laplace) or 1/12 more (rounded normal)."""
        return 2.0 * self.scale**2 if self.family == "laplace" else self.scale**2 + 1.0 / 12.0

    def reach(self, weights: Floats, failure: float) -> Floats:
        """q with P[|sum of weight times noise| > q] <= failure, for each row of weights.

        q is that of the continuous law plus half a step for each number: the normal is rounded to the nearest whole
        number, and a discrete Laplace number exceeds k at most as often as a continuous one exceeds k - 1/2.
        """
        weights = np.abs(np.atleast_2d(np.asarray(weights, dtype=np.float64)))
        steps = 0.5 * weights.sum(axis=1)
        if self.family == "gaussian":
            from scipy.special import ndtri

            return np.asarray(-ndtri(failure / 2.0) * self.scale * np.linalg.norm(weights, axis=1) + steps)
        return np.asarray(_laplace_reach(weights, failure) * self.scale + steps)

    def many_reach(self, weights: Floats, failure: float) -> float:
        """The same for one row of many weights; of Laplace noise by inversion of its characteristic function.

        The sum is on a grid, too: half of its coarsest step is added.
        """
        sizes = np.abs(np.asarray(weights, dtype=np.float64))
        sizes = sizes[sizes > 0]
        if not sizes.size:
            return 0.0
        step = 0.5 * float(sizes.max())
        if self.family == "gaussian":
            return float(self.reach(sizes[None, :], failure)[0] - 0.5 * sizes.sum()) + step
        if sizes.size <= _FEW_TERMS:
            return float(_laplace_reach(sizes[None, :], failure)[0]) * self.scale + step
        return _inverted_reach(tuple(sorted(sizes.tolist())), failure) * self.scale + step


@lru_cache(maxsize=256)
def _inverted_reach(sizes: tuple[float, ...], failure: float) -> float:
    """Of a sum of weighted Laplace(1) noise, by P[|S| <= q] = 2/pi integral of sin(q t)/t prod 1/(1 + w^2 t^2)."""
    weights = np.array(sizes)
    spread = float(np.sqrt(2.0 * np.sum(weights**2)))
    end = 1.0 / spread
    while float(np.log1p((weights * end) ** 2).sum()) < 23.0:  # the product is below 1e-10
        end *= 1.3
    places = (np.arange(20_000) + 0.5) * (end / 20_000)
    product = np.exp(-np.log1p((weights[None, :] * places[:, None]) ** 2).sum(axis=1)) / places
    low, high = 0.0, spread * (4.0 + np.log(1.0 / failure))
    for _ in range(60):
        middle = 0.5 * (low + high)
        inside = 2.0 / np.pi * float(np.sum(np.sin(middle * places) * product)) * (end / 20_000)
        low, high = (middle, high) if 1.0 - inside > failure else (low, middle)
    return float(high * (1.0 + 1e-6))


def _laplace_reach(weights: Floats, failure: float) -> Floats:
    """Of sums of weighted Laplace(1) noise: P[|S| > q] = sum_i a_i exp(-q / w_i), w_i distinct, by bisection."""
    scales = _moved_apart(weights)
    squares = scales**2
    factors = np.ones_like(scales)
    terms = scales.shape[1]
    for i in range(terms):
        for j in range(terms):
            if i != j:
                factors[:, i] *= squares[:, i] / (squares[:, i] - squares[:, j])
    low = np.zeros(len(scales))
    high = scales.sum(axis=1) * (terms + np.log(1.0 / failure))
    for _ in range(80):
        middle = 0.5 * (low + high)
        tail = (factors * np.exp(-middle[:, None] / scales)).sum(axis=1)
        above = tail > failure
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.asarray(high)


def _moved_apart(weights: Floats) -> Floats:
    """The weights, sorted, each at least a little larger than the one before, and none of them 0."""
    scales = np.sort(weights, axis=1)
    largest = scales[:, -1:]
    scales = np.maximum(scales, 1e-9 * np.where(largest > 0, largest, 1.0))
    for place in range(1, scales.shape[1]):
        scales[:, place] = np.maximum(scales[:, place], scales[:, place - 1] * (1.0 + _APART))
    return scales


@lru_cache(maxsize=256)
def single_reach(law: NoiseLaw, failure: float) -> float:
    """Of one number's own noise."""
    return float(law.reach(np.ones((1, 1)), failure)[0])
