"""One-way histograms of all columns and of the target, released together; everything after is post-processing.

A unit's row is in one cell of every histogram: F of them move by sqrt(F) in L2, by sqrt(2 F) under replace (soundness,
section 24), and by c times as much where units own c rows that may share their cells. A line of many cells is counted
at several resolutions, each a histogram of its own: what lies in half of 256 cells has the noise of two coarse counts
then, not of 128 fine ones (Hay et al. 2010). The target is one histogram more, whose classes are counted; or three, of
which the sums of a number and of its square are worth less.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Floats
from holdfast.data._sensitivity import counts_l2
from holdfast.learn._additive.cell_rows import CellRows
from holdfast.learn._additive.cells import COARSE_GRID, FINE_GRID, ColumnCells
from holdfast.learn._risk.descent import gaussian_for
from holdfast.privacy._account import Account
from holdfast.privacy._mechanisms.mechanism import Arithmetic

FINE_NOISE = 0.025
"""Of the rows: the deviation of noise in all cells of a fine grid together, were each column counted once, up to which
it is worth having."""
BRANCHES, FEW_CELLS = 4, 24
"""A cell of the next coarser histogram holds so many; a line of few cells is counted once."""
CERTAIN_DEVIATIONS = 3.0
"""Deviations of its noise from which on a lack of rows is believed."""
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
    widths = [resolutions(column) for column in rows.cells]
    marginals = sum(len(each) for each in widths) + (3 if classes is None else 1)
    sensitivity = counts_l2(account.adjacency, account.unit, marginals=marginals)
    mechanism = gaussian_for(
        square, l2_sensitivity=sensitivity, adjacency=account.adjacency, arithmetic=arithmetic
    )
    target = rows.sums() if classes is None else rows.class_counts(classes)
    counted = [
        coarse_counts(column, count, width)
        for column, count, each in zip(rows.cells, rows.counts(), widths, strict=True)
        for width in each
    ]
    values = np.concatenate([*counted, target])
    noisy = np.asarray(account.release(mechanism, values, label="additive: histograms"), dtype=np.float64)
    *flat, seen = np.split(noisy, np.cumsum([len(part) for part in counted]))
    parts = [[flat.pop(0) for _ in each] for each in widths]
    noise_std = float(mechanism.sigma)
    total = _row_count(parts, rows, noise_std=noise_std)
    shares = (_share(cells, part, total, noise_std) for cells, part in zip(rows.cells, parts, strict=True))
    noise = noise_std / total
    if classes is not None:
        hidden = np.maximum(nearest_counts(seen, total) / total, max(noise, 1.0 / total))
        return Histograms(tuple(shares), total, class_shares=hidden / hidden.sum())
    # What was seen and what is usual, each by how sure it is.
    sure, usual = noise**-2, ITS_SPREAD**-2
    mean = sure * float(seen[0]) / total / (sure + 1.0 / USUAL_SQUARE)
    mean_square = (sure * float(seen[1]) / total + usual * USUAL_SQUARE) / (sure + usual)
    mean_square = min(max(mean_square, 0.0), 1.0)
    return Histograms(tuple(shares), total, mean, max(mean_square, mean**2), noise)


def resolutions(cells: ColumnCells) -> tuple[int, ...]:
    """How many cells of a line each of its histograms puts together, finest first; categories are counted once.

    >>> from holdfast.data._schema import Numeric
    >>> resolutions(ColumnCells(Numeric("age", 0, 99, integer=True)))
    (1, 4, 16, 64)
    """
    intervals, count = [1], len(cells.middles) if cells.numeric else 0
    while count > max(FEW_CELLS, 1.5 * BRANCHES * intervals[-1]):
        intervals.append(BRANCHES * intervals[-1])
    return tuple(intervals)


def coarse_counts(cells: ColumnCells, counts: NDArray[np.int64], width: int) -> NDArray[np.int64]:
    """Counts of `width` cells of the line together; missing numbers are in the finest histogram only."""
    if width == 1:
        return counts
    return np.asarray(np.add.reduceat(counts[: len(cells.middles)], np.arange(0, len(cells.middles), width)))


def _share(cells: ColumnCells, noisy: list[Floats], total: float, noise_std: float) -> Floats:
    """Shares of the cells; missing numbers and categories by themselves, numbers as a tree."""
    if not cells.numeric:
        return nearest_counts(noisy[0], total) / total
    numbers = len(cells.middles)
    alone = np.maximum(noisy[0][numbers:], 0.0)
    if cells.missing:
        total = max(total - float(alone.sum()), 0.0)
    line = [noisy[0][:numbers], *noisy[1:]]
    mass = np.concatenate([tree_shares(line, cells.widths, total, noise_std), alone])
    whole = float(mass.sum())
    return mass / whole if whole > 0 else np.full(len(mass), 1.0 / len(mass))


def nearest_counts(noisy: Floats, total: float) -> Floats:
    """The nearest counts that are >= 0 and sum to the total: clipping alone would add the noise's positive half.

    >>> nearest_counts(np.array([8.0, 3.0, -1.0]), 10.0).tolist()
    [7.5, 2.5, 0.0]
    """
    falling = np.sort(noisy)[::-1]
    excess = (np.cumsum(falling) - total) / np.arange(1, len(noisy) + 1)
    level = excess[np.flatnonzero(falling > excess)[-1]]
    return np.asarray(np.maximum(noisy - level, 0.0))


def tree_shares(noisy: Sequence[Floats], widths: Floats, total: float, noise_std: float) -> Floats:
    """Counts on a line, halved again and again: each half gets what was seen, as far as that is not noise.

    What a half was seen to have beyond its width's share d is believed by 1 - v / d^2, v being the noise in d; so
    cells that nobody can tell apart share by their widths, and a heavy cell is found however narrow it is.

    >>> tree_shares([np.array([90.0, 6.0, 0.0, 4.0])], np.ones(4), 100.0, 0.1).round().tolist()
    [90.0, 6.0, 0.0, 4.0]
    """
    below = _seen_below(noisy, noise_std)
    reach = np.zeros(2 ** len(below))
    reach[: len(widths)] = widths
    mass = np.array([float(total)])
    for seen, variance in reversed(below):  # the two halves of each node
        width = reach.reshape(len(seen), -1).sum(axis=1)
        share = width[::2] / np.maximum(width[::2] + width[1::2], 1e-300)
        # The left half twice: as it was seen, and as what the right one leaves of the whole (the second pass).
        sure = variance[1::2] / np.maximum(variance[::2] + variance[1::2], 1e-300)
        left = sure * seen[::2] + (1.0 - sure) * (mass - seen[1::2])
        beyond = left - share * mass
        believed = np.maximum(0.0, 1.0 - sure * variance[::2] / np.maximum(beyond**2, 1e-300))
        first = np.clip(share * mass + believed * beyond, 0.0, mass)
        mass = np.column_stack([first, mass - first]).ravel()
    return mass[: len(widths)]


def _seen_below(noisy: Sequence[Floats], noise_std: float) -> list[tuple[Floats, Floats]]:
    """For each level of a binary tree, finest first and without the root, what each node has, and its variance.

    A node that was counted itself and in its parts has the mean of both, by how sure they are (Hay et al. 2010, section
    4.1, the first pass). Cells beyond the last have nothing, surely.
    """
    count = len(noisy[0])
    levels = max(1, (count - 1).bit_length())
    counted = {BRANCHES**place: part for place, part in enumerate(noisy)}
    seen, variance, estimates = np.zeros(2**levels), np.zeros(2**levels), []
    for level in range(levels):
        own = counted.get(2**level)
        if level:
            seen, variance = (part.reshape(-1, 2).sum(axis=1) for part in (seen, variance))
        if own is not None:
            first = slice(0, len(own))
            sure = variance[first] / (variance[first] + noise_std**2) if level else 1.0
            seen[first] += sure * (own - seen[first])
            variance[first] = noise_std**2 * sure
        estimates.append((seen, variance))
    return estimates


def _row_count(parts: list[list[Floats]], rows: CellRows, *, noise_std: float) -> float:
    """The public number of rows; where it is not public, what the released counts say, within what is possible.

    Where rows without a target are left out, their number is not public, and it is what the counts lack of the public
    one; so little that it may be their noise is taken for none.

    Each column counts every row, so the sums of several columns are estimates of one number; that of a column with
    fewer cells, at its coarsest, has less noise and counts more.
    """
    public = rows.unit.column is None and rows.adjacency.count_is_public
    if public and not rows.may_lack_targets:
        return float(rows.public_count)
    coarse = [
        [*part[-1], *(part[0][len(column.middles) :] if len(part) > 1 else ())]
        for column, part in zip(rows.cells, parts, strict=True)
    ]
    weights = np.array([1.0 / len(part) for part in coarse])
    estimate = float(np.array([sum(part) for part in coarse]) @ weights / weights.sum())
    if public and estimate >= rows.public_count - CERTAIN_DEVIATIONS * noise_std / float(
        np.sqrt(weights.sum())
    ):
        return float(rows.public_count)
    return float(np.clip(estimate, 1.0, rows.largest_count()))
