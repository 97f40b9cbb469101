"""Signals that a normal law can describe: infinite log-odds made finite, likelihoods from signals."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from holdfast.attack.targets import LARGEST

Floats = NDArray[np.float64]


def finite(signals: NDArray[np.floating], *, largest: float | None = None) -> Floats:
    """Signals with infinite ones put a step beyond the largest finite one: where half a vote would put them.

    A forest of 100 trees says 0.99 or 1: log-odds of 4.6 or infinity. Twice the odds of its surest finite
    answer is what half a vote against would give.

    >>> finite(np.array([0.5, -np.inf])).round(3).tolist()
    [0.5, -1.193]
    """
    values = np.asarray(signals, dtype=np.float64)
    edge = (surest(values) if largest is None else largest) + math.log(2.0)
    return np.clip(values, -edge, edge)


def surest(signals: NDArray[np.floating]) -> float:
    """The largest finite absolute log-odds; 0 if there is none."""
    sizes = np.abs(signals[np.isfinite(signals)])
    return float(min(sizes.max(initial=0.0), LARGEST))
