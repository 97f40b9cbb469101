"""Choosing by score, never worse than the exponential mechanism in pure DP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from holdfast.noise.choose import permute_and_flip
from holdfast.noise.continuous import exponential
from holdfast.noise.source import Source
from holdfast.privacy.curve import PureDP
from holdfast.privacy.mechanism import index_cdf
from holdfast.privacy.mechanisms.selection import Selection
from holdfast.privacy.rounding import as_written


@dataclass(frozen=True, kw_only=True)
class PermuteAndFlip(Selection):
    """In random order, take candidate i with probability exp(epsilon (score_i - max) / (2 sensitivity)).

    The same law as report-noisy-max with exponential noise of scale 2 sensitivity / epsilon. In zCDP
    it is charged epsilon^2 / 2: the bounded-range bound is not proved for it (soundness, section 0).

    >>> PermuteAndFlip(epsilon=1.0, sensitivity=1.0).curve.as_zcdp()
    Fraction(1, 2)
    """

    theorem: ClassVar[str] = "permute-and-flip (McKenna and Sheldon 2020; Ding et al. 2021)"

    @property
    def curve(self) -> PureDP:
        """Pure epsilon."""
        return PureDP(as_written(self.epsilon))

    def sample(self, value: NDArray[Any], source: Source) -> int:
        """One index."""
        if self.arithmetic == "idealised":
            return int(np.argmax(value + self.noise_scale * exponential(source, size=value.size)))
        steps, factor = self.on_grid(value)
        return permute_and_flip(source, scores=steps, factor=factor)

    def worst_pair(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The second candidate catches up: its chance goes from e^(-epsilon) / 2 to 1/2."""
        step = float(self.sensitivity)
        if self.monotone:
            return np.array([step, 0.0]), np.array([step, step])
        return np.array([2 * step, 0.0]), np.array([step, step])

    def cdf(self, value: NDArray[Any], at: NDArray[np.float64]) -> NDArray[np.float64]:
        """The law of the chosen index."""
        return index_cdf(_shares(self.declared_odds(value)), at)

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        """Both arithmetics."""
        return cls(epsilon=1.0, sensitivity=1.0), cls(epsilon=1.0, sensitivity=1.0, arithmetic="idealised")


def _shares(flips: NDArray[np.float64]) -> NDArray[np.float64]:
    """The chance of each candidate, from its probability of being taken when visited.

    Visit candidate i at a uniform time t: it is chosen if taken, and if nobody before t was:
    the integral of p_i prod_{j != i} (1 - t p_j), a polynomial, exact by Gauss-Legendre.
    """
    nodes, weights = np.polynomial.legendre.leggauss(flips.size // 2 + 1)
    untaken = 1.0 - 0.5 * (nodes + 1.0)[:, None] * flips
    others = [np.prod(np.delete(untaken, i, axis=1), axis=1) for i in range(flips.size)]
    return np.asarray(flips * (0.5 * weights @ np.stack(others, axis=1)))
