"""membership(): was this record in the training data? All membership attacks on one model, run by the data's owner."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from holdfast._arguments import Seed, checked
from holdfast.attack._attack import Attack
from holdfast.attack._catalogue import find_attacks, notes_about
from holdfast.attack._membership_case import measured_results
from holdfast.attack._membership_result import MembershipResult
from holdfast.attack._models.model_case import ModelCase, views
from holdfast.attack._models.shadow import ShadowModels, cloneable, reference_models
from holdfast.attack._models.target import Target
from holdfast.attack._proof import Proof, comparable_curve
from holdfast.attack._records import Records
from holdfast.attack._report import AttackReport


@checked
def membership(
    model: Any,
    *,
    members: Any,
    non_members: Any,
    attacks: str | Sequence[str | Attack] = "all",
    reference: Any = None,
    shadows: ShadowModels | None = None,
    proved: Proof | None = None,
    random_state: Seed | None = None,
) -> AttackReport[MembershipResult]:
    """How well attacks tell the members of a model's training data from other people.

    Parameters
    ----------
    model : object
        A fitted classifier or regressor, a callable that predicts numbers, a `Release` or the path of a saved one; or
        what `Target.of` makes of a callable that gives probabilities (`classes=`) or takes something else than the
        records (`prepare=`).
    members, non_members : tuple
        Pairs (X, y) from the same source: attacks find any difference, be it another year or another hospital.
    attacks : str or sequence
        "all", names, or attacks of your own, of kind "model".
    reference : tuple, optional
        Records (X, y) that are neither, for attacks that learn what is usual. Without them a random half of the
        non-members serves where an attack needs it, and is not scored there.
    shadows : ShadowModels, optional
        How reference models are trained. By default the model is cloned if it is an estimator; else attacks with
        reference models are left out, and the report says so.
    proved : Guarantee, PrivacyCurve or TradeOff, optional
        What is proved about the model, by default the promise of its release. A bare curve is taken as one about
        replacing a record; a promise about adding, removing or blanking one counts twice, because a non-member is a
        member replaced by somebody else.
    random_state : int, optional
        The same one gives the same report.

    Returns
    -------
    AttackReport
        Of kind "model", with a `MembershipResult` for each attack.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> draw = np.random.default_rng(0)
    >>> X, y = draw.normal(size=(400, 5)), draw.integers(0, 2, size=400)
    >>> tree = DecisionTreeClassifier(random_state=0).fit(X[:200], y[:200])     # learns its data by heart
    >>> report = membership(tree, members=(X[:200], y[:200]), non_members=(X[200:], y[200:]), attacks="loss")
    >>> bool(report["loss"].auc > 0.7), report.audience
    (True, 'internal')
    """
    target, shadows = Target.of(model), ShadowModels() if shadows is None else shadows
    inside, outside = Records.of(members, "members"), Records.of(non_members, "non_members")
    chosen = find_attacks(attacks, "model")
    train = model if shadows.train is None and cloneable(model) else shadows.train
    case = ModelCase(
        target=target,
        records=inside.join(outside),
        population=None if reference is None else Records.of(reference, "reference"),
        random=np.random.default_rng(random_state),
    )
    training_seconds = 0.0
    if train is not None and any("references" in attack.knows for attack in chosen):
        start = time.perf_counter()
        references = reference_models(
            train,
            case.records,
            models=shadows.count,
            classes=target.classes or None,
            random_state=random_state,
            jobs=shadows.jobs,
            views=views(chosen, target),
        )
        case, training_seconds = replace(case, references=references), time.perf_counter() - start
    curve, unlike = comparable_curve(target.guarantee if proved is None else proved)
    results, skipped = measured_results(
        chosen,
        case,
        inside.count,
        proved=curve,
        seed=random_state,
        training_seconds=training_seconds,
    )
    playing = [attack for attack in chosen if attack.name not in skipped]
    return AttackReport(
        kind="model",
        results=results,
        skipped=skipped,
        models=case.references.models if case.references else 0,
        notes=unlike | notes_about(playing),
    )
