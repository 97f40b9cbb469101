"""Schemas: files that read back as they were written, and what is refused."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.data import Categorical, Identifier, Numeric, Schema
from holdfast.data._schema.kinds import Column
from holdfast.data._schema.schema import to_toml
from holdfast.errors import FormatError, ParameterError
from holdfast.privacy._adjacency import Adjacency, PrivacyUnit

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=12)


@st.composite
def numeric(draw: st.DrawFn, name: str) -> Numeric:
    low = draw(st.floats(-1e9, 1e9))
    high = low + draw(st.floats(1e-3, 1e9))
    middle = low + (high - low) / 2
    bins = draw(st.sampled_from([None, 1, 7, [low, middle, high]]))
    null: str | float = draw(st.sampled_from(["low", "high", "midpoint", "category"]) | st.just(middle))
    return Numeric(name, low, high, bins=bins, null=null, taken_from_data=draw(st.booleans()))


@st.composite
def categorical(draw: st.DrawFn, name: str) -> Categorical:
    categories = draw(st.lists(texts | st.just(""), min_size=1, max_size=5, unique=True))
    other, null = draw(st.none() | texts), draw(st.none() | texts)
    return Categorical(name, categories, other=other, null=null, taken_from_data=draw(st.booleans()))


@st.composite
def schemas(draw: st.DrawFn) -> Schema:
    names = draw(st.lists(texts, min_size=1, max_size=5, unique=True))
    columns: list[Column] = [Identifier(names[0])]
    columns += [draw(numeric(name) | categorical(name)) for name in names[1:]]
    unit = (
        PrivacyUnit.user(names[0], max_rows=draw(st.integers(1, 9))) if draw(st.booleans()) else PrivacyUnit()
    )
    return Schema(
        columns,
        unit=unit,
        adjacency=draw(st.sampled_from([None, *Adjacency])),
        n_public=draw(st.none() | st.integers(1, 10**12)),
        description=draw(st.just("") | texts),
    )


@given(schemas(), st.sampled_from([".toml", ".json"]))
def test_files_read_back_as_written(
    tmp_path_factory: pytest.TempPathFactory, schema: Schema, ending: str
) -> None:
    path = tmp_path_factory.mktemp("schema") / f"schema{ending}"
    schema.save(path)
    again = Schema.load(path)
    assert again == schema
    assert again.hash() == schema.hash()
    assert again.assumptions == schema.assumptions


@given(schemas())
def test_toml_says_the_same_as_json(schema: Schema) -> None:
    assert tomllib.loads(to_toml(schema)) == json.loads(json.dumps(schema.to_dict()))


@given(schemas(), schemas())
def test_equal_hashes_mean_equal_schemas(one: Schema, two: Schema) -> None:
    assert (one.hash() == two.hash()) == (one == two)


def test_hash_is_stable() -> None:
    schema = Schema([Numeric("age", 17, 90), Categorical("sex", ["F", "M"])], adjacency="replace")
    assert schema.hash() == "d67ccd9dea4a6eeecff074a728cf0fd2387cafb0161b3e3d3c4160bffb8848f2"


def a_schema(**fields: Any) -> dict[str, Any]:
    column = {"name": "x", "kind": "numeric", "low": 0, "high": 1}
    return {"format": "holdfast-schema/1", "columns": [column]} | fields


@pytest.mark.parametrize(
    "record",
    [
        a_schema(format="holdfast-schema/2"),
        a_schema(format="something"),
        a_schema(format=1),
        a_schema(colums=[]),
        a_schema(columns={}),
        a_schema(columns=[3]),
        a_schema(columns=[{"kind": "complex", "name": "x"}]),
        a_schema(columns=[{"kind": "numeric", "name": "x", "low": 0}]),
        a_schema(columns=[{"kind": "numeric", "name": "x", "low": 0, "high": 1, "nulls": "low"}]),
        a_schema(columns=[{"kind": "numeric", "name": "x", "low": 1, "high": 0}]),
        a_schema(columns=[{"kind": "numeric", "name": "x", "low": [], "high": 0}]),
        a_schema(columns=[{"kind": "categorical", "name": "x", "categories": [["a"]]}]),
        a_schema(columns=[{"kind": [], "name": "x"}]),
        a_schema(columns=[{"kind": "numeric", "name": "x", "low": 0, "high": 1, "bins": {"a": 1}}]),
        a_schema(unit={"column": "nobody", "max_rows": 2}),
        a_schema(unit={"colum": "x"}),
        a_schema(unit=[]),
        a_schema(adjacency="sideways"),
        a_schema(adjacency=["replace"]),
        a_schema(n_public=0),
        a_schema(n_public=1.5),
        a_schema(description=3),
        {},
    ],
)
def test_bad_files_are_refused(tmp_path: Path, record: dict[str, Any]) -> None:
    path = tmp_path / "bad.json"
    path.write_text(json.dumps(record))
    with pytest.raises(FormatError):
        Schema.load(path)


@pytest.mark.parametrize(
    "content", [b"", b"\xff\xfe", b"format = ", b"[" * 5000, b"a" * (17 * 2**20), b"x = 1\x00"]
)
def test_files_that_are_no_toml(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bad.toml"
    path.write_bytes(content)
    with pytest.raises(FormatError):
        Schema.load(path)
    with pytest.raises(FormatError, match="cannot read"):
        Schema.load(tmp_path / "absent.toml")


def test_declarations_are_refused() -> None:
    x = Numeric("x", 0, 1)
    with pytest.raises(ParameterError, match="different names"):
        Schema([x, Categorical("x", ["a"])])
    with pytest.raises(ParameterError, match="declares as an identifier"):
        Schema([x], unit=PrivacyUnit.user("who", max_rows=2))
    with pytest.raises(ParameterError, match=re.escape("add Identifier('x')")):
        Schema([x], unit=PrivacyUnit.user("x", max_rows=2))
    with pytest.raises(ParameterError, match="n_public"):
        Schema([x], n_public=True)
    with pytest.raises(ParameterError, match="columns"):
        Schema(["x"])  # type: ignore[list-item]


def test_select_keeps_what_is_public() -> None:
    schema = Schema(
        [Identifier("who"), Numeric("x", 0, 1, bins=3), Categorical("k", ["a", "b"])],
        unit=PrivacyUnit.user("who", max_rows=2),
        adjacency="zero_out",
        n_public=12,
    )
    chosen = schema.select("k")
    assert (chosen.names, chosen.identifiers) == (("k",), ("who",))
    assert (chosen.unit, chosen.adjacency, chosen.n_public) == (schema.unit, schema.adjacency, 12)
    assert schema.cells() == 1
    assert schema.shape("k", "x") == (2, 3)
    for bad in (("k", "k"), ("who",), ("absent",)):
        with pytest.raises(ParameterError):
            schema.select(*bad)


def test_a_draft_carries_its_guesses() -> None:
    schema = Schema([Numeric("age", 0, 1, taken_from_data=True), Categorical("k", ["a"])])
    said = "bounds of age were taken from the data: the promise does not cover what they show"
    assert [(one.text, one.voids) for one in schema.assumptions] == [(said, True)]
    assert f"assumption: {said}" in schema.summary()
    assert to_toml(schema).count("# taken from the data: replace it") == 2  # low and high
