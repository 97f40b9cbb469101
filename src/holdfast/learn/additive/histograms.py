"""One-way histograms of all columns, released together; everything after is post-processing.

A unit's row is in one cell of every column: the counts of F columns move by sqrt(F) in L2, by sqrt(2 F) under replace
(soundness, section 24), and by c times as much where units own c rows that may share their cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from holdfast.data.sensitivity import counts_l2
from holdfast.learn.additive.coded_rows import CodedRows
from holdfast.learn.risk.descent import gaussian_for
from holdfast.privacy.account import Account
from holdfast.privacy.mechanisms.mechanism import Arithmetic

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Histograms:
    """For each column the share of rows in each cell, and how many rows there are; all of it released."""

    shares: tuple[Floats, ...]
    rows: float


def release_histograms(
    rows: CodedRows, account: Account, *, square: Fraction, arithmetic: Arithmetic
) -> Histograms:
    """At mu^2 = `square`."""
    sensitivity = counts_l2(account.adjacency, account.unit, marginals=len(rows.cells))
    mechanism = gaussian_for(
        square, l2_sensitivity=sensitivity, adjacency=account.adjacency, arithmetic=arithmetic
    )
    counts = np.concatenate(rows.counts())
    noisy = np.asarray(account.release(mechanism, counts, label="additive: histograms"), dtype=np.float64)
    ends = np.cumsum([column.count for column in rows.cells])[:-1]
    parts = np.split(noisy, ends)
    return Histograms(tuple(_share(part) for part in parts), _row_count(parts, rows))


def _share(noisy: Floats) -> Floats:
    """Clipped at 0 and normalised; uniform where nothing is left."""
    mass = np.maximum(noisy, 0.0)
    total = float(mass.sum())
    return mass / total if total > 0 else np.full(len(noisy), 1.0 / len(noisy))


def _row_count(parts: list[Floats], rows: CodedRows) -> float:
    """The public number of rows; where it is not public, what the released counts say, within what is possible.

    Each column counts every row, so the sums of several columns are estimates of one number; that of a column with fewer
    cells has less noise and counts more.
    """
    if rows.unit.column is None and rows.adjacency.count_is_public:
        return float(rows.public_count)
    weights = np.array([1.0 / len(part) for part in parts])
    estimate = float(np.array([part.sum() for part in parts]) @ weights / weights.sum())
    return float(np.clip(estimate, 1.0, rows.largest_count()))
