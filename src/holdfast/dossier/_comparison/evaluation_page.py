"""The page of an evaluation: synthetic rows beside real ones, or beside what was released of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from holdfast.dossier._charts.comparing import Dot, dot_chart, matrix_chart
from holdfast.dossier._section import make_visible
from holdfast.privacy._wording import bound_text, confidence_text
from holdfast.synth._evaluation.prediction import Predictions
from holdfast.synth._evaluation.real_comparison import RealComparison
from holdfast.synth._evaluation.report import EvaluationReport
from holdfast.synth._evaluation.subgroups import SMALL_GROUP_ROWS

MOST_CHART_DOTS = 24
MOST_LISTED_STRENGTHS = 12
CHANCE_LEGEND = ("synthetic", "by chance")


def evaluation_page(report: EvaluationReport, *, audience: str) -> str:
    """One self-contained document in the edition that `report.require_audience` allowed."""
    from markupsafe import Markup

    import holdfast
    from holdfast.dossier._page import document

    record = make_visible(report.to_json(audience=audience))
    record.setdefault("against_real", None)
    record.setdefault("against_release", None)
    charts: dict[str, str] = {}
    tiles: list[dict[str, str]] = []
    strengths, one_way = [], []
    if report.against_real is not None:
        real = report.against_real
        charts |= _real_charts(real)
        tiles += _real_tiles(real)
        strengths = _strengths(real)
        one_way = sorted(
            record["against_real"]["one_way"]["errors"], key=lambda error: -error["total_variation"]
        )
    if report.against_release is not None:
        released = report.against_release
        ranked = sorted(released.tables, key=lambda table: -table.total_variation / (table.noise or 1.0))
        charts["released"] = dot_chart(
            _ranked_title("Noisy tables", len(ranked)),
            [(table.name, table.total_variation, table.noise, 0.0) for table in ranked[:MOST_CHART_DOTS]],
            label="total variation",
            names=("rows", "noise alone"),
        )
        if released.claim is not None:
            record["against_release"]["claim"] = released.claim.summary()
            label = f"of the rows: {released.claim.query_class} are off by no more, with confidence "
            sure = confidence_text(released.claim.confidence)
            tiles.append({"value": f"{bound_text(released.claim.alpha, times=100)} %", "words": label + sure})
        if report.against_real is None:
            for width in (1, 2):
                distance, noise = released.average(width)
                label = f"total variation to noisy {width}-way tables; their noise alone makes {_number_text(noise)}"
                tiles += _tiles_for(distance, label)
    return document(
        "evaluation.html.j2",
        record=record,
        charts={name: Markup(chart) for name, chart in charts.items()},
        tiles=make_visible(tiles),
        strengths=make_visible(strengths),
        one_way=one_way,
        small=SMALL_GROUP_ROWS,
        version=holdfast.__version__,
    )


def _ranked_title(title: str, number: int) -> str:
    return title if number <= MOST_CHART_DOTS else f"{title}, worst {MOST_CHART_DOTS} of {number}"


def _number_text(value: float) -> str:
    return f"{value:.3g}" if math.isfinite(value) else "-"


def _tiles_for(value: float | None, label: str) -> list[dict[str, str]]:
    return (
        [] if value is None or not math.isfinite(value) else [{"value": _number_text(value), "words": label}]
    )


def _real_tiles(real: RealComparison) -> list[dict[str, str]]:
    tiles = []
    for name, marginals in (("one", real.one_way), ("two", real.two_way)):
        label = (
            f"total variation of {name}-way tables, on average; {_number_text(marginals.by_chance)} by chance"
        )
        tiles += _tiles_for(marginals.average, label)
    tiles += _tiles_for(real.associations.average, "difference of correlations, on average")
    if real.predictions is not None:
        best = max(real.predictions.models, key=lambda model: model.on_real.value)
        label = f"{real.predictions.measure} for {real.predictions.target}, trained on synthetic rows; "
        tiles += _tiles_for(
            best.on_synthetic.value, f"{label}{_number_text(best.on_real.value)} on real ones ({best.model})"
        )
    return tiles


def _real_charts(real: RealComparison) -> dict[str, str]:
    names, charts = real.associations.names, {}
    for key, title, marginals in (
        ("one_way", "One-way tables", real.one_way),
        ("two_way", "Two-way tables", real.two_way),
    ):
        ranked = sorted(marginals.errors, key=lambda error: -error.total_variation)
        dots: list[Dot] = [
            (error.name, error.total_variation, error.by_chance, 0.0) for error in ranked[:MOST_CHART_DOTS]
        ]
        charts[key] = dot_chart(
            _ranked_title(title, len(ranked)), dots, label="total variation", names=CHANCE_LEGEND
        )
    strengths = real.associations
    for key, title, values, reach in (
        ("real_strengths", "Correlations, real", strengths.real, 1.0),
        ("synthetic_strengths", "Correlations, synthetic", strengths.synthetic, 1.0),
        ("strength_differences", "Synthetic minus real; full colour at 0.3", strengths.differences, 0.3),
    ):
        charts[key] = matrix_chart(title, names, _rows(values), reach=reach)
    if real.predictions is not None:
        charts["predictions"] = _prediction_chart(real.predictions)
    return charts


def _prediction_chart(predictions: Predictions) -> str:
    dots: list[Dot] = [
        (model.model, model.on_synthetic.value, model.on_real.value, 1.96 * model.on_synthetic.error)
        for model in predictions.models
    ]
    dots.append(("no model", predictions.baseline.value, None, 1.96 * predictions.baseline.error))
    return dot_chart(
        f"{predictions.measure} for {predictions.target} on real rows",
        dots,
        zero=False,
        label=f"{predictions.measure}; whiskers are 95 % intervals",
        names=("trained on synthetic", "on real"),
    )


def _rows(values: Any) -> Sequence[Sequence[float]]:
    return [[float(value) for value in row] for row in values]


def _strengths(real: RealComparison) -> list[dict[str, Any]]:
    kinds = real.associations.kinds
    return [
        {"names": f"{a} x {b}", "kind": kinds[a, b], "real": real_strength, "synthetic": synthetic_strength}
        for a, b, real_strength, synthetic_strength in real.associations.largest(MOST_LISTED_STRENGTHS)
    ]
