"""No estimator's intercept is drawn to the middle of a declared range, or to equal classes; what its centre costs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import r2_score

from holdfast._arrays import Floats
from holdfast.learn import (
    PrivateHuberRegression,
    PrivateLasso,
    PrivateLinearRegression,
    PrivateLinearSVC,
    PrivateLogisticRegression,
    PrivateRidge,
)
from holdfast.learn._choice import find_learner
from holdfast.learn._intercept_centre import (
    CENTRE_SHARE,
    INTERCEPT_PULLED,
    label_sum,
    pay_for_centre,
    release_target_mean,
)
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import Hinge, HuberRegression, Logistic, OneVsAll, Softmax, Squared
from holdfast.learn._rows.examples import ArrayExamples
from holdfast.privacy import Account, Adjacency, ApproxDP, PrivacyUnit, PureDP
from tests.learn.learn_cases import QUIET

pytestmark = QUIET
CONSTANT = 0.5
NUMBERS: tuple[tuple[Any, str], ...] = (
    (PrivateRidge, "auto"),
    (PrivateRidge, "ridge"),
    (PrivateRidge, "adassp"),
    (PrivateRidge, "ssp"),
    (PrivateRidge, "functional"),
    (PrivateLinearRegression, "auto"),
    (PrivateHuberRegression, "output"),
    (PrivateHuberRegression, "gibbs"),
    (PrivateLasso, "auto"),
)
CLASSES: tuple[tuple[Any, str], ...] = (
    (PrivateLogisticRegression, "output"),
    (PrivateLogisticRegression, "objective"),
    (PrivateLogisticRegression, "noisy_gd"),
    (PrivateLogisticRegression, "newton"),
)


def numbers(count: int, seed: int) -> tuple[Floats, Floats]:
    """A target whose mean is 5 and whose standard deviation is about 1."""
    random = np.random.Generator(np.random.PCG64(seed))
    x = random.uniform(-0.5, 0.5, size=(count, 3))
    return x, 5.0 + 2.0 * x[:, 0] - 1.5 * x[:, 1] + random.normal(0.0, 0.5, count)


@pytest.mark.parametrize(("estimator", "method"), NUMBERS, ids=lambda one: getattr(one, "__name__", one))
@pytest.mark.parametrize("epsilon", [math.inf, 1_000.0])
def test_a_wide_range_moves_no_prediction(estimator: Any, method: str, epsilon: float) -> None:
    """Where noise is next to nothing, what is declared of a target changes only how much is clipped."""
    x, y = numbers(20_000, 1)
    told: dict[str, Any] = {"penalty": 0.01} if estimator is not PrivateLasso else {"radius": 8.0}
    means = []
    for high in (10.0, 100.0):
        model = estimator(
            epsilon=epsilon, target_bounds=(0.0, high), method=method, random_state=0, **told
        ).fit(x, y)
        means.append(float(np.mean(model.predict(x))))
        assert r2_score(y, model.predict(x)) > 0.4
    assert means == pytest.approx([5.0, 5.0], abs=0.25)


@pytest.mark.parametrize(("estimator", "method"), CLASSES, ids=lambda one: getattr(one, "__name__", one))
@pytest.mark.parametrize("rate", [0.02, 0.5])
def test_a_penalty_does_not_make_a_rare_class_frequent(estimator: Any, method: str, rate: float) -> None:
    """Whatever shrinks weights: the mean probability is what it is without, or the share of the class."""
    random = np.random.Generator(np.random.PCG64(2))
    x = random.uniform(-0.5, 0.5, size=(20_000, 2))
    y = (random.random(20_000) < rate).astype(int)
    told: dict[str, Any] = {"method": method, "classes": [0, 1], "random_state": 0}
    expected = rate
    if method == "noisy_gd":  # its clipping makes rare classes rarer, with or without a penalty
        free = estimator(epsilon=100.0, **told).fit(x, y)
        expected = float(np.mean(free.predict_proba(x)[:, 1]))
    for epsilon, mean in ((math.inf, rate), (100.0, expected)):
        model = estimator(epsilon=epsilon, penalty=0.1, **told).fit(x, y)
        assert float(np.mean(model.predict_proba(x)[:, 1])) == pytest.approx(mean, rel=0.2)


@pytest.mark.parametrize("loss", ["hinge", "huber"])
def test_a_hinge_starts_at_the_frequent_class(loss: str) -> None:
    random = np.random.Generator(np.random.PCG64(3))
    x = random.uniform(-0.5, 0.5, size=(4_000, 2))
    for rate in (0.1, 0.9):
        y = (random.random(4_000) < rate).astype(int)
        model = PrivateLinearSVC(
            epsilon=50.0, delta=0.0, penalty=5.0, loss=loss, method="output", classes=[0, 1], random_state=0
        ).fit(x, y)
        assert float(np.mean(model.predict(x))) == pytest.approx(round(rate))


def test_a_method_that_takes_no_origin_says_so_and_auto_never_takes_it() -> None:
    x, y = numbers(600, 4)
    model = PrivateLogisticRegression(
        method="bolt_on", penalty=0.1, classes=[0, 1], delta=0.0, random_state=0
    ).fit(x, (y > 5).astype(int))
    assert model.release_ is not None
    assert INTERCEPT_PULLED in model.release_.guarantee.assumptions
    free = PrivateLogisticRegression(penalty=0.1, classes=[0, 1], random_state=0).fit(x, (y > 5).astype(int))
    assert free.release_ is not None
    assert INTERCEPT_PULLED not in free.release_.guarantee.assumptions


def rows_of(labels: Any, adjacency: str, unit: PrivacyUnit | None = None) -> ArrayExamples:
    features = np.column_stack([np.zeros(len(labels)), np.full(len(labels), CONSTANT)])
    return ArrayExamples(
        features=features,
        labels=np.asarray(labels, dtype=np.float64),
        adjacency=Adjacency.of(adjacency),
        public_count=max(1, len(labels)),
        unit=unit or PrivacyUnit(),
    )


LEAST_SQUARES = Problem(loss=Squared(target_bound=1.0), dimension=2, constant=CONSTANT, penalty=0.1)


@settings(max_examples=40)
@given(
    labels=st.lists(st.floats(-2, 2), min_size=1, max_size=9),
    place=st.integers(0, 8),
    new=st.floats(allow_nan=True, width=64),
    adjacency=st.sampled_from(["replace", "zero_out", "add_remove"]),
)
def test_one_row_moves_the_sum_of_targets_by_as_much_as_is_charged(
    labels: list[float], place: int, new: float, adjacency: str
) -> None:
    """Twice the bound under replace, once where a row is blanked or gone, whatever its new target is."""
    place %= len(labels)
    first = rows_of(labels, adjacency)
    other = list(labels)
    other[place] = new
    second = rows_of(other, adjacency)
    if adjacency == "zero_out":
        second.features[place] = 0.0
    if adjacency == "add_remove":
        second = rows_of(labels[:place] + labels[place + 1 :], adjacency)
    moved = label_sum(first, LEAST_SQUARES, bound=1.0) - label_sum(second, LEAST_SQUARES, bound=1.0)
    assert abs(moved) <= (2.0 if adjacency == "replace" else 1.0) + 1e-12


@pytest.mark.parametrize("adjacency", ["replace", "zero_out"])
@pytest.mark.parametrize("max_rows", [1, 3])
def test_a_centre_is_charged_its_share_before_its_noise(adjacency: str, max_rows: int) -> None:
    unit = PrivacyUnit() if max_rows == 1 else PrivacyUnit("user", max_rows=max_rows)
    rows = rows_of([0.5] * 50, adjacency, unit)
    pure = Account(PureDP(1.0), adjacency=adjacency, unit=unit, seed=0)
    release_target_mean(rows, LEAST_SQUARES, pure, arithmetic="strict")
    (entry,) = pure.journal.entries
    assert float(pure.remaining().as_pure() or 0) == pytest.approx(1.0 - CENTRE_SHARE)
    factor = 2.0 if adjacency == "replace" else 1.0
    assert float(entry.charge.mechanism["l1_sensitivity"]) == pytest.approx(factor * max_rows)
    for currency in ("gdp", "zcdp", "basic", "renyi"):
        account = Account(ApproxDP(1.0, 1e-6), adjacency=adjacency, unit=unit, currency=currency, seed=0)
        release_target_mean(rows, LEAST_SQUARES, account, arithmetic="strict")
        assert account.remaining().delta(0.5) < account.promised.delta(0.5)


@settings(max_examples=25)
@given(share=st.floats(0.02, 0.98))
def test_the_centre_of_each_loss_is_where_its_constant_model_is(share: float) -> None:
    count = 4_000
    labels = np.where(np.arange(count) < share * count, 1.0, -1.0)
    account = Account(PureDP(1e6), seed=0)
    for loss in (Logistic(), Hinge()):
        problem = Problem(loss=loss, dimension=2, constant=CONSTANT, penalty=0.1)
        at = pay_for_centre(rows_of(labels, "replace"), problem, account, arithmetic="strict")
        scores = np.atleast_1d(at.origin)[-1] * CONSTANT
        truth = math.log(share / (1 - share)) if loss.name == "logistic" else 2 * share - 1
        assert scores == pytest.approx(truth, abs=0.05)
    several: Any
    for several in (Softmax(classes=2), OneVsAll(classes=2)):
        problem = Problem(loss=several, dimension=2, constant=CONSTANT, penalty=0.1)
        codes = rows_of((labels > 0).astype(float), "replace")
        at = pay_for_centre(codes, problem, account, arithmetic="strict")
        first, second = np.asarray(at.origin).reshape(2, 2)[:, -1] * CONSTANT
        odds = math.log(share / (1 - share))
        assert second - first == pytest.approx(odds if several.name == "softmax" else 2 * odds, abs=0.1)


def test_rows_without_an_intercept_pay_for_no_centre() -> None:
    for loss in (Logistic(), Squared(target_bound=1.0), HuberRegression()):
        problem = Problem(loss=loss, dimension=2, penalty=0.1)
        account = Account(PureDP(1.0), seed=0)
        at = pay_for_centre(rows_of([1.0], "replace"), problem, account, arithmetic="strict")
        assert not account.journal.entries
        assert at.problem is problem
    assert find_learner("output").needs_penalty(problem)
