from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.attack import ATTACKS, MembershipResult, Threshold
from holdfast.attack._models.thresholds import (
    calibrated_threshold,
    highest_half,
    least_error_threshold,
    shadow_threshold,
)
from holdfast.errors import ParameterError
from tests.attack.attack_models import ByHeart, Quick, people

LOSS = next(attack for attack in ATTACKS if attack.name == "loss")


def test_calibration_keeps_its_rate_on_average_exactly() -> None:
    """With 19 calibration scores and 10 %, the threshold is the second highest: exceeded with chance 2/20."""
    random, alarms, draws = np.random.default_rng(0), 0, 20_000
    for _ in range(draws):
        values = random.random(20)
        alarms += int(calibrated_threshold(values[:19], false_alarm=0.1).members(values[19:])[0])
    assert alarms / draws == pytest.approx(0.1, abs=0.01)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=60), st.sampled_from([0.01, 0.1, 0.5]))
def test_no_more_calibration_records_are_called_members_than_promised(scores: list[int], rate: float) -> None:
    called = calibrated_threshold(scores, false_alarm=rate).members(scores).sum()
    assert called <= rate * (len(scores) + 1)


def test_thresholds_per_class_fall_back_where_a_class_is_rare() -> None:
    scores = np.r_[np.linspace(0, 1, 100), np.linspace(10, 11, 100), 5.0]
    labels = np.r_[np.zeros(100), np.ones(100), 2]
    made = calibrated_threshold(scores, false_alarm=0.05, labels=labels, floor=20)
    assert set(made.per_class) == {0.0, 1.0}
    assert made.per_class[0.0] < 1.0 < 10.0 < made.per_class[1.0]
    assert made.members([1.0, 1.0, 1.0, 12.0], [0.0, 1.0, 2.0, 2.0]).tolist() == [True, False, False, True]
    with pytest.raises(ParameterError, match="labels"):
        made.members([1.0])


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=30))
def test_the_sorted_half_calls_half_of_the_pool(scores: list[float]) -> None:
    pool = np.r_[scores, scores]
    called = highest_half(pool)
    assert called.sum() == len(scores)
    assert pool[called].min() >= pool[~called].max()


def test_the_best_cut_separates() -> None:
    assert least_error_threshold([5.0, 6.0], [1.0, 2.0]) == 2.0
    result = MembershipResult(
        attack="x", member_scores=np.array([5.0, 6.0]), non_member_scores=np.array([1.0, 2.0])
    )
    assert Threshold(value=2.0, rule="").accuracy(result) == 1.0
    assert Threshold(value=math.inf, rule="").accuracy(result) == 0.5


def test_shadow_data_give_a_threshold_that_works_on_the_target() -> None:
    made = shadow_threshold(LOSS, ByHeart(), people(200, seed=1), models=4, random_state=1)
    members, others = people(100, seed=2), people(100, seed=3)
    target = ByHeart().fit(*members)
    from holdfast.attack import membership

    result = membership(target, members=members, non_members=others, attacks="loss")["loss"]
    assert made.accuracy(result) > 0.9
    assert "shadow" in made.rule
    lira = next(attack for attack in ATTACKS if attack.name == "lira")
    with pytest.raises(ParameterError, match="lira"):
        shadow_threshold(lira, Quick(), people(20, seed=1))
