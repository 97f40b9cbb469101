"""Many coins with different exact probabilities, most of them decided by 16 random bits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from holdfast.noise.lazy import LazyUniform, Threshold
from holdfast.noise.source import Source

COIN_BITS = 16
COIN_ERROR = 2.0**-10
"""Slack, in units of 2^-16, between a coin and its bound: 2^-26, against rounding errors near 2^-52."""


def coins(
    source: Source,
    *,
    least: NDArray[np.float64],
    most: NDArray[np.float64],
    exact: Callable[[int], Threshold],
) -> NDArray[np.bool_]:
    """Coin i is true with probability exactly `exact(i)`, a number between `least[i]` and `most[i]`.

    The bounds are doubles and may be off by their rounding; the sharper they are, the fewer coins
    need the exact probability.
    """
    numerators = np.frombuffer(source.bytes(COIN_BITS // 8 * len(least)), dtype="<u2").astype(np.int64)
    heads: NDArray[np.bool_] = numerators + 1 <= least * 2**COIN_BITS - COIN_ERROR
    doubtful = ~heads & (numerators < most * 2**COIN_BITS + COIN_ERROR)
    for index in np.flatnonzero(doubtful).tolist():
        coin = LazyUniform(source, numerator=int(numerators[index]), bits=COIN_BITS)
        heads[index] = coin.below(exact(index))
    return heads
