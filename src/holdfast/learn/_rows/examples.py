"""Examples: encoded, clipped rows with labels, as methods see them, whatever engine holds the data.

A method asks for chunks in any order (sums), for one pass in a secret shuffled order (SGD), or for blocks that are
clipped once more. Labels are -1/+1, a clipped number, or a class code. What an engine can do beside that is declared
by a method of `Examples`; without one, the rows are read instead.
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
Visit = tuple[Floats, Floats, NDArray[np.int64]]
"""Rows, labels, and the positions in which they are met."""


class RowSums(Protocol):
    """What methods that live on sums ask of an engine, for one problem. Private before noise."""

    def gradient(self, weights: Floats, *, form: Floats, clip: float, largest: float) -> Floats:
        """The sum of gradients, each clipped where rows are whitened by a map of this form; none is `largest`."""

    def gram(
        self,
        kind: Literal["full", "diagonal", "arrow"] = "full",
        *,
        form: Floats | None = None,
        norm: float = ...,
    ) -> Floats:
        """The sum of x x^T, its diagonal, or that and the products with the constant; of rows clipped in a form."""

    def cross(self, target_bound: float) -> Floats:
        """The sum of y x."""


class Examples:
    """What every method takes. A subclass has the four facts and the two orders; abilities are optional."""

    if TYPE_CHECKING:  # a field or a property of the subclass

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
        raise NotImplementedError

    def shuffled(self, source: Source) -> Iterator[Chunk]:
        """All rows once, in a secret uniform order drawn now (soundness, section 1, order (i))."""
        raise NotImplementedError

    def records(self, start: int, size: int) -> NDArray[np.int64]:
        """Which records of the table so many rows of `chunks` are: coins that a record draws are its own."""
        return np.arange(start, start + size)

    # Abilities.

    @property
    def resident(self) -> bool:
        """Whether every pass over `chunks` meets the same arrays in the same order."""
        return False

    @property
    def may_lack_targets(self) -> bool:
        """Whether some rows may be null records because they have no target; public, from the declaration alone."""
        return False

    @property
    def repeats(self) -> bool:
        """Whether every further pass over `chunks` meets equal numbers in the same order and the same chunks."""
        return self.resident

    @property
    def worth_copying(self) -> bool:
        """Whether rows may be kept in a file of this machine, and reading them again costs more than that."""
        return False

    @property
    def copy_folder(self) -> Path | None:
        """Where such a file goes; None for where temporary files go."""
        return None

    def close(self) -> None:
        """Let go of whatever was kept for further passes."""

    def visits(self, source: Source) -> Iterator[Visit]:
        """All rows once, in a secret uniform order drawn now: the order of `shuffled`, perhaps without its copy."""
        for rows, labels in self.shuffled(source):
            yield rows, labels, np.arange(len(labels))

    def drawn(self, source: Source, *, batches: int) -> Iterator[Chunk]:
        """One pass in which every record draws its batch uniformly; batches in turn, records in random order.

        No record is ranked, so one more shifts nothing (soundness, section 1). Independent draws are, in law, sizes
        from n draws and then a uniform permutation cut by them: that is how they are made here, in one reading. The
        order within a batch is uniform too, so its first records are a random choice. Sizes are private; an empty
        batch is an empty chunk.
        """
        count = sum(int(labels.size) for _, labels in self.chunks())
        sizes = np.bincount(integers(source, bound=batches, size=count), minlength=batches)
        return regroup(self.shuffled(source), [int(size) for size in sizes], dimension=self.dimension)

    def sums(self, problem: Problem) -> RowSums | None:
        """Gradients and second moments summed where the rows are; None where rows are read instead."""
        return None

    def target_sum(self, problem: Problem, *, bound: float) -> float | None:
        """The sum of labels clipped to a bound, taken where the rows are; None where rows are read instead."""
        return None

    def epochs(self, options: SgdOptions, *, source: Source, passes: int, records: int) -> Floats | None:
        """A whole run of permutation SGD where the rows are, private before noise; None where rows are read."""
        return None

    def with_shifted_labels(self, *, bound: float, shift: float) -> Examples | None:
        """The same with every label clipped to a bound and a number taken from it, where an engine can do that."""
        return None

    def parts(self) -> int | None:
        """In how many parts, a public number, models are trained where the rows are; None for none."""
        return None

    def largest_count(self, bound: int | None = None) -> tuple[int, tuple[Assumption, ...]]:
        """A bound on the number of rows of every table that the schema admits, and what it assumes.

        Each of so many units brings at most `max_rows`. Where the number of units is public nothing is assumed, unless
        fewer rows are declared; else the declared bound on the rows holds, or 16 times as many units as was
        declared, which is generous.
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
    """Rows made of other examples, one of each: whose they are does not change."""

    if TYPE_CHECKING:

        @property
        def examples(self) -> Examples:
            """The others."""

    @property
    def dimension(self) -> int:
        """As of the others."""
        return self.examples.dimension

    @property
    def public_count(self) -> int:
        """As of the others."""
        return self.examples.public_count

    @property
    def adjacency(self) -> Adjacency:
        """As of the others."""
        return self.examples.adjacency

    @property
    def unit(self) -> PrivacyUnit:
        """As of the others."""
        return self.examples.unit

    @property
    def may_lack_targets(self) -> bool:
        """As of the others."""
        return self.examples.may_lack_targets

    def records(self, start: int, size: int) -> NDArray[np.int64]:
        """As of the others."""
        return self.examples.records(start, size)


@dataclass(frozen=True, kw_only=True, eq=False)
class ArrayExamples(Examples):
    """Rows in memory: float64, clipped to the declared norm by whoever encoded them."""

    features: Floats
    labels: Floats
    adjacency: Adjacency
    public_count: int
    unit: PrivacyUnit = PrivacyUnit()  # noqa: RUF009 - immutable
    origin: NDArray[np.int64] | None = None
    """Where these rows lay in a larger table, if they are a part of one."""
    lacking: bool = False
    """Whether some may be null records because they have no target."""

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
        """As whoever made the arrays says."""
        return self.lacking

    @property
    def resident(self) -> bool:
        """Arrays stay what they are."""
        return True

    def chunks(self) -> Iterator[Chunk]:
        """Slices, without copies."""
        for start in range(0, self.features.shape[0], CHUNK_ROWS):
            stop = start + CHUNK_ROWS
            yield self.features[start:stop], self.labels[start:stop]

    def records(self, start: int, size: int) -> NDArray[np.int64]:
        """Of the larger table, where these are a part."""
        return super().records(start, size) if self.origin is None else self.origin[start : start + size]

    def drawn(self, source: Source, *, batches: int) -> Iterator[Chunk]:
        """Every record draws its batch and a key by itself; batches in turn, records in the order of their keys."""
        count = self.features.shape[0]
        records = self.records(0, count)
        place = integers(source, bound=batches, size=count, records=records)
        order = permutation(source, count, records=records)
        # A stable sort by batch keeps the secret keys as the order within each batch.
        order = order[np.argsort(place[order], kind="stable")]
        ends = np.cumsum(np.bincount(place, minlength=batches))
        for chosen in np.split(order, ends[:-1]):
            yield self.features[chosen], self.labels[chosen]

    def visits(self, source: Source) -> Iterator[Visit]:
        """Where they lie, for a kernel that finds them there."""
        yield self.features, self.labels, permutation(source, self.features.shape[0])

    def shuffled(self, source: Source) -> Iterator[Chunk]:
        """Gathered by a secret permutation, a chunk at a time."""
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
    held: Chunk = np.empty((0, dimension)), np.empty(0)
    for size in sizes:
        while len(held[1]) < size:
            rows, labels = next(chunks)
            if len(held[1]):
                rows, labels = np.concatenate([held[0], rows]), np.concatenate([held[1], labels])
            held = rows, labels
        yield held[0][:size], held[1][:size]
        held = held[0][size:], held[1][size:]
