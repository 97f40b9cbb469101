"""Examples: encoded, clipped rows with labels, as methods see them, whatever engine holds the data.

A method asks for chunks in any order (sums), for one pass in a secret shuffled order (SGD), or for blocks that are
clipped once more. Labels are -1/+1, a clipped number, or a class code. What an engine can do beside that is declared
by a method of `Examples`; without one, the rows are read instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Floats
from holdfast._assumption import NUMBER_OF_ROWS, Assumption
from holdfast._kernel import SgdOptions, clip
from holdfast.data._table import CHUNK_ROWS
from holdfast.errors import require
from holdfast.learn._problem import Problem
from holdfast.noise._source import Source
from holdfast.noise._uniform import integers, permutation
from holdfast.privacy._adjacency import Adjacency, PrivacyUnit

Chunk = tuple[Floats, Floats]
Visit = tuple[Floats, Floats, NDArray[np.int64]]
"""Rows, labels, and the positions in which they are met."""
UNIT_ROUNDOFF = 2.0**-53
BLOCK = 2_048
"""Rows that are summed at once: few enough to stay in a processor's cache; a fixed number."""
GATHERED_ROWS, GATHERED_COLUMNS = 4_096, 32
"""Tables in memory of that size are tried for rows of mostly zeros; smaller ones are as fast as they are."""
SIGNED = ("logistic", "huber", "hinge")
"""Losses whose labels count by their sign, as in the kernel."""


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
        return cut(self.shuffled(source), [int(size) for size in sizes], dimension=self.dimension)

    def sums(self, problem: Problem) -> RowSums | None:
        """Gradients and second moments summed where the rows are; None where rows are read instead."""
        return None

    def epochs(self, options: SgdOptions, *, source: Source, passes: int, records: int) -> Floats | None:
        """A whole run of permutation SGD where the rows are, private before noise; None where rows are read."""
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


def cut(chunks: Iterator[Chunk], sizes: list[int], *, dimension: int) -> Iterator[Chunk]:
    """The rows of the chunks, regrouped into pieces of these sizes.

    >>> rows = np.arange(6.0).reshape(6, 1)
    >>> [piece[1].tolist() for piece in cut(iter([(rows, rows[:, 0])]), [2, 0, 4], dimension=1)]
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


def out_of_bounds(chunk: Chunk, problem: Problem) -> NDArray[np.bool_]:
    """Which rows are longer than declared, or not finite in features or label."""
    x, y = chunk
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.einsum("ij,ij->i", x, x)
    return np.asarray(~(squares <= problem.norm_bound**2) | ~np.isfinite(y))


def clipped(chunk: Chunk, problem: Problem) -> Chunk:
    """Rows within the declared norm, null records where they are not finite, labels as the loss takes them.

    A second clipping, after the encoder's: what it lets through would break the promise, so it is checked here.
    """
    x, y = chunk
    wrong = out_of_bounds(chunk, problem)
    if wrong.any():
        null = ~np.isfinite(y)
        x, y = x.copy(), np.where(null, 0.0, y)
        x[wrong] = clip(x[wrong], row_norm=problem.row_norm)
        x[null] = 0.0
    return signed((x, y), problem)


def signed(chunk: Chunk, problem: Problem) -> Chunk:
    """Labels -1 and +1 for the losses that take those."""
    x, y = chunk
    return x, np.where(y > 0, 1.0, -1.0) if problem.loss.name in SIGNED else y


class ClippedBlocks:
    """Every row within the declared norm, a block at a time, again and again.

    Rows that lie in memory are clipped once, and those of a private copy looked through once; rows that an engine
    streams are clipped again in every pass, because nothing promises that a second pass meets the same.
    """

    def __init__(self, examples: Examples, problem: Problem) -> None:
        self._examples, self._problem = examples, problem
        self.resident = examples.resident
        """Whether every pass meets the same arrays."""
        self._within = False
        self._kept = list(self._cut()) if self.resident else None

    @cached_property
    def engine(self) -> RowSums | None:
        """What takes sums by itself, so that no block need be read: an engine, or a kernel for rows of mostly zeros."""
        made = self._examples.sums(self._problem)
        rows = sum(len(labels) for _, labels in self._kept or ())
        if made is not None or rows < GATHERED_ROWS or self._problem.dimension < GATHERED_COLUMNS:
            return made
        from holdfast.learn._rows.gathered_sums import gathered_sums  # the way of some tables only

        return gathered_sums(self._kept or [], self._problem, block=BLOCK)

    @property
    def repeats(self) -> bool:
        """Whether what was computed for a block stays true for the block of that number in further passes."""
        return self._examples.repeats

    def blocks(self) -> Iterator[Chunk]:
        """One pass."""
        return self._cut() if self._kept is None else iter(self._kept)

    def _cut(self) -> Iterator[Chunk]:
        sure, within = self._within and self._examples.repeats, True
        for chunk in self._examples.chunks():
            # Numbers that were looked through once, and come again as they were, need no second look.
            rows, labels = (signed if sure else clipped)(chunk, self._problem)
            within = within and rows is chunk[0]
            for start in range(0, len(rows), BLOCK):
                yield rows[start : start + BLOCK], labels[start : start + BLOCK]
        self._within = within and self._examples.repeats


def rounding_of_sum(count: int) -> float:
    """A bound on the rounding error of a blocked sum, relative to the sum of absolute values (Higham 2002).

    Chunks of a stream may be shorter than a block: at worst one of 64 rows each.

    >>> rounding_of_sum(10**6) < 1e-11
    True
    """
    return 2.0 * UNIT_ROUNDOFF * (BLOCK + count / 64 + 65.0)


def summation_error(count: int) -> float:
    """How far a sum of that many products may be from the exact one, relative to the sum of their sizes.

    One chunk of at most `CHUNK_ROWS` rows is summed at once, then chunks of at least 1024 rows are added up;
    the last one may be shorter. The 16 covers the products' own rounding.

    >>> summation_error(1) < 1e-14 < summation_error(10**6) < 1e-10
    True
    """
    return 2.0 * UNIT_ROUNDOFF * min(count + 16, CHUNK_ROWS + count / 1024 + 16)


def one_thread() -> AbstractContextManager[Any]:
    """Within it, BLAS runs in the calling thread; what was set before is set again afterwards.

    Passes over rows are bound by memory, and threads only wait for each other: on a busy machine two made a fit ten
    times slower. With one, the order of a sum does not depend on how many cores a machine has.
    """
    limited: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return limited


@cache
def _controller() -> Any:
    # Comes with scikit-learn. Looking for the loaded libraries takes longer than a fit's own bookkeeping: once.
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
