"""Calibration: a released scale and shift of the scores, so that predicted probabilities agree with frequencies.

Clipped and averaged steps leave scores too small or too large. Five noisy gradient steps fit the scale s and the shift
t of s f + t, where the score f is clipped to [-6, 6] and divided by 3. So the gradient of one record has norm at most
|r| sqrt(5), with |r| <= 1 for two classes and sqrt(2) for several. The scale and the shift are folded into the shapes,
and the model stays additive.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from holdfast._arrays import Floats
from holdfast._kernel.lookup import lookup_slopes
from holdfast.data._clipped_rows import NORM_SLACK
from holdfast.data._sensitivity import sum_l2
from holdfast.learn._additive.descent import AdditiveTask, noise_of_mean
from holdfast.learn._additive.design import AdditiveDesign
from holdfast.learn._risk.descent import gaussian_for

CALIBRATION_STEPS, AVERAGED_STEPS = 5, 3
"""All steps, and how many of the last ones are averaged."""
LARGEST_SCORE, SCORE_UNIT = 6.0, 3.0
STEP_RATE, REMAINING_ERROR = 2.0, 0.75
"""The rate of a step for nearly equal classes, and the share of an error that a step leaves."""
CORRECTION_PRIOR_STD = 0.25
"""The prior standard deviation of the correction, which is shrunk the more, the larger its noise is beside it."""
SCALE_RANGE = (0.25, 4.0)
"""The range of the scale; a value outside would be due to noise."""
GRADIENT_UNIT = 2.0**-30
"""Gradients are summed in whole multiples of this unit, so that the order of rows does not matter."""


def slope_bound(task: AdditiveTask) -> float:
    """The largest norm of the derivative of one record's loss by its scores."""
    return math.sqrt(2.0) if task.loss == "softmax" else 1.0


def calibrate_scores(
    task: AdditiveTask, design: AdditiveDesign, weights: Floats, *, square: Fraction
) -> tuple[float, Floats]:
    """The scale s and the K shifts t of the scores s f + t, released for mu^2 = `square`."""
    reach = LARGEST_SCORE / SCORE_UNIT
    bound = slope_bound(task) * math.sqrt(1.0 + reach**2)
    # Rounding towards zero keeps each gradient within its bound; sums of whole numbers are exact.
    sensitivity = sum_l2(bound * (1.0 + NORM_SLACK), task.account.adjacency, task.account.unit)
    mechanism = gaussian_for(
        square / CALIBRATION_STEPS,
        l2_sensitivity=sensitivity,
        adjacency=task.account.adjacency,
        arithmetic=task.arithmetic,
    )
    table, constant = design.lookup(weights), weights[:, 0]
    scale_and_shift = np.concatenate([[SCORE_UNIT], np.zeros(task.outputs)])
    start, mean = scale_and_shift, np.zeros_like(scale_and_shift)
    rate, (least, most) = STEP_RATE / task.evenness, SCALE_RANGE
    for number in range(CALIBRATION_STEPS):
        total = np.zeros(start.size, dtype=np.int64)
        for codes, labels in task.rows.chunks():
            score = clipped_scores(design.plan.scores(codes, table, constant), reach)
            slopes = lookup_slopes(task.loss, scale_and_shift[0] * score + scale_and_shift[1:], labels)
            gradients = np.column_stack([np.sum(slopes * score, axis=1), slopes])
            total += np.trunc(gradients / GRADIENT_UNIT).astype(np.int64).sum(axis=0)
        noisy = task.account.release(mechanism, total * GRADIENT_UNIT, label="additive: calibration")
        scale_and_shift = scale_and_shift - rate * np.asarray(noisy, dtype=np.float64) / task.count
        scale_and_shift[0] = min(max(scale_and_shift[0], least * SCORE_UNIT), most * SCORE_UNIT)
        if number >= CALIBRATION_STEPS - AVERAGED_STEPS:
            mean += scale_and_shift / AVERAGED_STEPS
    noise = (rate * float(mechanism.sigma) / task.count) ** 2 * noise_of_mean(
        REMAINING_ERROR, CALIBRATION_STEPS, AVERAGED_STEPS
    )
    mean = start + (mean - start) / (1.0 + noise / CORRECTION_PRIOR_STD**2)
    return float(mean[0]) / SCORE_UNIT, mean[1:]


def clipped_scores(scores: Floats, reach: float) -> Floats:
    """The scores (rows, K) in units of `SCORE_UNIT`, each row clipped to the norm `reach`."""
    scaled = scores / SCORE_UNIT
    length = np.linalg.norm(scaled, axis=1, keepdims=True)
    return np.asarray(scaled * np.minimum(1.0, reach / np.maximum(length, 1e-300)))
