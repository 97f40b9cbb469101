"""Shape functions: numbers as lines, categories as dots, pairs of columns as tables of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any, Protocol

import numpy as np

from holdfast.dossier._charts.bars import coefficient_chart
from holdfast.dossier._charts.frame import TOP, WIDTH, Axis, frame, path

MOST_CATEGORY_DOTS = 24
LINE_CLASS = "line s0"
HEIGHT, LEFT, BOTTOM, RIGHT = 240, 64, 44, 16


class DrawnShapes(Protocol):
    """What is drawn."""

    @property
    def rows(self) -> Sequence[Any]:
        """Shapes of columns."""

    @property
    def pairs(self) -> Sequence[Any]:
        """Of pairs of columns."""


def shape_charts(utility: DrawnShapes) -> str:
    """All of them, one after the other."""
    return "".join(
        [*(_shape_chart(shape) for shape in utility.rows), *(_pair_table(shape) for shape in utility.pairs)]
    )


def _shape_chart(shape: Any) -> str:
    """Numbers as a line of steps, categories as dots."""
    if not shape.numeric:
        largest = np.argsort(-np.abs(shape.values), kind="stable")[
            :MOST_CATEGORY_DOTS
        ]  # those that move the score most
        order = largest[np.argsort(-np.asarray(shape.values)[largest], kind="stable")]
        names, values = [shape.labels[place] for place in order], [shape.values[place] for place in order]
        return coefficient_chart(
            f"What {shape.name} adds to the score",
            names,
            values,
            [None] * len(names),
            label="adds to the score",
        )
    adds = np.asarray(shape.values)
    low, high = float(adds.min()), float(adds.max())
    margin = 0.06 * (high - low) or 1.0
    first, last = shape.places[0], shape.places[-1]
    x = Axis(
        low=first, high=last if last > first else first + 1.0, start=LEFT, end=WIDTH - RIGHT, label=shape.name
    )
    y = Axis(low=low - margin, high=high + margin, start=HEIGHT - BOTTOM, end=TOP, label="adds to the score")
    description = f"{shape.name}: from {low:.3g} to {high:.3g}"
    body = f'<path class="{LINE_CLASS}" d="{path(x, y, np.asarray(shape.places), adds)}"/>'
    return frame(f"What {shape.name} adds to the score", description, x, y, body, height=HEIGHT)


def _pair_table(shape: Any) -> str:
    """A heat map as a table: every cell says its number, so colour is not needed to read it."""
    size = len(shape.left)
    values = np.asarray(shape.values).reshape(size, size)
    head = "".join(f'<th scope="col" class="n">{escape(word)}</th>' for word in shape.right)
    rows = "".join(
        f'<tr><th scope="row">{escape(word)}</th>'
        + "".join(f'<td class="n">{value:+.2f}</td>' for value in values[place])
        + "</tr>"
        for place, word in enumerate(shape.left)
        if word
    )
    caption = f"What {escape(shape.name)} add together, beyond each alone"
    return (
        f'<div class="scroll" role="region" aria-label="{caption}" tabindex="0">'
        f"<table><caption>{caption}</caption><thead><tr><th></th>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )
