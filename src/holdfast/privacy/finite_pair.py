"""The curve of two laws on finitely many outcomes, such as k-ary randomised response."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from holdfast.errors import require
from holdfast.privacy.atomic_curve import AtomicCurve
from holdfast.privacy.numeric.pairs.atoms import AtomicPair


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
