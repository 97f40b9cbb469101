"""The Laplace mechanism's pair: two double exponentials, `ratio` apart in units of their scale."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from holdfast.privacy.numeric.dominating_pair import UNIT, Array, Cells, DominatingPair
from holdfast.privacy.numeric.pairs.atoms import AtomicPair


@dataclass(frozen=True)
class LaplacePair(DominatingPair):
    """Losses in [-ratio, ratio] with an atom at either end; symmetric."""

    ratio: float
    with_atoms: bool = True

    def cells(self, edges: Array) -> Cells:
        """P of loss <= l is e^((l - ratio)/2)/2 inside, Q of it e^-((l + ratio)/2) away from 1."""
        r = self.ratio
        inside = np.clip(edges, -r, r)
        low, high = inside[:-1], inside[1:]
        width = high - low
        # P-density of the loss: e^((l - r)/2) / 4; Q-density e^(-(l + r)/2) / 4.
        p = 0.5 * np.exp((low - r) / 2) * np.expm1(width / 2)
        q = -0.5 * np.exp(-(low + r) / 2) * np.expm1(-width / 2)
        top = (edges[:-1] < r) & (edges[1:] >= r)
        bottom = (edges[:-1] < -r) & (edges[1:] >= -r)
        if self.with_atoms:
            p = p + 0.5 * top + 0.5 * math.exp(-r) * bottom
            q = q + 0.5 * math.exp(-r) * top + 0.5 * bottom
        # An interval's width is known to a rounding error of its ends.
        error = UNIT * (
            8.0 + np.where(width > 0, (np.abs(low) + np.abs(high)) / np.maximum(width, 1e-300), 0.0)
        )
        finite = np.isfinite(edges[:-1])
        q_scaled = np.where(finite, q * np.exp(np.where(finite, np.minimum(edges[:-1], 700.0), 0.0)), 0.0)
        error = np.minimum(error, 1.0)
        return Cells(p=p, q=q, q_scaled=q_scaled, p_error=error, q_error=error)

    def components(self) -> tuple[DominatingPair, ...]:
        """The density, and the two atoms."""
        masses = np.array([0.5, 0.5 * math.exp(-self.ratio)])
        ends = AtomicPair(np.array([self.ratio, -self.ratio]), masses)
        return LaplacePair(self.ratio, with_atoms=False), ends

    @property
    def lattice(self) -> float:
        """Where the atoms are."""
        return self.ratio

    def loss_range(self, tail: float) -> tuple[float, float]:
        """The whole support."""
        return -self.ratio, self.ratio
