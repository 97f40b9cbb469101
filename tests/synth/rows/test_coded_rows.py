"""Cells and values: what is decoded falls into the cell it came from, and comes back as the schema says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.data import Categorical, Numeric, Schema
from holdfast.data._batch import encode_batch
from holdfast.noise._source import Source
from holdfast.synth import Synthesizer
from holdfast.synth._rows.coded_rows import (
    CodedRows,
    decode_rows,
    empty_cells,
    null_cell,
)
from holdfast.synth._rows.frames import as_frame, frame_kind
from holdfast.synth._rows.impossible_rows import Zeros

COLUMNS: list[Any] = [
    Numeric("whole", 0, 9, integer=True),
    Numeric("wide", 0, 1000, bins=7, integer=True, null="category"),
    Numeric("edges", -1, 1, bins=[-1, -0.25, 0.1, 1]),
    Numeric("real", 0.0, 1e-3, bins=5, null="category"),
    Numeric("binned", 17, 90, bins=[17, 17.5, 30, 90], integer=True, null="low"),
    Categorical("text", ["x", "y"], other="(other)", null="(missing)"),
    Categorical("numbers", [1, 2, 10], null="(missing)"),
    Categorical("truth", [True, False]),
    Categorical("shared", ["x", "y"], other="(none)", null="(none)"),
    Categorical("named", ["x", "unknown"], null="unknown"),
    Categorical("first", ["1", "02"]),
]
SCHEMA = Schema(COLUMNS)


def reread(table: Any, schema: Schema) -> np.ndarray:
    columns = {name: table[name].combine_chunks() for name in table.column_names}
    batch = encode_batch(schema, columns, table.num_rows)
    return np.stack([batch.codes(name) for name in schema.names], axis=1)


@given(seed=st.integers(0, 2**32))
@settings(max_examples=40, deadline=None)
def test_what_is_decoded_is_read_back_into_its_cell(seed: int) -> None:
    random = np.random.default_rng(seed)
    codes = np.stack([random.integers(0, column.cells, 60) for column in COLUMNS], axis=1)
    table = decode_rows(CodedRows(domain=SCHEMA.domain, codes=codes), SCHEMA, Source(seed=seed))
    assert np.array_equal(reread(table, SCHEMA), codes)


def test_types_come_from_the_schema() -> None:
    codes = np.zeros((1, len(COLUMNS)), dtype=np.int64)
    table = decode_rows(CodedRows(domain=SCHEMA.domain, codes=codes), SCHEMA, Source(seed=0))
    kinds = {name: str(table.schema.field(name).type) for name in table.column_names}
    assert kinds["whole"] == kinds["wide"] == kinds["binned"] == kinds["numbers"] == "int64"
    assert kinds["edges"] == kinds["real"] == "double"
    assert kinds["truth"] == "bool"
    assert kinds["text"] == kinds["first"] == "string"


def test_only_a_cell_of_its_own_is_null() -> None:
    nulls = {column.name: null_cell(column) for column in COLUMNS}
    assert [name for name, cell in nulls.items() if cell is not None] == ["wide", "real", "text", "numbers"]


def test_numbers_are_uniform_within_their_bin() -> None:
    schema = Schema([Numeric("x", 0, 12, bins=[0, 3, 12], integer=True)])
    rows = CodedRows(domain=schema.domain, codes=np.repeat([[0], [1]], 6000, axis=0))
    values = decode_rows(rows, schema, Source(seed=1))["x"].to_numpy()
    low, high = np.bincount(values[:6000], minlength=13), np.bincount(values[6000:], minlength=13)
    assert (low[:3] > 1800).all()
    assert (high[3:] > 500).all()
    assert low[3:].sum() == high[:3].sum() == 0


def test_bins_without_a_whole_number_are_impossible() -> None:
    schema = Schema([Numeric("x", 0, 2, bins=[0, 0.2, 0.8, 2], integer=True)])
    assert empty_cells(schema, ("x",)) == (Zeros(("x",), [(1,)]),)


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "dict"])
def test_frames_keep_nulls_as_nulls_and_have_none_elsewhere(kind: str) -> None:
    schema = Schema([Numeric("n", 0, 2, integer=True, null="category"), Categorical("c", ["x", "y"])])
    codes = np.array([[0, 0], [3, 1], [2, 0]])
    frame = as_frame(
        decode_rows(CodedRows(domain=schema.domain, codes=codes), schema, Source(seed=0)), kind, schema
    )
    assert frame_kind(frame) == kind
    back = (
        frame
        if kind == "arrow"
        else pyarrow.table(frame)
        if kind == "dict"
        else pyarrow.table(
            {name: pyarrow.array(frame[name].to_list(), from_pandas=True) for name in ("n", "c")}
        )
    )
    assert back["c"].null_count == 0
    assert np.array_equal(reread(back, schema), codes)


DAYS = Schema(
    [
        Categorical("day", ["2026-02-28", "0987-01-01", "2024-02-29"], null="(missing)"),
        Categorical("no day", ["2026-02-28", "2026-02-30"]),
        Categorical("month", ["2026-02", "2026-03"]),
    ]
)


@pytest.mark.filterwarnings("ignore::holdfast.errors.NotPrivateWarning")
@pytest.mark.filterwarnings("ignore::holdfast.errors.UselessReleaseWarning")  # three rows
@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "dict"])
def test_days_come_back_as_days(kind: str, tmp_path: Path) -> None:
    codes = np.array([[0, 0, 0], [1, 1, 1], [2, 0, 1], [3, 1, 0]])
    table = decode_rows(CodedRows(domain=DAYS.domain, codes=codes), DAYS, Source(seed=0))
    assert [str(table.schema.field(name).type) for name in DAYS.names] == ["date32[day]", "string", "string"]
    assert np.array_equal(reread(table, DAYS), codes)
    made = Synthesizer(method="independent", delta=1e-6, random_state=1).fit(
        as_frame(table, kind, DAYS), DAYS
    )
    made.save(tmp_path / "days.holdfast")
    again = Synthesizer.load(tmp_path / "days.holdfast").sample()
    assert str(again.schema.field("day").type) == "date32[day]"
    assert np.array_equal(reread(again, DAYS), made._rows.codes)
    assert frame_kind(made.sample()) == kind
