"""ClippedBlocks: rows clipped to the declared norm, a block at a time, where methods compute sums over them.

The encoder has clipped the rows already. A longer row would break the privacy proof, so they are checked once more.
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
"""From so many rows and columns on, rows in memory that are mostly 0 are summed as sparse rows."""
SIGNED_LOSSES = ("logistic", "huber", "hinge")
"""Losses that use only the sign of a label."""


def out_of_bounds(chunk: Chunk, problem: Problem) -> NDArray[np.bool_]:
    """Which rows are longer than the declared norm, or not finite in their features or label."""
    x, y = chunk
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.einsum("ij,ij->i", x, x)
    return np.asarray(~(squares <= problem.norm_bound**2) | ~np.isfinite(y))


def clip_chunk(chunk: Chunk, problem: Problem) -> Chunk:
    """The rows clipped to the declared norm, with labels as the loss takes them; rows that are not finite become 0."""
    x, y = chunk
    outside = out_of_bounds(chunk, problem)
    if outside.any():
        null = ~np.isfinite(y)
        x, y = x.copy(), np.where(null, 0.0, y)
        x[outside] = clip(x[outside], row_norm=problem.row_norm)
        x[null] = 0.0
    return sign_labels((x, y), problem)


def sign_labels(chunk: Chunk, problem: Problem) -> Chunk:
    """The same rows with labels -1 and +1 for losses that use the sign only; other labels stay as they are."""
    x, y = chunk
    return x, np.where(y > 0, 1.0, -1.0) if problem.loss.name in SIGNED_LOSSES else y


class ClippedBlocks:
    """Blocks of clipped rows, for any number of passes.

    Rows in memory are clipped once. Rows from a private file are checked once. Rows that an engine streams are clipped
    in every pass, because a second pass might not read the same numbers.
    """

    def __init__(self, examples: Examples, problem: Problem) -> None:
        self._examples, self._problem = examples, problem
        self.resident = examples.resident
        """Whether every pass yields the same arrays in memory."""
        self._known_within_norm = False
        self._clipped_blocks = list(self._cut_blocks()) if self.resident else None

    @cached_property
    def engine(self) -> RowSums | None:
        """What computes sums without reading blocks: a database engine, or compiled code for sparse rows; or None."""
        sums = self._examples.sums(self._problem)
        rows = sum(len(labels) for _, labels in self._clipped_blocks or ())
        if sums is not None or rows < SPARSE_ROWS_FROM or self._problem.dimension < SPARSE_COLUMNS_FROM:
            return sums
        from holdfast.learn._rows.sparse_sums import sparse_sums  # for large tables only

        return sparse_sums(self._clipped_blocks or [], self._problem, block=BLOCK)

    @property
    def repeats(self) -> bool:
        """Whether every pass yields equal blocks in the same order, so that results for a block can be stored."""
        return self._examples.repeats

    def blocks(self) -> Iterator[Chunk]:
        """The blocks of one pass over all rows."""
        return self._cut_blocks() if self._clipped_blocks is None else iter(self._clipped_blocks)

    def _cut_blocks(self) -> Iterator[Chunk]:
        # Rows that an earlier pass found within the norm, and that are read again unchanged, need no second check.
        skip_check, all_within = self._known_within_norm and self._examples.repeats, True
        for chunk in self._examples.chunks():
            rows, labels = (sign_labels if skip_check else clip_chunk)(chunk, self._problem)
            all_within = all_within and rows is chunk[0]
            for start in range(0, len(rows), BLOCK):
                yield rows[start : start + BLOCK], labels[start : start + BLOCK]
        self._known_within_norm = all_within and self._examples.repeats
