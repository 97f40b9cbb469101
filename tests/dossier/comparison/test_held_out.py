"""What is held out and what fits are measured by, over drawn schemas: identifiers, users, holes, classes, numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, log_loss, r2_score, roc_auc_score

from holdfast.data import Categorical, Identifier, Numeric, Schema
from holdfast.dossier._comparison import compare_methods
from holdfast.dossier._comparison.held_out import HeldOut
from holdfast.errors import ParameterError
from holdfast.privacy import PrivacyUnit

ROWS = 240


def drawn(seed: int) -> tuple[dict[str, Any], Schema, str]:
    """Columns, their schema and a target: everything that a schema may hold, some of it."""
    draw = np.random.default_rng(seed)
    age = draw.uniform(0, 100, ROWS)
    labels = list(draw.permutation(["ja", "nein", "weiß nicht"])[: draw.integers(2, 4)])
    rank = np.clip(((age + draw.normal(0, 15, ROWS)) / 101 * len(labels)).astype(int), 0, len(labels) - 1)
    columns: dict[str, Any] = {
        "age": age,
        "kind": np.array(labels, dtype=object)[rank],
        "cost": np.round(8 * age + draw.normal(0, 50, ROWS), 2),
    }
    schema: list[Numeric | Categorical | Identifier] = [
        Numeric("age", 0, 100),
        Categorical("kind", labels),
        Numeric("cost", 0, 1000),
    ]
    if draw.random() < 0.7:
        columns["who"] = np.array([f"P{one}" for one in draw.integers(0, 80, ROWS)])
        schema.insert(int(draw.integers(0, 4)), Identifier("who"))
    if draw.random() < 0.5:
        columns["visit"] = np.arange(ROWS)
        schema.insert(int(draw.integers(0, 4)), Identifier("visit"))
    target = str(draw.choice(["kind", "cost"]))
    if draw.random() < 0.5:
        columns[target] = columns[target].astype(object)
        columns[target][:: draw.integers(5, 20)] = None
        if target == "cost":
            columns[target] = columns[target].astype(float)
    users = "who" in columns and draw.random() < 0.6
    unit = PrivacyUnit.user("who", max_rows=4) if users else PrivacyUnit()
    return columns, Schema(schema, unit=unit), target


def missing(values: Any) -> np.ndarray:
    return np.array([one is None or one != one for one in values])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_any_schema_is_compared_by_every_measure(seed: int) -> None:
    columns, schema, target = drawn(seed)
    found = compare_methods(
        columns, schema, target=target, methods=["auto", "additive"], epsilon=8.0, delta=1e-4, fits=1
    )
    rows = dict(found.rows)
    lead, *others = ("accuracy", "AUC", "log loss") if target == "kind" else ("R2", "root mean squared error")
    without = found.names.index("without privacy")
    assert all(measure in rows for measure in others)
    assert float(rows[lead][without]) > float(rows[lead][-1]) + 0.05
    assert all(float(cell.replace(",", "")) == float(cell.replace(",", "")) for cell in rows[others[0]])


@pytest.mark.parametrize("seed", range(20))
def test_people_without_a_target_are_left_out_and_users_are_held_out_whole(seed: int) -> None:
    columns, schema, target = drawn(seed)
    split = HeldOut.of(columns, schema, target, holdout=0.3, seed=seed)
    parts = [split.train[target], split.labels]
    assert sum(len(part) for part in parts) == ROWS - int(missing(columns[target]).sum())
    assert not any(missing(part).any() for part in parts)
    if schema.confirmed_unit.column is not None:
        assert not set(split.train["who"]) & set(split.test["who"])


class Answers:
    """A model that is known."""

    def __init__(self, order: list[str], chances: np.ndarray) -> None:
        self.classes_ = np.array(order)
        self._chances = chances

    def predict_proba(self, features: Any) -> np.ndarray:
        return self._chances

    def predict(self, features: Any) -> np.ndarray:
        return np.asarray(self.classes_[self._chances.argmax(axis=1)])


@pytest.mark.parametrize("seed", range(12))
def test_measures_are_those_of_scikit_learn_whatever_the_order_of_classes(seed: int) -> None:
    draw = np.random.default_rng(seed)
    labels = list(draw.permutation(["b", "a", "c"])[: draw.integers(2, 4)])
    y = draw.choice(labels, 80)
    x = draw.normal(size=(80, 2)) + (y == labels[0])[:, None]
    trained = LogisticRegression().fit(x, y)
    order = list(draw.permutation(labels))
    chances = trained.predict_proba(x)[:, [list(trained.classes_).index(one) for one in order]]
    schema = Schema([Numeric("x", -9, 9), Categorical("y", labels)])
    split = HeldOut(
        train={"x": x[:, 0], "y": y}, test={"x": x[:, 0]}, labels=y.astype(object), schema=schema, target="y"
    )
    found = split._scores_of(Answers(order, chances))
    own = trained.predict_proba(x)
    assert found["accuracy"] == pytest.approx(accuracy_score(y, trained.predict(x)))
    assert found["log loss"] == pytest.approx(log_loss(y, own))
    area = roc_auc_score(y, own[:, 1]) if len(labels) == 2 else roc_auc_score(y, own, multi_class="ovr")
    assert found["AUC"] == pytest.approx(area)


def test_numbers_are_measured_by_r2_and_a_single_class_has_no_area() -> None:
    wanted, predicted = np.array([1.0, 2.0, 4.0]), np.array([1.5, 2.0, 3.0])

    class Known:
        def predict(self, features: Any) -> np.ndarray:
            return predicted

    schema = Schema([Numeric("x", 0, 1), Numeric("y", 0, 9), Categorical("z", ["a", "b"])])
    columns = {"x": wanted, "y": wanted, "z": np.array(["a", "a", "a"])}
    numbers = HeldOut(train=columns, test=columns, labels=wanted, schema=schema, target="y")
    found = numbers._scores_of(Known())
    assert found["R2"] == pytest.approx(r2_score(wanted, predicted))
    assert found["root mean squared error"] == pytest.approx(math.sqrt(1.25 / 3))
    single = HeldOut(train=columns, test=columns, labels=columns["z"], schema=schema, target="z").constant()
    assert single["accuracy"] == 1.0
    assert math.isnan(single["AUC"])


def test_a_column_that_is_absent_is_named_and_an_identifier_may_be() -> None:
    schema = Schema([Identifier("row"), Numeric("x", 0, 1), Categorical("y", ["a", "b"])])
    columns = {"x": np.linspace(0, 1, 20), "y": np.array(["a", "b"] * 10)}
    assert HeldOut.of(columns, schema, "y", holdout=0.5).schema.identifiers == ()
    with pytest.raises(ParameterError, match="x are not there"):
        HeldOut.of({"y": columns["y"]}, schema, "y", holdout=0.5)
