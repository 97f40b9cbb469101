"""Pairs on finitely many outcomes: randomised response, discrete noise, a leak with some probability."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from holdfast.errors import require
from holdfast.privacy.numeric.dominating_pair import UNIT, Array, Cells, DominatingPair


@dataclass(frozen=True, eq=False)
class AtomicPair(DominatingPair):
    """Finitely many losses with their P-masses; Q has e^-loss times that. `lost` is the mass at infinity."""

    losses: Array
    masses: Array
    lost: float = 0.0
    step: float | None = None

    def __post_init__(self) -> None:
        order = np.argsort(self.losses, kind="stable")
        object.__setattr__(self, "losses", np.asarray(self.losses, dtype=np.float64)[order])
        object.__setattr__(self, "masses", np.asarray(self.masses, dtype=np.float64)[order])
        require(
            bool(np.all(np.isfinite(self.losses))), "losses", "...", "finite", "put the rest into infinity"
        )
        require(
            bool(np.all(self.masses >= 0)) and self.total < 1 + 1e-6,
            "masses",
            self.total,
            ">= 0 with a sum of at most 1",
        )

    @property
    def total(self) -> float:
        """All the mass; less than 1 only for lower bounds."""
        return float(np.sum(self.masses)) + self.lost

    def cells(self, edges: Array) -> Cells:
        """Sums over the atoms of each cell."""
        place = np.searchsorted(edges, self.losses, side="left") - 1  # in (edge[place], edge[place + 1]]
        inside = (place >= 0) & (place < edges.size - 1)
        place, losses, masses = place[inside], self.losses[inside], self.masses[inside]
        size = edges.size - 1

        def summed(weights: Array) -> Array:
            return np.asarray(np.bincount(place, weights=weights, minlength=size), dtype=np.float64)

        low = edges[:-1][place]
        with np.errstate(over="ignore", under="ignore"):
            q = summed(masses * np.exp(np.minimum(-losses, 700.0)))
            shrink = np.where(np.isfinite(low), np.exp(np.where(np.isfinite(low), low - losses, 0.0)), 0.0)
        # 256: masses given as exponentials carry the error of their exponent.
        error = UNIT * (256.0 + summed(np.ones(place.size)))
        return Cells(p=summed(masses), q=q, q_scaled=summed(masses * shrink), p_error=error, q_error=error)

    def loss_range(self, tail: float) -> tuple[float, float]:
        """Where the atoms with more than this mass in the tail lie."""
        above = np.cumsum(self.masses[::-1])[::-1]
        below = np.cumsum(self.masses)
        high = self.losses[above > tail]
        low = self.losses[below > tail]
        if high.size == 0 or low.size == 0:
            return 0.0, 0.0
        return float(low[0]), float(high[-1])

    @property
    def lattice(self) -> float | None:
        """As given."""
        return self.step

    @property
    def infinity(self) -> float:
        """The mass that Q cannot produce."""
        return self.lost
