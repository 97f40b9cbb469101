"""Attacks by distance to the released rows: the nearest one, and the ratio of two densities.

Nearest row (Chen et al. 2020): a record close to a released row is called a member. It is offered because such
distances are usually reported, under names such as "distance to closest record"; they measure little (`WARNING`).
Density ratio (DOMIAS, van Breugel et al. 2023): a generator that has memorised some records puts too many rows near
them, compared with the density of other people. Both densities are Gaussian kernel estimates of one width, so their
ratio needs no normalisation; far from all rows it compares the nearest ones.
"""

from __future__ import annotations

import numpy as np

from holdfast._arrays import Floats
from holdfast.attack._attack import Attack
from holdfast.attack._rows.distances import log_density, nearest_distance
from holdfast.attack._rows.rows_case import RowsCase

KERNEL_SHARE = 1.0 / 3.0
"""The kernel's width is this share of a reference record's median distance to the next one."""
MOST_REFERENCE_ROWS = 20_000
"""So many released rows and reference records are used, by a draw of fixed seed."""
WARNING = (
    "distances to the nearest row measure little: they see copies, not what counts or a density give away, and they "
    "call members whoever lives where many people do; a low figure is no evidence of privacy"
)


def nearest_row(case: RowsCase) -> Floats:
    """Minus the distance to the nearest released row."""
    return np.asarray(-nearest_distance(case.records.numbers, case.rows.numbers))


NEAREST_ROW = Attack(
    name="nearest_row", kind="rows", guess=nearest_row, paper="CYZF20", knows=("rows",), note=WARNING
)


def density_ratio(case: RowsCase) -> Floats:
    """The log-density of released rows at the record, less that of other people."""
    rows, population = _sample(case.rows.numbers), _sample(case.known_population().numbers)
    probe = population[: min(len(population), 500)]
    width = KERNEL_SHARE * float(np.median(nearest_distance(probe, population, place=2)))
    if width == 0.0:  # most records have a twin: the scale of different ones stands in
        width = max(KERNEL_SHARE * float(np.sqrt(population.var(axis=0).sum())), 1e-6)
    records = case.records.numbers
    return log_density(records, rows, width=width) - log_density(records, population, width=width)


DENSITY_RATIO = Attack(
    name="density_ratio", kind="rows", guess=density_ratio, paper="BSQS23", knows=("rows", "population")
)


def _sample(rows: Floats) -> Floats:
    if len(rows) <= MOST_REFERENCE_ROWS:
        return rows
    return rows[np.random.default_rng(0).permutation(len(rows))[:MOST_REFERENCE_ROWS]]
