"""Labels become what losses take, within declared bounds and lists."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.data import Categorical, Numeric, Schema, open_table
from holdfast.data._batch import encode_batch
from holdfast.errors import DataError, ParameterError
from holdfast.learn import PrivateLogisticRegression
from holdfast.learn._problem.problem import ClassLabels, NumberLabels
from holdfast.privacy import Account, ApproxDP


@given(st.permutations(["a", "b", "c", "d"]), st.integers(2, 4), st.lists(st.integers(0, 3), max_size=20))
def test_a_class_is_its_place_in_the_sorted_list_in_whatever_order_it_was_declared(
    names: list[str], k: int, places: list[int]
) -> None:
    target = ClassLabels(classes=np.array(names[:k]))
    drawn = [names[place % k] for place in places]
    ranks = [sorted(names[:k]).index(name) for name in drawn]
    wanted = [2.0 * rank - 1.0 if k == 2 else float(rank) for rank in ranks]
    assert target.names == tuple(sorted(names[:k]))
    assert target.encode(np.array(drawn, dtype="<U1")).tolist() == wanted
    column = Categorical("x", names[:k])
    table = encode_batch(Schema([column]), {"x": pa.array(drawn, pa.string())}, len(drawn))
    assert ClassLabels.of_column(column).encode_column(table, "x").tolist() == wanted


@given(
    st.permutations(["a", "b", "c"]),
    st.sampled_from([None, "a", "(other)"]),
    st.sampled_from([None, "b", "(none)"]),
    st.lists(st.sampled_from(["a", "b", "c", "elsewhere", "n/a", None]), max_size=20),
)
def test_a_row_has_a_label_only_where_somebody_declared_one(
    names: list[str], other: str | None, null: str | None, values: list[str | None]
) -> None:
    column = Categorical("x", names, other=other, null=null, nulls=["n/a"])
    labels = ClassLabels.of_column(column)
    batch = encode_batch(Schema([column]), {"x": pa.array(values, pa.string())}, len(values))
    meant = {"elsewhere": other, "n/a": null, None: null}
    wanted = [meant.get(value, value) for value in values]
    found = labels.encode_column(batch, "x")
    assert [None if math.isnan(code) else labels.names[int(code)] for code in found] == wanted


@given(
    st.sampled_from(["low", "midpoint", "high", "category", 3.0]),
    st.lists(st.sampled_from(["1", "9", "-9", "none", None, "nan"]), max_size=20),
)
def test_a_number_is_a_target_only_where_somebody_declared_it(
    null: str | float, values: list[str | None]
) -> None:
    column = Numeric("x", 0, 10, null=null, nulls=[-9])
    batch = encode_batch(Schema([column]), {"x": pa.array(values, pa.string())}, len(values))
    found = NumberLabels(low=0.0, high=10.0, centred=False).encode_column(batch, "x")
    said = {"low": 0.0, "high": 10.0, 3.0: 3.0}.get(null, math.nan)
    wanted = [float(value) if value in ("1", "9") else said for value in values]
    np.testing.assert_allclose(found * 10.0, wanted)


def test_a_label_that_is_not_listed_is_refused_and_not_named() -> None:
    with pytest.raises(DataError, match="2 declared classes") as caught:
        ClassLabels(classes=np.array([0, 1])).encode([0, 1, 77])
    assert "77" not in str(caught.value)
    with pytest.raises(DataError):
        ClassLabels(classes=np.array([0, 1])).encode([0.5, 1.0])
    with pytest.raises(ParameterError, match="one class"):
        ClassLabels(classes=np.array([1]))
    with pytest.raises(ParameterError, match="must differ"):
        ClassLabels(classes=np.array([1, 1, 2]))


def test_a_column_declares_its_classes() -> None:
    assert ClassLabels.of_column(Categorical("x", ["b", "a"], other="?")).names == ("?", "a", "b")
    assert ClassLabels.of_column(Numeric("x", 0, 1, integer=True)).names == (0.0, 1.0)
    assert ClassLabels.of_column(Categorical("x", ["b", "a"]), ["b", "a"]).binary
    assert ClassLabels.of_column(Categorical("x", ["b", "a"]), ["a", "b"]).binary
    assert ClassLabels.of_column(Numeric("x", 0, 1, integer=True, null="category")).names == (0.0, 1.0)
    for wrong in (["a", "c"], ["a"], ["a", "b", "b"], ["a", "b", "c"]):
        with pytest.raises(ParameterError, match="contradict"):
            ClassLabels.of_column(Categorical("x", ["b", "a"]), wrong)
    with pytest.raises(ParameterError, match="must be categorical"):
        ClassLabels.of_column(Numeric("x", 0, 1))


bound = st.floats(-1e6, 1e6)


@given(bound, bound, st.lists(st.floats(allow_nan=False), min_size=1), st.booleans())
def test_numbers_never_leave_the_unit_interval_and_come_back(
    low: float, high: float, values: list[float], centred: bool
) -> None:
    if not low < high:
        with pytest.raises(ParameterError, match="target_bounds"):
            NumberLabels(low=low, high=high, centred=centred)
        return
    target = NumberLabels(low=low, high=high, centred=centred)
    coded = target.encode(values)
    assert np.abs(coded).max() <= 1.0
    back = coded * target.scale + target.centre
    room = 1e-9 * max(abs(low), abs(high), 1e-300)
    np.testing.assert_allclose(back, np.clip(values, low, high), atol=room)


@pytest.mark.parametrize("bounds", [(0.0, math.inf), (-math.inf, 0.0), (math.nan, 1.0), (-1.7e308, 1.7e308)])
def test_bounds_are_finite(bounds: tuple[float, float]) -> None:
    with pytest.raises(ParameterError, match="target_bounds"):
        NumberLabels(low=bounds[0], high=bounds[1], centred=True)


def test_a_target_of_more_classes_than_a_classifier_can_hold_is_refused_before_anything_is_paid() -> None:
    names = [f"code {number}" for number in range(1_001)]
    schema = Schema([Categorical("code", names), Numeric("age", low=0, high=99)], adjacency="replace")
    table = open_table({"code": names[:20], "age": list(range(20))}, schema, n_public=20)
    account = Account(ApproxDP(1.0, 1e-6))
    with pytest.raises(ParameterError, match="at most 1,000 classes, got more"):
        PrivateLogisticRegression().fit(table, target="code", account=account)
    assert account.spent().delta(0.0) == 0
    assert ClassLabels(classes=np.arange(1_000)).names[-1] == 999
