"""The exact worst case of a one-run audit: a linear programme, solved in closed form but for one number.

By sign flips and permutations of the canaries the worst (epsilon, delta)-DP mechanism depends only on
the number j of correct guesses, with probabilities x_j (soundness, section 13): maximise the mass at
j >= v subject to x >= 0, sum x = 1 and

    sum_j (j x_j - e^eps (r-j+1) x_{j-1})_+  +  sum_j ((r-j) x_j - e^eps (j+1) x_{j+1})_+  <=  m delta.

The dual has a price lambda for m delta, a price theta for the total mass and one number in
[-lambda, lambda] for each edge between j - 1 and j. Going down from j = r, each row of the dual fixes
the least price of the next edge, and with N binomial(r, q) the recursion telescopes to

    a_j(theta) = (P[N >= max(j, v)] - theta P[N >= j]) / (j P[N = j]),

after its first negative value it stays negative and costs nothing, and row 0 says theta >= P[N >= v].
So the value is the least, over theta in [P[N >= v], 1], of theta + m delta max_j (a_j(theta))_+ : a convex
function with straight pieces. Every theta gives an upper bound, so rounding is on the safe side.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdfast.audit.binomial import ROUNDING, log_mass


class _Dual(NamedTuple):
    """theta + price * max_j (height_j - slope_j t)_+ at theta = tail + t."""

    tail: float
    height: NDArray[np.float64]
    slope: NDArray[np.float64]


def worst_case(guesses: int, correct: int, *, canaries: int, epsilon: float, delta: float) -> float:
    """The largest P[at least `correct` of `guesses` are right] of any (epsilon, delta)-DP mechanism.

    The number of guesses is fixed in advance, or at most `guesses`. Rounded up; non-decreasing in epsilon.

    >>> worst_case(3, 1, canaries=3, epsilon=0.0, delta=0.01) - (7 / 8 + 7 * 0.01 / 8) < 1e-9
    True
    """
    if correct <= 0:
        return 1.0
    dual = _dual(guesses, correct, epsilon)
    value = dual.tail if delta == 0.0 else _least(dual, canaries * delta)
    return min(1.0, value * (1.0 + ROUNDING))


def _dual(r: int, v: int, epsilon: float) -> _Dual:
    mass = log_mass(r, epsilon)
    below = np.concatenate([[-np.inf], np.logaddexp.accumulate(mass)])  # log P[N < j]
    above = np.logaddexp.accumulate(mass[::-1])[::-1]  # log P[N >= j]
    j = np.arange(1, r + 1)
    edge = np.log(j) + mass[1:]
    # Past e^690 a slope only says "negative at every t > 0".
    slope = np.exp(np.minimum(above[1:] - edge, 690.0))
    # At t = 0: P[N >= v] P[N < j] below v, P[N < v] P[N >= j] from v on, without cancellation.
    log_height = np.where(j < v, above[v] + below[1 : r + 1], below[v] + above[1:]) - edge
    return _Dual(math.exp(above[v]), np.exp(np.minimum(log_height, 690.0)), slope)


def _least(dual: _Dual, price: float) -> float:
    """Minimise t + price * max_j (height_j - slope_j t)_+ : cross the two active lines until nothing is above."""

    def active(t: float) -> tuple[float, float, float]:
        lines = dual.height - dual.slope * t
        top = int(np.argmax(lines))
        if lines[top] <= 0.0:
            return 0.0, 0.0, t
        return float(dual.height[top]), float(dual.slope[top]), t + price * float(lines[top])

    left_height, left_slope, best = active(0.0)
    right_height, right_slope = 0.0, 0.0
    for _ in range(100):
        if price * left_slope <= 1.0:
            break
        t = (left_height - right_height) / (left_slope - right_slope)
        height, slope, value = active(t)
        best = min(best, value)
        if (height, slope) in ((left_height, left_slope), (right_height, right_slope)):
            break
        if price * slope > 1.0:
            left_height, left_slope = height, slope
        else:
            right_height, right_slope = height, slope
    return dual.tail + best


def solved(guesses: int, correct: int, *, canaries: int, epsilon: float, delta: float) -> float:
    """The programme as written, by a general solver (HiGHS): slow, accurate to about 1e-7; the reference in tests.

    >>> abs(solved(3, 1, canaries=3, epsilon=0.0, delta=0.01) - (7 / 8 + 7 * 0.01 / 8)) < 1e-6
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
    one = np.ones(r)
    values = np.concatenate([j, -growth * (r - j + 1), -one, r - j + 1, -growth * j, -one, np.ones(2 * r)])
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
