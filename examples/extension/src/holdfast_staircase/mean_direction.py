"""The mean of y x under noise: the direction of least squares on rows that are white."""

from __future__ import annotations

import math

import numpy as np

from holdfast.learn._problem import Problem
from holdfast.learn._rows.clipped_blocks import clip_chunk
from holdfast.learn._rows.examples import Examples
from holdfast.learn.methods.method import SINGLE_ROWS, Fit, Learner
from holdfast.privacy import Account
from holdfast.privacy._account.remaining import noise_within
from holdfast.privacy._mechanisms.mechanism import Arithmetic

GRID = 2.0**-30
"""Rows are rounded to it: sums of whole numbers are exact, whatever the order."""


def mean_direction(
    examples: Examples,
    problem: Problem,
    *,
    account: Account,
    scale: float = 1.0,
    arithmetic: Arithmetic = "strict",
) -> Fit:
    """One noisy sum. One record moves it by the norm of a row, or by twice that where it is replaced."""
    total = np.zeros(problem.dimension, dtype=np.int64)
    for chunk in examples.chunks():
        rows, labels = clip_chunk(
            chunk, problem
        )  # within the declared norm, and labels of -1 and +1, whatever is stored
        total += np.rint(labels[:, None] * rows / GRID).astype(np.int64).sum(axis=0)
    rounding = GRID / 2 * math.sqrt(problem.dimension)
    noise = noise_within(
        account,
        l2_sensitivity=account.adjacency.gradient_factor * (problem.norm_bound + rounding),
        dimension=problem.dimension,
        arithmetic=arithmetic,
    )
    noisy = account.release(noise.mechanism, GRID * total, label="sum of y x")  # the only way out
    return Fit(
        weights=scale * noisy / examples.public_count,
        theorem="one noisy sum (Dwork et al. 2006)",
        noise_std=scale * noise.deviation / examples.public_count,
    )


METHOD = Learner(
    name="mean_direction",
    run=mean_direction,
    paper="none",
    pure=True,
    losses=("logistic", "huber", "hinge"),
    only="takes labels of -1 and +1",
    single_rows=SINGLE_ROWS,  # refuses users of several rows; or multiply the sensitivity, and leave this out
)
