"""AtomicPair: two laws on finitely many outcomes, as of randomised response, of discrete noise, or of a leak.

Nothing is rounded to a grid here. Products, Poisson samples and reverses of such pairs are such pairs again, exact up
to the last digits, which are rounded up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from holdfast._arrays import Floats
from holdfast.errors import require
from holdfast.privacy._losses.dominating_pair import UNIT, Cells, DominatingPair

MOST_ATOMS = 2**17
"""More outcomes than this are never listed: a product goes to a grid instead."""
_MERGE_TOLERANCE = 4e-13  # relative: losses that are closer than this are one outcome


@dataclass(frozen=True, eq=False)
class AtomicPair(DominatingPair):
    """Finitely many losses with their P-masses; `others` are the Q-masses, e^-loss times that unless given.

    `lost` is the P-mass of outcomes that Q cannot produce, `absent` the Q-mass of those that P cannot produce:
    what is missing from Q's sum, unless given. `is_measure`: bounds on two laws, or parts of them, whose sums are
    not 1.

    >>> leak = AtomicPair(np.array([1.0, -1.0]), np.array([0.7, 0.2575]), 0.0425)
    >>> round(leak.unseen, 4), round(leak.reverse().infinity, 4)
    (0.0425, 0.0425)
    """

    losses: Floats
    masses: Floats
    lost: float = 0.0
    step: float | None = None
    others: Floats | None = None
    absent: float | None = None
    symmetric: bool = False
    is_measure: bool = False
    doubt: float = 1e-14
    """How far sums of masses may be off, relative to them, and times 1 + |loss| through the loss itself."""

    def __post_init__(self) -> None:
        order = np.argsort(self.losses, kind="stable")
        losses = np.asarray(self.losses, dtype=np.float64)[order]
        masses = np.asarray(self.masses, dtype=np.float64)[order]
        if losses.size == 0:  # nothing shared: all mass is at the infinities
            losses, masses, order = np.zeros(1), np.full(1, 1e-300), np.zeros(1, dtype=np.int64)
            object.__setattr__(self, "others", masses)
        require(bool(np.all(np.isfinite(losses))), "losses", "...", "finite", "put the rest into infinity")
        require(bool(np.all(masses >= 0)), "masses", "...", ">= 0")
        if self.others is None:
            with np.errstate(under="ignore", over="ignore"):
                others = masses * np.exp(np.minimum(-losses, 700.0))
        else:
            others = np.asarray(self.others, dtype=np.float64)[order]
        for name, value in (("losses", losses), ("masses", masses), ("others", others)):
            object.__setattr__(self, name, value)
        missing = 1.0 - float(np.sum(others))
        if self.absent is None:
            object.__setattr__(self, "absent", max(0.0, missing + 8 * UNIT))
        if not self.is_measure:
            # Both laws sum to one; the second one's sum may only exceed it by rounding.
            for name, total in (("masses", self.total), ("others", 1.0 - missing + self.unseen)):
                require(abs(total - 1) < 1e-6, name, total, "probabilities with sum 1, infinity included")

    @property
    def total(self) -> float:
        """All the P-mass."""
        return float(np.sum(self.masses)) + self.lost

    def cells(self, edges: Floats) -> Cells:
        """Sums over the atoms of each cell."""
        place = np.searchsorted(edges, self.losses, side="left") - 1  # in (edge[place], edge[place + 1]]
        inside = (place >= 0) & (place < edges.size - 1)
        place, losses, masses = place[inside], self.losses[inside], self.masses[inside]
        size = edges.size - 1

        def sum_per_cell(weights: Floats) -> Floats:
            return np.asarray(np.bincount(place, weights=weights, minlength=size), dtype=np.float64)

        low = edges[:-1][place]
        with np.errstate(over="ignore", under="ignore"):
            q = sum_per_cell(masses * np.exp(np.minimum(-losses, 700.0)))
            shrink = np.where(np.isfinite(low), np.exp(np.where(np.isfinite(low), low - losses, 0.0)), 0.0)
        # 256: masses given as exponentials carry the error of their exponent.
        error = self.doubt + UNIT * (256.0 + sum_per_cell(np.ones(place.size)))
        return Cells(
            p=sum_per_cell(masses), q=q, q_scaled=sum_per_cell(masses * shrink), p_error=error, q_error=error
        )

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
    def second(self) -> Floats:
        """The Q-masses."""
        assert self.others is not None
        return self.others

    @property
    def is_symmetric(self) -> bool:
        """Whether the pair was declared symmetric."""
        return self.symmetric

    @property
    def directions(self) -> tuple[AtomicPair, ...]:
        """Unit removed, unit added; one pair if it stands for both."""
        return (self,) if self.symmetric else (self, self.reverse())

    @property
    def lattice(self) -> float | None:
        """The step that was given."""
        return self.step

    @property
    def infinity(self) -> float:
        """The mass that Q cannot produce."""
        return self.lost

    @property
    def unseen(self) -> float:
        """The mass that P cannot produce."""
        assert self.absent is not None
        return self.absent

    def reverse(self) -> AtomicPair:
        """Both laws exchanged, losses and masses at infinity with them."""
        if self.symmetric:
            return self
        return AtomicPair(
            -self.losses,
            self.second,
            self.unseen,
            self.step,
            self.masses,
            self.lost,
            is_measure=self.is_measure,
            doubt=self.doubt,
        )

    def subsample(self, rate: float) -> AtomicPair:
        """The pair of a Poisson sample, atom by atom; outcomes of Q alone get the finite loss log(1 - rate)."""
        q = np.append(self.second, self.unseen)
        p = (1.0 - rate) * q + rate * np.append(self.masses, 0.0)
        losses = np.append(_sampled_losses(self.losses, rate), math.log1p(-rate))
        is_possible = p > 0
        lost, doubt = rate * self.lost, self.doubt + 4 * UNIT
        return AtomicPair(
            losses[is_possible],
            p[is_possible],
            lost,
            None,
            q[is_possible],
            0.0,
            is_measure=self.is_measure,
            doubt=doubt,
        )

    def as_symmetric(self) -> AtomicPair:
        """Declared symmetric, with the larger of both masses, where it is so up to rounding; else itself."""
        reverse_pair = self.reverse()
        agreements = [
            np.allclose(own, other, rtol=1e-12, atol=1e-12)
            for own, other in (
                (self.losses, reverse_pair.losses),
                (self.masses, reverse_pair.masses),
                (self.lost, reverse_pair.lost),
            )
        ]
        if not all(agreements):
            return self
        masses = np.maximum(self.masses, reverse_pair.masses)
        return AtomicPair(
            self.losses, masses, self.lost, self.step, absent=self.lost, symmetric=True, is_measure=True
        )

    # The hockey-stick curve of one direction.

    @cached_property
    def _tails(self) -> tuple[Floats, Floats]:
        """The P- and Q-masses from each loss upwards, and 0 after the last."""
        p, q = (np.concatenate([np.cumsum(law[::-1])[::-1], [0.0]]) for law in (self.masses, self.second))
        return p, q

    def deltas(self, epsilons: Floats) -> Floats:
        """An upper bound on delta in this direction: the rounding error is added."""
        tail = self._tails[0][np.searchsorted(self.losses, epsilons, side="right")]
        doubt = self.doubt * (1.0 + np.minimum(np.abs(epsilons), 700.0)) * tail
        return np.asarray(self.heights(epsilons) + doubt)

    def heights(self, epsilons: Floats) -> Floats:
        """infinity + the sum over losses above epsilon of p - e^epsilon q, up to rounding."""
        p, q = self._tails
        place = np.searchsorted(self.losses, epsilons, side="right")
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = np.exp(np.minimum(epsilons, 700.0)) * q[place]
            weighted = np.where(place < self.losses.size, scaled, 0.0)
        return np.asarray(np.maximum(p[place] - weighted, 0.0) + self.lost)


def response_pair(loss: float, high: float, low: float, lost: float = 0.0) -> AtomicPair:
    """Randomised response, and a leak of the answer with probability `lost` on either side."""
    losses, masses = np.array([loss, -loss]), np.array([high, low])
    return AtomicPair(losses, masses, lost, loss, masses[::-1].copy(), lost, symmetric=True)


def _sampled_losses(losses: Floats, rate: float) -> Floats:
    """log(1 - rate + rate e^l)."""
    with np.errstate(over="ignore", under="ignore"):
        small = np.log1p(rate * np.expm1(np.minimum(losses, 30.0)))
        large = losses + math.log(rate) + np.log1p((1.0 - rate) / rate * np.exp(-np.maximum(losses, 30.0)))
    return np.asarray(np.where(losses > 30.0, large, small))


def product_pair(parts: Sequence[tuple[AtomicPair, int]]) -> AtomicPair | None:
    """The pair of all releases together, each as often as said; None if it would have too many outcomes.

    >>> coin = AtomicPair(np.array([1.0, -1.0]), np.array([0.7310586, 0.2689414]))
    >>> product_pair([(coin, 3)]).losses.tolist()
    [-3.0, -1.0, 1.0, 3.0]
    """
    # Multisets of n outcomes out of k, in logs: the numbers themselves may have millions of digits.
    logs = (
        math.lgamma(times + pair.losses.size) - math.lgamma(pair.losses.size) - math.lgamma(times + 1)
        for pair, times in parts
    )
    if sum(logs) > math.log(MOST_ATOMS):
        return None
    product: AtomicPair | None = None
    for pair, times in parts:
        power = _product_power(pair, times)
        product = power if product is None else _product(product, power)
    return product


def _product_power(pair: AtomicPair, times: int) -> AtomicPair:
    """The product of a pair with itself, so many times, by repeated squaring."""
    if times == 1:
        return pair
    half = _product_power(pair, times // 2)
    square = _product(half, half)
    return square if times % 2 == 0 else _product(square, pair)


def _product(first: AtomicPair, second: AtomicPair) -> AtomicPair:
    """The product of two pairs: losses add up, masses multiply, and outcomes of nearly equal losses are merged."""
    losses = np.add.outer(first.losses, second.losses).ravel()
    masses = np.multiply.outer(first.masses, second.masses).ravel()
    others = np.multiply.outer(first.second, second.second).ravel()
    order = np.argsort(losses, kind="stable")
    losses, masses, others = losses[order], masses[order], others[order]
    size = 1.0 + float(np.max(np.abs(losses)))
    # The losses of one outcome lie in a cell of this width; the merged one has the largest of them.
    cell = np.floor(losses / (_MERGE_TOLERANCE * size))
    starts = np.flatnonzero(np.append(True, np.diff(cell) > 0))
    losses = losses[np.append(starts[1:], losses.size) - 1]
    masses, others = np.add.reduceat(masses, starts), np.add.reduceat(others, starts)
    return AtomicPair(
        losses,
        masses,
        _probability_of_either(first.lost, second.lost),
        None,
        others,
        _probability_of_either(first.unseen, second.unseen),
        symmetric=first.symmetric and second.symmetric,
        is_measure=True,
        doubt=first.doubt + second.doubt + 1.01 * _MERGE_TOLERANCE * size + 8 * UNIT,
    )


def _probability_of_either(first: float, second: float) -> float:
    """The probability that at least one of two independent events happens, rounded up."""
    neither = math.log1p(-min(first, 1 - UNIT)) + math.log1p(-min(second, 1 - UNIT))
    return min(1.0, -math.expm1(neither) * (1 + 4 * UNIT))
