"""Interactions of two columns: 6 x 6 (or 8 x 8) cells of equal released mass, made of the two columns' own axes.

Which columns pair up is read off shapes that are released already, so the choice costs nothing. Categories are ordered
by their released shape and then cut like numbers. The features of a pair are products of the two columns' centred
features: uncorrelated under independence, and without what the single columns say already.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Floats
from holdfast.learn._additive.basis import Axes, principal_axes
from holdfast.learn._additive.cells import ColumnCells

COARSE_LEVELS, FINE_LEVELS, MANY_ROWS = 6, 8, 60_000
"""Levels of a column in a pair: from so many rows on, more of them are seen."""
MOST_CANDIDATES, MOST_PAIRS = 60, 100
SIGNAL_PER_FEATURE = {
    "classes": {COARSE_LEVELS: 80.0, FINE_LEVELS: 12.0},
    "numbers": {COARSE_LEVELS: 22.0, FINE_LEVELS: 20.0},
}
ROWS_PER_FEATURE = 50.0
"""mu n beyond what main shapes need, and n, for each feature of pairs: below it, a pair is more noise than shape."""
MAIN_SIGNAL = {"classes": 1000.0, "numbers": 500.0}
"""What the main shapes need."""
FULL_PRICE, FULL_CAPACITY = 5.0, 0.3
"""A pair costs 5 sqrt(contrasts of one times contrasts of the other); columns rank by the energy's root times contrasts
to this power, since a column of two values has one contrast to vary with others and a line five."""


def pair_levels(rows: float) -> int:
    """How many levels a column has in pairs; `rows` is public or released."""
    return FINE_LEVELS if rows >= MANY_ROWS else COARSE_LEVELS


def paired_columns(
    importance: Floats, capacity: NDArray[np.int64], *, signal: float, rows: float, target: str = "classes"
) -> tuple[tuple[int, int], ...]:
    """Pairs of the columns with the largest released shapes, as many as the signal mu n and the rows pay for.

    `capacity` is how many levels a column can tell apart, less one; 0 keeps it out.

    >>> paired_columns(np.array([1.0, 3.0, 2.0]), np.array([5, 5, 5]), signal=3000.0, rows=20_000)
    ((1, 2),)
    """
    price = SIGNAL_PER_FEATURE[target][pair_levels(rows)]
    most = min((signal - MAIN_SIGNAL[target]) / price, rows / ROWS_PER_FEATURE)
    worth = np.sqrt(importance * (capacity > 0)) * np.maximum(capacity, 1.0) ** FULL_CAPACITY
    few = np.argsort(-worth, kind="stable")[:MOST_CANDIDATES]
    ranked = sorted(
        combinations([int(a) for a in few if worth[a] > 0], 2), key=lambda ab: -worth[ab[0]] * worth[ab[1]]
    )
    pairs, features = [], 0.0
    for a, b in ranked[:MOST_PAIRS]:
        features += FULL_PRICE * float(capacity[a] * capacity[b]) ** 0.5
        if features > most:
            break
        pairs.append((min(a, b), max(a, b)))
    return tuple(pairs)


def pair_capacity(cells: Sequence[ColumnCells], shares: Sequence[Floats], count: int) -> NDArray[np.int64]:
    """How many of the levels hold a released mass, less one; from the order of cells alone."""
    capacities = []
    for column, mass in zip(cells, shares, strict=True):
        flat = np.zeros((len(mass), 1))
        level_masses = level_mass(levels_of(column, mass, flat, count), mass, count)
        capacities.append(int(np.sum(level_masses > 0)) - 1)
    return np.array(capacities)


def levels_of(cells: ColumnCells, mass: Floats, shape: Floats, count: int) -> NDArray[np.uint8]:
    """The level of every cell: equal released mass, in the order of the line or of the released shape (cells, K).

    Missing numbers stand where their shape puts them among the line's levels: with the level whose shape is nearest.
    """
    direction = _first_direction(shape, mass)
    numbers = len(cells.middles) if cells.numeric else len(mass)
    order = np.arange(numbers) if cells.numeric else np.argsort(direction[:numbers], kind="stable")
    share = mass[order] / max(float(mass[order].sum()), 1e-300)
    middle = np.cumsum(share) - share / 2
    levels = np.zeros(len(mass), dtype=np.uint8)
    levels[order] = np.minimum(count - 1, np.floor(count * middle)).astype(np.uint8)
    if numbers < len(mass):
        means = [
            float(np.average(direction[:numbers][levels[:numbers] == level], weights=None))
            if (levels[:numbers] == level).any()
            else np.inf
            for level in range(count)
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


def level_mass(levels: NDArray[Any], shares: Floats, count: int) -> Floats:
    """The released mass of each level."""
    return np.asarray(np.bincount(levels, weights=shares, minlength=count), dtype=np.float64)


def pair_axes(
    pair: tuple[int, int],
    levels: tuple[NDArray[np.uint8], ...],
    shares: tuple[Floats, ...],
    *,
    scale: float,
    count: int,
) -> Axes:
    """Products of the two columns' axes over their levels, (levels^2, k)."""
    sides = []
    for column in pair:
        mass: Floats = level_mass(levels[column], shares[column], count)
        sides.append(principal_axes((column,), np.eye(count), mass, scale=1.0))
    left, right = sides
    variances: Floats = np.asarray(np.kron(left.variances, right.variances) / scale**2, dtype=np.float64)
    order = np.argsort(variances)[::-1]
    features: Floats = np.asarray(np.kron(left.features, right.features) / scale, dtype=np.float64)
    return Axes(pair, features[:, order], variances[order])
