"""What mechanisms that choose by score share: scores of bounded sensitivity, and the grid they live on."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import require
from holdfast.privacy.grid import Grid
from holdfast.privacy.mechanism import Mechanism
from holdfast.privacy.rounding import Number, as_written


@dataclass(frozen=True, kw_only=True)
class Selection(Mechanism):
    """One index out of a list of candidates, by their scores.

    `sensitivity` bounds how far one unit moves each score, up or down. With `monotone` scores (one
    unit moves all of them the same way, as counts under add_remove) half the noise suffices.
    """

    epsilon: Number
    sensitivity: Number
    monotone: bool = False

    public: ClassVar[tuple[str, ...]] = ("the list of candidates",)

    def validate(self) -> None:
        """Positive, finite parameters."""
        require(0 < self.epsilon < float("inf"), "epsilon", self.epsilon, "> 0 and finite")
        require(0 < self.sensitivity < float("inf"), "sensitivity", self.sensitivity, "> 0 and finite")

    def check(self, value: Any) -> NDArray[Any]:
        """Scores are a vector."""
        scores = super().check(value)
        require(scores.ndim == 1, "scores.ndim", scores.ndim, "1")
        return np.asarray(scores)

    @property
    def noise_scale(self) -> float:
        """Of the noise that report-noisy-max adds to each score, in idealised arithmetic."""
        return (1 if self.monotone else 2) * float(self.sensitivity) / float(self.epsilon)

    def on_grid(self, scores: NDArray[Any]) -> tuple[NDArray[np.int64], Fraction]:
        """Scores as integers, and the exact log-weight of one step; rounding adds a step to the sensitivity."""
        exact = as_written(self.sensitivity)
        halves = 1 if self.monotone else 2
        if scores.dtype == np.int64:
            return scores, as_written(self.epsilon) / (halves * exact)
        grid = Grid.for_noise(exact, exact)
        return grid.nearest(scores), as_written(self.epsilon) * grid.step / (halves * (exact + grid.step))

    def declared_odds(self, scores: NDArray[Any]) -> NDArray[np.float64]:
        """exp of epsilon score / (2 sensitivity), or of twice that for monotone scores; the largest is 1.

        Written apart from `on_grid`, for the law test: strict arithmetic rounds real scores to a grid and
        enlarges the sensitivity by its step.
        """
        values, reach = scores.astype(np.float64), float(self.sensitivity)
        if self.arithmetic == "strict" and scores.dtype != np.int64:
            exact = as_written(self.sensitivity)
            step = float(Grid.for_noise(exact, exact).step)
            values, reach = np.rint(values / step) * step, reach + step
        log_odds = values * float(self.epsilon) / (reach if self.monotone else 2.0 * reach)
        return np.asarray(np.exp(log_odds - log_odds.max()))

    def distance(self, first: NDArray[Any], second: NDArray[Any]) -> float:
        """The largest change of a score over the sensitivity; infinite where monotone scores move both ways."""
        change = np.subtract(first, second, dtype=float)
        if self.monotone and np.min(change) < 0 < np.max(change):
            return float("inf")
        return float(np.max(np.abs(change))) / float(self.sensitivity)

    def probes(self) -> tuple[NDArray[Any], ...]:
        """The pair, and three candidates with integer scores."""
        return (*self.worst_pair(), np.array([0, 2, 1]))
