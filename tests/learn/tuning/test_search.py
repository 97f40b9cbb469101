"""PrivateSearch: one budget for all of it, few surprises in what it leaves."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.linear_model import LogisticRegression

from holdfast.data import Categorical, Numeric, Schema, open_table
from holdfast.errors import BudgetWarning, HoldfastError, NotPrivateWarning, ParameterError
from holdfast.learn import PrivateLogisticRegression, PrivateRidge, PrivateSearch
from holdfast.learn._tuning.random_stopping import RandomStopping
from holdfast.learn._tuning.search import WrongClass, _score
from holdfast.privacy import Account, ApproxDP, PureDP


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPrivateWarning)
        warnings.simplefilter("ignore", BudgetWarning)
        yield


def rows(n: int = 4000, *, seed: int = 0) -> tuple[Any, Any]:
    source = np.random.default_rng(seed)
    X = source.uniform(-0.7, 0.7, size=(n, 2))
    return X, (X[:, 0] + 0.1 * source.normal(size=n) > 0).astype(int)


def logistic(**told: Any) -> PrivateLogisticRegression:
    return PrivateLogisticRegression(classes=[0, 1], method="output", **told)


GRID = {"penalty": [0.01, 1e-6]}


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_parts_choose_the_better_setting_within_the_limit(delta: float) -> None:
    """A penalty of a millionth leaves nothing but noise in the weights, so the choice is clear."""
    X, y = rows()
    search = PrivateSearch(logistic(), GRID, epsilon=4.0, delta=delta, random_state=1).fit(X, y)
    assert search.best_params_ == {"penalty": 0.01}
    assert search.best_index_ == 0
    assert search.score(X, y) > 0.85
    assert search.predict_proba(X[:3]).shape == search.decision_function(X[:3])[:, None].repeat(2, 1).shape
    assert search.classes_.tolist() == [0, 1]
    assert search.release_ is search.best_estimator_.release_
    promised = search.release_.guarantee.curve.epsilon(delta)
    assert promised == pytest.approx(4.0, rel=1e-6)
    assert promised <= 4.0 + 1e-9
    assert "exponential mechanism" in search.release_.guarantee.theorem
    assert any("written down before" in a.text for a in search.release_.guarantee.assumptions)
    assert "PrivateSearch by parts: chose {'penalty': 0.01} of 2 settings" in search.summary()


def test_an_account_pays_once_and_all() -> None:
    X, y = rows()
    account = Account(PureDP(3.0), adjacency="replace", seed=3)
    PrivateSearch(logistic(), GRID).fit(X, y, account=account)
    left = account.remaining().as_pure()
    assert left is not None
    assert float(left) == 0.0
    assert len(account.journal.entries) == 1  # one charge covers all disjoint parts
    with pytest.raises(HoldfastError):
        PrivateSearch(logistic(), GRID).fit(X, y, account=account)


def test_each_candidate_trains_on_a_part_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """The parts share no row, and none is as large as the table: else the sum of the parts would have to be paid."""
    from holdfast.learn._tuning.search import _Trainer

    seen: list[Any] = []
    real = _Trainer.__call__

    def spy(self: Any, examples: Any, account: Any) -> Any:
        seen.append((examples, account.limit))
        return real(self, examples, account)

    monkeypatch.setattr(_Trainer, "__call__", spy)
    X, y = rows(1000)
    search = PrivateSearch(logistic(), {"penalty": [0.1, 0.2, 0.3]}, delta=0.0, holdout=0.1, random_state=0)
    search.fit(X, y)
    assert [examples.public_count for examples, _ in seen] == 2 * [300, 300, 300]
    assert not any(examples.features.any() for examples, _ in seen[:3])  # the rehearsal, on null rows
    seen = seen[3:]
    kept = [{tuple(row) for row in examples.features} for examples, _ in seen]
    assert len(set.union(*kept)) == sum(map(len, kept))
    assert all(limit.epsilon(0.0) <= 1.0 + 1e-12 for _, limit in seen)


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_random_stopping(delta: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every run sees all rows, with less than half of the budget; one release comes out."""
    from holdfast.learn._tuning.search import _Trainer

    seen: list[Any] = []
    real = _Trainer.__call__

    def spy(self: Any, examples: Any, account: Any) -> Any:
        seen.append((examples.public_count, account.remaining().epsilon(delta)))
        return real(self, examples, account)

    monkeypatch.setattr(_Trainer, "__call__", spy)
    X, y = rows(2000)
    account = None
    if delta:
        account = Account(ApproxDP(4.0, delta), adjacency="replace", currency="renyi", seed=5)
    search = PrivateSearch(
        logistic(),
        GRID,
        epsilon=4.0,
        delta=delta,
        strategy="random_stopping",
        stopping=RandomStopping(eta=1.0, gamma=0.05),
        random_state=None if delta else 5,
    ).fit(X, y, account=account)
    assert {count for count, _ in seen} == {2000}
    assert max(epsilon for _, epsilon in seen) < 2.0
    assert search.release_.guarantee.curve.epsilon(delta) <= 4.0 + 1e-9
    assert "negative binomial" in search.release_.guarantee.theorem
    if len(seen) > 8:
        assert search.best_params_ == {"penalty": 0.01}


def test_auto_candidates_and_idealised_training_are_said() -> None:
    X, y = rows(3000)
    model = PrivateLogisticRegression(classes=[0, 1], arithmetic="idealised", method="output")
    search = PrivateSearch(model, GRID, random_state=0).fit(X, y)
    assert any("real numbers" in a.text for a in search.release_.guarantee.assumptions)
    plain = PrivateSearch(logistic(), GRID, random_state=0).fit(X, y)
    assert not any("real numbers" in a.text for a in plain.release_.guarantee.assumptions)


def test_regression_is_scored_by_a_clipped_loss() -> None:
    X, _ = rows(6000)
    y = 10 + 8 * X[:, 0]
    model = PrivateRidge(target_bounds=(0, 20), method="ridge")
    search = PrivateSearch(model, GRID, epsilon=4.0, random_state=0).fit(X, y)
    assert search.best_params_ == {"penalty": 0.01}
    assert not hasattr(search, "predict_proba")
    assert search.predict([[0.5, 0.0]]).shape == (1,)
    score = _score(model)
    worst = score.rows(np.array([100.0]), np.array([[1.0]]), np.array([-1.0]))
    assert worst.tolist() == [2.0]
    assert score.bound == 2.0


def test_wrong_classes_are_counted_in_both_shapes() -> None:
    features, score = np.array([[1.0], [-1.0]]), WrongClass()
    assert score.rows(np.array([2.0]), features, np.array([1.0, 1.0])).tolist() == [0.0, 1.0]
    weights = np.array([[0.0], [1.0], [-1.0]])
    assert score.rows(weights, features, np.array([1.0, 1.0])).tolist() == [0.0, 1.0]


def test_a_table_is_searched_too() -> None:
    X, y = rows(3000)
    schema = Schema(
        [Numeric("a", -1, 1), Numeric("b", -1, 1), Categorical("ill", ["no", "yes"])], adjacency="replace"
    )
    table = open_table({"a": X[:, 0], "b": X[:, 1], "ill": np.where(y == 1, "yes", "no")}, schema)
    search = PrivateSearch(PrivateLogisticRegression(method="output"), GRID, epsilon=4.0, random_state=2).fit(
        table, target="ill"
    )
    assert search.best_params_ == {"penalty": 0.01}
    assert search.release_.provenance.schema_hash == schema.hash()
    assert search.predict({"a": [0.9, -0.9], "b": [0.0, 0.0]}).tolist() == ["yes", "no"]


@pytest.mark.parametrize(
    ("told", "grid", "match"),
    [
        ({"strategy": "all"}, GRID, "strategy"),
        ({}, {"row_norm": [1.0, -2.0]}, "row_norm"),
        ({}, {"epsilon": [1.0, 2.0]}, "epsilon, which all candidates share"),
        ({}, {"row_nrm": [1.0]}, "did you mean 'row_norm'"),
        ({"holdout": 1.0}, GRID, "holdout"),
        ({"epsilon": 0.0}, GRID, "epsilon"),
        ({"epsilon": math.inf}, GRID, "finite|epsilon"),
        ({}, {"penalty": [-1.0]}, "penalty"),
        ({}, {"options": [{}, {"inexactnes": 0.1}]}, "did you mean 'inexactness'"),
        (
            {"strategy": "random_stopping"},
            {"method": ["output", "objective"]},
            "objective perturbation has no cost",
        ),
        ({"delta": 0.0}, {"method": ["output", "noisy_gd"]}, "delta"),
        ({"delta": 0.01}, GRID, "delta"),
    ],
)
def test_bad_searches_are_refused_before_anything_is_spent(told: Any, grid: Any, match: str) -> None:
    X, y = rows(400)
    with pytest.raises(HoldfastError, match=match):
        PrivateSearch(logistic(), grid, **told).fit(X, y)


def test_options_are_searched_and_a_misspelt_one_costs_nothing() -> None:
    X, y = rows()
    model = PrivateLogisticRegression(classes=[0, 1], method="noisy_gd")
    # All but a millionth of the budget goes to the second moment, and gradients are noise.
    grid = {"options": [{"share": 0.999999, "unit_share": 1e-9}, {"steps": 8}]}
    search = PrivateSearch(model, grid, epsilon=4.0, random_state=1).fit(X, y)
    assert search.best_params_ == {"options": {"steps": 8}}
    assert search.release_.provenance.parameters["steps"] == 8
    account = Account(PureDP(3.0), adjacency="replace", seed=3)
    with pytest.raises(ParameterError, match="inexactness"):
        PrivateSearch(logistic(), {"options": [{}, {"inexactnes": 0.1}]}).fit(X, y, account=account)
    assert account.journal.entries == ()


def test_foreign_estimators_are_refused() -> None:
    X, y = rows(50)
    with pytest.raises(ParameterError, match="LogisticRegression"):
        PrivateSearch(LogisticRegression(), {"C": [1.0]}).fit(X, y)


def test_it_is_a_scikit_learn_estimator() -> None:
    search = PrivateSearch(logistic(), GRID, epsilon=2.0)
    assert is_classifier(search)
    assert clone(search).get_params()["epsilon"] == 2.0
    assert clone(search).get_params()["estimator__method"] == "output"
