"""What was tried against the promise: audits and attacks, and whether one of them contradicts it.

The dossier asks evidence for nothing but its curve, its words and its verdict. Whether a curve that dips below
the proof is a contradiction only the evidence knows: a one-run audit refutes a curve as a whole, a measured
curve carries sampling error, and coins that holdfast did not flip give a warning at most.

StoredAttack: the figures of an attack as `holdfast attack --json` wrote them, ready for a dossier.

What was not tested: a pass says nothing about the attacks that nobody ran.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np

from holdfast.audit.result import AuditResult
from holdfast.errors import AdjacencyError, FormatError, ParameterError, require
from holdfast.privacy.guarantee import Guarantee
from holdfast.privacy.tradeoff import TradeOff


@dataclass(frozen=True, kw_only=True)
class StoredAttack:
    """An attack known by some points of its curve; between two of them an attacker can toss a coin.

    Its verdict is the one that was reached when it was run, against the promise of the model it attacked.
    """

    attack: str
    auc: float
    found: tuple[tuple[float, float], ...]
    reached: str
    text: str
    audience: str = "internal"

    def __post_init__(self) -> None:
        require(0 <= self.auc <= 1, "auc", self.auc, "in [0, 1]")
        require(
            all(0 <= x <= 1 and 0 <= y <= 1 for x, y in self.found), "found", "...", "made of rates in [0, 1]"
        )

    def trade_off(self) -> TradeOff:
        """The curve through the stored points."""
        points = sorted({(0.0, 0.0), (1.0, 1.0), *self.found})
        rates, hits = np.array(points).T
        return TradeOff(rates, 1.0 - np.maximum.accumulate(hits), claim="measured")

    def tpr_at(self, false_alarm: float, /) -> float:
        """The share of members found at this rate."""
        return self.trade_off().detection_at(false_alarm)

    def verdict(self, claim: Guarantee, /) -> str:
        """What was found when it was run."""
        return self.reached

    def summary(self) -> str:
        """The figures in a line."""
        return self.text

    @classmethod
    def of(cls, data: Any) -> tuple[StoredAttack, ...]:
        """Every attack of a report, or the one of a single result; `FormatError` for anything else."""
        try:
            return tuple(cls._one(one) for one in data.get("attacks", [data]))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise FormatError("a stored attack lacks a field or has one of the wrong kind") from error

    @classmethod
    def _one(cls, data: Any) -> StoredAttack:
        curve = data.get("roc")
        if curve is None:
            points = tuple((float(rate), float(found["value"])) for rate, found in data["tpr_at"].items())
        else:
            points = tuple(
                (float(x), float(y)) for x, y in zip(curve["false_alarm"], curve["found"], strict=True)
            )
        rates = "; ".join(
            f"finds {found['value']:.3f} [{found['low']:.3f}, {found['high']:.3f}] "
            f"at {100 * float(rate):g} % false alarms"
            for rate, found in data["tpr_at"].items()
        )
        return cls(
            attack=str(data["attack"]),
            auc=float(data["auc"]),
            found=points,
            reached=str(data["verdict"]),
            text=f"attack {data['attack']}: AUC {data['auc']:.4f}, {data['members']} members, "
            f"{data['non_members']} non-members; {rates}; verdict: {data['verdict']}",
        )


_ALWAYS = (
    "An attacker who knows more, or computes longer, than those tried here. The proof covers them; tests do not.",
    "Other releases about the same people that are not in this ledger.",
    "The computer itself: timing, logs, memory, and who can read the private table.",
)
_KINDS = (
    ("audit", "Audits with planted records: none was run, so nothing checks the program against the proof."),
    ("attack", "Membership attacks on this release: none was run."),
)
_INVERSION = "Guessing an attribute of a person from the others (inversion): not attacked here."


def not_tested(tried: Sequence[tuple[str, str]]) -> list[str]:
    """What a reader might take for tested and was not, given (kind, name) of everything that was tried."""
    kinds = {kind for kind, _ in tried}
    missing = [text for kind, text in _KINDS if kind not in kinds]
    inverted = any("inversion" in name.lower() for _, name in tried)
    return [*missing, *([] if inverted else [_INVERSION]), *_ALWAYS]


def read_audit(path: Path) -> Any:
    """An audit as `holdfast audit --json` prints it, or as `AuditResult.to_json` writes it."""
    from holdfast.audit.result import AuditResult

    data = _parsed(path)
    return AuditResult.from_json(data.get("result", data) if isinstance(data, dict) else data)


def read_attacks(path: Path) -> tuple[StoredAttack, ...]:
    """The attacks that `holdfast attack --json` wrote."""
    return StoredAttack.of(_parsed(path))


def _list(path: Path) -> list[Any]:
    from holdfast.errors import FormatError

    data = _parsed(path)
    if not isinstance(data, list):
        raise FormatError(f"{path.name} must hold a JSON list")
    return data


def _parsed(path: Path) -> Any:
    from holdfast.errors import FormatError

    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{path.name} is not valid JSON") from error


Audience = Literal["public", "internal"]
State = Literal["refuted", "warning", "consistent", "not comparable"]
_STATES: dict[str, State] = {"refuted": "refuted", "warning": "warning", "consistent": "consistent"}


class AttackFigures(Protocol):
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


def require_public(
    audits: Sequence[AuditResult], attacks: Sequence[AttackFigures], accuracy: Sequence[Any]
) -> None:
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


def attacked(attacks: Sequence[AttackFigures], promise: Guarantee) -> tuple[Tried, ...]:
    """Attacks held against the promise."""
    names = told_apart([attack.attack for attack in attacks])
    return tuple(_attacked(attack, name, promise) for attack, name in zip(attacks, names, strict=True))


def _attacked(attack: AttackFigures, name: str, promise: Guarantee) -> Tried:
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
