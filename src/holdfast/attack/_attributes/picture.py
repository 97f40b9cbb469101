"""The picture of attribute risk: with the release and without, and members against what the proof allows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from holdfast._extras import import_optional
from holdfast.attack._roc import COLOURS

if TYPE_CHECKING:
    from holdfast.attack._attributes.attribute_result import AttributeResult

_GREY = "#5b6875"


def attribute_figure(risks: Sequence[AttributeResult]) -> Any:
    """One column: accuracy by the attacker's own people, and members against fresh people. Several: one line each."""
    figure = import_optional("matplotlib.figure", instead="summary()").Figure(
        figsize=(9.2, 4.9 if len(risks) == 1 else 1.6 + 0.42 * len(risks)), layout="constrained"
    )
    left, right = figure.subplots(1, 2, gridspec_kw={"width_ratios": [1.15, 1.0]})
    if len(risks) == 1:
        draw_sizes(left, risks[0])
        draw_bound(right, risks[0])
    else:
        draw_columns(left, right, risks)
    figure.suptitle("internal: computed from real members", x=0.01, ha="left", fontsize=9, color=_GREY)
    return figure


def draw_sizes(axes: Any, risk: AttributeResult) -> None:
    """Accuracy on fresh people against how many people the attacker has: the imputer dashed, attacks solid."""
    sizes = list(risk.sizes)
    rates = [risk.outcome("imputer", size).accuracy(risk.confidence) for size in sizes]
    axes.fill_between(
        sizes,
        [rate.low for rate in rates],
        [rate.high for rate in rates],
        color=_GREY,
        alpha=0.15,
        linewidth=0,
    )
    axes.plot(
        sizes,
        [float(rate) for rate in rates],
        color=_GREY,
        linestyle=(0, (4, 2)),
        marker="o",
        label="without the release (imputer)",
    )
    for place, name in enumerate(list(risk.attacks)[:5]):
        accuracies = [float(risk.outcome(name, size).accuracy()) for size in sizes]
        axes.plot(
            sizes,
            accuracies,
            color=COLOURS[place % len(COLOURS)],
            marker="os^Dv"[place],
            markersize=4,
            linewidth=1.8 if place == 0 else 1.1,
            label=f"with it: {name}",
        )
    axes.set(
        xscale="log",
        xlabel="people whose data the attacker already has",
        ylabel="guessed right, people not in the data",
    )
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axes.minorticks_off()
    axes.set_title(f"Guessing {risk.sensitive}", loc="left", fontsize=11)
    axes.legend(
        fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(-0.02, -0.14), ncols=2, columnspacing=1.2
    )


def draw_bound(axes: Any, risk: AttributeResult) -> None:
    """Right about members against right about fresh people; above the line is forbidden by the proof."""
    gap = risk.gap()
    axes.plot(
        [0, 1], [0, 1], color=_GREY, linewidth=1, linestyle=(0, (4, 3)), label="no leak: members as others"
    )
    if risk.proved is not None:
        at = np.linspace(0.0, 1.0, 200)
        most = [risk.proved.detection_at(float(x)) for x in at]
        axes.fill_between(at, most, 1.0, color="#d55e00", alpha=0.12, linewidth=0)
        axes.plot(at, most, color="#d55e00", linewidth=1.2, label="proved: on average nobody is above")
    down, up = max(0.0, gap.value - gap.low), max(0.0, gap.high - gap.value)
    axes.errorbar(
        [gap.fresh],
        [gap.members],
        yerr=[[down], [up]],
        color=COLOURS[0],
        marker="o",
        capsize=3,
        label=f"measured ({risk.headline})",
    )
    axes.set(
        xlim=(0, 1),
        ylim=(0, 1),
        xlabel="guessed right, people not in the data",
        ylabel="guessed right, members",
    )
    axes.set_title("Epsilon limits only the height above the diagonal", loc="left", fontsize=10)
    axes.legend(fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(-0.02, -0.14))


def draw_columns(left: Any, right: Any, risks: Sequence[AttributeResult]) -> None:
    """Columns from the one that the release adds most to: what it adds, and how members stand to fresh people."""
    ordered = sorted(risks, key=lambda result: result.gain().value)
    places = np.arange(len(ordered))
    for axes, title in (
        (left, "What the release adds: epsilon does not limit it"),
        (right, "Members minus others: epsilon limits it"),
    ):
        axes.axvline(0.0, color=_GREY, linewidth=1, linestyle=(0, (4, 3)))
        axes.set_title(title, loc="left", fontsize=10)
        axes.set_ylim(-0.6, len(ordered) - 0.4)
        axes.locator_params(axis="x", nbins=5)
    for place, risk in zip(places, ordered, strict=True):
        gain, gap = risk.gain(), risk.gap()
        left.plot([gain.low, gain.high], [place, place], color=COLOURS[0], linewidth=1.6)
        left.plot([gain.value], [place], "o", color=COLOURS[0], markersize=5)
        right.plot([gap.low, gap.high], [place, place], color=COLOURS[2], linewidth=1.6)
        right.plot([gap.value], [place], "o", color=COLOURS[2], markersize=5)
        bound = risk.bound()
        if bound is not None:
            right.plot(
                [bound - gap.fresh], [place], marker="|", color="#d55e00", markersize=12, markeredgewidth=2
            )
    left.set_yticks(places, [result.sensitive for result in ordered])
    right.set_yticks(places, ["" for _ in ordered])
    left.set_xlabel("more often right than without the release")
    proved = any(result.proved is not None for result in risks)
    right.set_xlabel("more often right" + (" (orange: the proof's limit)" if proved else ""))
