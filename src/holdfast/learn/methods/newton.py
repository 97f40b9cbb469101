"""Noisy Newton steps for logistic regression: each releases the gradient and the second derivative together.

Avella-Medina, Bradshaw and Loh 2023, and Ganesh et al. 2023, pay for both. Released together they cost no more than the
gradient alone: a row's slope is r x and its curvature r (1 - r) x x^T with the same r in [0, 1], so the curvature is 0
where the slope is longest. So is the third derivative, which the last steps release in the direction that decides about
intervals. Rows are not clipped a second time and nothing is penalised: the estimate is that of the regression itself,
and the last steps, each an estimate with independent noise, give intervals (soundness, section 26).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from holdfast._arrays import Floats
from holdfast._progress import progress
from holdfast.data._clipped_rows import NORM_SLACK
from holdfast.learn._inference.score import NoisyScore
from holdfast.learn._problem import Problem
from holdfast.learn._risk.descent import gaussian_for, gaussian_square
from holdfast.learn._rows.clipped_blocks import ClippedBlocks
from holdfast.learn._rows.examples import Examples
from holdfast.learn._rows.summation import UNIT_ROUNDOFF, one_thread, rounding_of_sum
from holdfast.learn._whitening import from_upper_triangle, upper_triangle
from holdfast.learn.methods.method import Fit, Learner
from holdfast.privacy._account import Account
from holdfast.privacy._adjacency import Adjacency
from holdfast.privacy._mechanisms.mechanism import Arithmetic

STEP_SHARES = (2, 2, 2, 3, 3, 4, 10, 12, 16, 20, 26)
"""The share of mu^2 for each step, in per cent. The budget of the first steps does not enter the estimate, but with a
strong signal six of them are too few."""
ESTIMATE_STEPS, PILOT_STEPS = slice(8, 11), slice(6, 8)
"""The steps that make the estimate, and those before them, whose curvature decides whether intervals are issued."""
POOLED_RELEASES = 3
"""A step goes to the common root of this many last releases: one alone is too noisy, and earlier ones are too far away,
since a logistic score is linear only near its root."""
FLOOR_FACTOR, LONGEST_STEP = 2.0, 4.0
"""Limits of a step: eigenvalues are at least this multiple of the norm of their noise, and predictions change by at
most so much."""


@dataclass(frozen=True, kw_only=True)
class JointScore:
    """The vector (gradient, lift * second derivative, tilt_lift * third derivative along u, u), and its sensitivity.

    A row's parts have the lengths r |x|, r (1 - r) |x|^2 and at most r (1 - r) |1 - 2 r| |x|^3 for |u| = 1. With
    |x| <= X, k = lift * X and q = tilt_lift * X^2 the squared length is at most X^2 f(r),
    f(r) = r^2 (1 + (1 - r)^2 (k^2 + q^2 (1 - 2 r)^2)). For k^2 = 10, q^2 = 9 that is at most 1, its value at r = 1:
    (1 - f(r)) / (1 - r) = 1 + r - 19 r^2 + 55 r^3 - 72 r^4 + 36 r^5 is above 0.01 on [0, 1]. The squared distance of
    two rows is at most the sum of 2 r^2 X^2 (1 + (1 - r)^2 (k^2 / 2 + q^2 (1 - 2 r)^2)) over both, inner products of
    squares being >= 0: 4 X^2 for k^2 = 20 and the same q.

    >>> JointScore.of(Adjacency.zero_out, row_norm=0.5)
    JointScore(lift=6.324..., tilt_lift=12.0, l2_sensitivity=0.5)
    """

    lift: float
    tilt_lift: float
    l2_sensitivity: float

    @classmethod
    def of(cls, adjacency: Adjacency, *, row_norm: float, rows_per_unit: int = 1) -> JointScore:
        """The constants for these neighbours; a unit of c rows has c times the sensitivity."""
        factor = adjacency.gradient_factor
        return cls(
            lift=math.sqrt(10.0 * factor) / row_norm,
            tilt_lift=3.0 / row_norm**2,
            l2_sensitivity=factor * rows_per_unit * row_norm,
        )

    def at(
        self, theta: Floats, passes: ClippedBlocks, problem: Problem, along: Floats | None = None
    ) -> Floats:
        """The vector summed over all rows; private. `along` is the unit vector u; None: without third derivative."""
        d = problem.dimension
        gradient, curvature, tilt = np.zeros(d), np.zeros((d, d)), np.zeros(d)
        for rows, labels in passes.blocks():
            z = rows @ theta
            gradient += problem.loss.slopes(z, labels) @ rows
            curvatures = problem.loss.curvatures(z, labels)
            curvature += rows.T @ (curvatures[:, None] * rows)
            if along is not None:
                # The derivative of r (1 - r) is r (1 - r)(1 - 2 r), r the chance of the class +1.
                tilt -= (curvatures * np.tanh(0.5 * z) * (rows @ along) ** 2) @ rows
        parts = [gradient, self.lift * upper_triangle(curvature)]
        return np.concatenate(parts if along is None else [*parts, self.tilt_lift * tilt])


@dataclass(frozen=True, kw_only=True, eq=False)
class NewtonStep:
    """What one step released: noisy gradient and second derivative at a point, and the deviations of their noise."""

    point: Floats
    gradient: Floats
    curvature: Floats
    share: float
    gradient_noise: float
    curvature_noise: float
    tilt: Floats | None = None


def noisy_newton(
    examples: Examples,
    problem: Problem,
    *,
    account: Account,
    count_bound: int | None = None,
    arithmetic: Arithmetic = "strict",
) -> Fit:
    """Eleven noisy Newton steps from the origin; the estimate is the root of the last three together.

    Private for the logistic loss: its slope is bounded, so nothing but the row norm is clipped. `count_bound`, a public
    bound on the number of rows, enters only the slack for rounding errors of the sums.
    """
    square, count = gaussian_square(account.remaining()), examples.public_count
    most, assumptions = examples.largest_count(count_bound)
    joint = JointScore.of(
        account.adjacency, row_norm=problem.norm_bound, rows_per_unit=examples.unit.max_rows
    )
    size = problem.norm_bound * (1.0 + 0.25 * joint.lift * problem.norm_bound)
    size += 0.1 * joint.tilt_lift * problem.norm_bound**3
    error = rounding_of_sum(most) + 4.0 * (problem.dimension + 16) * UNIT_ROUNDOFF
    sensitivity = joint.l2_sensitivity * (1.0 + NORM_SLACK) + 2.0 * most * size * error
    with one_thread():
        passes = ClippedBlocks(examples, problem)

        def noisy_derivatives(theta: Floats, share: Fraction, along: Floats | None) -> tuple[Floats, float]:
            mechanism = gaussian_for(
                square * share, l2_sensitivity=sensitivity, adjacency=account.adjacency, arithmetic=arithmetic
            )
            exact = joint.at(theta, passes, problem, along)
            noisy = account.release(mechanism, exact, label="newton: gradient and derivatives")
            return np.asarray(noisy), float(mechanism.sigma)

        steps, theta = newton_steps(
            noisy_derivatives, problem, joint=joint, penalties=problem.penalties * count
        )
    score = score_of(steps, count, bend=problem.norm_bound)
    free = problem.penalty == 0 and math.isinf(problem.radius)
    weights = score.solution if free and not score.strength.too_low_for_solution else theta
    return Fit(
        weights=weights * min(1.0, problem.radius / max(float(np.linalg.norm(weights)), 1e-300)),
        theorem="composed Gaussian mechanisms on the derivatives of the logistic loss",
        parameters={"steps": len(STEP_SHARES), "lift": joint.lift, "l2_sensitivity": sensitivity},
        assumptions=assumptions,
        score=score if free and examples.unit.max_rows == 1 else None,
    )


def newton_steps(
    released: Callable[[Floats, Fraction, Floats | None], tuple[Floats, float]],
    problem: Problem,
    *,
    joint: JointScore,
    penalties: Floats,
) -> tuple[list[NewtonStep], Floats]:
    """All steps, and their last point; reads released values only.

    `released` returns the noisy joint vector at a point for a share of mu^2, and sigma. `penalties` are on the sum of
    losses, one for each weight.
    """
    d = problem.dimension
    theta, steps = np.zeros(d), list[NewtonStep]()
    along: Floats | None = None
    for share in progress(STEP_SHARES, desc="newton"):
        if len(steps) == ESTIMATE_STEPS.start:
            along = np.linalg.eigh(mean_curvature(steps[PILOT_STEPS]))[1][:, 0]
        noisy, sigma = released(theta, Fraction(share, 100), along)
        gradient, triangle, tilt = np.split(noisy, [d, d + d * (d + 1) // 2])
        steps.append(
            NewtonStep(
                point=theta,
                gradient=gradient,
                curvature=from_upper_triangle(triangle, d) / joint.lift,
                share=share / 100,
                gradient_noise=sigma,
                curvature_noise=sigma / joint.lift,
                tilt=None if along is None else tilt / joint.tilt_lift,
            )
        )
        theta = _newton_step(steps[-POOLED_RELEASES:], problem, penalties=penalties)
    return steps, theta


def _newton_step(last: list[NewtonStep], problem: Problem, *, penalties: Floats) -> Floats:
    """A Newton step on the mean of the last scores, with eigenvalues floored; post-processing."""
    weights, newest = pooling_weights(last), last[-1]
    curvature = mean_curvature(last)
    slopes = [past.gradient + past.curvature @ (newest.point - past.point) for past in last]
    gradient = np.tensordot(weights, slopes, axes=1)
    deviation = pooled_noise(last)
    values, basis = np.linalg.eigh(curvature)
    floored = np.maximum(values, FLOOR_FACTOR * math.sqrt(2.0 * problem.dimension) * deviation)
    if penalties.any():
        penalised = (basis * floored) @ basis.T + np.diag(penalties)
        step = np.linalg.solve(penalised, gradient + penalties * newest.point)
    else:
        step = basis @ (basis.T @ gradient / floored)
    length = problem.row_norm * float(np.linalg.norm(step))
    theta = newest.point - step * min(1.0, LONGEST_STEP / max(length, 1e-300))
    return np.asarray(theta * min(1.0, problem.radius / max(float(np.linalg.norm(theta)), 1e-300)))


def score_of(steps: list[NewtonStep], count: int, *, bend: float) -> NoisyScore:
    """The last steps as one score, weighted by their budgets; and the curvature of the steps before them."""
    used, before = steps[ESTIMATE_STEPS], steps[PILOT_STEPS]
    weights, tilts = pooling_weights(used), [step.tilt for step in used if step.tilt is not None]
    return NoisyScore(
        loss="logistic",
        curvature=mean_curvature(used),
        target=np.tensordot(weights, [step.curvature @ step.point - step.gradient for step in used], axes=1),
        centres=np.stack([step.point for step in used]),
        weights=weights,
        gradient_noise=np.array([step.gradient_noise for step in used]),
        curvature_noise=np.array([step.curvature_noise for step in used]),
        count=count,
        pilot=mean_curvature(before),
        pilot_noise=pooled_noise(before),
        bend=bend,
        tilt=np.tensordot(weights, tilts, axes=1) if len(tilts) == len(used) else None,
    )


def pooling_weights(steps: list[NewtonStep]) -> Floats:
    """Weights in inverse proportion to the variances of the noise."""
    shares = np.array([step.share for step in steps])
    return np.asarray(shares / shares.sum())


def mean_curvature(steps: list[NewtonStep]) -> Floats:
    """The mean curvature of the steps, weighted by their budgets."""
    return np.asarray(np.tensordot(pooling_weights(steps), [step.curvature for step in steps], axes=1))


def pooled_noise(steps: list[NewtonStep]) -> float:
    """The standard deviation of the noise in `mean_curvature`."""
    return float(np.linalg.norm(pooling_weights(steps) * [step.curvature_noise for step in steps]))


METHOD = Learner(
    name="newton",
    run=noisy_newton,
    paper="Avella-Medina, Bradshaw and Loh 2023; gradient and curvature at one price",
    needs=("convex", "lipschitz", "smooth", "delta"),
    losses=("logistic",),
    only="is for logistic regression of two classes",
    behind="is for intervals (conf_int): it does not shrink what it cannot see",
    no_intervals="its penalty or its radius moves what is estimated; leave them out",
)
