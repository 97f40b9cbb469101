"""Declared bounds of an array's columns: units do not matter, and a saved model keeps them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from holdfast.errors import AssumptionWarning, DataError, ParameterError
from holdfast.learn import (
    PrivateLinearRegression,
    PrivateLogisticRegression,
    PrivatePCA,
    PrivateScaler,
    PrivateSearch,
    RandomProjection,
)
from holdfast.learn._estimators import ESTIMATORS
from holdfast.learn._rows.declared_bounds import FEATURES_ASSUMED
from holdfast.learn._rows.numbers_only import is_dated

pytestmark = [
    pytest.mark.filterwarnings("ignore::holdfast.errors.NotPrivateWarning"),
    pytest.mark.filterwarnings("ignore::holdfast.errors.BudgetWarning"),
]
UNITS = np.array([1e-4, 1.0, 1e5])


@pytest.fixture(scope="module")
def rows() -> tuple[Any, Any]:
    draw = np.random.default_rng(1).normal(size=(8_000, 3))
    return draw * UNITS, np.where(draw.sum(axis=1) > 0, 1, 0)


def bounds() -> list[tuple[float, float]]:
    return [(-4.0 * unit, 4.0 * unit) for unit in UNITS]


def test_badly_scaled_columns_do_not_matter(rows: tuple[Any, Any], tmp_path: Path) -> None:
    X, y = rows
    told: Any = {"epsilon": 1.0, "delta": 1e-6, "classes": [0, 1], "adjacency": "zero_out", "random_state": 0}
    model = PrivateLogisticRegression(bounds=bounds(), **told).fit(X, y)
    assert model.score(X, y) > 0.95
    assert PrivateLogisticRegression(row_norm=1e6, **told).fit(X, y).score(X, y) < 0.8
    assert model.release_ is not None
    model.release_.save(tmp_path / "m.holdfast")
    again = PrivateLogisticRegression.load(tmp_path / "m.holdfast")
    assert np.array_equal(again.predict(X[:50]), model.predict(X[:50]))


def test_bounds_are_one_pair_or_one_each(rows: tuple[Any, Any]) -> None:
    X, _ = rows
    told: Any = {"target_bounds": (-1, 1), "adjacency": "zero_out", "random_state": 0}
    with pytest.raises(ParameterError, match="bounds"):
        PrivateLinearRegression(bounds=[(0, 1)] * 2, **told).fit(X, X[:, 1])
    model = PrivateLinearRegression(epsilon=8.0, bounds=(-4, 4), **told).fit(X[:, 1:2], np.tanh(X[:, 1]))
    assert model.score(X[:, 1:2], np.tanh(X[:, 1])) > 0.7


def declared(estimator: Any, **told: Any) -> Any:
    """One with all but its columns declared."""
    own = {"classes": [0, 1]} if hasattr(estimator(), "classes") else {"target_bounds": (-1.0, 1.0)}
    return estimator(epsilon=2.0, delta=1e-6, random_state=0, **own, **told)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda one: one.__name__)
def test_columns_without_bounds_are_warned_of_and_recorded(estimator: Any) -> None:
    """The same words for every estimator, and none where bounds are declared."""
    random = np.random.default_rng(0)
    X = random.uniform(-1, 1, size=(300, 2))
    y = (X[:, 0] > 0).astype(int)
    with pytest.warns(AssumptionWarning, match="bounds was not declared") as seen:
        model = declared(estimator).fit(X, y)
    assert [str(one.message) for one in seen if one.category is AssumptionWarning] == [FEATURES_ASSUMED.text]
    assert FEATURES_ASSUMED in model.release_.guarantee.assumptions
    quiet = declared(estimator, bounds=(-1.0, 1.0)).fit(X, y)
    assert FEATURES_ASSUMED not in quiet.release_.guarantee.assumptions


def dated(kind: str) -> Any:
    """Two columns, one of which holds dates, in one of the ways in which frames and arrays hold them."""
    import pandas as pd
    import polars as pl

    days = np.array(["2020-01-01", "2020-02-01", "2021-03-01", "2022-04-01"], dtype="datetime64[ns]")
    numbers = np.arange(4.0)
    frame = pd.DataFrame({"x": numbers, "day": days})
    made: dict[str, Any] = {
        "pandas": lambda: frame,
        "pandas with a zone": lambda: frame.assign(day=frame["day"].dt.tz_localize("UTC")),
        "pandas periods": lambda: frame.assign(day=frame["day"].dt.to_period("M")),
        "pandas lengths": lambda: frame.assign(day=frame["day"] - frame["day"].iloc[0]),
        "pandas arrow": lambda: frame.convert_dtypes(dtype_backend="pyarrow"),
        "pandas objects": lambda: frame.assign(day=frame["day"].dt.date),
        "polars": lambda: pl.DataFrame({"x": numbers, "day": days}),
        "polars dates": lambda: pl.DataFrame({"x": numbers, "day": days}).with_columns(
            pl.col("day").cast(pl.Date)
        ),
        "array": lambda: days[:, None],
        "array of lengths": lambda: (days - days[0])[:, None],
        "lists": lambda: [
            [float(n), day.item()] for n, day in zip(numbers, days.astype("datetime64[D]"), strict=True)
        ],
    }
    return made[kind]()


KINDS = (
    "pandas",
    "pandas with a zone",
    "pandas periods",
    "pandas lengths",
    "pandas arrow",
    "pandas objects",
    "polars",
    "polars dates",
    "array",
    "array of lengths",
    "lists",
)


@pytest.mark.parametrize("kind", KINDS)
def test_dates_are_not_numbers(kind: str) -> None:
    """In fits, in predictions, and as targets; nothing is charged and no date is shown."""
    X = dated(kind)
    assert is_dated(X)
    y = np.array([0, 1, 0, 1])
    learners = [declared(estimator) for estimator in ESTIMATORS]
    for made in (*learners, PrivateScaler(bounds=(-1, 1)), PrivatePCA(1)):
        with pytest.raises(DataError, match="dates") as refused:
            clone(made).fit(X, y)
        assert "2020" not in str(refused.value)
        assert "days since" in str(refused.value)
    fitted = declared(PrivateLogisticRegression).fit(np.zeros((300, 2)), np.arange(300) % 2)
    with pytest.raises(DataError, match="dates"):
        fitted.predict(X)


def test_other_types_hold_no_dates() -> None:
    import pandas as pd
    import polars as pl

    frame = pd.DataFrame({"time_on_ward": [1.0, 2.0], "date": [1, 2], "text": ["a", "b"]})
    for data in (
        frame,
        pl.DataFrame(frame),
        frame["date"],
        np.zeros((2, 2)),
        [[1, 2], [3, 4]],
        "text",
        None,
        3.0,
    ):
        assert not is_dated(data)


@pytest.mark.parametrize("where", ["X", "y"])
def test_no_text_about_missing_values_recommends_an_unpaid_step(where: str) -> None:
    """What scikit-learn says names an imputer in a pipeline, which reads the rows and pays for nothing."""
    X, y = np.zeros((300, 2)), np.arange(300.0) % 2
    for estimator in ESTIMATORS:
        bad = X.copy()
        bad[3, 1] = np.nan
        told = (bad, y) if where == "X" else (X, np.where(np.arange(300) == 3, np.nan, y))
        with pytest.raises(ValueError, match="NaN") as refused:
            declared(estimator).fit(*told)
        words = str(refused.value)
        assert "impute" not in words.lower()
        assert "without being paid for" in words or where == "y"
        assert refused.value.__suppress_context__ or where == "y"
    fitted = declared(PrivateLogisticRegression).fit(X, y)
    steps = [PrivateScaler(bounds=(-1, 1)), PrivatePCA(1)]
    for call in (fitted.predict, *(step.fit for step in steps)):
        with pytest.raises(DataError) as refused:
            call(bad if where == "X" else np.full((5, 2), np.nan))
        assert "impute" not in str(refused.value).lower()


def holed() -> dict[str, Any]:
    """Rows with one hole, as each library writes it."""
    import pandas as pd
    import polars as pl
    from scipy.sparse import csr_array

    bad = np.random.default_rng(0).uniform(-0.5, 0.5, size=(300, 2))
    bad[3, 1] = np.nan
    frame = pd.DataFrame(bad, columns=["a", "b"])
    return {
        "array": bad,
        "objects": bad.astype(object),
        "masked": np.ma.masked_invalid(bad),
        "sparse": csr_array(bad),
        "lists": bad.tolist(),
        "lists with None": [[0.1, None if place == 3 else 0.2] for place in range(300)],
        "pandas": frame,
        "pandas nullable": frame.convert_dtypes(),
        "pandas arrow": frame.convert_dtypes(dtype_backend="pyarrow"),
        "polars": pl.DataFrame(bad, schema=["a", "b"]),
        "polars null": pl.DataFrame({"a": [0.1] * 299 + [None], "b": [0.2] * 300}),
    }


@pytest.mark.filterwarnings("ignore:X has feature names")
@pytest.mark.parametrize("made", [*ESTIMATORS, PrivateScaler, PrivatePCA, RandomProjection, "search"])
def test_a_hole_is_met_at_every_door_without_a_word_of_an_imputer(made: Any) -> None:
    """All that a model or a step is asked to do with rows, in every form of rows."""
    y = np.arange(300) % 2
    whole = np.random.default_rng(1).uniform(-0.5, 0.5, size=(300, 2))

    def fresh() -> Any:
        if made == "search":
            return PrivateSearch(declared(PrivateLogisticRegression), {"row_norm": [1.0], "penalty": [0.1]})
        return declared(made) if made in ESTIMATORS else made()

    fitted = fresh().fit(whole, y)
    asks = ("predict", "predict_proba", "decision_function", "transform")
    uses = [getattr(fitted, name) for name in asks if hasattr(fitted, name)]
    for form, rows in holed().items():
        calls = [lambda rows: fresh().fit(rows, y), *uses]
        for call in calls:
            with pytest.raises((DataError, TypeError)) as refused:
                call(rows)
            assert "impute" not in str(refused.value).lower()
            # Whether sparse rows are taken at all is asked first.
            assert isinstance(refused.value, DataError) or form == "sparse"
