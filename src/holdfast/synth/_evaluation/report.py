"""EvaluationReport: an evaluation of synthetic rows as a summary, a figure, a page and JSON.

Its audience follows from its contents and cannot be set. A report with anything computed from real rows is internal,
because these numbers have no noise; a report that rests on a release alone is public.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Literal

import numpy as np

from holdfast.errors import ParameterError
from holdfast.release._certificate import Certificate
from holdfast.synth._evaluation.against_release import ReleasedEvidence
from holdfast.synth._evaluation.distances import WARNING
from holdfast.synth._evaluation.figure import evaluation_figure
from holdfast.synth._evaluation.prediction import Predictions
from holdfast.synth._evaluation.real_comparison import RealComparison
from holdfast.synth._evaluation.subgroups import Subgroups

INTERNAL = "internal: computed from real rows without noise, do not publish"
PUBLIC = "public: from released values only, nothing was spent"


@dataclass(frozen=True, kw_only=True, eq=False)
class EvaluationReport:
    """A comparison with real rows, evidence from a release, or both; `audience` follows from which."""

    title: str
    against_real: RealComparison | None = None
    against_release: ReleasedEvidence | None = None

    @property
    def audience(self) -> Literal["public", "internal"]:
        """Internal if the report compares with real rows, else public."""
        return "public" if self.against_real is None else "internal"

    def require_audience(self, audience: str | None) -> str:
        """The requested audience, by default the report's own; an error if an internal report is to be public."""
        if audience not in (None, "public", "internal"):
            raise ParameterError(f"audience must be 'public' or 'internal', got audience={audience!r}")
        if audience == "public" and self.audience == "internal":
            raise ParameterError(
                "audience must be 'internal': this evaluation was computed from real rows without noise; what may be "
                "published rests on a release alone (Synthesizer.evaluate() without rows, holdfast evaluate --release)"
            )
        return audience or self.audience

    def summary(self) -> str:
        """A few lines of text; the first names the audience."""
        lines = [f"{self.title} ({INTERNAL if self.audience == 'internal' else PUBLIC})"]
        if self.against_real is not None:
            lines += _real_lines(self.against_real)
        if self.against_release is not None:
            lines += _release_lines(self.against_release, alone=self.against_real is None)
        return "\n".join(lines)

    def to_json(self, *, audience: str | None = None) -> dict[str, Any]:
        """The report as JSON values; NaN is null, and nothing is about single rows."""
        shown = self.require_audience(audience)
        report: dict[str, Any] = {
            "format": "holdfast-evaluation/1",
            "title": self.title,
            "audience": shown,
            "notice": INTERNAL if shown == "internal" else PUBLIC,
        }
        if self.against_real is not None:
            real = self.against_real
            report["against_real"] = plain(real) | {
                "average_total_variation": plain(
                    {"one_way": real.one_way.average, "two_way": real.two_way.average}
                ),
                "by_chance": plain({"one_way": real.one_way.by_chance, "two_way": real.two_way.by_chance}),
                "distance_warning": WARNING,
            }
        if self.against_release is not None:
            report["against_release"] = plain(self.against_release)
        return report

    def to_html(self, *, audience: str | None = None) -> str:
        """One self-contained page, which names its audience on every printed sheet."""
        from holdfast.dossier._comparison.evaluation_page import evaluation_page

        return evaluation_page(self, audience=self.require_audience(audience))

    def plot(self) -> Any:
        """Errors, correlations and predictions in one matplotlib figure."""
        return evaluation_figure(self.against_real, self.against_release)

    def __repr__(self) -> str:
        return self.summary()


def plain(value: Any) -> Any:
    """A value as JSON: numbers of six digits, null where undefined.

    Fields that a dataclass keeps out of its `repr` are about single rows and are left out.
    """
    if isinstance(value, Certificate):
        return value.to_json()  # with all digits: a bound is rounded once, where it is shown
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value) if field.repr}
    if isinstance(value, Mapping):
        return {
            " x ".join(key) if isinstance(key, tuple) else str(key): plain(entry)
            for key, entry in value.items()
        }
    if isinstance(value, np.ndarray | list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, float | np.floating):
        return float(f"{value:.6g}") if math.isfinite(value) else None
    return int(value) if isinstance(value, np.integer) else value


def _number(value: float, form: str = ".4f") -> str:
    """A formatted number, or a dash where it is undefined."""
    return f"{value:{form}}" if math.isfinite(value) else "-"


def _real_lines(real: RealComparison) -> list[str]:
    worst = real.two_way.worst or real.one_way.worst
    lines = [
        f"  {real.synthetic_rows:,} synthetic rows against {real.rows:,} real ones",
        f"  one-way tables: average total variation {_number(real.one_way.average)} (two samples: "
        f"{_number(real.one_way.by_chance)}); two-way: {_number(real.two_way.average)} "
        f"({_number(real.two_way.by_chance)})",
    ]
    if worst is not None:
        lines.append(f"  largest error of a share: {worst.largest:.4f}, {worst.name} = {worst.where}")
    for a, b, ours, theirs in real.associations.largest(1):
        lines.append(
            f"  correlations differ by {_number(real.associations.average, '.3f')} on average, most for {a} and {b}: "
            f"{ours:.2f} really, {theirs:.2f} here"
        )
    if real.predictions is not None:
        predictions = real.predictions
        lines.append(
            f"  {predictions.measure} for {predictions.target} on {predictions.tested:,} held-out real rows, "
            f"trained on {predictions.trained:,} real | synthetic rows "
            f"(without a model {predictions.baseline.value:.3f}):"
        )
        if any(predictions.without_target):
            lines.append(
                f"    {predictions.without_target[0]:,} real and {predictions.without_target[1]:,} synthetic "
                f"rows have no value of {predictions.target}, and are left out"
            )
        for model in predictions.models:
            lines.append(
                f"    {model.model}: {model.on_real.value:.3f} | {model.on_synthetic.value:.3f}, "
                f"lost {model.gap.value:+.3f} +- {1.96 * model.gap.error:.3f}"
            )
    for subgroups in real.subgroups:
        lines += _group_lines(subgroups, real.predictions)
    near = real.closest
    lines.append(
        f"  closest real row: median distance {near.median:.3f}, of fresh real rows {near.fresh_median:.3f}; equal to "
        f"a real row {100 * near.copies:.1f} %, fresh real rows {100 * near.fresh_copies:.1f} % (no privacy measure)"
    )
    if near.nearer_to_members is not None:
        lines.append(
            f"  nearer to a member than to one held out: {100 * near.nearer_to_members:.1f} % "
            f"+- {196 * (near.nearer_error or 0):.1f} (50 % where nothing was learnt of single rows)"
        )
    if real.told_apart is not None:
        lines.append(
            f"  told from real rows: AUC {real.told_apart.auc:.3f} +- {1.96 * real.told_apart.auc_error:.3f} (0.5 is a "
            f"coin), pMSE ratio {real.told_apart.pmse_ratio:.1f} (1 is as good as real)"
        )
    return [*lines, *(f"  note: {note}" for note in real.notes)]


def _group_lines(subgroups: Subgroups, predicted: Predictions | None) -> list[str]:
    lines = []
    for group in subgroups.groups:
        scores = (
            f", {predicted.measure} {_number(group.on_real, '.3f')} | {_number(group.on_synthetic, '.3f')}"
            if predicted
            else ""
        )
        few = " SMALL: mostly chance" if group.rows else " NO REAL ROWS"
        small = few if group.small else ""
        lines.append(
            f"  {subgroups.by}={group.group} ({group.rows:,} rows, {100 * group.share:.1f} %, here "
            f"{100 * group.synthetic_share:.1f} %): total variation {_number(group.total_variation)} "
            f"({_number(group.by_chance)} by chance), of pairs {_number(group.two_way)} "
            f"({_number(group.two_way_by_chance)})"
            f"{scores}{small}"
        )
    return [*lines, *([f"  and {subgroups.left_out} groups more"] if subgroups.left_out else [])]


def _release_lines(evidence: ReleasedEvidence, *, alone: bool) -> list[str]:
    lines = [f"  {evidence.rows:,} rows against {len(evidence.tables)} noisy tables of {evidence.method}"]
    for width in sorted({len(table.columns) for table in evidence.tables}):
        distance, noise = evidence.average(width)
        lines.append(
            f"  {width}-way: average total variation {_number(distance)} to the noisy tables, whose noise alone makes "
            f"about {_number(noise)}: rows and true tables differ by about "
            f"{_number(min(1.0, distance + noise))} or less"
        )
    if evidence.claim is not None:
        lines.append(f"  certificate: {evidence.claim.summary()}")
    else:
        lines.append("  no certificate speaks of these rows")
    for group in evidence.groups:
        lines.append(
            f"  {group.by}={group.group} ({100 * group.share:.1f} %, here {100 * group.synthetic_share:.1f} %): total "
            f"variation {group.total_variation:.4f} in {group.columns} table{'s' * (group.columns > 1)}, noise alone "
            f"{group.noise:.4f}"
        )
    if evidence.drowned:
        lines.append(f"  lost in the noise: {', '.join(evidence.drowned)}")
    if not evidence.private:
        lines.append("  NOT PRIVATE: the release was drawn from a seed")
    if evidence.assumption:
        lines.append(f"  assumption: {evidence.assumption}")
    lines.append(f"  {len(evidence.unmeasured)} pairs of columns were not measured")
    return [*lines, *(f"  cannot be known from a release: {topic}" for topic in evidence.unknown if alone)]
