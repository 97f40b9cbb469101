"""An audit of a training function against the promise of a step, as `holdfast audit` makes it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from holdfast.cli.steps.step import Done, Setting, Step
from holdfast.errors import ParameterError

if TYPE_CHECKING:
    from holdfast.ledger import Ledger
    from holdfast.privacy.guarantee import Guarantee


@dataclass(frozen=True, kw_only=True)
class AuditStep:
    """It charges nothing: what it learns is about records that it planted. A refutation ends with exit code 1."""

    kind: ClassVar[str] = "audit"

    name: str
    output: str
    function: str
    data: str
    claim: str
    label: str | None = None
    classes: tuple[Any, ...] | None = None
    delta: float = 1e-6
    design: str = "one-run"
    canaries: int = 1000
    runs: int = 400
    row_norm: float = 1.0
    confidence: float = 0.95

    def limit(self) -> None:
        """Nothing."""
        return None

    def finished(self, setting: Setting, ledger: Ledger) -> bool:
        """Whether the output is there."""
        return setting.place(self.output).exists()

    def run(self, setting: Setting, ledger: Ledger, plan: Mapping[str, Step]) -> Done:
        """Audit, and write the result."""
        from holdfast.audit import audit
        from holdfast.cli.audit import load, read

        rows, labels = read(setting.place(self.data), self.label)
        claim = self._claim(setting, plan)
        design: Any = self.design
        result = audit(
            load(self.function),
            rows if labels is None else (rows, labels),
            claim=claim,
            kind=design,
            canaries=self.canaries if design == "one-run" else None,
            runs=self.runs,
            row_norm=self.row_norm,
            classes=self.classes,
            delta=self.delta,
            confidence=self.confidence,
        )
        verdict = result.verdict(claim, self.confidence)
        found = {
            "verdict": verdict,
            "epsilon_lower": result.epsilon_lower(self.confidence),
            "result": result.to_json(),
        }
        setting.place(self.output).write_text(json.dumps(found), encoding="utf-8")
        return Done(words=result.summary(claim, confidence=self.confidence), finding=verdict == "refuted")

    def _claim(self, setting: Setting, plan: Mapping[str, Step]) -> Guarantee:
        from holdfast.release import Release

        if self.claim not in plan:
            raise ParameterError(f"claim of step {self.name!r} must name a step, got claim={self.claim!r}")
        return Release.load(setting.place(plan[self.claim].output)).guarantee
