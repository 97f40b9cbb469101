"""Noisy gradient descent for additive models: gradients are clipped for each record, summed exactly and released.

|r z| <= C by clipping, so one row moves the sum by C, by 2 C under replace, and c rows by c times as much (soundness,
sections 18, 20 and 24). T releases of noise sigma = C sqrt(T) / mu are mu-GDP together. Steps, averages and the
safeguard against long steps depend on released numbers only.
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
from holdfast.learn._additive.histograms import USUAL_SQUARE
from holdfast.learn._risk.descent import gaussian_for
from holdfast.privacy._account import Account
from holdfast.privacy._mechanisms.mechanism import Arithmetic

SLOWDOWN_FACTOR, GROWTH_THRESHOLD = 0.6, 1.5
"""A safeguard: steps are multiplied by the first number if the squared gradient, less its noise, grew by the second."""
CLIP_RULES = {"classes": (0.06, 1.0), "numbers": (0.10, 4.0)}
"""Per root of the signal, and at most: for numbers in units of their residuals, as large as released values say."""
LEAST_CLIP = 0.25
"""The least clip for classes, times the root of their evenness: with a shorter one only the sign of every gradient is
left, whatever the score, and the constant drifts away."""
AVERAGED_SHARE = 0.25
"""The last share of the iterates, whose mean is the result."""
SURE_CLIP = 0.5
"""Above this the clip for numbers grows twice as fast: bias from clipping skewed residuals matters more than noise."""
LEAST_RESIDUAL = 0.04
"""The least mean square of residuals, as a share of the target's variance."""
CURVATURES = {"logistic": 0.04, "squared": 0.3, "softmax": 0.6}
"""Of the loss at typical scores, of one class among several times their number."""
SLOPE_SQUARES = {"logistic": 0.12, "squared": 1.0, "softmax": 0.12}
"""The mean square of slopes at typical scores, in units of the residual's."""
BELIEVED_SHARE = {"classes": 0.4, "numbers": 1.0}
"""How much of it shrinkage believes: many small shapes of classes, each within it, may together be worth having."""
STEPS_BY_LOSS = {"logistic": 3.0, "softmax": 3.0, "squared": 0.75}


@dataclass(frozen=True, kw_only=True, eq=False)
class AdditiveTask:
    """What all phases share: rows, loss, account, and the released number of rows."""

    rows: CellRows
    loss: Loss
    outputs: int
    account: Account
    count: float
    public_signal: float
    """mu n, with mu of the whole fit for one unit's clipped gradient: the quantity on which the rules depend."""
    arithmetic: Arithmetic
    mean: float = 0.0
    mean_square: float = 1.0
    square_noise: float = 0.0
    """Of a numeric target, released: its mean, its mean square, and the deviation of the noise in either."""
    evenness: float = 1.0
    """Of classes, released: the information of a row, relative to a row of a table with equal classes."""

    @property
    def target(self) -> str:
        """What is predicted, for rules that differ."""
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
        """For features of unit variance: a softmax of K classes curves by about 1 / K, and less for a rare class."""
        by_classes = min(self.outputs, 8) / 4 if self.loss == "softmax" else 1.0
        return STEPS_BY_LOSS[self.loss] * by_classes / self.evenness

    @property
    def kept_by_a_step(self) -> float:
        """How much of an error in the weights a step leaves, where the loss curves as usual."""
        curvature = (
            self.evenness * CURVATURES[self.loss] / (max(self.outputs, 2) if self.loss == "softmax" else 1)
        )
        return max(0.0, 1.0 - self.step * curvature)

    def sampling_noise(self, variances: Floats, steps: int, residual: float) -> Floats:
        """The variance of weights because rows are a sample, after so many steps, by their features' variances.

        What a sample's gradient has beside the truth, of variance (residual square) x variance / n, is followed like a
        signal: 1 - (1 - step x curvature)^steps of the way to its own optimum. A slope of classes is about as large,
        squared, as the loss curves.
        """
        curvature = self.evenness * SLOPE_SQUARES[self.loss] * variances
        way = 1.0 - np.maximum(1.0 - self.step * curvature, 0.0) ** steps
        variance = (way * residual) ** 2 / np.maximum(curvature, 1e-300) / self.count
        return np.asarray(BELIEVED_SHARE[self.target] * variance)

    def residual(self, explained: float) -> float:
        """The root mean square of residuals, were shapes to explain so much; 1 for classes, whose slopes are bounded.

        Never below what the noise in the released square could hide.
        """
        if self.target == "classes":
            return 1.0
        around = self.mean_square - self.mean**2
        hidden = max(LEAST_RESIDUAL * around, min(self.square_noise, USUAL_SQUARE))
        return math.sqrt(max(self.mean_square - explained, hidden))

    def clip(self, effective_dimension: float, residual: float) -> float:
        """C: in units of the typical gradient, |residual| |features|; the smaller the less is seen above the noise."""
        by_signal, most = CLIP_RULES[self.target]
        c = by_signal * math.sqrt(self.signal / effective_dimension)
        if self.target == "numbers":
            c *= max(1.0, c / SURE_CLIP)
        else:
            c = max(c, LEAST_CLIP * math.sqrt(self.evenness))
        return min(c, most) * residual * math.sqrt(effective_dimension)


@dataclass(frozen=True, kw_only=True, eq=False)
class Descent:
    """Released weights (K, D) of a design, and the variance that noise has in each of them, about."""

    weights: Floats
    noise: float
    clip: float
    residual: float


def gradient_sensitivity(task: AdditiveTask, clip: float, design: AdditiveDesign) -> float:
    """c C, twice under replace, and what rounding may add to two sums."""
    change = sum_l2(clip * (1.0 + NORM_SLACK), task.account.adjacency, task.account.unit)
    return change + 2.0 * clip * design.rounding(task.rows.largest_count())


def descend(
    task: AdditiveTask, design: AdditiveDesign, start: Floats, *, square: Fraction, steps: int, label: str
) -> Descent:
    """`steps` noisy gradients for mu^2 = `square`, from `start`; the mean of the last iterates.

    Every step costs the same. Its clip, and with it its noise, follows what the released weights explain by then.
    """
    weights, mean, step, last = start, np.zeros_like(start), task.step, math.inf
    averaged, clip, noise, residual, spreads = math.ceil(steps * AVERAGED_SHARE), 0.0, 0.0, 1.0, []
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
        spread = float(mechanism.sigma) / task.count
        sums = task.rows.gradient(
            design.plan, loss=task.loss, table=design.lookup(weights), constant=weights[:, 0], clip=clip
        )
        noisy = task.account.release(mechanism, design.gather(sums), label=f"additive: {label}")
        gradient = np.asarray(noisy, dtype=np.float64) / task.count
        size = max(float(np.sum(gradient**2)) - gradient.size * spread**2, 0.0)
        if size > GROWTH_THRESHOLD * last:  # correlated columns: steps overshoot
            step *= SLOWDOWN_FACTOR
        last = max(size, gradient.size * spread**2 * 0.1)
        weights = weights - step * gradient
        noise = task.kept_by_a_step**2 * noise + (step * spread) ** 2
        spreads.append(spread**2)
        if number >= steps - averaged:
            mean += weights / averaged
    typical = float(np.mean(spreads))
    noise = task.step**2 * noise_of_mean(task.kept_by_a_step, steps, averaged) * typical
    return Descent(weights=mean, noise=noise, clip=clip, residual=residual)


def noise_of_mean(keep: float, steps: int, averaged: int) -> float:
    """The variance of the mean of the last iterates over that of one step, of which the next leaves `keep`."""
    total = 0.0
    for drawn in range(steps):
        ages = np.arange(max(drawn, steps - averaged), steps) - drawn
        total += (float(np.sum(keep**ages)) / averaged) ** 2
    return total
