"""Canaries: the interface of every design of planted directions, and the coins that decide which are planted.

The canaries are public: a seed that may be printed regenerates them, block by block, so the matrix of m
rows of length d is never held. The inclusion coins are the only secret. They come from a `Source`, fair
and independent, after the design is fixed; nothing in this package but `inclusion_coins` touches them.

Public random words come from SplitMix64 (Steele, Lea and Flood 2014), a counter followed by a mixing function: word n
needs no other word. So a block does not depend on the blocks before it, and a device makes the very same bits. It is
no cryptographic generator and none is needed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdfast._arrays import Floats
from holdfast.errors import require
from holdfast.noise._bernoulli import bernoulli
from holdfast.noise._source import Source

Block = tuple[int, Floats]
"""The index of the first row, and the rows."""
LARGEST_NORM = 1e150
"""Of a canary: its square is a double."""
ROWS_AT_ONCE = 64
"""Rows made at a time: half a megabyte for each thousand dimensions."""
RandomWords = NDArray[np.uint64]
SPLITMIX_STEP = 0x9E3779B97F4A7C15
SPLITMIX_ROUNDS = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))
SPLITMIX_LAST_SHIFT = 31


class Canaries(Protocol):
    """m public vectors in R^d of norm at most `row_norm`, made on demand."""

    @property
    def count(self) -> int:
        """m, the number of canaries."""

    @property
    def dimension(self) -> int:
        """d, the length of each."""

    @property
    def row_norm(self) -> float:
        """No canary is longer than this, rounding included."""

    @property
    def public(self) -> Mapping[str, int | float | str]:
        """All it takes to make the same canaries again; may be printed."""

    def rows(self, indices: ArrayLike) -> Floats:
        """Some canaries, one in each row."""

    def blocks(self, rows: int = ROWS_AT_ONCE) -> Iterator[Block]:
        """All canaries in order, a few rows at a time."""

    def project(self, direction: ArrayLike) -> Floats:
        """The m inner products with a vector of R^d (X times it)."""

    def combine(self, weights: ArrayLike) -> Floats:
        """The sum of the canaries with these m weights, a vector of R^d (X transposed times them)."""


def inclusion_coins(source: Source, count: int) -> NDArray[np.bool_]:
    """One fair coin for each canary, true where it is planted. Keep them secret until the guesses are made.

    >>> inclusion_coins(Source(seed=3), 5).shape
    (5,)
    """
    require(count >= 1, "count", count, ">= 1")
    return bernoulli(source, p=Fraction(1, 2), size=count)


def planted_rows(canaries: Canaries, coins: ArrayLike, *, rows: int = ROWS_AT_ONCE) -> Iterator[Floats]:
    """The canaries whose coin is true, a few at a time: what is added to the data."""
    chosen = np.flatnonzero(np.asarray(as_coins(coins, canaries.count)))
    for start in range(0, len(chosen), rows):
        yield canaries.rows(chosen[start : start + rows])


# For designs: passes over blocks, and checks.
def in_blocks(canaries: Canaries, rows: int) -> Iterator[Block]:
    """A design's `blocks`, made by its `rows`."""
    require(rows >= 1, "rows", rows, ">= 1")
    for start in range(0, canaries.count, rows):
        yield start, canaries.rows(np.arange(start, min(start + rows, canaries.count)))


def streamed_project(canaries: Canaries, direction: ArrayLike) -> Floats:
    """`project` by one pass over the blocks."""
    vector = as_vector(direction, canaries.dimension, "direction")
    return np.concatenate([block @ vector for _, block in canaries.blocks()])


def streamed_combine(canaries: Canaries, weights: ArrayLike) -> Floats:
    """`combine` by one pass over the blocks."""
    weight = as_vector(weights, canaries.count, "weights")
    total = np.zeros(canaries.dimension)
    for start, block in canaries.blocks():
        total += weight[start : start + len(block)] @ block
    return total


def largest_entry(row_norm: float, entries: int) -> float:
    """The largest double s such that so many entries of size s have norm at most `row_norm`, exactly.

    >>> largest_entry(1.0, 4)
    0.5
    >>> Fraction(largest_entry(1.0, 3)) ** 2 * 3 <= 1
    True
    """
    size = math.nextafter(row_norm / math.sqrt(entries), math.inf)
    while Fraction(size) ** 2 * entries > Fraction(row_norm) ** 2:
        size = math.nextafter(size, 0.0)
    return size


def check_design(count: int, dimension: int, row_norm: float, *, seed: int = 0) -> None:
    """Refuse numbers that no design can have."""
    require(count >= 1, "count", count, ">= 1")
    require(dimension >= 1, "dimension", dimension, ">= 1")
    require(0 < row_norm <= LARGEST_NORM, "row_norm", row_norm, f"> 0 and <= {LARGEST_NORM:g}")
    require(seed >= 0, "seed", seed, ">= 0")


def as_indices(indices: ArrayLike, count: int) -> NDArray[np.int64]:
    """Indices of canaries, checked."""
    chosen = np.atleast_1d(np.asarray(indices, np.int64))
    inside = chosen.ndim == 1 and (chosen.size == 0 or (chosen.min() >= 0 and chosen.max() < count))
    require(bool(inside), "indices", chosen.shape, f"a list of numbers from 0 to {count - 1}")
    return chosen


def as_vector(vector: ArrayLike, length: int, name: str) -> Floats:
    """A vector of that length, in doubles."""
    values = np.asarray(vector, np.float64)
    require(values.shape == (length,), name, values.shape, f"a vector of length {length}")
    return values


def as_coins(coins: ArrayLike, count: int) -> NDArray[np.bool_]:
    """One truth value for each canary."""
    values = np.asarray(coins)
    good = values.shape == (count,) and values.dtype == np.bool_
    require(good, "coins", f"{values.dtype}{values.shape}", f"{count} truth values")
    return values


# Public random words, from anywhere in the stream.
def stream_key(seed: int, purpose: int) -> int:
    """The key of a stream of random words: another one for each seed and each purpose.

    The purpose keeps canaries apart from anything else that is made from the same seed: a seeded
    `Source` would otherwise hand the mechanism noise that is correlated with the canaries.

    >>> stream_key(1, 2) != stream_key(2, 1)
    True
    """
    return int(np.random.SeedSequence([seed, purpose]).generate_state(1, np.uint64)[0])


def random_words(key: int, first: int, count: int) -> RandomWords:
    """The 64-bit numbers `first`, ..., `first + count - 1` of the stream with this key.

    >>> bool(np.all(random_words(7, 0, 10)[4:] == random_words(7, 4, 6)))
    True
    >>> hex(int(random_words(0, 0, 1)[0]))  # the reference implementation's first word at seed 0
    '0xe220a8397b1dcdaf'
    """
    state = np.arange(first + 1, first + count + 1, dtype=np.uint64)
    state *= np.uint64(SPLITMIX_STEP)
    state += np.uint64(key)
    for shift, factor in SPLITMIX_ROUNDS:
        state ^= state >> np.uint64(shift)
        state *= np.uint64(factor)
    state ^= state >> np.uint64(SPLITMIX_LAST_SHIFT)
    return state


def as_bytes(values: RandomWords) -> NDArray[np.uint8]:
    """The words as bytes, lowest first, whatever the machine's order."""
    return values.astype("<u8", copy=False).view(np.uint8)
