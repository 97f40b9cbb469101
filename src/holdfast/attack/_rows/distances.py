"""Distances between rows, and densities, a block at a time: memory for a few hundred records against all rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Floats
from holdfast.attack._rows.released_rows import ReleasedRows

DISTANCES_AT_ONCE = 2**22
"""Distances held at a time."""


def log_density(records: Floats, rows: Floats, *, width: float) -> Floats:
    """log of the mean of exp(-distance^2 / (2 width^2)), which never underflows.

    >>> log_density(np.array([[0.0], [100.0]]), np.array([[0.0]]), width=1.0).tolist()
    [0.0, -5000.0]
    """
    log_densities = np.empty(len(records))
    for where, block in squared_distances(records, rows):
        exponents = -0.5 * block / width**2
        highest = exponents.max(axis=1)
        log_densities[where] = highest + np.log(np.mean(np.exp(exponents - highest[:, None]), axis=1))
    return log_densities


def nearest_distance(records: Floats, rows: Floats, *, place: int = 1) -> Floats:
    """The distance of each record to the row that is nearest, or second nearest, and so on.

    >>> nearest_distance(np.array([[0.0], [5.0]]), np.array([[1.0], [3.0]]), place=2).tolist()
    [3.0, 4.0]
    """
    distances = np.empty(len(records))
    at = min(place, len(rows)) - 1
    for where, block in squared_distances(records, rows):
        distances[where] = np.partition(block, at, axis=1)[:, at]
    return np.sqrt(distances)


def squared_distances(records: Floats, rows: Floats) -> Iterator[tuple[slice, Floats]]:
    """For each block of records its place, and the squared distance to every row.

    >>> [(place, block.tolist()) for place, block in squared_distances(np.zeros((1, 2)), np.ones((1, 2)))]
    [(slice(0, 1, None), [[2.0]])]
    """
    length = np.einsum("ij,ij->i", rows, rows)
    step = max(1, DISTANCES_AT_ONCE // len(rows))
    for start in range(0, len(records), step):
        part = records[start : start + step]
        block = np.einsum("ij,ij->i", part, part)[:, None] + length - 2.0 * (part @ rows.T)
        yield slice(start, start + len(part)), np.maximum(block, 0.0)


def nearest(people: ReleasedRows, rows: ReleasedRows, columns: Sequence[int]) -> NDArray[np.intp]:
    """The nearest released row in these columns, each column counting alike; of equally near ones the first."""
    places = np.concatenate([np.arange(p.start, p.stop) for p in map(rows.places, columns)])
    # Two categories are sqrt(2) apart as indicators: weighed so that they are 1 apart, like the ends of a range.
    weight = np.concatenate(
        [
            np.full(p.stop - p.start, 1.0 if p.stop - p.start == 1 else np.sqrt(0.5))
            for p in map(rows.places, columns)
        ]
    )
    nearest = np.empty(people.count, dtype=np.intp)
    for where, block in squared_distances(
        people.numbers[:, places] * weight, rows.numbers[:, places] * weight
    ):
        nearest[where] = np.argmin(block, axis=1)
    return nearest
