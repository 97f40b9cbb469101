"""Choosing by score: the exponential mechanism, which is report-noisy-max with Gumbel noise."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import require
from holdfast.noise.choose import choose
from holdfast.noise.continuous import gumbel
from holdfast.noise.source import Source
from holdfast.privacy.bounded_range import BoundedRange
from holdfast.privacy.curve import PureDP
from holdfast.privacy.grid import Grid
from holdfast.privacy.mechanism import Mechanism, index_cdf
from holdfast.privacy.rounding import Number, as_written


@dataclass(frozen=True, kw_only=True)
class Exponential(Mechanism):
    """The index i with probability proportional to exp(epsilon score_i / (2 sensitivity)).

    `sensitivity` bounds how far one unit moves each score, up or down. With `monotone` scores (one
    unit moves all of them the same way, as counts under add_remove) the 2 falls away.

    >>> Exponential(epsilon=1.0, sensitivity=1.0).curve.as_zcdp()
    Fraction(1, 8)
    """

    epsilon: Number
    sensitivity: Number
    monotone: bool = False

    theorem: ClassVar[str] = (
        "exponential mechanism (McSherry and Talwar 2007); bounded range: Cesar and Rogers 2021"
    )
    public: ClassVar[tuple[str, ...]] = ("the list of candidates",)

    def validate(self) -> None:
        """Positive, finite parameters."""
        require(0 < self.epsilon < float("inf"), "epsilon", self.epsilon, "> 0 and finite")
        require(0 < self.sensitivity < float("inf"), "sensitivity", self.sensitivity, "> 0 and finite")

    @property
    def curve(self) -> PureDP:
        """Bounded range epsilon: pure epsilon, and epsilon^2 / 8 in zCDP."""
        return BoundedRange(as_written(self.epsilon))

    def check(self, value: Any) -> NDArray[Any]:
        """Scores are a vector."""
        scores = super().check(value)
        require(scores.ndim == 1, "scores.ndim", scores.ndim, "1")
        return np.asarray(scores)

    def sample(self, value: NDArray[Any], source: Source) -> int:
        """One index."""
        if self.arithmetic == "idealised":
            noise_scale = (1 if self.monotone else 2) * float(self.sensitivity) / float(self.epsilon)
            return int(np.argmax(value + noise_scale * gumbel(source, size=value.size)))
        steps, factor = scores_on_grid(value, self.epsilon, self.sensitivity, monotone=self.monotone)
        return choose(source, scores=steps, factor=factor)

    def worst_pair(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """One candidate overtakes the other: odds go from e^(-epsilon/2) to e^(epsilon/2)."""
        step = float(self.sensitivity)
        if self.monotone:
            return np.array([step / 2, 0.0]), np.array([step / 2, step])
        return np.array([step, 0.0]), np.array([0.0, step])

    def cdf(self, value: NDArray[Any], at: NDArray[np.float64]) -> NDArray[np.float64]:
        """The law of the chosen index."""
        strict = self.arithmetic == "strict"
        log_odds = declared_log_odds(
            value, self.epsilon, self.sensitivity, monotone=self.monotone, strict=strict
        )
        return index_cdf(np.exp(log_odds - log_odds.max()), at)

    def distance(self, first: NDArray[Any], second: NDArray[Any]) -> float:
        """The largest change of a score; infinite where monotone scores move both ways."""
        return score_distance(first, second, self.sensitivity, monotone=self.monotone)

    def probes(self) -> tuple[NDArray[Any], ...]:
        """The pair, and three candidates with integer scores."""
        return (*self.worst_pair(), np.array([0, 2, 1]))

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        """Both arithmetics, and monotone scores."""
        return (
            cls(epsilon=1.0, sensitivity=1.0),
            cls(epsilon=2.0, sensitivity=0.5, arithmetic="idealised"),
            cls(epsilon=1.0, sensitivity=1.0, monotone=True),
        )


def scores_on_grid(
    scores: NDArray[Any], epsilon: Number, sensitivity: Number, *, monotone: bool
) -> tuple[NDArray[np.int64], Fraction]:
    """Scores as integers, and the exact log-weight of one step; rounding adds a step to the sensitivity."""
    exact = as_written(sensitivity)
    halves = 1 if monotone else 2
    if scores.dtype == np.int64:
        return scores, as_written(epsilon) / (halves * exact)
    grid = Grid.for_noise(exact, exact)
    return grid.nearest(scores), as_written(epsilon) * grid.step / (halves * (exact + grid.step))


def declared_log_odds(
    scores: NDArray[Any], epsilon: Number, sensitivity: Number, *, monotone: bool, strict: bool
) -> NDArray[np.float64]:
    """epsilon score / (2 sensitivity), or twice that for monotone scores.

    Strict arithmetic rounds real scores to a grid and enlarges the sensitivity by its step.
    """
    values, reach = scores.astype(np.float64), float(sensitivity)
    if strict and scores.dtype != np.int64:
        step = float(Grid.for_noise(as_written(sensitivity), as_written(sensitivity)).step)
        values, reach = np.rint(values / step) * step, reach + step
    return np.asarray(values * float(epsilon) / (reach if monotone else 2.0 * reach))


def score_distance(
    first: NDArray[Any], second: NDArray[Any], sensitivity: Number, *, monotone: bool
) -> float:
    """The largest change of one score over the sensitivity; infinite where monotone scores move both ways."""
    change = np.subtract(first, second, dtype=float)
    if monotone and np.min(change) < 0 < np.max(change):
        return float("inf")
    return float(np.max(np.abs(change))) / float(sensitivity)
