"""Least squares from one noisy second moment of rows and targets together (sufficient statistics perturbation).

Released: the sum of v v^T, v = (x, omega y), with Gaussian noise (Vu and Slavkovic 2009; Foulds et al. 2016). All else
is post-processing, intervals for the coefficients included (soundness, section 26): unlike AdaSSP's, the release holds
the sum of squared targets, without which nobody knows the residual variance.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from holdfast._arrays import Floats
from holdfast._assumption import ACCURACY, Assumption
from holdfast.learn._inference.score import NoisyScore
from holdfast.learn._problem import Problem
from holdfast.learn._risk.descent import gaussian_for, gaussian_square
from holdfast.learn._rows.clipped_blocks import clip_chunk
from holdfast.learn._rows.examples import Examples
from holdfast.learn._rows.moments import Moments, squared_loss
from holdfast.learn._rows.summation import UNIT_ROUNDOFF, summation_error
from holdfast.learn._whitening import from_upper_triangle, second_moment_sensitivity, upper_triangle
from holdfast.learn.methods.adassp import solve_noisy
from holdfast.learn.methods.method import Fit, Learner
from holdfast.privacy._account import Account
from holdfast.privacy._mechanisms.mechanism import Arithmetic

DECLARED_COUNT = Assumption(
    kind=ACCURACY,
    subject="intervals",
    text="accuracy, not privacy: intervals take the declared n_public for the number of rows, which is private "
    "and, without an intercept, not measured; with fewer rows than that they are too narrow",
)
PILOT_SHARE = Fraction(1, 10)
"""The share of mu^2 for a second moment of the rows alone, which decides whether intervals are issued."""


def ssp(
    examples: Examples,
    problem: Problem,
    *,
    account: Account,
    count_bound: int | None = None,
    arithmetic: Arithmetic = "strict",
) -> Fit:
    """Release the joint second moment with Gaussian noise, then solve; eigenvalues are floored at the noise's norm.

    A tenth of the budget pays for a second moment of the rows alone, which decides whether intervals are issued. If
    the joint moment decided, intervals would be issued where its noise is favourable, and cover too rarely.

    Private for every table of rows within `row_norm`, labels clipped to the target bound. `count_bound`, a public bound
    on the number of rows, enters only the slack for rounding errors of the sums.
    """
    bound, d = squared_loss(problem).target_bound, problem.dimension
    # Targets on the scale of rows: where weights are small, |v|^2 / omega is least at omega Y = X.
    omega = problem.norm_bound / bound
    joint_norm = math.sqrt(2.0) * problem.norm_bound
    most, assumptions = examples.largest_count(count_bound)
    rounding = 2.0 * most * joint_norm**2 * (summation_error(most) + 100 * UNIT_ROUNDOFF * (d + 1) ** 2)
    square, c = gaussian_square(account.remaining()), examples.unit.max_rows
    alone = second_moment_sensitivity(account.adjacency, row_norm=problem.norm_bound, rows_per_unit=c)
    together = second_moment_sensitivity(account.adjacency, row_norm=joint_norm, rows_per_unit=c)
    exact = joint_moment(examples, problem, bound=bound, omega=omega)
    first, second = (
        gaussian_for(
            square * share,
            l2_sensitivity=moved + rounding,
            adjacency=account.adjacency,
            arithmetic=arithmetic,
        )
        for share, moved in ((PILOT_SHARE, alone), (1 - PILOT_SHARE, together))
    )
    pilot = account.release(first, upper_triangle(exact[:d, :d]), label="ssp: rows, for the decision")
    joint = account.release(second, upper_triangle(exact), label="ssp: rows and targets")
    s = float(second.sigma)
    released, count = from_upper_triangle(np.asarray(joint), d + 1), examples.public_count
    known = account.adjacency.count_is_public
    if problem.constant and (examples.may_lack_targets or not known):
        # Rows without a target are null records. The released sum of squares of the constant counts the other rows, to
        # which the residual variance belongs.
        square_sum = float(released[d - 1, d - 1])
        count = rows_of_constant(square_sum, problem.constant, most=count if known else None)
    elif not known:
        assumptions = (*assumptions, DECLARED_COUNT)
    score = squared_score(
        released,
        omega=omega,
        noise_std=s,
        count=count,
        pilot=from_upper_triangle(np.asarray(pilot), d),
        pilot_noise=float(first.sigma),
    )
    weights = solve_noisy(
        Moments(gram=score.curvature, cross=score.target),
        ridge=problem.penalties * examples.public_count,
        floor=math.sqrt(2.0 * d) * s,
    )
    size = float(np.linalg.norm(weights))
    plain = problem.penalty == 0 and c == 1
    return Fit(
        weights=weights * min(1.0, problem.radius / max(size, 1e-300)),
        theorem="Gaussian mechanism on the joint second moment (sufficient statistics; soundness, sections 20 and 26)",
        parameters={"moment_noise_std": s, "target_unit": 1.0 / omega},
        assumptions=assumptions,
        score=score if plain else None,
    )


def rows_of_constant(square_sum: float, constant: float, *, most: int | None) -> int:
    """The number of rows that add to a noisy sum of squares of the constant: at least one, and at most `most`.

    >>> rows_of_constant(25.0, 0.5, most=1000), rows_of_constant(300.0, 0.5, most=1000)
    (100, 1000)
    """
    count = max(1, math.floor(square_sum / constant**2))
    return count if most is None else min(most, count)


def squared_score(
    joint: Floats,
    *,
    omega: float,
    noise_std: float,
    count: int,
    pilot: Floats | None = None,
    pilot_noise: float = 0.0,
) -> NoisyScore:
    """The noisy score that a noisy joint moment implies, in the units of the problem's targets."""
    d = joint.shape[0] - 1
    return NoisyScore(
        loss="squared",
        curvature=joint[:d, :d],
        target=joint[:d, d] / omega,
        centres=np.zeros((1, d)),
        weights=np.ones(1),
        gradient_noise=np.array([noise_std / (math.sqrt(2.0) * omega)]),
        curvature_noise=np.array([noise_std]),
        count=count,
        square=float(joint[d, d]) / omega**2,
        pilot=pilot,
        pilot_noise=pilot_noise,
    )


def joint_moment(examples: Examples, problem: Problem, *, bound: float, omega: float) -> Floats:
    """The sum of v v^T over all rows, rows and targets within their bounds; private."""
    total = np.zeros((problem.dimension + 1, problem.dimension + 1))
    for rows, labels in (clip_chunk(chunk, problem) for chunk in examples.chunks()):
        joined = np.column_stack([rows, omega * np.clip(labels, -bound, bound)])
        total += joined.T @ joined
    return total


METHOD = Learner(
    name="ssp",
    run=ssp,
    paper="Vu and Slavkovic 2009; Foulds et al. 2016; intervals as in soundness, section 26",
    needs=("convex", "delta"),
    losses=("squared",),
    only="solves least squares only",
    behind="is for intervals (conf_int); its ridge does not adapt",
    no_intervals="its penalty moves what is estimated; leave penalty out",
)
