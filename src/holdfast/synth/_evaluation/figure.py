"""The figure of an evaluation, for a notebook (matplotlib)."""

from __future__ import annotations

from typing import Any

import numpy as np

from holdfast._extras import import_optional
from holdfast.synth._evaluation.against_release import ReleasedEvidence
from holdfast.synth._evaluation.real_comparison import RealComparison

MOST_DOTS = 20
BLUE, ORANGE = "#0b6e99", "#b8501c"


def evaluation_figure(real: RealComparison | None, evidence: ReleasedEvidence | None) -> Any:
    """Errors of tables, differences of correlations and predictions; in a public report distances to noisy tables."""
    panels = 1 if real is None else 2 + (real.predictions is not None)
    figure = import_optional("matplotlib.figure", instead="summary() and to_html()").Figure(
        figsize=(5.2 if panels == 1 else 4.0 * panels, 4.4), layout="constrained"
    )
    axes = np.atleast_1d(figure.subplots(1, panels))
    if real is not None:
        ranked = sorted(real.one_way.errors, key=lambda error: error.total_variation)[-MOST_DOTS:]
        _dots(
            axes[0], [(error.name, error.total_variation, error.by_chance) for error in ranked], "two samples"
        )
        _differences(axes[1], real, figure)
        if real.predictions is not None:
            _predictions(axes[2], real)
        figure.supxlabel("INTERNAL: real rows without noise, do not publish", color="#8f1d14", fontsize=10)
    elif evidence is not None:
        tables = sorted(evidence.tables, key=lambda table: table.total_variation)[-MOST_DOTS:]
        _dots(axes[0], [(table.name, table.total_variation, table.noise) for table in tables], "noise alone")
    return figure


def _dots(axis: Any, dots: list[tuple[str, float, float]], reference: str) -> None:
    places = np.arange(len(dots))
    axis.plot([dot[1] for dot in dots], places, "o", color=BLUE, label="synthetic rows")
    axis.plot([dot[2] for dot in dots], places, "o", mfc="none", color="#1c2733", label=reference)
    axis.set_yticks(places, [dot[0] for dot in dots])
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
    predictions = real.predictions
    assert predictions is not None
    places = np.arange(len(predictions.models))
    for shift, name, color in ((-0.12, "on_real", "#1c2733"), (0.12, "on_synthetic", BLUE)):
        scores = [getattr(model, name) for model in predictions.models]
        axis.errorbar(
            [score.value for score in scores],
            places + shift,
            xerr=[1.96 * score.error for score in scores],
            fmt="o",
            color=color,
            label=f"trained {name.replace('_', ' ')}",
        )
    axis.axvline(predictions.baseline.value, color=ORANGE, linestyle="--", label="no model")
    axis.set_yticks(places, [model.model for model in predictions.models])
    axis.set_xlabel(f"{predictions.measure} for {predictions.target} on real rows")
    # The legend is above the axes: inside, it would cover intervals.
    axis.legend(frameon=False, fontsize=8, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
