"""How fine a grid a composition needs.

Connecting the dots adds at most h^2 / 8 per release to the log-moment, times t (t + 1) at tilt t, so it
moves epsilon by at most (t + 1) h^2 / 8 for each release, t being the tilt at which delta is decided.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from holdfast.privacy.numeric.cumulants import Cumulants
from holdfast.privacy.numeric.dominating_pair import Array, DominatingPair
from holdfast.privacy.numeric.grid_losses import LARGEST_GRID

ACCURACY = 2e-5
"""The relative error in epsilon that is aimed at, at delta = 1e-6."""
_REFERENCE = math.log(1e6)


def suitable_spacing(
    parts: Sequence[tuple[DominatingPair, int]], *, atom: float | None = None, accuracy: float = ACCURACY
) -> float:
    """A spacing for these pairs, each used as often as said; an atom, if named, falls on the grid."""
    atoms = [(*_rough(pair), times) for pair, times in parts]
    cumulants = Cumulants.of_atoms(atoms)
    count = sum(times for _, times in parts)
    _, _, variance = cumulants.moments(np.zeros(1))
    largest = max(float(np.max(np.abs(losses))) for _, losses, _ in cumulants.blocks)
    spread = max(math.sqrt(float(variance[0])), 1e-4 * largest, 1e-12)
    tilts = np.geomspace(1e-3, 1e3, 60) / spread
    log_moment, _, variances = cumulants.moments(tilts)
    # Chernoff: delta(epsilon) <= e^(K(t) - t epsilon): epsilon is about the least (K(t) + log 1/delta) / t.
    epsilons = (log_moment + _REFERENCE) / tilts
    best = int(np.argmin(epsilons))
    epsilon, tilt = max(float(epsilons[best]), 1e-3 * spread), float(tilts[best])
    spacing = math.sqrt(8.0 * accuracy * epsilon / (count * (tilt + 1.0)))
    # Never so coarse that the sum has fewer than a few hundred points, nor so fine that it does not fit.
    spacing = min(spacing, epsilon / 100.0)
    widest = max(high - low for low, high in (pair.loss_range(1e-30) for pair, _ in parts))
    width = max(widest, 40.0 * math.sqrt(float(np.max(variances[: best + 1]))))
    spacing = max(spacing, 2.0 * width / LARGEST_GRID)
    if atom is not None and atom >= spacing:
        spacing = atom / math.ceil(atom / spacing)
    return spacing


def _rough(pair: DominatingPair) -> tuple[Array, Array]:
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
