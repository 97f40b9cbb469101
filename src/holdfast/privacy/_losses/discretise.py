"""From a dominating pair to losses on a grid, rounded outwards; and the spacing that a composition needs.

Upper: connect the dots (Doroshenko et al. 2022). Each cell keeps its P- and its Q-mass but moves
them to its two ends, so that every test gets better. Lower: each cell is merged into one outcome
(a post-processing) whose loss is then rounded down by as little as its borders can arrange.
Both errors are quadratic in the spacing h: connecting the dots adds at most h^2 / 8 per release to the
log-moment, times t (t + 1) at tilt t, so it moves epsilon by at most (t + 1) h^2 / 8 for each release,
t being the tilt at which delta is decided.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from holdfast._arrays import Floats
from holdfast.errors import require
from holdfast.privacy._losses.cumulants import Cumulants
from holdfast.privacy._losses.dominating_pair import UNIT, DominatingPair
from holdfast.privacy._losses.grid_losses import LARGEST_GRID, GridLosses

ACCURACY = 2e-5
"""The intended relative error of epsilon, at delta = 1e-6."""
_LOG_REFERENCE = math.log(1e6)
LARGEST_PART = 2**20
"""The points of one release, about, at most: rounding in more of them weighs more than a finer grid gains."""


def suitable_spacing(
    parts: Sequence[tuple[DominatingPair, int]], *, atom: float | None = None, points: int = LARGEST_PART
) -> float:
    """A spacing for these pairs, each used as often as said; an atom, if named, falls on the grid.

    The losses of one release get at most half of so many `points`.
    """
    atoms = [(*_coarse_cells(pair), times) for pair, times in parts]
    cumulants = Cumulants.of_atoms(atoms)
    count = sum(times for _, times in parts)
    _, _, variance = cumulants.moments(np.zeros(1))
    largest = max(float(np.max(np.abs(losses))) for _, losses, _ in cumulants.blocks)
    spread = max(math.sqrt(float(variance[0])), 1e-4 * largest, 1e-12)
    tilts = np.geomspace(1e-3, 1e3, 60) / spread
    log_moment, _, variances = cumulants.moments(tilts)
    # Chernoff: delta(epsilon) <= e^(K(t) - t epsilon): epsilon is about the least (K(t) + log 1/delta) / t.
    epsilons = (log_moment + _LOG_REFERENCE) / tilts
    best = int(np.argmin(epsilons))
    epsilon, tilt = max(float(epsilons[best]), 1e-3 * spread), float(tilts[best])
    spacing = math.sqrt(8.0 * ACCURACY * epsilon / (count * (tilt + 1.0)))
    # Never so coarse that the sum has fewer than a few hundred points, nor so fine that it does not fit.
    spacing = min(spacing, epsilon / 100.0)
    widest = max(high - low for low, high in (pair.loss_range(1e-28) for pair, _ in parts))
    width = 40.0 * math.sqrt(float(np.max(variances[: best + 1])))
    spacing = max(spacing, 2.0 * width / LARGEST_GRID, 2.0 * widest / points)
    if atom is not None and atom >= spacing:
        spacing = atom / math.ceil(atom / spacing)
    return spacing


def _coarse_cells(pair: DominatingPair) -> tuple[Floats, Floats]:
    """Masses and losses of about five hundred cells that widen with the distance from 0."""
    low, high = pair.loss_range(1e-18)
    reach = max(abs(low), abs(high), 1e-12)
    near = np.geomspace(1e-7, 1.0, 250) * reach
    edges = np.concatenate([[-np.inf], -near[::-1], [0.0], near])
    cells = pair.cells(edges)
    with np.errstate(divide="ignore", invalid="ignore"):
        lower = np.where(np.isfinite(edges[:-1]), edges[:-1], low)
        losses = np.where(cells.q_scaled > 0, lower + np.log(cells.p / cells.q_scaled), lower)
    losses = np.clip(np.where(np.isfinite(losses), losses, 0.0), np.maximum(lower, -reach), edges[1:])
    return cells.p, losses


TAIL = 1e-34
"""The P-mass that may be cut off above the grid; it counts as infinite loss."""
LOWER_TAIL = 1e-22
"""The P-mass that may lie below the grid; it is rounded up to the first grid point."""


def _grid_range(pair: DominatingPair, spacing: float, tail: float = TAIL) -> tuple[float, int, int]:
    spacing = float(spacing)
    require(0 < spacing < math.inf, "spacing", spacing, "> 0 and finite")
    low, high = pair.loss_range(LOWER_TAIL)[0], pair.loss_range(tail)[1]
    while (high - low) / spacing > LARGEST_GRID:
        spacing *= 2.0
    first = math.floor(low / spacing)
    last = max(math.ceil(high / spacing), first + 1)
    # A largest loss that rounding puts one digit above its grid point must not fall off: it would be infinite.
    return spacing, first, last if last * spacing >= high else last + 1


def upper(pair: DominatingPair, spacing: float, *, tail: float = TAIL) -> GridLosses:
    """A grid distribution that dominates the pair; losses rarer than `tail` may count as infinite."""
    spacing, first, last = _grid_range(pair, spacing, tail)
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
    spacing, first, last = _grid_range(pair, spacing)
    grid = np.arange(first - 1, last + 2, dtype=np.float64) * spacing
    masses = np.sum([_lower_masses(part, grid, spacing) for part in pair.components()], axis=0)
    infinity = max(0.0, pair.infinity * (1 - 8 * UNIT))
    error = _edge_error(grid) + 1.2e-11
    return GridLosses(spacing, first - 1, np.asarray(masses), infinity, loss_error=error, is_lower=True)


def _lower_masses(pair: DominatingPair, grid: Floats, spacing: float) -> Floats:
    borders = np.concatenate([grid - spacing / 2, [grid[-1] + spacing / 2]])
    # A cell around k h is merged; its ratio P/Q must be at least e^(k h) to be rounded down to k h.
    # Where the density falls, it is a little less: move the borders up by that little.
    p, at_grid, _ = _masses_at_grid(pair, borders, grid)
    with np.errstate(divide="ignore", invalid="ignore"):
        short = np.where(at_grid > 0, np.clip(1.0 - p / at_grid, 0.0, spacing), 0.0)
    lift = 1.02 * np.maximum(np.concatenate([[0.0], short]), np.concatenate([short, [0.0]]))
    p, at_grid, doubt = _masses_at_grid(pair, borders + np.minimum(lift, spacing / 4), grid)
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


def _masses_at_grid(pair: DominatingPair, borders: Floats, grid: Floats) -> tuple[Floats, Floats, Floats]:
    """For each cell P from below and Q e^(k h) from above, and how far both may be off."""
    cells = pair.cells(borders)
    at_grid = cells.q_scaled * np.exp(grid - borders[:-1]) * (1.0 + cells.q_error)
    return cells.p * (1.0 - cells.p_error), at_grid, cells.p_error + cells.q_error


def _edge_error(grid: Floats) -> float:
    """Losses of cell borders are computed to a few units in the last place."""
    return 8 * UNIT * (1.0 + float(np.max(np.abs(grid))))
