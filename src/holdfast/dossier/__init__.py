"""The page that a privacy officer reads: what was released, what is promised, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.lazy import exported

if TYPE_CHECKING:
    from holdfast.dossier.accuracy import Accuracy as Accuracy
    from holdfast.dossier.comparison import Comparison as Comparison
    from holdfast.dossier.comparison import compare as compare
    from holdfast.dossier.dossier import Bars as Bars
    from holdfast.dossier.dossier import Dossier as Dossier
    from holdfast.dossier.methods import compare_methods as compare_methods
    from holdfast.dossier.sureness import Sureness as Sureness
    from holdfast.dossier.verification import DossierVerification as DossierVerification
    from holdfast.dossier.verification import verify_dossier as verify_dossier

_HOMES = {
    "accuracy": ("Accuracy",),
    "comparison": ("Comparison", "compare"),
    "dossier": ("Bars", "Dossier"),
    "methods": ("compare_methods",),
    "sureness": ("Sureness",),
    "verification": ("DossierVerification", "verify_dossier"),
}
__all__, __getattr__, __dir__ = exported(__name__, _HOMES)
