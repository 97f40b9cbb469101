from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from holdfast.attack import ATTACKS, Attack, Case, membership
from holdfast.attack._models import REGISTRY
from holdfast.attack._result import find_attacks
from holdfast.errors import ParameterError
from tests.attack.attack_models import ByHeart, people

MEMBERS, OTHERS, MORE = (people(150, seed=seed) for seed in (1, 2, 3))


def test_all_attacks_on_an_estimator_without_any_further_words() -> None:
    model = DecisionTreeClassifier(random_state=0).fit(*MEMBERS)
    report = membership(model, members=MEMBERS, non_members=OTHERS, models=4, random_state=1)
    names = [attack.name for attack in ATTACKS if attack.outputs != "inside"]  # a tree has no layers
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
        membership(model, members=MEMBERS, non_members=OTHERS, models=4, random_state=7, jobs=jobs)
        for jobs in (1, 2)
    )
    for one, other in zip(first, second, strict=True):
        assert np.array_equal(one.scores, other.scores), one.attack


def test_a_callable_gets_reference_models_from_a_training_function() -> None:
    model = ByHeart().fit(*MEMBERS)
    bare = membership(model.predict_proba, classes=[0, 1], members=MEMBERS, non_members=OTHERS)
    assert set(bare.skipped) == {attack.name for attack in ATTACKS if "references" in attack.needs}
    full = membership(
        model.predict_proba,
        classes=[0, 1],
        members=MEMBERS,
        non_members=OTHERS,
        reference=MORE,
        models=4,
        train=lambda data: ByHeart().fit(*data).predict_proba,
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
        models=8,
        random_state=0,
    )
    assert all(abs(result.auc - 0.5) < 0.03 for result in report)


def test_an_attack_of_ones_own() -> None:
    first = Attack(
        name="first", score=lambda case: np.asarray(case.target.matrix(case.records)[:, 0]), paper="none"
    )
    model = LogisticRegression().fit(*MEMBERS)
    report = membership(model, members=MEMBERS, non_members=OTHERS, attacks=["loss", first])
    assert np.array_equal(report["first"].member_scores, MEMBERS[0][:, 0])
    wrong = Attack(name="wrong", score=lambda case: np.zeros(3), paper="none")
    with pytest.raises(ParameterError, match="one number per record"):
        membership(model, members=MEMBERS, non_members=OTHERS, attacks=[wrong])


def test_attacks_are_named_and_refused_by_name() -> None:
    assert [attack.name for attack in find_attacks("loss", REGISTRY)] == ["loss"]
    with pytest.raises(ParameterError, match="attacks must be 'all' or some of"):
        find_attacks(["gap"], REGISTRY)
    with pytest.raises(ParameterError, match=r"did you mean 'modified_entropy'\?"):
        find_attacks(["loss", "modifed_entropy"], REGISTRY)
    with pytest.raises(ParameterError, match="repetition"):
        find_attacks(["loss", "loss"], REGISTRY)
    with pytest.raises(ParameterError, match="no attack can be made"):
        membership(lambda rows: rows[:, 0], members=MEMBERS, non_members=OTHERS, attacks=["entropy"])
    with pytest.raises(ParameterError, match="models"):
        membership(LogisticRegression().fit(*MEMBERS), members=MEMBERS, non_members=OTHERS, models=2)


def test_a_case_without_what_is_asked_for_says_so() -> None:
    from holdfast.attack import Records, Target

    bare = Case(target=Target.of(ByHeart().fit(*MEMBERS)), records=Records.of(OTHERS, "records"))
    with pytest.raises(ParameterError, match="train="):
        bare.models()
    with pytest.raises(ParameterError, match="reference="):
        bare.others()
