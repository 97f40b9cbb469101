"""Curves of finitely many privacy losses, by exact sums.

`FinitePair` is the curve of two laws on finitely many outcomes, such as k-ary randomised response;
`BoundedRange` that of the exponential mechanism, whose log-ratios lie in an interval of length epsilon.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from holdfast._arguments import checked
from holdfast._arrays import Floats
from holdfast._stored_fields import require_fields
from holdfast.errors import require
from holdfast.privacy._curves.curve import LEAST_DELTA, PrivacyCurve, PureDP
from holdfast.privacy._curves.square_of_mu import square_of_mu
from holdfast.privacy._losses.atomic_pair import AtomicPair
from holdfast.privacy._losses.dominating_pair import DominatingPair
from holdfast.privacy._losses.steps import group_pair, symmetric_envelope
from holdfast.privacy._rounding import round_up
from holdfast.privacy._tradeoff import Points


class AtomicCurve(PrivacyCurve):
    """delta(epsilon) = infinity + sum over losses above epsilon of p - e^epsilon q."""

    def atoms(self) -> AtomicPair:
        """The dominating pair, outcome by outcome."""
        raise NotImplementedError

    def delta(self, epsilon: float) -> float:
        """Delta by exact sums, with the rounding error added."""
        return float(self.deltas(np.array([epsilon]))[0])

    def deltas(self, epsilons: Points) -> Floats:
        """The larger of both directions at each point."""
        return np.maximum(*self.both_deltas(epsilons))

    def both_deltas(self, epsilons: Points) -> tuple[Floats, Floats]:
        """Each direction by its own sums."""
        removed = np.minimum(self.atoms().deltas(epsilons), 1.0)
        if self.atoms().is_symmetric:
            return removed, removed
        return removed, np.minimum(self._pair_of_addition.deltas(epsilons), 1.0)

    @cached_property
    def _pair_of_addition(self) -> AtomicPair:
        return self.atoms().reverse()

    def pair(self) -> DominatingPair | None:
        """The atoms themselves."""
        return self.atoms()


@checked
@dataclass(frozen=True, init=False, repr=False)
class BoundedRange(PureDP):
    """Log-ratios within an interval of length epsilon: pure epsilon, and an eighth of epsilon^2 in zCDP.

    The curve of the exponential mechanism (Dong, Durfee and Rogers 2020; Cesar and Rogers 2021).

    Parameters
    ----------
    epsilon : int, float or Fraction
        The length of the interval, >= 0.

    Examples
    --------
    >>> BoundedRange(1.0).as_zcdp()
    Fraction(1, 8)
    """

    # The worst law differs from one epsilon to the next, and the pair is above all of them.
    pair_is_tight = False

    def delta(self, epsilon: float) -> float:
        """(1 - e^-((e0 - epsilon) / 2))^2 / (1 - e^-e0), the worst of the pairs below (Dong, Durfee and Rogers 2020).

        A law with log-ratios in [t - e0, t] is post-processing of two outcomes, with log-ratios t and t - e0.
        Their delta is (1 - e^(t - e0)) (1 - e^(epsilon - t)) / (1 - e^-e0), largest half-way, at t = (e0 +
        epsilon) / 2.
        """
        own = round_up(self.as_pure())
        if epsilon >= own:
            return 0.0
        half_factor = -math.expm1((epsilon - own) / 2.0)
        return min(
            super().delta(epsilon),
            max(LEAST_DELTA, half_factor / -math.expm1(-own) * half_factor * (1 + 1e-14)),
        )

    def pair(self) -> DominatingPair:
        """The pair whose delta is the worst at every epsilon."""
        from holdfast.privacy._losses.pairs import RangePair

        own = round_up(self.as_pure())
        return RangePair(own) if own > 0 else super().pair()

    def as_zcdp(self) -> Fraction:
        """epsilon^2 / 8."""
        return self.as_pure() ** 2 / 8

    def as_gdp(self) -> Fraction:
        """mu = 2 Phi^-1(e^(eps/2) / (1 + e^(eps/2))): half the log-odds of pure epsilon.

        The two outcomes of `delta` have odds that are e^eps apart: p and q with logit p - logit q = eps, a
        corner that takes mu = Phi^-1(p) - Phi^-1(q). The logistic law has heavier tails than the normal one
        (van Zwet's order: Phi^-1(sigmoid(x)) is concave for x > 0), so mu is largest around even odds, logit p
        = eps/2 = -logit q. For small eps it is 0.627 eps, where zCDP says 0.5 eps.
        """
        return square_of_mu(round_up(self.as_pure() / 2))

    def renyi(self, order: float) -> float:
        """The smaller of the bounded-range and the pure bound."""
        return min(order * round_up(self.as_zcdp()), super().renyi(order))

    def group(self, size: int) -> PureDP:
        """A group of k has range k epsilon: k log-ratios, each in an interval of length epsilon."""
        return BoundedRange(size * self.as_pure())

    def __repr__(self) -> str:
        return f"BoundedRange(epsilon={float(self.bound):g})"


@dataclass(frozen=True, repr=False)
class FinitePair(AtomicCurve):
    """No test does better than between p, with the unit, and q, without it, in either direction.

    >>> round(FinitePair((0.75, 0.25), (0.25, 0.75)).epsilon(0.0), 6)
    1.098612
    """

    p: tuple[float, ...]
    q: tuple[float, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "p", tuple(float(x) for x in self.p))
        object.__setattr__(self, "q", tuple(float(x) for x in self.q))
        require(len(self.p) == len(self.q) > 0, "p", len(self.p), "as long as q, and not empty")
        for name, law in (("p", self.p), ("q", self.q)):
            require(min(law) >= 0 and abs(math.fsum(law) - 1) < 1e-9, name, law, "probabilities with sum 1")

    @cached_property
    def _atoms(self) -> AtomicPair:
        p, q = np.array(self.p), np.array(self.q)
        in_both = (p > 0) & (q > 0)
        with np.errstate(over="ignore"):
            losses = np.log(p[in_both]) - np.log(q[in_both])
        one_sided_masses = [float(np.sum(a[(a > 0) & (b == 0)])) for a, b in ((p, q), (q, p))]
        step = float(np.max(np.abs(losses), initial=0.0)) or None
        # Symmetric if exchanging the laws only exchanges outcomes.
        is_symmetric = sorted(zip(self.p, self.q, strict=True)) == sorted(zip(self.q, self.p, strict=True))
        return AtomicPair(
            losses,
            p[in_both],
            one_sided_masses[0],
            step,
            q[in_both],
            one_sided_masses[1],
            symmetric=is_symmetric,
            doubt=1e-13,
        )

    @classmethod
    def of(cls, pair: AtomicPair) -> FinitePair:
        """The curve of a pair of these outcomes."""
        p = np.concatenate([pair.masses, [pair.lost, 0.0]])
        q = np.concatenate([pair.second, [0.0, pair.unseen]])
        return cls(tuple(p.tolist()), tuple(q.tolist()))

    def atoms(self) -> AtomicPair:
        """Outcomes of p, with the unit, and q, without it."""
        return self._atoms

    def group(self, size: int) -> FinitePair:
        """The curve for chains of `size` steps, in the worst order of removals and additions."""
        require(isinstance(size, int) and size >= 1, "size", size, "a whole number >= 1")
        return self if size == 1 else FinitePair.of(group_pair(self._atoms, size))

    def either_way(self) -> FinitePair:
        """The symmetrised pair (soundness, section 21)."""
        return self if self._atoms.is_symmetric else FinitePair.of(symmetric_envelope([self._atoms]))

    def as_pure(self) -> Fraction | None:
        """The largest log-ratio, rounded up; None if one law has an outcome that the other has not."""
        if self._atoms.lost + self._atoms.unseen > 0:
            return None
        largest = float(np.max(np.abs(self._atoms.losses)))
        return Fraction(largest * (1 + 4e-16) + 4e-16 if largest > 0 else 0.0)

    def epsilon(self, delta: float) -> float:
        """The pure parameter at delta = 0."""
        pure = self.as_pure()
        if pure is not None and delta == 0.0:
            return float(pure)
        return min(super().epsilon(delta), math.inf if pure is None else float(pure))

    def as_zcdp(self) -> Fraction | None:
        """The bound that follows from the pure parameter."""
        pure = self.as_pure()
        return None if pure is None else pure**2 / 2

    def renyi(self, order: float) -> float:
        """The exact divergence, in the worse direction."""
        if order <= 1 or self._atoms.lost + self._atoms.unseen > 0:
            return math.inf
        worst = 0.0
        for pair in self._atoms.directions:
            exponents = np.log(pair.masses) + (order - 1) * pair.losses
            top = float(np.max(exponents))
            worst = max(worst, (top + math.log(float(np.sum(np.exp(exponents - top))))) / (order - 1))
        return worst * (1 + 1e-12) + 1e-14 / (order - 1)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> FinitePair:
        """The curve whose `to_json` wrote this data."""
        stored = require_fields(cls.__name__, data, ("p", "q"))
        return cls(tuple(stored["p"]), tuple(stored["q"]))

    def __repr__(self) -> str:
        return f"FinitePair({len(self.p)} outcomes)"
