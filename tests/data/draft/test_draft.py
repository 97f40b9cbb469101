"""Drafts: every guess is marked, and the marks travel."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from holdfast.data import Categorical, DateTime, Identifier, Numeric, Schema, draft_schema, open_table
from holdfast.errors import AssumptionWarning, NotPrivateWarning

DATA: dict[str, Any] = {
    "age": [20, 64, 33],
    "height": [1.5, None, 1.9],
    "sex": ["F", "M", None],
    "smokes": [True, False, True],
    "born": [datetime.date(2000, 1, 1)] * 3,
    "same": [7, 7, 7],
    "nothing": [None, None, None],
}


def drafted(source: Any) -> Schema:
    with pytest.warns(NotPrivateWarning, match="taken from the data"):
        return draft_schema(source)


def test_guesses() -> None:
    schema = drafted(DATA)
    assert schema["age"] == Numeric("age", 20, 65, integer=True, taken_from_data=True)
    height = Numeric("height", 1.5, 1.9, bins=4, null="category", taken_from_data=True, decimals=1)
    assert schema["height"] == height
    expected = Categorical("sex", ["F", "M"], other="(other)", null="(missing)", taken_from_data=True)
    assert schema["sex"] == expected
    assert schema["smokes"] == Categorical("smokes", ["false", "true"], fold=True)
    assert schema["born"] == DateTime("born", "2000-01-01", "2000-01-02", taken_from_data=True)
    assert schema["same"] == Numeric("same", 7, 14, integer=True, taken_from_data=True)
    assert "nothing" not in schema.names  # a column without a value says nothing
    assert schema.adjacency is None


def test_many_texts_are_identifiers() -> None:
    schema = drafted({"who": [f"p{i}" for i in range(500)]})
    assert schema.columns == (Identifier("who"),)


def test_every_source_gives_the_same_draft(tmp_path: Path) -> None:
    expected = drafted(DATA)
    assert drafted(pd.DataFrame(DATA)).names == expected.names
    assert drafted(pa.table(DATA)) == expected
    parquet.write_table(pa.table(DATA), tmp_path / "d.parquet")
    assert drafted(tmp_path / "d.parquet").names == expected.names
    (tmp_path / "d.csv").write_text("age,sex\n20,F\n64,M\n")
    from_text = drafted(tmp_path / "d.csv")
    assert from_text["age"] == expected["age"]


def test_what_is_made_with_a_draft_carries_its_guesses(tmp_path: Path) -> None:
    path = tmp_path / "draft.toml"
    drafted(DATA).save(path)
    text = path.read_text()
    assert text.count("# taken from the data: replace it") == 4 * 2 + 1
    assert text.count("taken_from_data = true") == 5 + 1  # the columns, and that a row is a person
    again = Schema.load(path)
    assert all(one.voids for one in again.assumptions)
    assert tuple(one.text for one in again.assumptions) == (
        "bounds of age, height, born, same were taken from the data: the promise does not cover what they show",
        "categories of sex were taken from the data: the promise does not cover what they show",
        "that each row is about another person was guessed from the data, in which no column seemed to name a person: "
        "one with several rows is not protected as a whole",
    )
    with pytest.warns(AssumptionWarning, match="draft"):
        table = open_table(DATA, again)
    assert table.assumptions == again.assumptions
    path.write_text("\n".join(line for line in text.splitlines() if not line.startswith("taken_from_data")))
    assert Schema.load(path).assumptions == ()


def test_extreme_values_still_give_a_schema() -> None:
    hostile = {
        "big": [1.7e308, -1.7e308],
        "huge": [2**62, -(2**62)],
        "inf": [float("inf"), float("nan")],
        "clash": ["(other)", "(missing)"],
        "nul": ["a\0b", "c"],
        "nested": [[1], [2]],
    }
    schema = drafted(hostile)
    with pytest.warns(AssumptionWarning):
        table = open_table(hostile, schema)
    assert all(count.sum() == 2 for count in table.counts([[name] for name in schema.names]))
