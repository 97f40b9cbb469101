"""Choosing by score, never worse than the exponential mechanism in pure DP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import require
from holdfast.noise.choose import permute_and_flip
from holdfast.noise.continuous import exponential
from holdfast.noise.source import Source
from holdfast.privacy.curve import PureDP
from holdfast.privacy.mechanism import Mechanism, index_cdf
from holdfast.privacy.mechanisms.exponential import declared_log_odds, score_distance, scores_on_grid
from holdfast.privacy.rounding import Number, as_written


@dataclass(frozen=True, kw_only=True)
class PermuteAndFlip(Mechanism):
    """In random order, take candidate i with probability exp(epsilon (score_i - max) / (2 sensitivity)).

    The same law as report-noisy-max with exponential noise of scale 2 sensitivity / epsilon. In zCDP
    it is charged epsilon^2 / 2: the bounded-range bound is not proved for it (soundness, section 0).

    >>> PermuteAndFlip(epsilon=1.0, sensitivity=1.0).curve.as_zcdp()
    Fraction(1, 2)
    """

    epsilon: Number
    sensitivity: Number
    monotone: bool = False

    theorem: ClassVar[str] = "permute-and-flip (McKenna and Sheldon 2020; Ding et al. 2021)"
    public: ClassVar[tuple[str, ...]] = ("the list of candidates",)

    def validate(self) -> None:
        """Positive, finite parameters."""
        require(0 < self.epsilon < float("inf"), "epsilon", self.epsilon, "> 0 and finite")
        require(0 < self.sensitivity < float("inf"), "sensitivity", self.sensitivity, "> 0 and finite")

    @property
    def curve(self) -> PureDP:
        """Pure epsilon."""
        return PureDP(as_written(self.epsilon))

    def check(self, value: Any) -> NDArray[Any]:
        """Scores are a vector."""
        scores = super().check(value)
        require(scores.ndim == 1, "scores.ndim", scores.ndim, "1")
        return np.asarray(scores)

    def sample(self, value: NDArray[Any], source: Source) -> int:
        """One index."""
        if self.arithmetic == "idealised":
            noise_scale = (1 if self.monotone else 2) * float(self.sensitivity) / float(self.epsilon)
            return int(np.argmax(value + noise_scale * exponential(source, size=value.size)))
        steps, factor = scores_on_grid(value, self.epsilon, self.sensitivity, monotone=self.monotone)
        return permute_and_flip(source, scores=steps, factor=factor)

    def worst_pair(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The second candidate catches up: its chance goes from e^(-epsilon) / 2 to 1/2."""
        step = float(self.sensitivity)
        if self.monotone:
            return np.array([step, 0.0]), np.array([step, step])
        return np.array([2 * step, 0.0]), np.array([step, step])

    def cdf(self, value: NDArray[Any], at: NDArray[np.float64]) -> NDArray[np.float64]:
        """The law of the chosen index."""
        strict = self.arithmetic == "strict"
        log_odds = declared_log_odds(
            value, self.epsilon, self.sensitivity, monotone=self.monotone, strict=strict
        )
        return index_cdf(_shares(np.exp(log_odds - log_odds.max())), at)

    def distance(self, first: NDArray[Any], second: NDArray[Any]) -> float:
        """The largest change of a score; infinite where monotone scores move both ways."""
        return score_distance(first, second, self.sensitivity, monotone=self.monotone)

    def probes(self) -> tuple[NDArray[Any], ...]:
        """The pair, and three candidates with integer scores."""
        return (*self.worst_pair(), np.array([0, 2, 1]))

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
