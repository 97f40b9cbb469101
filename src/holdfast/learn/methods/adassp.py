"""Least squares from noisy second moments, with a ridge that adapts to the data (AdaSSP, Wang 2018).

Released together: the least eigenvalue of X^T X, X^T X itself and X^T y, with Gaussian noise. The ridge is set
from the noisy eigenvalue and public numbers only, so everything after the release is post-processing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from holdfast._arrays import Floats
from holdfast.learn._problem import Problem
from holdfast.learn._rows.examples import Examples
from holdfast.learn._rows.moments import Moments, second_moments, squared_loss
from holdfast.learn._rows.summation import UNIT_ROUNDOFF, summation_error
from holdfast.learn._whitening import from_upper_triangle, upper_triangle
from holdfast.learn.methods.method import Fit, Learner, Rank
from holdfast.privacy._account import Account
from holdfast.privacy._account.remaining import noise_within
from holdfast.privacy._adjacency import Adjacency
from holdfast.privacy._mechanisms.mechanism import Arithmetic

CONFIDENCE = 0.95
"""The confidence of the bounds on the noise from which the ridge is set; it concerns accuracy, not privacy."""


@dataclass(frozen=True, kw_only=True)
class StatisticsSensitivity:
    """The sensitivity of each of the three statistics; all public (soundness, section 20)."""

    least_eigenvalue: float
    gram: float
    cross: float
    together: float
    """The sensitivity of the stack of all three, each divided by its own."""

    @classmethod
    def of(
        cls, adjacency: Adjacency, *, row_norm: float, target_bound: float, rows_per_unit: int = 1
    ) -> StatisticsSensitivity:
        """X^2 by Weyl for both adjacencies; |x x^T - z z^T|_F <= sqrt(2) X^2 and 2 X Y under replace.

        A unit of c rows adds a matrix between 0 and c X^2 I: c times each, by the same arguments.

        Together: sqrt(3) for one row more or less, attained. Under replace the three do not go together. Take
        X = Y = 1, g = |<x, z>|, b = |z|^2 <= |x|^2 = 1 (all parts grow with the longer row), D = x x^T - z z^T. The
        squared distance is at most |D|_op^2 + |D|_F^2 / 2 + (1 + b + 2 g) / 4. At a fixed direction of z the first two
        are convex in b, so below the chord from 3/2 at b = 0 to 2 (1 - cos^2) at b = 1, with b cos^2 = g^2: the sum is
        at most 7/4 + 3 b / 4 - 2 g^2 + g / 2 <= 5/2 + 1/32, at g = 1/8. It is 9 / (4 sqrt(2)), attained in the limit
        of many other rows. The statistics of c rows are c times a mean of one row's, and the distance is convex in
        these.

        >>> StatisticsSensitivity.of(Adjacency.replace, row_norm=1.0, target_bound=1.0)
        StatisticsSensitivity(least_eigenvalue=1.0, gram=1.4142135623730951, cross=2.0, together=1.590990257669732)
        """
        factor = adjacency.gradient_factor
        square = rows_per_unit * row_norm**2
        return cls(
            least_eigenvalue=square,
            gram=math.sqrt(factor) * square,
            cross=factor * rows_per_unit * row_norm * target_bound,
            together=9.0 / (4.0 * math.sqrt(2.0)) if factor == 2 else math.sqrt(3.0),
        )

    def stack(self, moments: Moments) -> Floats:
        """The three statistics in units of their sensitivities: one vector that moves by at most `together`."""
        least = float(np.linalg.eigvalsh(moments.gram)[0])
        return np.concatenate(
            [
                [least / self.least_eigenvalue],
                upper_triangle(moments.gram) / self.gram,
                moments.cross / self.cross,
            ]
        )

    def unstack(self, noisy: Floats, dimension: int) -> tuple[float, Moments]:
        """The noisy least eigenvalue and the noisy moments, from a noisy stack."""
        gram = from_upper_triangle(noisy[1 : noisy.size - dimension], dimension) * self.gram
        return float(noisy[0]) * self.least_eigenvalue, Moments(
            gram=gram, cross=noisy[-dimension:] * self.cross
        )


def adassp(
    examples: Examples,
    problem: Problem,
    *,
    account: Account,
    count_bound: int | None = None,
    arithmetic: Arithmetic = "strict",
) -> Fit:
    """Release the second moments with Gaussian noise, then solve with an adaptive ridge.

    Private for every table of rows within `row_norm`, labels clipped to the target bound. `count_bound`, a
    public bound on the number of rows, enters only the slack for rounding errors of the sums.
    """
    loss = squared_loss(problem)
    statistics = StatisticsSensitivity.of(
        account.adjacency,
        row_norm=problem.norm_bound,
        target_bound=loss.target_bound,
        rows_per_unit=examples.unit.max_rows,
    )
    most, assumptions = examples.largest_count(count_bound)
    d = problem.dimension
    # Both neighbours' sums are rounded: each statistic, in its own units, by this much of its size.
    rounding = most * (summation_error(most) + 100 * UNIT_ROUNDOFF * d * d)
    sensitivity = statistics.together * (1.0 + 2.0 * rounding)
    noise = noise_within(
        account, l2_sensitivity=sensitivity, dimension=1 + d * (d + 3) // 2, arithmetic=arithmetic
    )
    moments = second_moments(examples, problem, target_bound=loss.target_bound)
    noisy = account.release(noise.mechanism, statistics.stack(moments), label="adassp")
    least, released = statistics.unstack(np.asarray(noisy), d)
    ridge = adaptive_ridge(
        least,
        eigenvalue_noise=noise.deviation * statistics.least_eigenvalue,
        gram_noise=noise.deviation * statistics.gram,
        dimension=d,
    )
    weights = solve_noisy(
        released,
        ridge=max(ridge, problem.penalty * examples.public_count) * problem.penalised,
        floor=noise.deviation * statistics.gram,
    )
    size = float(np.linalg.norm(weights))
    return Fit(
        weights=weights * min(1.0, problem.radius / max(size, 1e-300)),
        theorem="Gaussian mechanism on second moments (Wang 2018, AdaSSP; sensitivities of soundness, section 20)",
        parameters={
            "ridge": ridge,
            "gram_noise_std": noise.deviation * statistics.gram,
            "cross_noise_std": noise.deviation * statistics.cross,
        },
        assumptions=assumptions,
    )


def adaptive_ridge(least: float, *, eigenvalue_noise: float, gram_noise: float, dimension: int) -> float:
    """The ridge of Wang 2018, Algorithm 2: a bound on the noise of X^T X, less a lower bound on its least eigenvalue.

    The noise matrix has deviation `gram_noise` on the diagonal and less off it; its norm is at most
    gram_noise sqrt(d ln(2 d^2 / u)) with probability 1 - u.
    """
    failure = 1.0 - CONFIDENCE
    lower = max(0.0, least - eigenvalue_noise * math.sqrt(2.0 * math.log(1.0 / failure)))
    return max(0.0, gram_noise * math.sqrt(dimension * math.log(2.0 * dimension**2 / failure)) - lower)


def solve_noisy(moments: Moments, *, ridge: Floats, floor: float) -> Floats:
    """(X^T X + diag(ridge))^-1 X^T y with eigenvalues floored at a public number: post-processing."""
    eigenvalues, basis = np.linalg.eigh(moments.gram + np.diag(ridge))
    return np.asarray(basis @ (basis.T @ moments.cross / np.maximum(eigenvalues, floor)))


METHOD = Learner(
    name="adassp",
    run=adassp,
    paper="Wang 2018 (UAI), Algorithm 2",
    needs=("convex", "delta"),
    losses=("squared",),
    only="solves least squares only",
    ranks=(Rank(place=2, pure=False, losses=("squared",)),),
    behind="noise grows with rows and targets at their declared bounds, where clipped gradients are shorter",
    no_intervals="its release lacks the sum of squared targets, without which the residual variance is unknown",
)
