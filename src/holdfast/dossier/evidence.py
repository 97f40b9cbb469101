"""What was tried against the promise: audits and attacks, and whether one of them contradicts it.

The dossier asks evidence for nothing but its curve, its words and its verdict. Whether a curve that dips below
the proof is a contradiction only the evidence knows: a one-run audit refutes a curve as a whole, a measured
curve carries sampling error, and coins that holdfast did not flip give a warning at most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from holdfast.audit.evidence import AuditResult
from holdfast.errors import AdjacencyError, ParameterError
from holdfast.privacy.guarantee import Guarantee
from holdfast.privacy.tradeoff import TradeOff

Audience = Literal["public", "internal"]
State = Literal["refuted", "warning", "consistent", "not comparable"]
_STATES: dict[str, State] = {"refuted": "refuted", "warning": "warning", "consistent": "consistent"}


class Attack(Protocol):
    """The result of an attack, whichever it is."""

    @property
    def attack(self) -> str:
        """Its name."""

    @property
    def audience(self) -> str:
        """Who may see it."""

    @property
    def auc(self) -> float:
        """How well it ranks members before non-members."""

    def tpr_at(self, false_alarm: float, /) -> float:
        """The share of members found at this false-alarm rate."""

    def trade_off(self) -> TradeOff:
        """The measured curve."""

    def verdict(self, claim: Guarantee, /) -> str:
        """What it says about a claim: refuted, warning or consistent."""

    def summary(self) -> str:
        """A few lines."""


@dataclass(frozen=True, kw_only=True)
class Tried:
    """One audit or attack, beside the promise."""

    kind: Literal["audit", "attack"]
    name: str
    state: State
    curve: TradeOff
    words: str
    numbers: dict[str, Any]

    @property
    def contradiction(self) -> str | None:
        """What is wrong, in a sentence; None where nothing is."""
        if self.state != "refuted":
            return None
        sure = self.numbers.get("confidence")
        how = f" with confidence {100 * sure:g} %" if sure else ""
        return f"The {self.kind} “{self.name}” refutes the promise{how}: the mechanism leaks more than is claimed."


def audience_of(audit: AuditResult) -> Audience:
    """An audit is public where holdfast planted the records and flipped the coins, else internal."""
    return "public" if audit.coins == "holdfast" and audit.planted else "internal"


def require_public(audits: Sequence[AuditResult], attacks: Sequence[Attack], accuracy: Sequence[Any]) -> None:
    """Refuse what is an un-noised function of private data: it has no place in a public edition."""
    private = [
        *(["attack results"] if any(one.audience != "public" for one in attacks) else []),
        *(["accuracy on real records"] if accuracy else []),
        *(
            ["audits of records that holdfast did not plant"]
            if any(audience_of(one) == "internal" for one in audits)
            else []
        ),
    ]
    if private:
        raise ParameterError(
            f"audience must be 'internal' for a dossier that holds {' and '.join(private)}, got "
            "audience='public'; these are un-noised functions of private data: leave them out, or make an "
            "internal edition"
        )


def told_apart(names: Sequence[str]) -> list[str]:
    """Names that can be told apart.

    >>> told_apart(["a", "b", "a"])
    ['a', 'b', 'a (2)']
    """
    seen: dict[str, int] = {}
    made = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        made.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return made


def audited(audits: Sequence[AuditResult], promise: Guarantee, *, confidence: float) -> tuple[Tried, ...]:
    """Audits held against the promise, under names that can be told apart."""
    names = told_apart([audit.kind for audit in audits])
    return tuple(
        _audited(audit, name, promise, confidence) for audit, name in zip(audits, names, strict=True)
    )


def _audited(audit: AuditResult, name: str, promise: Guarantee, confidence: float) -> Tried:
    state: State
    try:
        state = audit.verdict(promise, confidence)
        words = audit.summary(promise, confidence=confidence)
    except AdjacencyError as error:
        state, words = "not comparable", f"{audit.summary(confidence=confidence)}\n  {error}"
    return Tried(
        kind="audit",
        name=name,
        state=state,
        curve=audit.trade_off(confidence),
        words=words,
        numbers={
            "epsilon_lower": float(f"{audit.epsilon_lower(confidence):.6g}"),
            "delta": audit.delta,
            "confidence": confidence,
            "guesses": audit.guesses,
            "correct": audit.correct,
            "canaries": audit.m,
        },
    )


def attacked(attacks: Sequence[Attack], promise: Guarantee) -> tuple[Tried, ...]:
    """Attacks held against the promise."""
    names = told_apart([attack.attack for attack in attacks])
    return tuple(_attacked(attack, name, promise) for attack, name in zip(attacks, names, strict=True))


def _attacked(attack: Attack, name: str, promise: Guarantee) -> Tried:
    state: State
    try:
        state = _STATES.get(attack.verdict(promise), "not comparable")
    except AdjacencyError:
        state = "not comparable"
    return Tried(
        kind="attack",
        name=name,
        state=state,
        curve=attack.trade_off(),
        words=attack.summary(),
        numbers={
            "auc": float(f"{attack.auc:.6g}"),
            "found_at_1_percent": float(f"{attack.tpr_at(0.01):.6g}"),
            "found_at_0.1_percent": float(f"{attack.tpr_at(0.001):.6g}"),
        },
    )
