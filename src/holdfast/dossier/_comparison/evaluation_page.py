"""The page of an evaluation: synthetic rows beside real ones, or beside what was released of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from holdfast.dossier._charts.comparing import Dot, dot_chart, matrix_chart
from holdfast.dossier._section import visible
from holdfast.privacy._wording import bound_text, confidence_text
from holdfast.synth._evaluation.prediction import Predictions
from holdfast.synth._evaluation.real_comparison import RealComparison
from holdfast.synth._evaluation.report import EvaluationReport
from holdfast.synth._evaluation.subgroups import SMALL

MOST_DOTS = 24
MOST_STRENGTHS = 12
CHANCE = ("synthetic", "by chance")


def evaluation_page(report: EvaluationReport, *, audience: str) -> str:
    """One self-contained document in the edition that `report.require_audience` allowed."""
    from markupsafe import Markup

    import holdfast
    from holdfast.dossier._page import document

    said = visible(report.to_json(audience=audience))
    said.setdefault("against_real", None)
    said.setdefault("against_release", None)
    charts: dict[str, str] = {}
    tiles: list[dict[str, str]] = []
    strengths, one_way = [], []
    if report.against_real is not None:
        real = report.against_real
        charts |= _real_charts(real)
        tiles += _real_tiles(real)
        strengths = _strengths(real)
        one_way = sorted(said["against_real"]["one_way"]["errors"], key=lambda one: -one["total_variation"])
    if report.against_release is not None:
        own = report.against_release
        ranked = sorted(own.tables, key=lambda one: -one.total_variation / (one.noise or 1.0))
        charts["released"] = dot_chart(
            _most("Noisy tables", len(ranked)),
            [(one.name, one.total_variation, one.noise, 0.0) for one in ranked[:MOST_DOTS]],
            label="total variation",
            names=("rows", "noise alone"),
        )
        if own.claim is not None:
            said["against_release"]["claim"] = own.claim.summary()
            words = f"of the rows: {own.claim.query_class} are off by no more, with confidence "
            sure = confidence_text(own.claim.confidence)
            tiles.append({"value": f"{bound_text(own.claim.alpha, times=100)} %", "words": words + sure})
        if report.against_real is None:
            for width in (1, 2):
                distance, noise = own.average(width)
                words = (
                    f"total variation to noisy {width}-way tables; their noise alone makes {_number(noise)}"
                )
                tiles += _tile(distance, words)
    return document(
        "evaluation.html.j2",
        said=said,
        charts={name: Markup(one) for name, one in charts.items()},
        tiles=visible(tiles),
        strengths=visible(strengths),
        one_way=one_way,
        small=SMALL,
        version=holdfast.__version__,
    )


def _most(title: str, number: int) -> str:
    return title if number <= MOST_DOTS else f"{title}, worst {MOST_DOTS} of {number}"


def _number(value: float) -> str:
    return f"{value:.3g}" if math.isfinite(value) else "-"


def _tile(value: float | None, words: str) -> list[dict[str, str]]:
    return [] if value is None or not math.isfinite(value) else [{"value": _number(value), "words": words}]


def _real_tiles(real: RealComparison) -> list[dict[str, str]]:
    found = []
    for name, made in (("one", real.one_way), ("two", real.two_way)):
        words = f"total variation of {name}-way tables, on average; {_number(made.by_chance)} by chance"
        found += _tile(made.average, words)
    found += _tile(real.associations.average, "difference of correlations, on average")
    if real.predictions is not None:
        best = max(real.predictions.models, key=lambda one: one.on_real.value)
        words = f"{real.predictions.measure} for {real.predictions.target}, trained on synthetic rows; "
        found += _tile(
            best.on_synthetic.value, f"{words}{_number(best.on_real.value)} on real ones ({best.model})"
        )
    return found


def _real_charts(real: RealComparison) -> dict[str, str]:
    names, found = real.associations.names, {}
    for key, title, made in (
        ("one_way", "One-way tables", real.one_way),
        ("two_way", "Two-way tables", real.two_way),
    ):
        ranked = sorted(made.errors, key=lambda one: -one.total_variation)
        dots: list[Dot] = [(one.name, one.total_variation, one.by_chance, 0.0) for one in ranked[:MOST_DOTS]]
        found[key] = dot_chart(_most(title, len(ranked)), dots, label="total variation", names=CHANCE)
    strengths = real.associations
    for key, title, values, reach in (
        ("real_strengths", "Correlations, real", strengths.real, 1.0),
        ("synthetic_strengths", "Correlations, synthetic", strengths.synthetic, 1.0),
        ("strength_differences", "Synthetic minus real; full colour at 0.3", strengths.differences, 0.3),
    ):
        found[key] = matrix_chart(title, names, _rows(values), reach=reach)
    if real.predictions is not None:
        found["predictions"] = _prediction_chart(real.predictions)
    return found


def _prediction_chart(made: Predictions) -> str:
    dots: list[Dot] = [
        (one.model, one.on_synthetic.value, one.on_real.value, 1.96 * one.on_synthetic.error)
        for one in made.models
    ]
    dots.append(("no model", made.baseline.value, None, 1.96 * made.baseline.error))
    return dot_chart(
        f"{made.measure} for {made.target} on real rows",
        dots,
        zero=False,
        label=f"{made.measure}; whiskers are 95 % intervals",
        names=("trained on synthetic", "on real"),
    )


def _rows(values: Any) -> Sequence[Sequence[float]]:
    return [[float(one) for one in row] for row in values]


def _strengths(real: RealComparison) -> list[dict[str, Any]]:
    kinds = real.associations.kinds
    return [
        {"names": f"{a} x {b}", "kind": kinds[a, b], "real": ours, "synthetic": theirs}
        for a, b, ours, theirs in real.associations.largest(MOST_STRENGTHS)
    ]
