"""Acceptance: a proposal from the tangent's envelope is kept with chance exp(-(k/n) sum of gaps), exactly.

Poisson thinning (soundness, section 11): rows are met at random at a rate that no gap exceeds, and each fires with
its own gap's share of it. That none fires has exactly the chance wanted, and most rows are never looked at.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Floats
from holdfast._kernel.bregman import ThinnedTest
from holdfast.learn._sampling.potential import Potential
from holdfast.noise._source import Source

REFILL = 6_144
"""Random words drawn at a time."""
WHOLE_SHARE = 0.5
"""Where more than this share of the rows would be visited, all gaps are summed instead; the probability is the same."""


class Coins:
    """Random words of a source, drawn in advance and used once."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._words = np.empty(0, dtype=np.uint64)
        self._at = 0

    def next(self, count: int) -> NDArray[np.uint64]:
        """The next words, not used yet."""
        if self._at + count > self._words.size:
            self._words = np.concatenate([self._words[self._at :], self._source.words(max(count, REFILL))])
            self._at = 0
        return self._words[self._at : self._at + count]

    def use(self, count: int) -> None:
        """Mark the next `count` words as used."""
        self._at += count

    def exponential(self) -> float:
        """One exponential number of mean 1."""
        word = int(self.next(1)[0])
        self.use(1)
        return -math.log(((word >> 11) + 1.0) * 2.0**-53)


def is_accepted(
    potential: Potential, predictions: Floats, v: Floats, coins: Coins, *, extra: float = 0.0
) -> bool:
    """Whether the proposal at distance v from the point of tangency is accepted.

    `predictions` are the rows' at that point; `extra` is added to the exponent.
    """
    if extra > 0 and coins.exponential() <= extra:
        return False
    gaps, count = potential.gaps, potential.gaps.rows.count
    if count == 0:
        return True
    # gap_i <= curvature <x_i, v>^2 / 2 <= smoothness |v|^2 / 2.
    bound = 0.5 * potential.problem.smoothness * float(v @ v)
    until = potential.weight * count * bound
    if until > WHOLE_SHARE * count:
        return coins.exponential() > potential.weight * gaps.total(predictions, v)
    clock, meetings = 0.0, math.ceil(until + 4.0 * math.sqrt(until) + 4.0)
    while True:
        random_words = coins.next(3 * meetings)
        verdict, clock, used = gaps.thinned_test(
            predictions, v, bound=bound, until=until, random_words=random_words, clock=clock
        )
        coins.use(used)
        if verdict is not ThinnedTest.MORE_WORDS:
            return verdict is ThinnedTest.PASSED
