"""The features of one column: a slope and hat functions at four resolutions for numbers, one-hot for categories.

Hats are piecewise linear between knots, and the knots are quantiles of a measure that mixes the released histogram with
the declared range, so that places with few rows have knots too. The slope is linear in the values themselves: a slope
in ranks would flatten the tails, where a rare class has its rows. Features are centred and turned to their principal
axes under the released histogram, so that they are uncorrelated. Nothing here sees a row.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Floats
from holdfast.learn._additive.cells import ColumnCells

KNOTS_AND_WEIGHTS = ((2, 4.0), (4, 1.5), (8, 1.0), (32, 0.7), (128, 0.5))
"""For each resolution the number of knots and the weight of the hats on them; the first resolution is the slope. Finer
hats weigh less, so that a small budget sees slopes first."""
UNIFORM_SHARE = 0.3
"""The share of the declared range in the measure whose quantiles are the knots."""
TAIL_DEVIATIONS = 3.0
"""The slope is flat beyond this many standard deviations from the mean, because mass there may be only noise."""
NEGLIGIBLE_VARIANCE = 1e-9
"""Axes whose variance is below this share of the largest are due to rounding."""


@dataclass(frozen=True, eq=False)
class Axes:
    """Features (cells, k) of one column or of a pair, centred and uncorrelated, largest variance first.

    `columns` are the places of the one or two columns. Along a `line` later axes describe finer detail; those of
    categories only tell fewer rows apart.
    """

    columns: tuple[int, ...]
    features: Floats
    variances: Floats
    line: bool = False

    @property
    def bands(self) -> NDArray[np.int64]:
        """The band of each axis, 0, 1, 1, 2, 2, 2, 2, ...: axes of a band are shrunk together; a pair is one band."""
        if len(self.columns) == 2:
            return np.zeros(len(self.variances), dtype=np.int64)
        return np.asarray(np.floor(np.log2(np.arange(len(self.variances)) + 1.0)), dtype=np.int64)


def principal_axes(
    columns: tuple[int, ...], features: Floats, shares: Floats, *, scale: float, line: bool = False
) -> Axes:
    """The principal axes of `features` (cells, k) under the cells' `shares`, centred and divided by `scale`."""
    centred = (features - shares @ features) / scale
    weighted = np.sqrt(shares)[:, None] * centred
    if weighted.shape[0] < weighted.shape[1]:
        # With fewer cells than features the smaller Gram matrix has the same eigenvalues.
        values, left = np.linalg.eigh(weighted @ weighted.T)
        significant = values > NEGLIGIBLE_VARIANCE * max(float(values[-1]), 1e-6)
        values, left = values[significant], left[:, significant]
        turn = weighted.T @ left / np.sqrt(values)
    else:
        values, turn = np.linalg.eigh(weighted.T @ weighted)
        significant = values > NEGLIGIBLE_VARIANCE * max(float(values[-1]), 1e-6)
        values, turn = values[significant], turn[:, significant]
    order = np.argsort(values)[::-1]
    return Axes(columns, centred @ turn[:, order], values[order], line)


def column_features(cells: ColumnCells, shares: Floats) -> Floats:
    """The features (cells, k) of a column, not centred yet."""
    if not cells.numeric:
        return np.eye(cells.count)
    numbers = len(cells.middles)
    line_shares = shares[:numbers] / max(float(shares[:numbers].sum()), 1e-300)
    parts: list[Floats] = []
    for knots, weight in KNOTS_AND_WEIGHTS:
        if parts and knots >= 4 * numbers:
            break  # the coarser hats already tell all cells apart
        parts.append(weight * _hats(line_shares, cells.widths, min(knots, max(numbers, 2))))
    parts[0] = _slope(parts[0], cells.middles, line_shares)
    hats = np.hstack(parts)
    if not cells.missing:
        return hats
    missing_cell = np.zeros((1, hats.shape[1] + 1))
    missing_cell[0, -1] = 1.0
    return np.vstack([np.hstack([hats, np.zeros((numbers, 1))]), missing_cell])


def _slope(coarsest_hats: Floats, values: Floats, shares: Floats) -> Floats:
    """One feature, linear in the values of the cells and as variable as the coarsest hats, which it replaces."""
    centred = values - shares @ values
    reach = TAIL_DEVIATIONS * float(np.sqrt(shares @ centred**2))
    bounded = np.clip(centred, -reach, reach)
    variance = float(shares @ (bounded - shares @ bounded) ** 2)
    if variance <= 0.0:  # nearly all rows have one value
        return coarsest_hats
    hat_variance = float(shares @ np.sum((coarsest_hats - shares @ coarsest_hats) ** 2, axis=1))
    return np.asarray(np.sqrt(hat_variance / variance) * bounded[:, None])


def _hats(shares: Floats, widths: Floats, knots: int) -> Floats:
    """Hat functions (cells, knots), linear between equally spaced knots in the cumulated measure."""
    capped = np.minimum(shares, 1.0 / knots)
    measure = (1.0 - UNIFORM_SHARE) * capped / max(
        float(capped.sum()), 1e-300
    ) + UNIFORM_SHARE * widths / widths.sum()
    quantile = np.cumsum(measure) - measure / 2
    # The first and the last cell lie on the first and the last knot.
    reach = max(float(quantile[-1] - quantile[0]), 1e-300)
    position = (quantile - quantile[0]) / reach * (knots - 1)
    return np.asarray(np.maximum(0.0, 1.0 - np.abs(position[:, None] - np.arange(knots))))
