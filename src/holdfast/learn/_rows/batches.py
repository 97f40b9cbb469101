"""Random batches of rows, drawn without regard to the rows' values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from holdfast.errors import require
from holdfast.learn._rows.examples import ArrayExamples, Chunk, Examples
from holdfast.noise._bernoulli import bernoulli
from holdfast.noise._source import Source
from holdfast.noise._uniform import integers, permutation


def poisson_sample(examples: Examples, source: Source, *, rate: Fraction) -> Iterator[Chunk]:
    """A Poisson sample: each row is in it with probability `rate`, independently of the others."""
    start = 0
    for features, labels in examples.chunks():
        records = examples.records(start, labels.size)
        sampled = bernoulli(source, p=rate, size=labels.size, records=records)
        start += labels.size
        yield features[sampled], labels[sampled]


def disjoint_batches(examples: Examples, source: Source, *, size: int, count: int) -> Iterator[list[Chunk]]:
    """Random batches that share no row.

    Where the number of rows is public, a batch takes consecutive rows of a secret permutation. Under add_remove, one
    row more or less would shift all rows behind it, so there each row draws its batch by itself, and sizes vary.
    """
    if examples.adjacency.count_is_public:
        yield from _cut_into_batches(examples.shuffled_chunks(source), size=size, count=count)
        return
    places, start = [], 0
    for _, labels in examples.chunks():
        records = examples.records(start, labels.size)
        places.append(integers(source, bound=count, size=labels.size, records=records))
        start += labels.size
    for number in range(count):
        chosen = zip(examples.chunks(), places, strict=True)
        yield [(features[place == number], labels[place == number]) for (features, labels), place in chosen]


def _cut_into_batches(chunks: Iterator[Chunk], *, size: int, count: int) -> Iterator[list[Chunk]]:
    batch: list[Chunk] = []
    room, batch_count = size, 0
    for features, labels in chunks:
        start = 0
        while start < labels.size and batch_count < count:
            stop = min(labels.size, start + room)
            batch.append((features[start:stop], labels[start:stop]))
            room -= stop - start
            start = stop
            if room == 0:
                yield batch
                batch, room, batch_count = [], size, batch_count + 1
    while batch_count < count:
        yield batch
        batch, batch_count = [], batch_count + 1


def partition(examples: Examples, source: Source, *, sizes: Sequence[int]) -> tuple[ArrayExamples, ...]:
    """Random parts that share no row, of these public sizes; rows that are left over belong to no part.

    Under add_remove each row draws its part by itself, with probabilities in proportion to the sizes. The actual number
    of rows in a part then varies, and methods go on to divide by the public size.
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
    ends, records = np.cumsum(sizes), examples.records(0, labels.size)
    if examples.adjacency.count_is_public:
        places = permutation(source, labels.size)
    else:
        places = integers(source, bound=examples.public_count, size=labels.size, records=records)
    part = np.searchsorted(ends, places, side="right")
    return tuple(
        ArrayExamples(
            features=features[part == number],
            labels=labels[part == number],
            adjacency=examples.adjacency,
            public_count=size,
            unit=examples.unit,
            origin=records[part == number],
            lacking=examples.may_lack_targets,
        )
        for number, size in enumerate(sizes)
    )
