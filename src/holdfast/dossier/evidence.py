"""What was tried against the promise: audits and attacks, whether one contradicts it, and what was not tried.

The dossier asks evidence for nothing but its curve, its words and its verdict. Whether a curve that dips below
the proof is a contradiction only the evidence knows: a one-run audit refutes a curve as a whole, a measured
curve carries sampling error, and coins that holdfast did not flip give a warning at most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from holdfast.audit.result import AuditResult
from holdfast.dossier.charts import curves
from holdfast.dossier.charts.curves import TradeOffLine, TradeOffPoints
from holdfast.dossier.section import Audience, Section, six_digits
from holdfast.errors import AdjacencyError, ParameterError
from holdfast.privacy.guarantee import Guarantee
from holdfast.privacy.tradeoff import TradeOff

State = Literal["refuted", "warning", "consistent", "not comparable"]
RATES = (0.001, 0.01, 0.05, 0.1, 0.5)
MOST_ATTACKS = 6
"""Attacks drawn in the picture, the strongest first; the table lists all."""
_STATES: dict[str, State] = {"refuted": "refuted", "warning": "warning", "consistent": "consistent"}


@dataclass(frozen=True, kw_only=True)
class AuditNumbers(Section):
    """The figures of an audit."""

    epsilon_lower: float | None
    delta: float
    confidence: float
    guesses: int
    correct: int
    canaries: int


@dataclass(frozen=True, kw_only=True)
class AttackNumbers(Section):
    """The figures of an attack."""

    auc: float
    found_at_1_percent: float
    found_at_a_tenth: float = field(metadata={"key": "found_at_0.1_percent"})


@dataclass(frozen=True, kw_only=True)
class Attempt(Section):
    """An audit or an attack as the page shows it."""

    kind: Literal["audit", "attack"]
    name: str
    state: State
    summary: str
    numbers: AuditNumbers | AttackNumbers
    contradiction: str | None


@dataclass(frozen=True, kw_only=True)
class Picture(Section):
    """Proof, audits and attacks on one grid, for both scales and as a table."""

    linear: TradeOffPoints
    log: TradeOffPoints
    rates: tuple[float, ...]
    rows: tuple[TradeOffLine, ...]
    left_out: int


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
    numbers: AuditNumbers | AttackNumbers

    @property
    def contradiction(self) -> str | None:
        """What is wrong, in a sentence; None where nothing is."""
        if self.state != "refuted":
            return None
        sure = self.numbers.confidence if isinstance(self.numbers, AuditNumbers) else None
        how = f" with confidence {100 * sure:g} %" if sure else ""
        return f"The {self.kind} “{self.name}” refutes the promise{how}: the mechanism leaks more than is claimed."

    @property
    def attempt(self) -> Attempt:
        """As the page shows it."""
        return Attempt(
            kind=self.kind, name=self.name, state=self.state, summary=self.words, numbers=self.numbers,
            contradiction=self.contradiction,
        )  # fmt: skip


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
        numbers=AuditNumbers(
            epsilon_lower=six_digits(audit.epsilon_lower(confidence)),
            delta=audit.delta,
            confidence=confidence,
            guesses=audit.guesses,
            correct=audit.correct,
            canaries=audit.m,
        ),
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
        numbers=AttackNumbers(
            auc=float(f"{attack.auc:.6g}"),
            found_at_1_percent=float(f"{attack.tpr_at(0.01):.6g}"),
            found_at_a_tenth=float(f"{attack.tpr_at(0.001):.6g}"),
        ),
    )


def picture(promise: Guarantee, tried: Sequence[Tried]) -> Picture:
    """Proof, audits and attacks on one grid, for both scales."""
    attacks = sorted(
        (one for one in tried if one.kind == "attack"), key=lambda one: -one.curve.detection_at(0.01)
    )
    drawn = [one for one in tried if one.kind == "audit"] + attacks[:MOST_ATTACKS]
    shown = [
        ("proved", promise.curve.trade_off()),
        *((f"{one.kind}: {one.name}", one.curve) for one in drawn),
    ]
    return Picture(
        linear=curves.sampled_trade_offs(shown),
        log=curves.sampled_trade_offs(shown, log=True),
        rates=RATES,
        rows=tuple(
            TradeOffLine(
                name=name,
                claim=curve.claim,
                found=tuple(float(f"{curve.detection_at(rate):.6g}") for rate in RATES),
            )
            for name, curve in shown
        ),
        left_out=max(0, len(attacks) - MOST_ATTACKS),
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


def not_tested(tried: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """What a reader might take for tested and was not, given (kind, name) of everything that was tried."""
    kinds = {kind for kind, _ in tried}
    missing = [text for kind, text in _KINDS if kind not in kinds]
    inverted = any("inversion" in name.lower() for _, name in tried)
    return (*missing, *(() if inverted else (_INVERSION,)), *_ALWAYS)
