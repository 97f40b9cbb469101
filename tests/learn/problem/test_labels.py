"""Labels become what losses take, within declared bounds and lists."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.data import Categorical, Numeric
from holdfast.errors import DataError, ParameterError
from holdfast.learn.problem.problem import ClassLabels, NumberLabels


@given(st.permutations(["a", "b", "c", "d"]), st.integers(2, 4), st.lists(st.integers(0, 3), max_size=20))
def test_a_class_is_its_place_in_the_list_whatever_the_order(
    names: list[str], k: int, places: list[int]
) -> None:
    target = ClassLabels(classes=np.array(names[:k]))
    places = [place % k for place in places]
    found = target.encode(np.array([names[place] for place in places], dtype="<U1"))
    assert found.tolist() == [2.0 * place - 1.0 if k == 2 else float(place) for place in places]


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
    assert ClassLabels.of_column(Categorical("x", ["b", "a"], other="?")).names == ("b", "a", "?")
    assert ClassLabels.of_column(Numeric("x", 0, 1, integer=True)).names == (0.0, 1.0)
    assert ClassLabels.of_column(Categorical("x", ["b", "a"]), ["b", "a"]).binary
    with pytest.raises(ParameterError, match="contradict"):
        ClassLabels.of_column(Categorical("x", ["b", "a"]), ["a", "b"])
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
