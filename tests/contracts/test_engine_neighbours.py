"""The neighbour contract over every engine and kind of source: no row is read with the help of another."""

from __future__ import annotations

import csv
import io
import uuid
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.data import Categorical, Identifier, Numeric, Schema, open_table
from holdfast.data._engines import ENGINES
from holdfast.data._engines.duckdb import table as duckdb_table
from holdfast.data._readings import texts
from holdfast.noise._source import Source
from holdfast.privacy import PrivacyUnit
from holdfast.testing import EngineStore, check_engine
from holdfast.testing._drawn_tables import STORED_VALUES, TEXT_WITH_NUL, arrow_table, drawn_table
from holdfast.testing._engines import NEIGHBOUR_CONTRACT
from tests.servers import postgres, spark

Put = Callable[[Path, pa.Table], Mapping[str, Any]]
#: What a column of doubles, which pandas makes of whole numbers with a gap, cannot hold.
BEYOND_DOUBLES = (2**53 + 1, 2**63 - 1, 2**64 - 1)


def _arrow(folder: Path, rows: pa.Table) -> Mapping[str, Any]:
    return {"source": rows}


def _pandas(folder: Path, rows: pa.Table) -> Mapping[str, Any]:
    return {"source": rows.to_pandas()}


def _pandas_objects(folder: Path, rows: pa.Table) -> Mapping[str, Any]:
    return {
        "source": pd.DataFrame({n: pd.Series(rows[n].to_pylist(), dtype=object) for n in rows.column_names})
    }


def _polars(folder: Path, rows: pa.Table) -> Mapping[str, Any]:
    return {"source": pl.from_arrow(rows)}


def _numpy(folder: Path, rows: pa.Table) -> Mapping[str, Any]:
    return {"source": {n: np.array(rows[n].to_pylist(), dtype=object) for n in rows.column_names}}


def _lists(folder: Path, rows: pa.Table) -> Mapping[str, Any]:
    return {"source": rows.to_pydict()}


def _place(folder: Path, ending: str) -> Path:
    return folder / f"{uuid.uuid4()}.{ending}"


def _pyarrow_file(folder: Path, rows: pa.Table) -> Mapping[str, Any]:
    path = _place(folder, "parquet")
    parquet.write_table(rows, path)
    return {"source": path}


def _polars_file(folder: Path, rows: pa.Table) -> Mapping[str, Any]:
    frame, path = pl.from_arrow(rows), _place(folder, "parquet")
    assert isinstance(frame, pl.DataFrame)
    frame.write_parquet(path)
    return {"source": path}


def _duckdb_file(folder: Path, rows: pa.Table) -> Mapping[str, Any]:
    path = _place(folder, "parquet")
    with duckdb.connect() as connection:
        connection.register("arrived", rows)
        connection.execute(f"COPY arrived TO '{path}' (FORMAT parquet)")
    return {"source": path}


def _view(folder: Path, rows: pa.Table) -> Mapping[str, Any]:
    connection, path = duckdb.connect(), _place(folder, "parquet")
    parquet.write_table(rows, path)
    connection.execute(f"CREATE VIEW stored AS SELECT * FROM read_parquet('{path}')")
    return {"source": connection, "table": "stored"}


def _database(folder: Path, rows: pa.Table) -> Mapping[str, Any]:
    path = _place(folder, "db")
    with duckdb.connect(str(path)) as connection:
        connection.register("arrived", rows)
        connection.execute("CREATE TABLE stored AS SELECT * FROM arrived")
    return {"source": f"duckdb:///{path}?table=stored"}


def _written(rows: pa.Table) -> pa.Table:
    """The table as texts, as a CSV file holds it; what is empty is missing."""
    columns = {n: [w or None for w in map(_word, rows[n].to_pylist())] for n in rows.column_names}
    return pa.table({n: pa.array(words, pa.string()) for n, words in columns.items()})


def _word(value: Any) -> str:
    # A NaN is written as nothing, as data frames write it: the word "nan" would name a person, a missing one does not.
    return (
        ""
        if value is None or value != value
        else texts(pa.array([value]))[0].as_py() or ""
        if _dated(value)
        else str(value)
    )


def _dated(value: Any) -> bool:
    return hasattr(value, "isoformat")


def _csv_file(folder: Path, rows: pa.Table) -> Mapping[str, Any]:
    path, made = _place(folder, "csv"), io.StringIO(newline="")
    writer = csv.writer(made)
    writer.writerow(rows.column_names)
    written = _written(rows)
    writer.writerows(zip(*(written[n].to_pylist() for n in rows.column_names), strict=True))
    path.write_bytes(made.getvalue().encode())
    return {"source": path}


def _postgres(folder: Path, rows: pa.Table) -> Mapping[str, Any]:
    server, name = postgres.required_server(), f"n{uuid.uuid4().hex}"
    server.load(rows, name)
    return {"source": server.url(name)}


def _postgres_pulled(folder: Path, rows: pa.Table) -> Mapping[str, Any]:
    return {**_postgres(folder, rows), "way": "pull"}


def _spark(folder: Path, rows: pa.Table) -> Mapping[str, Any]:
    return {"source": spark.stored(spark.classic(), rows)}


STORES: dict[str, dict[str, Put]] = {
    "memory": {
        "arrow": _arrow,
        "pandas": _pandas,
        "objects": _pandas_objects,
        "polars": _polars,
        "numpy": _numpy,
        "lists": _lists,
    },
    "duckdb": {
        "pyarrow": _pyarrow_file,
        "polars": _polars_file,
        "duckdb": _duckdb_file,
        "view": _view,
        "file": _database,
        "csv": _csv_file,
    },
    "postgres": {"server": _postgres, "pulled": _postgres_pulled},
    "spark": {"classic": _spark},
}
OWN: dict[str, Put] = {
    engine.name: lambda folder, rows, put=engine.put: put(rows, folder)  # type: ignore[misc]
    for engine in ENGINES
    if engine.put is not None
}
"""What engines say themselves of how rows are put where they find them."""
#: What a kind of source cannot hold, or holds as texts; a line end in a field is not declared here.
LIMITS: dict[str, dict[str, Any]] = {
    "pandas": {"leave_out": BEYOND_DOUBLES},
    "server": {"leave_out": (TEXT_WITH_NUL,)},
    "pulled": {"leave_out": (TEXT_WITH_NUL,)},
    "csv": {"reads": _written, "leave_out": ("new\nline", "\r")},
}
QUICK = [
    pytest.param(put, kind, id=f"{e}-{kind}") for e in ("memory", "duckdb") for kind, put in STORES[e].items()
] + [pytest.param(put, name, id=name) for name, put in OWN.items()]
SERVED = [
    pytest.param(_postgres, "server", 8, id="postgres-server", marks=pytest.mark.slow),
    pytest.param(_postgres_pulled, "pulled", 4, id="postgres-pulled", marks=pytest.mark.slow),
    pytest.param(
        _spark,
        "classic",
        4,
        id="spark-classic",
        marks=(pytest.mark.slow, pytest.mark.filterwarnings(spark.IGNORED)),
    ),
]


def _store(put: Put, kind: str, folder: Path) -> EngineStore:
    return EngineStore(put=lambda rows: put(folder, rows), **LIMITS.get(kind, {}))


def test_every_engine_is_under_contract() -> None:
    assert {engine.name for engine in ENGINES} == set(STORES) | set(OWN), (
        "give it `put`, or a place in STORES"
    )


@pytest.mark.slow
@pytest.mark.parametrize(("put", "kind"), QUICK)
def test_neighbours(put: Put, kind: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    store = _store(put, kind, tmp_path_factory.mktemp(kind))

    @settings(max_examples=10, deadline=None, derandomize=True)
    @given(coins=st.randoms(use_true_random=False))
    def held(coins: Random) -> None:
        case = drawn_table(coins, leave_out=store.leave_out, types=store.types)
        for statement in NEIGHBOUR_CONTRACT:
            statement(store, case)

    held()


@pytest.mark.parametrize(("put", "kind", "cases"), SERVED)
def test_neighbours_on_servers(put: Put, kind: str, cases: int, tmp_path: Path) -> None:
    check_engine(_store(put, kind, tmp_path), cases=cases)


@pytest.mark.parametrize(
    "put",
    [
        pytest.param(_pyarrow_file, id="duckdb"),
        pytest.param(_postgres, id="postgres", marks=pytest.mark.slow),
        pytest.param(_spark, id="spark", marks=(pytest.mark.slow, pytest.mark.filterwarnings(spark.IGNORED))),
    ],
)
def test_every_engine_writes_identifiers_alike(put: Put, tmp_path: Path) -> None:
    """Finding E9: floating and decimal identifiers. Every value of every type, each with more rows than are kept."""
    for kind in ("float64", "float32", "decimal", "uint64", "date", "timestamp", "boolean", "text"):
        owners = [
            value
            for value in STORED_VALUES[kind]
            if value != TEXT_WITH_NUL or put is not _postgres
            for _ in range(4)
        ]
        rows = arrow_table([(place, owner) for place, owner in enumerate(owners)], [kind])
        schema = Schema(
            [Categorical("tag", list(range(len(owners)))), Identifier("who")],
            unit=PrivacyUnit.user("who", max_rows=2),
        )
        kept = []
        for arguments in ({"source": rows}, put(tmp_path, rows)):
            with open_table(schema=schema, entropy=Source(seed=3), **arguments) as table:
                kept.append(table.counts([["tag"]])[0].tolist())
        assert kept[0] == kept[1], kind


@pytest.mark.parametrize("other", [True, "x", 2.5, None, 2**70, b"\xff", "\ud800"])
@pytest.mark.parametrize("values", [[True, False], [1, 2], [0.5, 1.0], ["1", "x"]])
def test_one_object_changes_no_other(values: list[Any], other: Any) -> None:
    """A list has no type of its own: one element must not decide how the others are read."""
    for column in (
        Numeric("c", 0, 2, bins=4, null="category"),
        Categorical("c", ["1.0", "true", "x", "2"], other="other", null="null"),
    ):
        alone = open_table({"c": values}, Schema([column])).counts([["c"]])[0]
        beside = open_table({"c": [*values, other]}, Schema([column])).counts([["c"]])[0]
        assert (beside - alone).sum() == 1
        assert (beside - alone).min() == 0


@pytest.mark.parametrize("put", [_arrow, _pyarrow_file])
@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()], ids=str)
def test_texts_whose_bytes_are_no_texts_are_missing(put: Put, kind: pa.DataType, tmp_path: Path) -> None:
    stored = pa.array([b"a", b"\xff\xfe", None, b"1", b"0.5\xff"], pa.binary())
    _, offsets, content = stored.buffers()
    column = pa.StringArray.from_buffers(5, offsets, content, stored.buffers()[0]).cast(kind)
    schema = Schema(
        [Categorical("k", ["a"], other="other", null="null"), Numeric("x", 0, 2, bins=2, null="category")]
    )
    try:
        arguments = put(tmp_path, pa.table({"k": column, "x": column}))
    except pa.ArrowNotImplementedError:
        pytest.skip(f"pyarrow {pa.__version__} writes no file of {kind}")
    with open_table(schema=schema, **arguments) as table:
        assert [count.tolist() for count in table.counts([["k"], ["x"]])] == [[1, 1, 3], [0, 1, 4]]


@pytest.mark.parametrize("put", [_pyarrow_file, _csv_file])
def test_names_that_differ_in_case_only(put: Put, tmp_path: Path) -> None:
    rows = pa.table({"a": [1, 2], "A": [3, 3]})
    schema = Schema([Numeric("a", 0, 4, integer=True), Numeric("A", 0, 4, integer=True)])
    with open_table(schema=schema, **put(tmp_path, rows)) as table:
        assert [count.tolist() for count in table.counts([["a"], ["A"]])] == [
            [0, 1, 1, 0, 0],
            [0, 0, 0, 2, 0],
        ]


def test_the_contract_finds_an_engine_that_looks_at_other_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Finding E1: DuckDB's own test for NaN is answered from the statistics of a whole file."""
    broken = replace(duckdb_table.DIALECT, is_nan="isnan({0})")
    monkeypatch.setattr(duckdb_table, "DIALECT", broken)
    with pytest.raises(AssertionError, match="counts differ"):
        check_engine(_store(_view, "view", tmp_path), cases=8)
