"""The picture of an evaluation, for a notebook."""

from __future__ import annotations

from typing import Any

import numpy as np

from holdfast._extras import optional
from holdfast.synth._evaluation.against_release import ReleasedEvidence
from holdfast.synth._evaluation.real_comparison import RealComparison

MOST = 20
BLUE, ORANGE = "#0b6e99", "#b8501c"


def evaluation_figure(real: RealComparison | None, own: ReleasedEvidence | None) -> Any:
    """Errors of tables, differences of correlations and predictions; of a public report its noisy tables."""
    panels = 1 if real is None else 2 + (real.predictions is not None)
    figure = optional("matplotlib.figure", instead="summary() and to_html()").Figure(
        figsize=(5.2 if panels == 1 else 4.0 * panels, 4.4), layout="constrained"
    )
    axes = np.atleast_1d(figure.subplots(1, panels))
    if real is not None:
        ranked = sorted(real.one_way.errors, key=lambda one: one.total_variation)[-MOST:]
        _dots(axes[0], [(one.name, one.total_variation, one.by_chance) for one in ranked], "two samples")
        _differences(axes[1], real, figure)
        if real.predictions is not None:
            _predictions(axes[2], real)
        figure.supxlabel("INTERNAL: real rows without noise, do not publish", color="#8f1d14", fontsize=10)
    elif own is not None:
        found = sorted(own.tables, key=lambda one: one.total_variation)[-MOST:]
        _dots(axes[0], [(one.name, one.total_variation, one.noise) for one in found], "noise alone")
    return figure


def _dots(axis: Any, dots: list[tuple[str, float, float]], reference: str) -> None:
    places = np.arange(len(dots))
    axis.plot([one[1] for one in dots], places, "o", color=BLUE, label="synthetic rows")
    axis.plot([one[2] for one in dots], places, "o", mfc="none", color="#1c2733", label=reference)
    axis.set_yticks(places, [one[0] for one in dots])
    axis.set_xlim(left=0)
    axis.set_xlabel("total variation")
    axis.legend(frameon=False)


def _differences(axis: Any, real: RealComparison, figure: Any) -> None:
    names = real.associations.names
    drawn = axis.imshow(real.associations.differences, cmap="RdBu_r", vmin=-0.3, vmax=0.3)
    axis.set_xticks([])
    axis.grid(visible=False)
    axis.set_yticks(range(len(names)), names, fontsize=8)
    axis.set_title("correlations: synthetic minus real", fontsize=10)
    figure.colorbar(drawn, ax=axis, shrink=0.7)


def _predictions(axis: Any, real: RealComparison) -> None:
    made = real.predictions
    assert made is not None
    places = np.arange(len(made.models))
    for shift, name, color in ((-0.12, "on_real", "#1c2733"), (0.12, "on_synthetic", BLUE)):
        scores = [getattr(one, name) for one in made.models]
        axis.errorbar(
            [one.value for one in scores],
            places + shift,
            xerr=[1.96 * one.error for one in scores],
            fmt="o",
            color=color,
            label=f"trained {name.replace('_', ' ')}",
        )
    axis.axvline(made.baseline.value, color=ORANGE, linestyle="--", label="no model")
    axis.set_yticks(places, [one.model for one in made.models])
    axis.set_xlabel(f"{made.measure} for {made.target} on real rows")
    # Above the picture: inside, it would lie on intervals.
    axis.legend(frameon=False, fontsize=8, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
