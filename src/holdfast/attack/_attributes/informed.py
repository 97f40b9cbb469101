"""The most that a privacy guarantee allows someone who knows everything but one value of one person.

A record with another value is a neighbour, so the trade-off curve bounds how often the value is guessed. Where the
prior is strong, the bound says no more than the prior (soundness, section 27).
"""

from __future__ import annotations

import math

import numpy as np

from holdfast.errors import require
from holdfast.privacy._tradeoff import TradeOff


def informed_accuracy(proved: TradeOff, *, prior: float = 0.5) -> float:
    """The largest accuracy about two values, the first of this prior: max prior (1 - f(a)) + (1 - prior)(1 - a).

    `proved` is the curve of `replace` neighbours.

    >>> from holdfast.privacy import PureDP
    >>> curve = PureDP(1.0).trade_off()
    >>> [round(informed_accuracy(curve, prior=prior), 4) for prior in (0.5, 0.7, 0.9)]
    [0.7311, 0.7311, 0.9]
    """
    require(0 <= prior <= 1, "prior", prior, "in [0, 1]")
    require(proved.claim == "proved", "proved.claim", proved.claim, "'proved'")
    # The maximum of a concave function on a polygon is at a corner.
    return float(np.max(prior * (1.0 - proved.miss) + (1.0 - prior) * (1.0 - proved.false_alarm)))


def informed_accuracy_of_many(epsilon: float, *, kinds: int) -> float:
    """The largest accuracy about equally likely values under pure privacy: e^eps / (e^eps + kinds - 1).

    >>> round(informed_accuracy_of_many(1.0, kinds=5), 4)
    0.4046
    """
    require(epsilon >= 0, "epsilon", epsilon, ">= 0")
    require(kinds >= 1, "kinds", kinds, ">= 1")
    return 1.0 / (1.0 + (kinds - 1) * math.exp(-epsilon))
