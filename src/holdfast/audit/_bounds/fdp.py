"""A whole trade-off curve tested with one training: f-DP in one run (Mahloujifar, Melis and Chaudhuri 2024).

Let p_j be the probability of j correct among r guesses on m canaries, and f-bar = 1 - f. Fix a canary and
its coin; the event "the guess on it is right and at least i guesses are right" becomes, when the coin is
flipped, "the guess is wrong and at least i - 1 are right". f-DP compares the two, and averaging over
canaries and coins (f-bar is concave) gives their theorem 3.2 for upper sets: with

    right_i = sum_{j >= i} j p_j / m,    wrong_i = sum_{j >= i} (r - j) p_j / m,

right_{i+1} <= f-bar(wrong_i), for every i. Suppose P[at least v right] = tau. Going down from i = v,
wrong_i must be at least f-bar^-1(right_{i+1}), and each step that takes no more than it must keeps the
total as small as it can be (both numbers are monotone in the order right, right - slope wrong). If even
the least total exceeds r / m, tau is impossible (their algorithm 3). The argument shows tau = beta
impossible, hence every larger one: scaling a law down keeps the constraints, f-bar being concave.

Conditions as in `one_run`; the number of guesses is fixed in advance, and the curve f holds in both
directions (add and remove). No delta is needed: f is the whole claim.

What is refuted is again a curve. A one-run audit shows that the best test goes below it *somewhere*, not where: a
mechanism that is not (epsilon, delta)-DP need not be worse than it at every false-alarm rate. So a proof is
contradicted only if the proved curve lies on or above the refuted one everywhere (`RefutedCurve`), since that proof
would imply what was refuted. An attack, and a multi-run audit, give points; there one crossing is enough.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from statistics import NormalDist

import numpy as np

from holdfast._arguments import checked
from holdfast.audit._bounds.one_run import error_of
from holdfast.errors import require
from holdfast.privacy._curves.gaussian import GaussianDP
from holdfast.privacy._safe_side import safe_side
from holdfast.privacy._tradeoff import TradeOff

InverseCurve = Callable[[float], float]
"""f-bar^-1: the least false-alarm rate of a test that detects this often."""
_TOTAL_MARGIN = 1.0 + 1e-9
"""The least total must exceed r / m by this factor: far above the rounding of at most r steps."""
_PARAMETER_MARGIN = 1.0 - 1e-6
"""Curves are drawn for a parameter this much below the refuted one, so that polygons may be rounded."""


def p_value(curve: TradeOff, guesses: int, correct: int, *, canaries: int) -> float:
    """The largest probability of so many correct guesses under a proved trade-off curve, rounded up.

    The polygon must be a proof: convex and, if anything, below the true curve.

    >>> coin = TradeOff([0, 1], [1, 0], claim="proved")
    >>> p_value(coin, 100, 70, canaries=100) < 0.001
    True
    """
    require(curve.claim == "proved", "curve.claim", curve.claim, "'proved'")
    _check(guesses, correct, canaries)
    inverse = polygon_inverse(curve)

    def excess(log_beta: float) -> float:
        beta = math.exp(log_beta)
        return -1.0 if rejects(inverse, guesses, correct, canaries=canaries, beta=beta) else 1.0

    smallest = -690.0
    if excess(-1e-6) > 0:
        return 1.0
    if excess(smallest) <= 0:
        return math.exp(smallest)
    return min(1.0, math.exp(safe_side(excess, unsafe=smallest, safe=-1e-6, tolerance=1e-6)))


def mu_lower(guesses: int, correct: int, *, canaries: int, confidence: float = 0.95) -> float:
    """The largest mu such that mu-GDP, and hence every smaller one, is refuted; 0 if none is.

    >>> round(mu_lower(100, 95, canaries=1000), 3)
    0.787
    """
    return largest_rejected(gaussian_inverse, guesses, correct, canaries=canaries, confidence=confidence)


def epsilon_lower(
    guesses: int, correct: int, *, canaries: int, delta: float, confidence: float = 0.95
) -> float:
    """The epsilon at this delta of the largest refuted Gaussian curve, rounded down.

    A statement about mechanisms whose curve is Gaussian, or is compared with a Gaussian claim.

    >>> round(epsilon_lower(100, 95, canaries=1000, delta=1e-6), 2)
    3.73
    """
    require(0 < delta < 1, "delta", delta, "in (0, 1)", "a Gaussian curve has no epsilon at delta 0")
    return gaussian_epsilon(mu_lower(guesses, correct, canaries=canaries, confidence=confidence), delta=delta)


def gaussian_epsilon(mu: float, *, delta: float) -> float:
    """The epsilon of mu-GDP at this delta, rounded down (curves round up, lower bounds must not)."""
    return max(0.0, GaussianDP(mu).epsilon(delta) * (1.0 - 1e-9) - 1e-12)


def largest_rejected(
    family: Callable[[float], InverseCurve],
    guesses: int,
    correct: int,
    *,
    canaries: int,
    confidence: float = 0.95,
) -> float:
    """The largest refuted parameter of a family of curves that is ordered: more of it, less privacy."""
    _check(guesses, correct, canaries)
    beta = error_of(confidence)

    def excess(parameter: float) -> float:
        refuted = rejects(family(parameter), guesses, correct, canaries=canaries, beta=beta)
        return -1.0 if refuted else 1.0

    if excess(0.0) > 0:
        return 0.0
    high = 1.0
    while excess(high) <= 0:
        high *= 2.0
        if high > 64.0:
            return high / 2.0
    return safe_side(excess, unsafe=high, safe=0.0 if high == 1.0 else high / 2.0, tolerance=1e-7)


# The recursion, and the curves it is run on.
def rejects(inverse: InverseCurve, guesses: int, correct: int, *, canaries: int, beta: float) -> bool:
    """Whether P[at least `correct` right] = beta is impossible under the trade-off curve with this inverse."""
    if correct <= 0:
        return False
    # r, right_i and wrong_i are those of the module docstring; `limit` is r / m with its margin.
    r, limit = guesses, guesses / canaries * _TOTAL_MARGIN
    right, wrong = beta * correct / canaries, beta * (r - correct) / canaries
    for i in range(correct - 1, -1, -1):
        if right >= 1.0:
            return True
        needed = inverse(right)
        if needed > wrong:
            right += i / (r - i) * (needed - wrong)
            wrong = needed
            if right + wrong > limit:
                return True
    return False


def gaussian_inverse(mu: float) -> InverseCurve:
    """f-bar^-1(x) = Phi(Phi^-1(x) - mu) for the curve of N(0, 1) against N(mu, 1)."""
    quantile, root, erfc = NormalDist().inv_cdf, math.sqrt(0.5), math.erfc

    def inverse(detection: float) -> float:
        # Below 1e-300 the quantile is out of range; 0 asks for less and so refutes less.
        return 0.5 * erfc((mu - quantile(detection)) * root) if detection > 1e-300 else 0.0

    return inverse


def polygon_inverse(curve: TradeOff) -> InverseCurve:
    """The least false-alarm rate on the polygon at which 1 - miss reaches the given detection rate."""
    detection = np.maximum.accumulate(1.0 - curve.miss)
    keep = np.concatenate([[True], np.diff(detection) > 0])
    xs, ys = detection[keep].tolist(), curve.false_alarm[keep].tolist()

    def inverse(x: float) -> float:
        k = bisect_left(xs, x)
        if k == 0:
            return 0.0  # within f(0) < 1: detected without any false alarm
        if k == len(xs):
            return 1.0
        return float(ys[k - 1] + (ys[k] - ys[k - 1]) * (x - xs[k - 1]) / (xs[k] - xs[k - 1]))

    return inverse


def _check(guesses: int, correct: int, canaries: int) -> None:
    require(canaries >= 1, "canaries", canaries, ">= 1")
    require(0 <= guesses <= canaries, "guesses", guesses, f"in [0, canaries={canaries}]")
    require(0 <= correct <= guesses, "correct", correct, f"in [0, guesses={guesses}]")


# What a one-run audit rules out.
@checked
class RefutedCurve(TradeOff):
    """A trade-off curve that no valid proof lies above.

    Parameters
    ----------
    false_alarm : array
        False-alarm rates, increasing from 0 to 1.
    miss : array
        At each of them the miss rate of the refuted curve.
    claim : {'proved', 'measured', 'audited'}
        What kind of curve it is: "audited".
    confidence : float
        With which it is refuted.

    Examples
    --------
    >>> from holdfast.privacy import GaussianDP, PureDP
    >>> audited = RefutedCurve.approximate(1.0, 1e-5, confidence=0.95)
    >>> audited.contradicts(PureDP(0.5).trade_off()), audited.contradicts(PureDP(2.0).trade_off())
    (True, False)
    >>> audited.contradicts(GaussianDP(0.5).trade_off())  # crosses it, but proves only epsilon 1.92 at 1e-5
    False
    """

    @classmethod
    def approximate(cls, epsilon: float, delta: float, *, confidence: float) -> RefutedCurve:
        """The curve of (`epsilon`, `delta`)-DP, refuted with this `confidence`: two lines that meet on the diagonal."""
        slope, top = math.exp(min(epsilon * _PARAMETER_MARGIN, 690.0)), 1.0 - delta
        if epsilon == 0.0:
            return cls([0.0, 1.0], [1.0, 0.0], claim="audited", confidence=confidence)
        meet = top / (1.0 + slope)
        return cls([0.0, meet, top, 1.0], [top, meet, 0.0, 0.0], claim="audited", confidence=confidence)

    @classmethod
    def gaussian(cls, mu: float, *, confidence: float) -> RefutedCurve:
        """The curve of `mu`-GDP, refuted with this `confidence`.

        It is drawn by chords: a proof above the chords is above the curve.
        """
        from scipy.special import ndtr

        if mu == 0.0:
            return cls([0.0, 1.0], [1.0, 0.0], claim="audited", confidence=confidence)
        half = mu * _PARAMETER_MARGIN / 2.0
        middle = np.linspace(-9.0, 9.0, 361)  # thresholds; symmetric, so the polygon is its own mirror image
        inner = ndtr(middle - half)
        miss = ndtr(-middle - half)
        return cls(
            np.concatenate([[0.0], inner, [1.0]]),
            np.concatenate([[1.0], miss, [0.0]]),
            claim="audited",
            confidence=confidence,
        )

    def contradicts(self, proved: TradeOff, *, tolerance: float = 1e-12) -> bool:
        """Whether the proof implies the refuted curve: it lies on or above it at every false-alarm rate."""
        require(proved.claim == "proved", "proved.claim", proved.claim, "'proved'")
        if self.advantage() <= tolerance:
            return False  # nothing was refuted
        grid = np.union1d(self.false_alarm, proved.false_alarm)
        return all(proved.miss_at(float(x)) >= self.miss_at(float(x)) - tolerance for x in grid)
