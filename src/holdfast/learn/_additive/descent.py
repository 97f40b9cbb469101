"""Noisy gradient descent for additive models: gradients are clipped for each record, summed exactly and released.

The gradient of a record is clipped to the norm C, so one row moves their sum by C, by 2 C under replace, and a unit of
c rows by c times as much (soundness, sections 18, 20 and 24). T releases whose noise has the standard deviation
C sqrt(T) / mu are mu-GDP together. Steps, averages and the safeguard against long steps depend on released numbers
only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from holdfast._arrays import Floats
from holdfast._kernel.lookup import Loss
from holdfast._progress import progress
from holdfast.data._clipped_rows import NORM_SLACK
from holdfast.data._sensitivity import sum_l2
from holdfast.learn._additive.cell_rows import CellRows
from holdfast.learn._additive.design import AdditiveDesign
from holdfast.learn._additive.histograms import PRIOR_MEAN_SQUARE
from holdfast.learn._risk.descent import gaussian_for
from holdfast.privacy._account import Account
from holdfast.privacy._mechanisms.mechanism import Arithmetic

SLOWDOWN_FACTOR, GROWTH_THRESHOLD = 0.6, 1.5
"""A safeguard against long steps: where the squared gradient, less its noise, grew by more than the second factor, all
later steps are multiplied by the first."""
CLIP_RULES = {"classes": (0.06, 1.0), "numbers": (0.10, 4.0)}
"""The clip per root of the signal for each effective dimension, and the largest clip, both in units of the typical
gradient: for numbers that is the residual, as large as released values say."""
LEAST_CLIP = 0.25
"""The least clip for classes, times the root of their evenness. With a smaller one only the sign of every gradient
would be left, whatever the score, and the constant would drift away."""
AVERAGED_SHARE = 0.25
"""The result is the mean of this last share of the iterates."""
ADEQUATE_CLIP = 0.5
"""Above this the clip for numbers grows twice as fast: there the bias from clipping skewed residuals matters more than
noise."""
LEAST_RESIDUAL_SHARE = 0.04
"""The least mean square of residuals, as a share of the target's variance."""
CURVATURES = {"logistic": 0.04, "squared": 0.3, "softmax": 0.6}
"""The typical curvature of each loss; that of softmax is divided by the number of classes."""
SLOPE_SQUARES = {"logistic": 0.12, "squared": 1.0, "softmax": 0.12}
"""The mean square of the loss' slopes at typical scores, in units of the squared residual."""
SAMPLING_NOISE_SHARE = {"classes": 0.4, "numbers": 1.0}
"""The share of the sampling noise that shrinkage removes: many small shapes of classes, each within that noise, may
together be worth having."""
STEP_BY_LOSS = {"logistic": 3.0, "softmax": 3.0, "squared": 0.75}
"""The step for features of unit variance."""


@dataclass(frozen=True, kw_only=True, eq=False)
class AdditiveTask:
    """What all phases of a fit share: rows, loss, account, and what was released about rows and target."""

    rows: CellRows
    loss: Loss
    outputs: int
    account: Account
    count: float
    public_signal: float
    """mu n, where mu is that of the whole fit for the clipped gradients of one unit; most rules depend on it."""
    arithmetic: Arithmetic
    mean: float = 0.0
    mean_square: float = 1.0
    square_noise: float = 0.0
    """For a numeric target: its released mean and mean square, and the deviation of the noise in both."""
    evenness: float = 1.0
    """For classes: how much a row tells about them, relative to a row of a table with equally frequent ones."""

    @property
    def target(self) -> str:
        """Whether "numbers" or "classes" are predicted; some rules differ."""
        return "numbers" if self.loss == "squared" else "classes"

    @property
    def signal(self) -> float:
        """mu n, where rows count in proportion to the evenness of classes."""
        return self.evenness * self.public_signal

    @property
    def effective_rows(self) -> float:
        """The number of rows times the evenness of classes."""
        return self.evenness * self.count

    @property
    def step(self) -> float:
        """The step of the descent: longer for several classes and for rare ones, where the loss curves less."""
        by_classes = min(self.outputs, 8) / 4 if self.loss == "softmax" else 1.0
        return STEP_BY_LOSS[self.loss] * by_classes / self.evenness

    @property
    def remaining_error(self) -> float:
        """The share of an error in the weights that remains after a step, at the typical curvature of the loss."""
        curvature = (
            self.evenness * CURVATURES[self.loss] / (max(self.outputs, 2) if self.loss == "softmax" else 1)
        )
        return max(0.0, 1.0 - self.step * curvature)

    def sampling_noise(self, variances: Floats, steps: int, residual: float) -> Floats:
        """For each feature, of these variances, the variance of its weight after `steps` because rows are a sample.

        The gradient of a sample differs from that of the population by residual^2 x variance / n, in variance. The
        descent follows this error like a signal: after some steps it went 1 - (1 - step x curvature)^steps of the way.
        For classes the mean squared slope of the loss is about its curvature.
        """
        curvature = self.evenness * SLOPE_SQUARES[self.loss] * variances
        share_followed = 1.0 - np.maximum(1.0 - self.step * curvature, 0.0) ** steps
        variance = (share_followed * residual) ** 2 / np.maximum(curvature, 1e-300) / self.count
        return np.asarray(SAMPLING_NOISE_SHARE[self.target] * variance)

    def residual(self, explained: float) -> float:
        """The root mean square of residuals if shapes explain the mean square `explained`; 1 for classes.

        Never below what the noise in the released mean square could hide.
        """
        if self.target == "classes":
            return 1.0
        variance = self.mean_square - self.mean**2
        least = max(LEAST_RESIDUAL_SHARE * variance, min(self.square_noise, PRIOR_MEAN_SQUARE))
        return math.sqrt(max(self.mean_square - explained, least))

    def clip(self, effective_dimension: float, residual: float) -> float:
        """The clipping norm C: smaller, beside the typical gradient, where less is seen above the noise."""
        per_root_signal, most = CLIP_RULES[self.target]
        relative_clip = per_root_signal * math.sqrt(self.signal / effective_dimension)
        if self.target == "numbers":
            relative_clip *= max(1.0, relative_clip / ADEQUATE_CLIP)
        else:
            relative_clip = max(relative_clip, LEAST_CLIP * math.sqrt(self.evenness))
        return min(relative_clip, most) * residual * math.sqrt(effective_dimension)


@dataclass(frozen=True, kw_only=True, eq=False)
class Descent:
    """The released weights (K, D) of a design, and about the variance of the noise in each.

    `clip` is the clipping norm of the last step, and `residual` the root mean square of residuals by then.
    """

    weights: Floats
    noise: float
    clip: float
    residual: float


def gradient_sensitivity(task: AdditiveTask, clip: float, design: AdditiveDesign) -> float:
    """How far one unit moves the sum of clipped gradients in L2, and how far rounding may move two such sums."""
    change = sum_l2(clip * (1.0 + NORM_SLACK), task.account.adjacency, task.account.unit)
    return change + 2.0 * clip * design.rounding(task.rows.largest_count())


def descend(
    task: AdditiveTask, design: AdditiveDesign, start: Floats, *, square: Fraction, steps: int, label: str
) -> Descent:
    """Follow `steps` noisy gradients for mu^2 = `square`, from `start`; the result is the mean of the last iterates.

    Every step costs the same. Its clip, and with it its noise, follows what the weights released so far explain.
    """
    weights, mean, step, last_size = start, np.zeros_like(start), task.step, math.inf
    averaged, clip, noise, residual, variances = math.ceil(steps * AVERAGED_SHARE), 0.0, 0.0, 1.0, []
    for number in progress(range(steps), desc=label):
        explained = design.explained_variance(weights) - noise * design.effective_dimension
        residual = task.residual(explained)
        clip = task.clip(design.effective_dimension, residual)
        mechanism = gaussian_for(
            square / steps,
            l2_sensitivity=gradient_sensitivity(task, clip, design),
            adjacency=task.account.adjacency,
            arithmetic=task.arithmetic,
        )
        noise_std = float(mechanism.sigma) / task.count
        sums = task.rows.gradient(
            design.plan, loss=task.loss, table=design.lookup(weights), constant=weights[:, 0], clip=clip
        )
        noisy = task.account.release(mechanism, design.gather(sums), label=f"additive: {label}")
        gradient = np.asarray(noisy, dtype=np.float64) / task.count
        size = max(float(np.sum(gradient**2)) - gradient.size * noise_std**2, 0.0)
        if size > GROWTH_THRESHOLD * last_size:  # where columns are correlated, steps overshoot
            step *= SLOWDOWN_FACTOR
        last_size = max(size, gradient.size * noise_std**2 * 0.1)
        weights = weights - step * gradient
        noise = task.remaining_error**2 * noise + (step * noise_std) ** 2
        variances.append(noise_std**2)
        if number >= steps - averaged:
            mean += weights / averaged
    noise = task.step**2 * noise_of_mean(task.remaining_error, steps, averaged) * float(np.mean(variances))
    return Descent(weights=mean, noise=noise, clip=clip, residual=residual)


def noise_of_mean(remaining_error: float, steps: int, averaged: int) -> float:
    """The variance of the mean of the last `averaged` of `steps` iterates, over the variance of the noise of one step.

    Of the noise of a step every later step leaves the share `remaining_error`.
    """
    total = 0.0
    for step in range(steps):
        ages = np.arange(max(step, steps - averaged), steps) - step
        total += (float(np.sum(remaining_error**ages)) / averaged) ** 2
    return total
