"""Audits: valid lower bounds on what a mechanism leaks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.lazy import exported

if TYPE_CHECKING:
    from holdfast.audit.evidence import AuditResult as AuditResult
    from holdfast.audit.findings import FixedGuesses as FixedGuesses
    from holdfast.audit.findings import GaussianGuesses as GaussianGuesses
    from holdfast.audit.findings import GuessPath as GuessPath
    from holdfast.audit.findings import Sequence as Sequence
    from holdfast.audit.findings import Trainings as Trainings
    from holdfast.audit.membership import MembershipAudit as MembershipAudit
    from holdfast.audit.membership import membership_game as membership_game
    from holdfast.audit.multi_run import Errors as Errors
    from holdfast.audit.refuted import RefutedCurve as RefutedCurve
    from holdfast.audit.run import audit as audit
    from holdfast.audit.sequential import Game as Game

_HOMES: dict[str, tuple[str, ...]] = {
    "evidence": ("AuditResult",),
    "findings": ("FixedGuesses", "GaussianGuesses", "GuessPath", "Sequence", "Trainings"),
    "membership": ("MembershipAudit", "membership_game"),
    "multi_run": ("Errors",),
    "refuted": ("RefutedCurve",),
    "run": ("audit",),
    "sequential": ("Game",),
}
__all__, __getattr__, __dir__ = exported(__name__, _HOMES)
