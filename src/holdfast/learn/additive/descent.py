"""Noisy descent on looked-up features: each record's gradient is clipped, summed exactly, released and followed.

|r z| <= C by clipping, so one row moves the sum by C, by 2 C under replace, and c rows by c times as much (soundness,
sections 18, 20 and 24). T releases of noise sigma = C sqrt(T) / mu are mu-GDP together. Steps, averages and the guard
look at released numbers only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from holdfast.data.sensitivity import sum_l2
from holdfast.kernel.lookup import Loss
from holdfast.learn.additive.cell_rows import CellRows
from holdfast.learn.additive.design import AdditiveDesign
from holdfast.learn.risk.descent import gaussian_for
from holdfast.privacy.account import Account
from holdfast.privacy.mechanisms.mechanism import Arithmetic
from holdfast.privacy.rounding import NORM_SLACK
from holdfast.progress import progress

Floats = NDArray[np.float64]
AVERAGED = 0.5
SLOWER, GREW = 0.6, 1.5
"""The guard: steps become this much shorter when the squared gradient, less its noise, grew by this much."""
CLIPS = {"classes": (0.0, 0.06, 1.0), "numbers": (0.06, 0.013, 0.25)}
"""At least, per root of the signal, and at most: residuals of targets in [-1, 1] are smaller than logistic slopes."""
CURVATURES = {"logistic": 0.04, "squared": 0.3, "softmax": 0.6}
"""Of the loss at typical scores, of one class among several times their number."""
STEPS_BY_LOSS = {"logistic": 3.0, "softmax": 3.0, "squared": 0.75}


@dataclass(frozen=True, kw_only=True, eq=False)
class AdditiveTask:
    """What stays the same from phase to phase: rows, loss, account, and the released number of rows."""

    rows: CellRows
    loss: Loss
    outputs: int
    account: Account
    count: float
    signal: float
    """mu n, mu being that of the whole fit for one unit's clipped gradient: the one quantity that rules look at."""
    arithmetic: Arithmetic

    @property
    def target(self) -> str:
        """What is predicted, for rules that differ."""
        return "numbers" if self.loss == "squared" else "classes"

    @property
    def step(self) -> float:
        """For features of unit variance: a softmax of K classes curves by about 1 / K."""
        return STEPS_BY_LOSS[self.loss] * (min(self.outputs, 8) / 4 if self.loss == "softmax" else 1.0)

    def clip(self, effective_dimension: float) -> float:
        """C: in units of the typical length of features, the smaller the less is seen above the noise."""
        least, by_signal, most = CLIPS[self.target]
        c = min(most, max(least, by_signal * math.sqrt(self.signal / effective_dimension)))
        return c * math.sqrt(effective_dimension)


@dataclass(frozen=True, kw_only=True, eq=False)
class Descent:
    """Released weights (K, D) of a design, and the variance that noise has in each of them, about."""

    weights: Floats
    noise: float


def gradient_sensitivity(task: AdditiveTask, clip: float, design: AdditiveDesign) -> float:
    """c C, twice under replace, and what rounding may add to two sums."""
    moved = sum_l2(clip * (1.0 + NORM_SLACK), task.account.adjacency, task.account.unit)
    return moved + 2.0 * clip * design.rounding(task.rows.largest_count())


def descend(
    task: AdditiveTask, design: AdditiveDesign, start: Floats, *, square: Fraction, steps: int, label: str
) -> Descent:
    """`steps` noisy gradients for mu^2 = `square`, from `start`; the mean of the last half of the iterates."""
    clip = task.clip(design.effective_dimension)
    mechanism = gaussian_for(
        square / steps, l2_sensitivity=gradient_sensitivity(task, clip, design),
        adjacency=task.account.adjacency, arithmetic=task.arithmetic,
    )  # fmt: skip
    spread = float(mechanism.sigma) / task.count
    weights, mean, step, last = start, np.zeros_like(start), task.step, math.inf
    averaged = max(1, round(steps * AVERAGED))
    for number in progress(range(steps), desc=label):
        sums = task.rows.gradient(
            design.plan, loss=task.loss, table=design.lookup(weights), constant=weights[:, 0], clip=clip
        )
        noisy = task.account.release(mechanism, design.gather(sums), label=f"additive: {label}")
        gradient = np.asarray(noisy, dtype=np.float64) / task.count
        size = max(float(np.sum(gradient**2)) - gradient.size * spread**2, 0.0)
        if size > GREW * last:  # correlated columns: steps overshoot
            step *= SLOWER
        last = max(size, gradient.size * spread**2 * 0.1)
        weights = weights - step * gradient
        if number >= steps - averaged:
            mean += weights / averaged
    return Descent(weights=mean, noise=_noise_of_mean(task, steps, averaged) * spread**2)


def _noise_of_mean(task: AdditiveTask, steps: int, averaged: int) -> float:
    """The variance of the mean iterate over that of one gradient, where the loss curves as usual."""
    curvature = CURVATURES[task.loss] / (max(task.outputs, 2) if task.loss == "softmax" else 1)
    keep = max(0.0, 1.0 - task.step * curvature)
    total = 0.0
    for drawn in range(steps):
        ages = np.arange(max(drawn, steps - averaged), steps) - drawn
        total += (task.step * float(np.sum(keep**ages)) / averaged) ** 2
    return total
