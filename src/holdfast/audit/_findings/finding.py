"""Finding: what an audit saw, a sufficient statistic that answers for its own bound, p-value and power.

A finding stores the statistic and not a bound, so that a reader can ask for any confidence. Two properties are kept
apart. `may_refute`: its test of the claim's whole curve is valid for every mechanism, so it may refute a claim.
`is_bound`: its epsilon is a confidence bound, for every mechanism or under assumptions that were checked; without it
the epsilon is only an estimate (soundness, section 22).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import ClassVar, Protocol

from holdfast._arguments import checked
from holdfast.audit._bounds.fdp import RefutedCurve
from holdfast.audit._bounds.signal import Signal
from holdfast.privacy._curves.curve import PrivacyCurve
from holdfast.privacy._tradeoff import TradeOff

LEAST_ERROR = 1e-100
"""No smaller p-value is told apart from this one."""


class Finding(Protocol):
    """The sufficient statistic of an audit."""

    kind: ClassVar[str]

    def __hash__(self) -> int:
        """Findings are frozen."""

    @property
    def group(self) -> int:
        """In how many records the worlds differ: a claim is held against it as the promise for such groups."""

    @property
    def canaries(self) -> int:
        """How many membership coins were flipped."""

    @property
    def guesses(self) -> int:
        """How many of them were guessed."""

    @property
    def correct(self) -> int:
        """How many guesses were right."""

    @property
    def may_refute(self) -> bool:
        """Whether its test of a claim is valid, so that it may refute one."""

    @property
    def is_bound(self) -> bool:
        """Whether its epsilon is a confidence bound: for every mechanism, or by assumptions that were checked."""

    def epsilon_lower(self, *, delta: float, confidence: float) -> float:
        """The bound at this delta; an estimate where the finding is not `is_bound`."""

    def p_value(self, claim: PrivacyCurve, *, delta: float) -> float:
        """The smallest error at which the claim is refuted; rounded up, 1 where it never is."""

    def trade_off(self, *, delta: float, confidence: float) -> TradeOff:
        """What is shown about the trade-off curve."""

    def power(
        self, claim: PrivacyCurve, *, delta: float, beta: float, signal: Signal, runs: int = 0
    ) -> float:
        """How probably this design refutes the claim at this error, where a canary shows like this."""

    def method(self) -> str:
        """How the bound is computed, in words."""


@checked
class FromEpsilon:
    """Findings whose audited curve follows from their bound on epsilon at one delta."""

    group: ClassVar[int] = 1

    def epsilon_lower(self, *, delta: float, confidence: float) -> float:
        """The bound at this `delta` that holds with this `confidence`."""
        raise NotImplementedError

    def trade_off(self, *, delta: float, confidence: float) -> TradeOff:
        """The curve of the largest (epsilon, `delta`) that is refuted with this `confidence`."""
        bound = self.epsilon_lower(delta=delta, confidence=confidence)
        return RefutedCurve.approximate(bound, delta, confidence=confidence)


def smallest_error(refuted: Callable[[float], bool]) -> float:
    """The smallest error at which a claim is refuted, where a larger error refutes more; rounded up.

    >>> round(smallest_error(lambda error: error >= 0.01), 6)
    0.01
    """
    low, high = math.log(LEAST_ERROR), math.log(1.0 - 1e-12)
    if not refuted(math.exp(high)):
        return 1.0
    if refuted(LEAST_ERROR):
        return LEAST_ERROR
    while high - low > 1e-9:
        middle = 0.5 * (low + high)
        if refuted(math.exp(middle)):
            high = middle
        else:
            low = middle
    return math.exp(high)
