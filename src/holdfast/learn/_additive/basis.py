"""The features of one column: a slope and hats at four resolutions, or one-hot, turned so that they are uncorrelated.

Hats stand at quantiles of a released histogram, blended with the declared range so that rare places are not
forgotten: with u(c) the cumulated measure at cell c, m hats are linear in u between m equally spaced knots. The slope
is one in the values themselves: ranks flatten the tails, where a rare class has its rows. Features are centred and
turned to their principal axes under the released histogram; nothing here sees a row.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Floats
from holdfast.learn._additive.cells import ColumnCells

RESOLUTIONS = ((2, 4.0), (4, 1.5), (8, 1.0), (32, 0.7), (128, 0.5))
"""Knots, and the weight of the hats on them, the first being the slope: finer shapes must earn more to be seen, and
where hardly anything can be seen, a slope is what is left."""
UNIFORM_SHARE = 0.3
"""The share of the declared range itself in the measure whose quantiles the knots are."""
TAIL_DEVIATIONS = 3.0
"""Deviations under the released mass beyond which the slope ends: noise could have put mass there."""
NEGLIGIBLE_VARIANCE = 1e-9
"""Variances below it, and below this share of the largest, are rounding and nothing else."""


@dataclass(frozen=True, eq=False)
class Axes:
    """Features (cells, k) that are centred and uncorrelated under `mass`, largest variance first.

    `columns` are the one or two that they look at; `bands` numbers the axes by powers of two, for shrinkage. Axes of a
    `line` get finer; those of categories differ only in how many rows they tell apart.
    """

    columns: tuple[int, ...]
    features: Floats
    variances: Floats
    line: bool = False

    @property
    def bands(self) -> NDArray[np.int64]:
        """0, 1, 2, 2, 3, 3, 3, 3, ...: the resolution of each axis; a pair is one band."""
        if len(self.columns) == 2:
            return np.zeros(len(self.variances), dtype=np.int64)
        return np.asarray(np.floor(np.log2(np.arange(len(self.variances)) + 1.0)), dtype=np.int64)


def principal_axes(
    columns: tuple[int, ...], features: Floats, mass: Floats, *, scale: float, line: bool = False
) -> Axes:
    """Centre under the mass, divide by `scale`, turn."""
    centred = (features - mass @ features) / scale
    weighted = np.sqrt(mass)[:, None] * centred
    if weighted.shape[0] < weighted.shape[1]:
        # Fewer cells than features: the axes of the smaller Gram matrix say the same.
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


def column_features(cells: ColumnCells, mass: Floats) -> Floats:
    """Un-centred features of each cell."""
    if not cells.numeric:
        return np.eye(cells.count)
    numbers = len(cells.middles)
    on_line = mass[:numbers] / max(float(mass[:numbers].sum()), 1e-300)
    parts: list[Floats] = []
    for knots, weight in RESOLUTIONS:
        if parts and knots >= 4 * numbers:
            break  # the coarser hats already tell all cells apart
        parts.append(weight * _hats(on_line, cells.widths, min(knots, max(numbers, 2))))
    parts[0] = _slope(parts[0], cells.middles, on_line)
    hats = np.hstack(parts)
    if not cells.missing:
        return hats
    alone = np.zeros((1, hats.shape[1] + 1))
    alone[0, -1] = 1.0
    return np.vstack([np.hstack([hats, np.zeros((numbers, 1))]), alone])


def _slope(ranks: Floats, values: Floats, mass: Floats) -> Floats:
    """A slope in the values, of the variance that the slope in ranks has."""
    centred = values - mass @ values
    reach = TAIL_DEVIATIONS * float(np.sqrt(mass @ centred**2))
    bounded = np.clip(centred, -reach, reach)
    spread = float(mass @ (bounded - mass @ bounded) ** 2)
    if spread <= 0.0:  # one value has nearly all rows
        return ranks
    size = float(mass @ np.sum((ranks - mass @ ranks) ** 2, axis=1))
    return np.asarray(np.sqrt(size / spread) * bounded[:, None])


def _hats(mass: Floats, widths: Floats, knots: int) -> Floats:
    """(cells, knots): each cell between the two knots that are nearest in the cumulated measure."""
    capped = np.minimum(mass, 1.0 / knots)
    measure = (1.0 - UNIFORM_SHARE) * capped / max(
        float(capped.sum()), 1e-300
    ) + UNIFORM_SHARE * widths / widths.sum()
    middle = np.cumsum(measure) - measure / 2
    # The first and the last cell lie on the first and the last knot.
    reach = max(float(middle[-1] - middle[0]), 1e-300)
    place = (middle - middle[0]) / reach * (knots - 1)
    return np.asarray(np.maximum(0.0, 1.0 - np.abs(place[:, None] - np.arange(knots))))
