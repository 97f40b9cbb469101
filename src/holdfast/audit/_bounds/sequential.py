"""A sequential audit: a bet against "epsilon is at most this", which is valid at any stopping time.

Every guess of a fair membership coin is right with probability at most q = (e^eps + delta) / (1 + e^eps),
whatever came before: within one training for delta = 0 (soundness, section 13), over independent trainings
with one guess each for every delta (section 14). A gambler who starts with 1, wins against any larger
probability and mixes evenly over all of (q, 1) has, after v right guesses of t,

    wealth = Beta(v+1, t-v+1) P[B > q] / ((1 - q) q^v (1-q)^(t-v)),    B ~ beta(v+1, t-v+1).

Under the null the wealth is a non-negative supermartingale, so it ever reaches 1 / beta with probability
at most beta (Ville 1939). The auditor may look after every guess, stop, continue, or keep the best moment.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdfast._arguments import checked
from holdfast.audit._bounds.one_run import error_of
from holdfast.errors import require
from holdfast.privacy._safe_side import safe_side


def right_at_most(epsilon: float, *, delta: float = 0.0) -> float:
    """The largest probability that a guess of a fair membership coin is right.

    >>> right_at_most(0.0)
    0.5
    """
    return (1.0 + delta * math.exp(-epsilon)) / (1.0 + math.exp(-epsilon))


def log_wealth(
    guesses: ArrayLike, correct: ArrayLike, *, epsilon: float, delta: float = 0.0
) -> NDArray[np.float64]:
    """The logarithm of the gambler's wealth against (epsilon, delta)-DP, elementwise.

    >>> float(log_wealth(0, 0, epsilon=1.0))
    0.0
    """
    from scipy.special import betaincc, betaln

    t, v = np.asarray(guesses, float), np.asarray(correct, float)
    q = right_at_most(epsilon, delta=delta)
    if q >= 1.0:
        return np.zeros(np.broadcast(t, v).shape)
    with np.errstate(divide="ignore"):
        beyond = np.log(betaincc(v + 1.0, t - v + 1.0, q))
    value = betaln(v + 1.0, t - v + 1.0) + beyond - v * math.log(q) - (t - v + 1.0) * math.log1p(-q)
    return np.asarray(value, dtype=np.float64)


def epsilon_lower(guesses: int, correct: int, *, delta: float = 0.0, confidence: float = 0.95) -> float:
    """The largest epsilon that the wealth refutes now, together with every smaller one; 0 if none.

    The wealth falls in q as long as v / (t+1) > q, and is below e beyond. So for every error below 1/e the refuted
    epsilons are an interval from 0.

    >>> epsilon_lower(10, 5), round(epsilon_lower(1000, 900), 2)
    (0.0, 1.89)
    """
    require(0 <= correct <= guesses, "correct", correct, f"in [0, guesses={guesses}]")
    require(0 <= delta < 1, "delta", delta, "in [0, 1)")
    needed = _needed_wealth(confidence)
    return _largest_refuted(lambda e: needed - float(log_wealth(guesses, correct, epsilon=e, delta=delta)))


def _needed_wealth(confidence: float) -> float:
    """The logarithm of the wealth that refutes at this confidence, rounded up."""
    require(0.64 < confidence < 1, "confidence", confidence, "in (0.64, 1)")
    return -math.log(error_of(confidence)) * (1.0 + 1e-9)


def _largest_refuted(excess: Callable[[float], float]) -> float:
    if excess(0.0) > 0.0:
        return 0.0
    high = 1.0
    while excess(high) <= 0.0:
        high *= 2.0
    return safe_side(excess, unsafe=high, safe=0.0, tolerance=1e-10)


@checked
@dataclass(frozen=True, kw_only=True)
class SequentialTest:
    """An audit that can be stopped at any time: feed it guesses, read the bound, stop or go on.

    Parameters
    ----------
    guesses : int
        How many guesses there were so far.
    correct : int
        How many of them were right.
    delta : float
        Where epsilon is bounded; fixed in advance.
    confidence : float
        With which the bound holds at every moment.
    best : float
        The best bound so far.

    Examples
    --------
    >>> game = SequentialTest()
    >>> for _ in range(40):
    ...     game = game.observe(True)
    >>> game.epsilon_lower() > 1.5
    True
    """

    guesses: int = 0
    correct: int = 0
    delta: float = 0.0
    confidence: float = 0.95
    best: float = 0.0

    def __post_init__(self) -> None:
        require(0 <= self.correct <= self.guesses, "correct", self.correct, f"in [0, guesses={self.guesses}]")
        require(0 <= self.delta < 1, "delta", self.delta, "in [0, 1)")
        require(0.64 < self.confidence < 1, "confidence", self.confidence, "in (0.64, 1)")

    def observe(self, correct: bool) -> SequentialTest:
        """The test after one more guess, which was `correct` or was not."""
        guesses, right = self.guesses + 1, self.correct + bool(correct)
        now = self.best
        if correct:  # a wrong guess never raises the bound
            now = epsilon_lower(guesses, right, delta=self.delta, confidence=self.confidence)
        return replace(self, guesses=guesses, correct=right, best=max(self.best, now))

    def epsilon_lower(self) -> float:
        """The best bound at any moment so far: one error probability covers them all."""
        return self.best

    def refutes(self, epsilon: float) -> bool:
        """Whether (epsilon, delta)-DP has been refuted by now."""
        return self.best > epsilon


def path_epsilon_lower(correct: ArrayLike, *, delta: float = 0.0, confidence: float = 0.95) -> float:
    """The best bound at any moment of a sequence of guesses, in the order in which they were made.

    >>> path_epsilon_lower([True] * 40 + [False] * 40) == epsilon_lower(40, 40)
    True
    """
    bits = np.asarray(correct, bool)
    times, right = np.arange(1, bits.size + 1), np.cumsum(bits)
    needed = _needed_wealth(confidence)

    def excess(epsilon: float) -> float:
        return needed - float(np.max(log_wealth(times, right, epsilon=epsilon, delta=delta), initial=-np.inf))

    return _largest_refuted(excess)


def stopping_time(
    correct: ArrayLike, *, epsilon: float, delta: float = 0.0, confidence: float = 0.95
) -> int | None:
    """After how many guesses the wealth against (epsilon, delta)-DP first suffices; None if it never does.

    >>> stopping_time([True] * 100, epsilon=1.0) is not None
    True
    """
    bits = np.asarray(correct, bool)
    wealth = log_wealth(np.arange(1, bits.size + 1), np.cumsum(bits), epsilon=epsilon, delta=delta)
    rich = np.flatnonzero(wealth >= _needed_wealth(confidence))
    return int(rich[0]) + 1 if rich.size else None
