from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.privacy.rounding import as_written, round_down, round_up, safe_side


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


def test_safe_side_refuses_an_unsafe_end() -> None:
    with pytest.raises(ArithmeticError):
        safe_side(lambda x: 1.0, unsafe=0.0, safe=1.0)
