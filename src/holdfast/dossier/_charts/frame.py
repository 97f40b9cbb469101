"""What every chart shares: paper, axes, lines, a legend, a title and a description.

Colours are CSS classes, so that a page can restyle them for print and for dark mode; a chart that
stands alone carries its own style. Lines differ in their dashes too, never in colour alone.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, kw_only=True)
class Axis:
    """A linear or logarithmic scale from `low` to `high`, drawn from `start` to `end`.

    >>> Axis(low=0, high=10, start=0, end=100, label="x").place(np.array([5.0])).tolist()
    [50.0]
    """

    low: float
    high: float
    start: float
    end: float
    label: str
    log: bool = False
    ticked: bool = True

    def place(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Positions on paper; what lies outside is moved to the edge."""
        clipped = np.clip(values, self.low, self.high)
        if self.log:
            share = (np.log10(clipped) - math.log10(self.low)) / (
                math.log10(self.high) - math.log10(self.low)
            )
        else:
            share = (clipped - self.low) / (self.high - self.low)
        return np.asarray(self.start + share * (self.end - self.start))

    def ticks(self) -> list[tuple[float, str]]:
        """Round numbers within the range, with their text."""
        if not self.ticked:
            return []
        if self.log:
            decades = range(
                math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9) + 1
            )
            every = max(1, math.ceil(len(decades) / 6))
            return [
                (10.0**k, f"1e{k}" if k < -2 or k > 3 else f"{10.0**k:g}") for k in decades if k % every == 0
            ]
        span = self.high - self.low
        step = 10.0 ** math.floor(math.log10(span / 4))
        step *= next(m for m in (1, 2, 2.5, 5, 10) if span / (step * m) <= 6)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [(k * step, f"{k * step:g}") for k in range(first, last + 1)]


WIDTH, HEIGHT = 460, 340
LEFT, RIGHT, TOP, BOTTOM = 58, 14, 34, 46
LINE_STYLES = 8
"""The most lines of a chart that can be told apart."""
_LEAST_STEP = 0.7
"""Points of a line closer together than this, in units of the drawing, are left out."""
_LINE_HEIGHT = 15
"""From one line of a text to the next."""
_NARROW_LETTERS, _WIDE_LETTERS = frozenset("iljtfrI.,:;'|!()[]{}/ "), frozenset("mwMWGOQ@%&…—")
STYLE = """
.chart{font:12px system-ui,sans-serif;--ink:#1c2733;--muted:#55626f;--grid:#e2e7ec;--bad:#f7e1dc;--fill:#0b6e99}
.chart text{fill:var(--ink)}.chart .tick{fill:var(--muted);font-size:11px}
.chart .title{font-weight:600;font-size:13px}.chart .gridline{stroke:var(--grid);stroke-width:1}
.chart .frame{fill:none;stroke:var(--muted);stroke-width:1}.chart .impossible{fill:var(--bad)}
.chart .region{fill:#9b3a24;font-style:italic;font-size:11px}
.chart .line{fill:none;stroke-width:2}.chart .s0{stroke:#0b6e99;stroke-width:2.6}
.chart .s1{stroke:#b8501c;stroke-dasharray:7 4}.chart .s2{stroke:#6a51a3;stroke-dasharray:2 3}
.chart .s3{stroke:#2c7a4f;stroke-dasharray:9 3 2 3}.chart .s4{stroke:#a8336b;stroke-dasharray:4 2}
.chart .s5{stroke:#7a6a00;stroke-dasharray:1 2}.chart .s6{stroke:#3f5f8a;stroke-dasharray:10 4}
.chart .s7{stroke:#5b6875;stroke-dasharray:6 2 1 2}
.chart .bar{fill:var(--fill);opacity:.75}.chart .part1{opacity:.35}.chart .part2{fill:var(--grid);opacity:1}
.chart .whisker{stroke:var(--ink);stroke-width:1.4}.chart .zero{stroke:var(--muted);stroke-width:1}
.chart .dot{fill:var(--fill)}.chart .coin{stroke:var(--muted);stroke-dasharray:4 4;fill:none}
.chart .cursor{stroke:var(--ink);stroke-width:1;stroke-dasharray:3 3}
.chart .hollow{fill:none;stroke:var(--ink);stroke-width:1.5}.chart .cell{fill:none;stroke:var(--grid)}
.chart .own{fill:var(--grid)}.chart .more{fill:#b8501c}.chart .less{fill:#0b6e99}
"""
DARK = """
@media screen and (prefers-color-scheme:dark){
.chart{--ink:#e8edf2;--muted:#a5b4c2;--grid:#33414d;--bad:#4a2a26;--fill:#5ab4dc}.chart .region{fill:#ffb4a3}
.chart .s0{stroke:#5ab4dc}.chart .s1{stroke:#f0986a}.chart .s2{stroke:#b9a5e6}.chart .s3{stroke:#76cf9f}
.chart .s4{stroke:#ec8fbd}.chart .s5{stroke:#d9c94f}.chart .s6{stroke:#9dbbe4}.chart .s7{stroke:#b4c0cb}}
"""


@dataclass(frozen=True, kw_only=True)
class Series:
    """One line of a chart."""

    name: str
    x: NDArray[np.float64]
    y: NDArray[np.float64]


def axes(
    x_label: str, y_label: str, x: tuple[float, float], y: tuple[float, float], *, log: bool = False
) -> tuple[Axis, Axis]:
    """The two axes of a chart of the usual size."""
    return (
        Axis(low=x[0], high=x[1], start=LEFT, end=WIDTH - RIGHT, label=x_label, log=log and x[0] > 0),
        Axis(low=y[0], high=y[1], start=HEIGHT - BOTTOM, end=TOP, label=y_label, log=log),
    )


def path(x: Axis, y: Axis, xs: ArrayLike, ys: ArrayLike) -> str:
    """A line through these points, without those too close together to be seen."""
    places = np.column_stack([x.place(np.asarray(xs, float)), y.place(np.asarray(ys, float))])
    corners = [places[0]]
    for place in places[1:-1]:
        if np.max(np.abs(place - corners[-1])) >= _LEAST_STEP:
            corners.append(place)
    corners.append(places[-1])
    return "M" + "L".join(f"{a:.1f},{b:.1f}" for a, b in corners)


def svg_lines(x: Axis, y: Axis, series: Sequence[Series]) -> str:
    """Every series, in its own colour and dashes."""
    return "".join(
        f'<path class="line s{i % LINE_STYLES}" d="{path(x, y, curve.x, curve.y)}"/>'
        for i, curve in enumerate(series)
    )


def legend(series: Sequence[Series], at: tuple[float, float]) -> tuple[str, float]:
    """A sample of each line beside its name, in full; and where the last of them ends."""
    rows, y = [], at[1]
    for place, curve in enumerate(series):
        rows.append(
            f'<line class="line s{place % LINE_STYLES}" x1="{at[0]:.0f}" x2="{at[0] + 24:.0f}" y1="{y}" y2="{y}"/>'
        )
        label, height = text_lines(curve.name, (at[0] + 30, y + 4), width=WIDTH - RIGHT - at[0] - 30)
        rows.append(label)
        y += height + 2
    return "".join(rows), y


def frame(
    title: str,
    description: str,
    x: Axis,
    y: Axis,
    body: str,
    *,
    height: int = HEIGHT,
    facts: str = "",
    key: Sequence[Series] = (),
) -> str:
    """The whole drawing, the `key` of its lines below it; `facts` are attributes that a script reads."""
    left, floor = x.start, height - BOTTOM
    title_svg, title_height = text_lines(
        title, (14, 18), width=0.84 * (WIDTH - 28), style="title"
    )  # larger, and bold
    parts = []
    for value, text in x.ticks():
        at = float(x.place(np.array([value]))[0])
        parts.append(f'<line class="gridline" x1="{at:.1f}" x2="{at:.1f}" y1="{TOP}" y2="{floor}"/>')
        parts.append(f'<text class="tick" x="{at:.1f}" y="{floor + 16}" text-anchor="middle">{text}</text>')
    for value, text in y.ticks():
        at = float(y.place(np.array([value]))[0])
        parts.append(f'<line class="gridline" x1="{left}" x2="{WIDTH - RIGHT}" y1="{at:.1f}" y2="{at:.1f}"/>')
        parts.append(f'<text class="tick" x="{left - 6}" y="{at + 4:.1f}" text-anchor="end">{text}</text>')
    axis_label_svg, label_height = text_lines(
        x.label, ((left + WIDTH - RIGHT) / 2, height - 8), width=WIDTH - RIGHT - left, anchor="middle"
    )
    legend_svg, end = legend(key, (left, height + label_height - _LINE_HEIGHT + 10))
    parts += [
        body,
        f'<rect class="frame" x="{left}" y="{TOP}" width="{WIDTH - left - RIGHT}" height="{floor - TOP}"/>',
        axis_label_svg,
        f'<text transform="translate(14,{(TOP + floor) / 2}) rotate(-90)" text-anchor="middle">'
        f"{escape(y.label)}</text>"
        if y.label
        else "",
        legend_svg,
    ]
    title_height -= _LINE_HEIGHT
    bottom = title_height + (end if key else height + label_height - _LINE_HEIGHT)
    return (
        f'<svg class="chart" viewBox="0 0 {WIDTH} {bottom:.0f}" role="img" xmlns="http://www.w3.org/2000/svg" '
        f'aria-label="{escape(title)}. {escape(description)}"{facts}>'
        f"<title>{escape(title)}</title><desc>{escape(description)}</desc>{title_svg}"
        f'<g transform="translate(0,{title_height:.0f})">{"".join(parts)}</g></svg>'
    )


def text_width(text: str, size: float = 12.0) -> float:
    """About how wide a text is, rather too wide."""
    each = (
        0.36 if c in _NARROW_LETTERS else 0.95 if c in _WIDE_LETTERS or ord(c) > 0x2E7F else 0.6 for c in text
    )
    return size * sum(each)


def wrap_text(text: str, width: float) -> list[str]:
    """The text in lines that fit; words, and what stands between signs, are kept whole where they can be.

    >>> wrap_text("hours_per_week of a person", 110)
    ['hours_per_week', 'of a person']
    """
    lines = [""]
    for word in re.findall(r"[^\s=_-]+[\s=_-]*|[\s=_-]+", text):
        if lines[-1] and text_width((lines[-1] + word).rstrip()) > width:
            lines.append("")
        for letter in word:
            if text_width(lines[-1] + letter.rstrip()) > width and lines[-1]:
                lines.append("")
            lines[-1] += letter
    return [line.rstrip() for line in lines]


def text_lines(
    text: str, at: tuple[float, float], *, width: float, anchor: str = "start", style: str = ""
) -> tuple[str, float]:
    """A text in as many lines as it needs, and how much room they take: no label is cut."""
    lines = wrap_text(text, width)
    class_attribute = f' class="{style}"' if style else ""
    svg = "".join(
        f'<text{class_attribute} x="{at[0]:.1f}" y="{at[1] + _LINE_HEIGHT * place:.1f}" '
        f'text-anchor="{anchor}">{escape(line)}</text>'
        for place, line in enumerate(lines)
    )
    return svg, _LINE_HEIGHT * len(lines)


def standalone(*charts: str) -> str:
    """One SVG file with the charts side by side."""
    total = WIDTH * len(charts)
    height = max(int(number) for chart in charts for number in re.findall(r'viewBox="0 0 \d+ (\d+)"', chart))
    inner = "".join(
        f'<g transform="translate({WIDTH * i},0)">{_with_size(chart)}</g>' for i, chart in enumerate(charts)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total} {height}" width="{total}" height="{height}">'
        f"<style>svg{{background:#fff}}{STYLE}</style>{inner}</svg>\n"
    )


def _with_size(chart: str) -> str:
    """A chart within another has to say how large it is."""
    return re.sub(r'viewBox="0 0 (\d+) (\d+)"', r'\g<0> width="\1" height="\2"', chart, count=1)
