"""The white box: weights of a linear model about one person's value (soundness, section 27)."""

from __future__ import annotations

import numpy as np
import pytest

from holdfast.attack import attribute_risk
from holdfast.attack.attributes.case import AttributeCase
from holdfast.attack.attributes.linear_weights import (
    LinearInside,
    accuracy_of_weights,
    ridge_weights,
    weights_evidence,
    weights_log_likelihood,
)
from tests.attack.attributes.attribute_people import schema, table


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


def test_random_labels_leak_about_members_only() -> None:
    """Ridge, n = 100, d = 50, lambda = 10: members 0.542, fresh people 0.496, standard error 0.004 over trainings."""
    random = np.random.default_rng(7)
    differences, fresh = [], []
    for _ in range(300):
        X, y = random.choice([-1.0, 1.0], size=(200, 50)), random.choice([-1.0, 1.0], size=200)
        weights = np.linalg.solve(X[:100].T @ X[:100] + 10 * np.eye(50), X[:100].T @ y[:100])
        rest = y - X[:, 1:] @ weights[1:]
        right = np.sign(rest * weights[0]) == X[:, 0]
        differences.append(right[:100].mean() - right[100:].mean())
        fresh.append(right[100:].mean())
    error = np.std(differences) / np.sqrt(300)
    assert np.mean(differences) == pytest.approx(0.046, abs=3 * error + 0.004)
    assert np.mean(fresh) == pytest.approx(0.5, abs=3 * 0.5 / np.sqrt(300 * 100))


def test_weights_of_a_model_that_does_not_read_the_column_say_nothing() -> None:
    from sklearn.linear_model import LogisticRegression

    rows = table(900, seed=3)
    model = LogisticRegression().fit(rows[:300, 1:3], rows[:300, 3])
    report = attribute_risk(
        model, rows[:300], fresh=rows[300:], sensitive="s", target="y", schema=schema(), sizes=(50,), surest=20,
        attacks=["linear_weights"], prepare=lambda X: X[:, 1:], random_state=0,
    )  # fmt: skip
    risk = report["s"]
    assert np.array_equal(risk.outcome("linear_weights").fresh, risk.outcome("imputer").fresh)
    assert np.array_equal(risk.outcome("linear_weights").members, risk.outcome("imputer").members)


def test_weights_of_few_people_say_something_about_each() -> None:
    """n = 30, others unknown: the weights alone are right about members somewhat more often than a coin."""
    random = np.random.default_rng(11)
    own, n, width = 500, 30, 8
    right = []
    for _ in range(60):
        X = np.column_stack([random.normal(size=(own + n, width)), np.ones(own + n)])
        X[:, 0] = random.choice([-1.0, 1.0], size=own + n)
        y = X[:, 1] + random.normal(size=own + n)
        A = X[own:]
        weights = np.linalg.solve(A.T @ A + 0.1 * np.eye(width + 1), A.T @ y[own:])
        designs = np.stack([X, X])
        designs[0, :, 0], designs[1, :, 0] = -1.0, 1.0
        codes = (X[:, 0] > 0).astype(np.int64)
        case = AttributeCase(
            kinds=2, own_values=codes[:own], known=X[:, 1:],
            inside=LinearInside(
                weights=np.asarray(weights, dtype=np.float64), own_design=X[:own],
                designs=designs[:, own:], labels=y, loss="squared", trained_on=n
            ),
        )  # fmt: skip
        right.append(np.mean(weights_evidence(case)[own:].argmax(axis=1) == codes[own:]))
    assert 0.5 + 2 * np.std(right) / np.sqrt(60) < np.mean(right) < 0.62
