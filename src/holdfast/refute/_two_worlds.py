"""TwoWorlds: whether draws with and without one privacy unit disprove a claimed curve.

Half of the draws choose events (unions of bins, in the order of their likelihood ratio). The other half tests these
events with exact binomial limits; the error is shared over all events, both directions and both limits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Floats
from holdfast.errors import require
from holdfast.noise._source import Source
from holdfast.privacy._curves.curve import PrivacyCurve
from holdfast.privacy._tradeoff import TradeOff, clopper_pearson_upper
from holdfast.refute._trial import Draw, Outcome, Test

Sample = Callable[[Any, Source], Any]
MOST_BINS = 40


@dataclass(frozen=True, kw_only=True)
class Event:
    """The event that contradicts a claim most, or comes nearest to it; its two limits hold at once."""

    detection: float
    """A lower limit of its probability in one of the two worlds."""
    false_alarm: float
    """An upper limit of its probability in the other world."""
    allowed: float
    """The detection that the claim allows at that rate of false alarms."""

    @property
    def contradicts(self) -> bool:
        """Whether the claim is disproved (1e-9: rounding of the proved polygon)."""
        return self.detection > self.allowed + 1e-9

    @property
    def epsilon_lower(self) -> float:
        """The pure epsilon that the two limits refute; 0 if none."""
        return max(0.0, math.log(self.detection / self.false_alarm)) if self.detection > 0 else 0.0


def worst_event(claim: TradeOff, without: Floats, present: Floats, *, error: float) -> Event:
    """The event with the largest excess over the claim; a true claim is contradicted with chance <= error.

    >>> coin = TradeOff([0, 1], [1, 0], claim="proved")
    >>> worst_event(coin, np.zeros(400), np.ones(400), error=1e-6).contradicts
    True
    """
    require(without.size >= 4 and present.size >= 4, "draws", min(without.size, present.size), ">= 4")
    half, other_half = without.size // 2, present.size // 2
    pooled = np.concatenate([without[:half], present[:other_half]])
    values = np.unique(pooled)
    if values.size > MOST_BINS:
        values = np.unique(np.quantile(pooled, np.linspace(0, 1, MOST_BINS + 1)[1:-1]))

    def bin_counts(draws: Floats) -> NDArray[np.int64]:
        return np.bincount(np.searchsorted(values, draws, side="right"), minlength=values.size + 1)

    pilot = bin_counts(without[:half]), bin_counts(present[:other_half])
    test = bin_counts(without[half:]), bin_counts(present[other_half:])
    share = error / (4 * (values.size + 1))
    events = [
        event
        for first, second in ((0, 1), (1, 0))
        for event in _events(claim, pilot[first], pilot[second], test[first], test[second], share)
    ]
    contradictions = [event for event in events if event.contradicts]
    if contradictions:
        return max(contradictions, key=lambda event: event.detection - event.allowed)
    return max(events, key=lambda event: event.detection - event.false_alarm)


def _events(claim: TradeOff, *counts: Any) -> list[Event]:
    """Unions of bins, the most telling first, tested in one direction."""
    pilot_in, pilot_out, test_in, test_out, share = counts
    order = np.argsort(-(pilot_in + 0.5) / (pilot_out + 0.5), kind="stable")
    hits, alarms = np.cumsum(test_in[order])[:-1].tolist(), np.cumsum(test_out[order])[:-1].tolist()
    draws_in, draws_out = int(np.sum(test_in)), int(np.sum(test_out))
    events = []
    for hit, alarm in zip(hits, alarms, strict=True):
        detection = 1.0 - clopper_pearson_upper(draws_in - hit, draws_in, error=share)
        false_alarm = clopper_pearson_upper(alarm, draws_out, error=share)
        events.append(
            Event(detection=detection, false_alarm=false_alarm, allowed=claim.detection_at(false_alarm))
        )
    return events


@dataclass(frozen=True, kw_only=True)
class TwoWorlds:
    """Many independent releases without and with the unit, against the claimed curve."""

    what: str
    without: Draw
    present: Draw
    claim: PrivacyCurve
    draws: int = 4000
    spends: bool = True
    test: Test = "audit"

    def run(self, source: Source, *, error: float) -> Outcome:
        """Draw from both neighbours and look for an event that the claim forbids."""
        without, present = self.without(source, self.draws), self.present(source, self.draws)
        event = worst_event(self.claim.trade_off(), without, present, error=error)
        return Outcome(
            test="audit",
            what=self.what,
            statistic=event.detection,
            bound=event.allowed + 1e-9,
            error=error,
            detail=f"found at {event.false_alarm:.3f} false alarms, 2 x {self.draws} releases; "
            f"epsilon >= {event.epsilon_lower:.2f}",
        )


def separate_draws(sample: Sample, value: Any, *, score: Callable[[Any], float] | None = None) -> Draw:
    """Independent releases of one value, each by its own call; vectors give their first two numbers.

    `sample` belongs to a mechanism that has checked `value`; `score`, if given, reduces a release to one number.
    """

    def draw(source: Source, size: int) -> Floats:
        releases = [sample(value, source) for _ in range(size)]
        if score is not None:
            return np.array([score(release) for release in releases])
        rows = np.array([np.ravel(release)[:2] for release in releases], dtype=np.float64)
        return rows[:, 0] if rows.shape[1] == 1 else rows

    return draw


def score_between(first: Any, second: Any) -> Callable[[Any], float]:
    """The score of additive noise between two vectors: how far the release lies from one towards the other."""
    direction = np.subtract(second, first, dtype=float).ravel()
    direction = direction / np.linalg.norm(direction)
    return lambda release: float(np.ravel(release) @ direction)


def subsampled_draws(rate: float, sampled: Draw, otherwise: Draw) -> Draw:
    """Draws where the unit is subsampled: it takes part with this probability, by fresh coins."""

    def draw(source: Source, size: int) -> Floats:
        coins = (source.words(size) + 0.5) * 2.0**-64 < rate
        drawn = np.empty(size)
        drawn[coins] = sampled(source, int(np.sum(coins)))
        drawn[~coins] = otherwise(source, int(np.sum(~coins)))
        return drawn

    return sampled if rate >= 1.0 else draw
