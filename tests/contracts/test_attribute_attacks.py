"""Every attack on an attribute keeps more than the contract of all attacks, by `attribute_risk`.

It finds what a release gives away, and nothing where it gives nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from holdfast.attack import ATTACKS, Attack, AttributeCase, Target
from holdfast.attack._attributes.attribute_case import guesses
from tests.attack.attributes.attribute_people import ByHeartOf, risk_of, schema, table, true_model

ON_ATTRIBUTES = [attack for attack in ATTACKS if attack.kind == "attribute"]
ASKING = [(attack, task) for attack in ON_ATTRIBUTES if "rows" not in attack.knows for task in attack.tasks]
READING = [attack for attack in ON_ATTRIBUTES if "rows" in attack.knows]


def _name(value: object) -> str:
    return value.name if isinstance(value, Attack) else str(value)


def _risk(model: Any, rows: Any, attack: Attack, *, numbers: bool = False, **more: Any) -> Any:
    third = len(rows) // 3
    settings: dict[str, Any] = {"own": (200,), "surest": 20, "random_state": 0, "disclosure": False} | more
    if "target" not in settings and "rows" not in attack.knows:
        settings["target"] = "y"
    return risk_of(
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
def test_what_a_model_gives_away_is_found(attack: Attack, task: str) -> None:
    """A strong influence of the secret on the response: everybody is guessed far better than by a coin."""
    numbers = task == "regression"
    rows = table(1200, seed=1, numbers=numbers, beside=0.0)
    model = _linear(rows[:400], numbers=numbers) if "weights" in attack.knows else true_model(numbers=numbers)
    risk = _risk(model, rows, attack, numbers=numbers)
    assert risk.outcome().accuracy() > 0.75


@pytest.mark.parametrize("attack", READING, ids=_name)
def test_what_rows_give_away_is_found(attack: Attack) -> None:
    """Rows of other people, in which the secret can be read from the rest."""
    rows, released = table(1200, seed=1), table(800, seed=2)
    names = dict(zip(schema().names, released.T, strict=True))
    risk = _risk(names, rows, attack, own=(20,))
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
def test_learning_by_heart_shows_on_members_only(attack: Attack) -> None:
    rows = table(900, seed=4, effect=0.0, beside=0.0)
    gap = _risk(Target.of(ByHeartOf(rows[:300]), classes=[0.0, 1.0]), rows, attack).gap()
    assert gap.members > 0.95
    assert gap.fresh < 0.6
    assert gap.low > 0.3


@pytest.mark.parametrize(("attack", "task"), ASKING, ids=_name)
def test_zero_influence_gives_nothing(attack: Attack, task: str) -> None:
    """A model that does not look at the secret: no gain over the imputer, none about members."""
    numbers = task == "regression"
    rows = table(1500, seed=5, effect=0.0, numbers=numbers)
    model: Any = true_model(0.0, numbers=numbers, influence=False)
    if "weights" in attack.knows:
        model = _linear(rows[:500] * np.array([0.0, 1.0, 1.0, 1.0]), numbers=numbers)
    risk = _risk(model, rows, attack, numbers=numbers)
    assert risk.gain().low <= 0.0
    assert risk.gain().value < 0.05
    assert risk.gap().low <= 0.0 <= risk.gap().high


@pytest.mark.parametrize("attack", ON_ATTRIBUTES, ids=_name)
def test_an_attack_cannot_look_at_the_answers(attack: Attack) -> None:
    """Scores stay what they are when the secrets of the people who are judged are exchanged."""
    seen: list[Any] = []
    spied = attack.guess

    def spying(case: AttributeCase) -> Any:
        seen.append(spied(case))
        return seen[-1]

    spy = replace(attack, name="spy", guess=spying)
    rows = table(600, seed=6)
    model: Any = dict(zip(schema().names, table(300, seed=7).T, strict=True))
    if "rows" not in attack.knows:
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


def test_ties_go_to_the_commonest() -> None:
    """A constant guess is as good as any other only where all values are equally likely."""
    case = AttributeCase(kinds=3, own_values=np.array([2, 2, 1, 0, 2]), known=np.zeros((9, 0)), rows=None)
    flat = Attack(
        name="flat",
        kind="attribute",
        guess=lambda case: np.zeros((case.count, 3)),
        paper="none",
        knows=(),
    )
    assert set(guesses(flat(case))[0].tolist()) == {2}
