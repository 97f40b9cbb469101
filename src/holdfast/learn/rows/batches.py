"""Batches of rows, drawn by secret coins that never look at a row's values.

Batches that records draw by themselves: no ranking, so one record more shifts nothing (soundness, section 1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

import numpy as np

from holdfast.errors import require
from holdfast.learn.rows.examples import ArrayExamples, Chunk, Examples
from holdfast.noise.bernoulli import bernoulli
from holdfast.noise.source import Source
from holdfast.noise.uniform import integers, permutation


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


def poisson_sample(examples: Examples, source: Source, *, rate: Fraction) -> Iterator[Chunk]:
    """Each row by a coin of its own."""
    for features, labels in examples.chunks():
        kept = bernoulli(source, p=rate, size=labels.size)
        yield features[kept], labels[kept]


def disjoint_batches(examples: Examples, source: Source, *, size: int, count: int) -> Iterator[list[Chunk]]:
    """Batches that share no row; which row is where depends on secret coins only.

    Where the number of rows is public: consecutive places of a secret permutation. Under add_remove any such
    order shifts with a row, so each row draws its batch by itself and batches vary in size.
    """
    if examples.adjacency.count_is_public:
        yield from _cut(examples.shuffled(source), size=size, count=count)
        return
    places = [integers(source, bound=count, size=labels.size) for _, labels in examples.chunks()]
    for number in range(count):
        chosen = zip(examples.chunks(), places, strict=True)
        yield [(features[place == number], labels[place == number]) for (features, labels), place in chosen]


def _cut(chunks: Iterator[Chunk], *, size: int, count: int) -> Iterator[list[Chunk]]:
    batch: list[Chunk] = []
    room, made = size, 0
    for features, labels in chunks:
        start = 0
        while start < labels.size and made < count:
            stop = min(labels.size, start + room)
            batch.append((features[start:stop], labels[start:stop]))
            room -= stop - start
            start = stop
            if room == 0:
                yield batch
                batch, room, made = [], size, made + 1
    while made < count:
        yield batch
        batch, made = [], made + 1


def partition(examples: Examples, source: Source, *, sizes: Sequence[int]) -> tuple[ArrayExamples, ...]:
    """Parts that share no row, of these public sizes, by the same secret coins; what is left over belongs to none.

    Under add_remove each row draws its part by itself, in proportion to the sizes, which stay what methods
    divide by; the true numbers vary.
    """
    require(bool(sizes) and min(sizes) >= 1, "sizes", tuple(sizes), "whole numbers >= 1")
    require(
        sum(sizes) <= examples.public_count,
        "sizes",
        tuple(sizes),
        f"at most {examples.public_count} together",
    )
    chunks = list(examples.chunks())
    features = np.concatenate([np.zeros((0, examples.dimension)), *(rows for rows, _ in chunks)])
    labels = np.concatenate([np.zeros(0), *(values for _, values in chunks)])
    ends = np.cumsum(sizes)
    if examples.adjacency.count_is_public:
        places = permutation(source, labels.size)
    else:
        places = integers(source, bound=examples.public_count, size=labels.size)
    part = np.searchsorted(ends, places, side="right")
    return tuple(
        ArrayExamples(
            features=features[part == number], labels=labels[part == number],
            adjacency=examples.adjacency, public_count=size, unit=examples.unit,
        )
        for number, size in enumerate(sizes)
    )  # fmt: skip
