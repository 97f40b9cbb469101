"""Uniform integers and uniform permutations, exactly uniform."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from holdfast._arguments import checked
from holdfast._ranges import MOST_DRAWS, require_whole
from holdfast.errors import require
from holdfast.noise._source import CHUNK, WORD, Source

KEY_BITS = WORD
"""Bits of a sorting key; fewer where the key shares its word with a long index."""


@checked
def integers(
    source: Source, *, bound: int, size: int, records: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """Integers in [0, bound), each exactly equally likely.

    With `records`, each integer is drawn from the random words of the record that it is for (`Source.words_of`).

    >>> integers(Source(seed=1), bound=6, size=5)
    array([5, 2, 1, 0, 4])
    """
    require(1 <= bound <= 2**63, "bound", bound, "in [1, 2^63]")
    require_whole("size", size, most=MOST_DRAWS)
    mask = np.uint64((1 << (int(bound) - 1).bit_length()) - 1)
    draws = np.empty(size, dtype=np.int64)
    if records is not None:
        waiting = np.arange(size)
        while waiting.size:
            words = source.words_of(records[waiting]) & mask
            within = words < np.uint64(bound)
            draws[waiting[within]] = words[within].astype(np.int64)
            waiting = waiting[~within]
        return draws
    filled = 0
    while filled < size:
        # Integers of as many bits as the bound are drawn, and those at or above it, less than half, are rejected.
        words = source.words(min(CHUNK, size - filled)) & mask
        accepted = words[words < np.uint64(bound)]
        draws[filled : filled + len(accepted)] = accepted.astype(np.int64)
        filled += len(accepted)
    return draws


@checked
def permutation(source: Source, n: int, *, records: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
    """A permutation of 0, ..., n-1, each exactly equally likely.

    Every index gets a random key, and the indices are sorted by their keys. Where keys are equal, further bits are
    drawn until they differ, which makes the permutation exactly uniform. Key and index share one 64-bit word, because
    sorting words is ten times faster than sorting indices. With `records`, each key is drawn from its record's random
    words, so that leaving a record out keeps the others in their order.

    >>> permutation(Source(seed=1), 8)
    array([2, 4, 7, 5, 0, 6, 3, 1])
    """
    require(0 <= n <= 2**40, "n", n, "in [0, 2^40]")
    n = int(n)
    index_bits = max(1, (n - 1).bit_length())
    key_bits = np.uint64(min(KEY_BITS, WORD - index_bits))
    packed = np.empty(n, dtype=np.uint64)
    for start in range(0, n, CHUNK):
        stop = min(n, start + CHUNK)
        words = source.words(stop - start) if records is None else source.words_of(records[start:stop])
        keys = (words >> (np.uint64(WORD) - key_bits)) << np.uint64(index_bits)
        packed[start : start + len(words)] = keys | np.arange(start, start + len(words), dtype=np.uint64)
    packed.sort()
    order = (packed & np.uint64((1 << index_bits) - 1)).astype(np.int64)
    packed >>= np.uint64(index_bits)
    _settle_ties(source, order, packed[1:] == packed[:-1])
    return order


def _settle_ties(source: Source, order: NDArray[np.int64], ties: NDArray[np.bool_]) -> None:
    """Shuffle, in place, each run of positions with equal keys; `ties[i]` says that i and i + 1 have equal keys."""
    positions = np.flatnonzero(_tied_positions(ties)) if ties.any() else np.empty(0, dtype=np.int64)
    while len(positions):
        first_of_run = np.append(True, ~ties)[positions]
        runs = np.cumsum(first_of_run)
        keys = source.words(len(positions)) >> np.uint64(WORD - KEY_BITS)
        sorting = np.lexsort((keys, runs))
        order[positions] = order[positions][sorting]
        # Positions of one run whose new keys are equal again are shuffled once more.
        equal_again = (np.diff(keys[sorting]) == 0) & (np.diff(runs) == 0)
        ties = np.zeros(len(order) - 1, dtype=bool)
        ties[positions[:-1][equal_again]] = True
        positions = positions[_tied_positions(equal_again)]


def _tied_positions(ties: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which positions have the same key as the one before or after them."""
    tied = np.zeros(len(ties) + 1, dtype=bool)
    tied[:-1] |= ties
    tied[1:] |= ties
    return tied
