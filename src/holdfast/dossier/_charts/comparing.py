"""Charts that compare: dots beside their references, matrices as coloured squares, accuracy against epsilon."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

import numpy as np

from holdfast.dossier._charts.bars import LABEL_WIDTH
from holdfast.dossier._charts.frame import (
    BOTTOM,
    HEIGHT,
    LEFT,
    LINE_STYLES,
    RIGHT,
    TOP,
    WIDTH,
    Axis,
    Series,
    frame,
    legend,
    path,
)

_ROW_HEIGHT, _KEY_HEIGHT = 19, 20
Dot = tuple[str, float, float | None, float]
"""A label, a value, its reference (None for none) and how far its whisker reaches on either side."""


def dot_chart(
    title: str, dots: Sequence[Dot], *, label: str, names: tuple[str, str], zero: bool = True
) -> str:
    """One line a dot: full for the value, hollow for what it is held against; `names` say which is which."""
    ends = [v for _, value, other, reach in dots for v in (value - reach, value + reach, other)]
    finite_ends = [v for v in ends if v is not None and math.isfinite(v)] or [0.0, 1.0]
    low, high = (0.0 if zero else min(finite_ends)), max(finite_ends)
    margin = 0.06 * ((high - low) or 1.0)
    height = TOP + BOTTOM + _KEY_HEIGHT + _ROW_HEIGHT * max(len(dots), 3)
    x = Axis(
        low=low if zero else low - margin,
        high=high + margin,
        start=LABEL_WIDTH,
        end=WIDTH - RIGHT,
        label=label,
    )
    y = Axis(low=0.0, high=1.0, start=TOP, end=height - BOTTOM, label="", ticked=False)
    row = (height - TOP - BOTTOM - _KEY_HEIGHT) / max(len(dots), 1)
    parts = [_legend_key(names)]
    parts += [_dot(x, TOP + _KEY_HEIGHT + (place + 0.5) * row, dot) for place, dot in enumerate(dots)]
    description = "; ".join(_dot_text(dot, names[1]) for dot in dots)
    return frame(title, description, x, y, "".join(parts), height=height)


def _dot(x: Axis, middle: float, dot: Dot) -> str:
    name, value, other, reach = dot
    shapes = _label(LABEL_WIDTH, middle, _shorten(name, 24))
    if math.isfinite(value):
        a, b, c = x.place(np.array([value - reach, value, value + reach]))
        shapes += (
            f'<line class="whisker" x1="{a:.1f}" x2="{c:.1f}" y1="{middle:.1f}" y2="{middle:.1f}"/>'
            if reach
            else ""
        )
        shapes += f'<circle class="dot" cx="{b:.1f}" cy="{middle:.1f}" r="3.6"/>'
    if other is not None and math.isfinite(other):
        at = float(x.place(np.array([other]))[0])
        shapes += f'<circle class="hollow" cx="{at:.1f}" cy="{middle:.1f}" r="4.4"/>'
    return shapes


def _dot_text(dot: Dot, reference: str) -> str:
    name, value, other, _ = dot
    return f"{name}: {value:.3g}" + ("" if other is None else f", {reference} {other:.3g}")


def _label(left: float, middle: float, text: str) -> str:
    return (
        f'<text class="tick" x="{left - 6:.0f}" y="{middle + 4:.1f}" text-anchor="end">{escape(text)}</text>'
    )


def _legend_key(names: tuple[str, str]) -> str:
    y, first, second = TOP + 13, LABEL_WIDTH + 12, LABEL_WIDTH + 40 + 7 * len(names[0])
    return (
        f'<circle class="dot" cx="{first}" cy="{y - 4}" r="3.6"/>'
        f'<text x="{first + 9}" y="{y}">{escape(names[0])}</text>'
        f'<circle class="hollow" cx="{second}" cy="{y - 4}" r="4.4"/>'
        f'<text x="{second + 10}" y="{y}">{escape(names[1])}</text>'
    )


def matrix_chart(title: str, names: Sequence[str], values: Sequence[Sequence[float]], *, reach: float) -> str:
    """Squares: orange above zero, blue below, full colour at `reach`; crossed where there is no number.

    Columns are numbered, and the numbers stand beside the names of the rows: no name is turned or cut twice.
    """
    left, top, size = 150.0, TOP + 18, len(names)
    step = min(26.0, (WIDTH - RIGHT - left) / max(size, 1))
    height = round(top + step * size + 12)
    parts = [
        f'<svg class="chart" viewBox="0 0 {WIDTH} {height}" role="img" xmlns="http://www.w3.org/2000/svg" '
        f'aria-label="{escape(title)}"><title>{escape(title)}</title><desc>{escape(_largest(names, values))}</desc>'
        f'<text class="title" x="14" y="18">{escape(title)}</text>'
    ]
    for i, name in enumerate(names):
        parts.append(_label(left, top + (i + 0.5) * step, f"{_shorten(name, 18)} {i + 1}"))
        at = left + (i + 0.5) * step
        parts.append(f'<text class="tick" x="{at:.1f}" y="{TOP + 12}" text-anchor="middle">{i + 1}</text>')
        for j, other in enumerate(names):
            caption = "" if i == j else f"{name} and {other}: {values[i][j]:+.2f}"
            parts.append(_square(left + j * step, top + i * step, step, values[i][j] / reach, caption))
    return "".join([*parts, "</svg>"])


def _square(x: float, y: float, step: float, depth: float, caption: str) -> str:
    """One pair of columns; without words a column and itself."""
    place = f'x="{x:.1f}" y="{y:.1f}" width="{step:.1f}" height="{step:.1f}"'
    if not caption:
        return f'<rect class="own" {place}/>'
    empty = f'<rect class="cell" {place}/>'
    if not math.isfinite(depth):
        return f'{empty}<line class="gridline" x1="{x:.1f}" y1="{y:.1f}" x2="{x + step:.1f}" y2="{y + step:.1f}"/>'
    side, title = "more" if depth > 0 else "less", f"<title>{escape(caption)}</title>"
    return f'{empty}<rect class="{side}" {place} fill-opacity="{min(abs(depth), 1.0):.2f}">{title}</rect>'


def _largest(names: Sequence[str], values: Sequence[Sequence[float]]) -> str:
    strengths = [
        (abs(v), f"{names[i]} and {names[j]} {v:+.2f}")
        for i in range(len(names))
        for j in range(i + 1, len(names))
        if math.isfinite(v := values[i][j])
    ]
    return "the largest: " + "; ".join(text for _, text in sorted(strengths, reverse=True)[:5])


def _shorten(name: str, most: int) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"


def epsilon_chart(
    title: str,
    methods: Mapping[str, Sequence[tuple[float, float, float]]],
    *,
    ceiling: float,
    floor: float,
    measure: str,
    floor_name: str,
    goal: float | None = None,
) -> str:
    """A measure against epsilon on a logarithmic scale: (epsilon, mean, reach) of each method, beside no privacy."""
    all_points = [point for points in methods.values() for point in points]
    tops = [
        ceiling,
        floor,
        *(m + r for _, m, r in all_points),
        *(m - r for _, m, r in all_points),
        *([goal] if goal else []),
    ]
    # What is far below a model without features is cut off: a picture of it would show nothing else.
    low, high = max(floor - 1.0, min(tops)), min(1.0, max(tops))
    if measure == "accuracy":
        low = max(0.0, low)
    margin = 0.08 * ((high - low) or 0.1)
    first, last = min(e for e, _, _ in all_points), max(e for e, _, _ in all_points)
    x = Axis(low=first / 1.25, high=last * 1.25, start=LEFT, end=WIDTH - RIGHT, label="epsilon", log=True)
    y = Axis(low=low - margin, high=high + margin, start=HEIGHT - BOTTOM, end=TOP, label=measure)
    series = [
        Series(name=name, x=np.array([p[0] for p in points]), y=np.array([p[1] for p in points]))
        for name, points in methods.items()
    ]
    body = []
    for place, (curve, points) in enumerate(zip(series, methods.values(), strict=True)):
        body.append(f'<path class="line s{place % LINE_STYLES}" d="{path(x, y, curve.x, curve.y)}"/>')
        for epsilon, mean, reach in points:
            at = float(x.place(np.array([epsilon]))[0])
            up, middle, down = y.place(np.array([mean + reach, mean, mean - reach]))
            body.append(
                f'<line class="whisker" x1="{at:.1f}" x2="{at:.1f}" y1="{up:.1f}" y2="{down:.1f}"/>'
                f'<circle class="dot" cx="{at:.1f}" cy="{middle:.1f}" r="3.2"/>'
            )
    for value, caption in ((ceiling, "without privacy"), (floor, floor_name), (goal, "asked")):
        if value is not None:
            at = float(y.place(np.array([value]))[0])
            body.append(f'<line class="coin" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at:.1f}" y2="{at:.1f}"/>')
            body.append(f'<text class="tick" x="{LEFT + 6}" y="{at - 4:.1f}">{caption} {value:.3f}</text>')
    if len(series) > 1:
        body.append(legend(series, (WIDTH * 0.62, HEIGHT * 0.55))[0])
    values_text = "; ".join(
        f"{name}: " + ", ".join(f"{m:.3f} at epsilon {e:g}" for e, m, _ in points)
        for name, points in methods.items()
    )
    return frame(
        title, f"{values_text}; without privacy {ceiling:.3f}; {floor_name} {floor:.3f}", x, y, "".join(body)
    )
