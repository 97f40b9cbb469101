"""One-way histograms of all columns and of the target, released together; everything after is post-processing.

A unit's row is in one cell of every column: the counts of F columns move by sqrt(F) in L2, by sqrt(2 F) under replace
(soundness, section 24), and by c times as much where units own c rows that may share their cells. The target is one
column more, whose classes are counted; or three, of which the sums of a number and of its square are worth less.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from holdfast.data.sensitivity import counts_l2
from holdfast.learn.additive.cell_rows import CellRows
from holdfast.learn.additive.cells import COARSE_GRID, FINE_GRID, ColumnCells
from holdfast.learn.risk.descent import gaussian_for
from holdfast.privacy.account import Account
from holdfast.privacy.mechanisms.mechanism import Arithmetic

Floats = NDArray[np.float64]
FINE_NOISE = 0.025
"""Of the rows: the deviation of noise in all cells of a fine grid together, up to which it is worth having."""
USUAL_EVENNESS = 0.7
"""Classes are as good as even from here on: 78 rows of one in a hundred, of two classes."""
USUAL_SQUARE, ITS_SPREAD = 0.1, 0.1
"""Of targets in [-1, 1] before any is seen: what their mean square tends to be (and the mean's own), and how far it may
be off."""


@dataclass(frozen=True, eq=False)
class Histograms:
    """For each column the share of rows in each cell, and how many rows there are; all of it released.

    `mean` and `mean_square` are those of a numeric target, and `square_noise` the deviation of the noise in either;
    `class_shares` are
    those of classes, none of them below what noise could hide.
    """

    shares: tuple[Floats, ...]
    rows: float
    mean: float = 0.0
    mean_square: float = USUAL_SQUARE
    square_noise: float = ITS_SPREAD
    class_shares: Floats | None = None

    @property
    def evenness(self) -> float:
        """How much a row tells about classes, 4 p (1 - p) of two, over what it usually tells; at most 1."""
        if self.class_shares is None:
            return 1.0
        count = len(self.class_shares)
        return min(1.0, float(1.0 - np.sum(self.class_shares**2)) * count / (count - 1) / USUAL_EVENNESS)


def affordable_grid(rows: CellRows, account: Account, *, square: Fraction) -> int:
    """Cells of a number on its line: many where noise in all of them together is small beside the rows.

    The number of units is declared, so this is decided before anything is released.
    """
    one_cell = (
        counts_l2(account.adjacency, account.unit, marginals=len(rows.cells) + 1) / float(square) ** 0.5
    )
    noise = one_cell * (2.0 * FINE_GRID) ** 0.5
    return FINE_GRID if noise <= FINE_NOISE * rows.public_count else COARSE_GRID


def release_histograms(
    rows: CellRows, account: Account, *, square: Fraction, arithmetic: Arithmetic, classes: int | None
) -> Histograms:
    """At mu^2 = `square`; of a target without classes, the sums of z in [-1, 1] and of z^2.

    In whole numbers a row moves these two by (1, 1), and by (2, 1) where it is replaced: sqrt(2) and sqrt(5) together,
    which is within what three more histograms cost.
    """
    marginals = len(rows.cells) + (3 if classes is None else 1)
    sensitivity = counts_l2(account.adjacency, account.unit, marginals=marginals)
    mechanism = gaussian_for(
        square, l2_sensitivity=sensitivity, adjacency=account.adjacency, arithmetic=arithmetic
    )
    target = rows.sums() if classes is None else rows.class_counts(classes)
    counts = np.concatenate([*rows.counts(), target])
    noisy = np.asarray(account.release(mechanism, counts, label="additive: histograms"), dtype=np.float64)
    ends = np.cumsum([column.count for column in rows.cells])
    *parts, seen = np.split(noisy, ends)
    total, noise_std = _row_count(parts, rows), float(mechanism.sigma)
    shares = (_share(cells, part, total, noise_std) for cells, part in zip(rows.cells, parts, strict=True))
    noise = noise_std / total
    if classes is not None:
        hidden = np.maximum(projected(seen, total) / total, max(noise, 1.0 / total))
        return Histograms(tuple(shares), total, class_shares=hidden / hidden.sum())
    # What was seen and what is usual, each by how sure it is.
    sure, usual = noise**-2, ITS_SPREAD**-2
    mean = sure * float(seen[0]) / total / (sure + 1.0 / USUAL_SQUARE)
    mean_square = (sure * float(seen[1]) / total + usual * USUAL_SQUARE) / (sure + usual)
    mean_square = min(max(mean_square, 0.0), 1.0)
    return Histograms(tuple(shares), total, mean, max(mean_square, mean**2), noise)


def _share(cells: ColumnCells, noisy: Floats, total: float, noise_std: float) -> Floats:
    """Shares of the cells; missing numbers and categories by themselves, numbers as a tree."""
    numbers = len(cells.middles) if cells.numeric else 0
    alone = np.maximum(noisy[numbers:], 0.0)
    if not cells.numeric:
        return projected(noisy, total) / total
    if cells.missing:
        total = max(total - float(alone.sum()), 0.0)
    mass = np.concatenate([tree_shares(noisy[:numbers], cells.widths, total, noise_std), alone])
    whole = float(mass.sum())
    return mass / whole if whole > 0 else np.full(len(noisy), 1.0 / len(noisy))


def projected(noisy: Floats, total: float) -> Floats:
    """The nearest counts that are >= 0 and sum to the total: clipping alone would add the noise's positive half.

    >>> projected(np.array([8.0, 3.0, -1.0]), 10.0).tolist()
    [7.5, 2.5, 0.0]
    """
    falling = np.sort(noisy)[::-1]
    excess = (np.cumsum(falling) - total) / np.arange(1, len(noisy) + 1)
    level = excess[np.flatnonzero(falling > excess)[-1]]
    return np.asarray(np.maximum(noisy - level, 0.0))


def tree_shares(noisy: Floats, widths: Floats, total: float, noise_std: float) -> Floats:
    """Counts on a line, halved again and again: each half gets what was seen, as far as that is not noise.

    What a half was seen to have beyond its width's share d is believed by 1 - v / d^2, v being the noise in d; so
    cells that nobody can tell apart share by their widths, and a heavy cell is found however narrow it is.
    """
    count = len(noisy)
    below, reach = (np.concatenate([[0.0], np.cumsum(part)]) for part in (noisy, widths))
    made, start, stop, mass = np.zeros(count), np.array([0]), np.array([count]), np.array([float(total)])
    while len(start):  # one level of the tree
        alone = stop - start == 1
        made[start[alone]] = mass[alone]
        start, stop, mass = start[~alone], stop[~alone], mass[~alone]
        middle = start + (stop - start) // 2
        share = (reach[middle] - reach[start]) / (reach[stop] - reach[start])
        left, right = below[middle] - below[start], below[stop] - below[middle]
        beyond = (1.0 - share) * left - share * right
        variance = noise_std**2 * ((1.0 - share) ** 2 * (middle - start) + share**2 * (stop - middle))
        believed = np.maximum(0.0, 1.0 - variance / np.maximum(beyond**2, 1e-300))
        first = np.clip(share * mass + believed * beyond, 0.0, mass)
        start, stop = np.column_stack([start, middle]).ravel(), np.column_stack([middle, stop]).ravel()
        mass = np.column_stack([first, mass - first]).ravel()
    return made


def _row_count(parts: list[Floats], rows: CellRows) -> float:
    """The public number of rows; where it is not public, what the released counts say, within what is possible.

    Each column counts every row, so the sums of several columns are estimates of one number; that of a column with
    fewer cells has less noise and counts more.
    """
    if rows.unit.column is None and rows.adjacency.count_is_public:
        return float(rows.public_count)
    weights = np.array([1.0 / len(part) for part in parts])
    estimate = float(np.array([part.sum() for part in parts]) @ weights / weights.sum())
    return float(np.clip(estimate, 1.0, rows.largest_count()))
