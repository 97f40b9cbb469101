"""How often randomised response is right: the binomial law that every one-run audit is compared with.

Randomised response keeps a fair bit with probability q = e^epsilon / (1 + e^epsilon) and is the worst
epsilon-DP mechanism for membership guesses (Steinke, Nasr and Jagielski 2023, theorem 5.2).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

ROUNDING = 1e-10
"""Relative slack on computed probabilities: far above the error of the incomplete beta function."""


def keep(epsilon: float) -> float:
    """The probability that randomised response tells the truth.

    >>> keep(0.0)
    0.5
    """
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
    tail = betainc(np.where(inside, v, 1.0), np.where(inside, r - v + 1.0, 1.0), keep(epsilon))
    return np.where(inside, tail, np.where(v <= 0, 1.0, 0.0))
