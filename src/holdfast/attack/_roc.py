"""The ROC of a membership attack: from scores to rates, exact limits at one false-alarm rate, and the picture.

Axes are logarithmic: an attack that finds a few members for certain shows at the left end and nowhere else.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import Any, Protocol, Self

import numpy as np

from holdfast._arguments import checked
from holdfast._arrays import Floats
from holdfast._extras import import_optional
from holdfast._ranges import require_number
from holdfast.errors import require
from holdfast.privacy._tradeoff import TradeOff, clopper_pearson_lower, clopper_pearson_upper

# Okabe and Ito's palette, and line styles, so that colour is never the only difference.
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")
MOST_ROC_LINES = 5
"""Lines that an eye keeps apart."""
LINE_STYLES: tuple[Any, ...] = ("-", (0, (6, 1.5)), (0, (3, 1, 1, 1)), (0, (1, 1)))


@checked
class Rate(float):
    """A measured rate with its exact limits (Clopper and Pearson): a number that knows how sure it is.

    Parameters
    ----------
    value : float
        The rate alone; `Rate.of` gives it the limits `low` and `high`.

    Examples
    --------
    >>> rate = Rate.of(80, 100)
    >>> float(rate), round(rate.low, 3), round(rate.high, 3)
    (0.8, 0.708, 0.873)
    """

    low: float
    high: float
    confidence: float

    def __new__(cls, value: float) -> Self:
        """The number alone; `of` gives it its limits."""
        require_number("value", value)
        return super().__new__(cls, value)

    @classmethod
    def of(cls, successes: int, trials: int, *, confidence: float = 0.95) -> Self:
        """The share of successes, with two-sided limits.

        Parameters
        ----------
        successes : int
            How often it happened.
        trials : int
            How often it could have happened.
        confidence : float
            Of the two limits together.

        Returns
        -------
        Rate
            The share, with `low`, `high` and `confidence`.
        """
        require(trials >= 1, "trials", trials, ">= 1")
        require(0 <= successes <= trials, "successes", successes, f"in [0, {trials}]")
        require(0 < confidence < 1, "confidence", confidence, "in (0, 1)")
        rate = cls(successes / trials)
        rate.confidence = confidence
        error = (1.0 - confidence) / 2.0
        rate.low = clopper_pearson_lower(successes, trials, error=error)
        rate.high = clopper_pearson_upper(successes, trials, error=error)
        return rate

    def summary(self) -> str:
        """The number and its limits.

        >>> Rate.of(80, 100).summary()
        '0.800 [0.708, 0.873]'
        """
        return f"{float(self):.3f} [{self.low:.3f}, {self.high:.3f}]"


def roc(members: Floats, non_members: Floats) -> tuple[Floats, Floats]:
    """False-alarm and detection rates of "score >= threshold" for every threshold, from (0, 0) to (1, 1).

    >>> [axis.tolist() for axis in roc(np.array([3.0, 1.0]), np.array([2.0, 0.0]))]
    [[0.0, 0.0, 0.5, 0.5, 1.0], [0.0, 0.5, 0.5, 1.0, 1.0]]
    """
    thresholds = np.unique(np.concatenate([members, non_members]))[::-1]
    rates = []
    for group in (non_members, members):
        above = group.size - np.searchsorted(np.sort(group), thresholds, side="left")
        rates.append(np.concatenate([[0.0], above / group.size]))
    return rates[0], rates[1]


def area(members: Floats, non_members: Floats) -> float:
    """How often a member's score is above a non-member's, ties counted half: the area under the ROC.

    >>> area(np.array([3.0, 1.0]), np.array([2.0, 0.0]))
    0.75
    """
    ranked = np.sort(non_members)
    below = np.searchsorted(ranked, members, side="left") + np.searchsorted(ranked, members, side="right")
    return float(np.sum(below, dtype=np.float64) / (2.0 * members.size * non_members.size))


def thinned_roc(false_alarm: Floats, detection: Floats, *, points: int = 100) -> tuple[Floats, Floats]:
    """About so many points of a ROC, all of them reached: half on a logarithmic scale, half on a linear one.

    At each rate of the grid the highest point that does not exceed it. A line between two of them is what an
    attacker reaches who tosses a coin, so the thinned curve never claims more than the whole one.

    >>> [axis.tolist() for axis in thinned_roc(np.array([0.0, 0.0, 0.5, 1.0]), np.array([0.0, 0.4, 0.9, 1.0]))]
    [[0.0, 0.0, 0.5, 1.0], [0.0, 0.4, 0.9, 1.0]]
    """
    require(points >= 4, "points", points, ">= 4")
    least = float(np.min(false_alarm, where=false_alarm > 0, initial=1.0))
    grid = np.concatenate(
        [np.geomspace(least, 1.0, points // 2), np.linspace(0.0, 1.0, points - points // 2)]
    )
    chosen = np.unique(np.concatenate([[0], np.searchsorted(false_alarm, grid, side="right") - 1]))
    return false_alarm[chosen], detection[chosen]


# Confidence limits of the rates, from the scores of some records.
@dataclass(frozen=True, kw_only=True)
class ThresholdCounts:
    """How many members and non-members lie above one threshold, which is chosen from scores of non-members only.

    `allowed` false alarms are allowed among `trials` non-members, and the threshold is the next highest score
    of theirs. Its true false-alarm rate then has the law of an order statistic, and its upper limit is the
    one of Clopper and Pearson for `allowed` alarms, although the threshold was read from the same scores.
    """

    hits: int
    members: int
    allowed: int
    non_members: int

    @classmethod
    def at(cls, members: Floats, non_members: Floats, *, false_alarm: float) -> ThresholdCounts:
        """The threshold with at most this share of false alarms.

        >>> ThresholdCounts.at(np.array([3.0, 1.0]), np.array([2.0, 0.0]), false_alarm=0.0).hits
        1
        """
        require(0 <= false_alarm < 1, "false_alarm", false_alarm, "in [0, 1)")
        allowed = math.floor(false_alarm * non_members.size * (1.0 + 1e-12))
        threshold = np.partition(non_members, non_members.size - allowed - 1)[non_members.size - allowed - 1]
        return cls(
            hits=int(np.sum(members > threshold)),
            members=members.size,
            allowed=allowed,
            non_members=non_members.size,
        )

    def limits(self, *, error: float) -> tuple[float, float]:
        """At most this rate of false alarms and at least this detection, both wrong together with <= error."""
        return (
            clopper_pearson_upper(self.allowed, self.non_members, error=error / 2.0),
            clopper_pearson_lower(self.hits, self.members, error=error / 2.0),
        )


def reached_points(
    members: Floats, non_members: Floats, *, rates: Sequence[float], error: float
) -> list[tuple[float, float]]:
    """Upper limits (false alarms, misses) of the attack, in both directions at each rate.

    Each pair is wrong with probability at most `error`, where members' scores are drawn independently from one law
    and non-members' from another.
    """
    pairs = []
    for rate in rates:
        alarm, detection = ThresholdCounts.at(members, non_members, false_alarm=rate).limits(error=error)
        # The mirrored test says who was certainly not there: its false alarms are this test's misses.
        miss, cleared = ThresholdCounts.at(-non_members, -members, false_alarm=rate).limits(error=error)
        pairs += [(alarm, 1.0 - detection), (1.0 - cleared, miss)]
    return pairs


# The picture.
class Drawable(Protocol):
    """What a picture shows of an attack."""

    @property
    def attack(self) -> str:
        """Its name."""

    @property
    def auc(self) -> float:
        """The area under its ROC."""

    @property
    def non_member_scores(self) -> Floats:
        """Scores of non-members: as many as there are steps on the axis of false alarms."""

    def roc(self) -> tuple[Floats, Floats]:
        """False alarms and detections."""


def roc_figure(results: Sequence[Drawable], *, proved: TradeOff | None = None) -> Any:
    """The ROC of every attack as a matplotlib figure, marked as internal."""
    figure = import_optional("matplotlib.figure", instead="summary()").Figure(
        figsize=(8.6, 5.2), layout="constrained"
    )
    axes = figure.subplots()
    draw_roc(axes, results, proved=proved)
    axes.set_title("internal: computed from real members", loc="left", fontsize=10)
    # Beside the picture: on it, the names of ten attacks would hide the curves.
    axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0, frameon=False)
    return figure


def draw_roc(axes: Any, results: Sequence[Drawable], *, proved: TradeOff | None = None) -> None:
    """Every attack's ROC on these axes; the region that the proof forbids is shaded.

    The strongest few are told apart by colour and stroke; all others are one grey family, named together.
    """
    floor = max(min(0.5 / result.non_member_scores.size for result in results), 1e-5)
    axes.plot([floor, 1], [floor, 1], color="#5b6875", linewidth=1, linestyle=(0, (4, 3)))
    if proved is not None:
        at = np.geomspace(floor, 1.0, 300)
        most = np.array([max(proved.detection_at(float(x)), floor) for x in at])
        axes.fill_between(at, most, 1.0, color="#d55e00", alpha=0.12, linewidth=0)
        axes.plot(at, most, color="#d55e00", linewidth=1.2, label="proved: on average nobody is above")
    strongest = sorted(results, key=lambda result: (-_found_at(result, 0.01), -result.auc))
    for result in strongest[MOST_ROC_LINES:]:
        _staircase(axes, result, floor, color="#a9b4bf", linewidth=0.9, zorder=1.5)
    for place, result in enumerate(strongest[:MOST_ROC_LINES]):
        _staircase(
            axes,
            result,
            floor,
            linewidth=1.9,
            color=COLOURS[place],
            linestyle=LINE_STYLES[place % len(LINE_STYLES)],
            label=f"{result.attack} (AUC {result.auc:.3f})",
        )
    weaker = len(strongest) - MOST_ROC_LINES
    if weaker > 0:
        names = ", ".join(result.attack for result in strongest[MOST_ROC_LINES:])
        axes.plot([], [], color="#a9b4bf", linewidth=0.9, label=f"{weaker} weaker:\n" + fill(names, 26))
    axes.set(xscale="log", yscale="log", xlim=(floor, 1), ylim=(floor, 1))
    axes.set(xlabel="false alarms", ylabel="members found")


def _staircase(axes: Any, result: Drawable, floor: float, **style: Any) -> None:
    false_alarm, detection = _corners(*result.roc())
    axes.step(np.maximum(false_alarm, floor), np.maximum(detection, floor), where="post", **style)


def _found_at(result: Drawable, rate: float) -> float:
    """The share of members found at most at this rate of false alarms."""
    false_alarm, detection = result.roc()
    return float(detection[np.searchsorted(false_alarm, rate, side="right") - 1])


def _corners(false_alarm: Any, detection: Any) -> tuple[Any, Any]:
    """The ROC without the points along a rise or a run: what a staircase needs."""
    level, upright = np.diff(detection) == 0, np.diff(false_alarm) == 0
    keep = np.ones(detection.size, dtype=bool)
    keep[1:-1] = ~((level[:-1] & level[1:]) | (upright[:-1] & upright[1:]))
    return false_alarm[keep], detection[keep]
