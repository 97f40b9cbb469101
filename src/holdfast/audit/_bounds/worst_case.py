"""The exact worst case of a one-run audit: a linear programme, solved in closed form.

By sign flips and permutations of the canaries the worst (epsilon, delta)-DP mechanism depends only on
the number j of correct guesses, with probabilities x_j (soundness, section 13): maximise the mass at
j >= v subject to x >= 0, sum x = 1 and

    sum_j (j x_j - e^eps (r-j+1) x_{j-1})_+  +  sum_j ((r-j) x_j - e^eps (j+1) x_{j+1})_+  <=  m delta.

The dual has a price lambda for m delta, a price theta for the total mass and one number in
[-lambda, lambda] for each edge between j - 1 and j. Going down from j = r, each row of the dual fixes
the least price of the next edge, and with N binomial(r, q), q = e^eps/(1+e^eps), that recursion telescopes to

    a_j(theta) = (P[N >= max(j, v)] - theta P[N >= j]) / (j P[N = j]);

after its first negative value it stays negative and costs nothing, and row 0 says theta >= P[N >= v].
The value is the least, over theta in [P[N >= v], 1], of theta + m delta max_j (a_j(theta))_+. Now
j P[N = j] = r q P[N' = j - 1] with N' binomial(r - 1, q), so P[N < j] / (j P[N = j]) and
P[N >= j] / (j P[N = j]) are, up to constants, P[N' <= j-1] / P[N' = j-1], which grows with j, and
P[N' >= j-1] / P[N' = j-1], which falls: the binomial is log-concave. Hence the largest a_j is always a_v,
the function is straight between the two ends of theta, and with T = P[N >= v] the value is

    min(1,  T + m delta T (1 - T) / (v P[N = v])).

For delta = 0 this is T, the law of randomised response, which keeps a fair bit with probability q and is the worst
epsilon-DP mechanism for membership guesses (Steinke, Nasr and Jagielski 2023, theorem 5.2).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

ROUNDING = 1e-10
"""Relative slack on computed probabilities: far above the error of the incomplete beta function."""
_SMALLEST_TAIL = 1e-280
"""Smaller tails are rounded up to this."""


def worst_case(guesses: int, correct: int, *, canaries: int, epsilon: float, delta: float) -> float:
    """The largest P[at least `correct` of `guesses` are right] of any (epsilon, delta)-DP mechanism.

    The number of guesses is fixed in advance, or at most `guesses`. Rounded up; non-decreasing in epsilon.

    >>> worst_case(3, 1, canaries=3, epsilon=0.0, delta=0.01) - (7 / 8 + 7 * 0.01 / 8) < 1e-9
    True
    """
    from scipy.special import betainc, betaincc, betaln

    r, v = guesses, correct
    if v <= 0:
        return 1.0
    tail = float(betainc(v, r - v + 1, keep_probability(epsilon)))
    if delta == 0.0:
        return min(1.0, max(tail, _SMALLEST_TAIL) * (1.0 + ROUNDING))
    if tail < _SMALLEST_TAIL:
        # Far above the mean P[N >= v] / P[N = v] is below a geometric series; the share of delta stays.
        ratio = (r - v) / (v + 1) * math.exp(epsilon)
        return min(1.0, (_SMALLEST_TAIL + canaries * delta / (v * (1.0 - ratio))) * (1.0 + ROUNDING))
    rest = float(betaincc(v, r - v + 1, keep_probability(epsilon)))
    if rest < _SMALLEST_TAIL:
        return 1.0
    # v P[N = v] = q^v (1-q)^(r-v) / B(v, r-v+1).
    log_flip = -float(np.logaddexp(0.0, epsilon))
    log_edge = v * (epsilon + log_flip) + (r - v) * log_flip - float(betaln(v, r - v + 1))
    log_gain = math.log(canaries * delta) + math.log(tail) + math.log(rest) - log_edge
    return min(1.0, (tail + math.exp(min(log_gain, 1.0))) * (1.0 + ROUNDING))


def solve_programme(guesses: int, correct: int, *, canaries: int, epsilon: float, delta: float) -> float:
    """The linear programme as written, by a general solver (HiGHS): slow, accurate to about 1e-7; for comparison.

    >>> abs(solve_programme(3, 1, canaries=3, epsilon=0.0, delta=0.01) - (7 / 8 + 7 * 0.01 / 8)) < 1e-6
    True
    """
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    r, growth = guesses, math.exp(epsilon)
    j = np.arange(1, r + 1)
    up = 3 * r + 1
    # Variables x_0..x_r, then the positive parts of the r upward and the r downward edges.
    rows = np.concatenate([j - 1, j - 1, j - 1, r + j - 1, r + j - 1, r + j - 1, np.full(2 * r, 2 * r)])
    columns = np.concatenate([j, j - 1, r + j, j - 1, j, 2 * r + j, np.arange(r + 1, up)])
    ones = np.ones(r)
    values = np.concatenate([j, -growth * (r - j + 1), -ones, r - j + 1, -growth * j, -ones, np.ones(2 * r)])
    limits = np.concatenate([np.zeros(2 * r), [canaries * delta]])
    gain = np.zeros(up)
    gain[max(correct, 0) : r + 1] = -1.0
    total = np.concatenate([np.ones(r + 1), np.zeros(2 * r)])[None, :]
    edges: Any = coo_array((values, (rows, columns)), shape=(2 * r + 1, up)).tocsr()
    answer = linprog(
        gain,
        A_ub=edges,
        b_ub=limits,
        A_eq=total,
        b_eq=[1.0],
        bounds=(0, None),
        method="highs",
    )
    assert answer.status == 0, answer.message
    return -float(answer.fun or 0.0)


# How often randomised response is right: the binomial law of N.
def keep_probability(epsilon: float) -> float:
    """The probability that randomised response tells the truth.

    >>> keep_probability(0.0)
    0.5
    """
    if epsilon < 0.0:
        return math.exp(epsilon) / (1.0 + math.exp(epsilon))
    return 1.0 / (1.0 + math.exp(-epsilon))


def log_mass(trials: int, epsilon: float) -> NDArray[np.float64]:
    """log P[Bin(trials, q) = j] for j = 0, ..., trials; finite far beyond where the mass underflows."""
    from scipy.special import gammaln

    j = np.arange(trials + 1)
    log_flip = -float(np.logaddexp(0.0, epsilon))
    choose = gammaln(trials + 1) - gammaln(j + 1) - gammaln(trials - j + 1)
    return np.asarray(choose + j * (epsilon + log_flip) + (trials - j) * log_flip, dtype=np.float64)


def upper_tail(trials: ArrayLike, correct: ArrayLike, epsilon: float) -> NDArray[np.float64]:
    """P[Bin(trials, q) >= correct], elementwise.

    >>> float(upper_tail(3, 1, 0.0))
    0.875
    """
    from scipy.special import betainc

    r, v = np.broadcast_arrays(np.asarray(trials, float), np.asarray(correct, float))
    inside = (v > 0) & (v <= r)
    tail = betainc(np.where(inside, v, 1.0), np.where(inside, r - v + 1.0, 1.0), keep_probability(epsilon))
    return np.where(inside, tail, np.where(v <= 0, 1.0, 0.0))
