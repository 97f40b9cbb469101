"""What a web service has, every estimator takes as a frame: dicts, lists of dicts, a Series, a row."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from holdfast import learn
from holdfast.data import open_table
from holdfast.errors import DataError, HoldfastError
from holdfast.learn._estimators import load_model
from tests.contracts.scene import frame, schema

pytestmark = pytest.mark.filterwarnings("ignore")
ESTIMATORS: dict[str, Any] = {
    name: kind
    for name, kind in ((name, getattr(learn, name)) for name in dir(learn))
    if inspect.isclass(kind) and hasattr(kind, "predict") and hasattr(kind, "from_release")
}
METHODS = ("predict", "predict_proba", "decision_function", "explain")
STEPS = (learn.PrivateScaler(bounds=(0.0, 1.0)), learn.PrivatePCA(1), learn.RandomProjection(1))


def fitted(name: str, door: str) -> Any:
    model = ESTIMATORS[name](epsilon=3.0, random_state=1)
    classes = "classes" in model.get_params()
    rows = frame()
    if door == "table":
        return model.fit(open_table(rows, schema()), target="ill" if classes else "age")
    numbers = rows[["age"]].assign(other=1.0 - rows["age"] / 100)
    bounds = {"age": (0.0, 100.0), "other": (0.0, 1.0)} if door == "frame" else (0.0, 100.0)
    labels = (rows["ill"] == "yes").astype(int) if classes else rows["age"] / 100
    model.set_params(bounds=bounds, **({"classes": [0, 1]} if classes else {"target_bounds": (0.0, 1.0)}))
    return model.fit(numbers if door == "frame" else numbers.to_numpy(), labels)


def columns_of(model: Any) -> list[str]:
    names = getattr(model.model_, "columns", None)
    return list(names if names is not None else model.feature_names_in_)


def asked(model: Any) -> pd.DataFrame:
    rows = frame(4, seed=9).assign(other=0.25)
    return rows[columns_of(model)]


def _same(answer: Any, expected: Any) -> None:
    """Equal but for the order in which a matrix product adds up."""
    if np.asarray(expected).dtype.kind == "f":
        np.testing.assert_allclose(answer, expected, rtol=1e-12)
    else:
        np.testing.assert_array_equal(answer, expected)


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("door", ["table", "frame"])
def test_every_form_of_a_row_gives_what_a_frame_gives(name: str, door: str) -> None:
    model = fitted(name, door)
    rows = asked(model)
    records = rows.to_dict("records")
    for method in (method for method in METHODS if hasattr(model, method)):
        ask = getattr(model, method)
        expected = ask(rows)
        forms: list[tuple[Any, Any]] = [
            (records, expected),
            (records[0], expected[:1]),
            (rows.iloc[0], expected[:1]),
            ([records[0]], expected[:1]),
            ([row for _, row in rows.iterrows()], expected),
            (rows.to_dict("list"), expected),
            (dict(reversed(records[0].items())), expected[:1]),
        ]
        if door == "table":
            forms += [
                (list(records[0].values()), expected[:1]),
                (tuple(records[0].values()), expected[:1]),
                ([list(record.values()) for record in records], expected),
            ]
        for given, answer in forms:
            if isinstance(answer, list):
                assert ask(given) == answer
            else:
                _same(ask(given), answer)


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("door", ["table", "frame"])
def test_a_missing_and_an_unknown_column_are_named_and_no_value_is(name: str, door: str) -> None:
    model = fitted(name, door)
    record = asked(model).to_dict("records")[0] | {columns_of(model)[0]: "Wintergreen-8812"}
    first, *others = columns_of(model)
    lacking = {column: record[column] for column in others}
    for wrong, said in (
        (lacking, f"lacks ['{first}']"),
        ([record, lacking], f"row 1 lacks ['{first}']"),
        (record | {"aeg": 1}, "['aeg']"),
        (pd.Series(record | {"aeg": 1}), "['aeg']"),
        ([record, 3], "row 1 is an int"),
        (pd.Series([1.0, 2.0]), f"'{first}'"),
    ):
        with pytest.raises(DataError) as caught:
            model.predict(wrong)
        assert said in str(caught.value)
        assert "Wintergreen" not in str(caught.value)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_model_without_names_says_that_it_has_none(name: str) -> None:
    model = fitted(name, "array")
    with pytest.raises(HoldfastError) as caught:
        model.predict({"age": 3.0, "other": 1.0})
    assert "order" in str(caught.value) or "'x0'" in str(caught.value)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_loaded_model_takes_the_same_forms(name: str, tmp_path: Any) -> None:
    model = fitted(name, "table")
    model.release_.save(tmp_path / "m.holdfast")
    record = asked(model).to_dict("records")[0]
    _same(load_model(tmp_path / "m.holdfast").predict(record), model.predict(record))


@pytest.mark.parametrize("step", STEPS, ids=lambda step: type(step).__name__)
def test_steps_transform_by_name_or_say_that_they_have_none(step: Any) -> None:
    from sklearn.base import clone

    rows = pd.DataFrame({"a": [0.1, 0.2, 0.3, 0.5] * 50, "b": [0.4, 0.3, 0.2, 0.0] * 50})
    named = clone(step).fit(rows)
    for given in (rows.to_dict("records")[0], rows.iloc[0], {"b": 0.4, "a": 0.1}):
        _same(named.transform(given), named.transform(rows[:1]))
    with pytest.raises(DataError, match="lacks"):
        named.transform({"a": 0.1})
    with pytest.raises(DataError, match="2 numbers, in order"):
        clone(step).fit(rows.to_numpy()).transform({"a": 0.1, "b": 0.4})


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("door", ["frame", "array"])
@pytest.mark.parametrize("stored", [False, True])
def test_what_is_no_number_is_refused_as_in_the_fit(
    name: str, door: str, stored: bool, tmp_path: Path
) -> None:
    """A matrix has no rule for what is missing; nor are columns taken in another order than they were fitted in."""
    model = fitted(name, door)
    if stored:
        model.release_.save(tmp_path / "m.holdfast")
        model = load_model(tmp_path / "m.holdfast")
    rows = frame(4, seed=9)[["age"]].assign(other=0.25)
    expected = model.predict(rows if door == "frame" else rows.to_numpy())
    _same(model.predict(rows.to_numpy().tolist()[0]), expected[:1])
    for wrong in (float("nan"), None, "a text", "7 years"):
        cells = rows.astype(object)
        cells.iloc[1, 0] = wrong
        with pytest.raises(DataError):
            model.predict(cells if door == "frame" else cells.to_numpy())
    if door == "frame":
        with pytest.raises(ValueError, match="feature names"):
            model.predict(rows[["other", "age"]])
