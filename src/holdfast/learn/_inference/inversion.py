"""Test inversion for least squares: the values of a coefficient that the noisy score does not reject.

For each value b of one coefficient the statistic r^T V^-1 r is minimised over the others, V the covariance that the
score has at that point, and b is kept while the minimum is below a quantile of the chi-squared law with one degree of
freedom. No inverse of the noisy curvature is taken, so that it holds where the curvature drowns; a set without an end
is the answer "nothing was learnt" (soundness, section 26; as Anderson and Rubin 1949 for weak instruments).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property

import numpy as np
from scipy.optimize import minimize

from holdfast._arrays import Floats
from holdfast.learn._inference.score import NoisyScore

VARIANCE_QUANTILE = 2.58
"""Deviations of its noise that are added to the residual variance (soundness, section 26: without, .86 of .95)."""
FARTHEST_END = 1e6
"""How many units of the target per unit of a row an end may be away; a set that goes on there has no end."""
HALVINGS = 40


class ScoreTest:
    """The statistic as a function of all weights, and its minimum along one of them."""

    def __init__(self, score: NoisyScore) -> None:
        self.score = score
        values, basis = np.linalg.eigh(score.curvature)
        # Soundness, section 26: the positive part alone loses a direction; the noise's norm is added.
        lost = math.sqrt(2.0 * score.dimension) * score.deviation
        self._sampling = (basis * (np.maximum(values, 0.0) + lost)) @ basis.T

    def statistic(self, theta: Floats) -> tuple[float, Floats]:
        """r^T V^-1 r and its gradient."""
        score = self.score
        s, n = float(score.curvature_noise[0]), score.count
        residual = score.target - score.curvature @ theta
        variance = score.residual_variance(theta, margin=VARIANCE_QUANTILE, freedom=n)
        scaled = np.linalg.solve(variance * self._sampling + score.noise_covariance(theta), residual)
        slope = 2.0 * (VARIANCE_QUANTILE * s * theta - residual) / n if variance > 0 else np.zeros_like(theta)
        change = -2.0 * score.curvature @ scaled - float(scaled @ self._sampling @ scaled) * slope
        change -= s**2 * (float(scaled @ scaled) * theta + float(scaled @ theta) * scaled)
        return float(residual @ scaled), change

    def least(self, place: int, value: float) -> float:
        """The minimum over all weights whose entry at `place` has this value."""
        free = np.arange(self.score.dimension) != place
        fixed = np.zeros(self.score.dimension)
        fixed[place] = value
        if not free.any():
            return self.statistic(fixed)[0]

        def along(others: Floats) -> tuple[float, Floats]:
            fixed[free] = others
            value_at_minimum, change = self.statistic(fixed)
            return value_at_minimum, change[free]

        design, wanted = (
            self.score.curvature[:, free],
            self.score.target - self.score.curvature[:, place] * value,
        )
        starts = (np.linalg.lstsq(design, wanted, rcond=None)[0], self._damped_solution(design, wanted))
        return min(float(minimize(along, start, jac=True, method="BFGS").fun) for start in starts)

    def _damped_solution(self, design: Floats, wanted: Floats) -> Floats:
        """Least squares in which the noise's norm keeps directions that drown near zero."""
        ridge = 2.0 * self.score.dimension * self.score.deviation**2
        return np.asarray(
            np.linalg.solve(design.T @ design + ridge * np.eye(design.shape[1]), design.T @ wanted)
        )

    @cached_property
    def _start(self) -> Floats:
        return self._damped_solution(self.score.curvature, self.score.target)

    def interval(self, place: int, quantile: float) -> tuple[float, float]:
        """The hull of the values that are not rejected; infinite where it has no end, NaN where all are rejected."""
        centre = self._centre(place)
        if self.least(place, centre) > quantile:
            return math.nan, math.nan
        below = self._end(lambda away: self.least(place, centre - away), quantile)
        above = self._end(lambda away: self.least(place, centre + away), quantile)
        # A set of two rays, or of one, is no interval: whoever is told of one end would read it as one.
        if math.isinf(below) or math.isinf(above):
            return -math.inf, math.inf
        return centre - below, centre + above

    def _centre(self, place: int) -> float:
        """Where the statistic is least."""
        optimum = minimize(self.statistic, self._start, jac=True, method="BFGS")
        return float(optimum.x[place])

    @staticmethod
    def _end(least: Callable[[float], float], quantile: float) -> float:
        """How far from the centre values are kept; the first rejection counts, and a set that goes on has none."""
        away = 1e-6
        while least(away) <= quantile:
            away *= 4.0
            if away > FARTHEST_END:
                return math.inf
        inside, outside = away / 4.0, away
        for _ in range(HALVINGS):
            middle = 0.5 * (inside + outside)
            inside, outside = (middle, outside) if least(middle) <= quantile else (inside, middle)
            if outside - inside <= 1e-6 * outside:
                break
        return outside
