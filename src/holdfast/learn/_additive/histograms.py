"""The released histograms of an additive fit: of every column, and of the target, in one release.

A row is in one cell of every histogram. So one row moves F histograms together by sqrt(F) in L2, by sqrt(2 F) under
replace, and a unit that owns c rows moves them by c times as much (soundness, section 24). A line of many cells is
counted at several resolutions, each a histogram of its own, because the rows in half of a line are then known with the
noise of a few coarse counts and not with that of a hundred fine ones (Hay et al. 2010). Classes of the target are one
histogram more. The sums of a numeric target and of its square are charged like three.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from holdfast._arrays import Floats
from holdfast.data._sensitivity import counts_l2
from holdfast.learn._additive.cell_rows import CellRows
from holdfast.learn._additive.cells import COARSE_GRID, FINE_GRID, ColumnCells
from holdfast.learn._additive.line_tree import coarse_counts, histogram_widths, nearest_counts, tree_counts
from holdfast.learn._risk.descent import gaussian_for
from holdfast.privacy._account import Account
from holdfast.privacy._mechanisms.mechanism import Arithmetic

MOST_FINE_NOISE = 0.025
"""The fine grid is used where the noise in all its cells together, were each column counted once, has at most this
deviation as a share of the rows."""
CERTAIN_NOISE_DEVIATIONS = 3.0
"""Rows are believed to lack a target where the counts fall short of the public number by this many deviations of
noise."""
EVEN_ENOUGH = 0.7
"""Classes whose evenness is at least this count as equally frequent: two classes of which the rarer has 23% of the
rows."""
PRIOR_MEAN_SQUARE, PRIOR_MEAN_SQUARE_STD = 0.1, 0.1
"""What is assumed of a target in [-1, 1] before it is released: its mean square and how far that may be off. The first
is also the prior variance of its mean, around 0."""


@dataclass(frozen=True, eq=False)
class Histograms:
    """What was released: for each column the share of rows in each cell, the number of rows, and the target.

    A numeric target has a `mean`, a `mean_square`, and the deviation `square_noise` of the noise in both. A target of
    classes has `class_shares`, in which no class is rarer than the noise could hide.
    """

    shares: tuple[Floats, ...]
    rows: float
    mean: float = 0.0
    mean_square: float = PRIOR_MEAN_SQUARE
    square_noise: float = PRIOR_MEAN_SQUARE_STD
    class_shares: Floats | None = None

    @property
    def evenness(self) -> float:
        """How much a row tells about the classes, from 0 (one class has all rows) to 1 (even enough).

        For two classes of which one has the share p it is 4 p (1 - p), over `EVEN_ENOUGH`.
        """
        if self.class_shares is None:
            return 1.0
        count = len(self.class_shares)
        return min(1.0, float(1.0 - np.sum(self.class_shares**2)) * count / (count - 1) / EVEN_ENOUGH)


def affordable_grid(rows: CellRows, account: Account, *, square: Fraction) -> int:
    """The grid of numeric columns: the fine one where mu^2 = `square` makes its noise small beside the rows.

    It follows from the declared number of units, so that nothing has to be released for it.
    """
    noise_per_cell = (
        counts_l2(account.adjacency, account.unit, marginals=len(rows.cells) + 1) / float(square) ** 0.5
    )
    noise = noise_per_cell * (2.0 * FINE_GRID) ** 0.5
    return FINE_GRID if noise <= MOST_FINE_NOISE * rows.public_count else COARSE_GRID


def release_histograms(
    rows: CellRows, account: Account, *, square: Fraction, arithmetic: Arithmetic, classes: int | None
) -> Histograms:
    """Release all histograms at mu^2 = `square`, and derive shares from them.

    Without `classes` the target is a number z in [-1, 1]. One row moves the sums of z and of z^2, rounded to whole
    numbers, by at most (1, 1), and by (2, 1) where it is replaced: sqrt(2) and sqrt(5) in L2, which is less than what
    three histograms are charged.
    """
    widths = [histogram_widths(column) for column in rows.cells]
    marginals = sum(len(column_widths) for column_widths in widths) + (3 if classes is None else 1)
    sensitivity = counts_l2(account.adjacency, account.unit, marginals=marginals)
    mechanism = gaussian_for(
        square, l2_sensitivity=sensitivity, adjacency=account.adjacency, arithmetic=arithmetic
    )
    target = rows.sums() if classes is None else rows.class_counts(classes)
    counts = [
        coarse_counts(column, column_counts, width)
        for column, column_counts, column_widths in zip(rows.cells, rows.counts(), widths, strict=True)
        for width in column_widths
    ]
    noisy = np.asarray(
        account.release(mechanism, np.concatenate([*counts, target]), label="additive: histograms"),
        dtype=np.float64,
    )
    *noisy_counts, noisy_target = np.split(noisy, np.cumsum([len(part) for part in counts]))
    histograms = [[noisy_counts.pop(0) for _ in column_widths] for column_widths in widths]
    noise_std = float(mechanism.sigma)
    total = _row_count(histograms, rows, noise_std=noise_std)
    shares = tuple(
        _column_shares(column, column_histograms, total, noise_std)
        for column, column_histograms in zip(rows.cells, histograms, strict=True)
    )
    if classes is None:
        return _with_numeric_target(shares, total, noisy_target, noise_std=noise_std)
    return _with_classes(shares, total, noisy_target, noise_std=noise_std)


def _with_classes(
    shares: tuple[Floats, ...], total: float, noisy_counts: Floats, *, noise_std: float
) -> Histograms:
    """Histograms with the shares of the classes; a class is never rarer than noise, or one row, could hide."""
    least = max(noise_std / total, 1.0 / total)
    class_shares = np.maximum(nearest_counts(noisy_counts, total) / total, least)
    return Histograms(shares, total, class_shares=class_shares / class_shares.sum())


def _with_numeric_target(
    shares: tuple[Floats, ...], total: float, noisy_sums: Floats, *, noise_std: float
) -> Histograms:
    """Histograms with the posterior mean of the target and of its square, given the prior and the noisy sums."""
    noise = noise_std / total
    precision, prior_precision = noise**-2, PRIOR_MEAN_SQUARE_STD**-2
    mean = precision * float(noisy_sums[0]) / total / (precision + 1.0 / PRIOR_MEAN_SQUARE)
    mean_square = (precision * float(noisy_sums[1]) / total + prior_precision * PRIOR_MEAN_SQUARE) / (
        precision + prior_precision
    )
    mean_square = min(max(mean_square, 0.0), 1.0)
    return Histograms(shares, total, mean, max(mean_square, mean**2), noise)


def _column_shares(
    cells: ColumnCells, histograms: Sequence[Floats], total: float, noise_std: float
) -> Floats:
    """The share of rows in each cell of a column: of categories as they are, of numbers by the tree of the line."""
    finest = histograms[0]
    if not cells.numeric:
        return nearest_counts(finest, total) / total
    numbers = len(cells.middles)
    missing = np.maximum(finest[numbers:], 0.0)
    if cells.missing:
        total = max(total - float(missing.sum()), 0.0)
    line = tree_counts([finest[:numbers], *histograms[1:]], cells.widths, total, noise_std)
    counts = np.concatenate([line, missing])
    whole = float(counts.sum())
    return counts / whole if whole > 0 else np.full(len(counts), 1.0 / len(counts))


def _row_count(histograms: Sequence[Sequence[Floats]], rows: CellRows, *, noise_std: float) -> float:
    """The public number of rows; where it is not public, an estimate from the released counts, within what is possible.

    Every column counts every row, so each gives an estimate of the same number, and the one with the fewest cells has
    the least noise: they are weighted by that, each at its coarsest resolution.

    Where rows without a target are left out, fewer rows than the public number may be counted. That is believed only
    where the difference is more than noise.
    """
    public = rows.unit.column is None and rows.adjacency.count_is_public
    if public and not rows.may_lack_targets:
        return float(rows.public_count)
    coarsest = [
        [*parts[-1], *(parts[0][len(column.middles) :] if len(parts) > 1 else ())]
        for column, parts in zip(rows.cells, histograms, strict=True)
    ]
    weights = np.array([1.0 / len(counts) for counts in coarsest])
    estimate = float(np.array([sum(counts) for counts in coarsest]) @ weights / weights.sum())
    doubt = CERTAIN_NOISE_DEVIATIONS * noise_std / float(np.sqrt(weights.sum()))
    if public and estimate >= rows.public_count - doubt:
        return float(rows.public_count)
    return float(np.clip(estimate, 1.0, rows.largest_count()))
