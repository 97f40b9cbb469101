"""Bars and intervals: released counts, the weights of a model, and the parts of a budget."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

import numpy as np
from numpy.typing import ArrayLike

from holdfast.dossier._charts.frame import BOTTOM, RIGHT, TOP, WIDTH, Axis, frame, wrap_text
from holdfast.privacy._wording import bound_text

LABEL_WIDTH = 176
_LEAST_HEIGHT, _ROW_HEIGHT, _LINE_HEIGHT, _BAR_HEIGHT = 160, 19, 13, 30
_BUDGET_HEIGHT = 92


def bar_chart(title: str, labels: Sequence[str], values: ArrayLike, *, error: float) -> str:
    """One bar a count."""
    counts = np.asarray(values, float)
    tops, height = _row_tops(labels, least=_LEAST_HEIGHT)
    top = float(max(np.max(counts) + error, 1.0)) * 1.05
    x = Axis(low=0.0, high=top, start=LABEL_WIDTH, end=WIDTH - RIGHT, label="released count, in records")
    y = Axis(low=0.0, high=1.0, start=TOP, end=height - BOTTOM, label="", ticked=False)
    parts = []
    for place, (label, count) in enumerate(zip(labels, counts, strict=True)):
        middle, row = (tops[place] + tops[place + 1]) / 2, tops[place + 1] - tops[place]
        ends = x.place(np.array([0.0, count, count - error, count + error]))
        bar_height = max(1.0, min(0.7 * row, _BAR_HEIGHT))
        parts.append(
            f'<rect class="bar" x="{ends[0]:.1f}" y="{middle - bar_height / 2:.1f}" '
            f'width="{max(0.0, ends[1] - ends[0]):.1f}" height="{bar_height:.1f}"/>'
            f'<line class="whisker" x1="{ends[2]:.1f}" x2="{ends[3]:.1f}" y1="{middle:.1f}" y2="{middle:.1f}"/>'
            f"{_label(label, middle)}"
        )
    text = "; ".join(f"{label}: {count:.0f}" for label, count in zip(labels, counts, strict=True))
    return frame(
        title, f"{text}; each within {bound_text(error)} records.", x, y, "".join(parts), height=height
    )


def coefficient_chart(
    title: str,
    names: Sequence[str],
    weights: Sequence[float],
    reach: Sequence[float | None],
    *,
    label: str = "weight",
) -> str:
    """One line a coefficient: a dot, and the interval where its noise is known."""
    values = np.asarray(weights, float)
    half_widths = np.array([0.0 if r is None else r for r in reach])
    most = float(np.max(np.abs(values) + half_widths)) * 1.06 or 1.0
    tops, height = _row_tops(names, least=TOP + BOTTOM + 4 * _ROW_HEIGHT)
    x = Axis(low=-most, high=most, start=LABEL_WIDTH, end=WIDTH - RIGHT, label=label)
    y = Axis(low=0.0, high=1.0, start=TOP, end=height - BOTTOM, label="", ticked=False)
    zero = float(x.place(np.array([0.0]))[0])
    parts = [f'<line class="zero" x1="{zero:.1f}" x2="{zero:.1f}" y1="{TOP}" y2="{height - BOTTOM}"/>']
    for place, (name, value, half) in enumerate(zip(names, values, half_widths, strict=True)):
        middle = (tops[place] + tops[place + 1]) / 2
        low, at, high = x.place(np.array([value - half, value, value + half]))
        parts.append(
            f'<line class="whisker" x1="{low:.1f}" x2="{high:.1f}" y1="{middle:.1f}" y2="{middle:.1f}"/>'
            f'<circle class="dot" cx="{at:.1f}" cy="{middle:.1f}" r="3.4"/>{_label(name, middle)}'
        )
    text = "; ".join(
        f"{name}: {value:.3g}" + ("" if half is None else f" plus or minus {half:.2g}")
        for name, value, half in zip(names, values, reach, strict=True)
    )
    return frame(title, text, x, y, "".join(parts), height=height)


def interval_chart(
    title: str,
    names: Sequence[str],
    values: Sequence[float | None],
    ends: Sequence[tuple[float, float]],
    *,
    label: str,
) -> str:
    """One line a number: its interval, and a dot where something was learnt."""
    low, high = min(end[0] for end in ends), max(end[1] for end in ends)
    room = 0.04 * (high - low) or 1.0
    tops, height = _row_tops(names, least=TOP + BOTTOM + 4 * _ROW_HEIGHT)
    x = Axis(low=low - room, high=high + room, start=LABEL_WIDTH, end=WIDTH - RIGHT, label=label)
    y = Axis(low=0.0, high=1.0, start=TOP, end=height - BOTTOM, label="", ticked=False)
    parts = []
    for place, (name, value, pair) in enumerate(zip(names, values, ends, strict=True)):
        middle = (tops[place] + tops[place + 1]) / 2
        first, last = x.place(np.array(pair))
        parts.append(
            f'<line class="whisker" x1="{first:.1f}" x2="{last:.1f}" y1="{middle:.1f}" y2="{middle:.1f}"/>'
            f"{_label(name, middle)}"
        )
        if value is not None:
            at = float(x.place(np.array([value]))[0])
            parts.append(f'<circle class="dot" cx="{at:.1f}" cy="{middle:.1f}" r="3.4"/>')
    text = "; ".join(
        f"{name}: from {pair[0]:.4g} to {pair[1]:.4g}" for name, pair in zip(names, ends, strict=True)
    )
    return frame(title, text, x, y, "".join(parts), height=height)


def _row_tops(labels: Sequence[str], *, least: int) -> tuple[list[float], int]:
    """Where each row begins, the end of the last, and the height of the chart: a row is as high as its label."""
    heights = [
        max(_ROW_HEIGHT, _LINE_HEIGHT * len(wrap_text(label, LABEL_WIDTH - 14)) + 6) for label in labels
    ]
    spare = max(0.0, least - TOP - BOTTOM - sum(heights)) / len(heights)
    tops = [float(TOP)]
    for height in heights:
        tops.append(tops[-1] + height + spare)
    return tops, math.ceil(tops[-1]) + BOTTOM


def _label(label: str, middle: float) -> str:
    """The whole label, ending beside the axis, its lines around the middle of its row."""
    lines = wrap_text(label, LABEL_WIDTH - 14)
    first = middle + 4 - _LINE_HEIGHT * (len(lines) - 1) / 2
    return "".join(
        f'<text class="tick" x="{LABEL_WIDTH - 6}" y="{first + _LINE_HEIGHT * place:.1f}" text-anchor="end">'
        f"{escape(line)}</text>"
        for place, line in enumerate(lines)
    )


def share_text(share: float) -> str:
    """Per cent to two digits after the point, where they say something.

    >>> share_text(72.1304), share_text(3e-8), share_text(0.0)
    ('72.13 %', 'under 0.01 %', '0 %')
    """
    return "under 0.01 %" if 0 < share < 0.01 else f"{round(share, 2):g} %"


def budget_chart(parts: Sequence[tuple[str, float]]) -> str:
    """Shares of the limit, in per cent, left to right; the last one is what is free."""
    body, at = [], 14.0
    scale = (WIDTH - 28) / 100.0
    for place, (_, share) in enumerate(parts):
        width = max(0.0, min(share * scale, WIDTH - 14 - at))
        body.append(f'<rect class="bar part{place}" x="{at:.1f}" y="32" width="{width:.1f}" height="26"/>')
        at += width
    for place, (name, share) in enumerate(parts):
        left = 14 + place * 150
        body.append(
            f'<rect class="bar part{place}" x="{left}" y="70" width="11" height="11"/>'
            f'<text x="{left + 17}" y="80">{escape(name)} {share_text(share)}</text>'
        )
    description = ", ".join(f"{name} {share_text(share)}" for name, share in parts)
    return (
        f'<svg class="chart" viewBox="0 0 {WIDTH} {_BUDGET_HEIGHT}" role="img" xmlns="http://www.w3.org/2000/svg" '
        f'aria-label="The budget: {escape(description)}"><title>The budget</title><desc>{escape(description)}</desc>'
        f'<text class="title" x="14" y="18">The budget</text>{"".join(body)}'
        f'<rect class="frame" x="14" y="32" width="{WIDTH - 28}" height="26"/></svg>'
    )
