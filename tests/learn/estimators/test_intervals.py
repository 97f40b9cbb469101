"""`conf_int` of estimators: from the release alone, in every neighbour relation, or with the reason why not."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from holdfast.errors import NoIntervals
from holdfast.learn import (
    PrivateLinearRegression,
    PrivateLinearSVC,
    PrivateLogisticRegression,
    PrivateRidge,
)
from holdfast.learn._estimators import load_model
from holdfast.learn.methods.ssp import DECLARED_COUNT
from holdfast.privacy import PrivacyUnit

pytestmark = [
    pytest.mark.filterwarnings(f"ignore::holdfast.errors.{name}")
    for name in ("AssumptionWarning", "BudgetWarning", "NotPrivateWarning")
]
RANDOM = np.random.default_rng(5)
ROWS = RANDOM.uniform(-1, 1, size=(4_000, 2)) / math.sqrt(2)
NUMBERS = 10 + 5 * ROWS[:, 0] - 3 * ROWS[:, 1] + RANDOM.uniform(-2, 2, size=4_000)
CLASSES = np.where(RANDOM.random(4_000) < 1 / (1 + np.exp(-2 * ROWS[:, 0] + ROWS[:, 1])), "well", "ill")


def linear(**told: Any) -> Any:
    settings: dict[str, Any] = {"epsilon": 2.0, "method": "ssp", "target_bounds": (0, 20), "random_state": 0}
    return PrivateLinearRegression(**settings | told)


def logistic(**told: Any) -> Any:
    settings: dict[str, Any] = {
        "epsilon": 2.0,
        "method": "newton",
        "classes": ["ill", "well"],
        "random_state": 0,
    }
    return PrivateLogisticRegression(**settings | told)


@pytest.mark.parametrize("adjacency", ["replace", "zero_out", "add_remove"])
@pytest.mark.parametrize("make", [linear, logistic])
def test_a_saved_release_says_the_same(make: Any, adjacency: str, tmp_path: Path) -> None:
    labels, truth = (NUMBERS, (5.0, -3.0, 10.0)) if make is linear else (CLASSES, (2.0, -1.0, 0.0))
    model = make(adjacency=adjacency, n_public=4_000).fit(ROWS, labels)
    found = model.conf_int()
    assert found.names == ("x0", "x1", "(intercept)")
    assert found.estimate == pytest.approx([*np.ravel(model.coef_), *np.ravel(model.intercept_)])
    # A seeded draw, five deviations: units and signs, not coverage.
    assert (np.abs(found.estimate - truth) < 5 * found.std_error).all()
    model.release_.save(tmp_path / "model.holdfast")
    again = load_model(tmp_path / "model.holdfast").conf_int()
    assert (again.low == found.low).all()
    assert (again.high == found.high).all()
    assert (again.p_value == found.p_value).all()
    assert "95 % interval" in model.summary()
    assert model.to_json()


@pytest.mark.parametrize("declared", [1_000, 2_000, 8_000, 16_000])
def test_where_the_number_of_rows_is_private_intervals_take_the_measured_one(declared: int) -> None:
    """Divided by a declared number twice the true one, the variance around the line was half of what it is."""
    true = linear(adjacency="add_remove", n_public=4_000).fit(ROWS, NUMBERS)
    other = linear(adjacency="add_remove", n_public=declared).fit(ROWS, NUMBERS)
    assert other.conf_int().std_error == pytest.approx(true.conf_int().std_error, rel=0.02)
    assert other.conf_int(method="test_inversion").high == pytest.approx(
        true.conf_int(method="test_inversion").high, rel=0.02
    )
    assert DECLARED_COUNT not in other.release_.guarantee.assumptions


def test_without_an_intercept_the_declared_number_of_rows_is_an_assumption() -> None:
    settings: dict[str, Any] = {"fit_intercept": False, "target_bounds": (-20, 20), "n_public": 4_000}
    private = linear(adjacency="add_remove", **settings).fit(ROWS, NUMBERS - 10)
    public = linear(adjacency="replace", **settings).fit(ROWS, NUMBERS - 10)
    assert DECLARED_COUNT in private.release_.guarantee.assumptions
    assert "intervals take the declared n_public" in private.release_.summary()
    assert DECLARED_COUNT not in public.release_.guarantee.assumptions


def test_without_an_intercept_there_is_none() -> None:
    model = linear(fit_intercept=False, target_bounds=(-20, 20)).fit(ROWS, NUMBERS - 10)
    assert model.conf_int().names == ("x0", "x1")


REFUSED: dict[str, tuple[Any, str]] = {
    "another method": (lambda: linear(method="adassp").fit(ROWS, NUMBERS), "squared targets.*method='ssp'"),
    "auto": (
        lambda: logistic(method="auto").fit(ROWS, CLASSES),
        "clips rows after whitening.*method='newton'",
    ),
    "objective": (lambda: logistic(method="objective").fit(ROWS, CLASSES), "penalty moves.*method='newton'"),
    "output": (lambda: logistic(method="output", penalty=0.1).fit(ROWS, CLASSES), "weights only.*'newton'"),
    "a penalty": (
        lambda: PrivateRidge(method="ssp", target_bounds=(0, 20), random_state=0).fit(ROWS, NUMBERS),
        "penalty moves",
    ),
    "a radius": (lambda: logistic(radius=3.0).fit(ROWS, CLASSES), "radius moves"),
    "several classes": (
        lambda: logistic(method="auto", classes=["a", "b", "c"]).fit(ROWS, np.resize(["a", "b", "c"], 4_000)),
        "no theory.*3 scores",
    ),
    "hinges": (
        lambda: PrivateLinearSVC(classes=["ill", "well"], random_state=0).fit(ROWS, CLASSES),
        "no theory.*PrivateLinearSVC",
    ),
    "no privacy": (lambda: linear(epsilon=math.inf).fit(ROWS, NUMBERS), "not private"),
    "noise": (lambda: linear(epsilon=0.05).fit(ROWS[:300], NUMBERS[:300]), "swamps.*test_inversion"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_refusal_says_why_and_what_would(case: str) -> None:
    make, words = REFUSED[case]
    model = make()
    with pytest.raises(NoIntervals, match=words):
        model.conf_int()
    assert "no intervals that cover sampling error" in model.summary()


def test_rows_of_one_user_are_not_independent() -> None:
    model = linear().fit(ROWS, NUMBERS)
    object.__setattr__(model.release_.guarantee, "unit", PrivacyUnit("user", max_rows=3))
    with pytest.raises(NoIntervals, match="several rows"):
        model.conf_int()
