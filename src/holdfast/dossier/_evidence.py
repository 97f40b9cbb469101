"""What was tried against the promise: audits and attacks, whether one contradicts it, and what was not tried.

The dossier asks evidence for nothing but its curve, its words, its p-value and its power. Whether a curve that dips
below the proof is a contradiction only the evidence knows: a one-run audit refutes a curve as a whole, a measured
curve carries sampling error, and coins that holdfast did not flip give a warning at most.

Everything that was run shares one error, also what the page does not show: contradictions by Holm's rule, lower bounds
at an equal share each (soundness, section 22). Else the luckiest of twenty audits accuses a sound mechanism.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, Protocol

from holdfast.audit._bounds.several import holm, shared_confidence
from holdfast.audit._result import AuditResult
from holdfast.dossier._charts import curves
from holdfast.dossier._charts.curves import TradeOffLine, TradeOffPoints
from holdfast.dossier._section import (
    Audience,
    Section,
    round_to_six_digits,
    stored_lower_bound,
    stored_upper_bound,
)
from holdfast.dossier._stored_evidence import AttackFigures
from holdfast.errors import AdjacencyError, ParameterError
from holdfast.privacy._guarantee import Guarantee
from holdfast.privacy._tradeoff import TradeOff

State = Literal["refuted", "warning", "consistent", "not comparable", "not a test"]
FALSE_ALARM_RATES = (0.001, 0.01, 0.05, 0.1, 0.5)
MOST_DRAWN_AUDITS, MOST_DRAWN_ATTACKS = 2, 3
"""Lines in the picture besides the proof, the strongest of each kind; the table lists all."""
_ATTACK_STATES: dict[str, State] = {"refuted": "refuted", "warning": "warning", "consistent": "consistent"}


@dataclass(frozen=True, kw_only=True)
class AuditNumbers(Section):
    """The figures of an audit."""

    epsilon_lower: float | None
    """None where the figure is an estimate, or infinite."""
    delta: float
    confidence: float
    """Of this bound alone: all bounds of the page hold together with the page's confidence."""
    guesses: int
    correct: int
    canaries: int
    p_value: float = 1.0
    kappa: float | None = None
    """The smallest factor of too little noise that is noticed with probability 0.8."""
    no_noise: float | None = None
    """The probability that no noise at all is noticed; None where it is not known."""
    can_fail: bool = False
    rows: str = "real"
    promised: float | None = None
    """The epsilon at the same delta of the promise that it is held against."""
    most: float | None = None
    """The epsilon that it would have shown with every guess right: it can show no more; None where not known."""


@dataclass(frozen=True, kw_only=True)
class AttackNumbers(Section):
    """The figures of an attack."""

    auc: float
    found_at_1_percent: float
    found_at_a_tenth: float = field(metadata={"key": "found_at_0.1_percent"})
    p_value: float = 1.0


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


@dataclass(frozen=True, kw_only=True)
class ComparedAttempt:
    """One audit or attack, beside the promise."""

    kind: Literal["audit", "attack"]
    name: str
    state: State
    curve: TradeOff
    summary_for: Callable[[State], str]
    """Its summary, about the state that is left when everything that was run shares the error."""
    numbers: AuditNumbers | AttackNumbers
    of_one_unit: bool = True
    """Whether its curve is about one unit, as the proof's is; that of a group has no place in the same picture."""

    @property
    def contradiction(self) -> str | None:
        """What is wrong, in a sentence; None where nothing is."""
        if self.state != "refuted":
            return None
        how = f" (p = {self.numbers.p_value:.2g}, corrected for everything that was run)"
        return f"The {self.kind} “{self.name}” refutes the promise{how}: the mechanism leaks more than is claimed."

    @property
    def attempt(self) -> Attempt:
        """As the page shows it."""
        return Attempt(
            kind=self.kind,
            name=self.name,
            state=self.state,
            numbers=self.numbers,
            summary=self.summary_for(self.state),
            contradiction=self.contradiction,
        )


def audience_of(audit: AuditResult) -> Audience:
    """An audit is public where holdfast planted the records, flipped the coins, and no real row went in."""
    public = audit.coins == "holdfast" and audit.planted and audit.rows != "real"
    return "public" if public else "internal"


def require_public(
    audits: Sequence[AuditResult], attacks: Sequence[AttackFigures], accuracy: Sequence[Any]
) -> None:
    """Refuse what is an un-noised function of private data: it has no place in a public edition."""
    internal_audits = [audit for audit in audits if audience_of(audit) == "internal"]
    internal_parts = [
        *(["attack results"] if any(attack.audience != "public" for attack in attacks) else []),
        *(["accuracy on real records"] if accuracy else []),
        *(
            ["audits of records that holdfast did not plant"]
            if any(_has_foreign_coins(audit) for audit in internal_audits)
            else []
        ),
        *(["audits on real rows"] if any(audit.rows == "real" for audit in internal_audits) else []),
    ]
    if internal_parts:
        raise ParameterError(
            f"audience must be 'internal' for a dossier that holds {' and '.join(internal_parts)}, got "
            "audience='public'; these are un-noised functions of private data: leave them out, or make an "
            "internal edition"
        )


def _has_foreign_coins(audit: AuditResult) -> bool:
    return audit.coins != "holdfast" or not audit.planted


def distinct_names(names: Sequence[str]) -> list[str]:
    """Names that can be told apart.

    >>> distinct_names(["a", "b", "a"])
    ['a', 'b', 'a (2)']
    """
    seen: dict[str, int] = {}
    unique = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        unique.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return unique


def try_audits(
    audits: Sequence[AuditResult],
    promise: Guarantee,
    *,
    confidence: float,
    run_count: int | None = None,
    other_p_values: Sequence[float] = (),
    release_promises: Sequence[Guarantee] = (),
) -> tuple[ComparedAttempt, ...]:
    """Audits held against the promise, under names that can be told apart.

    `run` is how many audits and attacks were run in all, shown or not; `beside` are the p-values of shown attacks.
    `own` are the promises of the releases one by one: an audit of one of them is held against that, which is stricter.
    """
    names = distinct_names([audit.kind for audit in audits])
    total = max(run_count or 0, len(audits) + len(other_p_values))
    attempts = [
        _try_audit(audit, name, _promise_of(audit, release_promises) or promise, confidence, total)
        for audit, name in zip(audits, names, strict=True)
    ]
    return _correct_states(attempts, confidence=confidence, run_count=total, other_p_values=other_p_values)


def _promise_of(audit: AuditResult, release_promises: Sequence[Guarantee]) -> Guarantee | None:
    """The promise that the audited noise was made for, if one of the releases makes it."""
    if audit.basis is None:
        return None
    made_for = audit.basis.claim
    return next(
        (
            guarantee
            for guarantee in release_promises
            if guarantee.curve.admits(made_for) and made_for.admits(guarantee.curve)
        ),
        None,
    )


def _try_audit(
    audit: AuditResult, name: str, promise: Guarantee, confidence: float, run_count: int
) -> ComparedAttempt:
    """As if it were the only one that might be refuted; what it says alone becomes its state in `_correct_states`."""
    shared_level = shared_confidence(confidence, run_count)
    state: State = "refuted" if audit.refutes_claims else "warning"
    p_value = 1.0
    summary_for: Callable[[State], str]
    most = audit.most_epsilon(shared_level) if audit.valid else None
    try:
        p_value, power = audit.p_value(promise), audit.power(promise, shared_level)
        summary_for = partial(_audit_summary, audit, promise, shared_level)
    except AdjacencyError as error:
        state, power = "not comparable", None
        summary_for = partial(_audit_summary_without_claim, audit, shared_level, str(error))
    return ComparedAttempt(
        kind="audit",
        name=name,
        state=state,
        curve=audit.trade_off(shared_level),
        of_one_unit=audit.finding.group == 1,
        summary_for=summary_for,
        numbers=AuditNumbers(
            epsilon_lower=stored_lower_bound(audit.epsilon_lower(shared_level)) if audit.valid else None,
            delta=audit.delta,
            confidence=shared_level,
            guesses=audit.guesses,
            correct=audit.correct,
            canaries=audit.m,
            p_value=float(f"{p_value:.6g}"),
            kappa=None if power is None or power.kappa is None else float(f"{power.kappa:.3g}"),
            no_noise=None if power is None else float(f"{power.no_noise:.3g}"),
            can_fail=power is not None and power.can_fail,
            rows=audit.rows,
            promised=stored_upper_bound(promise.curve.epsilon(audit.delta)),
            most=None if most is None else round_to_six_digits(most),
        ),
    )


def _audit_summary(audit: AuditResult, promise: Guarantee, confidence: float, state: State) -> str:
    return audit.summary(promise, confidence=confidence, verdict=state)


def _audit_summary_without_claim(audit: AuditResult, confidence: float, reason: str, _: State) -> str:
    return f"{audit.summary(confidence=confidence)}\n  {reason}"


def try_attacks(
    attacks: Sequence[AttackFigures],
    promise: Guarantee,
    *,
    confidence: float = 0.95,
    run_count: int | None = None,
    other_p_values: Sequence[float] = (),
) -> tuple[ComparedAttempt, ...]:
    """Attacks held against the promise; `run` and `beside` as for audits."""
    names = distinct_names([attack.attack for attack in attacks])
    attempts = [_try_attack(attack, name, promise) for attack, name in zip(attacks, names, strict=True)]
    total = max(run_count or 0, len(attacks) + len(other_p_values))
    return _correct_states(attempts, confidence=confidence, run_count=total, other_p_values=other_p_values)


def _try_attack(attack: AttackFigures, name: str, promise: Guarantee) -> ComparedAttempt:
    state: State
    p_value = 1.0
    try:
        state = _ATTACK_STATES.get(attack.verdict(promise), "not comparable")
        p_value = attack.p_value(promise) if state in ("refuted", "warning") else 1.0
    except AdjacencyError:
        state = "not comparable"
    return ComparedAttempt(
        kind="attack",
        name=name,
        state=state,
        curve=attack.trade_off(),
        summary_for=lambda verdict: attack.summary(verdict=verdict),
        numbers=AttackNumbers(
            auc=float(f"{attack.auc:.6g}"),
            found_at_1_percent=float(f"{attack.tpr_at(0.01):.6g}"),
            found_at_a_tenth=float(f"{attack.tpr_at(0.001):.6g}"),
            p_value=float(f"{p_value:.6g}"),
        ),
    )


def _correct_states(
    tried: Sequence[ComparedAttempt], *, confidence: float, run_count: int, other_p_values: Sequence[float]
) -> tuple[ComparedAttempt, ...]:
    """Each with the state that it keeps when everything that was run shares the error."""
    if not tried:
        return ()
    values = [attempt.numbers.p_value for attempt in tried]
    rejections = holm([*values, *other_p_values], error=round(1.0 - confidence, 15), run=run_count)
    return tuple(
        attempt
        if attempt.state not in ("refuted", "warning") or stands
        else replace(attempt, state=_state_if_rejected(attempt))
        for attempt, stands in zip(tried, rejections, strict=False)
    )


def _state_if_rejected(attempt: ComparedAttempt) -> State:
    """What is left of an accusation that the shared error does not bear."""
    if attempt.kind == "attack":
        return "warning" if attempt.state == "refuted" else "consistent"
    assert isinstance(attempt.numbers, AuditNumbers)
    power_is_known = attempt.numbers.no_noise is not None
    return "not a test" if power_is_known and not attempt.numbers.can_fail else "consistent"


def trade_off_picture(promise: Guarantee, tried: Sequence[ComparedAttempt]) -> Picture:
    """Proof, audits and attacks on one grid, for both scales; the table has every curve, the drawing a few."""
    # What refutes is drawn first, then the strongest.
    attacks = sorted(
        (attempt for attempt in tried if attempt.kind == "attack"),
        key=lambda attempt: (attempt.state != "refuted", -attempt.curve.detection_at(0.01)),
    )
    audits = sorted(
        (attempt for attempt in tried if attempt.kind == "audit" and attempt.of_one_unit),
        key=lambda attempt: (attempt.state != "refuted", -_lower_bound(attempt)),
    )
    drawn_curves = _named_curves(audits[:MOST_DRAWN_AUDITS] + attacks[:MOST_DRAWN_ATTACKS])
    proof = ("proved", promise.curve.trade_off())
    return Picture(
        linear=curves.sample_trade_offs([proof, *drawn_curves]),
        log=curves.sample_trade_offs([proof, *drawn_curves], log=True),
        rates=FALSE_ALARM_RATES,
        rows=tuple(
            TradeOffLine(
                name=name,
                claim=curve.claim,
                found=tuple(float(f"{curve.detection_at(rate):.6g}") for rate in FALSE_ALARM_RATES),
            )
            for name, curve in [proof, *_named_curves(audits), *_named_curves(attacks)]
        ),
        left_out=max(0, len(attacks) - MOST_DRAWN_ATTACKS) + max(0, len(audits) - MOST_DRAWN_AUDITS),
    )


def _named_curves(tried: Sequence[ComparedAttempt]) -> list[tuple[str, TradeOff]]:
    return [(f"{attempt.kind}: {attempt.name}", attempt.curve) for attempt in tried]


def _lower_bound(audit: ComparedAttempt) -> float:
    assert isinstance(audit.numbers, AuditNumbers)
    return audit.numbers.epsilon_lower or 0.0


_NEVER_TESTED = (
    "An attacker who knows more, or computes longer, than those tried here. The proof covers them; tests do not.",
    "Other releases about the same people, where no ledger counts them.",
    "The computer itself: timing, logs, memory, and who can read the private table.",
)
_NO_AUDIT = "Audits: none that could have failed was run, so nothing checks the program against the proof."
_NO_ATTACK = "Membership attacks on this release: none {}."
_INVERSION = "Guessing an attribute of a person from the others (inversion): not attacked here."


class _AttemptFacts(Protocol):
    """An attempt, as evidence or as the record has it."""

    @property
    def kind(self) -> str: ...

    @property
    def name(self) -> str: ...

    @property
    def state(self) -> str: ...

    @property
    def numbers(self) -> AuditNumbers | AttackNumbers: ...


def untested_claims(tried: Sequence[_AttemptFacts], *, also_run: int = 0) -> tuple[str, ...]:
    """What a reader might take for tested and was not, given everything that was tried."""
    kinds = {attempt.kind for attempt in tried if _is_test(attempt)}
    inverted = any("inversion" in attempt.name.lower() for attempt in tried)
    return (
        *(() if "audit" in kinds else (_NO_AUDIT,)),
        *(() if "attack" in kinds else (_NO_ATTACK.format("is on this page" if also_run else "was run"),)),
        *(() if inverted else (_INVERSION,)),
        *_NEVER_TESTED,
    )


def _is_test(attempt: _AttemptFacts) -> bool:
    """Whether it could have failed, or did."""
    if attempt.state in ("not a test", "not comparable"):
        return False
    return (
        attempt.state == "refuted"
        or not isinstance(attempt.numbers, AuditNumbers)
        or attempt.numbers.can_fail
    )
