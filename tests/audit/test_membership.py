"""The game with flipped coins: refutes what leaks, and nothing that keeps its promise."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from holdfast.audit import MembershipDesign, membership_game
from holdfast.audit._membership_slots import Slots
from holdfast.errors import AdjacencyError, ParameterError
from holdfast.learn import (
    PrivateLasso,
    PrivateLinearRegression,
    PrivateLinearSVC,
    PrivateLogisticRegression,
    PrivateRidge,
)
from holdfast.privacy import Adjacency, ApproxDP, GaussianDP, Guarantee, PrivacyUnit, PureDP
from holdfast.refute._subjects.bolt_on import BoltOn
from holdfast.refute._subjects.claims import classical_sigma
from tests.attack.attack_models import ByHeart, people
from tests.studies.size import Study, trials

COUNT = 80
NUMBERED = np.arange(COUNT, dtype=float)[:, None], np.ones(COUNT, dtype=int)


def randomised_response(epsilon: float, seed: int) -> Any:
    """Training that tells of each record whether it was there, truthfully with chance e^eps / (1 + e^eps)."""
    random = np.random.default_rng([seed, 99])
    keep = 1.0 / (1.0 + np.exp(-epsilon))

    def train(data: tuple[Any, Any]) -> Any:
        there = np.isin(np.arange(COUNT), data[0][:, 0].astype(int))
        said = np.where(random.random(COUNT) < keep, there, ~there)
        return lambda rows: 0.1 + 0.8 * said[rows[:, 0].astype(int)]

    return train


def _play(train: Any, claim: float, seed: int, **more: Any) -> Any:
    return membership_game(
        train,
        NUMBERED,
        claim=PureDP(claim),
        adjacency="add_remove",
        design=MembershipDesign(attacks="loss", classes=[0, 1], **more),
        seed=seed,
    )


def test_a_promise_that_is_kept_to_the_letter_is_refuted_in_one_game_of_twenty(study: Study) -> None:
    games = trials(200)
    refuted = sum(
        _play(randomised_response(1.0, seed), 1.0, seed).verdict() == "refuted" for seed in range(games)
    )
    study.alarms(refuted, rate=0.05, runs=games, chance=1e-3)


def test_a_promise_that_is_not_kept_falls() -> None:
    refuted = sum(
        _play(randomised_response(3.0, seed), 0.5, seed).verdict() == "refuted" for seed in range(20)
    )
    assert refuted == 20


def test_several_runs_are_one_larger_audit() -> None:
    one, five = (_play(randomised_response(2.0, 1), 0.5, 1, runs=runs) for runs in (1, 5))
    assert five.audits["loss"].m == 5 * one.audits["loss"].m
    assert 1.0 < five.epsilon_lower() < 2.5


@pytest.mark.parametrize("adjacency", ["add_remove", "replace"])
def test_learning_by_heart_is_refuted_by_every_attack_and_the_error_is_shared(adjacency: str) -> None:
    game = membership_game(
        ByHeart(),
        people(240, seed=1),
        claim=ApproxDP(0.5, 1e-6),
        adjacency=adjacency,
        design=MembershipDesign(models=4, reference=people(100, seed=2), base=people(20, seed=3)),
        seed=1,
    )
    assert game.verdict() == "refuted"
    for name, audit in game.audits.items():
        assert audit.corrected_over == len(game.audits) == 10
        assert audit.coins == "holdfast"
        assert not audit.planted  # real records: no dossier may take it for an audit of planted ones
        assert game.report[name].game == "flipped"
        assert game.report[name].verdict() in ("refuted", "consistent", "warning")
        agrees = audit.verdict(game.claim, game.confidence) == "refuted"
        assert agrees == (game.report[name].verdict() == "refuted")
    assert {name for name in game.audits if game.report[name].verdict() == "refuted"} >= {
        "loss",
        "lira",
        "rmia",
    }
    assert "lower bound" in game.summary()
    assert game.audience == "internal"


def test_a_claim_about_other_neighbours_is_not_compared() -> None:
    game = membership_game(
        ByHeart(),
        people(60, seed=1),
        claim=PureDP(1.0),
        adjacency="add_remove",
        design=MembershipDesign(attacks="loss"),
        seed=1,
    )
    unit = PrivacyUnit()
    with pytest.raises(AdjacencyError):
        game.verdict(Guarantee(curve=PureDP(1.0), adjacency=Adjacency.replace, unit=unit, theorem="t"))


def test_slots_hold_a_record_or_its_alternative() -> None:
    seen: list[Any] = []

    def train(data: tuple[Any, Any]) -> Any:
        seen.append(data)
        return lambda rows: np.full(len(rows), 0.5)

    rows = np.arange(50.0)[:, None]
    game = membership_game(
        train,
        (rows, np.zeros(50, int)),
        claim=PureDP(1.0),
        adjacency="replace",
        design=MembershipDesign(attacks="loss", classes=[0, 1], alternatives=(rows, np.ones(50, int))),
        seed=4,
    )
    X, y = seen[0]
    assert np.array_equal(X, rows)
    assert 10 < y.sum() < 40
    assert game.verdict() != "refuted"


def test_pairs_are_drawn_from_another_stream_than_the_coins() -> None:
    slots = Slots.of(people(101, seed=1), alternatives=None, base=None, adjacency=Adjacency.replace, seed=5)
    assert slots.pool.count == 50
    assert not np.array_equal(slots.rows, np.random.default_rng(5).permutation(101)[:50])
    coins = np.arange(50) % 3 == 0
    X, _ = slots.data(coins)
    assert np.array_equal(X[coins], slots.pool.features[coins])
    assert slots.records.take(slots.inclusion(coins)).count == 50
    assert slots.values(np.arange(100.0)).tolist() == [-50.0] * 50


@pytest.mark.parametrize(("noise", "verdict"), [("printed", "refuted"), ("sound", "consistent")])
def test_the_mini_batch_bolt_on_is_caught_and_its_repair_is_not(noise: str, verdict: str) -> None:
    """Every record is an axis of its own with one of two labels; Gaussian noise as published, and as it should be."""
    run, epsilon, delta = BoltOn(), 1.0, 1e-6
    sensitivity = (
        run.printed_sensitivity(lipschitz=2.0)
        if noise == "printed"
        else run.sound_sensitivity(dimension=1000)
    )
    random = np.random.default_rng(7)

    def train(data: tuple[Any, Any]) -> Any:
        weights = run.train(*data) + classical_sigma(epsilon, delta) * sensitivity * random.normal(size=1000)
        return lambda rows: 1.0 / (1.0 + np.exp(-np.clip(rows @ weights, -30, 30)))

    axes, signs = np.eye(1000), np.where(random.random(1000) < 0.5, 1.0, -1.0)
    game = membership_game(
        train,
        (axes, signs),
        claim=ApproxDP(epsilon, delta),
        adjacency="replace",
        design=MembershipDesign(
            attacks=("loss", "lira"), models=4, classes=[-1.0, 1.0], jobs=1, alternatives=(axes, -signs)
        ),
        seed=2,
    )
    assert game.verdict() == verdict
    assert (game.epsilon_lower() > epsilon) == (noise == "printed")


ESTIMATORS: dict[str, Callable[[float], Any]] = {
    "logistic": lambda epsilon: PrivateLogisticRegression(epsilon, classes=[0, 1]),
    "svm": lambda epsilon: PrivateLinearSVC(epsilon, classes=[0, 1]),
    "linear": lambda epsilon: PrivateLinearRegression(epsilon, target_bounds=(0, 1)),
    "ridge": lambda epsilon: PrivateRidge(epsilon, target_bounds=(0, 1)),
    "lasso": lambda epsilon: PrivateLasso(epsilon, target_bounds=(0, 1)),
}


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_no_private_estimator_is_contradicted(name: str, epsilon: float) -> None:
    """Labels are pure noise in many dimensions: whatever the model learns of them is somebody's label."""
    X, y = people(400, seed=5, columns=40)
    y = np.random.default_rng(6).integers(0, 2, size=400)
    game = membership_game(
        ESTIMATORS[name](epsilon),
        (X, y),
        claim=ApproxDP(epsilon, 1e-6),
        adjacency="replace",
        design=MembershipDesign(attacks=("loss", "lira", "rmia"), models=4, jobs=1),
        confidence=0.999,
        seed=1,
    )
    assert game.verdict() == "consistent"


@pytest.mark.parametrize("adjacency", ["add_remove", "replace"])
def test_the_most_exposed_are_named_by_their_row_in_the_pool(adjacency: str) -> None:
    """One record stands out whenever it is trained on: it is the first that is named, by its own row."""
    rows, labels = np.zeros((41, 1)), np.ones(41, dtype=int)
    rows[17] = 1.0

    def train(data: tuple[Any, Any]) -> Any:
        there = bool(np.any((data[0][:, 0] == 1.0) & (data[1] == 1)))
        return lambda asked: np.where((asked[:, 0] == 1.0) & there, 0.99, 0.5)

    game = membership_game(
        train,
        (rows, labels),
        claim=PureDP(1.0),
        adjacency=adjacency,
        design=MembershipDesign(
            attacks="loss",
            classes=[0, 1],
            alternatives=None if adjacency == "add_remove" else (rows, 0 * labels),
            runs=6,
        ),
        seed=1,
    )
    assert game.report["loss"].most_exposed(2).rows == (17, 17)


def test_without_noise_the_same_game_refutes() -> None:
    """The twin of the test above: what keeps the private estimators safe is their noise, not a weak attack."""
    X, y = people(400, seed=5, columns=40)[0], np.random.default_rng(6).integers(0, 2, size=400)
    game = membership_game(
        LogisticRegression(C=1e3),
        (X, y),
        claim=ApproxDP(0.1, 1e-6),
        adjacency="replace",
        design=MembershipDesign(attacks=("loss", "lira", "rmia"), models=8, jobs=1, runs=3),
        seed=1,
    )
    assert game.verdict() == "refuted"


def test_questions_that_make_no_sense_are_refused() -> None:
    pool = people(20, seed=1)
    others = MembershipDesign(alternatives=pool)
    fewer = MembershipDesign(alternatives=people(3, seed=1))
    none = MembershipDesign(attacks="lira", models=0)
    with pytest.raises(ParameterError, match="adjacency"):
        membership_game(ByHeart(), pool, claim=PureDP(1.0))
    with pytest.raises(ParameterError, match="delta"):
        membership_game(ByHeart(), pool, claim=GaussianDP(1.0), adjacency="replace")
    with pytest.raises(ParameterError, match="zero_out"):
        membership_game(ByHeart(), pool, claim=PureDP(1.0), adjacency="zero_out")
    with pytest.raises(ParameterError, match="alternatives"):
        membership_game(
            ByHeart(),
            pool,
            claim=PureDP(1.0),
            adjacency="add_remove",
            design=others,
        )
    with pytest.raises(ParameterError, match="one for each of 20"):
        membership_game(ByHeart(), pool, claim=PureDP(1.0), adjacency="replace", design=fewer)
    with warnings.catch_warnings(), pytest.raises(ParameterError, match="no attack can be made"):
        membership_game(ByHeart(), pool, claim=PureDP(1.0), adjacency="replace", design=none)
    wrong: list[tuple[str, dict[str, Any]]] = [
        ("attacks", {"attacks": "lirra"}),
        ("models", {"models": 3}),
        ("models", {"models": -2}),
        ("runs", {"runs": 0}),
    ]
    for word, settings in wrong:
        with pytest.raises(ParameterError, match=f"^{word} must be"):
            MembershipDesign(**settings)
