"""Membership attacks: can someone tell that a record was in the training data? Results stay inside the house."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.lazy import exported

if TYPE_CHECKING:
    from holdfast.attack.attack import Attack as Attack
    from holdfast.attack.attack import Case as Case
    from holdfast.attack.attacks import ATTACKS as ATTACKS
    from holdfast.attack.evidence import AttackResult as AttackResult
    from holdfast.attack.evidence import Exposed as Exposed
    from holdfast.attack.on_rows import ROWS_ATTACKS as ROWS_ATTACKS
    from holdfast.attack.records import Records as Records
    from holdfast.attack.report import MembershipReport as MembershipReport
    from holdfast.attack.roc import Rate as Rate
    from holdfast.attack.rows_attack import RowsAttack as RowsAttack
    from holdfast.attack.rows_attack import RowsCase as RowsCase
    from holdfast.attack.run import membership as membership
    from holdfast.attack.seen import Seen as Seen
    from holdfast.attack.shadow import References as References
    from holdfast.attack.shadow import reference_models as reference_models
    from holdfast.attack.synthetic import synthetic_membership as synthetic_membership
    from holdfast.attack.targeted import shadow_release as shadow_release
    from holdfast.attack.targets import Target as Target
    from holdfast.attack.thresholds import Threshold as Threshold

_HOMES = {
    "attack": ("Attack", "Case"),
    "attacks": ("ATTACKS",),
    "evidence": ("AttackResult", "Exposed"),
    "on_rows": ("ROWS_ATTACKS",),
    "records": ("Records",),
    "report": ("MembershipReport",),
    "roc": ("Rate",),
    "rows_attack": ("RowsAttack", "RowsCase"),
    "run": ("membership",),
    "seen": ("Seen",),
    "shadow": ("References", "reference_models"),
    "synthetic": ("synthetic_membership",),
    "targeted": ("shadow_release",),
    "targets": ("Target",),
    "thresholds": ("Threshold",),
}
__all__, __getattr__, __dir__ = exported(__name__, _HOMES)
