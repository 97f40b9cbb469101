"""Distances between rows, a block at a time: memory for a few hundred records against all rows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
BLOCK = 2**22
"""Distances held at a time."""


def squared_distances(records: Floats, rows: Floats) -> Iterator[tuple[slice, Floats]]:
    """For each block of records its place, and the squared distance to every row.

    >>> [(place, block.tolist()) for place, block in squared_distances(np.zeros((1, 2)), np.ones((1, 2)))]
    [(slice(0, 1, None), [[2.0]])]
    """
    length = np.einsum("ij,ij->i", rows, rows)
    step = max(1, BLOCK // len(rows))
    for start in range(0, len(records), step):
        part = records[start : start + step]
        block = np.einsum("ij,ij->i", part, part)[:, None] + length - 2.0 * (part @ rows.T)
        yield slice(start, start + len(part)), np.maximum(block, 0.0)


def nearest_distance(records: Floats, rows: Floats, *, place: int = 1) -> Floats:
    """The distance of each record to the row that is nearest, or second nearest, and so on.

    >>> nearest_distance(np.array([[0.0], [5.0]]), np.array([[1.0], [3.0]]), place=2).tolist()
    [3.0, 4.0]
    """
    found = np.empty(len(records))
    at = min(place, len(rows)) - 1
    for where, block in squared_distances(records, rows):
        found[where] = np.partition(block, at, axis=1)[:, at]
    return np.sqrt(found)
