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
        """The same for one row of many weights, by Chernoff's bound where the noise is Laplace."""
        sizes = np.abs(np.asarray(weights, dtype=np.float64))
        sizes = sizes[sizes > 0]
        if self.family == "gaussian" or sizes.size <= 1:
            return float(self.reach(sizes[None, :], failure)[0]) if sizes.size else 0.0
        places = np.linspace(0.0, 1.0, 400)[1:-1, None] / sizes.max()
        bounds = (np.log(2.0 / failure) - np.log1p(-((places * sizes) ** 2)).sum(axis=1)) / places[:, 0]
        return float(bounds.min() * self.scale + 0.5 * sizes.sum())


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
