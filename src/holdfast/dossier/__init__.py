"""The page that a privacy officer reads: what was released, what is promised, and why."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

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
_HOME = {name: module for module, names in _HOMES.items() for name in names}
__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'holdfast.dossier' has no attribute {name!r}")
    value = getattr(import_module(f"holdfast.dossier.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
