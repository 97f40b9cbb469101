"""Interactions of two columns: 6 x 6 cells of equal released mass, made of the two columns' own axes.

Which columns pair up is read off shapes that are released already, so the choice costs nothing. Categories are ordered
by their released shape and then cut like numbers. The features of a pair are products of the two columns' centred
features: uncorrelated under independence, and without what the single columns say already.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from holdfast.learn.additive.basis import Axes, principal_axes
from holdfast.learn.additive.cells import ColumnCells

Floats = NDArray[np.float64]
LEVELS = 6
MOST_COLUMNS = 12
SIGNAL_PER_FEATURE = 30.0
"""mu n over the number of pair features: below it, a pair is more noise than shape."""


def paired_columns(importance: Floats, *, signal: float, allowed: NDArray[np.bool_]) -> tuple[tuple[int, int], ...]:
    """All pairs among the q columns with the largest released shapes, as many as the signal mu n pays for.

    >>> paired_columns(np.array([1.0, 3.0, 2.0]), signal=30.0 * 25, allowed=np.ones(3, dtype=bool))
    ((1, 2),)
    """
    ranked = [int(place) for place in np.argsort(-importance, kind="stable") if allowed[place]]
    ranked = [place for place in ranked if importance[place] > 0]
    most = min(MOST_COLUMNS, len(ranked))
    features = (LEVELS - 1) ** 2
    while most >= 2 and most * (most - 1) / 2 * features > signal / SIGNAL_PER_FEATURE:
        most -= 1
    return tuple((min(a, b), max(a, b)) for a, b in combinations(ranked[:most], 2)) if most >= 2 else ()


def levels_of(cells: ColumnCells, mass: Floats, shape: Floats) -> NDArray[np.uint8]:
    """The level of every cell: equal released mass, in the order of the line or of the released shape (cells, K).

    Missing numbers stand where their shape puts them among the line's levels: with the level whose shape is nearest.
    """
    direction = _first_direction(shape, mass)
    numbers = len(cells.middles) if cells.numeric else len(mass)
    order = np.arange(numbers) if cells.numeric else np.argsort(direction[:numbers], kind="stable")
    share = mass[order] / max(float(mass[order].sum()), 1e-300)
    middle = np.cumsum(share) - share / 2
    levels = np.zeros(len(mass), dtype=np.uint8)
    levels[order] = np.minimum(LEVELS - 1, np.floor(LEVELS * middle)).astype(np.uint8)
    if numbers < len(mass):
        means = [
            float(np.average(direction[:numbers][levels[:numbers] == level], weights=None))
            if (levels[:numbers] == level).any()
            else np.inf
            for level in range(LEVELS)
        ]
        levels[numbers:] = int(np.argmin(np.abs(np.array(means) - direction[numbers])))
    return levels


def _first_direction(shape: Floats, mass: Floats) -> Floats:
    """One number per cell: the shape itself, or along its main direction where there are several scores."""
    if shape.shape[1] == 1:
        return shape[:, 0]
    centred = shape - mass @ shape
    _, turn = np.linalg.eigh(centred.T @ (mass[:, None] * centred))
    return np.asarray(centred @ turn[:, -1])


def pair_axes(
    pair: tuple[int, int], levels: tuple[NDArray[np.uint8], ...], shares: tuple[Floats, ...], *, scale: float
) -> Axes:
    """Products of the two columns' axes over their levels, (LEVELS^2, k)."""
    sides = []
    for column in pair:
        mass = np.bincount(levels[column], weights=shares[column], minlength=LEVELS)
        sides.append(principal_axes((column,), np.eye(LEVELS), mass, scale=1.0))
    left, right = sides
    variances = np.kron(left.variances, right.variances) / scale**2
    order = np.argsort(variances)[::-1]
    return Axes(pair, np.kron(left.features, right.features)[:, order] / scale, variances[order])
