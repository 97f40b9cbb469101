"""The game of two worlds: the examples of the text, and that the simulated adversary never sees the model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeClassifier

from holdfast.attack import Advantage, BlackBoxGame, LayeredModel, WhiteBoxGame
from holdfast.errors import ParameterError


def _patients(count: int, seed: int = 0) -> np.ndarray:
    """A gene (0, 1), an age, and a dose that depends on both."""
    random = np.random.default_rng(seed)
    gene, age = random.integers(0, 2, count), random.normal(size=count)
    return np.column_stack([gene, age, 2.0 * gene + age + 0.5 * random.normal(size=count)])


def test_example_5_1_the_dose_tells_the_gene() -> None:
    """gen(S, z) = (age, dose, marginals of S); the simulated world has no dose and no model."""
    data = _patients(800)
    model = LinearRegression().fit(data[:, :2], data[:, 2])

    def fits(ask: Any, told: Any) -> Any:
        age, dose, shares = told
        misfit = [(dose - ask(np.column_stack([np.full(len(age), v), age]))) ** 2 for v in (0, 1)]
        return np.argmax(np.log(shares)[:, None] - np.array(misfit) / 0.5, axis=0)

    game = BlackBoxGame(
        goal=lambda people: people[:, 0].astype(int),
        advice=lambda data, people: (
            people[:, 1],
            people[:, 2],
            np.bincount(data[:, 0].astype(int)) / len(data),
        ),
        adversary=fits,
        simulated=lambda told: np.full(len(told[0]), np.argmax(told[1])),
        simulated_advice=lambda data, people: (people[:, 1], np.bincount(data[:, 0].astype(int)) / len(data)),
    )
    found = game.play(model.predict, data)
    assert found.gain > 0.95
    assert found.limits[0] > 0.35
    assert found.audience == "internal"
    assert "INTERNAL" in found.summary()


def test_example_5_2_participation() -> None:
    """Nature draws from S and from others; tau is whether z is in S; a tree that learns by heart tells."""
    random = np.random.default_rng(1)
    X, y = random.normal(size=(600, 4)), random.integers(0, 2, 600)
    tree = DecisionTreeClassifier(random_state=0).fit(X[:300], y[:300])
    everybody = (X, y, np.arange(600) < 300)
    game = BlackBoxGame(
        goal=lambda people: people[2],
        advice=lambda data, people: people[:2],
        adversary=lambda ask, told: ask(told[0]) == told[1],
        simulated=lambda told: np.ones(len(told[1]), dtype=bool),
    )
    found = game.play(tree.predict, everybody)
    assert found.value == pytest.approx(0.25, abs=0.06)  # half of the others are right by luck


def test_example_5_4_counts_on_the_paths_of_a_tree_help() -> None:
    """The white box: which leaf a person's columns lead to, weighed by how many of S went there."""
    random = np.random.default_rng(2)
    secret = (random.random(3000) < 0.5).astype(int)
    other = random.integers(0, 4, 3000)
    label = np.where(other < 2, secret, (random.random(3000) < 0.1 + 0.3 * secret).astype(int))
    X = np.column_stack([secret, other]).astype(float)
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, label)
    shares = tree.tree_.value[:, 0, :]
    layers = LayeredModel((tree.apply, lambda leaf: shares[leaf], lambda p: np.argmax(p, axis=1)))
    assert np.array_equal(layers(X), tree.predict(X))
    game = WhiteBoxGame(
        goal=lambda people: people[0][:, 0].astype(int),
        advice=lambda data, people, model: (people[0][:, 1], people[1]),
        adversary=lambda model, told: np.argmax(
            [
                model.after(2, np.column_stack([np.full(len(told[0]), v), told[0]]))[
                    np.arange(len(told[1])), told[1]
                ]
                for v in (0, 1)
            ],
            axis=0,
        ),
        simulated=lambda told: np.zeros(len(told), dtype=int),
        simulated_advice=lambda data, people: people[0][:, 1],
    )
    white = game.play(layers, (X, label))
    decided = LayeredModel((tree.predict,))
    black = BlackBoxGame(
        goal=game.goal,
        advice=lambda data, people: (people[0][:, 1], people[1]),
        adversary=lambda ask, told: np.argmax(
            [ask(np.column_stack([np.full(len(told[0]), v), told[0]])) == told[1] for v in (0, 1)], axis=0
        ),
        simulated=lambda told: np.zeros(len(told[0]), dtype=int),
    ).play(decided, (X, label))
    assert white.value > black.value + 0.05
    assert white.limits[0] > 0


def test_example_5_5_the_softmax_layer_is_told_by_advice() -> None:
    """What the last layer but one gives for a person is advice, made by the model; decisions alone tell less."""
    random = np.random.default_rng(3)
    X = np.column_stack([random.integers(0, 2, 500), random.normal(size=500)])

    def logits(rows: np.ndarray) -> np.ndarray:
        return np.column_stack([np.zeros(len(rows)), 0.5 * rows[:, 0] + rows[:, 1]])

    def softmax(z: np.ndarray) -> Any:
        return np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)

    network = LayeredModel((logits, softmax, lambda p: np.argmax(p, axis=1)))

    def game(layer: int) -> WhiteBoxGame:
        def nearest(model: LayeredModel, told: Any) -> Any:
            age, seen = told
            tried = [model.after(layer, np.column_stack([np.full(len(age), v), age])) for v in (0, 1)]
            return np.argmin([np.abs(t - seen).reshape(len(age), -1).max(axis=1) for t in tried], axis=0)

        return WhiteBoxGame(
            goal=lambda people: people[:, 0].astype(int),
            advice=lambda data, people, model: (people[:, 1], model.after(layer, people)),
            adversary=nearest,
            simulated=lambda age: np.zeros(len(age), dtype=int),
            simulated_advice=lambda data, people: people[:, 1],
        )

    assert game(2).play(network, X).gain == 1.0
    assert game(3).play(network, X).gain < 0.7


def test_people_may_be_drawn_and_the_same_seed_repeats() -> None:
    data = _patients(100)
    game = BlackBoxGame(
        goal=lambda people: people[:, 0],
        advice=lambda data, people: people,
        adversary=lambda ask, told: ask(told),
        simulated=lambda told: np.zeros(len(told)),
        draw=lambda data, random: data[random.integers(0, len(data), 40)],
    )
    made = [game.play(lambda told: told[:, 0], data, random_state=5) for _ in range(2)]
    assert made[0].gain == 1.0
    assert made[0].real.size == 40
    assert np.array_equal(made[0].simulated, made[1].simulated)


def test_limits_of_the_advantage_hold_at_their_rate() -> None:
    random, outside = np.random.default_rng(4), 0
    for _ in range(300):
        kinds = random.choice(4, size=80, p=[0.3, 0.25, 0.1, 0.35])
        found = Advantage(real=kinds <= 1, simulated=(kinds == 0) | (kinds == 2))
        low, high = found.limits
        outside += not low <= 0.15 <= high
    assert outside <= 15


def test_a_guess_too_few_is_refused() -> None:
    game = BlackBoxGame(
        goal=lambda people: people[:, 0],
        advice=lambda data, people: people,
        adversary=lambda ask, told: np.zeros(3),
        simulated=lambda told: np.zeros(len(told)),
    )
    with pytest.raises(ParameterError, match="adversary"):
        game.play(lambda told: told, _patients(10))
    with pytest.raises(ParameterError, match="layer"):
        LayeredModel((abs,)).after(2, 1)
