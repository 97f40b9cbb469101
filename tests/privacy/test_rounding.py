from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast._arrays import Floats
from holdfast.privacy._grid import nearest_steps
from holdfast.privacy._rounding import as_written, round_down, round_up
from holdfast.privacy._safe_side import safe_side, safe_side_of_many


@given(st.fractions(min_value=-1000, max_value=1000))
def test_rounding_brackets_the_value(value: Fraction) -> None:
    assert round_down(value) <= value <= round_up(value)


@given(st.integers(1, 60), st.integers(1, 4))
def test_decimals_add_up_as_written(times: int, places: int) -> None:
    step = float(f"1e-{places}")
    assert sum(as_written(step) for _ in range(times)) == Fraction(times, 10**places)


@given(st.floats(1e-6, 1e6), st.floats(1.001, 1e6))
def test_safe_side_is_safe_and_tight(edge: float, room: float) -> None:
    found = safe_side(lambda x: edge - x, unsafe=edge / room, safe=edge * room)
    assert found >= edge
    assert found <= edge * (1 + 1e-9)


@given(edge=st.floats(1e-6, 1e6), low=st.sampled_from((0.0, 1e-9, 1e-3)))
def test_arrays_are_halved_as_numbers_are(edge: float, low: float) -> None:
    calls: list[int] = []

    def excesses(points: Floats) -> Floats:
        calls.append(len(points))
        return edge - points

    one_by_one = safe_side(lambda x: edge - x, unsafe=low * edge, safe=1e9)
    assert safe_side_of_many(excesses, unsafe=low * edge, safe=1e9) == one_by_one
    assert len(calls) <= 25


def test_safe_side_refuses_an_unsafe_end() -> None:
    with pytest.raises(ArithmeticError):
        safe_side(lambda x: 1.0, unsafe=0.0, safe=1.0)


@given(
    st.one_of(
        st.floats(allow_nan=False, allow_infinity=False),
        st.integers(-(2**63), 2**63 - 1),
        st.integers(-(2**200), 2**200),
        st.integers(-(10**6), 10**6).map(lambda k: k / 20),
    ),
    st.one_of(st.sampled_from([0.1, 0.05, 1.0, 3.0, 2.0**-30]), st.floats(1e-9, 1e9)),
)
def test_steps_are_the_nearest_whatever_the_size(value: float | int, step: float) -> None:
    exact = round(Fraction(value) / as_written(step))
    small = isinstance(value, float) or -(2**63) <= value < 2**63
    given = np.array([value, value], dtype=None if small else object)
    found = nearest_steps(given, as_written(step)).tolist()
    assert found == [exact] * 2


def test_a_float_is_its_decimal_and_a_fraction_is_itself() -> None:
    """They are equal and have one hash: what is remembered of one is no answer for the other."""
    assert as_written(0.1) == Fraction(1, 10)
    assert as_written(Fraction(0.1)) == Fraction(0.1) != Fraction(1, 10)
