"""membership(): was this record used? Every attack on one model, members and non-members given by the owner."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast._arguments import Seed, checked
from holdfast.attack._models import REGISTRY
from holdfast.attack._models.answers import Task
from holdfast.attack._models.attack import Attack, Case, views
from holdfast.attack._models.shadow import cloneable, reference_models
from holdfast.attack._models.target import Target
from holdfast.attack._records import Records, set_aside
from holdfast.attack._report import MembershipReport
from holdfast.attack._result import AttackResult, Proof, comparable_curve, find_attacks, words_about
from holdfast.errors import ParameterError, require

MODELS = 16


@checked
def membership(
    model: Any,
    *,
    members: Any,
    non_members: Any,
    attacks: str | Sequence[str | Attack] = "all",
    reference: Any = None,
    train: Any = None,
    models: int = MODELS,
    proved: Proof | None = None,
    classes: Sequence[Any] | None = None,
    task: Task | None = None,
    random_state: Seed | None = None,
    jobs: int | None = None,
) -> MembershipReport:
    """How well attacks tell the members of a model's training data from other people.

    `model` is a fitted classifier or regressor, a callable (with `classes` if it gives probabilities), a `Release`
    or the path of a saved one. `members` and `non_members` are pairs (X, y) from the same source: attacks find any
    difference, be it another year or another hospital. `attacks` is "all", names, or your own.

    `reference=(X, y)` are records that are neither, for attacks that learn what is usual. Without it a random half
    of the non-members serves where an attack needs it, and is not scored there. `train` says how reference models
    are trained: an estimator, or a function from (X, y) to a model. Without it the model is cloned if it is an
    estimator; else attacks with reference models are left out, and the report says so. `models` is their number,
    even; 16 go a long way. The same `random_state` gives the same report, whatever the number of `jobs`.

    `proved` is what is proved about the model, by default the promise of its release. A bare curve is taken as one
    about replacing a record; a promise about adding, removing or blanking one counts twice, because a non-member is
    a member replaced by somebody else.

    >>> from sklearn.tree import DecisionTreeClassifier
    >>> draw = np.random.default_rng(0)
    >>> X, y = draw.normal(size=(400, 5)), draw.integers(0, 2, size=400)
    >>> tree = DecisionTreeClassifier(random_state=0).fit(X[:200], y[:200])     # learns its data by heart
    >>> report = membership(tree, members=(X[:200], y[:200]), non_members=(X[200:], y[200:]), attacks="loss")
    >>> bool(report["loss"].auc > 0.7), report.audience
    (True, 'internal')
    """
    target = Target.of(model, classes=classes, task=task)
    inside, outside = Records.of(members, "members"), Records.of(non_members, "non_members")
    chosen = find_attacks(attacks, REGISTRY)
    if train is None and cloneable(model):
        train = model
    case = Case(
        target=target,
        records=inside.join(outside),
        population=None if reference is None else Records.of(reference, "reference"),
        random=np.random.default_rng(random_state),
    )
    spent = 0.0
    if train is not None and any("references" in attack.needs for attack in chosen):
        require(models >= 4, "models", models, ">= 4", "or leave out the attacks with reference models")
        start = time.perf_counter()
        made = reference_models(
            train,
            case.records,
            models=models,
            classes=target.classes or None,
            random_state=random_state,
            jobs=jobs,
            views=views(chosen, target),
        )
        case, spent = replace(case, references=made), time.perf_counter() - start
    games = {attack.name: _arranged(attack, case, inside.count, random_state) for attack in chosen}
    skipped = {attack.name: why for attack in chosen if (why := attack.obstacle(games[attack.name][0]))}
    run = [attack for attack in chosen if attack.name not in skipped]
    if not run:
        raise ParameterError(
            "no attack can be made: " + "; ".join(f"{name}: {why}" for name, why in skipped.items())
        )
    proof = target.guarantee if proved is None else proved
    curve, unlike = comparable_curve(proof)
    results = []
    for attack in run:
        arranged, is_member = games[attack.name]
        start = time.perf_counter()
        scores = attack.scores(arranged)
        seconds = time.perf_counter() - start + (spent if "references" in attack.needs else 0.0)
        result = AttackResult(
            attack=attack.name,
            member_scores=scores[is_member],
            non_member_scores=scores[~is_member],
            tried=len(run),
            proved=curve,
            seconds=seconds,
        )
        results.append(result)
    return MembershipReport(
        results=tuple(results),
        skipped=skipped,
        models=case.references.models if case.references else 0,
        notes=unlike | words_about(run, REGISTRY),
    )


def _arranged(attack: Attack, case: Case, members: int, seed: Seed | None) -> tuple[Case, NDArray[np.bool_]]:
    """The case of one attack, and who is a member: some non-members become the population where one is needed."""
    is_member = np.arange(case.records.count) < members
    if "population" not in attack.needs or case.population is not None:
        return case, is_member
    kept, aside = set_aside(is_member, seed, otherwise="reference=(X, y)")
    references = case.references
    if references is not None:
        references = references.take(kept)
    others = case.records.take(aside)
    return (
        replace(case, records=case.records.take(kept), population=others, references=references),
        is_member[kept],
    )
