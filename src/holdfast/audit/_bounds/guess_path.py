"""A valid lower bound from the best number of guesses: the test is calibrated for the whole path of guesses at once.

Guesses are made surest first, and the auditor looks after r_1 < r_2 < ... of them. Reporting the largest bound over all
looks raises a false alarm in 30 % of runs at a confidence of 95 % (soundness, section 13). There are three repairs:

* the exact path: given the output, each guess in turn is right with probability at most q = e^eps/(1+e^eps),
  so correctness is dominated by independent coins of bias q, and "some look has a binomial tail of at most a"
  is an increasing event whose probability under the coins is computed, not simulated;
* a geometric grid of looks with the error split evenly between them (also for delta > 0 and f-DP);
* choosing the look on one half of the canaries and reporting on the other.

Conditions of the exact path: the inclusion coins are fair and independent of each other and of everything
else in the run; the mechanism is private in each canary with all others fixed; the guesses, their order and
the looks are functions of the output, of public canaries and of fresh auditor coins, never of the inclusion
coins. It does not cover the best of several scores, runs or canary designs. For (epsilon, delta) each guess
exceeds its coin with probability at most delta more, hence the path is calibrated at beta - m delta.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdfast.audit._bounds import one_run
from holdfast.audit._bounds.epsilon_grid import climb, last_epsilon, rung
from holdfast.audit._bounds.worst_case import ROUNDING, keep_probability, upper_tail
from holdfast.errors import require
from holdfast.privacy._safe_side import safe_side

_DROPPED_MASS = 1e-25
"""Probability of the earliest times that the recursion drops to stay short; it is counted as crossing."""


def crossing(level: float, looks: ArrayLike, *, epsilon: float) -> float:
    """P[some look has a binomial tail <= level] for independent coins of bias q, rounded up.

    With w wrong guesses the tail falls as guesses are added, so it is low enough from some look tau_w on,
    and the path crosses unless the (w+1)-th wrong guess comes by tau_w, for every w. The time of the next
    wrong guess is geometric: one recursion per w over (time, wrong so far), O(K^2) in all.

    >>> round(crossing(0.03, [5], epsilon=0.0), 5)  # five of five right: 1/32; a single look, no correction
    0.0
    >>> round(crossing(0.04, [5], epsilon=0.0), 5)
    0.03125
    """
    from scipy.signal import lfilter

    q = keep_probability(epsilon)
    if q == 1.0:  # beyond an epsilon of 36 every guess may be right
        return 1.0
    deadlines = _deadlines(level, _as_looks(looks), epsilon)
    crossed, first, law = 0.0, 0, np.ones(1)  # law[i] = P[not crossed, last wrong guess at time first + i]
    for deadline in deadlines:
        # law[t] <- (1-q) sum_{s<t} q^(t-1-s) law[s], one entry past the deadline.
        padded = np.zeros(deadline + 2 - first)
        padded[: law.size] = law
        law = lfilter([0.0, 1.0 - q], [1.0, -q], padded)
        crossed += float(law[-1]) / (1.0 - q)  # no wrong guess by the deadline
        law = law[:-1]
        if law.size > 256:
            settled = np.cumsum(law)
            skip = int(np.searchsorted(settled, _DROPPED_MASS))
            crossed += float(settled[skip - 1]) if skip else 0.0
            first, law = first + skip, law[skip:]
    return min(1.0, crossed * (1.0 + ROUNDING))


def level(looks: ArrayLike, *, epsilon: float, beta: float) -> float:
    """The tail that a look must not exceed so that the whole path crosses with probability <= beta; rounded down.

    >>> round(level(range(1, 501), epsilon=4.0, beta=0.05), 4)
    0.0219
    """
    require(0 < beta < 1, "beta", beta, "in (0, 1)")
    times = _as_looks(looks)
    if crossing(beta, times, epsilon=epsilon) <= beta:
        return beta
    smallest = beta / times.size * (1.0 - 1e-9)
    if crossing(smallest, times, epsilon=epsilon) > beta:
        # A union bound holds here whatever is computed: near q = 1 the recursion is rounded up to 1.
        return smallest
    return safe_side(
        lambda tail: crossing(tail, times, epsilon=epsilon) - beta, unsafe=beta, safe=smallest, tolerance=1e-7
    )


class Levels:
    """The critical levels of some looks at every epsilon, stored once they are computed.

    >>> levels = Levels(range(1, 51), beta=0.05)
    >>> levels.rejects(0.001, epsilon=1.0), levels.rejects(0.04, epsilon=1.0)
    (True, False)
    """

    def __init__(self, looks: ArrayLike, *, beta: float) -> None:
        require(0 < beta < 1, "beta", beta, "in (0, 1)")
        self.looks = _as_looks(looks)
        self.beta = beta
        self._known: dict[float, tuple[float, float]] = {}

    def rejects(self, smallest: float, *, epsilon: float) -> bool:
        """Whether a path whose smallest tail is this crosses with probability <= beta: one recursion, if any."""
        low, high = self._known.get(epsilon) or (self.beta / self._deadlines_at_most(epsilon), self.beta)
        if smallest > low and smallest <= high:
            if crossing(smallest, self.looks, epsilon=epsilon) <= self.beta:
                low = smallest
            else:
                high = smallest * (1.0 - ROUNDING)
            self._known[epsilon] = low, high
        return smallest <= low

    def _deadlines_at_most(self, epsilon: float) -> int:
        # A tail below 1/2 has fewer wrong guesses than the median, which is at most the mean rounded up.
        # A union bound over that many deadlines needs no recursion.
        wrong = math.ceil(float(self.looks[-1]) * keep_probability(-epsilon) * (1.0 + ROUNDING))
        return max(1, wrong) if self.beta < 0.5 else int(self.looks[-1]) + 1


def p_value(
    correct: ArrayLike, *, canaries: int, epsilon: float, delta: float = 0.0, looks: ArrayLike | None = None
) -> float:
    """The chance of a path at least as surprising at some look, under (epsilon, delta)-DP; rounded up."""
    times, right = _looks_and_counts(correct, canaries, looks)
    smallest = float(np.min(upper_tail(times, right, epsilon)))
    return min(1.0, crossing(smallest * (1.0 + ROUNDING), times, epsilon=epsilon) + canaries * delta)


def epsilon_lower(
    correct: ArrayLike,
    *,
    canaries: int,
    delta: float = 0.0,
    confidence: float = 0.95,
    looks: ArrayLike | None = None,
    levels: Levels | None = None,
) -> float:
    """A valid bound from the best look along the path; `correct` are the guesses, surest first.

    The largest epsilon of a fixed grid such that it and all below are refuted; 0 if none is. `levels` are the
    levels of the same looks, for 1 - confidence - canaries * delta, where many paths share them.

    >>> epsilon_lower([True] * 100, canaries=100) > 3.3
    True
    """
    times, right = _looks_and_counts(correct, canaries, looks if levels is None else levels.looks)
    beta = one_run.error_of(confidence) - canaries * delta
    if beta <= 0.0:
        return 0.0
    if levels is None:
        levels = Levels(times, beta=beta)
    else:
        require(
            levels.beta <= beta * (1 + 1e-12),
            "levels.beta",
            levels.beta,
            f"at most 1 - confidence - m delta = {beta:g}",
        )

    def smallest(epsilon: float) -> float:
        return float(np.min(upper_tail(times, right, epsilon))) * (1.0 + ROUNDING)

    def is_rejected(epsilon: float) -> bool:
        return levels.rejects(smallest(epsilon), epsilon=epsilon)

    # Tails grow with epsilon, and below beta / K a union bound already rejects: no recursion there.
    sure = last_epsilon(lambda epsilon: smallest(epsilon) <= levels.beta / times.size)
    return climb(is_rejected, start=max(sure, 0))


def uncorrected_maximum(
    correct: ArrayLike,
    *,
    canaries: int,
    delta: float = 0.0,
    confidence: float = 0.95,
    looks: ArrayLike | None = None,
) -> float:
    """The largest bound over all looks, uncorrected for having chosen among them: often plotted, NOT a valid bound.

    It is here for pictures only; an `AuditResult` that carries it says `valid=False` and refutes nothing.
    """
    times, right = _looks_and_counts(correct, canaries, looks)
    # Only looks that are still surprising at the best epsilon of the grid need be inverted.
    beta = one_run.error_of(confidence)
    start = last_epsilon(lambda epsilon: float(np.min(upper_tail(times, right, epsilon))) <= beta)
    near = upper_tail(times, right, rung(max(start, 0))) <= beta * (1.0 + ROUNDING)
    pairs = zip(times[near], right[near], strict=True)
    return max(
        (
            one_run.epsilon_lower(int(r), int(v), canaries=canaries, delta=delta, confidence=confidence)
            for r, v in pairs
        ),
        default=0.0,
    )


def geometric_looks(most: int, *, number: int = 7) -> NDArray[np.int64]:
    """About `number` looks, each twice the one before, up to `most` guesses.

    >>> geometric_looks(1000)
    array([  15,   31,   62,  125,  250,  500, 1000])
    """
    require(most >= 1, "most", most, ">= 1")
    require(number >= 1, "number", number, ">= 1")
    looks = most // 2 ** np.arange(number - 1, -1, -1)
    return np.unique(looks[looks >= 1]).astype(np.int64)


def geometric_epsilon_lower(
    correct: ArrayLike, *, canaries: int, delta: float = 0.0, confidence: float = 0.95, number: int = 7
) -> float:
    """The best of a few fixed looks, each with an equal share of the error (Bonferroni); any delta."""
    bits = np.asarray(correct, bool)
    times, right = _looks_and_counts(bits, canaries, geometric_looks(bits.size, number=number))
    share = 1.0 - one_run.error_of(confidence) / times.size
    return max(
        one_run.epsilon_lower(int(r), int(v), canaries=canaries, delta=delta, confidence=share)
        for r, v in zip(times, right, strict=True)
    )


def split_epsilon_lower(
    chosen_on: ArrayLike, reported_on: ArrayLike, *, canaries: int, confidence: float = 0.95
) -> float:
    """A bound that reports on one half of the canaries with the share of guesses chosen on the other; delta = 0 only.

    The halves are drawn without looking at coins or scores; `canaries` is the size of the reporting half.
    The choice depends on the coins of the first half, which for delta > 0 would not be fixed in advance.
    """
    first, second = np.asarray(chosen_on, bool), np.asarray(reported_on, bool)
    require(
        first.size >= 1 and second.size >= 1, "chosen_on", first.size, "of one guess or more, as reported_on"
    )
    times = np.arange(1, first.size + 1)
    near = rung(max(last_epsilon(lambda epsilon: _least_tail(first, epsilon) <= 0.05), 0))
    bounds = upper_tail(times, np.cumsum(first), near)
    best = int(times[int(np.argmin(bounds))])
    guesses = max(1, min(second.size, round(best * second.size / first.size)))
    return one_run.epsilon_lower(
        guesses, int(second[:guesses].sum()), canaries=canaries, confidence=confidence
    )


def _least_tail(bits: NDArray[np.bool_], epsilon: float) -> float:
    return float(np.min(upper_tail(np.arange(1, bits.size + 1), np.cumsum(bits), epsilon)))


def _deadlines(level: float, looks: NDArray[np.int64], epsilon: float) -> NDArray[np.int64]:
    """tau_w for w = 0, 1, ...: the first look at which w wrong guesses still have a tail <= level."""
    allowed = np.full(looks.size, -1)  # the most wrong guesses at each look that are surprising enough
    step = 1 << max(0, int(looks[-1]).bit_length() - 1)
    while step:
        more = np.minimum(allowed + step, looks)
        passed = (more > allowed) & (upper_tail(looks, looks - more, epsilon) <= level)
        allowed = np.where(passed, more, allowed)
        step //= 2
    most = int(allowed.max())
    return (
        looks[np.searchsorted(np.maximum.accumulate(allowed), np.arange(most + 1))]
        if most >= 0
        else looks[:0]
    )


def _as_looks(looks: ArrayLike) -> NDArray[np.int64]:
    times = np.asarray(looks, np.int64)
    require(times.ndim == 1 and times.size >= 1, "looks", times.shape, "a list of one look or more")
    require(bool(times[0] >= 1 and np.all(np.diff(times) > 0)), "looks", "...", "increasing from 1 or more")
    return times


def _looks_and_counts(
    correct: ArrayLike, canaries: int, looks: ArrayLike | None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    bits = np.asarray(correct, bool)
    require(bits.ndim == 1 and bits.size >= 1, "correct", bits.shape, "a list of one guess or more")
    require(canaries >= bits.size, "canaries", canaries, f">= the number of guesses, {bits.size}")
    times = _as_looks(np.arange(1, bits.size + 1) if looks is None else looks)
    require(
        int(times[-1]) <= bits.size, "looks", int(times[-1]), f"at most the number of guesses, {bits.size}"
    )
    return times, np.cumsum(bits)[times - 1]
