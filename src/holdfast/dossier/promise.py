"""How sure an attacker can become: the promise in people's terms.

An attacker weighs two worlds, with and without the data of one unit. Seeing the release moves their odds by
e^L, where L is the privacy loss of what they saw. Pure DP bounds L always; any other curve bounds it except
with a small probability, which has to be said with it.

The promise of several releases about the same people, taken together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from holdfast.errors import require
from holdfast.privacy.curves.curve import PrivacyCurve
from holdfast.privacy.guarantee import Guarantee
from holdfast.release import Release


def together(releases: Sequence[Release[Any]]) -> Guarantee:
    """One guarantee for all of them; `AdjacencyError` where they speak of different neighbours or units.

    A release of a ledger's account promises the limit of that account (or of its share), which covers every
    entry charged to it. So a release whose entries are among those of another one of the same account adds
    nothing; all others compose.
    """
    kept: list[Release[Any]] = []
    for one in releases:
        if any(_covers(other, one) for other in kept):
            continue
        kept = [*(other for other in kept if not _covers(one, other)), one]
    total = kept[0].guarantee
    for one in kept[1:]:
        total = total.compose(one.guarantee)
    return total.assuming(*(text for one in releases for text in one.guarantee.assumptions))


def _covers(wide: Release[Any], narrow: Release[Any]) -> bool:
    """Whether the first one's promise was charged with everything that the second one saw."""
    made, other = wide.provenance, narrow.provenance
    return (
        bool(made.account)
        and made.account == other.account
        and bool(other.entries)
        and set(other.entries) <= set(made.entries)
        and (wide.guarantee.adjacency, wide.guarantee.unit)
        == (narrow.guarantee.adjacency, narrow.guarantee.unit)
    )


_POINTS = 240


@dataclass(frozen=True, kw_only=True)
class Sureness:
    """Odds grow by at most e^`loss`, except with probability `failure` (over the noise, in either world).

    >>> from holdfast.privacy import PureDP
    >>> bound = Sureness.of(PureDP(1.0))
    >>> bound.failure, round(bound.after(0.5), 3)
    (0.0, 0.732)
    """

    loss: float
    failure: float

    @classmethod
    def of(cls, curve: PrivacyCurve, *, failure: float | None = None) -> Sureness:
        """Without exception where the curve is pure, else with at most this probability of an exception.

        By default one in a million, or the next power of ten that is well above what the curve may fail with.
        """
        require(failure is None or 0 < failure < 1, "failure", failure, "in (0, 1)")
        if curve.as_pure() is not None and curve.total_variation + curve.failure == 0:
            return cls(loss=curve.epsilon(0.0), failure=0.0)
        chosen = usual_failure(curve) if failure is None else failure
        return cls(loss=loss_tail(curve, chosen), failure=chosen)

    def after(self, prior: float) -> float:
        """How sure at most, of whoever was this sure before; rounded up to a tenth of a per cent."""
        require(0 < prior < 1, "prior", prior, "in (0, 1)")
        if math.isinf(self.loss):
            return 1.0
        odds = math.log(prior / (1 - prior)) + self.loss
        return min(1.0, math.ceil(1000.0 / (1.0 + math.exp(-odds)) - 1e-9) / 1000.0)


def usual_failure(curve: PrivacyCurve) -> float:
    """One in a million, or the first power of ten of which less than half is outright failure of the curve.

    >>> from holdfast.privacy import ApproxDP, GaussianDP
    >>> usual_failure(GaussianDP(1.0)), usual_failure(ApproxDP(1.0, 1e-6))
    (1e-06, 1e-05)
    """
    powers = [float(f"1e{place}") for place in range(-6, 0)]
    return next((power for power in powers if math.isfinite(curve.epsilon(power / 2))), powers[-1])


def loss_tail(curve: PrivacyCurve, failure: float) -> float:
    """The least l for which |L| > l is proved to have probability at most `failure`, in both worlds.

    From delta(e) = E[(1 - e^(e-L))+] follows P[L > l] <= delta(e) / (1 - e^(e-l)) for every e < l; in the same
    world -L > l has probability at most e^-l times as much. Both together are at most `failure` where
    e^-l <= (failure - delta(e)) / (delta(e) + failure e^e). Each e gives a valid l; the best of many is taken.
    """
    first = curve.epsilon(failure)
    if math.isinf(first):
        return math.inf
    last = curve.epsilon(failure * 1e-6)
    last = first + 10.0 if math.isinf(last) else last
    epsilons = np.unique(np.concatenate([np.linspace(first, max(last, first), _POINTS), [last]]))
    best = math.inf
    for epsilon, delta in zip(epsilons.tolist(), curve.deltas(epsilons).tolist(), strict=True):
        if delta < failure and epsilon < 600:
            room = (failure - delta) / (delta + failure * math.exp(epsilon))
            best = min(best, -math.log(room) * (1 + 1e-12))
    return best
