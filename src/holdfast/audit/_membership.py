"""membership_game(): attacks on real records whose membership holdfast decides by secret coins.

In `holdfast.attack.membership` the data's owner says who the members are, so members and others may simply be
different people. Here a fair coin decides for each record of a pool whether it is trained on. Only the training can
then separate the two groups, and a claim can be refuted. Records judged by one model depend on each other: the guesses
enter the one-run audit, which is valid for them, and no standard error is computed as if they were independent
(soundness, sections 13 and 14).
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from holdfast._arguments import Seed, checked
from holdfast._arrays import Bools, Floats
from holdfast.attack._attack import Attack, playable
from holdfast.attack._catalogue import find_attacks, notes_about
from holdfast.attack._membership_result import MembershipResult
from holdfast.attack._models.model_case import ModelCase
from holdfast.attack._models.shadow import Fit, References, fit_function, reference_models
from holdfast.attack._models.target import Target
from holdfast.attack._proof import Proof, Verdict
from holdfast.attack._records import Records
from holdfast.attack._report import AttackReport
from holdfast.audit._canaries import inclusion_coins
from holdfast.audit._canaries.decoder import guess
from holdfast.audit._findings import GuessPath, bits_as_text
from holdfast.audit._membership_design import MembershipDesign
from holdfast.audit._membership_slots import Slots
from holdfast.audit._result import AuditResult, claimed_adjacency, claimed_delta, describe_scores
from holdfast.errors import BudgetWarning, NotPrivateWarning, ParameterError
from holdfast.noise._source import Source
from holdfast.privacy._adjacency import Adjacency
from holdfast.privacy._curves.curve import PrivacyCurve
from holdfast.privacy._guarantee import Guarantee

DEFAULT_DESIGN = MembershipDesign()


@checked
@dataclass(frozen=True, kw_only=True, eq=False)
class MembershipAudit:
    """The scores of each attack in the game, and the lower bound that its guesses give.

    The error is shared among the attacks that were tried. Internal: the pool may be real people.

    Parameters
    ----------
    report : AttackReport
        The scores that each attack gave.
    audits : dict
        The audit of each attack's guesses, by the attack's name.
    claim : Guarantee or PrivacyCurve
        What the guesses are held against.
    confidence : float
        Of the verdict and of the lower bound.

    Examples
    --------
    >>> from holdfast.audit import AuditResult, GuessPath
    >>> from holdfast.privacy import PureDP
    >>> scores = MembershipResult(attack="loss", member_scores=[3.0, 2.0], non_member_scores=[1.0, 0.2])
    >>> guesses = AuditResult(finding=GuessPath(canaries=100, right="1" * 100), coins="holdfast")
    >>> report = AttackReport(kind="model", results=(scores,))
    >>> game = MembershipAudit(report=report, audits={"loss": guesses}, claim=PureDP(1.0), confidence=0.95)
    >>> game.best(), game.epsilon_lower() > 3.3
    ('loss', True)
    """

    report: AttackReport[MembershipResult]
    audits: Mapping[str, AuditResult]
    claim: Guarantee | PrivacyCurve
    confidence: float
    audience: ClassVar[Literal["internal"]] = "internal"

    def verdict(self, claim: Proof | None = None) -> Verdict:
        """The gravest of all attacks; `refuted` means that the claim is false with this confidence."""
        return self.report.verdict(claim)

    def epsilon_lower(self) -> float:
        """The largest lower bound of all attacks, corrected for having tried them."""
        return max(audit.epsilon_lower(self.confidence) for audit in self.audits.values())

    def best(self) -> str:
        """The attack with the largest bound."""
        return max(self.audits, key=lambda name: self.audits[name].epsilon_lower(self.confidence))

    def summary(self) -> str:
        """The report, then the strongest audit."""
        best = self.audits[self.best()]
        return "\n".join(
            [
                self.report.summary(),
                f"strongest: {self.best()}",
                best.summary(self.claim, confidence=self.confidence),
            ]
        )


@checked
def membership_game(
    train: Any,
    pool: Any,
    *,
    claim: Guarantee | PrivacyCurve,
    design: MembershipDesign = DEFAULT_DESIGN,
    adjacency: Adjacency | str | None = None,
    delta: float | None = None,
    confidence: float = 0.95,
    seed: Seed | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> MembershipAudit:
    """Flip a secret coin for each record of the pool, train, attack, and hold the guesses against the claim.

    Under an `add_remove` claim a record is trained on or not. Under a `replace` claim it is trained on or its
    alternative is.

    Parameters
    ----------
    train : estimator or callable
        An estimator, or a function from (X, y) to a model.
    pool : pair
        The records (X, y) that coins are flipped for.
    claim : Guarantee or PrivacyCurve
        What is promised of `train`.
    design : MembershipDesign
        The attacks and what they have, alternatives, and the number of trainings.
    adjacency : {"replace", "add_remove"}, optional
        The neighbours that a bare curve is about; a guarantee says it itself.
    delta : float, optional
        At which epsilon is bounded; by default the claim's, if it is an (epsilon, delta) pair.
    confidence : float
        Of the verdict and of the lower bound.
    seed : int, optional
        Repeats the coins and the reference models; for examples only.
    progress : callable
        Called after each training with the number done and the number planned.

    Returns
    -------
    MembershipAudit
        The scores of each attack, and the lower bound that its guesses give.

    Examples
    --------
    >>> from holdfast.audit import MembershipDesign
    >>> from holdfast.privacy import PureDP
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> draw = np.random.default_rng(0)
    >>> pool = draw.normal(size=(300, 4)), draw.integers(0, 2, size=300)
    >>> game = membership_game(DecisionTreeClassifier(), pool, claim=PureDP(0.5), adjacency="add_remove",
    ...                        design=MembershipDesign(attacks="loss"), seed=1)
    >>> game.verdict()
    'refuted'
    """
    relation, shown_delta = claimed_adjacency(claim, adjacency), claimed_delta(claim, delta)
    if isinstance(claim, Guarantee) and claim.unit.column is not None:
        raise ParameterError(
            f"claim must be about rows, got one about {claim.unit.summary()}; the game flips a coin for each row: "
            "play it with one row per unit and give claim=claim.curve and the adjacency"
        )
    slots = Slots.of(pool, alternatives=design.alternatives, base=design.base, adjacency=relation, seed=seed)
    chosen, source, fit = find_attacks(design.attacks, "model"), Source(seed), fit_function(train)
    population = None if design.reference is None else Records.of(design.reference, "reference")
    references, started = None, time.perf_counter()
    if design.models and any("references" in attack.knows for attack in chosen):
        references = reference_models(
            train,
            slots.records,
            models=design.models,
            classes=_class_names(design.classes),
            random_state=seed,
            draw=slots.draw,
            base=slots.base,
            jobs=design.jobs,
        )
    plays = []
    for place in range(design.runs):
        plays.append(_play(fit, slots, source, chosen, references, population, design.classes))
        progress(place + 1, design.runs)
    skipped = plays[0].skipped
    coins = np.concatenate([play.coins for play in plays])
    scores_by_attack = {
        name: np.concatenate([play.scores[name] for play in plays]) for name in plays[0].scores
    }
    audits = {
        name: _audit(scores, coins, relation, shown_delta, tried=len(scores_by_attack))
        for name, scores in scores_by_attack.items()
    }
    curve = (claim.curve if isinstance(claim, Guarantee) else claim).trade_off()
    results = tuple(
        MembershipResult(
            attack=name,
            member_scores=scores[coins],
            non_member_scores=scores[~coins],
            game="flipped",
            adjacency=relation,
            tried=len(scores_by_attack),
            proved=curve,
            audited=audits[name].trade_off(confidence),
            audited_at=audits[name].trade_off,
            confidence=confidence,
            seconds=time.perf_counter() - started,
            member_rows=np.tile(slots.rows, design.runs)[coins],
        )
        for name, scores in scores_by_attack.items()
    )
    report = AttackReport(
        kind="model",
        results=results,
        skipped=skipped,
        models=_model_count(references),
        notes=notes_about([attack for attack in chosen if attack.name in scores_by_attack]),
    )
    return MembershipAudit(report=report, audits=audits, claim=claim, confidence=confidence)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Play:
    """One training: the coins, each attack's score of every coin, and which attacks could not be made."""

    coins: Bools
    scores: Mapping[str, Floats]
    skipped: Mapping[str, str]


def _play(
    fit: Fit,
    slots: Slots,
    source: Source,
    attacks: Sequence[Attack],
    references: References | None,
    population: Records | None,
    classes: Sequence[Any] | None,
) -> _Play:
    """Flip the coins, train, and make all attacks, which see the model and public records but not the coins."""
    coins = inclusion_coins(source, slots.pool.count)
    fit_seed = int(source.words(1)[0] >> np.uint64(33))
    with warnings.catch_warnings():
        for kind in (BudgetWarning, NotPrivateWarning):
            warnings.simplefilter("ignore", kind)
        model = fit(slots.data(coins), fit_seed)
    names = _class_names(classes) or tuple(np.unique(slots.records.labels).tolist())
    case = ModelCase(
        target=Target.of(model, classes=classes).with_class_order(names),
        records=slots.records,
        references=references,
        population=population,
    )
    playing, skipped = playable(attacks, lambda attack: case)
    scores = {attack.name: slots.values(attack(case)) for attack in playing}
    return _Play(coins=coins, scores=scores, skipped=skipped)


def _audit(scores: Floats, coins: Bools, adjacency: Adjacency, delta: float, *, tried: int) -> AuditResult:
    """The audit of one attack: guesses from both ends of its scores, surest first, calibrated along the whole path.

    The error is shared among the `tried` attacks. `planted` stays empty, since the pool may be real people.
    """
    most = coins.size // 2 * 2
    right = guess(scores, include=most // 2, exclude=most // 2).correct(coins)
    return AuditResult(
        finding=GuessPath(canaries=coins.size, right=bits_as_text(right), every=max(1, most // 200)),
        delta=delta,
        coins="holdfast",
        corrected_over=tried,
        adjacency=adjacency,
        scores=describe_scores(scores, coins),
    )


def _class_names(classes: Sequence[Any] | None) -> tuple[Any, ...] | None:
    return None if classes is None else tuple(np.asarray(classes).tolist())


def _model_count(references: References | None) -> int:
    return 0 if references is None else references.models
