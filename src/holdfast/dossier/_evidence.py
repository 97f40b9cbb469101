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
from holdfast.dossier._section import Audience, Section, six_digits, stored_bound, stored_least
from holdfast.dossier._stored_evidence import AttackFigures
from holdfast.errors import AdjacencyError, ParameterError
from holdfast.privacy._guarantee import Guarantee
from holdfast.privacy._tradeoff import TradeOff

State = Literal["refuted", "warning", "consistent", "not comparable", "not a test"]
RATES = (0.001, 0.01, 0.05, 0.1, 0.5)
MOST_AUDITS, MOST_ATTACKS = 2, 3
"""Lines in the picture besides the proof, the strongest of each kind; the table lists all."""
_STATES: dict[str, State] = {"refuted": "refuted", "warning": "warning", "consistent": "consistent"}


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
class Tried:
    """One audit or attack, beside the promise."""

    kind: Literal["audit", "attack"]
    name: str
    state: State
    curve: TradeOff
    words: Callable[[State], str]
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
            summary=self.words(self.state),
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
    inside = [audit for audit in audits if audience_of(audit) == "internal"]
    private = [
        *(["attack results"] if any(attack.audience != "public" for attack in attacks) else []),
        *(["accuracy on real records"] if accuracy else []),
        *(
            ["audits of records that holdfast did not plant"]
            if any(_lacks_planting(audit) for audit in inside)
            else []
        ),
        *(["audits on real rows"] if any(audit.rows == "real" for audit in inside) else []),
    ]
    if private:
        raise ParameterError(
            f"audience must be 'internal' for a dossier that holds {' and '.join(private)}, got "
            "audience='public'; these are un-noised functions of private data: leave them out, or make an "
            "internal edition"
        )


def _lacks_planting(audit: AuditResult) -> bool:
    return audit.coins != "holdfast" or not audit.planted


def told_apart(names: Sequence[str]) -> list[str]:
    """Names that can be told apart.

    >>> told_apart(["a", "b", "a"])
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
    run: int | None = None,
    beside: Sequence[float] = (),
    own: Sequence[Guarantee] = (),
) -> tuple[Tried, ...]:
    """Audits held against the promise, under names that can be told apart.

    `run` is how many audits and attacks were run in all, shown or not; `beside` are the p-values of shown attacks.
    `own` are the promises of the releases one by one: an audit of one of them is held against that, which is stricter.
    """
    names = told_apart([audit.kind for audit in audits])
    total = max(run or 0, len(audits) + len(beside))
    attempts = [
        _try_audit(audit, name, _promise_of(audit, own) or promise, confidence, total)
        for audit, name in zip(audits, names, strict=True)
    ]
    return _correct_states(attempts, confidence=confidence, run=total, beside=beside)


def _promise_of(audit: AuditResult, own: Sequence[Guarantee]) -> Guarantee | None:
    """The promise that the audited noise was made for, if one of the releases makes it."""
    if audit.basis is None:
        return None
    made_for = audit.basis.claim
    return next(
        (
            guarantee
            for guarantee in own
            if guarantee.curve.admits(made_for) and made_for.admits(guarantee.curve)
        ),
        None,
    )


def _try_audit(audit: AuditResult, name: str, promise: Guarantee, confidence: float, run: int) -> Tried:
    """As if it were the only one that might be refuted; what it says alone becomes its state in `_correct_states`."""
    shared = shared_confidence(confidence, run)
    state: State = "refuted" if audit.refutes_claims else "warning"
    p_value = 1.0
    sentence: Callable[[State], str]
    most = audit.most_epsilon(shared) if audit.valid else None
    try:
        p_value, power = audit.p_value(promise), audit.power(promise, shared)
        sentence = partial(_words_of_audit, audit, promise, shared)
    except AdjacencyError as error:
        state, power = "not comparable", None
        sentence = partial(_words_without_claim, audit, shared, str(error))
    return Tried(
        kind="audit",
        name=name,
        state=state,
        curve=audit.trade_off(shared),
        of_one_unit=audit.finding.group == 1,
        words=sentence,
        numbers=AuditNumbers(
            epsilon_lower=stored_least(audit.epsilon_lower(shared)) if audit.valid else None,
            delta=audit.delta,
            confidence=shared,
            guesses=audit.guesses,
            correct=audit.correct,
            canaries=audit.m,
            p_value=float(f"{p_value:.6g}"),
            kappa=None if power is None or power.kappa is None else float(f"{power.kappa:.3g}"),
            no_noise=None if power is None else float(f"{power.no_noise:.3g}"),
            can_fail=power is not None and power.can_fail,
            rows=audit.rows,
            promised=stored_bound(promise.curve.epsilon(audit.delta)),
            most=None if most is None else six_digits(most),
        ),
    )


def _words_of_audit(audit: AuditResult, promise: Guarantee, confidence: float, state: State) -> str:
    return audit.summary(promise, confidence=confidence, verdict=state)


def _words_without_claim(audit: AuditResult, confidence: float, reason: str, _: State) -> str:
    return f"{audit.summary(confidence=confidence)}\n  {reason}"


def try_attacks(
    attacks: Sequence[AttackFigures],
    promise: Guarantee,
    *,
    confidence: float = 0.95,
    run: int | None = None,
    beside: Sequence[float] = (),
) -> tuple[Tried, ...]:
    """Attacks held against the promise; `run` and `beside` as for audits."""
    names = told_apart([attack.attack for attack in attacks])
    attempts = [_try_attack(attack, name, promise) for attack, name in zip(attacks, names, strict=True)]
    total = max(run or 0, len(attacks) + len(beside))
    return _correct_states(attempts, confidence=confidence, run=total, beside=beside)


def _try_attack(attack: AttackFigures, name: str, promise: Guarantee) -> Tried:
    state: State
    p_value = 1.0
    try:
        state = _STATES.get(attack.verdict(promise), "not comparable")
        p_value = attack.p_value(promise) if state in ("refuted", "warning") else 1.0
    except AdjacencyError:
        state = "not comparable"
    return Tried(
        kind="attack",
        name=name,
        state=state,
        curve=attack.trade_off(),
        words=lambda verdict: attack.summary(verdict=verdict),
        numbers=AttackNumbers(
            auc=float(f"{attack.auc:.6g}"),
            found_at_1_percent=float(f"{attack.tpr_at(0.01):.6g}"),
            found_at_a_tenth=float(f"{attack.tpr_at(0.001):.6g}"),
            p_value=float(f"{p_value:.6g}"),
        ),
    )


def _correct_states(
    tried: Sequence[Tried], *, confidence: float, run: int, beside: Sequence[float]
) -> tuple[Tried, ...]:
    """Each with the state that it keeps when everything that was run shares the error."""
    if not tried:
        return ()
    values = [attempt.numbers.p_value for attempt in tried]
    rejected = holm([*values, *beside], error=round(1.0 - confidence, 15), run=run)
    return tuple(
        attempt
        if attempt.state not in ("refuted", "warning") or stands
        else replace(attempt, state=_state_if_rejected(attempt))
        for attempt, stands in zip(tried, rejected, strict=False)
    )


def _state_if_rejected(attempt: Tried) -> State:
    """What is left of an accusation that the shared error does not bear."""
    if attempt.kind == "attack":
        return "warning" if attempt.state == "refuted" else "consistent"
    assert isinstance(attempt.numbers, AuditNumbers)
    known = attempt.numbers.no_noise is not None
    return "not a test" if known and not attempt.numbers.can_fail else "consistent"


def picture(promise: Guarantee, tried: Sequence[Tried]) -> Picture:
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
    drawn = _named_curves(audits[:MOST_AUDITS] + attacks[:MOST_ATTACKS])
    proof = ("proved", promise.curve.trade_off())
    return Picture(
        linear=curves.sampled_trade_offs([proof, *drawn]),
        log=curves.sampled_trade_offs([proof, *drawn], log=True),
        rates=RATES,
        rows=tuple(
            TradeOffLine(
                name=name,
                claim=curve.claim,
                found=tuple(float(f"{curve.detection_at(rate):.6g}") for rate in RATES),
            )
            for name, curve in [proof, *_named_curves(audits), *_named_curves(attacks)]
        ),
        left_out=max(0, len(attacks) - MOST_ATTACKS) + max(0, len(audits) - MOST_AUDITS),
    )


def _named_curves(tried: Sequence[Tried]) -> list[tuple[str, TradeOff]]:
    return [(f"{attempt.kind}: {attempt.name}", attempt.curve) for attempt in tried]


def _lower_bound(audit: Tried) -> float:
    assert isinstance(audit.numbers, AuditNumbers)
    return audit.numbers.epsilon_lower or 0.0


_ALWAYS = (
    "An attacker who knows more, or computes longer, than those tried here. The proof covers them; tests do not.",
    "Other releases about the same people, where no ledger counts them.",
    "The computer itself: timing, logs, memory, and who can read the private table.",
)
_NO_AUDIT = "Audits: none that could have failed was run, so nothing checks the program against the proof."
_NO_ATTACK = "Membership attacks on this release: none {}."
_INVERSION = "Guessing an attribute of a person from the others (inversion): not attacked here."


class _Told(Protocol):
    """An attempt, as evidence or as the record has it."""

    @property
    def kind(self) -> str: ...

    @property
    def name(self) -> str: ...

    @property
    def state(self) -> str: ...

    @property
    def numbers(self) -> AuditNumbers | AttackNumbers: ...


def untested_claims(tried: Sequence[_Told], *, also_run: int = 0) -> tuple[str, ...]:
    """What a reader might take for tested and was not, given everything that was tried."""
    kinds = {attempt.kind for attempt in tried if _is_test(attempt)}
    inverted = any("inversion" in attempt.name.lower() for attempt in tried)
    return (
        *(() if "audit" in kinds else (_NO_AUDIT,)),
        *(() if "attack" in kinds else (_NO_ATTACK.format("is on this page" if also_run else "was run"),)),
        *(() if inverted else (_INVERSION,)),
        *_ALWAYS,
    )


def _is_test(attempt: _Told) -> bool:
    """Whether it could have failed, or did."""
    if attempt.state in ("not a test", "not comparable"):
        return False
    return (
        attempt.state == "refuted"
        or not isinstance(attempt.numbers, AuditNumbers)
        or attempt.numbers.can_fail
    )
