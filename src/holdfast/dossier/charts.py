"""Charts as inline SVG: small, without scripts, with a text alternative.

Colours are CSS classes, so that a page can restyle them for print and for dark mode; a chart that
stands alone carries its own style.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdfast.dossier.axes import Axis
from holdfast.privacy.curve import PrivacyCurve
from holdfast.privacy.tradeoff import TradeOff

WIDTH, HEIGHT = 460, 340
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 14, 34, 46
_LEAST_STEP = 0.7
"""Points of a line closer together than this, in units of the drawing, are left out."""
_LABELS, _LABEL_LETTERS = 176, 28

STYLE = """
.chart{font:12px system-ui,sans-serif;--ink:#1c2733;--muted:#5b6875;--grid:#dde3e9;--bad:#f6dcd6;--fill:#0b6e99}
.chart text{fill:var(--ink)}.chart .tick{fill:var(--muted);font-size:11px}
.chart .title{font-weight:600;font-size:13px}.chart .gridline{stroke:var(--grid);stroke-width:1}
.chart .frame{fill:none;stroke:var(--muted);stroke-width:1}.chart .impossible{fill:var(--bad)}
.chart .line{fill:none;stroke-width:2.2}.chart .s0{stroke:#0b6e99}.chart .s1{stroke:#d1602b}
.chart .s2{stroke:#6a51a3}.chart .s3{stroke:#2c8a57}.chart .bar{fill:var(--fill);opacity:.75}
.chart .whisker{stroke:var(--ink);stroke-width:1.2}.chart .coin{stroke:var(--muted);stroke-dasharray:4 4;fill:none}
"""
DARK = """
@media (prefers-color-scheme:dark){.chart{--ink:#e8edf2;--muted:#9fb0bf;--grid:#33414d;--bad:#4d2a25;--fill:#5ab4dc}
.chart .s0{stroke:#5ab4dc}.chart .s1{stroke:#f0986a}.chart .s2{stroke:#b9a5e6}.chart .s3{stroke:#76cf9f}}
"""


@dataclass(frozen=True, kw_only=True)
class Series:
    """One line of a chart."""

    name: str
    x: NDArray[np.float64]
    y: NDArray[np.float64]


def _path(x: Axis, y: Axis, xs: ArrayLike, ys: ArrayLike) -> str:
    places = np.column_stack([x.place(np.asarray(xs, float)), y.place(np.asarray(ys, float))])
    kept = [places[0]]
    for place in places[1:-1]:
        if np.max(np.abs(place - kept[-1])) >= _LEAST_STEP:
            kept.append(place)
    kept.append(places[-1])
    return "M" + "L".join(f"{a:.2f},{b:.2f}" for a, b in kept)


def _frame(title: str, description: str, x: Axis, y: Axis, body: str) -> str:
    left = x.start
    parts = [
        f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" xmlns="http://www.w3.org/2000/svg" '
        f'aria-label="{escape(title)}"><title>{escape(title)}</title><desc>{escape(description)}</desc>',
        f'<text class="title" x="{left:.0f}" y="18">{escape(title)}</text>',
    ]
    for value, text in x.ticks():
        at = float(x.place(np.array([value]))[0])
        parts.append(
            f'<line class="gridline" x1="{at:.1f}" x2="{at:.1f}" y1="{_TOP}" y2="{HEIGHT - _BOTTOM}"/>'
        )
        parts.append(
            f'<text class="tick" x="{at:.1f}" y="{HEIGHT - _BOTTOM + 16}" text-anchor="middle">{text}</text>'
        )
    for value, text in y.ticks():
        at = float(y.place(np.array([value]))[0])
        parts.append(
            f'<line class="gridline" x1="{left}" x2="{WIDTH - _RIGHT}" y1="{at:.1f}" y2="{at:.1f}"/>'
        )
        parts.append(f'<text class="tick" x="{left - 6}" y="{at + 4:.1f}" text-anchor="end">{text}</text>')
    middle = (_TOP + HEIGHT - _BOTTOM) / 2
    parts += [
        body,
        f'<rect class="frame" x="{left}" y="{_TOP}" width="{WIDTH - left - _RIGHT}" '
        f'height="{HEIGHT - _TOP - _BOTTOM}"/>',
        f'<text x="{(left + WIDTH - _RIGHT) / 2}" y="{HEIGHT - 8}" text-anchor="middle">{escape(x.label)}</text>',
        f'<text transform="translate(14,{middle}) rotate(-90)" text-anchor="middle">{escape(y.label)}</text>',
        "</svg>",
    ]
    return "".join(parts)


def _axes(
    x_label: str, y_label: str, x: tuple[float, float], y: tuple[float, float], *, log: bool = False
) -> tuple[Axis, Axis]:
    return (
        Axis(low=x[0], high=x[1], start=_LEFT, end=WIDTH - _RIGHT, label=x_label, log=log and x[0] > 0),
        Axis(low=y[0], high=y[1], start=HEIGHT - _BOTTOM, end=_TOP, label=y_label, log=log),
    )


def _legend(series: Sequence[Series], at: tuple[float, float]) -> str:
    rows = []
    for place, one in enumerate(series):
        y = at[1] + 17 * place
        rows.append(
            f'<line class="line s{place % 4}" x1="{at[0]}" x2="{at[0] + 20}" y1="{y}" y2="{y}"/>'
            f'<text x="{at[0] + 26}" y="{y + 4}">{escape(one.name)}</text>'
        )
    return "".join(rows)


def trade_off_chart(curves: Sequence[tuple[str, TradeOff]], *, log: bool = False) -> str:
    """Detection against false alarms; what the first, proved, curve forbids is shaded."""
    low = 1e-4 if log else 0.0
    x, y = _axes("false alarms: non-members taken for members", "members found", (low, 1), (low, 1), log=log)
    grid = np.geomspace(low, 1, 300) if log else np.linspace(0, 1, 401)
    series = []
    for name, curve in curves:
        at = np.union1d(grid, curve.false_alarm[curve.false_alarm >= low])
        series.append(Series(name=name, x=at, y=np.array([curve.detection_at(float(a)) for a in at])))
    proved = series[0]
    corner = f"L{x.place(np.array([x.low]))[0]:.1f},{y.end:.1f}Z"
    body = f'<path class="impossible" d="{_path(x, y, proved.x, proved.y)}L{x.end},{y.end}{corner}"/>'
    body += f'<path class="coin" d="{_path(x, y, grid, grid)}"/>'
    body += "".join(
        f'<path class="line s{i % 4}" d="{_path(x, y, one.x, one.y)}"/>' for i, one in enumerate(series)
    )
    body += _legend(series, (WIDTH * 0.52, HEIGHT - _BOTTOM - 17 * len(series)))
    points = "; ".join(
        f"{name}: at 1 % false alarms {100 * c.detection_at(0.01):.1f} % found" for name, c in curves
    )
    return _frame(
        "What an attacker can achieve" + (" (log scale)" if log else ""),
        f"No test lies in the shaded region. {points}.",
        x, y, body,
    )  # fmt: skip


def curve_chart(curves: Sequence[tuple[str, PrivacyCurve]]) -> str:
    """delta against epsilon, delta on a log scale."""
    top = max(max(curve.epsilon(1e-10) for _, curve in curves if np.isfinite(curve.epsilon(1e-10))), 1e-3)
    epsilons = np.linspace(0, top * 1.05, 200)
    x, y = _axes("epsilon", "delta", (0.0, float(epsilons[-1])), (1e-12, 1.0), log=True)
    series = [Series(name=name, x=epsilons, y=curve.deltas(epsilons)) for name, curve in curves]
    body = "".join(
        f'<path class="line s{i % 4}" d="{_path(x, y, one.x, one.y)}"/>' for i, one in enumerate(series)
    )
    body += _legend(series, (WIDTH * 0.52, _TOP + 18))
    points = "; ".join(f"{name}: epsilon {curve.epsilon(1e-6):.4g} at delta 1e-6" for name, curve in curves)
    return _frame("Privacy curve", points, x, y, body)


def bar_chart(title: str, labels: Sequence[str], values: ArrayLike, *, error: float) -> str:
    """Released counts with the interval that holds for all of them at once."""
    counts = np.asarray(values, float)
    top = float(max(np.max(counts) + error, 1.0)) * 1.05
    x = Axis(low=0.0, high=top, start=_LABELS, end=WIDTH - _RIGHT, label="released count")
    y = Axis(low=0.0, high=1.0, start=_TOP, end=HEIGHT - _BOTTOM, label="", ticked=False)
    row = (HEIGHT - _TOP - _BOTTOM) / counts.size
    parts = []
    for place, (label, count) in enumerate(zip(labels, counts, strict=True)):
        middle = _TOP + (place + 0.5) * row
        ends = x.place(np.array([0.0, count, count - error, count + error]))
        height = max(1.0, 0.7 * row)
        parts.append(
            f'<rect class="bar" x="{ends[0]:.1f}" y="{middle - height / 2:.1f}" '
            f'width="{max(0.0, ends[1] - ends[0]):.1f}" height="{height:.1f}"/>'
            f'<line class="whisker" x1="{ends[2]:.1f}" x2="{ends[3]:.1f}" y1="{middle:.1f}" y2="{middle:.1f}"/>'
            f'<text class="tick" x="{_LABELS - 6}" y="{middle + 4:.1f}" text-anchor="end">'
            f"{escape(_short(label))}</text>"
        )
    text = "; ".join(f"{label}: {count:.0f}" for label, count in zip(labels, counts, strict=True))
    return _frame(title, f"{text}; each within {error:.0f}.", x, y, "".join(parts))


def _short(label: str) -> str:
    return label if len(label) <= _LABEL_LETTERS else label[: _LABEL_LETTERS - 1] + "…"


def standalone(*charts: str) -> str:
    """One SVG file with the charts side by side."""
    total = WIDTH * len(charts)
    inner = "".join(f'<g transform="translate({WIDTH * i},0)">{chart}</g>' for i, chart in enumerate(charts))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total} {HEIGHT}" width="{total}" height="{HEIGHT}">'
        f"<style>svg{{background:#fff}}{STYLE}</style>{inner}</svg>\n"
    )
