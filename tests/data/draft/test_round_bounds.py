"""Drafted bounds and edges: round, around what was seen, and with short labels."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.data import DateTime, Numeric
from holdfast.data._draft import draft_of
from holdfast.data._draft.round_bounds import MOST_EDGES, round_bounds, round_edges, round_moments
from holdfast.data._schema.bins import edge_words
from holdfast.data._schema.calendar import number_of

NUMBERS = st.floats(-1e12, 1e12, allow_subnormal=False)


@given(NUMBERS, st.floats(1e-6, 1e12), st.sampled_from([None, 0, 1, 2]))
def test_no_value_is_cut_off_and_cells_are_few(low: float, wide: float, decimals: int | None) -> None:
    high = low + wide
    if not low < high:
        return
    begin, end, bins = round_bounds(low, high, integer=False, decimals=decimals)
    assert begin <= low < high <= end
    assert (end - begin) <= 2 * (high - low) or decimals is not None
    assert 1 <= (10 if bins is None else bins) <= 17


@given(st.integers(-(2**40), 2**40), st.integers(1, 2**40))
def test_whole_numbers_stay_whole_and_keep_their_cells(low: int, wide: int) -> None:
    begin, end, bins = round_bounds(low, low + wide, integer=True)
    column = Numeric("x", begin, end, bins=bins, integer=True)
    assert begin <= low < low + wide <= end
    assert (column.cells > 17) == (wide >= 17 and wide < 100) or wide < 100
    assert wide >= 100 or column.cells == end - begin + 1


@given(st.floats(1e-6, 1e6), st.floats(1.5, 1e9), st.booleans(), st.floats(0, 1))
def test_edges_of_amounts_are_around_them(low: float, ratio: float, debts: bool, share: float) -> None:
    high = low * ratio
    least, smallest = (-share * high if debts else 0.0, low) if debts or share > 0.5 else (low, None)
    edges = round_edges(least, high, smallest)
    assert edges[0] <= least < high <= edges[-1]
    assert all(a < b for a, b in pairwise(edges))
    assert len(edges) <= max(MOST_EDGES, 2 * math.log10(ratio) + 6)
    assert all(edge == 0 or f"{abs(edge):.0e}"[0] in "1235" for edge in edges)


@pytest.mark.parametrize(
    ("low", "high", "unit", "begin", "end"),
    [
        ("2023-02-03", "2024-12-30", "day", "2023-02-01", "2024-12-31"),
        ("2001-03-04", "2024-02-02", "day", "2001-01-01", "2024-12-31"),
        ("2024-01-05 01:45", "2024-02-11 21:15", "minute", "2024-01-05 00:00", "2024-02-11 23:59"),
        (
            "2024-05-01 10:07:03",
            "2024-05-01 20:00:00",
            "second",
            "2024-05-01 10:00:00",
            "2024-05-01 20:59:59",
        ),
        ("2024-05-03", "2024-05-20", "day", "2024-05-03", "2024-05-20"),
    ],
)
def test_moments_are_rounded_to_the_calendar(low: str, high: str, unit: str, begin: str, end: str) -> None:
    found = round_moments(number_of(low, unit), number_of(high, unit), unit)
    assert found == (number_of(begin, unit), number_of(end, unit))


def test_labels_are_short_and_differ() -> None:
    assert Numeric("x", 380.75, 59283.809999999998, bins=10).labels[1] == "[6271.056, 12161.362)"
    assert Numeric("x", 0, 1e6, bins=3).labels == ("[0, 333333)", "[333333, 666667)", "[666667, 1000000]")
    near = [1 / 3, 1 / 3 + 1e-9, 1 / 3 + 2e-9]
    assert len(set(edge_words(near))) == 3


@given(st.lists(st.floats(-1e15, 1e15), min_size=2, max_size=8, unique=True))
def test_words_of_edges_rise_as_they_do(edges: list[float]) -> None:
    words = [float(word) for word in edge_words(sorted(edges))]
    assert all(a < b for a, b in pairwise(words))
    size = max(map(abs, edges))
    assert all(abs(word - edge) <= 1e-5 * size for word, edge in zip(words, sorted(edges), strict=True))


def test_a_draft_of_measurements_has_labels_that_people_read() -> None:
    found = draft_of(
        {"weight": [380.75, 59283.81, 4000.5], "seen": ["2024-01-03", "2025-02-14", "2024-07-07"]}
    )
    weight, seen = found.schema["weight"], found.schema["seen"]
    assert isinstance(weight, Numeric)
    assert isinstance(seen, DateTime)
    assert weight.labels[:2] == ("[0, 5000)", "[5000, 10000)")
    assert seen.to_dict()["low"] == "2024-01-01"
    assert seen.to_dict()["high"] == "2025-02-28"
    assert weight.taken_from_data
    assert seen.taken_from_data
