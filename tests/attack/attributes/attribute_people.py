"""People for attribute attacks to practise on, and models of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from holdfast.attack import Attacker, AttackReport, AttributeResult, Scoring, Target, attribute_risk
from holdfast.data._schema import Categorical, Numeric, Schema


def schema(numbers: bool = False) -> Schema:
    last = Numeric("y", -8, 8, bins=4) if numbers else Categorical("y", ["0", "1"])
    return Schema([Categorical("s", ["0", "1"]), Numeric("a", -4, 4), Numeric("b", -4, 4, bins=20), last])


def table(count: int, *, seed: int, effect: float = 2.0, numbers: bool = False, beside: float = 0.7) -> Any:
    """A secret s that a and y tell something about: columns s, a, b, y."""
    random = np.random.default_rng(seed)
    s = random.integers(0, 2, size=count)
    a = beside * (2 * s - 1) + random.normal(size=count)
    b = random.normal(size=count)
    score = effect * (2 * s - 1) + 0.5 * a
    y = score + random.normal(size=count) if numbers else (score + random.logistic(size=count) > 0)
    return np.column_stack([s, a, b, y.astype(float)])


def true_model(effect: float = 2.0, *, numbers: bool = False, influence: bool = True) -> Target:
    """The law that y was drawn from, as a model of s, a, b; or one that does not look at s."""

    def score(X: Any) -> Any:
        return (effect * (2 * X[:, 0] - 1) if influence else 0.0) + 0.5 * X[:, 1]

    if numbers:
        return Target.of(score)
    return Target.of(lambda X: 1.0 / (1.0 + np.exp(-score(X))), classes=[0.0, 1.0])


class ByHeartOf:
    """Knows the response of every record that it was made from, and says one half of all others."""

    def __init__(self, rows: Any) -> None:
        self.seen = {row[:-1].tobytes(): row[-1] for row in np.ascontiguousarray(rows)}

    def __call__(self, X: Any) -> Any:
        return np.array(
            [0.5 if (y := self.seen.get(row.tobytes())) is None else 0.02 + 0.96 * y for row in X]
        )


OF_THE_ATTACKER = ("knows", "response", "response_error", "own", "learner", "attacks")
OF_THE_SCORING = ("people", "surest", "groups", "disclosure", "adjacency", "proved", "confidence")


def risk_of(model: Any, rows: Any, **settings: Any) -> AttackReport[AttributeResult]:
    """`attribute_risk` with the settings of attacker and scoring beside all others."""
    attacker, scoring = (
        {name: settings.pop(name) for name in names if name in settings}
        for names in (OF_THE_ATTACKER, OF_THE_SCORING)
    )
    return attribute_risk(model, rows, attacker=Attacker(**attacker), scoring=Scoring(**scoring), **settings)
