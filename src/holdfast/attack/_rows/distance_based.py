"""Attacks by distance to the released rows: the nearest one, and the ratio of two densities.

Nearest row (Chen et al. 2020): a record close to a released row is called a member. It is kept because such distances
are what is usually reported, under names such as "distance to closest record"; they measure little (`WARNING`).
Density ratio (DOMIAS, van Breugel et al. 2023): a generator that has learned some records by heart puts too many rows
near them, compared with other people. Both densities are Gaussian kernel sums of one width, so that only the ratio of
the sums is left; in empty places it compares the nearest rows.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from holdfast._arrays import Floats
from holdfast.attack._rows.released_rows import RowsAttack, RowsCase

BLOCK = 2**22
"""Distances held at a time."""
SHARE = 1.0 / 3.0
"""The kernel's width is this share of a reference record's median distance to the next one."""
MOST_ROWS = 20_000
"""So many released rows and reference records are used, by a draw of fixed seed."""
WARNING = (
    "distances to the nearest row measure little: they see copies, not what counts or a density give away, and they "
    "call members whoever lives where many people do; a low figure is no evidence of privacy"
)


def nearest_row(case: RowsCase) -> Floats:
    """Minus the distance to the nearest released row."""
    return np.asarray(-nearest_distance(case.records.numbers, case.rows.numbers))


NEAREST_ROW = RowsAttack(name="nearest_row", score=nearest_row, paper="CYZF20", note=WARNING)


def density_ratio(case: RowsCase) -> Floats:
    """log p(record | released rows) - log p(record | reference)."""
    rows, others = _some(case.rows.numbers), _some(case.others().numbers)
    probe = others[: min(len(others), 500)]
    width = SHARE * float(np.median(nearest_distance(probe, others, place=2)))
    if width == 0.0:  # most records have a twin: the scale of different ones stands in
        width = max(SHARE * float(np.sqrt(others.var(axis=0).sum())), 1e-6)
    records = case.records.numbers
    return log_density(records, rows, width=width) - log_density(records, others, width=width)


DENSITY_RATIO = RowsAttack(name="density_ratio", score=density_ratio, paper="BSQS23", needs_reference=True)


# Densities and distances, a block at a time: memory for a few hundred records against all rows.
def log_density(records: Floats, rows: Floats, *, width: float) -> Floats:
    """log of the mean of exp(-distance^2 / (2 width^2)), which never underflows.

    >>> log_density(np.array([[0.0], [100.0]]), np.array([[0.0]]), width=1.0).tolist()
    [0.0, -5000.0]
    """
    found = np.empty(len(records))
    for where, block in squared_distances(records, rows):
        exponents = -0.5 * block / width**2
        highest = exponents.max(axis=1)
        found[where] = highest + np.log(np.mean(np.exp(exponents - highest[:, None]), axis=1))
    return found


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


def _some(rows: Floats) -> Floats:
    if len(rows) <= MOST_ROWS:
        return rows
    return rows[np.random.default_rng(0).permutation(len(rows))[:MOST_ROWS]]
