"""Dominating pairs: two laws that are as easy to tell apart as any two neighbouring runs.

A mechanism's privacy is the hockey-stick curve of such a pair (Zhu, Dong and Wang 2022), and the
curve of many releases is that of the product of their pairs. All that the numeric core asks of a
pair is how much mass both laws put on intervals of the privacy loss, and how sure that number is.
`AtomicPair` has finitely many outcomes: randomised response, discrete noise, a leak with some probability.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import require

Array = NDArray[np.float64]
UNIT = 2.0**-52
"""Twice the unit round-off of a float."""


@dataclass(frozen=True)
class Cells:
    """What both laws put on the loss intervals (edge[i], edge[i+1]], and bounds on the rounding errors.

    `q` is the mass of the second law; `q_scaled` the same times e^edge[i], kept apart because one
    of the two underflows when losses run into the hundreds.
    """

    p: Array
    q: Array
    q_scaled: Array
    p_error: Array
    q_error: Array  # relative to q and to q_scaled alike
    """Both errors are relative."""


class DominatingPair(ABC):
    """Two laws P and Q on one space; the loss is log(dP/dQ)."""

    @abstractmethod
    def cells(self, edges: Array) -> Cells:
        """The masses between increasing losses; the first edge may be -inf, the last +inf."""

    @abstractmethod
    def loss_range(self, tail: float) -> tuple[float, float]:
        """Losses below and above which P has at most this mass (infinite losses apart)."""

    def components(self) -> tuple[DominatingPair, ...]:
        """The pair as a sum of measures, atoms apart from densities: a lower bound treats them apart."""
        return (self,)

    @property
    def lattice(self) -> float | None:
        """A number of which every atom's loss is a multiple, if there is one: a good spacing divides it."""
        return None

    @property
    def crowd(self) -> float | None:
        """The size of a loss around which a density is so high that it had better be on the grid."""
        return None

    @property
    def infinity(self) -> float:
        """The P-mass of outcomes that Q cannot produce, rounded up."""
        return 0.0


def between(tails: Array, above: NDArray[np.bool_], weights: Array, total: Array) -> tuple[Array, Array]:
    """Cell masses from tail masses at the edges, and their sums (the scale of the rounding error).

    `tails` holds at each edge the mass above it where `above` says so, else the mass below it;
    each cell's right edge is multiplied by its weight. `total` is the whole mass, scaled alike.
    """
    left, right = tails[:-1], tails[1:] * weights
    same = above[:-1] == above[1:]
    sign = np.where(above[:-1], 1.0, -1.0)
    mass = np.where(same, sign * (left - right), total - left - right)
    return np.maximum(mass, 0.0), np.where(same, left + right, total + left + right)


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
