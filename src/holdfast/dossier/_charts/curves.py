"""The curves of a promise: delta against epsilon, and members found against false alarms.

Each is sampled to plain numbers first and drawn from these: what a page shows is what its record says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from holdfast.dossier._charts.frame import LEFT, RIGHT, TOP, WIDTH, Series, axes, frame, path, svg_lines
from holdfast.dossier._section import Section
from holdfast.privacy._curves.curve import PrivacyCurve
from holdfast.privacy._tradeoff import Claim, TradeOff

LEAST_DELTA = 1e-12
LEAST_RATE = 1e-4
"""Where the logarithmic scale of rates begins."""
_CURVE_POINTS = 121
_LINEAR_RATES = np.linspace(0.0, 1.0, 201)
_LOGARITHMIC_RATES = np.geomspace(LEAST_RATE, 1.0, 121)


@dataclass(frozen=True, kw_only=True)
class CurveLine(Section):
    """delta on a grid of epsilons."""

    name: str
    delta: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class CurvePoints(Section):
    """Privacy curves, sampled."""

    epsilon: tuple[float, ...]
    series: tuple[CurveLine, ...]


@dataclass(frozen=True, kw_only=True)
class TradeOffLine(Section):
    """The share of members found, on a grid of false-alarm rates."""

    name: str
    claim: Claim
    found: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class TradeOffPoints(Section):
    """Trade-off curves, sampled."""

    false_alarm: tuple[float, ...]
    series: tuple[TradeOffLine, ...]


def sample_curves(curves: Sequence[tuple[str, PrivacyCurve]]) -> CurvePoints:
    """delta of each curve on one grid of epsilons: plain numbers, ready to draw."""
    end_epsilons = [curve.epsilon(1e-10) for _, curve in curves]
    top = max([end for end in end_epsilons if np.isfinite(end)] + [1e-3]) * 1.05
    grid = np.array([float(f"{x:.6g}") for x in np.linspace(0.0, top, _CURVE_POINTS)])
    return CurvePoints(
        epsilon=tuple(grid.tolist()),
        series=tuple(
            CurveLine(name=name, delta=tuple(float(f"{d:.6g}") for d in curve.deltas(grid)))
            for name, curve in curves
        ),
    )


def privacy_curve_svg(points: CurvePoints) -> str:
    """delta against epsilon, delta on a log scale."""
    epsilons = np.asarray(points.epsilon, float)
    x, y = axes("epsilon", "delta", (0.0, float(epsilons[-1])), (LEAST_DELTA, 1.0), log=True)
    series = [
        Series(name=series.name, x=epsilons, y=np.asarray(series.delta, float)) for series in points.series
    ]
    body = svg_lines(x, y, series)
    description = "; ".join(
        f"{curve.name}: delta {curve.y[0]:.3g} at epsilon 0, {curve.y[len(curve.y) // 2]:.3g} at epsilon "
        f"{epsilons[len(epsilons) // 2]:.3g}"
        for curve in series
    )
    return frame("Privacy curve", description, x, y, body, key=series)


def curve_chart(curves: Sequence[tuple[str, PrivacyCurve]]) -> str:
    """The chart of these curves."""
    return privacy_curve_svg(sample_curves(curves))


def sample_trade_offs(curves: Sequence[tuple[str, TradeOff]], *, log: bool = False) -> TradeOffPoints:
    """The share of members found at each false-alarm rate of a fixed grid: plain numbers, ready to draw.

    >>> coin = TradeOff([0, 1], [1, 0], claim="proved")
    >>> sample_trade_offs([("a coin", coin)]).series[0].found[100]
    0.5
    """
    grid = _LOGARITHMIC_RATES if log else _LINEAR_RATES
    return TradeOffPoints(
        false_alarm=tuple(float(f"{x:.6g}") for x in grid),
        series=tuple(
            TradeOffLine(
                name=name,
                claim=curve.claim,
                found=tuple(float(f"{curve.detection_at(min(1.0, float(x))):.6g}") for x in grid),
            )
            for name, curve in curves
        ),
    )


def percent_text(share: float) -> str:
    """Per cent to one digit after the point, below ten to three digits; the page's script writes the same.

    >>> percent_text(0.771), percent_text(0.07953), percent_text(0.0)
    ('77.1 %', '7.95 %', '0.0 %')
    """
    value = 100 * share
    return f"{value:.1f} %" if value >= 10 or value == 0 else f"{value:.3g} %"


def trade_off_svg(points: TradeOffPoints, *, log: bool = False, void: bool = False) -> str:
    """The picture of sampled curves; what the first, proved, one forbids is shaded, or `void` would forbid."""
    low = LEAST_RATE if log else 0.0
    x, y = axes("false alarms: non-members taken for members", "members found", (low, 1), (low, 1), log=log)
    grid = np.asarray(points.false_alarm, float)
    series = [Series(name=series.name, x=grid, y=np.asarray(series.found, float)) for series in points.series]
    proved = series[0]
    forbidden = "impossible, if the promise held" if void else "impossible, by the proof"
    corner = f"L{x.start:.1f},{y.end:.1f}Z"
    body = f'<path class="impossible" d="{path(x, y, proved.x, proved.y)}L{x.end},{y.end}{corner}"/>'
    body += f'<path class="coin" d="{path(x, y, grid, grid)}"/>'
    body += f'<text class="region" x="{LEFT + 10}" y="{TOP + 18}">{forbidden}</text>'
    body += svg_lines(x, y, series)
    body += '<g class="reading" visibility="hidden"><line class="cursor" y1="34" y2="294"/></g>'
    one_percent = int(np.argmin(np.abs(grid - 0.01)))
    description = "; ".join(
        f"{s.name}: at {percent_text(grid[one_percent])} false alarms {percent_text(s.y[one_percent])} found"
        for s in series
    )
    return frame(
        "What an attacker can achieve" + (" (log scale)" if log else ""),
        f"{'The shaded region was claimed to be' if void else 'The shaded region is'} out of reach. {description}.",
        x,
        y,
        body,
        key=series,
        facts=f' data-left="{LEFT}" data-right="{WIDTH - RIGHT}" data-low="{low}"',
    )


def trade_off_chart(curves: Sequence[tuple[str, TradeOff]], *, log: bool = False) -> str:
    """The picture of these curves; the first one is the proof."""
    return trade_off_svg(sample_trade_offs(curves, log=log), log=log)
