"""Declared columns: what is refused, and the finite cells of what is not."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.data import Categorical, Identifier, Numeric
from holdfast.data._arrow_columns import arrow_column
from holdfast.data._cells import categorical_cells, numeric_cells, numeric_values
from holdfast.errors import ParameterError

finite = st.floats(-1e6, 1e6)


@pytest.mark.parametrize(
    "arguments",
    [
        {"low": 1, "high": 1},
        {"low": 2, "high": 1},
        {"low": math.nan, "high": 1},
        {"low": 0, "high": math.inf},
        {"low": -1e308, "high": 1e308},
        {"low": "0", "high": 1},
        {"low": True, "high": 2},
        {"low": 0, "high": 1, "bins": 0},
        {"low": 0, "high": 1, "bins": True},
        {"low": 0, "high": 1, "bins": 10**9},
        {"low": 0, "high": 1, "bins": [0.0]},
        {"low": 0, "high": 1, "bins": [0, 0.5, 0.5, 1]},
        {"low": 0, "high": 1, "bins": [0, 2]},
        {"low": 0, "high": 1, "bins": [0.1, 1]},
        {"low": 0, "high": 1, "bins": "01"},
        {"low": 1.0, "high": math.nextafter(1.0, 2.0), "bins": 3},
        {"low": 0.5, "high": 2, "integer": True},
        {"low": 0, "high": 2.0**60, "integer": True},
        {"low": 0, "high": 1, "null": "mean"},
        {"low": 0, "high": 1, "null": 2},
        {"low": 0, "high": 1, "null": math.nan},
        {"low": 0, "high": 4, "null": 1.5, "integer": True},
        {"low": 0, "high": 1, "integer": 1},
        *(
            {"low": 0, "high": 1, "written_as": sample}
            for sample in (
                "",
                "1",
                "$1,234,5",
                "1.234.5",
                "12.345",
                "(1234.5)",
                "-1234.5",
                "1|234.5",
                "1234.5 a]",
                "x1 234.5y2",
                5,
                ".1,234.5",
                "1;234,5",
            )
        ),
    ],
)
def test_numeric_refuses(arguments: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        Numeric("x", **arguments)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Categorical("k", []),
        lambda: Categorical("k", ["a", "a"]),
        lambda: Categorical("k", ["1", 1]),
        lambda: Categorical("k", "ab"),
        lambda: Categorical("k", [1.5]),  # type: ignore[list-item]
        lambda: Categorical("k", ["a\0b"]),
        lambda: Categorical("k", ["\ud800"]),
        lambda: Categorical("k", ["a"], other=3),  # type: ignore[arg-type]
        lambda: Categorical("", ["a"]),
        lambda: Numeric("a\0", 0, 1),
        lambda: Identifier(""),
        lambda: Identifier(7),  # type: ignore[arg-type]
    ],
)
def test_names_and_categories_refuse(make: Any) -> None:
    with pytest.raises(ParameterError):
        make()


def test_cells_and_labels() -> None:
    assert Numeric("x", 0, 1).cells == 10
    assert Numeric("x", 0, 99, integer=True).cells == 100
    assert Numeric("x", 0, 100, integer=True).cells == 10
    assert Numeric("x", 0, 1, bins=3, null="category").cells == 4
    assert Numeric("x", 0, 1, bins=np.int64(3)).cells == 3  # type: ignore[arg-type]
    assert Numeric("x", 0, 2, integer=True).midpoints == (0, 1, 2)
    assert Numeric("x", 0, 4, bins=2).midpoints == (1, 3)
    assert Categorical("k", [True, False]).labels == ("true", "false")
    assert Categorical("k", ["a", "b"], other="b", null="a").cells == 2
    assert Categorical("k", ["a", "b"], other="c", null="c").labels == ("a", "b", "c")


@pytest.mark.parametrize(
    ("null", "fill"), [("low", -2.0), ("high", 7.0), ("midpoint", 3.0), ("category", 3.0), (1, 1.0)]
)
def test_missing_numbers(null: str | float, fill: float) -> None:
    column = Numeric("x", -2, 7, integer=True, null=null)  # the middle, 2.5, is rounded up
    values, missing = numeric_values(column, pa.array([None, float("nan"), 4.4]))
    assert values.tolist() == [fill, fill, 4.0]
    assert missing.tolist() == [True, True, False]


def test_missing_and_other_categories() -> None:
    values = pa.array(["a", "z", None])
    assert categorical_cells(Categorical("k", ["a", "b"]), values).tolist() == [0, 1, 1]
    assert categorical_cells(Categorical("k", ["a", "b"], other="a"), values).tolist() == [0, 0, 0]
    assert categorical_cells(Categorical("k", ["a", "b"], other="o"), values).tolist() == [0, 2, 2]
    assert categorical_cells(Categorical("k", ["a", "b"], null="n"), values).tolist() == [0, 1, 2]
    assert categorical_cells(Categorical("k", ["a", "b"], other="o", null="n"), values).tolist() == [0, 2, 3]


@given(finite, st.floats(1e-3, 1e6), st.integers(1, 50), st.lists(st.floats(width=64), max_size=30))
def test_every_number_has_the_cell_its_edges_say(
    low: float, width: float, bins: int, raw: list[float]
) -> None:
    column = Numeric("x", low, low + width, bins=bins, null="category")
    values, missing = numeric_values(column, pa.array(raw, pa.float64()))
    assert np.all((values >= column.low) & (values <= column.high))
    cells = numeric_cells(column, values, missing)
    for cell, value, absent in zip(cells, values, missing, strict=True):
        if absent:
            assert cell == column.cells - 1
        else:
            assert column.edges[cell] <= value
            assert value < column.edges[cell + 1] or cell == bins - 1


@given(
    number=st.decimals(-(10**9), 10**9, places=2),
    thousands=st.sampled_from(["", ",", ".", "'", "\u2019", " ", "\u00a0", "\u202f", "_"]),
    decimal=st.sampled_from([".", ","]),
    around=st.sampled_from(
        [("", ""), ("$", ""), ("", "EUR"), ("CHF", ""), ("Rs.", ""), ("", "%"), ("Fr.", "p.a.")]
    ),
    blank=st.sampled_from(["", " ", "\u00a0"]),
    sign_first=st.booleans(),
)
def test_amounts_are_read_as_they_are_written(
    number: Any, thousands: str, decimal: str, around: tuple[str, str], blank: str, sign_first: bool
) -> None:
    """Whoever writes amounts in the declared form, with or without the signs around and between, reads them back."""
    before, after = around
    if thousands == decimal:
        return
    column = Numeric("x", -1e9, 1e9, written_as=f"{before}1{thousands}234{decimal}50 {after}")
    digits = f"{abs(number):,.2f}".translate({ord(","): thousands, ord("."): decimal})
    sign = "-" if number < 0 else ""
    text = f"{sign}{before}{blank}{digits}" if sign_first else f"{before}{blank}{sign}{digits}"
    plain = f"{sign}{abs(number):.2f}".replace(".", decimal)
    for written in (f"{text}{blank}{after}", f"{sign}{digits}", plain):
        values, missing = numeric_values(column, pa.array([written, "x", "1 2", None]))
        assert values[0] == float(number)
        assert missing.tolist() == [False, True, True, True]


def test_an_amount_is_never_read_by_another_form() -> None:
    """A point of thousands that holds fewer than three digits back is no point at all."""
    column = Numeric("x", 0, 1e6, written_as="1.234,5", null=0.0)
    for text in ("1.5", "12.34", "1.2345", "1,234,567", "1.234.56", "1e3", "0x1", "\u0661"):
        assert numeric_values(column, pa.array([text]))[1].tolist() == [True], text
    mixed = arrow_column(["1.500", 1.5, True, 7, "x", "2024-01-01"])
    assert numeric_values(column, mixed)[0].tolist() == [1500.0, 1.5, 1.0, 7.0, 0.0, 0.0]
