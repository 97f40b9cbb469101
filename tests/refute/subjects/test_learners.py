"""Learning methods under replay: what is tried is found by itself, and reaches far enough to refute."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from holdfast.errors import ParameterError
from holdfast.learn._catalogue import LEARNERS
from holdfast.learn.methods.method import Fit, Learner
from holdfast.noise._source import Source
from holdfast.privacy import Adjacency, Gaussian
from holdfast.refute._replay_trial import REQUIRED_POWER, ReplayTrial
from holdfast.refute._subjects.learners import learner_settings, learner_subject


@pytest.mark.parametrize("method", LEARNERS, ids=lambda method: method.name)
def test_every_method_is_tried_with_its_losses_and_choices(method: Learner) -> None:
    adjacency = Adjacency.of(method.adjacencies[0])
    found = list(learner_settings(method, adjacency))
    names = [setting.name for setting in found]
    assert len(names) == len(set(names)) >= 3
    assert {setting.limit.as_pure() is not None for setting in found} == (
        {True, False} if method.pure else {False}
    )
    assert any(setting.rows_per_unit > 1 for setting in found) is not bool(method.single_rows)
    assert any(setting.fits == 2 for setting in found)
    assert {1, 3} <= {setting.problem.dimension for setting in found}
    for loss in method.losses:
        assert loss in {setting.problem.loss.name for setting in found}


@pytest.mark.deep  # tests/refute/test_refutation.py tries more pairs of each
@pytest.mark.parametrize("name", ["output", "noisy_gd"])
@pytest.mark.parametrize("adjacency", list(Adjacency))
def test_a_sound_method_survives_and_is_taken_to_its_bound(name: str, adjacency: Adjacency) -> None:
    method = next(one for one in LEARNERS if one.name == name)
    reached = []
    for setting in [
        one for one in learner_settings(method, adjacency) if one.problem.loss.name in ("huber", "logistic")
    ][:4]:
        outcome = ReplayTrial(case=setting.case(), pairs=5, climbs=4).run(Source(seed=1), error=0.0)
        assert not outcome.refuted, outcome.summary()
        reached.append(outcome.power)
    assert max(power for power in reached if power is not None) >= REQUIRED_POWER


def test_a_method_that_takes_nothing_is_refused_and_not_passed() -> None:
    def refuses(examples: Any, problem: Any, *, account: Any) -> Fit:
        raise ParameterError("nothing is good enough")

    fussy = Learner(name="fussy", run=refuses, paper="none", pure=True)
    with pytest.raises(ParameterError, match="fussy takes none of the problems"):
        learner_subject(fussy, Adjacency.replace)


def mean_direction(examples: Any, problem: Any, *, account: Any, leak: float = 0.0, halves: int = 1) -> Fit:
    """One noisy sum of y x: a method as somebody else would write it, with its ways of going wrong."""
    total = np.zeros(problem.dimension)
    for rows, labels in examples.chunks():
        rows = rows / np.maximum(1.0, np.linalg.norm(np.nan_to_num(rows), axis=1))[:, None]
        total += np.sign(np.nan_to_num(labels)) @ np.nan_to_num(rows)
    sensitivity = account.adjacency.gradient_factor / halves
    noise = Gaussian.within(account.remaining(), l2_sensitivity=sensitivity)
    noisy = account.release(noise, np.clip(total, -1e3, 1e3), label="sum")
    return Fit(weights=noisy + leak * total, theorem="one noisy sum")


MINE = Learner(name="mine", run=mean_direction, paper="none", single_rows="one row each", outputs=("one",))


@pytest.mark.parametrize(
    ("options", "seen"), [({}, ""), ({"leak": 1e-12}, "differs"), ({"halves": 2}, "apart")]
)
def test_a_method_of_somebody_elses_is_tried_as_ours_are(options: dict[str, Any], seen: str) -> None:
    first = next(iter(learner_settings(MINE, Adjacency.replace)))
    setting = dataclasses.replace(first, options=options)
    outcome = ReplayTrial(case=setting.case(), pairs=8, climbs=0).run(Source(seed=1), error=0.0)
    assert outcome.refuted is bool(seen), outcome.summary()
    assert seen in outcome.detail
