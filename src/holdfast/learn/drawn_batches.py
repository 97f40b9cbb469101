"""Batches that records draw by themselves: no ranking, so one record more shifts nothing (soundness, section 1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from holdfast.learn.examples import Chunk, Examples
from holdfast.noise.source import Source
from holdfast.noise.uniform import integers


def drawn_batches(examples: Examples, source: Source, *, batches: int) -> Iterator[Chunk]:
    """One pass in which every record draws its batch uniformly; batches in turn, records in random order.

    Independent draws are, in law, sizes from n draws and then a uniform permutation cut by them: that is how
    they are made here, in one reading. The order within a batch is uniform too, so its first records are a
    random choice. Sizes are private; an empty batch is an empty chunk. Rows that an engine streams draw in the
    engine, by a keyed hash of each.
    """
    drawn: Callable[..., Iterator[Chunk]] | None = getattr(examples, "drawn", None)
    if drawn is not None:
        return drawn(source, batches=batches)
    count = sum(int(labels.size) for _, labels in examples.chunks())
    sizes = np.bincount(integers(source, bound=batches, size=count), minlength=batches)
    return cut(examples.shuffled(source), [int(size) for size in sizes], dimension=examples.dimension)


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
