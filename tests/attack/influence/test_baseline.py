"""The guess without the model is no straw man: it uses all other columns, and people of the attacker's own only."""

from __future__ import annotations

from typing import Any

import numpy as np

from holdfast.attack import Target, invertibility


def _alike(count: int, seed: int) -> np.ndarray:
    """Two columns that agree nine times in ten, and a third that has nothing to do with them."""
    random = np.random.default_rng(seed)
    first = random.integers(0, 2, count)
    second = np.where(random.random(count) < 0.9, first, 1 - first)
    return np.column_stack([first, second, random.integers(0, 2, count)]).astype(float)


def _model(chances: Any) -> Target:
    return Target.of(chances, classes=["no", "yes"])


def test_without_the_model_other_columns_are_used() -> None:
    people = _alike(1200, 0)
    report = invertibility(_model(lambda X: 0.5 * np.ones(len(X))), people, random_state=0)
    assert report[0].advantage.simulated_gain > 0.85
    assert report[2].advantage.simulated_gain < 0.6
    assert all(found.advantage.value == 0.0 for found in report)


def test_knowledge_about_the_population_is_no_advantage() -> None:
    """The model says what column 1 says, which is known anyway: nothing is gained about column 0."""
    people = _alike(1600, 1)
    report = invertibility(_model(lambda X: 0.1 + 0.8 * X[:, 1]), people, columns=[0], random_state=0)
    assert report[0].influence == 0.0
    assert report[0].advantage.value == 0.0


def test_own_people_may_be_given() -> None:
    report = invertibility(
        _model(lambda X: 0.1 + 0.8 * X[:, 0]),
        _alike(300, 2),
        reference=_alike(500, 3),
        random_state=0,
    )
    assert report[0].people == 300
    assert report[0].advantage.gain == 1.0
