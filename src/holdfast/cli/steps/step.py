"""Step: what a release plan asks of each kind of step, and what its steps share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Protocol

if TYPE_CHECKING:
    from holdfast.ledger import Ledger
    from holdfast.privacy.curve import PrivacyCurve


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What all steps of a plan share."""

    name: str
    folder: Path
    ledger: Path
    dataset: str
    source: str
    schema: Path
    purpose: str = ""
    approver: str = ""

    def place(self, path: str) -> Path:
        """A path of the plan, which is relative to the plan's folder."""
        return self.folder / path

    def account(self, step: str) -> str:
        """The name of a step's account: the same in every run."""
        return f"{self.name}/{step}"


@dataclass(frozen=True, kw_only=True)
class Done:
    """What a step did."""

    words: str
    finding: bool = False


class Step(Protocol):
    """One step of a plan."""

    kind: ClassVar[str]

    @property
    def name(self) -> str:
        """Its name, unique in the plan."""

    @property
    def output(self) -> str:
        """The file it writes."""

    def limit(self) -> PrivacyCurve | None:
        """What it may cost; None where it costs nothing."""

    def finished(self, setting: Setting, ledger: Ledger) -> bool:
        """Whether an earlier run finished it."""

    def run(self, setting: Setting, ledger: Ledger, plan: Mapping[str, Step]) -> Done:
        """Do it."""
