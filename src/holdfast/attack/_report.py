"""MembershipReport: what several attacks reached on one model, side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from holdfast._arguments import checked
from holdfast.attack._result import NOTICE, REASONS, AttackResult, Proof, Verdict
from holdfast.errors import ParameterError, require
from holdfast.privacy._wording import rate_text

_GRAVITY: tuple[Verdict, ...] = ("unclaimed", "consistent", "warning", "refuted")


@checked
@dataclass(frozen=True, kw_only=True, eq=False)
class MembershipReport:
    """Results in the order of the registry, and why some attacks could not be made. Internal, as its parts are."""

    results: tuple[AttackResult, ...]
    skipped: Mapping[str, str] = field(default_factory=dict)
    models: int = 0
    """Reference models trained."""
    notes: Mapping[str, str] = field(default_factory=dict)
    """What a reader must know about an attack, by its name."""
    audience: ClassVar[Literal["internal"]] = "internal"

    def __post_init__(self) -> None:
        object.__setattr__(self, "results", tuple(self.results))
        object.__setattr__(self, "skipped", dict(self.skipped))
        object.__setattr__(self, "notes", dict(self.notes))
        require(len(self.results) >= 1, "results", len(self.results), "one or more")

    def __iter__(self) -> Iterator[AttackResult]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def __getitem__(self, attack: str) -> AttackResult:
        for result in self.results:
            if result.attack == attack:
                return result
        why = self.skipped.get(attack, "it was not asked for")
        raise ParameterError(f"there is no result of the attack {attack!r}: {why}")

    def best(self) -> AttackResult:
        """The attack that finds most members at 1 % false alarms; by the area where they tie. A choice in hindsight."""
        return max(self.results, key=lambda result: (float(result.tpr_at(0.01)), result.auc))

    def verdict(self, claim: Proof | None = None) -> Verdict:
        """The gravest of all; the error was shared among the attacks."""
        return max((result.verdict(claim) for result in self.results), key=_GRAVITY.index)

    def table(self) -> str:
        """One line per attack."""
        lines = [
            f"  {'attack':<18}{'AUC':>8}{'advantage':>11}{'found at 1 %':>24}{'found at 0.1 %':>24}"
            f"{'seconds':>9}  verdict"
        ]
        lines += [
            f"  {r.attack:<18}{r.auc:>8.4f}{r.advantage:>11.4f}{r.tpr_at(0.01).summary():>24}"
            f"{r.tpr_at(0.001).summary():>24}{r.seconds:>9.2f}  {r.verdict()}"
            for r in self.results
        ]
        return "\n".join(lines)

    def summary(self) -> str:
        """The table, what it means, and what was left out."""
        first = self.results[0]
        head = (
            f"membership attacks: {first.member_scores.size} members, {first.non_member_scores.size} non-members, "
            f"{self.models} reference models; members found, with 95 % limits, at 1 % and 0.1 % false alarms"
        )
        lines = [head, self.table()]
        if first.proved is not None:
            allowed = ", ".join(
                f"{rate_text(first.proved.detection_at(rate))} at {100 * rate:g} %" for rate in (0.01, 0.001)
            )
            lines.append(f"  the proof allows nobody more than {allowed} false alarms")
        lines += [f"  not made: {name} ({why})" for name, why in self.skipped.items()]
        lines += [f"  {name}: {note}" for name, note in self.notes.items()]
        verdict = self.verdict()
        lines.append(f"  verdict: {verdict}{REASONS.get((verdict, first.game), '')}")
        return "\n".join([*lines, f"  {NOTICE}"])

    def plot(self) -> Any:
        """Every ROC in one picture on logarithmic axes (a matplotlib figure)."""
        from holdfast.attack._roc import roc_figure

        return roc_figure(self.results, proved=self.results[0].proved)

    def to_json(self) -> dict[str, Any]:
        """The figures, without the scores of anybody."""
        return {
            "audience": self.audience,
            "verdict": self.verdict(),
            "models": self.models,
            "attacks": [result.to_json() for result in self.results],
            "skipped": dict(self.skipped),
            "notes": dict(self.notes),
        }
