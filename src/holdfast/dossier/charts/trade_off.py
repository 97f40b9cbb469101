"""The picture: members found against false alarms, for proofs, audits and attacks in one plot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from holdfast.dossier.charts.frame import (
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    Series,
    axes,
    frame,
    legend,
    path,
    svg_lines,
)
from holdfast.privacy.tradeoff import TradeOff

LEAST_RATE = 1e-4
"""Where the logarithmic scale begins."""
_LINEAR = np.linspace(0.0, 1.0, 201)
_LOG = np.geomspace(LEAST_RATE, 1.0, 121)
DIGITS = 6


def sampled(curves: Sequence[tuple[str, TradeOff]], *, log: bool = False) -> dict[str, Any]:
    """The share of members found at each false-alarm rate of a fixed grid: plain numbers, ready to draw.

    >>> coin = TradeOff([0, 1], [1, 0], claim="proved")
    >>> sampled([("a coin", coin)])["series"][0]["found"][100]
    0.5
    """
    grid = _LOG if log else _LINEAR
    return {
        "false_alarm": [float(f"{x:.{DIGITS}g}") for x in grid],
        "series": [
            {
                "name": name,
                "claim": curve.claim,
                "found": [float(f"{curve.detection_at(min(1.0, float(x))):.{DIGITS}g}") for x in grid],
            }
            for name, curve in curves
        ],
    }


def drawn(points: Mapping[str, Any], *, log: bool = False) -> str:
    """The picture of sampled curves; what the first, proved, one forbids is shaded."""
    low = LEAST_RATE if log else 0.0
    x, y = axes("false alarms: non-members taken for members", "members found", (low, 1), (low, 1), log=log)
    grid = np.asarray(points["false_alarm"], float)
    series = [Series(name=one["name"], x=grid, y=np.asarray(one["found"], float)) for one in points["series"]]
    proved = series[0]
    corner = f"L{x.start:.1f},{y.end:.1f}Z"
    body = f'<path class="impossible" d="{path(x, y, proved.x, proved.y)}L{x.end},{y.end}{corner}"/>'
    body += f'<path class="coin" d="{path(x, y, grid, grid)}"/>'
    body += f'<text class="region" x="{LEFT + 10}" y="{TOP + 18}">impossible, by the proof</text>'
    body += svg_lines(x, y, series)
    body += legend(series, (WIDTH * 0.5, HEIGHT - BOTTOM - 17 * len(series)))
    body += '<g class="reading" visibility="hidden"><line class="cursor" y1="34" y2="294"/></g>'
    one_percent = int(np.argmin(np.abs(grid - 0.01)))
    words = "; ".join(
        f"{s.name}: at {100 * grid[one_percent]:.3g} % false alarms {100 * s.y[one_percent]:.3g} % found"
        for s in series
    )
    return frame(
        "What an attacker can achieve" + (" (log scale)" if log else ""),
        f"No test lies in the shaded region. {words}.",
        x, y, body,
        facts=f' data-left="{LEFT}" data-right="{WIDTH - RIGHT}" data-low="{low}"',
    )  # fmt: skip


def trade_off_chart(curves: Sequence[tuple[str, TradeOff]], *, log: bool = False) -> str:
    """The picture of these curves; the first one is the proof."""
    return drawn(sampled(curves, log=log), log=log)
