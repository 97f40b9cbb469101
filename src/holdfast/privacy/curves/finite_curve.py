"""Curves of finitely many privacy losses, by exact sums.

`FinitePair` is the curve of two laws on finitely many outcomes, such as k-ary randomised response;
`BoundedRange` that of the exponential mechanism, whose log-ratios lie in an interval of length epsilon.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import require
from holdfast.privacy.curves.curve import PrivacyCurve, PureDP
from holdfast.privacy.losses.dominating_pair import Array, AtomicPair, DominatingPair


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


@dataclass(frozen=True, init=False, repr=False)
class BoundedRange(PureDP):
    """Pure epsilon, and an eighth of epsilon^2 in zCDP (Dong, Durfee and Rogers 2020; Cesar and Rogers 2021).

    >>> BoundedRange(1.0).as_zcdp()
    Fraction(1, 8)
    """

    pairs_are_tight = False  # its pure pair ignores that the range is bounded

    def as_zcdp(self) -> Fraction:
        """epsilon^2 / 8; in the Gaussian currency only the pure conversion is proved."""
        return self.as_pure() ** 2 / 8

    def renyi(self, order: float) -> float:
        """The better of the bounded-range and the pure bound."""
        from holdfast.privacy.rounding import round_up

        return min(order * round_up(self.as_zcdp()), super().renyi(order))

    def group(self, size: int) -> PureDP:
        """A group of k has range k epsilon: k log-ratios, each in an interval of length epsilon."""
        return BoundedRange(size * self.as_pure())

    def __repr__(self) -> str:
        return f"BoundedRange(epsilon={float(self.bound):g})"


@dataclass(frozen=True, repr=False)
class FinitePair(AtomicCurve):
    """No test does better than between p and q, in either direction.

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
    def _atoms(self) -> tuple[AtomicPair, ...]:
        ways = tuple(_atomic(np.array(a), np.array(b)) for a, b in ((self.p, self.q), (self.q, self.p)))
        same = ways[0].losses.shape == ways[1].losses.shape and all(
            bool(np.allclose(a, b, rtol=1e-15, atol=0))
            for a, b in ((ways[0].losses, ways[1].losses), (ways[0].masses, ways[1].masses))
        )
        return ways[:1] if same and ways[0].lost == ways[1].lost else ways

    def atoms(self) -> tuple[AtomicPair, ...]:
        """Both directions, or one if they agree."""
        return self._atoms

    def as_pure(self) -> Fraction | None:
        """The largest log-ratio, rounded up; None if one law has an outcome that the other has not."""
        if any(pair.lost > 0 for pair in self._atoms):
            return None
        largest = max(float(np.max(np.abs(pair.losses))) for pair in self._atoms)
        return Fraction(largest * (1 + 4e-16) + 4e-16 if largest > 0 else 0.0)

    def epsilon(self, delta: float) -> float:
        """The pure parameter at delta = 0."""
        pure = self.as_pure()
        if pure is not None and delta == 0.0:
            return float(pure)
        return min(super().epsilon(delta), math.inf if pure is None else float(pure))

    def as_zcdp(self) -> Fraction | None:
        """From the pure parameter."""
        pure = self.as_pure()
        return None if pure is None else pure**2 / 2

    def renyi(self, order: float) -> float:
        """The exact divergence, in the worse direction."""
        if order <= 1 or any(pair.lost > 0 for pair in self._atoms):
            return math.inf
        worst = 0.0
        for pair in self._atoms:
            keep = pair.masses > 0
            exponents = np.log(pair.masses[keep]) + (order - 1) * pair.losses[keep]
            top = float(np.max(exponents))
            worst = max(worst, (top + math.log(float(np.sum(np.exp(exponents - top))))) / (order - 1))
        return worst * (1 + 1e-12) + 1e-14 / (order - 1)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> FinitePair:
        """The curve of these fields."""
        return cls(tuple(data["p"]), tuple(data["q"]))

    def __repr__(self) -> str:
        return f"FinitePair({len(self.p)} outcomes)"


def _atomic(p: np.ndarray[Any, np.dtype[np.float64]], q: np.ndarray[Any, np.dtype[np.float64]]) -> AtomicPair:
    shared = (p > 0) & (q > 0)
    lost = float(np.sum(p[(p > 0) & (q == 0)]))
    if not np.any(shared):
        return AtomicPair(np.zeros(1), np.full(1, 1e-300), lost)  # nothing shared: all is lost
    losses = np.log(p[shared] / q[shared])
    return AtomicPair(losses, p[shared], lost, float(np.max(np.abs(losses))) or None)
