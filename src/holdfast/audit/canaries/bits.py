"""Public random words that can be made anywhere in the stream, on any machine.

SplitMix64 (Steele, Lea and Flood 2014) is a counter followed by a mixing function: word n needs no other
word. So a block does not depend on the blocks before it, and a device makes the very same bits. It is
no cryptographic generator and none is needed: canaries are public, coins and noise come from a `Source`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]

GAMMA = 0x9E3779B97F4A7C15
MIX = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))
LAST_SHIFT = 31


def stream_key(seed: int, purpose: int) -> int:
    """Where a stream begins: another one for each seed and each purpose.

    The purpose keeps canaries apart from anything else that is made from the same seed: a seeded
    `Source` would otherwise hand the mechanism noise that is correlated with the canaries.

    >>> stream_key(1, 2) != stream_key(2, 1)
    True
    """
    return int(np.random.SeedSequence([seed, purpose]).generate_state(1, np.uint64)[0])


def words(key: int, first: int, count: int) -> Words:
    """Words `first`, ..., `first + count - 1` of the stream.

    >>> bool(np.all(words(7, 0, 10)[4:] == words(7, 4, 6)))
    True
    >>> hex(int(words(0, 0, 1)[0]))  # the reference implementation's first word at seed 0
    '0xe220a8397b1dcdaf'
    """
    state = np.arange(first + 1, first + count + 1, dtype=np.uint64)
    state *= np.uint64(GAMMA)
    state += np.uint64(key)
    for shift, factor in MIX:
        state ^= state >> np.uint64(shift)
        state *= np.uint64(factor)
    state ^= state >> np.uint64(LAST_SHIFT)
    return state


def packed(values: Words) -> NDArray[np.uint8]:
    """The words as bytes, lowest first, whatever the machine's order."""
    return values.astype("<u8", copy=False).view(np.uint8)
