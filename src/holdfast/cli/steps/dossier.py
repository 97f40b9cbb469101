"""The page about releases of the plan, as `holdfast dossier` makes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from holdfast.cli.steps.step import Done, Setting, Step

if TYPE_CHECKING:
    from holdfast.ledger import Ledger


@dataclass(frozen=True, kw_only=True)
class DossierStep:
    """A page that is drawn again in every run: it costs nothing, and the budget may have moved."""

    kind: ClassVar[str] = "dossier"

    name: str
    output: str
    releases: tuple[str, ...]
    audits: tuple[str, ...] = ()
    attacks: tuple[str, ...] = ()
    audience: str = "public"
    title: str | None = None
    confidence: float = 0.95

    def limit(self) -> None:
        """Nothing."""
        return None

    def finished(self, setting: Setting, ledger: Ledger) -> bool:
        """A page is drawn again: it costs nothing, and the budget may have moved."""
        return False

    def run(self, setting: Setting, ledger: Ledger, plan: Mapping[str, Step]) -> Done:
        """Draw the page."""
        from holdfast.cli.dossier import read_attacks, read_audit
        from holdfast.dossier import Dossier

        def files(names: tuple[str, ...]) -> list[Path]:
            return [setting.place(plan[name].output if name in plan else name) for name in names]

        made = Dossier.of_files(
            files(self.releases),
            audits=[read_audit(path) for path in files(self.audits)],
            attacks=[one for path in files(self.attacks) for one in read_attacks(path)],
            ledger=ledger,
            audience=self.audience,
            title=self.title,
            confidence=self.confidence,
        )
        made.save(setting.place(self.output))
        return Done(words=made.summary(), finding=bool(made.contradictions))
