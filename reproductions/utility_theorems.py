"""Utility theorems of the sources as numbers, to be laid beside measurements; every constant is written out.

Where a source hides a constant in O(...), the one that its own proof gives is used; where its proof has a slip, the
corrected form, and the printed one beside it.
"""

from __future__ import annotations

import math


def noise_norm(dimension: int, *, sensitivity: float, epsilon: float, failure: float) -> tuple[float, float]:
    """(printed, exact): |b| is below it with probability 1 - failure, for a density exp(-epsilon |b| / sensitivity).

    Printed: d ln(d / gamma) s / epsilon (Chaudhuri, Monteleoni and Sarwate 2011, lemma 4). Exact: the quantile of the
    Gamma law of the norm.

    >>> [round(value, 2) for value in noise_norm(10, sensitivity=1.0, epsilon=1.0, failure=0.05)]
    [52.98, 15.71]
    """
    from scipy.stats import gamma

    unit = sensitivity / epsilon
    printed = dimension * math.log(dimension / failure) * unit
    return printed, float(gamma.isf(failure, dimension)) * unit


def strongly_convex_excess(
    *, lipschitz: float, penalty: float, count: int, dimension: int, epsilon: float, failure: float
) -> float:
    """Population excess of output perturbation for a strongly convex loss, with probability 1 - failure.

    (4 L^2 / (penalty n)) (2 / failure + 4 d ln(2 d / failure) / epsilon): theorem 4.11 of the source with the constants
    of its proof; the noise there is for a sensitivity of 4 L / (penalty n), twice what is needed.
    """
    half = failure / 2.0
    noise = 4.0 * dimension * math.log(dimension / half) / epsilon
    return 4.0 * lipschitz**2 / (penalty * count) * (1.0 / half + noise)


def convex_excess(
    *, lipschitz: float, radius: float, count: int, dimension: int, epsilon: float, failure: float
) -> tuple[float, float]:
    """(excess, penalty): the same for a convex loss on a ball, by the penalty that makes the bound least.

    The proof of theorem 4.12 adds penalty R^2 / 2 to the bound above at L + penalty R; the least of the sum is found
    numerically, since the source's own choice minimises a simplified form.
    """
    from scipy.optimize import minimize_scalar

    def bound(logarithm: float) -> float:
        penalty = math.exp(logarithm)
        inner = strongly_convex_excess(
            lipschitz=lipschitz + penalty * radius, penalty=penalty, count=count, dimension=dimension,
            epsilon=epsilon, failure=failure,
        )  # fmt: skip
        return inner + 0.5 * penalty * radius**2

    found = minimize_scalar(bound, bounds=(-30.0, 30.0), method="bounded")
    return float(found.fun), math.exp(float(found.x))


def sgd_last_iterate(*, radius: float, second_moment: float, steps: int) -> float:
    """E[excess] of the last iterate of projected SGD with steps D / (G sqrt(t)): D G (2 + ln T) / sqrt(T).

    Shamir and Zhang 2013, theorem 2, with c = D / G; `second_moment` bounds the root mean square of a step's gradient,
    noise included, and D = 2 R.
    """
    return 2.0 * radius * second_moment * (2.0 + math.log(steps)) / math.sqrt(steps)


def frank_wolfe_dual(
    *, count: int, epsilon: float, delta: float, vertices: int, alpha: float
) -> dict[str, float]:
    """Rates of private Frank-Wolfe on the entropy-regularised dual: printed, and as its own proof gives it.

    With curvature 1 / alpha and T steps the error is 1 / (alpha T) + noise sqrt(T ln(1/delta)) ln(k) / (n epsilon). At
    its best T, alpha enters the error as alpha^(-1/3), not alpha^(-2/3), and ln(1/delta) enters T with exponent -1/3.
    """
    n, logs, one = count * epsilon, math.log(vertices), math.log(1.0 / delta)
    return {
        "printed_error": (logs**2 * one / (alpha**2 * n**2)) ** (1 / 3),
        "error": (logs**2 * one / (alpha * n**2)) ** (1 / 3),
        "printed_steps": 4.0 * (n / (alpha * logs * one)) ** (2 / 3),
        "steps": 4.0 * (n / (alpha * logs)) ** (2 / 3) * one ** (-1 / 3),
    }
