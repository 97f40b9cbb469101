from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from holdfast.data import Categorical, CsvFormat, DateTime, Hierarchy, Identifier, Numeric, Schema, open_table
from holdfast.errors import DataError, ParameterError
from holdfast.privacy._adjacency import PrivacyUnit
from holdfast.synth._evaluation.compared_rows import (
    as_synthetic,
    at_levels_of,
    plain_schema,
    read_compared,
    read_synthetic,
)
from holdfast.synth._evaluation.evaluator import evaluate_against_real
from tests.synth.evaluation.samples import SCHEMA, people

PLAIN = plain_schema(SCHEMA)


def test_every_source_gives_the_same_rows(tmp_path: Path) -> None:
    frame = people(300)
    table = pa.table(frame)
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
    pyarrow.csv.write_csv(table, tmp_path / "t.csv")
    sources: list[Any] = [table, pd.DataFrame(frame), tmp_path / "t.parquet", str(tmp_path / "t.csv")]
    sources.append(open_table(frame, SCHEMA))
    wanted = read_compared(frame, PLAIN, name="real")
    assert wanted.counts["age",].sum() == wanted.rows == 300
    for source in sources:
        found = read_compared(source, PLAIN, name="real")
        assert np.array_equal(found.codes, wanted.codes)
        assert np.allclose(found.values, wanted.values)
        assert all(np.array_equal(found.counts[key], wanted.counts[key]) for key in wanted.counts)


def test_a_sample_is_bounded_and_the_counts_are_of_all_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.data._engines.file_rows.BATCH_ROWS", 700)
    pyarrow.parquet.write_table(pa.table(people(5000)), tmp_path / "t.parquet")
    found = read_compared(tmp_path / "t.parquet", PLAIN, name="real", most_rows=200)
    assert (found.rows, len(found.codes), len(found.values)) == (5000, 200, 200)
    assert found.counts["sex", "ill"].sum() == 5000
    assert 0.3 < np.mean(found.code("sex")) < 0.7


def test_pairs_are_turned_round() -> None:
    found = read_compared(people(50), PLAIN, name="real")
    turned, straight = found.pair("ill", "sex"), found.pair("sex", "ill")
    assert turned is not None
    assert straight is not None
    assert np.array_equal(turned, straight.T)


def test_missing_values_have_their_cell_and_no_number() -> None:
    schema = plain_schema(
        Schema([Numeric("x", 0, 10, bins=2, null="category"), Categorical("c", ["a", "b"], null="?")])
    )
    found = read_compared({"x": [1.0, np.nan, 9.0], "c": ["a", None, "b"]}, schema, name="real")
    assert found.codes.tolist() == [[0, 0], [2, 2], [1, 1]]
    assert np.isnan(found.values[1, 0])
    assert found.undeclared == {}


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        ({"age": [1.0], "sex": ["F"], "region": ["north"]}, "'ill' is not there"),
        ({name: [] for name in SCHEMA.names}, "one row or more"),
        (people(20) | {"age": ["old"] * 20}, "no value of column 'age'"),
        (people(20) | {"ill": [7] * 20}, "no value of column 'ill'"),
        (3, "a file, a data frame"),
    ],
)
def test_bad_rows_are_refused(frame: Any, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        read_compared(frame, PLAIN, name="synthetic")


def test_an_error_holds_no_value() -> None:
    with pytest.raises(ParameterError) as told:
        read_compared(people(5) | {"ill": ["a secret"] * 5}, PLAIN, name="real")
    assert "secret" not in str(told.value)


def test_undeclared_values_are_counted() -> None:
    frame = people(10)
    frame["region"] = np.array(["mars", *frame["region"][1:]])
    assert read_compared(frame, PLAIN, name="real").undeclared == {"region": 1}


def test_strange_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("a", encoding="utf-8")
    with pytest.raises(DataError):
        read_compared(tmp_path / "t.txt", PLAIN, name="real")


def test_units_and_identifiers_are_left_out() -> None:
    schema = Schema([Identifier("who"), *SCHEMA.columns], unit=PrivacyUnit("who", 1), adjacency="add_remove")
    frame = people(30) | {"who": np.zeros(30, dtype=int)}
    assert read_compared(frame, plain_schema(schema), name="real").rows == 30
    with pytest.raises(ParameterError, match="of the schema"):
        plain_schema(SCHEMA, ["height"])


def test_columns_of_real_files_are_compared_as_they_are_declared(tmp_path: Path) -> None:
    """Dates in texts, spellings, and synthetic rows at a coarser level of a hierarchy than real ones."""
    schema = Schema(
        [
            DateTime("when", "2024-01-01", "2024-12-31", unit="day", format="%d.%m.%Y", bins=4),
            Hierarchy("place", ["10115", "10117", "20095"], coarser=[2], other="(other)"),
            Categorical("paid", ["no", "yes"], trim=True, fold=True),
        ]
    )
    real, made = tmp_path / "real.csv", tmp_path / "made.csv"
    real.write_text("when,place,paid\n" + "01.02.2024,10115,Yes\n30.11.2024,20095, NO\n" * 20)
    made.write_text("when,place,paid\n" + "2024-02-03,10*,yes\n2024-11-29,20*,no\n" * 20)
    at = at_levels_of(made, schema, name="synthetic")
    place = at["place"]
    assert isinstance(place, Hierarchy)
    assert (place.level, place.labels) == (1, ("10*", "20*", "(other)"))
    ours, theirs = (read_compared(one, at, name="rows") for one in (real, made))
    assert not ours.undeclared
    assert not theirs.undeclared
    for pair in ours.pairs:
        np.testing.assert_array_equal(ours.pair(*pair), theirs.pair(*pair))


def test_declared_marks_of_missing_values_are_no_undeclared_ones(tmp_path: Path) -> None:
    """In numbers, dates and amounts, as texts and as numbers; what is no number at all is still counted."""
    schema = Schema(
        [
            Numeric("age", 0, 100, nulls=["n/a", -9], null="category"),
            Numeric("fee", 0, 5000, written_as="$1,234.5", nulls=["free"], null="category"),
        ]
    )
    file = tmp_path / "real.csv"
    file.write_text("age,fee\n" + '5,"$1,200"\n n/a ,free\n-9,$7\nold,7 EUR\n' * 2)
    assert read_compared(file, schema, name="real").undeclared == {"age": 2, "fee": 2}
    frame = {"age": ["n/a", 5, -9], "fee": ["free", 3.5, "$2"]}
    found = read_compared(frame, schema, name="real")
    assert not found.undeclared
    assert np.isnan(found.values).sum() == 3
    with pytest.raises(ParameterError, match="no value of column 'age' is that"):
        read_compared({"age": ["old", "n/a"], "fee": [1, 2]}, schema, name="real")


def test_synthetic_files_are_read_as_holdfast_writes_them(tmp_path: Path) -> None:
    """Plain CSV, whatever the real files are; and a file in the declared form is read as declared."""
    schema = Schema(
        [
            Numeric("kosten", 0, 5000, bins=5, written_as="1.234,50 EUR"),
            Numeric("bmi", 10, 60, bins=5),
            Categorical("ort", ["Köln", "Ulm"]),
        ],
        csv=CsvFormat(encoding="cp1252", delimiter=";", decimal=","),
    )
    real, made = tmp_path / "real.csv", tmp_path / "made.csv"
    lines = "kosten;bmi;ort\n" + "1.200,50 EUR;22,5;Köln\n900 EUR;31,0;Ulm\n" * 10
    real.write_text(lines, encoding="cp1252")
    rows = {"kosten": [1200.5, 900.0] * 10, "bmi": [22.5, 31.0] * 10, "ort": ["Köln", "Ulm"] * 10}
    pa.csv.write_csv(pa.table(rows), made)
    ours = read_compared(real, schema, name="real")
    for file in (made, real):
        theirs = read_compared(file, as_synthetic(file, schema), name="synthetic")
        assert not theirs.undeclared
        np.testing.assert_array_equal(ours.values, theirs.values)
        table = read_synthetic(file, schema)
        assert table["kosten"].to_pylist() == rows["kosten"]
        assert table["bmi"].to_pylist() == rows["bmi"]
    assert evaluate_against_real(made, real, schema).against_real is not None
