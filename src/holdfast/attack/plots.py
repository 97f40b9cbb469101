"""Pictures of attacks: the ROC on logarithmic axes, where a few certain victims can be seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from holdfast.errors import missing_extra
from holdfast.privacy.tradeoff import TradeOff

if TYPE_CHECKING:
    from holdfast.attack.evidence import AttackResult

# Okabe and Ito's palette, and line styles, so that colour is never the only difference.
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")
STYLES: tuple[Any, ...] = ("-", (0, (6, 1.5)), (0, (3, 1, 1, 1)), (0, (1, 1)))


def draw_roc(axes: Any, results: Sequence[AttackResult], *, proved: TradeOff | None = None) -> None:
    """Every attack's ROC on these axes; the region that the proof forbids is shaded."""
    floor = max(min(0.5 / result.non_member_scores.size for result in results), 1e-5)
    axes.plot([floor, 1], [floor, 1], color="#5b6875", linewidth=1, linestyle=(0, (4, 3)))
    if proved is not None:
        at = np.geomspace(floor, 1.0, 300)
        most = np.array([max(proved.detection_at(float(x)), floor) for x in at])
        axes.fill_between(at, most, 1.0, color="#d55e00", alpha=0.12, linewidth=0)
        axes.plot(at, most, color="#d55e00", linewidth=1.2, label="proved: on average nobody is above")
    for place, result in enumerate(results):
        false_alarm, found = _corners(*result.roc())
        axes.step(
            np.maximum(false_alarm, floor), np.maximum(found, floor), where="post", linewidth=1.8,
            color=COLOURS[place % len(COLOURS)], linestyle=STYLES[(place // 2) % len(STYLES)],
            label=f"{result.attack} (AUC {result.auc:.3f})",
        )  # fmt: skip
    axes.set(xscale="log", yscale="log", xlim=(floor, 1), ylim=(floor, 1))
    axes.set(xlabel="false alarms", ylabel="members found")


def _corners(false_alarm: Any, found: Any) -> tuple[Any, Any]:
    """The ROC without the points along a rise or a run: what a staircase needs."""
    level, upright = np.diff(found) == 0, np.diff(false_alarm) == 0
    keep = np.ones(found.size, dtype=bool)
    keep[1:-1] = ~((level[:-1] & level[1:]) | (upright[:-1] & upright[1:]))
    return false_alarm[keep], found[keep]


def roc_figure(results: Sequence[AttackResult], *, proved: TradeOff | None = None) -> Any:
    """The same as a figure of its own, marked as internal."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise missing_extra("matplotlib", "plot") from error
    figure = Figure(figsize=(6.2, 5.2), layout="constrained")
    axes = figure.subplots()
    draw_roc(axes, results, proved=proved)
    axes.set_title("internal: computed from real members", loc="left", fontsize=10)
    axes.legend(fontsize=8, loc="lower right", frameon=False)
    return figure
