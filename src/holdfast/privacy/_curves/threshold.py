"""The curve of noisy counts of which only those above a threshold are released (soundness, section 25).

A unit gives its keys. Of a key that others have, too, the noisy count moves; a key that nobody else has can only be
seen with the unit, and only if its noisy count passes the threshold. Which of its keys are new, an attacker may choose.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import numpy as np

from holdfast.errors import require
from holdfast.privacy._curves.curve import ApproxDP, PrivacyCurve, PureDP
from holdfast.privacy._curves.gaussian import GaussianDP
from holdfast.privacy._rounding import Number, as_written, round_up

_PARTS = 48
"""In so many parts the range of the share of new keys is cut, each counted at its worse end."""
_SLACK = 1.0 + 1e-12


@dataclass(frozen=True, repr=False)
class ThresholdCurve(PrivacyCurve):
    """The larger of what known keys and new keys tell, at the worst share of new keys.

    Known keys cost `pure`, or `mu` of normal noise; all keys of a unit being new, one of them is released with
    probability `new`. With a share f of them new: 1 - (1 - new)^f, and (1 - f) pure or sqrt(1 - f) mu. An account of
    (epsilon, delta) counts it at `charged`, an epsilon.

    >>> ThresholdCurve(0, 1, 1e-6, 1, 1).delta(1.0) == 1e-6 * (1 + 1e-12)
    True
    """

    mu: Number
    pure: Number
    new: Number
    most: int
    """How many keys a unit has at most."""
    charged: Number

    def __post_init__(self) -> None:
        require(0 <= self.mu <= self.LARGEST, "mu", self.mu, ">= 0 and finite")
        require(0 <= self.pure <= self.LARGEST, "pure", self.pure, ">= 0 and finite")
        require(
            (self.mu > 0) != (self.pure > 0), "mu", self.mu, "above 0 where pure is 0, and 0 where it is not"
        )
        require(0 <= self.new < 1, "new", self.new, "in [0, 1)")
        require(isinstance(self.most, int) and self.most >= 1, "most", self.most, "a whole number >= 1")
        require(0 < self.charged <= self.LARGEST, "charged", self.charged, "> 0 and finite")

    @cached_property
    def _parts(self) -> list[tuple[PrivacyCurve, float]]:
        """For each part of the range of f: the curve of the known keys, and the chance that a new one is released."""
        ends = [(0.0, 0.0), (1.0, 1.0)]
        if self.most > 1:
            borders = np.linspace(1.0 / self.most, 1.0, _PARTS + 1).tolist()
            ends += list(pairwise(borders))
        lost = math.log1p(-round_up(self.new))
        return [(self._known(1.0 - low), min(1.0, -math.expm1(high * lost) * _SLACK)) for low, high in ends]

    def _known(self, share: float) -> PrivacyCurve:
        if self.pure > 0:
            return PureDP(as_written(self.pure) * Fraction(share))
        return GaussianDP(round_up(self.mu) * math.sqrt(share) * _SLACK)

    def delta(self, epsilon: float) -> float:
        """The maximum over the shares of new keys, and over removing and adding the unit."""
        return max_rule(self._parts, epsilon)

    def as_approximate(self) -> tuple[Fraction, Fraction]:
        """At the epsilon that it is charged at."""
        return as_written(self.charged), Fraction(self.delta(round_up(self.charged)))

    def group(self, size: int) -> PrivacyCurve:
        """By its (epsilon, delta): a group of h units makes a key with a count of h, which passes more often."""
        return ApproxDP(*self.as_approximate()).group(size)

    def to_replace(self) -> PrivacyCurve:
        """Two steps."""
        return self.group(2)

    def __repr__(self) -> str:
        known = f"epsilon={float(self.pure):g}" if self.pure > 0 else f"mu={float(self.mu):g}"
        return f"ThresholdCurve({known}, new={float(self.new):.3g})"


def max_rule(parts: Sequence[tuple[PrivacyCurve, float]], epsilon: float) -> float:
    """The largest delta of any part: a curve for known keys, and the chance that a new key is released.

    Removing the unit: what shows a new key is certain, the rest is likelier without the unit by 1 / (1 - chance).
    Adding it: the other way round.
    """
    largest = 0.0
    for known, chance in parts:
        if chance >= 1.0:
            return 1.0
        shift = -math.log1p(-chance)
        removed = chance + (1.0 - chance) * known.delta(epsilon + shift)
        moved = epsilon - shift
        # Below 0 by symmetry: H_a(Q|P) = 1 - a + a H_(1/a)(P|Q) with a = e^moved, and known keys look alike both ways.
        added = (
            known.delta(moved) if moved >= 0 else -math.expm1(moved) + math.exp(moved) * known.delta(-moved)
        )
        largest = max(largest, removed, added)
    return min(1.0, largest)
