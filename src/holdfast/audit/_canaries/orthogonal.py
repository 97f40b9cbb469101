"""Orthogonal canaries, at most d of them: the score of one does not depend on the others.

The score of a canary is then its own coin plus noise and nothing else, and the inner product is the best
decoder there is. Hadamard rows with random signs spread each canary over many coordinates; Dirac canaries
put all of it into one, which is right where a mechanism clips or noises coordinate by coordinate.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdfast._arrays import Floats
from holdfast.audit._canaries.design import (
    ROWS_AT_ONCE,
    Block,
    as_bytes,
    as_indices,
    as_vector,
    check_design,
    in_blocks,
    largest_entry,
    random_words,
    stream_key,
)
from holdfast.errors import require

FLIPS_STREAM = 0x48414441
"""Purpose of the stream of signs."""


@dataclass(frozen=True, kw_only=True)
class HadamardCanaries:
    """Rows of a Walsh-Hadamard matrix with randomly flipped columns; products take d log d steps.

    A dimension that is no power of two is cut into blocks that are, largest first (10,000 = 8192 + 1024 +
    512 + 256 + 16), so any m <= d canaries are orthogonal; canary i lives in the block that holds index i.

    >>> canaries = HadamardCanaries(count=5, dimension=6, seed=1)
    >>> bool(np.allclose(canaries.rows(range(5)) @ canaries.rows(range(5)).T, np.eye(5)))
    True
    """

    count: int
    dimension: int
    seed: int
    row_norm: float = 1.0

    def __post_init__(self) -> None:
        check_design(self.count, self.dimension, self.row_norm, seed=self.seed)
        _at_most_dimension(self.count, self.dimension)

    @property
    def public(self) -> Mapping[str, int | float | str]:
        """Design, shape, norm and seed."""
        return {
            "design": "hadamard",
            "count": self.count,
            "dimension": self.dimension,
            "row_norm": self.row_norm,
            "seed": self.seed,
        }

    @cached_property
    def _squares(self) -> tuple[tuple[int, int, float], ...]:
        """(first index, size, entry) of each block."""
        blocks, start = [], 0
        while start < self.dimension:
            size = 1 << ((self.dimension - start).bit_length() - 1)
            blocks.append((start, size, largest_entry(self.row_norm, size)))
            start += size
        return tuple(blocks)

    @cached_property
    def _flips(self) -> Floats:
        flips = as_bytes(random_words(stream_key(self.seed, FLIPS_STREAM), 0, -(-self.dimension // 64)))
        minus = np.unpackbits(flips, count=self.dimension, bitorder="little").astype(np.float64)
        return 1.0 - 2.0 * minus

    def rows(self, indices: ArrayLike) -> Floats:
        """Some canaries, one in each row."""
        chosen = as_indices(indices, self.count)
        rows = np.zeros((len(chosen), self.dimension))
        for start, size, entry in self._squares:
            here = np.flatnonzero((chosen >= start) & (chosen < start + size))
            # Sylvester: entry (i, j) is -1 to the number of bits that i and j share.
            odd = _parity((chosen[here] - start)[:, None] & np.arange(size)[None, :])
            rows[here, start : start + size] = (
                entry * np.where(odd, -1.0, 1.0) * self._flips[start : start + size]
            )
        return rows

    def blocks(self, rows: int = ROWS_AT_ONCE) -> Iterator[Block]:
        """All canaries in order, a few rows at a time."""
        return in_blocks(self, rows)

    def project(self, direction: ArrayLike) -> Floats:
        """The m inner products, by the fast transform."""
        flipped = as_vector(direction, self.dimension, "direction") * self._flips
        return self._transform(flipped)[: self.count]

    def combine(self, weights: ArrayLike) -> Floats:
        """The weighted sum, by the fast transform (the matrix is symmetric)."""
        padded = np.zeros(self.dimension)
        padded[: self.count] = as_vector(weights, self.count, "weights")
        return self._transform(padded) * self._flips

    def _transform(self, vector: Floats) -> Floats:
        for start, size, entry in self._squares:
            walsh_hadamard(vector[start : start + size])
            vector[start : start + size] *= entry
        return vector


@dataclass(frozen=True, kw_only=True)
class DiracCanaries:
    """Canary i is `row_norm` times the i-th unit vector.

    >>> DiracCanaries(count=2, dimension=3).rows([1])
    array([[0., 1., 0.]])
    """

    count: int
    dimension: int
    row_norm: float = 1.0

    def __post_init__(self) -> None:
        check_design(self.count, self.dimension, self.row_norm)
        _at_most_dimension(self.count, self.dimension)

    @property
    def public(self) -> Mapping[str, int | float | str]:
        """Design, shape and norm; nothing is random."""
        return {
            "design": "dirac",
            "count": self.count,
            "dimension": self.dimension,
            "row_norm": self.row_norm,
        }

    def rows(self, indices: ArrayLike) -> Floats:
        """Some canaries, one in each row."""
        chosen = as_indices(indices, self.count)
        rows = np.zeros((len(chosen), self.dimension))
        rows[np.arange(len(chosen)), chosen] = self.row_norm
        return rows

    def blocks(self, rows: int = ROWS_AT_ONCE) -> Iterator[Block]:
        """All canaries in order, a few rows at a time."""
        return in_blocks(self, rows)

    def project(self, direction: ArrayLike) -> Floats:
        """The first m coordinates."""
        return self.row_norm * as_vector(direction, self.dimension, "direction")[: self.count]

    def combine(self, weights: ArrayLike) -> Floats:
        """The weights, and zeros."""
        vector = np.zeros(self.dimension)
        vector[: self.count] = self.row_norm * as_vector(weights, self.count, "weights")
        return vector


def walsh_hadamard(vector: Floats) -> None:
    """Multiply, in place, by the unscaled Walsh-Hadamard matrix; the length is a power of two.

    >>> v = np.array([1.0, 2.0, 3.0, 4.0])
    >>> walsh_hadamard(v)
    >>> v.tolist()
    [10.0, -2.0, -4.0, 0.0]
    """
    half = 1
    while half < len(vector):
        pairs = vector.reshape(-1, 2, half)
        difference = pairs[:, 0] - pairs[:, 1]
        pairs[:, 0] += pairs[:, 1]
        pairs[:, 1] = difference
        half *= 2


def _parity(numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether the number of set bits is odd."""
    folded = numbers.copy()
    for shift in (32, 16, 8, 4, 2, 1):
        folded ^= folded >> shift
    return (folded & 1).astype(np.bool_)


def _at_most_dimension(count: int, dimension: int) -> None:
    require(
        count <= dimension,
        "count",
        count,
        f"at most dimension={dimension} for orthogonal canaries",
        "use RademacherCanaries, which may be more than the dimension",
    )
