"""The demo in one screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from holdfast.attack import MembershipReport
from holdfast.audit import AuditResult
from holdfast.dossier.accuracy import Accuracy
from holdfast.dossier.demo.releases import DELTA, LIMIT, TARGET
from holdfast.dossier.dossier import Dossier
from holdfast.dossier.verification import DossierVerification
from holdfast.release import Release


def summary(
    model: Release[Any],
    synthetic: Release[Any],
    *,
    public: Dossier,
    audit: AuditResult,
    report: MembershipReport,
    accuracy: Sequence[Accuracy],
    left: float,
    verification: DossierVerification,
) -> str:
    """A line or two for each thing that happened; what is internal says so."""
    found = 100 * report.best().tpr_at(0.01)
    allowed = 100 * report.results[0].proved.detection_at(0.01) if report.results[0].proved else 100.0
    told = [
        ("allowed", f"epsilon {LIMIT.epsilon(DELTA):g} at delta {DELTA:g} in all, by the ledger"),
        ("released", f"{model.provenance.method}: predicts {TARGET}"),
        ("", f"{synthetic.provenance.method}: {synthetic.provenance.parameters['rows']:,} rows"),
        ("promised", promised(public)),
        ("left", f"epsilon {left:.2f} for later releases (costs add up in rho, not in epsilon)"),
        ("useful", certified(synthetic)),
        ("", f"the model is right about {100 * accuracy[0].score:.1f} % of held-out people (internal)"),
        ("", f"the same without privacy {100 * accuracy[1].score:.1f} % (internal)"),
        (
            "audited",
            f"{audit.m:,} planted records show epsilon >= {audit.epsilon_lower(0.95):.2g}: "
            f"{audit.verdict(model.guarantee)}",
        ),
        (
            "attacked",
            f"{len(report)} ways; {found:.1f} % of members found at 1 % false alarms, the proof allows "
            f"{allowed:.1f} %: {report.verdict()} (internal)",
        ),
        (
            "verified",
            "page, releases and ledger agree" if verification.ok else "; ".join(verification.problems),
        ),
    ]
    return "\n".join(f"{name:<10}{text}" for name, text in told)


def promised(public: Dossier) -> str:
    """Both releases together, in people's terms."""
    said = public.to_json()["promise"]["sure"]
    half = next(row["at_most"] for row in said["after"] if row["prior"] == 0.5)
    return (
        f"both together: whoever was 50 % sure becomes at most {100 * half:.1f} % sure, except with probability "
        f"{said['failure']:g}"
    )


def certified(synthetic: Release[Any]) -> str:
    """What is claimed about the rows."""
    if not synthetic.certificates:
        return "nothing is claimed about the rows"
    claim = synthetic.certificates[0]
    sure = f"(confidence {claim.confidence:g})"
    return f"no pair of columns is off by more than {100 * claim.alpha:.2f} % of the rows {sure}"
