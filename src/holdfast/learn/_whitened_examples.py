"""WhitenedExamples: rows in columns' own units, or projected on few public directions, clipped in two norms.

Used by methods for pure epsilon. Where columns get units, the sums of squares of every column and of its products with
the constant are released with Laplace noise; everything after that is post-processing (soundness, section 20). Rows are
mapped by released or public numbers and then scaled down until their Euclidean norm is at most 1 and their L1 norm at
most `reach`, which is all that a proof needs. Noise is proportional to the bound on the L1 norm, which is small for
rows with few nonzero entries, such as one-hot rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from holdfast._arrays import Floats
from holdfast.learn._problem import Problem
from holdfast.learn._rows.clipped_blocks import ClippedBlocks, clip_chunk
from holdfast.learn._rows.examples import ArrayExamples, Chunk, DerivedExamples, Examples
from holdfast.learn._rows.summation import rounding_of_sum
from holdfast.learn._whitening import Standardisation
from holdfast.noise._source import Source
from holdfast.privacy._account import Account
from holdfast.privacy._adjacency import Adjacency
from holdfast.privacy._mechanisms.laplace import Laplace
from holdfast.privacy._mechanisms.mechanism import Arithmetic
from holdfast.privacy._rounding import as_written

SHARE = 0.1
"""The share of epsilon for means and squares of columns."""
VARIANCE_FLOOR = 0.2
"""Added to variances, in units of three standard deviations of the noise; docs/decisions/learning-default.md."""
OFF_CENTRE = 0.5
"""A column is centred if its squared mean is at least this share of its mean square; so one-hot columns stay sparse."""
BLOCK = 2_048
MOST_MEMORY_BYTES = 2**28
"""The largest mapped rows that are stored in memory; of larger tables, rows are mapped again in every pass."""
PUBLIC_SEED = 1
"""The seed of the public directions, the same in every fit."""


@dataclass(frozen=True, eq=False)
class RowMap:
    """x -> D S x: columns in units of their own, then their sums along public directions of random signs.

    S takes `shift` times the last column, which is constant, from every other, and scales. `directions` has a row for
    each sum; the constant is kept beside them. `active` bounds how many numbers of a mapped row differ from 0.
    """

    standard: Standardisation
    active: int
    effective_dimension: float
    units: bool = True
    directions: Floats | None = None

    @property
    def dimension(self) -> int:
        """The number of entries of a mapped row."""
        return len(self.standard.scale) if self.directions is None else len(self.directions) + 1

    def forward(self, rows: Floats) -> Floats:
        """The mapped rows. Each is computed by itself: in a matrix product, rounding would depend on other rows."""
        standardised = (rows - rows[:, -1:] * self.standard.shift) * self.standard.scale
        if self.directions is None:
            return np.asarray(standardised)
        sums = np.einsum("ij,kj->ik", standardised[:, :-1], self.directions)
        return np.hstack([sums, standardised[:, -1:]])

    def backward(self, weights: Floats) -> Floats:
        """Weights of the original rows from weights of mapped rows, of one prediction or of several."""
        if self.directions is not None:
            weights = np.concatenate([weights[..., :-1] @ self.directions, weights[..., -1:]], axis=-1)
        transformed = np.array(weights * self.standard.scale)
        transformed[..., -1] -= np.sum(weights * self.standard.scale * self.standard.shift, axis=-1)
        return transformed

    def along(self, directions: int) -> RowMap:
        """The same units, seen along so many directions of random signs: each is a sum of all columns but the last.

        Rows keep their length, about; columns of variance 1 become sums of variance 1.
        """
        width = len(self.standard.scale) - 1
        shared = width if self.units else directions
        coins = np.random.Generator(np.random.PCG64(PUBLIC_SEED)).integers(2, size=(directions, width))
        return RowMap(
            self.standard,
            directions + 1,
            min(self.effective_dimension, directions + 1.0),
            self.units,
            np.asarray((2.0 * coins - 1.0) / math.sqrt(shared), dtype=np.float64),
        )


def plain_map(problem: Problem) -> RowMap:
    """The identity map."""
    wide = problem.dimension
    return RowMap(
        Standardisation(np.ones(wide), np.zeros(wide)), problem.active_columns, float(wide), units=False
    )


def moments_bound(problem: Problem) -> float:
    """The L1 norm of one row's squares and products with the constant: X^2 + c sqrt(a) sqrt(X^2 - c^2).

    Squares add up to X^2; the a other numbers that differ from 0 have sizes that add up to sqrt(a) times their length.

    >>> from holdfast.learn._problem.losses import Logistic
    >>> moments_bound(Problem(loss=Logistic(), dimension=5, row_norm=1.25, constant=0.75, active=5))
    3.0625
    """
    square, constant = problem.row_norm**2, min(problem.constant, problem.row_norm / math.sqrt(2.0))
    others = max(1, problem.active_columns - 1) if problem.constant > 0 else 0
    return square + constant * math.sqrt(others) * math.sqrt(square - constant**2)


def moments_sensitivity(adjacency: Adjacency, *, bound: float) -> float:
    """The L1 sensitivity of the sums: one row's bound, and twice that where a row is replaced.

    >>> moments_sensitivity(Adjacency.replace, bound=1.0), moments_sensitivity(Adjacency.zero_out, bound=4.0)
    (2.0, 4.0)
    """
    return adjacency.gradient_factor * bound


def row_moments(passes: ClippedBlocks, problem: Problem) -> Floats:
    """Sums of squares and, with a constant column, of products with it; each row's share within its bound. Private."""
    wide, bound = problem.dimension, moments_bound(problem)
    total = np.zeros(2 * wide - 1 if problem.constant > 0 else wide)
    for rows, _ in passes.blocks():
        constant = np.clip(rows[:, -1:], -problem.constant, problem.constant)
        each = rows**2 if problem.constant == 0 else np.hstack([rows**2, rows[:, :-1] * constant])
        sizes = np.sum(np.abs(each), axis=1)
        total += (bound / np.maximum(sizes, bound)) @ each
    return total


def release_units(
    examples: Examples, problem: Problem, account: Account, *, most: int, arithmetic: Arithmetic
) -> RowMap:
    """Charge a share of what remains of a pure account, release the moments, and compute units and origins from them.

    `most` is a public bound on the number of rows, for the rounding of the sums.
    """
    left = account.remaining().as_pure()
    assert left is not None, "callers have refused accounts that are not pure"
    bound, wide, count = moments_bound(problem), problem.dimension, examples.public_count
    sensitivity = moments_sensitivity(account.adjacency, bound=bound)
    # Two sums, each within the rounding of so many numbers, which add up to the bound in every row.
    sensitivity += 2.0 * most * bound * rounding_of_sum(most)
    scale = as_written(sensitivity) / (left * Fraction(SHARE))
    mechanism = Laplace(
        scale=scale, l1_sensitivity=sensitivity, adjacency=account.adjacency, arithmetic=arithmetic
    )
    sums = row_moments(ClippedBlocks(examples, problem), problem)
    released = np.asarray(account.release(mechanism, sums, label="objective: units of columns")) / count
    return units_of(released, problem, noise=math.sqrt(2.0) * float(scale) / count, dimension=wide)


def units_of(released: Floats, problem: Problem, *, noise: float, dimension: int) -> RowMap:
    """Scales and origins from noisy means of squares and products; post-processing."""
    squares, shift = released[:dimension], np.zeros(dimension)
    floor = 3.0 * VARIANCE_FLOOR * noise
    if problem.constant > 0:
        square = problem.constant**2
        means = released[dimension:] / square
        seen = np.abs(released[dimension:]) > 3.0 * noise
        off = (means**2 * square > OFF_CENTRE * squares[:-1]) & seen
        shift[:-1] = np.where(off, means, 0.0)
        squares = np.append(squares[:-1] - shift[:-1] ** 2 * square, square)
    spread = np.maximum(squares, 0.0)
    variances = spread + floor
    if problem.constant > 0:
        variances[-1] = problem.constant**2
    centred = int(np.count_nonzero(shift))
    return RowMap(
        Standardisation(1.0 / np.sqrt(variances), shift),
        min(dimension, problem.active_columns + centred),
        float(np.sum(np.minimum(1.0, spread / variances))),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class WhitenedExamples(DerivedExamples):
    """x -> M x / norm, scaled down until its Euclidean norm is at most 1 and its L1 norm at most `reach`.

    M, norm and reach are public. With `target_bound`, labels are numbers within it: they are divided by it, and each is
    scaled down with its row, so that what is linear in rows stays so.

    >>> from holdfast.learn._problem.losses import Logistic
    >>> rows = ArrayExamples(features=np.array([[0.1, 0.0], [0.6, 0.8]]), labels=np.array([1.0, -1.0]),
    ...                      adjacency=Adjacency.replace, public_count=2)
    >>> units = RowMap(Standardisation(np.array([4.0, 0.5]), np.zeros(2)), 2, 2.0)
    >>> mapped = WhitenedExamples(examples=rows, problem=Problem(loss=Logistic(), dimension=2),
    ...                         row_map=units, norm=2.0, reach=1.0)
    >>> [x.round(3).tolist() for x, _ in mapped.chunks()]
    [[[0.2, 0.0], [0.857, 0.143]]]
    """

    examples: Examples
    problem: Problem
    row_map: RowMap
    norm: float
    reach: float
    target_bound: float | None = None

    @property
    def dimension(self) -> int:
        """The number of entries of a mapped row."""
        return self.row_map.dimension

    def chunks(self) -> Iterator[Chunk]:
        """Mapped rows, in blocks that fit into a processor's cache."""
        return self._map_chunks(self.examples.chunks())

    def shuffled_chunks(self, source: Source) -> Iterator[Chunk]:
        """Mapped rows in a secret order."""
        return self._map_chunks(self.examples.shuffled_chunks(source))

    def in_memory(self) -> Examples:
        """The mapped rows in memory, where they are small enough; else these examples themselves."""
        if 8 * self.public_count * self.dimension > MOST_MEMORY_BYTES:
            return self
        parts = [(np.empty((0, self.dimension)), np.empty(0)), *self.chunks()]
        return ArrayExamples(
            features=np.concatenate([x for x, _ in parts]),
            labels=np.concatenate([y for _, y in parts]),
            adjacency=self.adjacency,
            public_count=self.public_count,
            unit=self.unit,
            lacking=self.may_lack_targets,
        )

    def _map_chunks(self, chunks: Iterator[Chunk]) -> Iterator[Chunk]:
        for chunk in chunks:
            features, labels = clip_chunk(chunk, self.problem)
            for start in range(0, len(labels), BLOCK):
                rows = self.row_map.forward(features[start : start + BLOCK]) / self.norm
                lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
                sizes = np.sum(np.abs(rows), axis=1)
                longer = np.maximum(1.0, np.maximum(lengths, sizes / self.reach))
                some = labels[start : start + BLOCK]
                if self.target_bound is not None:
                    some = np.clip(some / self.target_bound, -1.0, 1.0) / longer
                yield rows / longer[:, None], some
