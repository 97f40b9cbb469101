"""open_table: every container and file, the public count, and what stays unsaid in errors."""

from __future__ import annotations

import csv
import datetime
import decimal
import gzip
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from holdfast.data import Categorical, CsvFormat, Numeric, Order, Schema, open_table
from holdfast.errors import AdjacencyError, AssumptionWarning, DataError, ParameterError

SCHEMA = Schema(
    [Numeric("x", 0, 10, bins=5), Categorical("k", ["a", "b"], other="(other)")],
    csv=CsvFormat(quoted_newlines=True),
)
DATA: dict[str, Any] = {"x": [1.0, None, 99.0, 5.0], "k": ["a", "b", None, "ü"], "unused": [1, 2, 3, 4]}
COUNTS = [[1, 0, 2, 0, 1], [1, 1, 2]]


def counted(source: Any, **options: Any) -> list[list[int]]:
    with open_table(source, SCHEMA, **options) as table:
        return [count.tolist() for count in table.counts([["x"], ["k"]])]


@pytest.mark.parametrize(
    "source",
    [
        DATA,
        pa.table(DATA),
        pd.DataFrame(DATA),
        pl.DataFrame(DATA),
        {"x": np.array([1.0, np.nan, 99.0, 5.0]), "k": pd.Series(["a", "b", None, "ü"], dtype="category")},
        {"x": ["1", "none", "99", " 5 "], "k": np.array(["a", "b", "?", "ü"])},
        {"x": [1, "none", 99.0, decimal.Decimal(5)], "k": ["a", "b", 7, object()]},
        {"x": [1, b"\xff", 2**80, "5"], "k": ["a", "b", b"a", ["a"]]},
        {"x": pl.Series([1, None, 99, 5]), "k": pl.Series(["a", "b", None, "ü"], dtype=pl.Categorical)},
        pd.DataFrame(DATA).convert_dtypes(),
    ],
)
def test_containers(source: Any) -> None:
    assert counted(source) == COUNTS


def test_objects_that_cannot_even_be_compared() -> None:
    class Hostile:
        def __eq__(self, other: object) -> bool:
            raise RuntimeError("value-in-data")

        __hash__ = None  # type: ignore[assignment]

        def __str__(self) -> str:
            raise RuntimeError("value-in-data")

    values = [Hostile(), 1j, datetime.timedelta(1), "\ud800"]
    table = open_table({"x": values, "k": values}, SCHEMA)
    assert [count.sum() for count in table.counts([["x"], ["k"]])] == [4, 4]


@pytest.mark.parametrize(
    "bad", [{"x": [1], "k": ["a", "b"]}, {"x": np.zeros((2, 2)), "k": ["a", "b"]}, {"x": [1]}, {}]
)
def test_shapes(bad: dict[str, Any]) -> None:
    with pytest.raises(DataError):
        open_table(bad, SCHEMA)
    with pytest.raises(DataError, match="missing or repeated"):
        open_table(pd.DataFrame([[1, 2, "a"]], columns=["x", "x", "k"]), SCHEMA)


def write_csv(path: Path, delimiter: str = ",") -> Path:
    opener: Any = gzip.open if path.suffix == ".gz" else open
    with opener(path, "wt", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(["k", 'unused "name"', "x"])
        writer.writerows([["a", "line\nbreak", "1.0"], ["b", "", ""], ["", "'", "99"], ["ü", ",", "5"]])
    return path


def test_files(tmp_path: Path) -> None:
    assert counted(write_csv(tmp_path / "a.csv")) == COUNTS
    assert counted(str(write_csv(tmp_path / "a.tsv", "\t"))) == COUNTS
    assert counted(write_csv(tmp_path / "a.csv.gz")) == COUNTS
    folder = tmp_path / "od'd [folder]"
    folder.mkdir()
    parquet.write_table(pa.table(DATA), folder / "one*.parquet")
    (folder / "notes.txt").write_text("not data")
    assert counted(folder) == counted(folder / "one*.parquet") == COUNTS
    parquet.write_table(pa.table(DATA), tmp_path / "two.parquet")
    parquet.write_table(pa.table(DATA), tmp_path / "three.parquet")
    doubled = [[2 * n for n in count] for count in COUNTS]
    assert counted(str(tmp_path / "t*.parquet")) == doubled


def test_numbers_in_csv_files_are_texts_until_the_schema_speaks(tmp_path: Path) -> None:
    (tmp_path / "z.csv").write_text("zip,x\n007,1\n7,2\n")
    schema = Schema([Categorical("zip", ["007", "7"]), Numeric("x", 0, 9)])
    assert open_table(tmp_path / "z.csv", schema).counts([["zip"]])[0].tolist() == [1, 1]


def test_duckdb_sources(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with duckdb.connect(str(path)) as connection:
        connection.register("arrived", pa.table(DATA))
        connection.execute("CREATE SCHEMA s")
        connection.execute("CREATE TABLE s.t AS SELECT * FROM arrived")
        connection.execute("CREATE VIEW v AS SELECT * FROM s.t")
        assert counted(connection, table="v") == COUNTS
        assert counted(connection.sql("SELECT * FROM s.t")) == COUNTS
        with pytest.raises(ParameterError, match="caller's"):
            open_table(connection, SCHEMA, table="v", threads=1)
        with pytest.raises(ParameterError, match="table"):
            open_table(connection, SCHEMA)
    assert counted(f"duckdb:///{path}?table=t&schema=s") == COUNTS
    assert counted(f"duckdb:///{path}?table=v", memory_limit="200MB", threads=1) == COUNTS


def test_the_callers_variables_are_not_tables(tmp_path: Path) -> None:
    """DuckDB would find a local variable of the name of a missing table."""
    path = tmp_path / "store.db"
    duckdb.connect(str(path)).close()
    t = pa.table(DATA)
    with pytest.raises(DataError, match="has no table 't'"):
        open_table(f"duckdb:///{path}?table=t", SCHEMA)
    assert t.num_rows == 4


@pytest.mark.parametrize(
    "url", ["duckdb://host/a.db?table=t", "duckdb:///a.db", "duckdb:///a.db?table=t&password=p", "duckdb://"]
)
def test_bad_urls(url: str) -> None:
    with pytest.raises(ParameterError, match="DuckDB URL"):
        open_table(url, SCHEMA)
    with pytest.raises(DataError, match="must exist"):
        open_table("duckdb:///absent.db?table=t", SCHEMA)


def test_errors_of_files_never_quote_them(tmp_path: Path) -> None:
    broken = tmp_path / "broken.csv"
    broken.write_text('x,k\n1,a\n"value-in-data,b\n3,value-in-data,value-in-data\n')
    assert [sum(count) for count in counted(broken)] == [3, 3]  # a broken line is a row of nothing
    (tmp_path / "no.parquet").write_bytes(b"value-in-data")
    with pytest.raises(DataError, match="could not") as caught:
        counted(tmp_path / "no.parquet")
    assert "value-in-data" not in str(caught.value)
    for name, content in [("empty.csv", ""), ("twice.csv", "x,x\n"), ("x.xlsx", "x")]:
        (tmp_path / name).write_text(content)
        with pytest.raises(DataError):
            counted(tmp_path / name)
    with pytest.raises(DataError, match="no Parquet or CSV file"):
        counted(tmp_path / "absent.parquet")
    with pytest.raises(DataError, match="one kind"):
        counted(str(tmp_path / "*.[cp]*"))


def test_spilled_rows_are_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    source = write_csv(tmp_path / "a.csv")
    table = open_table(source, SCHEMA)
    (folder,) = tmp_path.glob("holdfast-*")
    assert folder.stat().st_mode & 0o077 == 0
    table.close()
    assert not folder.exists()
    with pytest.raises(DataError):
        open_table(source, Schema([Numeric("absent", 0, 1)]))
    assert list(tmp_path.glob("holdfast-*")) == []


def test_public_count() -> None:
    for adjacency in ("replace", "zero_out"):
        assert open_table(DATA, SCHEMA, adjacency=adjacency).public_count() == (4, ())
        assert open_table(DATA, SCHEMA, adjacency=adjacency, n_public=4).public_count() == (4, ())
        with pytest.raises(ParameterError, match="n_public must be the number of units"):
            open_table(DATA, SCHEMA, adjacency=adjacency, n_public=5).public_count()
    declared = open_table(DATA, SCHEMA, adjacency="add_remove", n_public=1000)
    assert declared.public_count() == (1000, ())
    undeclared = open_table(DATA, SCHEMA, adjacency="add_remove")
    with pytest.warns(AssumptionWarning, match="declare n_public"):
        number, assumptions = undeclared.public_count()
    assert number == 4
    (read,) = assumptions
    assert read.voids
    assert read.text == "the number of privacy units was read from the data and is treated as public"


def test_argument_and_schema_must_not_contradict() -> None:
    schema = Schema(SCHEMA.columns, adjacency="add_remove", n_public=7)
    assert open_table(DATA, schema, adjacency="add_remove", n_public=7).n_public == 7
    with pytest.raises(AdjacencyError, match="contradicts"):
        open_table(DATA, schema, adjacency="replace")
    with pytest.raises(ParameterError, match="n_public=8 contradicts"):
        open_table(DATA, schema, n_public=8)
    with pytest.raises(ParameterError, match="n_public"):
        open_table(DATA, SCHEMA, n_public=0)
    assert open_table(DATA, SCHEMA).adjacency.value == "replace"


def test_a_draft_warns_and_is_remembered() -> None:
    draft = Schema([Numeric("x", 0, 1, taken_from_data=True)])
    with pytest.warns(AssumptionWarning, match="draft"):
        table = open_table(DATA, draft)
    assert table.assumptions == draft.assumptions != ()


def test_questions_are_checked() -> None:
    table = open_table(DATA, SCHEMA)
    assert not table.can("fly")
    with pytest.raises(ParameterError, match="rows"):
        table.batches(rows=0)
    with pytest.raises(ParameterError, match="list of names"):
        table.batches("xk")
    with pytest.raises(ParameterError, match="partitions"):
        table.map_partitions(list, partitions=0)
    wide = Schema([Numeric(name, 0, 1, bins=1000) for name in "abc"])
    with pytest.raises(ParameterError, match="cells"):
        open_table({name: [0] for name in "abc"}, wide).counts([["a", "b", "c"]])


def test_columns_come_in_the_order_asked_for() -> None:
    (batch,) = open_table(DATA, SCHEMA).batches(["k", "x"], order=Order.irrelevant())
    assert batch.names == ("k", "x")
    assert batch.matrix().tolist() == [[0, 1], [1, 5], [2, 10], [2, 5]]
    assert batch.codes("x").tolist() == [0, 2, 4, 2]
    with pytest.raises(ParameterError):
        batch.column("unused")


def test_importing_the_room_is_light() -> None:
    heavy = "pandas polars pyarrow duckdb sklearn scipy"
    code = f"""
import sys, holdfast.data
from holdfast.data import ENGINES, Numeric, Order, Schema, open_table
assert not set("{heavy}".split()) & set(sys.modules), set("{heavy}".split()) & set(sys.modules)
assert "adult" in dir(holdfast.data)
try:
    holdfast.data.nothing
except AttributeError:
    print("light")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "light\n", done.stderr
