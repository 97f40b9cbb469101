"""The functional mechanism: noise on the coefficients of the objective itself (Zhang et al. 2012), pure epsilon.

Least squares is a quadratic in w already; the logistic loss is replaced by its second-order Taylor polynomial at
0. One Laplace variate per distinct monomial of w, scaled to how far one row moves all coefficients together in
L1; the noisy quadratic is then minimised (soundness, section 7). Rows are scaled to norm 1, labels to 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from holdfast._arrays import Floats
from holdfast._assumption import ACCURACY, Assumption
from holdfast.errors import ParameterError, require
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import Logistic, Squared
from holdfast.learn._rows.clipped_blocks import clip_chunk
from holdfast.learn._rows.examples import Examples
from holdfast.learn._rows.summation import summation_error
from holdfast.learn.methods.method import Fit, Learner, Rank
from holdfast.privacy._account import Account
from holdfast.privacy._account.remaining import largest_epsilon
from holdfast.privacy._adjacency import Adjacency
from holdfast.privacy._mechanisms.laplace import Laplace
from holdfast.privacy._mechanisms.mechanism import Arithmetic


@dataclass(frozen=True, kw_only=True)
class Quadratic:
    """One row's loss, (linear factor) y <w, x> + (square factor) <w, x>^2, for |x|_2 <= 1 and |y| <= 1.

    The constant term does not depend on w and is not released.
    """

    linear: float
    square: float

    def one_row(self, dimension: int) -> float:
        """The L1 norm of one row's coefficients: |x|_1 <= sqrt(d), and all monomials sum to |x|_1^2 <= d."""
        return abs(self.linear) * math.sqrt(dimension) + self.square * dimension

    def l1_sensitivity(self, adjacency: Adjacency, *, dimension: int, rows_per_unit: int = 1) -> float:
        """The L1 sensitivity: of one row, or under replace of an exchange; c times that for a unit of c rows.

        >>> [round(q.l1_sensitivity(Adjacency.replace, dimension=10), 4) for q in (LINEAR, LOGISTIC)]
        [23.6966, 4.2715]
        """
        norm = self.norm_of_exchange if adjacency.gradient_factor == 2 else self.one_row
        return rows_per_unit * norm(dimension)

    def norm_of_exchange(self, dimension: int) -> float:
        """The L1 norm of one row's coefficients less another's: below twice `one_row`, since both do not fit at once.

        With a, q the factors, g = |<x, z>| and D = x x^T - z z^T the coefficients move by a |y x - y' z|_1 + q |D|_1,
        convex in the labels, so these are 1 or -1. By Cauchy and Schwarz |x +- z|_1 <= sqrt(d) |x +- z|_2 <=
        sqrt(d (1 + |z|^2 + 2 g)) for |x| = 1 >= |z| (both parts grow with the longer row), and over d^2 entries
        |D|_1 <= d |D|_F = d sqrt(1 + |z|^4 - 2 g^2). Both grow with |z| at fixed g, so |z| = 1, and with g = cos(2 p)
        the sum is at most 2 a sqrt(d) cos(p) + sqrt(2) q d sin(2 p), whose maximum has a quadratic equation for sin(p).
        Rows in two halves of equal numbers come within 4 % of it. The coefficients of c rows are c times a mean of one
        row's, and a norm of differences of means is largest at the ends.
        """
        a, q, root = abs(self.linear), self.square, math.sqrt(dimension)
        sine = (math.sqrt(a * a + 16.0 * q * q * dimension) - a) / (4.0 * math.sqrt(2.0) * q * root)
        angle = math.asin(min(1.0, sine))
        return 2.0 * a * root * math.cos(angle) + math.sqrt(2.0) * q * dimension * math.sin(2.0 * angle)

    def coefficients(self, features: Floats, labels: Floats) -> Floats:
        """The sum over rows: d linear coefficients, then those of w_j^2, then of w_j w_l for j < l."""
        gram = self.square * (features.T @ features)
        above = np.triu_indices(gram.shape[0], k=1)
        # The monomial w_j w_l appears twice in <w, x>^2.
        return np.concatenate([self.linear * (features.T @ labels), np.diag(gram), 2.0 * gram[above]])


LINEAR = Quadratic(linear=-2.0, square=1.0)
"""(y - <w, x>)^2 less y^2."""
LOGISTIC = Quadratic(linear=-0.5, square=0.125)
"""ln(1 + e^(-y z)) = ln 2 - y z / 2 + z^2 / 8 - ..., y = -1 or 1; with y in {0, 1} the first is (1/2 - y) z."""
TAYLOR_SLOPE = 1.0 / (36.0 * math.sqrt(3.0))
"""|logistic loss - its second-order polynomial| <= this |z|^3: the third derivative is at most 1 / (6 sqrt(3))."""
POLYNOMIAL = Assumption(
    kind=ACCURACY,
    subject="loss",
    text="accuracy, not privacy: the logistic loss is replaced by its second-order Taylor polynomial at 0; "
    f"the bias, up to {TAYLOR_SLOPE:.4f} |z|^3 per row at the prediction z, does not vanish with more rows",
)


def functional(
    examples: Examples,
    problem: Problem,
    *,
    account: Account,
    ridge: float | None = None,
    arithmetic: Arithmetic = "strict",
) -> Fit:
    """Release the objective's coefficients with Laplace noise, then minimise the noisy quadratic.

    Private for rows within `row_norm`. `ridge`, a public number added to the eigenvalues of the noisy quadratic
    and the least value they are floored at, is 4 standard deviations of the noise unless given (Zhang et al.,
    section 6.1): without it the quadratic may have no minimum.
    """
    require(ridge is None or 0 < ridge < math.inf, "ridge", ridge, "> 0 and finite")
    quadratic, label_scale = _quadratic(problem)
    d = problem.dimension
    sensitivity = quadratic.l1_sensitivity(
        account.adjacency, dimension=d, rows_per_unit=examples.unit.max_rows
    )
    most, assumptions = examples.largest_count()
    sensitivity += (
        2.0 * summation_error(most) * most * quadratic.one_row(d)
    )  # both neighbours' sums are rounded

    def mechanism(epsilon: float) -> Laplace:
        return Laplace(
            scale=sensitivity / epsilon,
            l1_sensitivity=sensitivity,
            adjacency=account.adjacency,
            arithmetic=arithmetic,
        )

    laplace = mechanism(largest_epsilon(account, lambda epsilon: mechanism(epsilon).curve))
    total = np.zeros(d + d * (d + 1) // 2)
    for features, labels in (clip_chunk(chunk, problem) for chunk in examples.chunks()):
        scaled = np.clip(labels / label_scale, -1.0, 1.0)
        total += quadratic.coefficients(features / problem.norm_bound, scaled)
    noisy = np.asarray(account.release(laplace, total, label="functional"))
    # Everything below reads the noisy coefficients and public numbers only.
    deviation = math.sqrt(2.0) * float(laplace.scale)
    floor = 4.0 * deviation if ridge is None else ridge
    penalty = problem.penalty * examples.public_count / problem.norm_bound**2 * _objective_scale(problem)
    # The ridge must not shrink the intercept, which needs none: its curvature, n times a constant, is public.
    ridges = (floor + penalty / 2.0) * problem.penalised
    minimum = minimise_quadratic(noisy, dimension=d, ridge=ridges, floor=floor)
    weights = minimum * label_scale / problem.norm_bound
    size = float(np.linalg.norm(weights))
    return Fit(
        weights=weights * min(1.0, problem.radius / max(size, 1e-300)),
        theorem="functional mechanism (Zhang et al. 2012) with the L1 sensitivity of rows in the unit ball",
        parameters={"l1_sensitivity": sensitivity, "coefficient_noise_std": deviation, "ridge": floor},
        assumptions=assumptions if quadratic is LINEAR else (*assumptions, POLYNOMIAL),
    )


def _quadratic(problem: Problem) -> tuple[Quadratic, float]:
    """The polynomial of the loss, and the number by which labels are divided."""
    loss = problem.loss
    if isinstance(loss, Squared):
        return LINEAR, loss.target_bound
    if isinstance(loss, Logistic):
        return LOGISTIC, 1.0
    raise ParameterError(
        f"functional has polynomials for the squared and the logistic loss, got the {loss.name} loss; "
        "use method='output' or 'objective'"
    )


def _objective_scale(problem: Problem) -> float:
    """The released sum as a multiple of the problem's losses: (y - z)^2 is twice the squared loss."""
    return 2.0 if isinstance(problem.loss, Squared) else 1.0


def minimise_quadratic(
    coefficients: Floats, *, dimension: int, ridge: Floats | float, floor: float
) -> Floats:
    """argmin of w^T M w + a^T w, M symmetrised from one variate per monomial, its diagonal raised, eigenvalues floored.

    >>> minimise_quadratic(np.array([-2.0, -4.0, 1.0, 1.0, 0.0]), dimension=2, ridge=0.0, floor=1e-9).tolist()
    [1.0, 2.0]
    """
    linear = coefficients[:dimension]
    matrix = np.diag(coefficients[dimension : 2 * dimension])
    above = np.triu_indices(dimension, k=1)
    matrix[above] = 0.5 * coefficients[2 * dimension :]
    matrix.T[above] = matrix[above]
    eigenvalues, basis = np.linalg.eigh(matrix + np.diag(np.broadcast_to(ridge, dimension)))
    return np.asarray(-0.5 * basis @ (basis.T @ linear / np.maximum(eigenvalues, floor)))


METHOD = Learner(
    name="functional",
    run=functional,
    paper="Zhang, Zhang, Xiao, Yang and Winslett 2012",
    needs=("convex",),
    pure=True,
    currency="basic",
    losses=("squared", "logistic"),
    only="has polynomials for least squares and the logistic loss only",
    # Least squares is a quadratic already: first without delta, last with it.
    ranks=(Rank(place=1, pure=True, losses=("squared",)), Rank(place=9, losses=("squared",))),
    behind="approximates the loss by a polynomial, and its noise grows with the square of the dimension",
)
