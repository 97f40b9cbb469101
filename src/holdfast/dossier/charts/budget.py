"""The budget as one bar: spent, held by open accounts, free."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

_WIDTH, _HEIGHT = 460, 92


def share_text(share: float) -> str:
    """Per cent to two digits after the point, where they say something.

    >>> share_text(72.1304), share_text(3e-8), share_text(0.0)
    ('72.13 %', 'under 0.01 %', '0 %')
    """
    return "under 0.01 %" if 0 < share < 0.01 else f"{round(share, 2):g} %"


def budget_chart(parts: Sequence[tuple[str, float]]) -> str:
    """Shares of the limit, in per cent, left to right; the last one is what is free."""
    body, at = [], 14.0
    scale = (_WIDTH - 28) / 100.0
    for place, (_, share) in enumerate(parts):
        width = max(0.0, min(share * scale, _WIDTH - 14 - at))
        body.append(f'<rect class="bar part{place}" x="{at:.1f}" y="32" width="{width:.1f}" height="26"/>')
        at += width
    for place, (name, share) in enumerate(parts):
        left = 14 + place * 150
        body.append(
            f'<rect class="bar part{place}" x="{left}" y="70" width="11" height="11"/>'
            f'<text x="{left + 17}" y="80">{escape(name)} {share_text(share)}</text>'
        )
    words = ", ".join(f"{name} {share_text(share)}" for name, share in parts)
    return (
        f'<svg class="chart" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" xmlns="http://www.w3.org/2000/svg" '
        f'aria-label="The budget: {escape(words)}"><title>The budget</title><desc>{escape(words)}</desc>'
        f'<text class="title" x="14" y="18">The budget</text>{"".join(body)}'
        f'<rect class="frame" x="14" y="32" width="{_WIDTH - 28}" height="26"/></svg>'
    )
