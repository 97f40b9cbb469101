"""ClippedBlocks: rows that are clipped to the declared norm once more, a block at a time.

The encoder has clipped them already. What it lets through would break the promise, so it is checked where methods take
their sums.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from holdfast._kernel import clip
from holdfast.learn._problem import Problem
from holdfast.learn._rows.examples import Chunk, Examples, RowSums
from holdfast.learn._rows.summation import BLOCK

SPARSE_ROWS_FROM, SPARSE_COLUMNS_FROM = 4_096, 32
"""Tables in memory of that size are tried for rows of mostly zeros; smaller ones are as fast as they are."""
SIGNED_LOSSES = ("logistic", "huber", "hinge")
"""Losses whose labels count by their sign, as in the kernel."""


def out_of_bounds(chunk: Chunk, problem: Problem) -> NDArray[np.bool_]:
    """Which rows are longer than declared, or not finite in features or label."""
    x, y = chunk
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.einsum("ij,ij->i", x, x)
    return np.asarray(~(squares <= problem.norm_bound**2) | ~np.isfinite(y))


def clip_chunk(chunk: Chunk, problem: Problem) -> Chunk:
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
    return sign_labels((x, y), problem)


def sign_labels(chunk: Chunk, problem: Problem) -> Chunk:
    """Labels -1 and +1 for the losses that take those."""
    x, y = chunk
    return x, np.where(y > 0, 1.0, -1.0) if problem.loss.name in SIGNED_LOSSES else y


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
        sums = self._examples.sums(self._problem)
        rows = sum(len(labels) for _, labels in self._kept or ())
        if sums is not None or rows < SPARSE_ROWS_FROM or self._problem.dimension < SPARSE_COLUMNS_FROM:
            return sums
        from holdfast.learn._rows.sparse_sums import sparse_sums  # the way of some tables only

        return sparse_sums(self._kept or [], self._problem, block=BLOCK)

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
            rows, labels = (sign_labels if sure else clip_chunk)(chunk, self._problem)
            within = within and rows is chunk[0]
            for start in range(0, len(rows), BLOCK):
                yield rows[start : start + BLOCK], labels[start : start + BLOCK]
        self._within = within and self._examples.repeats
