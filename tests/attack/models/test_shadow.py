from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from holdfast.attack import Records, Target, reference_models
from holdfast.attack._attacks.lira import moments, shrunk_shifts
from holdfast.attack._models.shadow import cloneable, fit_function, observe_models
from holdfast.errors import ParameterError
from holdfast.learn import PrivateLogisticRegression
from tests.attack.attack_models import Quick, people


def test_every_record_is_in_half_of_the_models_and_models_are_twins() -> None:
    records = Records.of(people(101, seed=1), "members")
    made = reference_models(Quick(), records, models=6, random_state=3)
    assert made.models == 6
    assert (made.included.sum(axis=0) == 3).all()
    assert (made.included[0] == ~made.included[1]).all()
    assert made.signals.dtype == np.float32


def test_the_same_seed_gives_the_same_whatever_the_threads() -> None:
    records = Records.of(people(80, seed=1), "members")
    forest = RandomForestClassifier(n_estimators=5, random_state=0)
    first, second, other = (
        reference_models(forest, records, models=4, random_state=seed, jobs=jobs)
        for seed, jobs in ((5, 1), (5, 2), (6, 2))
    )
    assert np.array_equal(first.signals, second.signals)
    assert np.array_equal(first.included, second.included)
    assert not np.array_equal(first.included, other.included)


def test_a_model_is_trained_on_its_half_and_on_the_base() -> None:
    records, base = Records.of(people(40, seed=1), "members"), Records.of(people(10, seed=2), "base")
    seen: list[set[bytes]] = []

    def train(data: tuple[Any, Any]) -> Any:
        seen.append({row.tobytes() for row in data[0]})
        return Quick().fit(*data)

    included, _ = observe_models(
        train, records, lambda target, rows: target.signal(rows), models=4, random_state=1, base=base, jobs=1
    )
    for place, rows in enumerate(seen):
        assert all(row.tobytes() in rows for row in base.features)
        assert [row.tobytes() in rows for row in records.features] == included[place].tolist()


def test_clones_do_not_share_the_targets_randomness() -> None:
    X, y = people(60, seed=1)
    first, second = (
        fit_function(RandomForestClassifier(n_estimators=3, random_state=0))((X, y), seed) for seed in (1, 2)
    )
    assert not np.array_equal(first.predict_proba(X), second.predict_proba(X))


def test_private_models_can_be_references_without_warnings() -> None:
    X, y = people(300, seed=1)
    records = Records.of((X, y), "members")
    made = reference_models(PrivateLogisticRegression(epsilon=1.0), records, models=4, random_state=1)
    assert np.isfinite(made.signals).all()


def test_what_can_be_cloned() -> None:
    assert cloneable(Quick())
    assert not cloneable("a path")
    assert not cloneable(lambda rows: rows)
    with pytest.raises(ParameterError, match="train must be"):
        fit_function(3)
    with pytest.raises(ParameterError, match="models"):
        reference_models(Quick(), Records.of(people(20, seed=1), "members"), models=3)


def test_few_models_lean_on_the_pooled_variance_and_many_on_their_own() -> None:
    random, spread = np.random.default_rng(0), np.linspace(1, 3, 50)
    for models, share in ((4, 1 / 9), (4000, 1999 / 2007)):
        signals = random.normal(size=(models, 50)) * spread
        included = np.tile([[True], [False]], (models // 2, 50))
        mean, variance = moments(signals, included)
        own = signals[::2].var(axis=0, ddof=1)
        assert np.allclose(mean, signals[::2].mean(axis=0))
        assert np.allclose(variance, share * own + (1 - share) * own.mean())
    with pytest.raises(ParameterError, match="models"):
        moments(signals[:2], included[:2])


def test_noise_is_taken_out_of_the_shift_and_signal_is_not() -> None:
    """Shifts that are noise around a line fall onto it; shifts far beyond the noise stay as they are."""
    random = np.random.default_rng(0)
    level, noise = random.normal(size=5000), np.full(5000, 0.3)
    usual = 1.0 - 0.5 * level
    seen = usual + np.sqrt(noise) * random.normal(size=5000)
    assert np.abs(shrunk_shifts(seen, level, noise) - usual).max() < 0.25 * np.abs(seen - usual).max()
    real = usual + 10.0 * random.normal(size=5000)
    assert np.abs(shrunk_shifts(real, level, noise) - real).max() < 0.02 * np.abs(real - usual).max()


def test_a_half_without_a_rare_class_gives_it_no_probability() -> None:
    X, y = people(40, seed=1)
    labels = np.where(np.arange(40) == 3, 2, y)
    made = reference_models(
        DecisionTreeClassifier(), Records.of((X, labels), "members"), models=4, random_state=1
    )
    assert np.isneginf(made.signals[~made.included[:, 3], 3]).all()
    assert np.isposinf(made.signals[made.included[:, 3], 3]).all()


def test_observing_anything_else() -> None:
    records = Records.of(people(30, seed=1), "members")
    _, observed = observe_models(
        Quick(), records, lambda target, rows: target.probabilities(rows), models=2, random_state=0
    )
    assert observed[0].shape == (30, 2)
    assert isinstance(Target.of(Quick().fit(*records.data())), Target)
