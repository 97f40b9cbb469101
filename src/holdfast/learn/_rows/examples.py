"""Examples: encoded and clipped rows with labels, as learning methods read them from any engine.

A method reads all rows in chunks in any order (for sums), or once in a secret random order (for SGD). Labels are -1 and
+1, clipped numbers, or class codes. What only some engines can do, such as summing gradients in a database, are methods
of `Examples` that return None elsewhere; the rows are read instead then.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Floats
from holdfast._assumption import NUMBER_OF_ROWS, Assumption
from holdfast._kernel import SgdOptions
from holdfast.data._table import CHUNK_ROWS
from holdfast.errors import require
from holdfast.learn._problem import Problem
from holdfast.noise._source import Source
from holdfast.noise._uniform import integers, permutation
from holdfast.privacy._adjacency import Adjacency, PrivacyUnit

Chunk = tuple[Floats, Floats]
OrderedBlock = tuple[Floats, Floats, NDArray[np.int64]]
"""Rows, their labels, and the positions of the rows in the order in which SGD takes them."""


class RowSums(Protocol):
    """Sums over rows for one problem, computed without handing out rows; private before noise."""

    def gradient(self, weights: Floats, *, form: Floats, clip: float, largest: float) -> Floats:
        """The sum of the rows' gradients, each clipped to the norm `clip` after whitening.

        `form` is P^T P of the whitening map P, and `largest` bounds the coordinates of a clipped gradient.
        """

    def gram(
        self,
        kind: Literal["full", "diagonal", "arrow"] = "full",
        *,
        form: Floats | None = None,
        norm: float = ...,
    ) -> Floats:
        """The sum of x x^T, its diagonal ("diagonal"), or that and the products with the constant ("arrow").

        With a `form` S^T S, each row is scaled down to |S x| <= `norm` first.
        """

    def cross(self, target_bound: float) -> Floats:
        """The sum of y x, labels clipped to `target_bound`."""


class Examples:
    """The rows that a learning method is given.

    A subclass has the first four properties, `chunks` and `shuffled_chunks`; the abilities after them are optional.
    """

    if TYPE_CHECKING:  # a field or a property of the subclass

        @property
        def dimension(self) -> int:
            """The number of columns, the constant one included."""

        @property
        def public_count(self) -> int:
            """The public number of rows that methods may divide by (soundness, section 0)."""

        @property
        def adjacency(self) -> Adjacency:
            """Which tables are neighbours."""

        @property
        def unit(self) -> PrivacyUnit:
            """The privacy unit that is protected."""

    def chunks(self) -> Iterator[Chunk]:
        """All rows in any order; results may depend on the order by rounding only."""
        raise NotImplementedError

    def shuffled_chunks(self, source: Source) -> Iterator[Chunk]:
        """All rows once, in a secret uniform order drawn now (soundness, section 1, order (i))."""
        raise NotImplementedError

    def records(self, start: int, size: int) -> NDArray[np.int64]:
        """The positions in the table of `size` rows of `chunks`, from row `start` on.

        Random numbers that a row draws by itself are drawn for its record (`Source.words_of`).
        """
        return np.arange(start, start + size)

    # Abilities.

    @property
    def resident(self) -> bool:
        """Whether every pass over `chunks` yields the same arrays in the same order."""
        return False

    @property
    def may_lack_targets(self) -> bool:
        """Whether the schema allows rows without a target, which are null records."""
        return False

    @property
    def repeats(self) -> bool:
        """Whether every further pass over `chunks` yields equal chunks in the same order."""
        return self.resident

    @property
    def worth_copying(self) -> bool:
        """Whether rows may be copied to a file on this machine, and a second pass costs more than writing one."""
        return False

    @property
    def copy_folder(self) -> Path | None:
        """The folder for such a file; None for the system's folder of temporary files."""
        return None

    def close(self) -> None:
        """Delete what was stored for further passes."""

    def ordered_blocks(self, source: Source) -> Iterator[OrderedBlock]:
        """All rows once, in a fresh secret random order, without copying rows that lie in memory."""
        for rows, labels in self.shuffled_chunks(source):
            yield rows, labels, np.arange(len(labels))

    def random_batches(self, source: Source, *, batches: int) -> Iterator[Chunk]:
        """One pass in which each record is in a uniformly random batch, independently of the others.

        So one more record does not shift the others into other batches (soundness, section 1). Batches of this law are
        made in one reading: n independent draws give the sizes of the batches, and a uniform permutation of the rows is
        cut into pieces of these sizes. Within a batch, too, the order is random. The sizes are private; an empty
        batch is an empty chunk.
        """
        count = sum(int(labels.size) for _, labels in self.chunks())
        sizes = np.bincount(integers(source, bound=batches, size=count), minlength=batches)
        return regroup(self.shuffled_chunks(source), [int(size) for size in sizes], dimension=self.dimension)

    def sums(self, problem: Problem) -> RowSums | None:
        """Gradients and second moments that the engine sums; None where rows are read instead."""
        return None

    def target_sum(self, problem: Problem, *, bound: float) -> float | None:
        """The sum of labels clipped to a bound, by the engine; None where rows are read instead."""
        return None

    def epochs(self, options: SgdOptions, *, source: Source, passes: int, records: int) -> Floats | None:
        """The weights after a whole run of permutation SGD in the engine, private before noise; None elsewhere."""
        return None

    def with_shifted_labels(self, *, bound: float, shift: float) -> Examples | None:
        """Examples whose labels are clipped to a bound, less `shift`; None where the engine cannot do that."""
        return None

    def engine_part_count(self) -> int | None:
        """The public number of parts in which the engine trains models itself; None where it cannot."""
        return None

    def largest_count(self, bound: int | None = None) -> tuple[int, tuple[Assumption, ...]]:
        """A bound on the number of rows in this table and in its neighbours, with the assumption that it rests on.

        Each unit has at most `max_rows` rows. Where the number of units is public nothing else is assumed, unless a
        smaller `bound` is given. Where it is private, the bound is the given one, or else 16 times the declared number.
        """
        admitted = self.public_count * self.unit.max_rows
        if self.adjacency.count_is_public and (bound is None or bound >= admitted or self.unit.max_rows == 1):
            return admitted, ()
        most = 16 * admitted if bound is None else bound
        require(most >= 1, "count_bound", most, ">= 1")
        return most, (
            Assumption(kind=NUMBER_OF_ROWS, subject=str(most), text=f"the table has at most {most} rows"),
        )


class DerivedExamples(Examples):
    """Rows computed one by one from other examples, with the same dimension, units and records."""

    if TYPE_CHECKING:

        @property
        def examples(self) -> Examples:
            """The examples that these are computed from."""

    @property
    def dimension(self) -> int:
        return self.examples.dimension

    @property
    def public_count(self) -> int:
        return self.examples.public_count

    @property
    def adjacency(self) -> Adjacency:
        return self.examples.adjacency

    @property
    def unit(self) -> PrivacyUnit:
        return self.examples.unit

    @property
    def may_lack_targets(self) -> bool:
        return self.examples.may_lack_targets

    def records(self, start: int, size: int) -> NDArray[np.int64]:
        return self.examples.records(start, size)


@dataclass(frozen=True, kw_only=True, eq=False)
class ArrayExamples(Examples):
    """Rows in memory, in float64, clipped to the declared norm when they were encoded."""

    features: Floats
    labels: Floats
    adjacency: Adjacency
    public_count: int
    unit: PrivacyUnit = PrivacyUnit()  # noqa: RUF009 - immutable
    origin: NDArray[np.int64] | None = None
    """The rows' positions in the larger table that they are a part of; None for a whole table."""
    lacking: bool = False
    """Whether some rows may be null records because they have no target."""

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
    def may_lack_targets(self) -> bool:
        """As stated when the arrays were made (`lacking`)."""
        return self.lacking

    @property
    def resident(self) -> bool:
        """True: arrays do not change."""
        return True

    def chunks(self) -> Iterator[Chunk]:
        """Slices of the arrays, without copies."""
        for start in range(0, self.features.shape[0], CHUNK_ROWS):
            stop = start + CHUNK_ROWS
            yield self.features[start:stop], self.labels[start:stop]

    def records(self, start: int, size: int) -> NDArray[np.int64]:
        """Positions in the larger table, where these rows are a part of one."""
        return super().records(start, size) if self.origin is None else self.origin[start : start + size]

    def random_batches(self, source: Source, *, batches: int) -> Iterator[Chunk]:
        """Each record draws its batch and a random key by itself; within a batch, records are sorted by their keys."""
        count = self.features.shape[0]
        records = self.records(0, count)
        batch_of = integers(source, bound=batches, size=count, records=records)
        order = permutation(source, count, records=records)
        # A stable sort by batch leaves the random order within each batch.
        order = order[np.argsort(batch_of[order], kind="stable")]
        ends = np.cumsum(np.bincount(batch_of, minlength=batches))
        for chosen in np.split(order, ends[:-1]):
            yield self.features[chosen], self.labels[chosen]

    def ordered_blocks(self, source: Source) -> Iterator[OrderedBlock]:
        """The arrays themselves, and a fresh random order."""
        yield self.features, self.labels, permutation(source, self.features.shape[0])

    def shuffled_chunks(self, source: Source) -> Iterator[Chunk]:
        """Copies of the rows in a fresh random order, a chunk at a time."""
        order = permutation(source, self.features.shape[0])
        for start in range(0, order.size, CHUNK_ROWS):
            chosen = order[start : start + CHUNK_ROWS]
            yield self.features[chosen], self.labels[chosen]


def regroup(chunks: Iterator[Chunk], sizes: list[int], *, dimension: int) -> Iterator[Chunk]:
    """The rows of the chunks, regrouped into pieces of these sizes.

    >>> rows = np.arange(6.0).reshape(6, 1)
    >>> [piece[1].tolist() for piece in regroup(iter([(rows, rows[:, 0])]), [2, 0, 4], dimension=1)]
    [[0.0, 1.0], [], [2.0, 3.0, 4.0, 5.0]]
    """
    rest: Chunk = np.empty((0, dimension)), np.empty(0)
    for size in sizes:
        while len(rest[1]) < size:
            rows, labels = next(chunks)
            if len(rest[1]):
                rows, labels = np.concatenate([rest[0], rows]), np.concatenate([rest[1], labels])
            rest = rows, labels
        yield rest[0][:size], rest[1][:size]
        rest = rest[0][size:], rest[1][size:]
