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
from holdfast.learn.additive.cell_rows import CellRows
from holdfast.learn.additive.cells import ColumnCells
from holdfast.learn.risk.descent import gaussian_for
from holdfast.privacy.account import Account
from holdfast.privacy.mechanisms.mechanism import Arithmetic

Floats = NDArray[np.float64]


USUAL_SQUARE, ITS_SPREAD = 0.1, 0.1
"""Of targets in [-1, 1] before any is seen: what their mean square tends to be, and how far it may be off."""


@dataclass(frozen=True, eq=False)
class Histograms:
    """For each column the share of rows in each cell, and how many rows there are; all of it released.

    `mean_square` is that of a numeric target, and `square_noise` the deviation of the noise in it.
    """

    shares: tuple[Floats, ...]
    rows: float
    mean_square: float = USUAL_SQUARE
    square_noise: float = ITS_SPREAD


def release_histograms(
    rows: CellRows, account: Account, *, square: Fraction, arithmetic: Arithmetic, numbers: bool = False
) -> Histograms:
    """At mu^2 = `square`; with `numbers`, the sum of squared targets as well.

    That sum moves by at most c for c rows of a unit, replaced or not, which is within what one more histogram costs.
    """
    sensitivity = counts_l2(account.adjacency, account.unit, marginals=len(rows.cells) + numbers)
    mechanism = gaussian_for(
        square, l2_sensitivity=sensitivity, adjacency=account.adjacency, arithmetic=arithmetic
    )
    counts = np.concatenate([*rows.counts(), *([[rows.squares()]] if numbers else [])])
    noisy = np.asarray(account.release(mechanism, counts, label="additive: histograms"), dtype=np.float64)
    ends = np.cumsum([column.count for column in rows.cells])
    *parts, squares = np.split(noisy, ends)
    total, noise_std = _row_count(parts, rows), float(mechanism.sigma)
    shares = (_share(cells, part, total, noise_std) for cells, part in zip(rows.cells, parts, strict=True))
    if not numbers:
        return Histograms(tuple(shares), total)
    noise = noise_std / total
    # What was seen and what is usual, each by how sure it is.
    sure, usual = noise**-2, ITS_SPREAD**-2
    mean_square = (sure * float(squares[0]) / total + usual * USUAL_SQUARE) / (sure + usual)
    return Histograms(tuple(shares), total, min(max(mean_square, 0.0), 1.0), noise)


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
    if len(noisy) == 1:
        return np.array([total])
    middle = len(noisy) // 2
    share = float(widths[:middle].sum() / widths.sum())
    left, right = float(noisy[:middle].sum()), float(noisy[middle:].sum())
    beyond = (1.0 - share) * left - share * right
    variance = noise_std**2 * ((1.0 - share) ** 2 * middle + share**2 * (len(noisy) - middle))
    believed = max(0.0, 1.0 - variance / max(beyond**2, 1e-300))
    first = min(max(share * total + believed * beyond, 0.0), total)
    return np.concatenate(
        [
            tree_shares(noisy[:middle], widths[:middle], first, noise_std),
            tree_shares(noisy[middle:], widths[middle:], total - first, noise_std),
        ]
    )


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
