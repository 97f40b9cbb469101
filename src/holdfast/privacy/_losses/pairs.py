"""The dominating pairs of Laplace and normal noise, of either on a Poisson sample, and of grids.

Zhu, Dong and Wang 2022, theorem 11: if (P, Q) dominates the mechanism when a unit is removed,
then ((1 - q) Q + q P, Q) dominates the subsampled one; when a unit is added the two change places.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from holdfast._arrays import Floats
from holdfast.errors import ParameterError, require
from holdfast.privacy._losses.atomic_pair import AtomicPair
from holdfast.privacy._losses.dominating_pair import UNIT, Cells, DominatingPair, cell_masses


class EvenNoise(DominatingPair):
    """Noise that is even in the shift: the loss has one law in both directions."""

    @property
    def is_symmetric(self) -> bool:
        """True: the noise is symmetric."""
        return True

    def reverse(self) -> DominatingPair:
        """The pair itself, which is symmetric."""
        return self

    def subsample(self, rate: float) -> DominatingPair:
        """The pair of the mixture."""
        return RemovedUnit(self, rate)


@dataclass(frozen=True)
class LaplacePair(EvenNoise):
    """Losses in [-ratio, ratio] with an atom at either end; symmetric."""

    ratio: float
    with_atoms: bool = True

    def cells(self, edges: Floats) -> Cells:
        """P of loss <= l is e^((l - ratio)/2)/2 inside, Q of it e^-((l + ratio)/2) away from 1."""
        r = self.ratio
        inside = np.clip(edges, -r, r)
        low, high = inside[:-1], inside[1:]
        width = high - low
        finite = np.isfinite(edges[:-1])
        left = np.where(finite, edges[:-1], 0.0)
        # P-density of the loss: e^((l - r)/2) / 4; Q-density e^(-(l + r)/2) / 4. No exponent is positive: `left` is
        # at most `low` where the width is not 0.
        share = -0.5 * np.expm1(-width / 2)
        with np.errstate(under="ignore"):
            p = share * np.exp((high - r) / 2)
            q = share * np.exp(-(low + r) / 2)
            q_scaled = share * np.exp(np.minimum(left - (low + r) / 2, 0.0)) * finite
        # An interval's width is known to a rounding error of its ends; an atom, which lies on one side, is not touched.
        ends = np.where(width > 0, (np.abs(low) + np.abs(high)) / np.maximum(width, 1e-300), 0.0)
        # An exponent below -750 leaves nothing; one above it is off by its size.
        error = np.minimum(UNIT * (8.0 + min(r, 750.0) + ends), 1.0)
        p_error = q_error = error
        if self.with_atoms:
            top = (edges[:-1] < r) & (edges[1:] >= r)
            bottom = (edges[:-1] < -r) & (edges[1:] >= -r)
            small = math.exp(-r)
            p_atoms, q_atoms = 0.5 * top + 0.5 * small * bottom, 0.5 * small * top + 0.5 * bottom
            with np.errstate(under="ignore"):
                q_atoms_scaled = (
                    0.5 * finite * (top * np.exp(np.minimum(left - r, 0.0)) + bottom * np.exp(-np.abs(left)))
                )
            p_error, q_error = _error_of_sum(error, p, p_atoms), _error_of_sum(error, q, q_atoms)
            p, q, q_scaled = p + p_atoms, q + q_atoms, q_scaled + q_atoms_scaled
        return Cells(p=p, q=q, q_scaled=q_scaled, p_error=p_error, q_error=q_error)

    def components(self) -> tuple[DominatingPair, ...]:
        """The density, and the two atoms."""
        masses = np.array([0.5, 0.5 * math.exp(-self.ratio)])
        ends = AtomicPair(np.array([self.ratio, -self.ratio]), masses, absent=0.0, is_measure=True)
        return LaplacePair(self.ratio, with_atoms=False), ends

    @property
    def lattice(self) -> float:
        """Where the atoms are."""
        return self.ratio

    def loss_range(self, tail: float) -> tuple[float, float]:
        """The ends of the support."""
        return -self.ratio, self.ratio


def _error_of_sum(error: Floats, density: Floats, atoms: Floats) -> Floats:
    """The relative error of a sum whose second term is exact to a few units."""
    total = density + atoms
    share = np.divide(density, total, out=np.zeros_like(total), where=total > 0)
    return np.asarray(np.minimum(error * share + 8.0 * UNIT, 1.0))


@dataclass(frozen=True)
class RangePair(EvenNoise):
    """Dominates every law whose log-ratios lie in an interval of this length: the exponential mechanism's.

    P of loss > l is (1 - e^((l - range)/2)) / (1 - e^-range) on [-range, range]: what delta(epsilon) of bounded range
    leaves for a loss, delta - delta' (`BoundedRange.delta`). The density of Laplace noise, larger, without its atoms.
    """

    range: float

    def cells(self, edges: Floats) -> Cells:
        """Laplace's inner cells, times 2 / (1 - e^-range)."""
        inner = LaplacePair(self.range, with_atoms=False).cells(edges)
        factor = -2.0 / math.expm1(-self.range)
        wider = np.minimum(inner.p_error + 4.0 * UNIT, 1.0)
        return Cells(
            p=factor * inner.p,
            q=factor * inner.q,
            q_scaled=factor * inner.q_scaled,
            p_error=wider,
            q_error=wider,
        )

    def loss_range(self, tail: float) -> tuple[float, float]:
        """The ends of the support."""
        return -self.range, self.range


@dataclass(frozen=True)
class NormalPair(EvenNoise):
    """The loss at x is mu x - mu^2 / 2; symmetric: both directions have the same curve."""

    mu: float

    def cells(self, edges: Floats) -> Cells:
        """Differences of normal tails, always of the smaller tail."""
        from scipy.special import erfcx, ndtr

        mu = self.mu
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            x = edges / mu + mu / 2
            away = x - mu
            # P: the smaller tail of N(mu, 1); its relative error grows with the exponent.
            p_tail = ndtr(-np.abs(away))
            # Q: the smaller tail of N(0, 1), and the same times e^loss = phi(x - mu) / phi(x).
            q_tail = ndtr(-np.abs(x))
            scaled = 0.5 * erfcx(np.abs(x) / np.sqrt(2.0)) * np.exp(-0.5 * away * away)
            scaled = np.where(np.isinf(edges), 0.0, scaled)
            unweighted = np.ones(edges.size - 1)
            p, p_size = cell_masses(p_tail, away > 0, unweighted, unweighted)
            q, q_size = cell_masses(q_tail, x > 0, unweighted, unweighted)
            step = np.where(np.isinf(edges[1:]), 0.0, np.exp(edges[:-1] - edges[1:]))
            whole = np.exp(np.minimum(edges[:-1], 700.0))
            q_scaled, s_size = cell_masses(scaled, x > 0, np.where(np.isneginf(edges[:-1]), 0.0, step), whole)
            trust = UNIT * (
                4.0 + np.maximum(np.minimum(np.abs(x[:-1]), 60.0), np.minimum(np.abs(x[1:]), 60.0)) ** 2
            )
            trust = np.where(np.abs(away[:-1]) < 60, np.maximum(trust, UNIT * (4.0 + away[:-1] ** 2)), trust)
            p_error = trust * p_size / np.maximum(p, 1e-320)
            q_error = trust * np.maximum(
                np.where(q > 1e-290, q_size / np.maximum(q, 1e-320), 0.0),
                np.where(q_scaled > 0, s_size / np.maximum(q_scaled, 1e-320), 0.0),
            )
        return Cells(
            p=p, q=q, q_scaled=q_scaled, p_error=np.minimum(p_error, 1.0), q_error=np.minimum(q_error, 1.0)
        )

    def loss_range(self, tail: float) -> tuple[float, float]:
        """Quantiles of the normal law, one unit further out."""
        from scipy.special import ndtri

        reach = 1.0 - float(ndtri(tail))
        return self.mu**2 / 2 - self.mu * reach, self.mu**2 / 2 + self.mu * reach


@dataclass(frozen=True)
class RemovedUnit(DominatingPair):
    """(1 - q) Q + q P against Q: the direction that is usually worse."""

    base: DominatingPair
    rate: float

    def __post_init__(self) -> None:
        _require_no_infinities(self.base)

    def reverse(self) -> DominatingPair:
        """The pair for adding the unit."""
        return AddedUnit(self.base, self.rate)

    def subsample(self, rate: float) -> DominatingPair:
        """The pair of a sample of the sample."""
        return RemovedUnit(self, rate)

    def _base_loss(self, losses: Floats) -> Floats:
        # loss = log(1 - q + q e^l), so l = log(1 + (e^loss - 1) / q); -inf below log(1 - q).
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            moderate = np.log1p(np.maximum(np.expm1(np.minimum(losses, 600.0)) / self.rate, -1.0))
            return np.where(losses > 600.0, losses - math.log(self.rate), moderate)

    def cells(self, edges: Floats) -> Cells:
        """The base pair's cells, mixed."""
        base_edges = self._base_loss(edges)
        base = self.base.cells(base_edges)
        q, rate = base.q, self.rate
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            p = (1.0 - rate) * q + rate * base.p
            finite = np.isfinite(base_edges[:-1])
            shift = np.where(finite, np.exp(np.where(finite, edges[:-1] - base_edges[:-1], 0.0)), 0.0)
            plain = np.where(np.isfinite(edges[:-1]), q * np.exp(np.minimum(edges[:-1], 700.0)), 0.0)
            scaled = np.where(finite & (edges[:-1] > 0), base.q_scaled * shift, plain)
        error = np.maximum(base.p_error, base.q_error) + 4 * UNIT
        return Cells(p=p, q=q, q_scaled=scaled, p_error=error, q_error=base.q_error + 4 * UNIT)

    def components(self) -> tuple[DominatingPair, ...]:
        """Those of the base pair, each subsampled."""
        return tuple(RemovedUnit(part, self.rate) for part in self.base.components())

    @property
    def crowd(self) -> float | None:
        """-log(1 - q): most of the mass crowds there when the unit is rarely sampled."""
        return -math.log1p(-self.rate) if self.rate < 1 else None

    def loss_range(self, tail: float) -> tuple[float, float]:
        """From log(1 - q) to the image of the base pair's range."""
        # Both terms of the mixture have a tail: the unit's, times the rate, and the others'.
        _, high = self.base.loss_range(min(tail / self.rate, 0.5))
        high = max(high, -self.base.reverse().loss_range(min(tail, 0.5))[0])
        low = math.log1p(-self.rate) if self.rate < 1 else self.base.loss_range(tail)[0]
        top = high + math.log(self.rate) if high > 600 else math.log1p(self.rate * math.expm1(high))
        return low, max(top + 1e-9 * abs(top), self.rate * 1e-3)


@dataclass(frozen=True)
class AddedUnit(DominatingPair):
    """Q against (1 - q) Q + q P: losses never exceed -log(1 - q)."""

    base: DominatingPair
    rate: float

    def __post_init__(self) -> None:
        _require_no_infinities(self.base)

    def reverse(self) -> DominatingPair:
        """The pair for removing the unit."""
        return RemovedUnit(self.base, self.rate)

    def subsample(self, rate: float) -> DominatingPair:
        """The pair of the mixture."""
        return RemovedUnit(self, rate)

    def cells(self, edges: Floats) -> Cells:
        """The base pair's cells in the opposite order."""
        # loss = -log(1 - q + q e^l): decreasing in l, so a cell (a, b] is the base cell [l(b), l(a)).
        as_symmetric = RemovedUnit(self.base, self.rate)._base_loss(-edges[::-1])
        base = self.base.cells(as_symmetric)
        p, rate = base.q[::-1], self.rate
        q = (1.0 - rate) * p + rate * base.p[::-1]
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = np.where(np.isfinite(edges[:-1]), q * np.exp(np.minimum(edges[:-1], 700.0)), 0.0)
        error = np.maximum(base.p_error, base.q_error)[::-1] + 4 * UNIT
        return Cells(p=p, q=q, q_scaled=scaled, p_error=base.q_error[::-1] + 4 * UNIT, q_error=error)

    def components(self) -> tuple[DominatingPair, ...]:
        """Those of the base pair, each subsampled."""
        return tuple(AddedUnit(part, self.rate) for part in self.base.components())

    @property
    def crowd(self) -> float | None:
        """-log(1 - q): most of the mass crowds there when the unit is rarely sampled."""
        return -math.log1p(-self.rate) if self.rate < 1 else None

    def loss_range(self, tail: float) -> tuple[float, float]:
        """Down to the image of the base's upper range under Q: minus the lower one of its reverse."""
        high = -self.base.reverse().loss_range(tail)[0]
        low = -high - math.log(self.rate) if high > 600 else -math.log1p(self.rate * math.expm1(high))
        top = -math.log1p(-self.rate) if self.rate < 1 else high
        return min(low, -self.rate * 1e-3), top


@dataclass(frozen=True)
class FixedSizePair(EvenNoise):
    """A sample without replacement, under replace: the positive losses of (1 - q) Q + q P against Q, and their mirror.

    What both sides leave of 1 is an atom at 0.
    """

    base: NormalPair
    rate: float

    @property
    def _mixture(self) -> RemovedUnit:
        return RemovedUnit(self.base, self.rate)

    def cells(self, edges: Floats) -> Cells:
        """The mixture's cells above 0, its cells with P and Q exchanged below, and the atom."""
        above = self._mixture.cells(np.maximum(edges, 0.0))
        below = self._mixture.cells(np.maximum(-edges[::-1], 0.0))
        left, is_negative = np.maximum(edges[:-1], -800.0), edges[:-1] < 0
        atom = self._rest * (is_negative & (edges[1:] >= 0))
        p, q = above.p + below.q[::-1] + atom, above.q + below.p[::-1] + atom
        with np.errstate(under="ignore"):
            q_scaled = np.where(is_negative, q * np.exp(np.minimum(left, 0.0)), above.q_scaled)
        # What is left of 1 is off by units of 1.
        of_atom = np.where(atom > 0, min(1.0, 64.0 * UNIT / max(self._rest, UNIT)), 0.0) + 4.0 * UNIT
        # Of a cell on the other side of 0 nothing is left, and nothing is said about its error.
        on_right = edges[1:] > 0
        p_error = np.where(is_negative, below.q_error[::-1], 0.0)
        q_error = np.where(is_negative, below.p_error[::-1], 0.0)
        p_error = np.maximum(p_error, np.where(on_right, above.p_error, 0.0)) + of_atom
        q_error = np.maximum(q_error, np.where(on_right, above.q_error, 0.0)) + of_atom
        return Cells(
            p=p,
            q=q,
            q_scaled=np.where(np.isneginf(edges[:-1]), 0.0, q_scaled),
            p_error=np.minimum(p_error, 1.0),
            q_error=np.minimum(q_error, 1.0),
        )

    @cached_property
    def _rest(self) -> float:
        """The mass of the atom at 0."""
        positive = self._mixture.cells(np.array([0.0, math.inf]))
        return max(0.0, 1.0 - float(positive.p[0]) - float(positive.q[0]))

    def subsample(self, rate: float) -> DominatingPair:
        """Refused: samples are taken of what is proved for adding or removing a unit."""
        raise ParameterError("a curve for exchanging a unit cannot be sampled again; subsample first")

    @property
    def lattice(self) -> float | None:
        """None: the atom at 0 lies on every grid."""
        return None

    def loss_range(self, tail: float) -> tuple[float, float]:
        """Up to the mixture's largest loss, and as far below 0."""
        high = self._mixture.loss_range(tail)[1]
        return -high, high


def _require_no_infinities(base: DominatingPair) -> None:
    """A mass that one law alone has needs an atom of its own: such pairs are sampled outcome by outcome."""
    require(
        base.infinity == 0 and base.unseen == 0,
        "base",
        base.infinity + base.unseen,
        "a pair of densities without a mass at infinity",
        "use base.subsample(rate)",
    )


@dataclass(frozen=True, eq=False)
class PairOfGrids(DominatingPair):
    """A pair that was rounded outwards once for each direction: the reverse of one is looser than the other.

    `forward` dominates (P, Q) and `backward` dominates (Q, P); one object twice if it stands for both.
    """

    forward: AtomicPair
    backward: AtomicPair

    def cells(self, edges: Floats) -> Cells:
        """The cells of the forward grid."""
        return self.forward.cells(edges)

    def loss_range(self, tail: float) -> tuple[float, float]:
        """The range of the forward grid."""
        return self.forward.loss_range(tail)

    @property
    def is_symmetric(self) -> bool:
        """Whether one grid stands for both directions."""
        return self.forward is self.backward

    def reverse(self) -> PairOfGrids:
        """The pair with the other grid first."""
        return PairOfGrids(self.backward, self.forward)

    def subsample(self, rate: float) -> PairOfGrids:
        """Each direction from its own grid."""
        return PairOfGrids(self.forward.subsample(rate), self.backward.reverse().subsample(rate).reverse())

    @property
    def lattice(self) -> float | None:
        """The spacing of the grid."""
        return self.forward.lattice

    @property
    def infinity(self) -> float:
        """The mass of the forward grid."""
        return self.forward.infinity

    @property
    def unseen(self) -> float:
        """The mass of the forward grid."""
        return self.forward.unseen
