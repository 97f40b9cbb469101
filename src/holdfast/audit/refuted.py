"""RefutedCurve: the trade-off curve that a one-run audit rules out, and what it contradicts.

A one-run audit shows that the best test goes below a curve *somewhere*, not where: a mechanism that is not
(epsilon, delta)-DP need not be worse than it at every false-alarm rate. So a proof is contradicted by it
only if the proved curve lies on or above the refuted one everywhere, since that proof would imply what was
refuted. (An attack, and a multi-run audit, give points; there one crossing is enough.)
"""

from __future__ import annotations

import math

import numpy as np

from holdfast.errors import require
from holdfast.privacy.tradeoff import TradeOff

_HAIR = 1.0 - 1e-6
"""Curves are drawn for a parameter this much below the refuted one, so that polygons may be rounded."""


class RefutedCurve(TradeOff):
    """A trade-off curve that no valid proof lies above.

    >>> from holdfast.privacy import GaussianDP, PureDP
    >>> audited = RefutedCurve.approximate(1.0, 1e-5, confidence=0.95)
    >>> audited.contradicts(PureDP(0.5).trade_off()), audited.contradicts(PureDP(2.0).trade_off())
    (True, False)
    >>> audited.contradicts(GaussianDP(0.5).trade_off())  # crosses it, but proves only epsilon 1.92 at 1e-5
    False
    """

    @classmethod
    def approximate(cls, epsilon: float, delta: float, *, confidence: float) -> RefutedCurve:
        """The curve of (epsilon, delta)-DP: two lines that meet on the diagonal."""
        slope, top = math.exp(min(epsilon * _HAIR, 690.0)), 1.0 - delta
        if epsilon == 0.0:
            return cls([0.0, 1.0], [1.0, 0.0], claim="audited", confidence=confidence)
        meet = top / (1.0 + slope)
        return cls([0.0, meet, top, 1.0], [top, meet, 0.0, 0.0], claim="audited", confidence=confidence)

    @classmethod
    def gaussian(cls, mu: float, *, confidence: float) -> RefutedCurve:
        """The curve of mu-GDP, by chords: a proof above the chords is above the curve."""
        from scipy.special import ndtr

        if mu == 0.0:
            return cls([0.0, 1.0], [1.0, 0.0], claim="audited", confidence=confidence)
        half = mu * _HAIR / 2.0
        middle = np.linspace(-9.0, 9.0, 361)  # thresholds; symmetric, so the polygon is its own mirror image
        inner = ndtr(middle - half)
        miss = ndtr(-middle - half)
        return cls(
            np.concatenate([[0.0], inner, [1.0]]), np.concatenate([[1.0], miss, [0.0]]),
            claim="audited", confidence=confidence,
        )  # fmt: skip

    def contradicts(self, proved: TradeOff, *, tolerance: float = 1e-12) -> bool:
        """Whether the proof implies the refuted curve: it lies on or above it at every false-alarm rate."""
        require(proved.claim == "proved", "proved.claim", proved.claim, "'proved'")
        if self.advantage() <= tolerance:
            return False  # nothing was refuted
        grid = np.union1d(self.false_alarm, proved.false_alarm)
        return all(proved.miss_at(float(x)) >= self.miss_at(float(x)) - tolerance for x in grid)
