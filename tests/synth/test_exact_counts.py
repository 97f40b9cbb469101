"""Counted: exact counts, kept between rounds, and a number of rows that is only public where it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import holdfast.synth._exact_counts as room
from holdfast.data import Categorical, Identifier, Schema, open_table
from holdfast.errors import ParameterError
from holdfast.privacy._adjacency import PrivacyUnit
from holdfast.synth._exact_counts import ExactCounts

COLUMNS: list[Any] = [Categorical(name, ["0", "1"]) for name in "abc"]
FRAME: dict[str, Any] = {"a": ["0", "1", "1"], "b": ["1", "1", "0"], "c": ["0", "0", "0"]}


def test_counts_are_the_tables_whatever_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "MOST_CACHED_CELLS", 5)
    monkeypatch.setattr(room, "MOST_SETS_PER_PASS", 2)
    data = ExactCounts(open_table(FRAME, Schema(COLUMNS)))
    asked = [("a",), ("b",), ("a", "b"), ("c", "a"), ("a",)]
    for _ in range(2):
        for columns, found in zip(asked, data.counts(asked), strict=True):
            (exact,) = data.table.counts([columns])
            assert np.array_equal(found, exact)
    assert data("b").tolist() == [1.0, 2.0]
    assert data.shape(("a", "b")) == (2, 2)


def test_columns_are_chosen_and_checked() -> None:
    table = open_table(FRAME, Schema(COLUMNS))
    assert ExactCounts(table, ["c", "a"]).domain == {"c": 2, "a": 2}
    with pytest.raises(ParameterError, match="columns"):
        ExactCounts(table, ["z"])
    with pytest.raises(ParameterError, match="at least one column"):
        ExactCounts(table, [])


def test_the_number_of_rows_is_public_only_where_it_is() -> None:
    assert ExactCounts(open_table(FRAME, Schema(COLUMNS))).public_rows == 3
    private = ExactCounts(open_table(FRAME, Schema(COLUMNS, adjacency="add_remove")))
    assert private.public_rows is None
    assert list(private.assumptions) == []
    with pytest.raises(ParameterError, match="n_public must be declared"):
        _ = private.public_count
    assert list(private.assumptions) == []
    declared = ExactCounts(open_table(FRAME, Schema(COLUMNS, adjacency="add_remove", n_public=5)))
    assert declared.public_rows == 5
    users = Schema([*COLUMNS, Identifier("who")], unit=PrivacyUnit.user("who", max_rows=2))
    assert ExactCounts(open_table(FRAME | {"who": ["x", "x", "y"]}, users)).public_rows is None
