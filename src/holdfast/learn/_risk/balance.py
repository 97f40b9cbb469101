"""The default penalty: where shrinking weights costs as much as the noise that it saves, from public quantities.

Noise of deviation s in every weight raises the mean loss by at most (s^2 / 2) tr H in expectation, H its largest second
derivative: first-order terms have mean zero, and tr H <= beta = X^2 sup phi''. A penalty raises it by at most
(penalty / 2) |w|^2 against any w. The less penalty the more noise: one record moves a minimiser by G / (penalty n).
`balanced_penalty` is the minimum of the sum

    (penalty / 2) |w|^2 + (beta / 2) s(penalty)^2.

Gradient steps that add up to t come within |w|^2 / (2 t) of any w's risk, and one record moves them by G t / n
(soundness, section 1): a descent that stops at t is a penalty of 1 / t, and the same minimum says when to stop.

With s = c G / (penalty n) the minimum is at penalty^3 = 2 beta (c G / n)^2 / |w|^2: it falls as (n epsilon)^(-2/3), and
so does the bound itself. docs/decisions/learning-penalty.md has the numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import HuberHinge, Squared
from holdfast.learn._risk.descent import gaussian_square
from holdfast.privacy._curves.curve import PrivacyCurve

HALVINGS = 100
"""Steps of a search over logarithms, each of which reduces the interval to two thirds."""


def typical_norm(problem: Problem) -> float:
    """|w| for which predictions have size 1 where rows point in all directions alike; the true |w| is private.

    Such rows have a mean of <w, x>^2 of |w|^2 X^2 / d for each of the K predictions. Predictions of a number are as
    spread as a number that is uniform within its bounds, whose mean square is a third of Y^2.

    >>> from holdfast.learn._problem.losses import Logistic
    >>> typical_norm(Problem(loss=Logistic(), dimension=16, row_norm=2.0))
    2.0
    """
    loss, weights = problem.loss, problem.weights
    size = loss.target_bound / math.sqrt(3.0) if isinstance(loss, Squared) else 1.0
    return min(problem.radius, size * math.sqrt(weights) / problem.row_norm)


def noise_per_unit(limit: PrivacyCurve, weights: int) -> float:
    """The deviation of the noise in each weight, for a sensitivity of 1: Gaussian, or Laplace without delta."""
    pure = limit.as_pure()
    return 1.0 / math.sqrt(gaussian_square(limit)) if pure is None else math.sqrt(2.0 * weights) / float(pure)


def balanced_penalty(
    problem: Problem, sensitivity: Callable[[float], float], *, limit: PrivacyCurve
) -> float:
    """The penalty at the minimum, for a release whose sensitivity is `sensitivity(penalty)`.

    Both terms are convex in the penalty's logarithm wherever the sensitivity is a sum of powers of the penalty.
    """
    noise = noise_per_unit(limit, problem.weights)
    # A corner as if it were smoothed: a hinge curves on average as its Huber form does.
    smooth = math.isfinite(problem.smoothness)
    smoothness = problem.smoothness if smooth else problem.norm_bound**2 * HuberHinge().curvature
    square = typical_norm(problem) ** 2

    def bound(logarithm: float) -> float:
        penalty = math.exp(logarithm)
        return penalty * square + smoothness * (noise * sensitivity(penalty)) ** 2

    unit = math.log(problem.row_norm**2)
    low, high = unit - 60.0, unit + 60.0
    for _ in range(HALVINGS):
        third = (high - low) / 3.0
        if bound(low + third) <= bound(high - third):
            high -= third
        else:
            low += third
    return math.exp(0.5 * (low + high))
