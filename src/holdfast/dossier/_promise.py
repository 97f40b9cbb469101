"""The promise of a page: what its releases promise together, in numbers and in people's terms, and what each adds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from holdfast._assumption import Assumption
from holdfast.dossier._charts import curves
from holdfast.dossier._charts.curves import CurvePoints
from holdfast.dossier._section import Section, stored_upper_bound
from holdfast.privacy._adjacency import Adjacency
from holdfast.privacy._curves.curve import PrivacyCurve
from holdfast.privacy._guarantee import Guarantee, guess_bound, sure_words
from holdfast.privacy._guarantee import Sureness as Sureness
from holdfast.release import Release

PAGE_DELTAS = (1e-3, 1e-5, 1e-6, 1e-9)
PRIOR_BELIEFS = (0.01, 0.1, 0.5, 0.9)
CHANGE_PHRASES = {
    Adjacency.replace: "replaced by someone else's",
    Adjacency.zero_out: "blanked out",
    Adjacency.add_remove: "in the table at all",
}
"""What each adjacency compares, as the end of a sentence about 'the data of one unit were ...'."""
NEIGHBOUR_PHRASES = {
    Adjacency.replace: "that unit's data are changed",
    Adjacency.zero_out: "that unit's data are blanked out",
    Adjacency.add_remove: "that unit is added or removed",
}
USUAL_DELTA = 1e-6
"""Where one epsilon stands for the whole curve, if it is finite there."""


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

    def words(self, unit: str) -> str:
        """As every summary says it."""
        return sure_words(self.half, self.failure, unit)


@dataclass(frozen=True, kw_only=True)
class PromisePoint(Section):
    """One point of the privacy curve; `odds` is e^epsilon, the factor that epsilon stands for."""

    delta: float
    epsilon: float | None
    odds: float | None

    @classmethod
    def of(cls, curve: PrivacyCurve, delta: float) -> PromisePoint:
        """At this delta."""
        epsilon = stored_upper_bound(curve.epsilon(delta))
        factor = math.inf if epsilon is None or epsilon > 700 else math.exp(epsilon)
        return cls(delta=delta, epsilon=epsilon, odds=stored_upper_bound(factor))


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
    assumptions: tuple[Assumption, ...]
    guess: float
    sure: Sure
    points: tuple[PromisePoint, ...]
    curve_points: CurvePoints
    private: bool
    strict: bool
    at: PromisePoint
    """The point by which the page calls the whole curve."""


@dataclass(frozen=True, kw_only=True)
class Chapter(Section):
    """One of several releases, in the order in which they were made: what it promises alone, and all so far.

    `place` is where it stands among the releases of the record. It adds nothing where the promise of another one, of
    the same account, already covers it.
    """

    place: int
    adds: bool
    alone: PromisePoint
    so_far: PromisePoint
    sure_so_far: float
    failure: float


def joint_promise(releases: Sequence[Release[Any]]) -> Promise:
    """What is promised, by all releases together, in words and in numbers."""
    guarantee = joint_guarantee(releases)
    curve = guarantee.curve
    sureness = Sureness.of(curve)
    return Promise(
        guarantee=stored_guarantee(guarantee),
        curve=repr(curve),
        adjacency=guarantee.adjacency.value,
        neighbours=NEIGHBOUR_PHRASES[guarantee.adjacency],
        unit=guarantee.unit.summary(),
        unit_is_row=guarantee.unit.column is None,
        change=CHANGE_PHRASES[guarantee.adjacency],
        theorem=guarantee.theorem,
        assumptions=guarantee.assumptions,
        guess=guess_bound(curve),
        sure=Sure(
            failure=sureness.failure,
            loss=stored_upper_bound(sureness.loss),
            after=tuple(SureAfter(prior=prior, at_most=sureness.after(prior)) for prior in PRIOR_BELIEFS),
        ),
        points=tuple(PromisePoint.of(curve, delta) for delta in _point_deltas(curve, guarantee.read_at)),
        curve_points=curves.sample_curves([("proved", curve)]),
        private=all(release.private for release in releases),
        strict=all(release.provenance.arithmetic == "strict" for release in releases),
        at=PromisePoint.of(curve, usual_delta(curve) if guarantee.read_at is None else guarantee.read_at),
    )


def release_chapters(releases: Sequence[Release[Any]]) -> tuple[Chapter, ...]:
    """Several releases one after the other: what each promises alone, and all up to it together; none for one."""
    if len(releases) < 2:
        return ()
    delta = usual_delta(joint_guarantee(releases).curve)
    order = sorted(range(len(releases)), key=lambda place: _making_order(releases[place]))
    chapters: list[Chapter] = []
    for end, place in enumerate(order, start=1):
        so_far = [releases[k] for k in order[:end]]
        curve = joint_guarantee(so_far).curve
        sureness = Sureness.of(curve)
        chapters.append(
            Chapter(
                place=place,
                adds=not any(_covers(other, so_far[-1]) for other in so_far[:-1]),
                alone=PromisePoint.of(releases[place].guarantee.curve, delta),
                so_far=PromisePoint.of(curve, delta),
                sure_so_far=sureness.after(0.5),
                failure=sureness.failure,
            )
        )
    return tuple(chapters)


def _making_order(release: Release[Any]) -> tuple[str, int]:
    """When it was made: the day, and of one ledger the last entry that paid."""
    provenance = release.provenance
    return provenance.created, max(provenance.entries, default=0)


def usual_delta(curve: PrivacyCurve) -> float:
    """The delta at which one epsilon stands for the curve: none where it is pure, else the first that is finite.

    >>> from holdfast.privacy import ApproxDP, PureDP
    >>> usual_delta(PureDP(1.0)), usual_delta(ApproxDP(1.0, 2e-6)), usual_delta(ApproxDP(1.0, 1e-9))
    (0.0, 2e-06, 1e-06)
    """
    if curve.as_pure() is not None and not curve.has_slack:
        return 0.0
    deltas = (delta for delta in sorted(_point_deltas(curve)) if delta >= USUAL_DELTA)
    return next((delta for delta in deltas if math.isfinite(curve.epsilon(delta))), USUAL_DELTA)


def joint_guarantee(releases: Sequence[Release[Any]]) -> Guarantee:
    """One guarantee for all of them; `AdjacencyError` where they speak of different neighbours or units.

    A release of a ledger's account promises the limit of that account (or of its share), which covers every
    entry charged to it. So a release whose entries are among those of another one of the same account adds
    nothing; all others compose.
    """
    independent_releases: list[Release[Any]] = []
    for release in releases:
        if any(_covers(other, release) for other in independent_releases):
            continue
        independent_releases = [
            *(other for other in independent_releases if not _covers(release, other)),
            release,
        ]
    total = independent_releases[0].guarantee
    for release in independent_releases[1:]:
        total = total.compose(release.guarantee)
    return total.assuming(
        *(assumption for release in releases for assumption in release.guarantee.assumptions)
    )


def _covers(wider: Release[Any], narrower: Release[Any]) -> bool:
    """Whether the first one's promise was charged with everything that the second one saw."""
    wider_paid, narrower_paid = wider.provenance, narrower.provenance
    return (
        bool(wider_paid.account)
        and wider_paid.account == narrower_paid.account
        and bool(narrower_paid.entries)
        and set(narrower_paid.entries) <= set(wider_paid.entries)
        and (wider.guarantee.adjacency, wider.guarantee.unit)
        == (narrower.guarantee.adjacency, narrower.guarantee.unit)
    )


def stored_guarantee(guarantee: Guarantee) -> Mapping[str, Any]:
    """The guarantee as it is stored; a curve of many numbers by its name only."""
    stored = guarantee.to_json()
    is_long = len(repr(stored["curve"])) > 2_000
    return (
        stored | {"curve": {"kind": guarantee.curve.kind, "stored": "in the release"}} if is_long else stored
    )


def _point_deltas(curve: PrivacyCurve, read_at: float | None = None) -> list[float]:
    """The usual ones, the curve's own, and the one at which an epsilon was asked for, the largest first."""
    point = curve.as_approximate()
    own = [] if point is None or float(point[1]) == 0 else [float(point[1])]
    pure = [0.0] if point is not None and not own else []
    return sorted({*PAGE_DELTAS, *own, *pure, *([] if read_at is None else [read_at])}, reverse=True)
