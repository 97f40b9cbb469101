"""Every attack of the registries keeps the contract of `holdfast.testing`, and some more.

It finds a model that learns by heart, and raises no alarm where there is nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from holdfast.attack import (
    ATTACKS,
    ROWS_ATTACKS,
    Attack,
    AttackResult,
    Case,
    Records,
    RowsAttack,
    Target,
    membership,
    reference_models,
)
from holdfast.attack._models.attack import views
from holdfast.attack._models.thresholds import calibrated
from holdfast.privacy._tradeoff import TradeOff
from holdfast.testing import Check, attack_checks
from tests.attack.attack_models import ByHeart, NumbersByHeart, Quick, QuickNumbers, people, transparent

COIN = TradeOff([0.0, 1.0], [1.0, 0.0], claim="proved")
TASKS = [(attack, task) for attack in ATTACKS for task in attack.tasks]


EVERY: tuple[Attack | RowsAttack, ...] = (*ATTACKS, *ROWS_ATTACKS)
CHECKS = [
    pytest.param(check, id=f"{attack.name}-{check.name}", marks=[pytest.mark.slow] if check.slow else [])
    for attack in EVERY
    for check in attack_checks(attack)
]


@pytest.mark.parametrize("check", CHECKS)
def test_every_attack_keeps_its_contract(check: Check) -> None:
    check()


def _name(value: object) -> str:
    return value.name if isinstance(value, Attack) else str(value)


@pytest.mark.parametrize(("attack", "task"), TASKS, ids=_name)
def test_a_planted_leak_is_found(attack: Attack, task: str) -> None:
    inside = attack.outputs == "inside"
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
        models=4,
        random_state=0,
        proved=COIN,
    )
    result = report[attack.name]
    # Decisions alone tell wrong from right: about a third of the others is right by luck.
    assert result.auc > (0.6 if attack.outputs == "labels" else 0.95)
    assert result.verdict() == "warning"  # never more: the members were given, not drawn
    if attack.outputs == "scores":
        assert result.tpr_at(0.01) > 0.9
        assert set(result.most_exposed(5).rows) <= set(range(200))


def _kind(attack: Attack, task: str) -> Any:
    if attack.outputs == "inside":
        return transparent(task, penalty=1.0)
    return Quick() if task == "classification" else QuickNumbers()


def _null_case(attack: Attack, task: str, seed: int) -> Case:
    """A model of other people's data, judged on records that it never saw."""
    target = Target.of(_kind(attack, task).fit(*people(300, seed=1000 + seed)))
    records = Records.of(people(800, seed=seed), "members")
    return Case(
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
        scores = attack.scores(case)
        random = np.random.default_rng(seed)
        for _ in range(40):
            # Nobody is a member: any halves may be called so.
            order = random.permutation(scores.size)
            inside, aside, outside = np.split(scores[order], [300, 500])
            result = AttackResult(
                attack=attack.name, member_scores=inside, non_member_scores=outside, proved=COIN
            )
            warned, games = warned + (result.verdict() != "consistent"), games + 1
            areas.append(result.auc)
            flagged.append(calibrated(aside, false_alarm=0.1).members(inside).mean())
    assert warned <= 20  # 5 % of 200 is 10; a binomial of 10 exceeds 20 once in a thousand times
    assert np.mean(areas) == pytest.approx(0.5, abs=4 * np.std(areas) / np.sqrt(games))
    assert np.mean(flagged) <= 0.1 + 4 * np.std(flagged) / np.sqrt(games)


@pytest.mark.parametrize("attack", ATTACKS, ids=_name)
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
            models=4,
            random_state=seed,
            jobs=1,
        )
        areas.append(report[attack.name].auc)
    assert np.mean(areas) == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("attack", ATTACKS, ids=_name)
def test_an_attack_says_what_it_needs_and_repeats_itself(attack: Attack) -> None:
    bare = Case(
        target=Target.of(_kind(attack, "classification").fit(*people(50, seed=1))),
        records=Records.of(people(60, seed=2), "members"),
    )
    why = attack.obstacle(bare)
    assert (why is None) == (not attack.needs)
    if attack.needs:
        with pytest.raises(ValueError, match=attack.name):
            attack.scores(bare)
    full = _null_case(attack, "classification", 3)
    assert np.array_equal(attack.scores(full), attack.scores(full))
    assert attack.paper


def test_names_are_unique() -> None:
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS)
