from __future__ import annotations

import json
import math

import numpy as np
import pytest

from holdfast.data import Categorical, Numeric, Schema
from holdfast.dossier._comparison.epsilons import (
    EpsilonComparison,
    EpsilonPoint,
    compare_epsilons,
    first_epsilon_reaching,
)
from holdfast.dossier._comparison.held_out import HeldOut
from holdfast.errors import ParameterError

BANNER = '<aside class="banner"'
"""The words alone stand in the style of every page."""
SCHEMA = Schema([Numeric("age", 0, 100), Categorical("ill", ["no", "yes"])], adjacency="replace")


def columns(rows: int = 400) -> dict[str, np.ndarray]:
    age = np.random.default_rng(0).integers(0, 100, rows)
    return {"age": age, "ill": np.where(age > 50, "yes", "no")}


def made(*points: tuple[float, float, float], fits: int = 1000) -> EpsilonComparison:
    return EpsilonComparison(
        title="t",
        without_privacy=EpsilonPoint(method="without privacy", epsilon=math.inf, score=0.9, error=0.0),
        points=tuple(EpsilonPoint(method="auto", epsilon=e, score=a, error=s) for e, a, s in points),
        constant=EpsilonPoint(method="majority class", epsilon=0.0, score=0.5, error=0.0),
        fits=fits,
        held=100,
        notes=(),
    )


@pytest.fixture(scope="module")
def found() -> EpsilonComparison:
    return compare_epsilons(
        columns(),
        SCHEMA,
        target="ill",
        epsilons=[8.0, 0.05],
        delta=1e-6,
        fits=2,
        accuracy=0.8,
        methods=["output"],
    )


def test_more_epsilon_is_more_accuracy(found: EpsilonComparison) -> None:
    low, high = found.of("output")
    assert (low.epsilon, high.epsilon) == (0.05, 8.0)
    assert found.constant.score < high.score <= found.without_privacy.score + 0.1
    assert low.score < high.score
    assert found.audience == "internal"
    assert "NOT PRIVATE" in found.summary()
    assert "without privacy" in found.summary()


def test_the_page_is_internal_and_holds_the_curve(found: EpsilonComparison) -> None:
    page = found.html()
    assert BANNER in page
    assert "Accuracy against epsilon" in page
    assert page.count("<circle") == 2
    said = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert said["without_privacy"]["epsilon"] is None
    assert said["which_epsilon"][0]["accuracy"] == 0.8


def test_data_that_are_public_are_declared_so() -> None:
    found = compare_epsilons(
        columns(200),
        SCHEMA,
        target="ill",
        epsilons=[1.0],
        delta=1e-6,
        fits=2,
        methods=["output"],
        data_are_public=True,
    )
    assert found.audience == "public"
    assert "declared public" in found.summary()
    assert BANNER not in found.html()


def test_the_smallest_epsilon_that_reaches_an_accuracy() -> None:
    (found,) = made((0.1, 0.6, 0.01), (1.0, 0.8, 0.01), (10.0, 0.85, 0.01)).needed_epsilons(0.8)
    assert found.tried == 1.0
    assert found.between == pytest.approx(1.0)
    assert found.low is not None
    assert found.high is not None
    assert found.low < 1.0 < found.high
    assert "needs epsilon 1" in found.summary()
    (early,) = made((0.1, 0.6, 0.01), (1.0, 0.8, 0.01)).needed_epsilons(0.55)
    assert early.tried == early.between == 0.1
    (never,) = made((0.1, 0.6, 0.0), (1.0, 0.8, 0.0)).needed_epsilons(0.95)
    assert never.tried is never.low is never.high is None
    assert "no epsilon that was tried" in never.summary()


def test_luck_that_does_not_last_is_not_promised() -> None:
    """A method that gets worse with epsilon: 'from 0.1 on' would be wrong."""
    (worse,) = made((0.1, 0.69, 0.02), (1.0, 0.6, 0.02), (10.0, 0.5, 0.02)).needed_epsilons(0.7)
    assert "with luck at 0.1, but not at every larger one" in worse.summary()
    (better,) = made((0.1, 0.6, 0.02), (1.0, 0.69, 0.02), (10.0, 0.69, 0.02)).needed_epsilons(0.7)
    assert better.lasting
    assert better.low is not None
    assert f"with luck from {better.low:.2g} on" in better.summary()


def test_few_fits_are_less_sure() -> None:
    (sure,), (unsure,) = (
        made((0.1, 0.6, 0.02), (1.0, 0.8, 0.02), fits=n).needed_epsilons(0.75) for n in (1000, 3)
    )
    assert sure.low is not None
    assert unsure.low is not None
    assert unsure.low < sure.low
    assert sure.high is not None
    assert unsure.high is None


def test_the_standard_error_is_of_the_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = iter([{"accuracy": one} for one in (0.6, 0.8, 0.9, 0.9)])
    monkeypatch.setattr(HeldOut, "scores", lambda *_, **__: next(scores))
    found = compare_epsilons(columns(50), SCHEMA, target="ill", epsilons=[1.0], delta=1e-6, fits=2)
    assert found.points[0].score == pytest.approx(0.7)
    assert found.points[0].error == pytest.approx(0.1)


def test_lines_are_read_on_a_logarithmic_scale() -> None:
    assert first_epsilon_reaching(np.array([0.1, 10.0]), np.array([0.0, 1.0]), 0.5) == pytest.approx(1.0)


@pytest.mark.parametrize(
    "options",
    [
        {"epsilons": []},
        {"epsilons": [0.0]},
        {"epsilons": [math.inf]},
        {"fits": 1},
        {"accuracy": 1.5},
        {"methods": []},
        {"target": "height"},
        {"holdout": 1.0},
    ],
)
def test_bad_questions_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(ParameterError):
        compare_epsilons(columns(40), SCHEMA, **({"target": "ill", "delta": 1e-6} | options))  # type: ignore[arg-type]
