"""Test inversion for least squares: the values of a coefficient that the noisy score does not reject.

For a value b of one coefficient the statistic r^T V^-1 r is minimised over all other coefficients, where r is the score
and V its covariance at that point. The value is in the interval while this minimum is below a quantile of the
chi-squared law with one degree of freedom. The noisy curvature is never inverted, so the interval is valid where noise
drowns the curvature. An interval without an end is the answer "nothing was learnt" (soundness, section 26; compare
Anderson and Rubin 1949 for weak instruments).
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
"""Deviations of its noise that are added to the residual variance. Without them intervals cover .86 instead of .95
(soundness, section 26)."""
FARTHEST_END = 1e6
"""An end farther than this from the centre, in units of the target per unit of a row, counts as infinite."""
MOST_HALVINGS = 40


class ScoreTest:
    """The statistic as a function of all weights, and its minimum along one of them."""

    def __init__(self, score: NoisyScore) -> None:
        self.score = score
        values, basis = np.linalg.eigh(score.curvature)
        # The positive part alone would lose a direction, so the norm of the noise is added (soundness, section 26).
        noise_norm = math.sqrt(2.0 * score.dimension) * score.deviation
        self._sampling = (basis * (np.maximum(values, 0.0) + noise_norm)) @ basis.T

    def statistic(self, theta: Floats) -> tuple[float, Floats]:
        """r^T V^-1 r and its gradient."""
        score = self.score
        s, n = float(score.curvature_noise[0]), score.count
        residual = score.target - score.curvature @ theta
        variance = score.residual_variance(theta, margin=VARIANCE_QUANTILE, freedom=n)
        scaled = np.linalg.solve(variance * self._sampling + score.noise_covariance(theta), residual)
        slope = 2.0 * (VARIANCE_QUANTILE * s * theta - residual) / n if variance > 0 else np.zeros_like(theta)
        gradient = -2.0 * score.curvature @ scaled - float(scaled @ self._sampling @ scaled) * slope
        gradient -= s**2 * (float(scaled @ scaled) * theta + float(scaled @ theta) * scaled)
        return float(residual @ scaled), gradient

    def profile(self, place: int, value: float) -> float:
        """The minimum of the statistic over all weights whose entry at `place` has this value."""
        free = np.arange(self.score.dimension) != place
        weights = np.zeros(self.score.dimension)
        weights[place] = value
        if not free.any():
            return self.statistic(weights)[0]

        def free_statistic(free_weights: Floats) -> tuple[float, Floats]:
            weights[free] = free_weights
            statistic, gradient = self.statistic(weights)
            return statistic, gradient[free]

        design = self.score.curvature[:, free]
        remainder = self.score.target - self.score.curvature[:, place] * value
        starts = (np.linalg.lstsq(design, remainder, rcond=None)[0], self._damped_solution(design, remainder))
        return min(float(minimize(free_statistic, start, jac=True, method="BFGS").fun) for start in starts)

    def _damped_solution(self, design: Floats, target: Floats) -> Floats:
        """Ridge regression, whose penalty is the squared norm of the noise: drowned directions stay near zero."""
        ridge = 2.0 * self.score.dimension * self.score.deviation**2
        return np.asarray(
            np.linalg.solve(design.T @ design + ridge * np.eye(design.shape[1]), design.T @ target)
        )

    @cached_property
    def _start(self) -> Floats:
        return self._damped_solution(self.score.curvature, self.score.target)

    def interval(self, place: int, quantile: float) -> tuple[float, float]:
        """The hull of the values that are not rejected; infinite where it has no end, NaN where all are rejected."""
        centre = self.centre(place)
        if self.profile(place, centre) > quantile:
            return math.nan, math.nan
        below = self._reach(lambda distance: self.profile(place, centre - distance), quantile)
        above = self._reach(lambda distance: self.profile(place, centre + distance), quantile)
        # A set of one or two rays is no interval, so no single end is returned: it would be read as one.
        if math.isinf(below) or math.isinf(above):
            return -math.inf, math.inf
        return centre - below, centre + above

    def centre(self, place: int) -> float:
        """The entry at `place` of the weights at which the statistic is least."""
        optimum = minimize(self.statistic, self._start, jac=True, method="BFGS")
        return float(optimum.x[place])

    @staticmethod
    def _reach(profile: Callable[[float], float], quantile: float) -> float:
        """The distance from the centre of the first value that is rejected; infinite where none is up to far away."""
        distance = 1e-6
        while profile(distance) <= quantile:
            distance *= 4.0
            if distance > FARTHEST_END:
                return math.inf
        inside, outside = distance / 4.0, distance
        for _ in range(MOST_HALVINGS):
            middle = 0.5 * (inside + outside)
            inside, outside = (middle, outside) if profile(middle) <= quantile else (inside, middle)
            if outside - inside <= 1e-6 * outside:
                break
        return outside
