"""Passes: clipped rows in blocks of a fixed size, again and again.

Rows that lie in memory anyway are clipped and looked through once; rows that an engine streams are clipped again
in every pass, because nothing promises that a second pass meets them in the same order.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from holdfast.kernel import clip
from holdfast.learn.problem import Problem
from holdfast.learn.rows.engine_sums import engine_sums
from holdfast.learn.rows.examples import ArrayExamples, Chunk, Examples
from holdfast.noise.source import Source

SIGNED = ("logistic", "huber", "hinge")
"""Losses whose labels count by their sign, as in the kernel."""


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


UNIT_ROUNDOFF = 2.0**-53
Visit = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]
"""Rows, labels, and the positions in which they are met."""
BLOCK = 2_048
"""Rows that are summed at once: few enough to stay in a processor's cache; a fixed number."""


class ClippedBlocks:
    """Every row within the declared norm, a block at a time."""

    def __init__(self, examples: Examples, problem: Problem) -> None:
        self._examples, self._problem = examples, problem
        self.resident: bool = bool(getattr(examples, "resident", False))
        """Whether every pass meets the same arrays, so that what was computed for a block stays true."""
        self.engine = engine_sums(examples, problem)
        """Where the rows stay in an engine that takes sums itself; then no block need be read."""
        self._kept = list(self._cut()) if self.resident else None

    def blocks(self) -> Iterator[Chunk]:
        """One pass."""
        return self._cut() if self._kept is None else iter(self._kept)

    def _cut(self) -> Iterator[Chunk]:
        for chunk in self._examples.chunks():
            rows, labels = clipped(chunk, self._problem)
            for start in range(0, len(rows), BLOCK):
                yield rows[start : start + BLOCK], labels[start : start + BLOCK]


def secret_pass(examples: Examples, source: Source) -> Iterator[Visit]:
    """All rows once, in a secret uniform order drawn now: the order of `Examples.shuffled`, without its copy.

    Rows that lie in memory are visited where they are; rows that an engine streams come in order already.
    """
    if isinstance(examples, ArrayExamples):
        yield examples.features, examples.labels, examples.secret_order(source)
        return
    for rows, labels in examples.shuffled(source):
        yield rows, labels, np.arange(len(labels))


def rounding_of_sum(count: int) -> float:
    """A bound on the rounding error of a blocked sum, relative to the sum of absolute values (Higham 2002).

    Chunks of a stream may be shorter than a block: at worst one of 64 rows each.

    >>> rounding_of_sum(10**6) < 1e-11
    True
    """
    return 2.0 * UNIT_ROUNDOFF * (BLOCK + count / 64 + 65.0)
