"""Intervals of counts that were released because they reach a threshold.

Such a count is biased upwards: near the threshold the usual interval seldom holds the true one. So there are two: that
of all draws, and that of the draws in which the key was released, which inverts the law above the threshold.
"""

from __future__ import annotations

import numpy as np

from holdfast._arrays import Floats
from holdfast.privacy._mechanisms.thresholded import Thresholded
from holdfast.statistics._measures.found_keys import FoundKeys
from holdfast.statistics._questions.question import Estimate


def count_estimates(name: str, found: FoundKeys, confidence: float, cells: int) -> tuple[Estimate, ...]:
    """The counts with two intervals: over all draws, and over those in which the key was released; NaN for the rest."""
    noisy, mechanism = found.counts, found.mechanism
    assert noisy is not None
    assert mechanism is not None
    steps, failure = mechanism.steps, 1.0 - confidence
    about = "units" if steps == 1 else "units, each weighed 1/sqrt(its number of keys)"
    reach = _reach(mechanism, failure)
    low, middle, high = (
        _given_release(mechanism, noisy, chance) for chance in (failure / 2, 0.5, 1 - failure / 2)
    )
    if steps == 1:
        low, high = np.ceil(low), np.floor(high)

    def column(values: Floats, empty: float) -> Floats:
        return np.concatenate([values / steps, np.full(cells - len(values), empty)])

    return (
        Estimate(
            name=name,
            value=column(noisy, np.nan),
            low=column(noisy - reach, 0.0),
            high=column(noisy + reach, np.inf),
            about=f"{about}; the interval counts draws in which the key was not released, too",
        ),
        Estimate(
            name=f"{name}_given_release",
            value=column(np.rint(middle) if steps == 1 else middle, np.nan),
            low=column(low, 0.0),
            high=column(high, np.inf),
            about=f"{about}; value and interval given that the key was released, by the law above the threshold",
        ),
    )


def _reach(mechanism: Thresholded, failure: float) -> float:
    """The least whole r with P[|noise| > r] <= failure."""
    low, high = -1, 2 ** int(np.ceil(np.log2(float(mechanism.scale) * 80 + 80)))
    while high - low > 1:
        middle = (low + high) // 2
        tail = 2.0 * float(np.exp(mechanism.log_above(0.0, np.array([float(middle)])))[0])
        low, high = (low, middle) if tail <= failure else (middle, high)
    return float(high)


def _given_release(mechanism: Thresholded, noisy: Floats, chance: float) -> Floats:
    """The count at which a released count is at least `noisy` with this chance (at most it, where that is above 1/2).

    In each direction the value itself belongs to the tail, so that intervals of whole counts are never too short.
    """
    least = float(mechanism.steps) if mechanism.steps == 1 else 1.0
    low = np.full(noisy.shape, least)
    high = noisy + 60.0 * float(mechanism.scale)
    last = np.full(noisy.shape, float(mechanism.threshold - 1))
    edge = noisy - 1.0 if chance < 0.5 else noisy if chance > 0.5 else noisy - 0.5
    for _ in range(80):
        middle = 0.5 * (low + high)
        above = np.exp(
            mechanism.log_above(middle, np.maximum(edge, last)) - mechanism.log_above(middle, last)
        )
        reached = above > chance
        low, high = np.where(reached, low, middle), np.where(reached, middle, high)
    # Rounded outwards.
    return low if chance < 0.5 else high
