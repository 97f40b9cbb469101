"""Rows in units of their columns' root mean squares, at a pure price: what objective perturbation whitens with.

Released: the sum of squares of every column, with Laplace noise. One row has squares that add up to X^2 at most, so
all d numbers together cost what one of them would. Everything after the release is post-processing (soundness,
section 20): rows are scaled by the released numbers and then clipped to norm 1, which is all that a proof needs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from holdfast.learn.problem import Problem
from holdfast.learn.risk.descent import Whitener
from holdfast.learn.rows.examples import (
    ArrayExamples,
    Chunk,
    ClippedBlocks,
    DerivedExamples,
    Examples,
    clipped,
    rounding_of_sum,
)
from holdfast.learn.whitening import second_moment, whitener
from holdfast.noise.source import Source
from holdfast.privacy.account import Account
from holdfast.privacy.adjacency import Adjacency
from holdfast.privacy.mechanisms.laplace import Laplace
from holdfast.privacy.mechanisms.mechanism import Arithmetic
from holdfast.privacy.rounding import as_written

Floats = NDArray[np.float64]
SHARE = 0.04
"""Of epsilon, spent on the squares."""
RIDGE = 0.5
"""Added to the mean squares, in units of three standard deviations of the noise."""
CLIP = 0.5
"""The norm of whitened rows, in units of the root of the effective dimension; docs/decisions/learning-default.md."""
BLOCK = 2_048
KEPT_BYTES = 2**25
"""Whitened rows up to this size are kept; larger tables are whitened again in every pass."""


def squares_sensitivity(adjacency: Adjacency, *, row_norm: float) -> float:
    """How far one row moves the columns' sums of squares in L1: X^2, and twice that where it is replaced.

    >>> squares_sensitivity(Adjacency.replace, row_norm=1.0), squares_sensitivity(Adjacency.zero_out, row_norm=2.0)
    (2.0, 4.0)
    """
    return adjacency.gradient_factor * row_norm**2


def release_diagonal(
    examples: Examples, problem: Problem, account: Account, *, most: int, arithmetic: Arithmetic
) -> Whitener:
    """Charge a share of what remains of a pure account, release the squares, and make a whitener of them.

    `most` is a public bound on the number of rows, for the rounding of the sums.
    """
    left = account.remaining().as_pure()
    assert left is not None, "callers have refused accounts that are not pure"
    sensitivity = squares_sensitivity(account.adjacency, row_norm=problem.norm_bound)
    # Two sums, each within the rounding of so many squares; over all columns these add up to X^2 a row.
    sensitivity += 2.0 * most * problem.norm_bound**2 * rounding_of_sum(most)
    scale = as_written(sensitivity) / (left * Fraction(SHARE))
    mechanism = Laplace(
        scale=scale, l1_sensitivity=sensitivity, adjacency=account.adjacency, arithmetic=arithmetic
    )
    squares = second_moment(ClippedBlocks(examples, problem), dimension=problem.dimension, kind="diagonal")
    released = account.release(mechanism, squares, label="objective: squares of columns")
    count = examples.public_count
    return whitener(
        np.asarray(released, dtype=np.float64) / count, kind="diagonal", dimension=problem.dimension,
        noise_std=math.sqrt(2.0) * float(scale) / count, ridge=RIDGE,
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True, eq=False)
class WhitenedExamples(DerivedExamples):
    """x -> P x / norm, scaled down to norm 1 where it is longer. P and norm are public.

    >>> from holdfast.learn.problem.losses import Logistic
    >>> from holdfast.learn.whitening import DiagonalWhitener
    >>> rows = ArrayExamples(features=np.array([[0.1, 0.0], [0.6, 0.8]]), labels=np.array([1.0, -1.0]),
    ...                      adjacency=Adjacency.replace, public_count=2)
    >>> whitening = DiagonalWhitener(np.array([4.0, 0.5]), 2.0)
    >>> made = WhitenedExamples(examples=rows, problem=Problem(loss=Logistic(), dimension=2),
    ...                         whitening=whitening, norm=2.0)
    >>> [x.round(3).tolist() for x, _ in made.chunks()]
    [[[0.2, 0.0], [0.986, 0.164]]]
    """

    examples: Examples
    problem: Problem
    whitening: Whitener
    norm: float

    def chunks(self) -> Iterator[Chunk]:
        """In blocks that fit into a processor's cache."""
        return self._whitened(self.examples.chunks())

    def shuffled(self, source: Source) -> Iterator[Chunk]:
        """In a secret order."""
        return self._whitened(self.examples.shuffled(source))

    def kept(self) -> Examples:
        """The same, computed once where it is small."""
        if 8 * self.public_count * self.dimension > KEPT_BYTES:
            return self
        if not self.examples.resident:
            parts = [(np.empty((0, self.dimension)), np.empty(0)), *self.chunks()]
            return self._held(np.concatenate([x for x, _ in parts]), np.concatenate([y for _, y in parts]))
        count = sum(len(labels) for _, labels in self.examples.chunks())
        features, labels, start = np.empty((count, self.dimension)), np.empty(count), 0
        for rows, told in self._whitened(self.examples.chunks(), into=features):
            labels[start : start + len(rows)], start = told, start + len(rows)
        return self._held(features, labels)

    def _held(self, features: Floats, labels: Floats) -> Examples:
        return ArrayExamples(
            features=features, labels=labels, adjacency=self.adjacency, public_count=self.public_count,
            unit=self.unit,
        )  # fmt: skip

    def _whitened(self, chunks: Iterator[Chunk], *, into: Floats | None = None) -> Iterator[Chunk]:
        """Blocks of whitened rows; one after the other in `into`, where that is given."""
        # For each column what a unit vector along it becomes: P is diagonal.
        scales = self.whitening.forward(np.ones(self.dimension)) / self.norm
        place = 0
        for chunk in chunks:
            features, labels = clipped(chunk, self.problem)
            for start in range(0, len(labels), BLOCK):
                some = features[start : start + BLOCK]
                rows = np.empty_like(some) if into is None else into[place : place + len(some)]
                np.multiply(some, scales, out=rows)
                place += len(some)
                lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
                rows /= np.maximum(1.0, lengths)[:, None]
                yield rows, labels[start : start + BLOCK]
