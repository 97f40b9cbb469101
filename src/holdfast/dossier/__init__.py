"""The page that a privacy officer reads: what was released, what is promised, and why."""

from __future__ import annotations

from holdfast.dossier.dossier import Dossier

__all__ = ["Dossier"]
