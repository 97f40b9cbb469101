"""DominatingPair: two laws that are at least as easy to tell apart as the outputs on any two neighbouring tables.

A mechanism's privacy is the hockey-stick curve of such a pair (Zhu, Dong and Wang 2022), and the curve of many releases
is that of the product of their pairs. Numeric accounting needs to know of a pair only the masses of both laws on
intervals of the privacy loss, and the errors of these numbers.

The first law is the one with the unit, the second the one without it. The pair dominates at *every* alpha >= 0, not
only from 1 on, so the reversed pair dominates when the unit is added (soundness, section 21).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Floats

UNIT = 2.0**-52
"""Twice the unit round-off of a float."""


@dataclass(frozen=True)
class Cells:
    """What both laws put on the loss intervals (edge[i], edge[i+1]], and bounds on the rounding errors.

    `q` is the mass of the second law; `q_scaled` the same times e^edge[i], kept apart because one
    of the two underflows when losses run into the hundreds.
    """

    p: Floats
    q: Floats
    q_scaled: Floats
    p_error: Floats
    q_error: Floats  # relative to q and to q_scaled alike
    """Both errors are relative."""


class DominatingPair(ABC):
    """Two laws P (unit present) and Q (unit absent) on one space; the loss is log(dP/dQ)."""

    @abstractmethod
    def cells(self, edges: Floats) -> Cells:
        """The masses between increasing losses; the first edge may be -inf, the last +inf."""

    @abstractmethod
    def loss_range(self, tail: float) -> tuple[float, float]:
        """Losses below and above which P has at most this mass (infinite losses apart)."""

    @abstractmethod
    def reverse(self) -> DominatingPair:
        """(Q, P): the unit is added instead of removed. A symmetric pair is its own reverse."""

    @abstractmethod
    def subsample(self, rate: float) -> DominatingPair:
        """(1 - rate) Q + rate P against Q: the unit takes part with this probability (below 1)."""

    @property
    def is_symmetric(self) -> bool:
        """Whether one pair stands for both directions: p(-l) = p(l) e^-l, and equal masses at both infinities."""
        return False

    @property
    def directions(self) -> tuple[DominatingPair, ...]:
        """Unit removed, unit added; one pair if it stands for both."""
        return (self,) if self.is_symmetric else (self, self.reverse())

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

    @property
    def unseen(self) -> float:
        """The Q-mass of outcomes that P cannot produce, with all that rounding took from Q; rounded up."""
        return 0.0


def cell_masses(
    tails: Floats, above: NDArray[np.bool_], weights: Floats, total: Floats
) -> tuple[Floats, Floats]:
    """Cell masses from tail masses at the edges, and their sums (the scale of the rounding error).

    `tails` holds at each edge the mass above it where `above` says so, else the mass below it;
    each cell's right edge is multiplied by its weight. `total` is the whole mass, scaled alike.
    """
    left, right = tails[:-1], tails[1:] * weights
    same = above[:-1] == above[1:]
    sign = np.where(above[:-1], 1.0, -1.0)
    mass = np.where(same, sign * (left - right), total - left - right)
    return np.maximum(mass, 0.0), np.where(same, left + right, total + left + right)
