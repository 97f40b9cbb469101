"""The features of a pair of columns: products of the features of each column's levels.

In a pair each column is cut into 6 or 8 levels of about equal released mass, so that a pair has 36 or 64 cells. Numbers
are cut in their own order, and categories in the order of their released shape. The features of a pair are products of
features that are centred in each column. They are uncorrelated where the two columns are independent, and leave out
what a single column already says. Everything here is computed from released numbers.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Codes, Floats
from holdfast.learn._additive.basis import Axes, principal_axes
from holdfast.learn._additive.cells import ColumnCells

CellLevels = NDArray[np.uint8]
"""The level of each cell of a column."""


def cell_levels(cells: ColumnCells, shares: Floats, shape: Floats, count: int) -> CellLevels:
    """The level, 0 to `count` - 1, of each cell of a column; `shape` has one row per cell.

    Missing numbers join the level of numbers whose mean shape is nearest to theirs.
    """
    values = _main_direction(shape, shares)
    ordinary = len(cells.middles) if cells.numeric else len(shares)
    order = np.arange(ordinary) if cells.numeric else np.argsort(values[:ordinary], kind="stable")
    ordered_shares = shares[order] / max(float(shares[order].sum()), 1e-300)
    quantiles = np.cumsum(ordered_shares) - ordered_shares / 2
    levels = np.zeros(len(shares), dtype=np.uint8)
    levels[order] = np.minimum(count - 1, np.floor(count * quantiles)).astype(np.uint8)
    if ordinary < len(shares):
        means = [
            float(np.average(values[:ordinary][levels[:ordinary] == level]))
            if (levels[:ordinary] == level).any()
            else np.inf
            for level in range(count)
        ]
        levels[ordinary:] = int(np.argmin(np.abs(np.array(means) - values[ordinary])))
    return levels


def _main_direction(shape: Floats, shares: Floats) -> Floats:
    """One number per cell: the shape of a single score, or several scores along their first principal axis."""
    if shape.shape[1] == 1:
        return shape[:, 0]
    centred = shape - shares @ shape
    _, axes = np.linalg.eigh(centred.T @ (shares[:, None] * centred))
    return np.asarray(centred @ axes[:, -1])


def level_shares(levels: NDArray[np.integer], shares: Floats, count: int) -> Floats:
    """The released share of rows in each level."""
    return np.asarray(np.bincount(levels, weights=shares, minlength=count), dtype=np.float64)


def contrast_counts(columns: Sequence[ColumnCells], shares: Sequence[Floats], count: int) -> Codes:
    """For each column how many of its levels have rows, by released shares, less one."""
    contrasts = []
    for cells, column_shares in zip(columns, shares, strict=True):
        no_shape = np.zeros((len(column_shares), 1))
        levels = cell_levels(cells, column_shares, no_shape, count)
        contrasts.append(int(np.sum(level_shares(levels, column_shares, count) > 0)) - 1)
    return np.array(contrasts)


def pair_axes(
    pair: tuple[int, int],
    levels: Sequence[CellLevels],
    shares: Sequence[Floats],
    *,
    scale: float,
    count: int,
) -> Axes:
    """The features of one pair, (count^2, k), divided by `scale`; largest variance first.

    `levels` and `shares` are those of all columns, of which `pair` names two by their places.
    """
    left, right = (
        principal_axes(
            (column,), np.eye(count), level_shares(levels[column], shares[column], count), scale=1.0
        )
        for column in pair
    )
    variances: Floats = np.asarray(np.kron(left.variances, right.variances) / scale**2, dtype=np.float64)
    order = np.argsort(variances)[::-1]
    features: Floats = np.asarray(np.kron(left.features, right.features) / scale, dtype=np.float64)
    return Axes(pair, features[:, order], variances[order])
