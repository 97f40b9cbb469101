"""Composition theorems as textbooks state them, for figures and tests: `holdfast.privacy.compose` is tighter or equal.

Adding up, advanced composition, and the optimal theorems for pure mechanisms and for exponential ones.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

import numpy as np

from holdfast.errors import require
from holdfast.privacy._rounding import Number, as_written


def basic(points: Iterable[tuple[Number, Number]]) -> tuple[Fraction, Fraction]:
    """Epsilons and deltas add up.

    >>> basic([(0.1, 0.0)] * 10)
    (Fraction(1, 1), Fraction(0, 1))
    """
    listed = [(as_written(epsilon), as_written(delta)) for epsilon, delta in points]
    return sum((e for e, _ in listed), Fraction(0)), sum((d for _, d in listed), Fraction(0))


def advanced(epsilon: float, *, times: int, slack: float) -> float:
    """Dwork, Rothblum and Vadhan 2010: sqrt(2 k ln(1/slack)) eps + k eps (e^eps - 1), at k delta + slack.

    The second term is not optional: 8 spread over 10 steps without it really costs 11.66.

    >>> round(advanced(per_step_without_second_term(8.0, times=10, slack=1e-5), times=10, slack=1e-5), 2)
    11.66
    """
    require(epsilon >= 0, "epsilon", epsilon, ">= 0")
    require(times >= 1, "times", times, ">= 1")
    require(0 < slack < 1, "slack", slack, "in (0, 1)")
    return math.sqrt(2 * times * math.log(1 / slack)) * epsilon + times * epsilon * math.expm1(epsilon)


def per_step_without_second_term(total: float, *, times: int, slack: float) -> float:
    """The common mistake total / sqrt(2 k ln(1/slack)), kept so that its cost can be shown."""
    return total / math.sqrt(2 * times * math.log(1 / slack))


def per_step(total: float, *, times: int, slack: float) -> float:
    """The largest per-step epsilon whose `advanced` composition is within the total, on the safe side."""
    from holdfast.privacy._safe_side import safe_side

    require(total > 0, "total", total, "> 0")
    return safe_side(lambda e: advanced(e, times=times, slack=slack) - total, unsafe=total, safe=0.0)


def optimal(epsilon: float, *, times: int, at: float, delta: float = 0.0) -> float:
    """The least delta at epsilon `at` of k (epsilon, delta) mechanisms (Kairouz, Oh and Viswanath 2015).

    1 - (1 - delta)^k (1 - d), d the binomial sum over the largest losses (k - 2i) epsilon.

    >>> round(optimal(0.5, times=10, at=1.0), 5)
    0.33168
    """
    require(epsilon >= 0, "epsilon", epsilon, ">= 0")
    require(times >= 1, "times", times, ">= 1")
    require(0 <= delta < 1, "delta", delta, "in [0, 1)")
    i = np.arange(times + 1)
    losses = (times - 2 * i) * epsilon
    log_high, log_low = -math.log1p(math.exp(-epsilon)), -epsilon - math.log1p(math.exp(-epsilon))
    log_p = _log_binomial(times, i) + (times - i) * log_high + i * log_low
    gains = np.where(losses > at, np.exp(log_p) * -np.expm1(np.minimum(at - losses, 0.0)), 0.0)
    return -math.expm1(times * math.log1p(-delta) + math.log1p(-min(float(np.sum(gains)), 1 - 1e-16)))


def optimal_bounded_range(epsilon: float, *, times: int, at: float) -> float:
    """The least delta of k exponential mechanisms fixed in advance (Dong, Durfee and Rogers 2020).

    Not valid when each is chosen after seeing the last: adaptive composition is worse here.

    >>> round(optimal_bounded_range(0.5, times=10, at=1.0), 6)
    0.064744
    """
    require(epsilon > 0, "epsilon", epsilon, "> 0")
    require(times >= 1, "times", times, ">= 1")
    k, eta = times, epsilon
    i = np.arange(k + 1)
    worst = 0.0
    for level in range(k + 1):
        t = min(max((at + (level + 1) * eta) / (k + 1), 0.0), eta)
        p = -math.expm1(t - eta) * math.exp(-t) / -math.expm1(-eta)  # (e^-t - e^-eta) / (1 - e^-eta)
        with np.errstate(divide="ignore"):
            logs = _log_binomial(k, i) + _times_log(k - i, p) + _times_log(i, 1.0 - p)
        gains = np.exp(logs) * np.maximum(np.exp(k * t - i * eta) - math.exp(at), 0.0)
        worst = max(worst, float(np.sum(gains)))
    return min(1.0, worst)


def _log_binomial(
    n: int, k: np.ndarray[tuple[int], np.dtype[np.int64]]
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    from scipy.special import gammaln

    return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1), dtype=np.float64)


def _times_log(
    count: np.ndarray[tuple[int], np.dtype[np.int64]], probability: float
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Count log(probability), with 0 log 0 = 0."""
    if probability <= 0:
        return np.where(count == 0, 0.0, -np.inf)
    return np.asarray(count * math.log(probability))
