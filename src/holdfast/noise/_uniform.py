"""Unbiased integers and permutations."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from holdfast._arguments import MOST_DRAWS, checked, require_whole
from holdfast.errors import require
from holdfast.noise._source import CHUNK, WORD, Source

KEY_BITS = WORD
"""Bits of a sorting key, where its index leaves room for so many."""


@checked
def integers(
    source: Source, *, bound: int, size: int, records: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """Integers below the bound, each exactly equally likely; with `records`, one of each record's own coins.

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
        # Reject what the bits could say but the range does not hold: less than half of it.
        words = source.words(min(CHUNK, size - filled)) & mask
        accepted = words[words < np.uint64(bound)]
        draws[filled : filled + len(accepted)] = accepted.astype(np.int64)
        filled += len(accepted)
    return draws


@checked
def permutation(source: Source, n: int, *, records: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
    """A permutation of 0, ..., n-1, each exactly equally likely.

    Every index gets a random key; sorting by the keys permutes the indices. Keys are lazy: those
    that tie draw further bits until they differ, which is what makes the permutation uniform.
    Key and index share one word, because sorting words is ten times faster than sorting indices. With `records`
    the keys are of each record's own coins: one record less leaves all others in their order.

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
    """Shuffle, in place, each run of neighbours whose keys are equal (`ties[i]`: i and i+1 are)."""
    positions = np.flatnonzero(_members(ties)) if ties.any() else np.empty(0, dtype=np.int64)
    while len(positions):
        first_of_run = np.append(True, ~ties)[positions]
        runs = np.cumsum(first_of_run)
        keys = source.words(len(positions)) >> np.uint64(WORD - KEY_BITS)
        sorting = np.lexsort((keys, runs))
        order[positions] = order[positions][sorting]
        # What still ties: neighbours in one run whose fresh keys are equal, too.
        again = (np.diff(keys[sorting]) == 0) & (np.diff(runs) == 0)
        ties = np.zeros(len(order) - 1, dtype=bool)
        ties[positions[:-1][again]] = True
        positions = positions[_members(again)]


def _members(ties: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Who is equal to the one before or the one after."""
    members = np.zeros(len(ties) + 1, dtype=bool)
    members[:-1] |= ties
    members[1:] |= ties
    return members
