"""The pictures of Wu 2016, figures 3.2 and 3.3."""

from __future__ import annotations

from collections.abc import Sequence

from studies.reproductions.bolt_on_words import (
    BOLT_ON,
    BST14,
    NOISELESS,
    OUR_STEP,
    PRINTED,
    PRINTED_BST14,
    SCS13,
    TESTS,
    Found,
    Passes,
)
from studies.reproductions.seed_page import (
    BLUE,
    GREEN,
    MUTED,
    ORANGE,
    PINK,
    RED,
    LineStyle,
    panels,
    plot,
    ticks,
)

LINE_STYLES: dict[str, LineStyle] = {
    NOISELESS: ("#1c2733", (0, (4, 2)), ""),
    PRINTED: (MUTED, (0, (1, 1.5)), "x"),
    BOLT_ON: (BLUE, "-", "o"),
    OUR_STEP: (RED, "-", "D"),
    SCS13: (ORANGE, (0, (6, 1.5)), "s"),
    BST14: (GREEN, (0, (3, 1, 1, 1)), "v"),
    PRINTED_BST14: (PINK, (0, (1, 1.5)), "+"),
}


def draw_accuracy(found: dict[str, dict[int, Found]], epsilons: dict[str, Sequence[float]]) -> None:
    """Figure 3.2: a row per table, a column per test."""
    with panels("bolt_on_accuracy", rows=len(found), columns=4, size=(11.5, 7.6)) as axes:
        for row, (name, tests) in enumerate(found.items()):
            for column, (test, results) in enumerate(tests.items()):
                place = axes[row, column]
                for series, values in results.items():
                    plot(place, series, values, LINE_STYLES[series])
                ticks(place, epsilons[name])
                place.tick_params(axis="x", labelsize=7.5)
                place.set_title(TESTS[test] if row == 0 else "")
                place.set_ylabel(f"{name}\ntest accuracy" if column == 0 else "")
                place.set_xlabel("ε" if row == len(found) - 1 else "")


def draw_passes(found: Passes, places: Sequence[float]) -> None:
    """Figure 3.3."""
    looks: list[LineStyle] = [(BLUE, "-", "o"), (ORANGE, (0, (6, 1.5)), "s"), (RED, (0, (3, 1, 1, 1)), "v")]
    with panels("bolt_on_passes", columns=3, size=(10.5, 3.8)) as axes:
        for place, (title, parts) in zip(axes[0], found.items(), strict=True):
            for look, (label, values) in zip(looks, parts.items(), strict=True):
                plot(place, label, values, look)
            ticks(place, places)
            place.set(title=title, xlabel="ε", ylabel="test accuracy", ylim=(0, 1))
