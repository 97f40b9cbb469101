"""ScoreStrength: whether the curvature of a noisy score stands out of its noise enough for intervals.

The strength of a curvature is its least eigenvalue over s sqrt(d), where s is the deviation of the noise on its
diagonal and d the number of weights. Theory to first order holds from a strength of about 4.5 on. Two things need care
(soundness, section 26):

* Noise may have lifted the least eigenvalue. So the decision rests on a curvature whose noise is not in the estimate
  (the pilot) where there is one, and a doubt is taken off.
* The curvature of a logistic model depends on where it was measured, and so on the estimate. A sharp line would issue
  intervals to the tables whose estimate is off to one side. So the line is blurred by a coin, made of the release
  itself, and the bias that such a selection leaves is part of the covariance.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from holdfast._arrays import Floats

if TYPE_CHECKING:
    from holdfast.learn._inference.score import NoisyScore

LEAST_STRENGTH = 4.5
"""The least sure strength for intervals: first-order theory holds from there on, and with terms of second order the
mean width is within 1.15 of an oracle's."""
LEAST_INVERTED_STRENGTH = 3.0
"""The least strength of the curvature that is inverted, where another one decides; below it even terms of second order
are large."""
DOUBT_DEVIATIONS = float(ndtri(0.99))
"""Deviations of noise that are taken off a strength before it is sure: intervals that should be refused are issued
once in 100."""
LEAST_ROWS = 3.5
"""The least eigenvalue that the curvature of a logistic model needs without any noise, in units of what one row of full
norm adds to it: theory needs rows, too."""
COIN_SCALE, COIN_ALLOWANCE = 1.25, 4.5
"""The scale of the Laplace coin, in deviations of what sampling does to the deciding number, and how many such scales
the line is raised beforehand, so that luck never lowers it."""
PILOT_DEVIATIONS = 1.5
"""Deviations by which noise in earlier steps may have moved the point where a curvature was measured."""
SECOND_ORDER_FACTOR = 8.0
"""For a logistic model, terms of second order as a share of the variance are this over the squared strength. Found by
simulation, with the curvature measured beside the point where it is needed."""
MOST_WIDTH_FACTOR = 1.1
"""Intervals that terms of second order widen by more than this are not issued."""


@dataclass(frozen=True, eq=False)
class _RootEigenvalue:
    """The root of the least eigenvalue of a logistic curvature, less what earlier noise may have added.

    `coin_scale` is the scale of the coin in this root, and `sampling_deviation` what sampling does to the eigenvalue.
    """

    root: Any
    coin_scale: Any
    sampling_deviation: Any


@dataclass(frozen=True, eq=False)
class ScoreStrength:
    """The strength of a score's curvature, what it must be, and what it does to intervals.

    Every property is a number, or an array for a score that holds many releases.
    """

    score: NoisyScore

    @property
    def unit(self) -> float:
        """The eigenvalue that has strength 1."""
        return max(self.score.deviation * math.sqrt(self.score.dimension), 1e-300)

    @property
    def _deciding_noise(self) -> float:
        return self.score.deviation if self.score.pilot is None else self.score.pilot_noise

    @property
    def doubt(self) -> float:
        """How much of the observed strength may be due to noise.

        Noise of deviation s lifts a least eigenvalue by more than z s with a probability of at most 1 - Phi(z), because
        along the eigenvector of that eigenvalue the noise is normal.
        """
        return DOUBT_DEVIATIONS * self._deciding_noise / self.unit

    @cached_property
    def observed(self) -> Any:
        """The strength of the curvature that decides: of the pilot, where there is one."""
        deciding = self.score.curvature if self.score.pilot is None else self.score.pilot
        return _least_eigenvalue(deciding) / self.unit

    @cached_property
    def inverted(self) -> Any:
        """The strength of the curvature whose inverse the solution needs."""
        return _least_eigenvalue(self.score.curvature) / self.unit

    @cached_property
    def less_doubt(self) -> Any:
        """The observed strength less the doubt."""
        return self.observed - self.doubt

    @cached_property
    def _root_eigenvalue(self) -> _RootEigenvalue:
        """What is left of the least eigenvalue of a logistic curvature, and how far sampling moves it.

        The curvature was measured at an estimate. Because rows are a sample, the logarithm of its least eigenvalue
        varies with a deviation of |tilt| in the norm of the inverse curvature, over the eigenvalue, and by terms of
        second order up to bend^2 / eigenvalue. Noise in earlier gradients, which cost about what the pilot did, moved
        it too.
        """
        score = self.score
        assert score.pilot is not None, "another draw than the estimate's must decide"
        assert score.tilt is not None, "the derivative of the curvature must be known"
        identity, positive = np.eye(score.dimension), np.asarray(self.less_doubt > 0)
        eigenvalue = np.where(positive, self.less_doubt * self.unit, 1.0)
        least_curvature = np.where(
            positive[..., None, None], score.pilot - DOUBT_DEVIATIONS * score.pilot_noise * identity, identity
        )
        shift = np.linalg.solve(least_curvature, score.tilt[..., None])[..., 0]
        by_rows = np.sqrt(np.sum(score.tilt * shift, axis=-1)) / eigenvalue
        gradient_noise = score.pilot_noise * float(score.gradient_noise[0] / score.curvature_noise[0])
        by_noise = (
            gradient_noise * np.linalg.norm(shift, axis=-1) / eigenvalue
            + (score.bend * gradient_noise / eigenvalue) ** 2
        )
        root = np.sqrt(eigenvalue) * np.exp(-np.minimum(0.5 * PILOT_DEVIATIONS * by_noise, 350.0))
        deviation = np.hypot(by_rows, score.bend**2 / eigenvalue) * np.sqrt(eigenvalue)
        return _RootEigenvalue(root, 0.5 * COIN_SCALE * deviation, deviation * np.sqrt(eigenvalue))

    @property
    def needed(self) -> float:
        """The sure strength that intervals need."""
        return max(LEAST_STRENGTH, LEAST_ROWS * self.score.bend**2 / self.unit)

    @cached_property
    def sure(self) -> Any:
        """The strength that is sure: intervals are issued where it is at least `needed`.

        For a logistic model it is blurred by the coin: one deviation of sampling then changes the chance of an interval
        by a factor of at most exp(1 / COIN_SCALE), and what that does to intervals is in `selection_bias`.
        """
        score = self.score
        if score.bend == 0.0:
            return self.less_doubt
        if score.pilot is None or score.tilt is None:
            return np.zeros(score.target.shape[:-1])
        eigenvalue = self._root_eigenvalue
        loss = eigenvalue.coin_scale * np.maximum(COIN_ALLOWANCE - _coin(score.pilot), 0.0)
        sure = np.maximum(eigenvalue.root - loss, 0.0) ** 2
        return np.where(self.less_doubt > 0, sure / self.unit, self.less_doubt)

    @property
    def selection_bias(self) -> Floats:
        """How far the estimate is off on average among intervals that are issued.

        By Stein's identity that is the inverse curvature times the slope of the logarithm of the chance to be issued.
        """
        score = self.score
        if score.bend == 0.0 or score.pilot is None or score.tilt is None:
            return np.zeros_like(score.target)
        eigenvalue = self._root_eigenvalue
        line = math.sqrt(self.needed * self.unit)
        above_line = (eigenvalue.root - line) / np.maximum(eigenvalue.coin_scale, 1e-300) - COIN_ALLOWANCE
        tail = np.exp(-np.maximum(above_line, 0.0))
        slope = tail / (2.0 - tail) / np.maximum(COIN_SCALE * eigenvalue.sampling_deviation, 1e-300)
        return np.asarray(
            np.linalg.solve(score.curvature, (slope[..., None] * score.tilt)[..., None])[..., 0]
        )

    @cached_property
    def variance_factor(self) -> Any:
        """By how much terms of second order raise the variance of the solution."""
        if self.score.loss == "squared":
            dimension = self.score.dimension
            return 1.0 + 1.5 * (dimension + 1) / dimension / self.observed**2
        # A pilot that noise led astray says nothing of the curvature where it is inverted.
        return 1.0 + SECOND_ORDER_FACTOR / np.minimum(self.observed, self.inverted) ** 2

    @cached_property
    def too_low_for_solution(self) -> Any:
        """Whether even the solution is of no use, so that a solution with a floor under the eigenvalues is better."""
        return (self.observed < LEAST_STRENGTH) | (self.inverted < LEAST_INVERTED_STRENGTH)

    @cached_property
    def too_low_for_intervals(self) -> Any:
        """Whether intervals are refused, because noise may swamp the information or would make them too wide."""
        too_wide = self.variance_factor > MOST_WIDTH_FACTOR**2
        return self.too_low_for_solution | ~(self.sure >= self.needed) | too_wide


def _least_eigenvalue(matrix: Floats) -> Any:
    return np.linalg.eigvalsh(matrix)[..., 0]


def _coin(matrix: Floats) -> Any:
    """A draw of the Laplace law for each matrix, from all its digits: every reader of a release finds the same."""
    matrices = np.ascontiguousarray(matrix, dtype="<f8").reshape(-1, *matrix.shape[-2:])
    hashes = [int.from_bytes(hashlib.sha256(array.tobytes()).digest()[:6], "big") for array in matrices]
    uniform = (np.array(hashes) + 0.5) / 2.0**48
    sign = np.where(uniform < 0.5, 1.0, -1.0)
    tail = np.where(uniform < 0.5, uniform, 1.0 - uniform)
    return (sign * np.log(2.0 * tail)).reshape(matrix.shape[:-2])
