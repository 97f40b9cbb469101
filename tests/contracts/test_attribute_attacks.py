"""Every attribute attack of the registry keeps the contract of `holdfast.testing`, and some more by `attribute_risk`.

It finds what a release gives away, and nothing where it gives nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from holdfast.attack import ATTRIBUTE_ATTACKS, AttributeAttack, AttributeCase, attribute_risk
from holdfast.attack._attributes.case import guesses
from holdfast.testing import Check, attribute_checks
from tests.attack.attributes.attribute_people import ByHeartOf, schema, table, true_model
from tests.paths import ROOT

ASKING = [
    (attack, task) for attack in ATTRIBUTE_ATTACKS if "rows" not in attack.needs for task in attack.tasks
]
CHECKS = [
    pytest.param(check, id=f"{attack.name}-{check.name}")
    for attack in ATTRIBUTE_ATTACKS
    for check in attribute_checks(attack)
]
READING = [attack for attack in ATTRIBUTE_ATTACKS if "rows" in attack.needs]


@pytest.mark.parametrize("check", CHECKS)
def test_every_attack_keeps_its_contract(check: Check) -> None:
    check()


def _name(value: object) -> str:
    return value.name if isinstance(value, AttributeAttack) else str(value)


def _risk(model: Any, rows: Any, attack: AttributeAttack, *, numbers: bool = False, **more: Any) -> Any:
    third = len(rows) // 3
    settings: dict[str, Any] = {"sizes": (200,), "surest": 20, "random_state": 0, "disclosure": False} | more
    if "target" not in settings and "rows" not in attack.needs:
        settings["target"] = "y"
    return attribute_risk(
        model,
        rows[:third],
        fresh=rows[third:],
        sensitive="s",
        schema=schema(numbers=numbers),
        attacks=[attack],
        **settings,
    )["s"]


def _linear(rows: Any, *, numbers: bool) -> Any:
    from sklearn.linear_model import LogisticRegression, Ridge

    return (Ridge() if numbers else LogisticRegression()).fit(rows[:, :3], rows[:, 3])


@pytest.mark.parametrize(("attack", "task"), ASKING, ids=_name)
def test_what_a_model_gives_away_is_found(attack: AttributeAttack, task: str) -> None:
    """A strong influence of the secret on the response: everybody is guessed far better than by a coin."""
    numbers = task == "regression"
    rows = table(1200, seed=1, numbers=numbers, beside=0.0)
    model = _linear(rows[:400], numbers=numbers) if "weights" in attack.needs else true_model(numbers=numbers)
    risk = _risk(model, rows, attack, numbers=numbers)
    assert risk.outcome().accuracy() > 0.75


@pytest.mark.parametrize("attack", READING, ids=_name)
def test_what_rows_give_away_is_found(attack: AttributeAttack) -> None:
    """Rows of other people, in which the secret can be read from the rest."""
    rows, released = table(1200, seed=1), table(800, seed=2)
    names = dict(zip(schema().names, released.T, strict=True))
    risk = _risk(names, rows, attack, sizes=(20,))
    assert risk.outcome().accuracy() > 0.75
    copied = _risk(dict(zip(schema().names, rows[:400].T, strict=True)), rows, attack)
    if attack.name == "closest_row":  # a copy is found in the copy
        assert copied.gap().members == 1.0
        assert copied.gap().low > 0.05


#: These learn what holds for people in general, or look at weights.
SMOOTH = ("lomia", "stacked", "linear_weights")


@pytest.mark.parametrize(
    "attack", [a for a, task in ASKING if task == "classification" and a.name not in SMOOTH], ids=_name
)
def test_learning_by_heart_shows_on_members_only(attack: AttributeAttack) -> None:
    rows = table(900, seed=4, effect=0.0, beside=0.0)
    gap = _risk(ByHeartOf(rows[:300]), rows, attack, classes=[0.0, 1.0]).gap()
    assert gap.members > 0.95
    assert gap.fresh < 0.6
    assert gap.low > 0.3


@pytest.mark.parametrize(("attack", "task"), ASKING, ids=_name)
def test_zero_influence_gives_nothing(attack: AttributeAttack, task: str) -> None:
    """A model that does not look at the secret: no gain over the imputer, none about members."""
    numbers = task == "regression"
    rows = table(1500, seed=5, effect=0.0, numbers=numbers)
    model: Any = true_model(0.0, numbers=numbers, influence=False)
    if "weights" in attack.needs:
        model = _linear(rows[:500] * np.array([0.0, 1.0, 1.0, 1.0]), numbers=numbers)
    risk = _risk(model, rows, attack, numbers=numbers)
    assert risk.gain().low <= 0.0
    assert risk.gain().value < 0.05
    assert risk.gap().low <= 0.0 <= risk.gap().high


@pytest.mark.parametrize("attack", ATTRIBUTE_ATTACKS, ids=_name)
def test_an_attack_cannot_look_at_the_answers(attack: AttributeAttack) -> None:
    """Scores stay what they are when the secrets of the people who are judged are exchanged."""
    seen: list[Any] = []
    spied = attack.score

    def spying(case: AttributeCase) -> Any:
        seen.append(spied(case))
        return seen[-1]

    spy = AttributeAttack(
        name="spy", score=spying, paper=attack.paper, needs=attack.needs, tasks=attack.tasks
    )
    rows = table(600, seed=6)
    model: Any = dict(zip(schema().names, table(300, seed=7).T, strict=True))
    if "rows" not in attack.needs:
        model = _linear(rows[:200], numbers=False)
    order = np.random.default_rng(0).permutation(400)  # as attribute_risk draws it: own people come first
    for flip in (False, True):
        changed = rows.copy()
        if flip:
            changed[:200, 0] = 1 - changed[:200, 0]
            own = 200
            judged = 200 + order[own:]
            changed[judged, 0] = 1 - changed[judged, 0]
        _risk(model, changed, spy)
    assert len(seen) == 2
    assert np.array_equal(*seen)


def test_names_are_unique_and_papers_are_listed() -> None:
    assert len({attack.name for attack in ATTRIBUTE_ATTACKS}) == len(ATTRIBUTE_ATTACKS)
    listed = (ROOT / "docs" / "papers.bib").read_text(encoding="utf-8")
    assert not [attack.paper for attack in ATTRIBUTE_ATTACKS if f"{{{attack.paper}," not in listed]


def test_ties_go_to_the_commonest() -> None:
    """A constant guess is as good as any other only where all values are equally likely."""
    case = AttributeCase(kinds=3, own_values=np.array([2, 2, 1, 0, 2]), known=np.zeros((9, 0)), rows=None)
    flat = AttributeAttack(name="flat", score=lambda case: np.zeros((case.count, 3)), paper="none", needs=())
    assert set(guesses(flat.scores(case))[0].tolist()) == {2}
