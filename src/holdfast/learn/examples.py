"""Examples: encoded, clipped rows with labels, as methods see them, whatever engine holds the data.

A method asks for chunks in any order (sums), for one pass in a secret shuffled order (SGD), or for the whole
matrix where it fits. Labels are -1/+1, a clipped number, or a class code.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import require
from holdfast.noise.source import Source
from holdfast.noise.uniform import permutation
from holdfast.privacy.adjacency import Adjacency, PrivacyUnit

Floats = NDArray[np.float64]
Chunk = tuple[Floats, Floats]
CHUNK_ROWS = 65_536


class Examples(Protocol):
    """What every method takes."""

    @property
    def dimension(self) -> int:
        """Columns, the intercept included."""

    @property
    def public_count(self) -> int:
        """The number that methods may divide by (soundness, section 0); never the private one."""

    @property
    def adjacency(self) -> Adjacency:
        """Who is a neighbour of whom."""

    @property
    def unit(self) -> PrivacyUnit:
        """What is protected."""

    def chunks(self) -> Iterator[Chunk]:
        """All rows in some fixed order that no result may depend on beyond rounding."""

    def shuffled(self, source: Source) -> Iterator[Chunk]:
        """All rows once, in a secret uniform order drawn now (soundness, section 1, order (i))."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ArrayExamples:
    """Rows in memory: float64, clipped to the declared norm by whoever encoded them."""

    features: Floats
    labels: Floats
    adjacency: Adjacency
    public_count: int
    unit: PrivacyUnit = PrivacyUnit()  # noqa: RUF009 - immutable

    def __post_init__(self) -> None:
        require(self.features.ndim == 2, "features.ndim", self.features.ndim, "2")
        require(
            self.labels.shape == self.features.shape[:1], "labels.shape", self.labels.shape, "one per row"
        )
        require(self.public_count >= 1, "public_count", self.public_count, ">= 1")

    @property
    def dimension(self) -> int:
        """Columns, the intercept included."""
        return int(self.features.shape[1])

    @property
    def resident(self) -> bool:
        """Every pass over `chunks` meets the same arrays in the same order."""
        return True

    def chunks(self) -> Iterator[Chunk]:
        """Slices, without copies."""
        for start in range(0, self.features.shape[0], CHUNK_ROWS):
            stop = start + CHUNK_ROWS
            yield self.features[start:stop], self.labels[start:stop]

    def secret_order(self, source: Source) -> NDArray[np.int64]:
        """The positions of one pass, drawn now: for a kernel that finds rows where they lie, without a copy."""
        return permutation(source, self.features.shape[0])

    def shuffled(self, source: Source) -> Iterator[Chunk]:
        """Gathered by a secret permutation, a chunk at a time."""
        order = self.secret_order(source)
        for start in range(0, order.size, CHUNK_ROWS):
            chosen = order[start : start + CHUNK_ROWS]
            yield self.features[chosen], self.labels[chosen]
