"""From a pair to a grid, rounded outwards.

Upper: connect the dots (Doroshenko et al. 2022). Each cell keeps its P- and its Q-mass but moves
them to its two ends, so that every test gets better. Lower: each cell is merged into one outcome
(a post-processing) whose loss is then rounded down by as little as its borders can arrange.
Both errors are quadratic in the spacing.
"""

from __future__ import annotations

import math

import numpy as np

from holdfast.privacy.numeric.dominating_pair import UNIT, Array, DominatingPair
from holdfast.privacy.numeric.grid_losses import LARGEST_GRID, GridLosses

TAIL = 1e-34
"""P-mass cut off above; it is charged to infinity."""
LOWER_TAIL = 1e-22
"""P-mass cut off below; it is rounded up to where the grid begins."""


def _grid(pair: DominatingPair, spacing: float) -> tuple[float, int, int]:
    low, high = pair.loss_range(LOWER_TAIL)[0], pair.loss_range(TAIL)[1]
    while (high - low) / spacing > LARGEST_GRID:
        spacing *= 2.0
    return spacing, math.floor(low / spacing), max(math.ceil(high / spacing), math.floor(low / spacing) + 1)


def upper(pair: DominatingPair, spacing: float) -> GridLosses:
    """A grid distribution that dominates the pair."""
    spacing, first, last = _grid(pair, spacing)
    grid = np.arange(first, last + 1, dtype=np.float64) * spacing
    cells = pair.cells(np.concatenate([[-np.inf], grid, [np.inf]]))
    p = np.minimum(cells.p * (1.0 + cells.p_error), 1.0)
    inner, q_scaled = p[1:-1], (cells.q_scaled * (1.0 - cells.q_error))[1:-1]
    # Doroshenko et al. 2022: in (e, e + h] put (P - Q e^e) / (1 - e^-h) at e + h and the rest at e.
    to_end = np.clip((inner - q_scaled) / -math.expm1(-spacing), 0.0, inner)
    masses = np.zeros(grid.size)
    masses[1:] += to_end
    masses[:-1] += inner - to_end
    masses[0] += p[0]  # what lies below the grid is rounded up to its first point
    infinity = min(1.0, (pair.infinity + float(p[-1])) * (1 + 8 * UNIT))
    return GridLosses(spacing, first, masses, infinity, loss_error=_edge_error(grid))


def lower(pair: DominatingPair, spacing: float) -> GridLosses:
    """A grid distribution that the pair dominates: the sum of one for each component."""
    spacing, first, last = _grid(pair, spacing)
    grid = np.arange(first - 1, last + 2, dtype=np.float64) * spacing
    masses = np.sum([_lower_masses(part, grid, spacing) for part in pair.components()], axis=0)
    infinity = max(0.0, pair.infinity * (1 - 8 * UNIT))
    error = _edge_error(grid) + 1.2e-11
    return GridLosses(spacing, first - 1, np.asarray(masses), infinity, loss_error=error, is_lower=True)


def _lower_masses(pair: DominatingPair, grid: Array, spacing: float) -> Array:
    borders = np.concatenate([grid - spacing / 2, [grid[-1] + spacing / 2]])
    # A cell around k h is merged; its ratio P/Q must be at least e^(k h) to be rounded down to k h.
    # Where the density falls, it is a little less: move the borders up by that little.
    p, at_grid, _ = _merged(pair, borders, grid)
    with np.errstate(divide="ignore", invalid="ignore"):
        short = np.where(at_grid > 0, np.clip(1.0 - p / at_grid, 0.0, spacing), 0.0)
    lift = 1.02 * np.maximum(np.concatenate([[0.0], short]), np.concatenate([short, [0.0]]))
    p, at_grid, doubt = _merged(pair, borders + np.minimum(lift, spacing / 4), grid)
    surplus = p - at_grid  # P - e^(k h) Q
    fits = surplus >= -np.minimum(2 * doubt + 1e-13, 1e-11) * at_grid
    masses = np.where(fits, np.minimum(p, at_grid), 0.0)
    # The surplus of a cell at k may be used by leaning its atom away from k - 1: Q grows by x at k and
    # shrinks by x at k - 1, which lowers the hockey-stick curve only between the two. At most half of
    # what lies at k - 1 is used; the rest of the surplus is dropped.
    up = 1.0 / -math.expm1(-spacing)
    stays = masses.copy()
    lean = np.minimum(np.where(fits, np.maximum(surplus, 0.0), 0.0)[1:], 0.5 * stays[:-1] / (up - 1.0))
    masses[1:] += lean * up
    masses[:-1] -= lean * (up - 1.0)
    # What does not fit leans away from k + 1 in the same way, as far as a third of what lies there goes ...
    with np.errstate(divide="ignore", invalid="ignore"):
        wanted = np.where(fits, 0.0, -surplus)[:-1] * up
        share = np.where(wanted > 0, np.minimum(1.0, stays[1:] / (3.0 * wanted)), 0.0)
    masses[1:] -= share * wanted
    masses[:-1] += share * (at_grid[:-1] + wanted * math.exp(-spacing))
    # ... and the rest goes one point down, where its ratio is high enough: it lies above (k - 1/2) h.
    rest = np.where(fits, 0.0, 1.0 - np.concatenate([share, [0.0]]))
    masses[:-1] += (rest * np.minimum(p, at_grid * math.exp(-spacing)))[1:]
    return np.maximum(masses * (1.0 - 8 * UNIT), 0.0)


def _merged(pair: DominatingPair, borders: Array, grid: Array) -> tuple[Array, Array, Array]:
    """For each cell P from below and Q e^(k h) from above, and how far both may be off."""
    cells = pair.cells(borders)
    at_grid = cells.q_scaled * np.exp(grid - borders[:-1]) * (1.0 + cells.q_error)
    return cells.p * (1.0 - cells.p_error), at_grid, cells.p_error + cells.q_error


def _edge_error(grid: Array) -> float:
    """Losses of cell borders are computed to a few units in the last place."""
    return 8 * UNIT * (1.0 + float(np.max(np.abs(grid))))
