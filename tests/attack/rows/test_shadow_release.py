"""One record against a synthesiser: copies are found, an independent draw is not, and a false promise is refuted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from holdfast.attack import shadow_release
from holdfast.attack._membership_result import CHECKED_RATES, audited_curve
from holdfast.attack._roc import ThresholdCounts
from holdfast.data import Categorical, Schema
from holdfast.errors import ParameterError
from holdfast.privacy import ApproxDP, PureDP
from holdfast.synth import Synthesizer
from holdfast.synth._workload import Workload

POPULATION = np.random.default_rng(0).normal(size=(1500, 4))
RARE = np.array([[3.0, -3.0, 3.0, -3.0]])


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_a_copying_synthesiser_refutes_its_promise(adjacency: str) -> None:
    draw = np.random.default_rng(1)
    result = shadow_release(
        lambda data: data[draw.permutation(len(data))],
        RARE,
        POPULATION,
        beside=60,
        trials=120,
        adjacency=adjacency,
        proved=PureDP(0.5),
        random_state=0,
    )
    assert result.auc > 0.95
    assert result.verdict() == "refuted"
    assert result.verdict(PureDP(20.0)) == "consistent"
    assert result.member_scores.size == result.non_member_scores.size == 60  # the first half only teaches


def test_an_independent_draw_shows_nothing() -> None:
    draw = np.random.default_rng(2)
    verdicts, areas = [], []
    for seed in range(20):
        result = shadow_release(
            lambda data: draw.normal(size=(len(data), 4)),
            RARE,
            POPULATION,
            beside=40,
            trials=40,
            proved=PureDP(0.01),
            random_state=seed,
        )
        verdicts.append(result.verdict())
        areas.append(result.auc)
    assert verdicts.count("consistent") >= 17  # 5 % of 20 is 1; more than 3 once in sixty times
    assert np.mean(areas) == pytest.approx(0.5, abs=0.08)


@pytest.mark.slow
def test_a_private_synthesiser_keeps_its_promise() -> None:
    schema = Schema([Categorical("a", ["x", "y"]), Categorical("b", ["x", "y", "z"])])
    draw = np.random.default_rng(3)
    people = pa.table({"a": draw.choice(["x", "y"], 400), "b": draw.choice(["x", "y"], 400)})
    target = {"a": ["y"], "b": ["z"]}  # nobody else has z

    def synthesise(table: Any) -> Any:
        made = Synthesizer(epsilon=1.0, delta=1e-6, workload=Workload.marginals(schema, 2), certificate=None)
        return made.fit(table, schema).sample()

    result = shadow_release(
        synthesise,
        target,
        people,
        schema=schema,
        beside=50,
        trials=40,
        proved=ApproxDP(1.0, 1e-6),
        random_state=0,
    )
    assert result.verdict() == "consistent"


def test_the_same_seed_gives_the_same_worlds() -> None:
    first, second = (
        shadow_release(lambda data: data, RARE, POPULATION, beside=30, trials=10, random_state=4)
        for _ in range(2)
    )
    assert np.array_equal(first.scores, second.scores)


def test_rows_that_are_always_there() -> None:
    sizes = []

    def watched(data: Any) -> Any:
        sizes.append(len(data))
        return data

    shadow_release(watched, RARE, POPULATION, beside=POPULATION[:20], trials=8, adjacency="add_remove")
    assert sorted(set(sizes)) == [20, 21]


def test_bad_questions_are_refused() -> None:
    def asked(target: Any = RARE, *, size: int = 5, trials: int = 8) -> None:
        shadow_release(lambda data: data, target, POPULATION, beside=size, trials=trials)

    with pytest.raises(ParameterError, match="trials"):
        asked(trials=2)
    with pytest.raises(ParameterError, match="beside"):
        asked(size=10**6)
    with pytest.raises(ParameterError, match="one row"):
        asked(POPULATION[:2])


def test_an_audited_curve_holds_as_often_as_it_says() -> None:
    """Both groups from one law: the curve must not lie below the diagonal more often than it may."""
    random = np.random.default_rng(5)
    wrong = 0
    for _ in range(300):
        curve = audited_curve(random.normal(size=60), random.normal(size=60), confidence=0.9)
        wrong += bool(np.any(curve.false_alarm + curve.miss < 1.0 - 1e-9))
    assert wrong <= 45  # 10 % of 300 is 30; a binomial of 30 exceeds 45 less than once in 400 times


def test_the_error_is_shared_among_all_looks_of_both_directions() -> None:
    random = np.random.default_rng(6)
    inside, outside = random.normal(1.0, size=500), random.normal(size=500)
    curve = audited_curve(inside, outside, confidence=0.95, tried=3)
    for rate in CHECKED_RATES:
        alarm, found = ThresholdCounts.at(inside, outside, false_alarm=rate).limits(
            error=0.05 / (2 * len(CHECKED_RATES) * 3)
        )
        assert curve.miss_at(alarm) == pytest.approx(1.0 - found, abs=0.05)
    alarm, found = ThresholdCounts.at(inside, outside, false_alarm=0.1).limits(
        error=0.05 / (2 * len(CHECKED_RATES) * 3)
    )
    assert curve.miss_at(alarm) == pytest.approx(1.0 - found)
