"""Encoded rows: nothing is learned, and the norm is what it promises."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from holdfast.data import Categorical, Encoder, Identifier, Numeric, Order, Schema, clip_rows, open_table
from holdfast.data._clipped_rows import NORM_SLACK
from holdfast.errors import AssumptionWarning, DataError, ParameterError
from holdfast.privacy._adjacency import PrivacyUnit

SCHEMA = Schema(
    [
        Numeric("age", 0, 100),
        Categorical("sex", ["F", "M"], other="(other)"),
        Numeric("income", -1, 3, null="category"),
        Identifier("id"),
    ]
)
DATA: dict[str, Any] = {
    "age": [0, 75, 500],
    "sex": ["M", "F", "?"],
    "income": [3.0, None, -9.0],
    "id": [1, 2, 3],
}


def test_features() -> None:
    encoder = Encoder(SCHEMA, row_norm=None)
    names = ["age", "sex=F", "sex=M", "sex=(other)", "income", "income=(missing)", "(intercept)"]
    assert encoder.get_feature_names_out().tolist() == names
    assert encoder.transform(DATA).tolist() == [
        [-1, 0, 1, 0, 1, 0, 1],
        [0.5, 1, 0, 0, 0, 1, 1],
        [1, 0, 0, 1, -1, 0, 1],
    ]
    unit = Encoder(SCHEMA, ["income", "age"], scale="unit", intercept=False, row_norm=None)
    assert unit.transform(DATA).tolist() == [[1, 0, 0], [0, 1, 0.75], [0, 0, 1]]


def test_every_container_gives_the_same_rows() -> None:
    encoder = Encoder(SCHEMA)
    expected = encoder.fit(DATA).transform(DATA)
    for same in (pd.DataFrame(DATA), pl.DataFrame(DATA), pa.table(DATA)):
        np.testing.assert_array_equal(encoder.transform(same), expected)
    import duckdb

    with duckdb.connect() as database:
        np.testing.assert_array_equal(encoder.transform(database.from_arrow(pa.table(DATA))), expected)
    with pytest.raises(DataError, match=r"X must be rows .*, got a Table, .* model.fit"):
        encoder.transform(open_table(DATA, SCHEMA))
    (batch,) = open_table(DATA, SCHEMA).batches(order=Order.irrelevant())
    np.testing.assert_array_equal(encoder.transform(batch), expected)
    array = np.array([[0, "M", 3.0], [75, "F", None], [500, "?", -9.0]], dtype=object)
    np.testing.assert_array_equal(encoder.transform(array), expected)


def test_fit_learns_nothing() -> None:
    encoder = Encoder(SCHEMA)
    before = dict(vars(encoder))
    assert encoder.fit({"age": [1e9]}) is encoder
    assert vars(encoder) == before
    assert clone(encoder).get_params()["schema"] == SCHEMA
    assert make_pipeline(encoder).fit(DATA).transform(DATA).shape == (3, 7)
    frame = clone(encoder).set_output(transform="pandas").transform(pd.DataFrame(DATA))
    assert frame.columns.tolist() == encoder.get_feature_names_out().tolist()


def test_the_intercept_counts_in_the_norm() -> None:
    rows = Encoder(SCHEMA, row_norm=1.0).transform(DATA)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0, rtol=1e-15)
    assert np.all(rows[:, -1] < 0.6)
    assert Encoder(SCHEMA, row_norm=2.0).row_norm_bound == 2.0 * (1 + NORM_SLACK)
    assert Encoder(SCHEMA, row_norm=None).row_norm_bound == pytest.approx(
        2.0
    )  # three columns and the intercept
    assert Encoder(SCHEMA, row_norm=None, intercept=False).row_norm_bound == pytest.approx(math.sqrt(3))


@given(
    arrays(
        np.float64,
        st.tuples(st.integers(0, 6), st.integers(1, 40)),
        elements=st.floats(allow_nan=False, allow_infinity=False),
    ),
    st.floats(1e-6, 1e6),
)
@example(np.full((2, 300), 1.7e308), 1.0)
@example(np.full((2, 300), 5e-324), 1e-6)
def test_clipped_rows_are_short_and_point_the_same_way(rows: Any, row_norm: float) -> None:
    clipped = clip_rows(rows, row_norm)
    for before, after in zip(rows.tolist(), clipped.tolist(), strict=True):
        assert math.hypot(*after) <= row_norm * (1 + NORM_SLACK)
        if math.hypot(*before) <= row_norm * (1 - 1e-12):
            assert after == before
        elif math.hypot(*before) > row_norm * (1 + 1e-12):
            assert math.hypot(*after) >= row_norm * (1 - 1e-12)
            assert all(a * b >= 0 for a, b in zip(before, after, strict=True))


def test_float32_rows_are_clipped_in_float64() -> None:
    rows = np.random.default_rng(0).normal(size=(200, 300)).astype(np.float32)
    clipped = clip_rows(rows, 1.0)
    assert clipped.dtype == np.float64
    assert np.linalg.norm(clipped, axis=1).max() <= 1 + 1e-15


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_raw_rows_must_be_finite(bad: float) -> None:
    with pytest.raises(DataError, match="schema"):
        clip_rows([[bad, 1.0]], 1.0)
    with pytest.raises(DataError, match="matrix"):
        clip_rows([1.0], 1.0)


def test_parameters() -> None:
    for bad in (
        Encoder(SCHEMA, scale="log"),  # type: ignore[arg-type]
        Encoder(SCHEMA, row_norm=0.0),
        Encoder(SCHEMA, row_norm=math.inf),
        Encoder(SCHEMA, ["absent"]),
        Encoder(SCHEMA, ["id"]),
        Encoder(SCHEMA, [], intercept=False),
    ):
        with pytest.raises(ParameterError):
            bad.fit()
    with pytest.raises(DataError, match="in order"):
        Encoder(SCHEMA).transform(np.zeros((2, 2)))
    with pytest.raises(DataError, match="missing or repeated"):
        Encoder(SCHEMA).transform({"age": [1]})
    assert Encoder(SCHEMA).transform({name: [] for name in DATA}).shape == (0, 7)


def test_who_encodes_rows_of_users_is_told_that_they_become_single_rows() -> None:
    """In a pipeline, where the model cannot know whose rows they are; not where a table is fitted or rows predicted."""
    users = Schema([Numeric("age", 0, 100), Identifier("who")], unit=PrivacyUnit.user("who", max_rows=3))
    rows = {"age": [20.0, 30.0]}
    with pytest.warns(
        AssumptionWarning, match="one who, with at most 3 rows, and encoded rows do not say whose"
    ):
        Encoder(users).fit_transform(rows)
    Encoder(users).fit().transform(rows)
    Encoder(Schema([Numeric("age", 0, 100)])).fit_transform(rows)
