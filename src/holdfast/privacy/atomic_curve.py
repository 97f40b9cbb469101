"""Curves of pairs with finitely many losses, by exact sums."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from holdfast.privacy.curve import PrivacyCurve
from holdfast.privacy.numeric.dominating_pair import Array, DominatingPair
from holdfast.privacy.numeric.pairs.atoms import AtomicPair


class AtomicCurve(PrivacyCurve):
    """delta(epsilon) = infinity + sum over losses above epsilon of p - e^epsilon q."""

    def atoms(self) -> tuple[AtomicPair, ...]:
        """The pairs of both directions, or of one if they agree."""
        raise NotImplementedError

    @cached_property
    def _tails(self) -> tuple[tuple[Array, Array, Array, float], ...]:
        """For each direction: losses, P and e^-loss-weighted P from each loss upwards, infinity."""
        out = []
        for pair in self.atoms():
            p = np.concatenate([np.cumsum(pair.masses[::-1])[::-1], [0.0]])
            with np.errstate(under="ignore", over="ignore"):
                q = np.concatenate([np.cumsum((pair.masses * np.exp(-pair.losses))[::-1])[::-1], [0.0]])
            out.append((pair.losses, p, q, pair.lost))
        return tuple(out)

    def delta(self, epsilon: float) -> float:
        """Exact up to rounding, which is added."""
        return float(self.deltas(np.array([epsilon]))[0])

    def deltas(self, epsilons: NDArray[np.float64]) -> NDArray[np.float64]:
        """The larger of both directions at each point."""
        worst = np.zeros(len(epsilons))
        for losses, p, q, lost in self._tails:
            place = np.searchsorted(losses, epsilons, side="right")
            with np.errstate(over="ignore", invalid="ignore"):
                weighted = np.where(place < losses.size, np.exp(np.minimum(epsilons, 700.0)) * q[place], 0.0)
            # 1e-14 of the tail: the rounding error of both sums.
            worst = np.maximum(worst, np.maximum(p[place] - weighted, 0.0) + 1e-14 * p[place] + lost)
        return np.asarray(np.minimum(worst, 1.0))

    def pairs(self) -> tuple[DominatingPair, ...] | None:
        """The atoms themselves."""
        return self.atoms()
