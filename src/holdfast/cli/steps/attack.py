"""Membership attacks on a model of the plan, as `holdfast attack membership` makes them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from holdfast.cli.steps.step import Done, Setting, Step
from holdfast.errors import ParameterError

if TYPE_CHECKING:
    from holdfast.ledger import Ledger


@dataclass(frozen=True, kw_only=True)
class AttackStep:
    """It charges nothing, and what it writes is for internal use only."""

    kind: ClassVar[str] = "attack"

    name: str
    output: str
    model: str
    members: str
    non_members: str
    target: str
    reference: str | None = None
    attacks: tuple[str, ...] | None = None
    seed: int = 0

    def limit(self) -> None:
        """Nothing."""
        return None

    def finished(self, setting: Setting, ledger: Ledger) -> bool:
        """Whether the output is there."""
        return setting.place(self.output).exists()

    def run(self, setting: Setting, ledger: Ledger, plan: Mapping[str, Step]) -> Done:
        """Attack, and write the figures, without the scores of anybody."""
        from holdfast.attack import Target, membership
        from holdfast.cli.attack import read

        if self.model not in plan:
            raise ParameterError(f"model of step {self.name!r} must name a step, got model={self.model!r}")
        target = Target.of(setting.place(plan[self.model].output))
        named: Any = "all" if self.attacks is None else list(self.attacks)
        report = membership(
            target,
            members=read(setting.place(self.members), self.target, target),
            non_members=read(setting.place(self.non_members), self.target, target),
            reference=None
            if self.reference is None
            else read(setting.place(self.reference), self.target, target),
            attacks=named,
            random_state=self.seed,
        )
        setting.place(self.output).write_text(json.dumps(report.to_json()), encoding="utf-8")
        return Done(words=report.summary(), finding=report.verdict() == "refuted")
