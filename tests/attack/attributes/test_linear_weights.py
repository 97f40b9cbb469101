"""The white box: weights of a linear model about one person's value (soundness, section 27)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from holdfast.attack import Target
from holdfast.attack._attacks.linear_weights import (
    accuracy_of_weights,
    ridge_weights,
    weights_log_likelihood,
)
from holdfast.attack._attributes.linear_inside import LinearInside
from tests.attack.attributes.attribute_people import risk_of, schema, table


def _ridge(seed: int, std: float) -> tuple[bool, float]:
    random = np.random.default_rng(seed)
    X = random.normal(size=(200, 20))
    X[:, 0] = random.integers(0, 2, size=200)
    y = X @ random.normal(size=20) / np.sqrt(20) + 1.6 * random.normal(size=200)
    rows = np.stack([X[0], X[0]])
    rows[:, 0] = (0.0, 1.0)
    made = ridge_weights(X[1:], y[1:], rows, y[0], penalty=2.0)
    truth = int(X[0, 0])
    released = made[truth] + std * random.normal(size=20)
    guess = int(weights_log_likelihood(released, made, noise_std=std).argmax())
    return guess == truth, accuracy_of_weights(made[0], made[1], noise_std=std)


@pytest.mark.parametrize(("std", "near"), [(0.0, 1.0), (0.01, 0.755), (0.05, 0.54)])
def test_whoever_knows_the_others_succeeds_as_the_distance_says(std: float, near: float) -> None:
    right, said = np.array([_ridge(seed, std) for seed in range(600)], dtype=float).T
    assert right.mean() == pytest.approx(said.mean(), abs=3 * 0.5 / np.sqrt(600))
    assert said.mean() == pytest.approx(near, abs=0.03)


def test_one_rank_updates_are_retraining() -> None:
    random = np.random.default_rng(0)
    X, y, rows = random.normal(size=(30, 4)), random.normal(size=30), random.normal(size=(3, 4))
    made = ridge_weights(X, y, rows, 0.7, penalty=0.5)
    for row, weights in zip(rows, made, strict=True):
        Z, z = np.vstack([X, row]), np.append(y, 0.7)
        assert weights == pytest.approx(np.linalg.solve(Z.T @ Z + 0.5 * np.eye(4), Z.T @ z))


def test_weights_of_a_model_that_does_not_read_the_column_say_nothing() -> None:
    from sklearn.linear_model import LogisticRegression

    rows = table(900, seed=3)
    model = LogisticRegression().fit(rows[:300, 1:3], rows[:300, 3])
    report = risk_of(
        Target.of(model, prepare=lambda X: X[:, 1:]),
        rows[:300],
        fresh=rows[300:],
        sensitive="s",
        target="y",
        schema=schema(),
        own=(50,),
        surest=20,
        attacks=["linear_weights"],
        random_state=0,
    )
    risk = report["s"]
    assert np.array_equal(risk.outcome("linear_weights").fresh, risk.outcome("imputer").fresh)
    assert np.array_equal(risk.outcome("linear_weights").members, risk.outcome("imputer").members)


def test_fits_are_kept_by_their_responses() -> None:
    """What is guessed does not change a fit to own people; other responses, as where they are blurred anew, do."""
    random = np.random.default_rng(1)
    design, labels = random.normal(size=(60, 3)), random.normal(size=90)
    told: Any = {
        "weights": np.zeros(3),
        "own_design": design,
        "loss": "squared",
        "trained_on": 30,
        "fits": {},
    }
    first = LinearInside(labels=labels, designs=random.normal(size=(2, 30, 3)), **told)
    again = LinearInside(labels=labels, designs=random.normal(size=(4, 30, 3)), **told)
    other = LinearInside(labels=labels[::-1].copy(), designs=first.designs, **told)
    assert first.usual_weights(60)[0] is again.usual_weights(60)[0]
    assert not np.allclose(first.usual_weights(60)[0], other.usual_weights(60)[0])
