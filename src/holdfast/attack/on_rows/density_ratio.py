"""Density ratio (DOMIAS, van Breugel et al. 2023): rows that are denser than people are.

A generator that has learned some records by heart puts too many rows near them. Both densities are Gaussian kernel
sums of one width, so that only the ratio of the sums is left; in empty places it compares the nearest rows.
"""

from __future__ import annotations

import numpy as np

from holdfast.attack.distances import Floats, nearest_distance, squared_distances
from holdfast.attack.rows_attack import RowsAttack, RowsCase

SHARE = 1.0 / 3.0
"""The kernel's width is this share of a reference record's median distance to the next one."""
MOST_ROWS = 20_000
"""Of the released rows and of the reference, by a draw of fixed seed."""


def density_ratio(case: RowsCase) -> Floats:
    """log p(record | released rows) - log p(record | reference)."""
    rows, others = _some(case.rows.numbers), _some(case.others().numbers)
    probe = others[: min(len(others), 500)]
    width = SHARE * float(np.median(nearest_distance(probe, others, place=2)))
    if width == 0.0:  # most records have a twin: the scale of different ones stands in
        width = max(SHARE * float(np.sqrt(others.var(axis=0).sum())), 1e-6)
    records = case.records.numbers
    return log_density(records, rows, width=width) - log_density(records, others, width=width)


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


def _some(rows: Floats) -> Floats:
    if len(rows) <= MOST_ROWS:
        return rows
    return rows[np.random.default_rng(0).permutation(len(rows))[:MOST_ROWS]]


ATTACK = RowsAttack(name="density_ratio", score=density_ratio, paper="BSQS23", needs_reference=True)
