"""The whitener that descent methods pay for: one noisy second moment, then post-processing."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from holdfast.learn.gd_schedule import Schedule, gaussian_for
from holdfast.learn.passes import Passes, rounding_of_sum
from holdfast.learn.problem import Problem
from holdfast.learn.second_moment import Whitener, second_moment, second_moment_sensitivity, whitener
from holdfast.privacy.account import Account
from holdfast.privacy.mechanism import Arithmetic


def release_whitener(
    passes: Passes,
    problem: Problem,
    setting: Schedule,
    account: Account,
    *,
    square: Fraction,
    count: int,
    most: int,
    arithmetic: Arithmetic,
    label: str,
) -> Whitener:
    """Release the second moment at the schedule's share of mu^2 = `square`; the rest is post-processing.

    `count` is public and divides; `most` bounds the rows, for the rounding of the sum (soundness, section 20).
    """
    bound = problem.norm_bound
    sensitivity = second_moment_sensitivity(
        account.adjacency, row_norm=bound, rows_per_unit=account.unit.max_rows
    )
    mechanism = gaussian_for(
        square * Fraction(setting.share),
        l2_sensitivity=sensitivity + 2.0 * most * bound**2 * rounding_of_sum(most),
        adjacency=account.adjacency,
        arithmetic=arithmetic,
    )
    moment = second_moment(passes, dimension=problem.dimension, kind=setting.preconditioner)
    released = account.release(mechanism, moment, label=label)
    return whitener(
        np.asarray(released, dtype=np.float64) / count,
        kind=setting.preconditioner,
        dimension=problem.dimension,
        noise_std=float(mechanism.sigma) / count,
        ridge=setting.ridge,
    )
