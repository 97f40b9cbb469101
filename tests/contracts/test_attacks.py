"""Every attack of the registry keeps the contract of `holdfast.testing`, and some more.

It finds a model that learns by heart, and raises no alarm where there is nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from holdfast.attack import (
    ATTACKS,
    Attack,
    MembershipResult,
    ModelCase,
    Records,
    ShadowModels,
    Target,
    membership,
    reference_models,
)
from holdfast.attack._attack import KNOWLEDGE
from holdfast.attack._models.model_case import views
from holdfast.attack._models.thresholds import calibrated_threshold
from holdfast.privacy._tradeoff import TradeOff
from holdfast.testing import Check, attack_checks
from tests.attack.attack_models import ByHeart, NumbersByHeart, Quick, QuickNumbers, people, transparent
from tests.paths import ROOT

COIN = TradeOff([0.0, 1.0], [1.0, 0.0], claim="proved")
ON_MODELS = [attack for attack in ATTACKS if attack.kind == "model"]
TASKS = [(attack, task) for attack in ON_MODELS for task in attack.tasks]
CHECKS = [
    pytest.param(check, id=f"{attack.name}-{check.name}", marks=[pytest.mark.slow] if check.slow else [])
    for attack in ATTACKS
    for check in attack_checks(attack)
]


@pytest.mark.parametrize("check", CHECKS)
def test_every_attack_keeps_its_contract(check: Check) -> None:
    check()


def _name(value: object) -> str:
    return value.name if isinstance(value, Attack) else str(value)


@pytest.mark.parametrize(("attack", "task"), TASKS, ids=_name)
def test_a_planted_leak_is_found(attack: Attack, task: str) -> None:
    inside = "weights" in attack.knows
    rows, labels = people(600, seed=1, classes=3, columns=400 if inside else 5)
    if task == "regression":
        labels = np.where(labels == 1, -3.0, 2.0 + labels)  # nobody's number is close to the mean
    by_heart = ByHeart() if task == "classification" else NumbersByHeart()
    model = (transparent(task, penalty=1e-3) if inside else by_heart).fit(rows[:200], labels[:200])
    report = membership(
        model,
        members=(rows[:200], labels[:200]),
        non_members=(rows[200:400], labels[200:400]),
        reference=(rows[400:], labels[400:]),
        attacks=[attack],
        shadows=ShadowModels(count=4),
        random_state=0,
        proved=COIN,
    )
    result = report[attack.name]
    # Decisions alone tell wrong from right: about a third of the others is right by luck.
    assert result.auc > (0.6 if attack.knows == ("answers",) else 0.95)
    assert result.verdict() == "warning"  # never more: the members were given, not drawn
    if "scores" in attack.knows:
        assert result.tpr_at(0.01) > 0.9
        assert set(result.most_exposed(5).rows) <= set(range(200))


def _kind(attack: Attack, task: str) -> Any:
    if "weights" in attack.knows:
        return transparent(task, penalty=1.0)
    return Quick() if task == "classification" else QuickNumbers()


def _null_case(attack: Attack, task: str, seed: int) -> ModelCase:
    """A model of other people's data, judged on records that it never saw."""
    target = Target.of(_kind(attack, task).fit(*people(300, seed=1000 + seed)))
    records = Records.of(people(800, seed=seed), "members")
    return ModelCase(
        target=target,
        records=records,
        references=reference_models(
            _kind(attack, task), records, models=4, random_state=seed, jobs=1, views=views([attack], target)
        ),
        population=Records.of(people(400, seed=2000 + seed), "reference"),
    )


@pytest.mark.parametrize(("attack", "task"), TASKS, ids=_name)
def test_no_leak_no_alarm_at_the_stated_rate(attack: Attack, task: str) -> None:
    warned, areas, flagged, games = 0, [], [], 0
    for seed in range(5):
        case = _null_case(attack, task, seed)
        scores = attack(case)
        random = np.random.default_rng(seed)
        for _ in range(40):
            # Nobody is a member: any halves may be called so.
            order = random.permutation(scores.size)
            inside, aside, outside = np.split(scores[order], [300, 500])
            result = MembershipResult(
                attack=attack.name, member_scores=inside, non_member_scores=outside, proved=COIN
            )
            warned, games = warned + (result.verdict() != "consistent"), games + 1
            areas.append(result.auc)
            flagged.append(calibrated_threshold(aside, false_alarm=0.1).members(inside).mean())
    assert warned <= 20  # 5 % of 200 is 10; a binomial of 10 exceeds 20 once in a thousand times
    assert np.mean(areas) == pytest.approx(0.5, abs=4 * np.std(areas) / np.sqrt(games))
    assert np.mean(flagged) <= 0.1 + 4 * np.std(flagged) / np.sqrt(games)


@pytest.mark.parametrize("attack", ON_MODELS, ids=_name)
def test_an_attack_does_not_know_the_answers_from_their_order(attack: Attack) -> None:
    """Members come first in the data: through `membership` a model of other people must still give one half."""
    areas = []
    for seed in range(12):
        model = _kind(attack, "classification").fit(*people(200, seed=100 + seed))
        report = membership(
            model,
            members=people(150, seed=seed),
            non_members=people(150, seed=50 + seed),
            attacks=[attack],
            shadows=ShadowModels(count=4, jobs=1),
            random_state=seed,
        )
        areas.append(report[attack.name].auc)
    assert np.mean(areas) == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("attack", ON_MODELS, ids=_name)
def test_an_attack_says_what_it_needs_and_repeats_itself(attack: Attack) -> None:
    bare = ModelCase(
        target=Target.of(_kind(attack, "classification").fit(*people(50, seed=1))),
        records=Records.of(people(60, seed=2), "members"),
    )
    why = attack.obstacle(bare)
    needs_more = bool({"references", "population"} & {*attack.knows})
    assert (why is None) == (not needs_more)
    if needs_more:
        with pytest.raises(ValueError, match=attack.name):
            attack(bare)
    full = _null_case(attack, "classification", 3)
    assert np.array_equal(attack(full), attack(full))
    assert attack.paper


def test_names_are_unique_and_papers_are_listed() -> None:
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS)
    listed = (ROOT / "docs" / "papers.bib").read_text(encoding="utf-8")
    assert not [attack.paper for attack in ATTACKS if f"{{{attack.paper}," not in listed]


def test_an_attack_knows_what_there_is_in_a_case_of_its_kind() -> None:
    for attack in ATTACKS:
        assert attack.knows
        for knowledge in {part for parts in KNOWLEDGE.values() for part in parts} - {*KNOWLEDGE[attack.kind]}:
            with pytest.raises(ValueError, match="knows must be made of"):
                replace(attack, knows=(*attack.knows, knowledge))


@pytest.mark.parametrize("attack", [one for one in ATTACKS if one.kind != "model"], ids=_name)
def test_an_attack_is_made_on_its_own_kind_of_case(attack: Attack) -> None:
    case = _null_case(ON_MODELS[0], "classification", 1)
    assert attack.obstacle(case) == f"made for cases of kind {attack.kind!r}, not 'model'"
    with pytest.raises(ValueError, match=f"{attack.name!r} cannot be made"):
        attack(case)
