"""Counts of the cells of a line, from noisy histograms of the same rows at several resolutions.

The cells are the leaves of a binary tree. A first pass, from the leaves up, estimates the count of every node from all
histograms that say something about it (Hay et al. 2010, section 4.1). A second pass, from the root down, divides the
count of each node between its two halves. Here nothing sees a row: the noisy histograms are released already.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Floats
from holdfast.learn._additive.cells import ColumnCells

BRANCHES = 4
"""A cell of the next coarser histogram joins this many cells of the finer one."""
MOST_CELLS_COUNTED_ONCE = 24
"""A line with at most this many cells has one histogram."""


def histogram_widths(cells: ColumnCells) -> tuple[int, ...]:
    """For each histogram of a column, how many cells of the line it joins; finest first.

    Categories do not lie on a line, and have one histogram.

    >>> from holdfast.data._schema import Numeric
    >>> histogram_widths(ColumnCells(Numeric("age", 0, 99, integer=True)))
    (1, 4, 16, 64)
    """
    widths, count = [1], len(cells.middles) if cells.numeric else 0
    while count > max(MOST_CELLS_COUNTED_ONCE, 1.5 * BRANCHES * widths[-1]):
        widths.append(BRANCHES * widths[-1])
    return tuple(widths)


def coarse_counts(cells: ColumnCells, counts: NDArray[np.int64], width: int) -> NDArray[np.int64]:
    """The counts of every `width` neighbouring cells added up.

    Missing numbers have no place on the line: they are in the finest histogram (`width` 1) only.
    """
    if width == 1:
        return counts
    return np.asarray(np.add.reduceat(counts[: len(cells.middles)], np.arange(0, len(cells.middles), width)))


def nearest_counts(noisy: Floats, total: float) -> Floats:
    """The counts >= 0 with this total that are nearest to the noisy ones, in squared distance.

    Clipping the noisy counts at 0 instead would keep the positive half of the noise, and so count too many rows.

    >>> nearest_counts(np.array([8.0, 3.0, -1.0]), 10.0).tolist()
    [7.5, 2.5, 0.0]
    """
    falling = np.sort(noisy)[::-1]
    excess = (np.cumsum(falling) - total) / np.arange(1, len(noisy) + 1)
    level = excess[np.flatnonzero(falling > excess)[-1]]
    return np.asarray(np.maximum(noisy - level, 0.0))


def tree_counts(histograms: Sequence[Floats], widths: Floats, total: float, noise_std: float) -> Floats:
    """Counts >= 0 of the cells of a line that add up to `total`, from noisy `histograms`, finest first.

    Each node is divided between its halves as they were counted, as far as that is not noise. By default a half gets
    the share of its `widths`; a difference d from that is reduced by the factor 1 - v / d^2, where v is the variance of
    the noise in d. So cells that the noise does not tell apart share by their widths, and a heavy cell stands out
    however narrow it is.

    >>> tree_counts([np.array([90.0, 6.0, 0.0, 4.0])], np.ones(4), 100.0, 0.1).round().tolist()
    [90.0, 6.0, 0.0, 4.0]
    """
    levels = _node_estimates(histograms, noise_std)
    leaf_widths = np.zeros(2 ** len(levels))
    leaf_widths[: len(widths)] = widths
    parents = np.array([float(total)])
    for estimates, variances in reversed(levels):
        node_widths = leaf_widths.reshape(len(estimates), -1).sum(axis=1)
        left_share = node_widths[::2] / np.maximum(node_widths[::2] + node_widths[1::2], 1e-300)
        # The left half is known twice, from its own counts and as its parent less the right half: the mean of the two,
        # each by how precise it is.
        precision = variances[1::2] / np.maximum(variances[::2] + variances[1::2], 1e-300)
        left = precision * estimates[::2] + (1.0 - precision) * (parents - estimates[1::2])
        difference = left - left_share * parents
        factor = np.maximum(0.0, 1.0 - precision * variances[::2] / np.maximum(difference**2, 1e-300))
        left = np.clip(left_share * parents + factor * difference, 0.0, parents)
        parents = np.column_stack([left, parents - left]).ravel()
    return parents[: len(widths)]


def _node_estimates(histograms: Sequence[Floats], noise_std: float) -> list[tuple[Floats, Floats]]:
    """For each level of the tree but the root, leaves first: the estimated count of each node, and its variance.

    A node that is a cell of a histogram, and whose halves were counted too, has the weighted mean of both. Leaves
    beyond the last cell are empty, which is known without noise.
    """
    count = len(histograms[0])
    depth = max(1, (count - 1).bit_length())
    histogram_by_width = {BRANCHES**place: histogram for place, histogram in enumerate(histograms)}
    estimates, variances, levels = np.zeros(2**depth), np.zeros(2**depth), []
    for level in range(depth):
        if level:
            estimates, variances = (part.reshape(-1, 2).sum(axis=1) for part in (estimates, variances))
        histogram = histogram_by_width.get(2**level)
        if histogram is not None:
            cells = slice(0, len(histogram))
            precision = variances[cells] / (variances[cells] + noise_std**2) if level else 1.0
            estimates[cells] += precision * (histogram - estimates[cells])
            variances[cells] = noise_std**2 * precision
        levels.append((estimates, variances))
    return levels
