from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import trapezoid
from sklearn.metrics import roc_auc_score

from holdfast.attack._roc import Rate, ThresholdCounts, area, roc
from holdfast.privacy._tradeoff import clopper_pearson_lower, clopper_pearson_upper

scores = st.lists(st.integers(-5, 5).map(float), min_size=1, max_size=30).map(np.array)


@given(scores, scores)
def test_the_area_is_that_of_scikit_learn_ties_and_all(inside: np.ndarray, outside: np.ndarray) -> None:
    labels = np.r_[np.ones(inside.size), np.zeros(outside.size)]
    assert area(inside, outside) == pytest.approx(roc_auc_score(labels, np.r_[inside, outside]))


@given(scores, scores)
def test_the_area_is_the_one_under_the_curve(inside: np.ndarray, outside: np.ndarray) -> None:
    false_alarm, found = roc(inside, outside)
    assert false_alarm[0] == found[0] == 0.0
    assert false_alarm[-1] == found[-1] == 1.0
    assert trapezoid(found, false_alarm) == pytest.approx(area(inside, outside))


@given(scores, scores, st.sampled_from([0.0, 0.01, 0.1, 0.5, 0.9]))
def test_a_look_keeps_its_false_alarms(inside: np.ndarray, outside: np.ndarray, rate: float) -> None:
    look = ThresholdCounts.at(inside, outside, false_alarm=rate)
    assert look.allowed <= rate * outside.size + 1e-9
    false_alarm, found = roc(inside, outside)
    assert look.hits / look.members == pytest.approx(found[false_alarm <= rate + 1e-9].max())


def test_limits_of_a_look_hold_though_its_threshold_was_read_from_the_scores() -> None:
    random, wrong_alarm, wrong_found, draws = np.random.default_rng(0), 0, 0, 4000
    for _ in range(draws):
        # Uniform scores: a threshold t has false-alarm rate 1 - t; members are uniform on [0.2, 1.2].
        outside, inside = random.random(40), 0.2 + random.random(30)
        look = ThresholdCounts.at(inside, outside, false_alarm=0.1)
        cut = np.sort(outside)[-5]
        assert look.hits == np.sum(inside > cut)
        alarm, found = look.limits(error=0.2)
        wrong_alarm += 1.0 - cut > alarm
        wrong_found += min(1.0, 1.2 - cut) < found
    # Each may be wrong in 10 % of the draws. The first is exact, so that an error in its order statistic shows.
    assert wrong_alarm / draws == pytest.approx(0.1, abs=0.02)
    assert wrong_found / draws <= 0.12


@given(st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_limits_enclose_the_rate_and_mirror_each_other(counts: tuple[int, int]) -> None:
    k, n = counts
    rate = Rate.of(k, n)
    assert rate.low <= rate <= rate.high
    assert clopper_pearson_lower(k, n, error=0.025) == pytest.approx(
        1.0 - clopper_pearson_upper(n - k, n, error=0.025)
    )
    assert rate.low == pytest.approx(clopper_pearson_lower(k, n, error=0.025))


def test_a_rate_is_a_number() -> None:
    rate = Rate.of(1, 4)
    assert f"{rate:.2f}" == "0.25"
    assert rate + 1 == 1.25
    with pytest.raises(ValueError, match="successes"):
        Rate.of(5, 4)
