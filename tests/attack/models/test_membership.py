from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from holdfast.attack import ATTACKS, Attack, ModelCase, ShadowModels, Target, membership
from holdfast.attack._catalogue import find_attacks
from holdfast.errors import ParameterError
from tests.attack.attack_models import ByHeart, people

ON_MODELS = [attack for attack in ATTACKS if attack.kind == "model"]
MEMBERS, OTHERS, MORE = (people(150, seed=seed) for seed in (1, 2, 3))


def test_all_attacks_on_an_estimator_without_any_further_words() -> None:
    model = DecisionTreeClassifier(random_state=0).fit(*MEMBERS)
    report = membership(
        model, members=MEMBERS, non_members=OTHERS, shadows=ShadowModels(count=4), random_state=1
    )
    names = [attack.name for attack in ON_MODELS if "weights" not in attack.knows]  # a tree has no layers
    assert [result.attack for result in report] == names
    assert set(report.skipped) == {"neural_white_box"}
    assert report.models == 4
    assert all(result.tried == len(names) for result in report)
    # The quantile attack learned from half of the non-members, and did not score them.
    assert report["quantile"].non_member_scores.size == 75
    assert report["loss"].non_member_scores.size == 150


def test_the_same_number_gives_the_same_report() -> None:
    model = DecisionTreeClassifier(random_state=0, max_depth=4).fit(*MEMBERS)
    first, second = (
        membership(
            model,
            members=MEMBERS,
            non_members=OTHERS,
            shadows=ShadowModels(count=4, jobs=jobs),
            random_state=7,
        )
        for jobs in (1, 2)
    )
    for one, other in zip(first, second, strict=True):
        assert np.array_equal(one.scores, other.scores), one.attack


def test_a_callable_gets_reference_models_from_a_training_function() -> None:
    model = ByHeart().fit(*MEMBERS)
    target = Target.of(model.predict_proba, classes=[0, 1])
    bare = membership(target, members=MEMBERS, non_members=OTHERS)
    assert set(bare.skipped) == {attack.name for attack in ON_MODELS if "references" in attack.knows}
    full = membership(
        target,
        members=MEMBERS,
        non_members=OTHERS,
        reference=MORE,
        shadows=ShadowModels(train=lambda data: ByHeart().fit(*data).predict_proba, count=4),
        random_state=0,
    )
    assert set(full.skipped) == {"neural_white_box"}
    assert full["lira"].auc > 0.95
    assert full["quantile"].non_member_scores.size == 150


def test_a_model_that_generalises_gives_little_away() -> None:
    model = LogisticRegression().fit(*people(4000, seed=8))
    report = membership(
        model,
        members=people(4000, seed=8),
        non_members=people(4000, seed=9),
        attacks=("loss", "lira", "rmia"),
        shadows=ShadowModels(count=8),
        random_state=0,
    )
    assert all(abs(result.auc - 0.5) < 0.03 for result in report)


def test_an_attack_of_ones_own() -> None:
    first = Attack(
        name="first",
        kind="model",
        guess=lambda case: np.asarray(case.target.matrix(case.records)[:, 0]),
        paper="none",
        knows=("answers",),
    )
    model = LogisticRegression().fit(*MEMBERS)
    report = membership(model, members=MEMBERS, non_members=OTHERS, attacks=["loss", first])
    assert np.array_equal(report["first"].member_scores, MEMBERS[0][:, 0])
    wrong = replace(first, name="wrong", guess=lambda case: np.zeros(3))
    with pytest.raises(ParameterError, match="one number per record"):
        membership(model, members=MEMBERS, non_members=OTHERS, attacks=[wrong])


def test_attacks_are_named_and_refused_by_name() -> None:
    assert [attack.name for attack in find_attacks("loss", "model")] == ["loss"]
    with pytest.raises(ParameterError, match="attacks must be 'all' or some of"):
        find_attacks(["gap"], "model")
    with pytest.raises(ParameterError, match=r"did you mean 'modified_entropy'\?"):
        find_attacks(["loss", "modifed_entropy"], "model")
    with pytest.raises(ParameterError, match="repetition"):
        find_attacks(["loss", "loss"], "model")
    with pytest.raises(ParameterError, match=r"attacks must be of kind 'rows'.*this one is of kind 'model'"):
        find_attacks(["loss"], "rows")
    for kind in ("model", "rows", "attribute", "disclosure"):
        assert [one.name for one in find_attacks("all", kind)] == [
            one.name for one in ATTACKS if one.kind == kind
        ]
    with pytest.raises(ParameterError, match="no attack can be made"):
        membership(lambda rows: rows[:, 0], members=MEMBERS, non_members=OTHERS, attacks=["entropy"])
    for count in (2, 5):
        with pytest.raises(ParameterError, match="count must be an even number >= 4"):
            ShadowModels(count=count)


def test_a_case_without_what_is_asked_for_says_so() -> None:
    from holdfast.attack import Records

    bare = ModelCase(target=Target.of(ByHeart().fit(*MEMBERS)), records=Records.of(OTHERS, "records"))
    with pytest.raises(ParameterError, match="shadows="):
        bare.models()
    with pytest.raises(ParameterError, match="reference="):
        bare.known_population()
