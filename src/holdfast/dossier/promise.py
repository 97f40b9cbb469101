"""The promise in people's terms: what several releases together promise, and how sure an attacker can become.

An attacker weighs two possibilities, with and without the data of one unit. Seeing the release moves their odds by
e^L, where L is the privacy loss of what they saw. Pure DP bounds L always; any other curve bounds it except with a
small probability, which has to be said with it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from holdfast.dossier.charts import curves
from holdfast.dossier.charts.curves import CurvePoints
from holdfast.dossier.section import Section, six_digits
from holdfast.errors import require
from holdfast.privacy.adjacency import Adjacency
from holdfast.privacy.curves.curve import PrivacyCurve
from holdfast.privacy.guarantee import Guarantee
from holdfast.release import Release

DELTAS = (1e-3, 1e-5, 1e-6, 1e-9)
PRIORS = (0.01, 0.1, 0.5, 0.9)
CHANGE = {
    Adjacency.replace: "replaced by someone else's",
    Adjacency.zero_out: "blanked out",
    Adjacency.add_remove: "in the table at all",
}
"""What each adjacency compares, as the end of a sentence about 'the data of one unit were ...'."""
NEIGHBOURS = {
    Adjacency.replace: "that unit's data are changed",
    Adjacency.zero_out: "that unit's data are blanked out",
    Adjacency.add_remove: "that unit is added or removed",
}
_POINTS = 240


@dataclass(frozen=True, kw_only=True)
class SureAfter(Section):
    """How sure at most, of whoever was `prior` sure before."""

    prior: float
    at_most: float


@dataclass(frozen=True, kw_only=True)
class Sure(Section):
    """How sure an attacker can become, except with probability `failure`."""

    failure: float
    loss: float | None
    after: tuple[SureAfter, ...]

    @property
    def half(self) -> float:
        """How sure at most, of whoever was 50 % sure before."""
        return next(row.at_most for row in self.after if row.prior == 0.5)


@dataclass(frozen=True, kw_only=True)
class PromisePoint(Section):
    """One point of the privacy curve."""

    delta: float
    epsilon: float | None


@dataclass(frozen=True, kw_only=True)
class Promise(Section):
    """What all releases together promise, in words and in numbers; `guarantee` is its stored form."""

    guarantee: Mapping[str, Any]
    curve: str
    adjacency: str
    neighbours: str
    unit: str
    unit_is_row: bool
    change: str
    theorem: str
    assumptions: tuple[str, ...]
    guess: float
    sure: Sure
    points: tuple[PromisePoint, ...]
    curve_points: CurvePoints
    private: bool
    strict: bool


def promise(releases: Sequence[Release[Any]]) -> Promise:
    """What is promised, by all releases together, in words and in numbers."""
    guarantee = together(releases)
    curve = guarantee.curve
    sure = Sureness.of(curve)
    return Promise(
        guarantee=stored_guarantee(guarantee),
        curve=repr(curve),
        adjacency=guarantee.adjacency.value,
        neighbours=NEIGHBOURS[guarantee.adjacency],
        unit=guarantee.unit.summary(),
        unit_is_row=guarantee.unit.column is None,
        change=CHANGE[guarantee.adjacency],
        theorem=guarantee.theorem,
        assumptions=guarantee.assumptions,
        guess=up_to(curve.trade_off().guess()),
        sure=Sure(
            failure=sure.failure,
            loss=six_digits(sure.loss),
            after=tuple(SureAfter(prior=prior, at_most=sure.after(prior)) for prior in PRIORS),
        ),
        points=tuple(
            PromisePoint(delta=delta, epsilon=six_digits(curve.epsilon(delta))) for delta in _deltas(curve)
        ),
        curve_points=curves.sampled_curves([("proved", curve)]),
        private=all(one.private for one in releases),
        strict=all(one.provenance.arithmetic == "strict" for one in releases),
    )


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


@dataclass(frozen=True, kw_only=True)
class Sureness:
    """Odds grow by at most e^`loss`, except with probability `failure` (with the unit's data and without).

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
        if curve.as_pure() is not None and not curve.has_slack:
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
    """The least l for which |L| > l is proved to have probability at most `failure`, with the unit's data and without.

    From delta(e) = E[(1 - e^(e-L))+] follows P[L > l] <= delta(e) / (1 - e^(e-l)) for every e < l; in the same
    case -L > l has probability at most e^-l times as much. Both together are at most `failure` where
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


def up_to(probability: float) -> float:
    """An upper bound to a tenth of a per cent, rounded up.

    >>> up_to(0.54701)
    0.548
    """
    return min(1.0, math.ceil(1000 * probability - 1e-9) / 1000)


def stored_guarantee(guarantee: Guarantee) -> Mapping[str, Any]:
    """The guarantee as it is stored; a curve of many numbers by its name only."""
    stored = guarantee.to_json()
    long = len(repr(stored["curve"])) > 2_000
    return stored | {"curve": {"kind": guarantee.curve.kind, "stored": "in the release"}} if long else stored


def _deltas(curve: PrivacyCurve) -> list[float]:
    point = curve.as_approximate()
    own = [] if point is None or float(point[1]) == 0 else [float(point[1])]
    return sorted({*DELTAS, *own, *([0.0] if point is not None and not own else [])}, reverse=True)
