"""Ridge regression with noise on the solution, scaled to how far one row can move it.

theta* = (X^T X + lambda I)^-1 X^T y of the sum loss, lambda = penalty times the public count. Rows have norm at
most R and labels are clipped to |y| <= Y, so the proof holds for every table and not for the one at hand:
estimating the largest residual from the data would not be private (soundness, section 12).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from holdfast._arrays import Floats
from holdfast.errors import ParameterError, require
from holdfast.learn._intercept_centre import pay_for_centre
from holdfast.learn._problem import Problem
from holdfast.learn._rows.examples import Examples
from holdfast.learn._rows.moments import Moments, second_moments, squared_loss
from holdfast.learn._rows.summation import UNIT_ROUNDOFF, summation_error
from holdfast.learn.methods.method import Fit, Learner, PublicFacts, Rank
from holdfast.privacy._account import Account
from holdfast.privacy._account.remaining import noise_within
from holdfast.privacy._adjacency import Adjacency
from holdfast.privacy._mechanisms.mechanism import Arithmetic

THEOREM = (
    "ridge output perturbation: rank-one update of the normal equations, residual bounded for every table"
)
THEOREM_BALL = "ridge output perturbation over a ball: strong convexity, residual bounded on the ball"


@dataclass(frozen=True, kw_only=True)
class RidgeBounds:
    """Bounds on the change of the ridge solution by one row; every number is public.

    `ridge` is lambda of the sum loss, `count_bound` a public bound on the number of rows, `radius` the ball
    over which the problem is solved (infinite: unconstrained).

    >>> bounds = RidgeBounds(row_norm=1.0, target_bound=1.0, ridge=5.0, count_bound=10_000)
    >>> round(bounds.residual * bounds.row_norm / bounds.ridge, 3), round(bounds.one_row, 3)
    (4.672, 3.893)
    """

    row_norm: float
    target_bound: float
    ridge: float
    count_bound: int
    radius: float = math.inf

    def __post_init__(self) -> None:
        require(0 < self.row_norm < math.inf, "row_norm", self.row_norm, "> 0 and finite")
        require(0 < self.target_bound < math.inf, "target_bound", self.target_bound, "> 0 and finite")
        require(0 < self.ridge < math.inf, "ridge", self.ridge, "> 0 and finite")
        require(self.count_bound >= 1, "count_bound", self.count_bound, ">= 1")
        require(self.radius > 0, "radius", self.radius, "> 0")

    @property
    def weight_norm(self) -> float:
        """|theta*| <= Y sqrt(n) / (2 sqrt(lambda)), since s / (s^2 + lambda) <= 1 / (2 sqrt(lambda)); attained."""
        free = self.target_bound * math.sqrt(self.count_bound) / (2.0 * math.sqrt(self.ridge))
        return min(free, self.radius)

    @property
    def residual(self) -> float:
        """M >= |<theta*, x> - y| for every table of at most `count_bound` rows and every admissible row."""
        return self.target_bound + self.row_norm * self.weight_norm

    @property
    def one_row(self) -> float:
        """The largest change of theta* when one row is added or removed.

        Unconstrained: theta* - theta' = H^-1 x (x^T theta* - y) / (1 + x^T H^-1 x), and |H^-1 x|^2 <=
        x^T H^-1 x / lambda bounds the first factor by R / (lambda + R^2), or 1 / (2 sqrt(lambda)) if
        R^2 > lambda. On a ball: the sum loss is lambda-strongly convex and one row changes its gradient by
        R M, so R M / lambda; projecting the unconstrained solution would not reduce M.
        """
        if math.isfinite(self.radius):
            return self.residual * self.row_norm / self.ridge
        if self.row_norm**2 <= self.ridge:
            return self.residual * self.row_norm / (self.ridge + self.row_norm**2)
        return self.residual / (2.0 * math.sqrt(self.ridge))

    def rounding(self, dimension: int) -> float:
        """A bound, for every table, on the distance of the computed solution from the exact one.

        The eigensolver errs by a modest multiple of d^2 u |H|; an error g in the gradient moves the minimiser
        by g / lambda.
        """
        n, d, u = self.count_bound, dimension, UNIT_ROUNDOFF
        largest = n * self.row_norm**2 + self.ridge
        gram_error = (summation_error(n) + 100 * u * d * d) * largest
        cross_error = (summation_error(n) + 100 * u * d) * n * self.row_norm * self.target_bound
        # On the ball the radius is met to 64 d u, and the minimiser moves by at most the condition number of it.
        boundary = 64 * d * u * self.weight_norm * largest / self.ridge
        return (gram_error * self.weight_norm + cross_error) / self.ridge + boundary

    def l2_sensitivity(self, adjacency: Adjacency, *, dimension: int, rows_per_unit: int = 1) -> float:
        """c times the change by one row for a unit of c rows, twice that under replace; plus twice the rounding."""
        steps = adjacency.gradient_factor * rows_per_unit
        return steps * self.one_row + 2.0 * self.rounding(dimension)


def ridge(
    examples: Examples,
    problem: Problem,
    *,
    account: Account,
    count_bound: int | None = None,
    arithmetic: Arithmetic = "strict",
) -> Fit:
    """Solve ridge regression exactly, on the ball if the problem has a radius, and release it with noise.

    Private for every table of rows within `row_norm` whose number is at most `count_bound`; that number is the
    public count where the adjacency makes it public. Gaussian noise, or Gamma-norm noise in a pure account. The bound
    on residuals needs a penalty on every weight, so that of the intercept is counted from a mean that is paid for.
    """
    rows = examples.unit.max_rows
    known = account.adjacency.count_is_public and rows == 1
    if count_bound is None and not known and not math.isfinite(problem.radius):
        raise ParameterError(
            "ridge without a radius needs a public bound on the number of rows where that number is private, "
            "got radius=inf; give radius=..., or the option count_bound"
        )
    most, assumptions = examples.largest_count(count_bound)
    at = pay_for_centre(examples, problem, account, arithmetic=arithmetic)
    examples, problem = at.examples, at.problem
    loss = squared_loss(problem)
    bounds = RidgeBounds(
        row_norm=problem.norm_bound,
        target_bound=loss.target_bound,
        ridge=problem.penalty * examples.public_count,
        count_bound=most,
        radius=problem.radius,
    )
    sensitivity = bounds.l2_sensitivity(account.adjacency, dimension=problem.dimension, rows_per_unit=rows)
    noise = noise_within(
        account, l2_sensitivity=sensitivity, dimension=problem.dimension, arithmetic=arithmetic
    )
    moments = second_moments(examples, problem, target_bound=loss.target_bound)
    theta = solve_ridge(moments, ridge=bounds.ridge, radius=problem.radius)
    weights = account.release(noise.mechanism, theta, label="ridge")
    return Fit(
        weights=at.original_weights(weights),
        theorem=THEOREM_BALL if math.isfinite(problem.radius) else THEOREM,
        parameters={
            "ridge": bounds.ridge,
            "count_bound": most,
            "residual_bound": bounds.residual,
            "l2_sensitivity": sensitivity,
            **at.parameters,
        },
        noise_std=noise.deviation,
        centre_noise_std=at.noise_std,
        assumptions=assumptions,
    )


def solve_ridge(moments: Moments, *, ridge: float, radius: float = math.inf) -> Floats:
    """argmin of |X theta - y|^2 / 2 + ridge |theta|^2 / 2 over |theta| <= radius, by eigenvalues.

    On the sphere the solution is that of a larger ridge: |theta(ridge + nu)| = radius, found by bisection.
    """
    eigenvalues, basis = np.linalg.eigh(moments.gram)
    damping = np.maximum(eigenvalues, 0.0) + ridge
    target = basis.T @ moments.cross
    theta = target / damping
    if math.isfinite(radius) and np.linalg.norm(theta) > radius:
        low, high = 0.0, float(np.linalg.norm(target)) / radius
        for _ in range(200):  # a fixed number, far beyond the digits of a float
            middle = 0.5 * (low + high)
            if np.linalg.norm(target / (damping + middle)) > radius:
                low = middle
            else:
                high = middle
        theta = target / (damping + high)
    return np.asarray(basis @ theta)


def _solution_change(facts: PublicFacts) -> float:
    """The sensitivity of the solution, for the largest table that the declared count admits.

    Without a radius the bound on residuals grows as the penalty falls, Y (1 + R / (2 sqrt(penalty))): one row moves the
    solution by about penalty^-1.5 / n, and a penalty of (n epsilon)^(-2/3), right for bounded residuals, would leave
    noise that no number of rows makes smaller.
    """
    problem = facts.problem
    bounds = RidgeBounds(
        row_norm=problem.norm_bound,
        target_bound=squared_loss(problem).target_bound,
        ridge=problem.penalty * facts.count,
        count_bound=facts.count * facts.max_rows,
        radius=problem.radius,
    )
    return facts.adjacency.gradient_factor * facts.max_rows * bounds.one_row


METHOD = Learner(
    name="ridge",
    run=ridge,
    paper="Chaudhuri, Monteleoni and Sarwate 2011 (output perturbation); closed form for ridge",
    needs=("convex", "strongly_convex"),
    pure=True,
    losses=("squared",),
    only="solves least squares only",
    ranks=(Rank(place=2, losses=("squared",)),),
    behind="solves least squares only",
    weight_change=_solution_change,
    centres=True,
)
