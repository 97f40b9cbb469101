"""Additive fits from every engine: the same numbers as from memory, because what is summed are whole numbers."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from holdfast import Categorical, Numeric, Schema, open_table
from holdfast.data._table import Table
from holdfast.errors import BudgetWarning, NotPrivateWarning
from holdfast.learn import PrivateAdditiveClassifier, PrivateAdditiveRegressor
from holdfast.learn._additive import cell_rows
from holdfast.learn._rows import private_file
from tests.servers.postgres import Server

ROWS = 3_000


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BudgetWarning)
        warnings.simplefilter("ignore", NotPrivateWarning)
        yield


def people() -> pa.Table:
    random = np.random.default_rng(0)
    age = random.integers(18, 80, ROWS).astype(float)
    kind = random.choice(["a", "b", "c"], ROWS)
    score = np.abs(age - 45) / 10 - 1.5 + (kind == "b")
    ill = np.where(score + random.logistic(size=ROWS) > 0, "yes", "no")
    missing = [
        None if coin < 0.1 else value for coin, value in zip(random.uniform(size=ROWS), age, strict=True)
    ]
    return pa.table({"age": missing, "kind": kind, "ill": ill, "score": score})


def declared(target: str) -> Schema:
    last = Categorical("ill", ["no", "yes"]) if target == "ill" else Numeric("score", -3, 6)
    return Schema(
        [
            Numeric("age", 18, 80, integer=True, null="category"),
            Categorical("kind", ["a", "b"], other="else"),
            last,
        ],
        adjacency="zero_out",
    )


def fitted(table: Table, target: str) -> Any:
    make: Any = PrivateAdditiveClassifier if target == "ill" else PrivateAdditiveRegressor
    return make(4.0, 1e-6, random_state=7).fit(table, target=target).model_


def same(model: Any, other: Any) -> bool:
    return bool((model.shapes == other.shapes).all() and (model.constant == other.constant).all())


@pytest.fixture(scope="module")
def in_memory() -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {target: fitted(open_table(people(), declared(target)), target) for target in ("ill", "score")}


@pytest.mark.parametrize("room", ["memory", "file", "both", "neither", "full"])
def test_from_parquet_wherever_rows_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_memory: dict[str, Any], room: str
) -> None:
    monkeypatch.setattr(cell_rows, "MOST_CACHED_BYTES", 0)
    cached_bytes = {"memory": 2**30, "both": 12_000}.get(room, 0)
    monkeypatch.setattr(cell_rows.CellRows.__init__, "__kwdefaults__", _defaults(cached_bytes))
    reads: list[int] = []
    monkeypatch.setattr(Table, "batches", _counted(Table.batches, reads))
    if room == "full":
        monkeypatch.setattr(private_file, "_write", _no_space)
    parquet.write_table(people(), tmp_path / "rows.parquet")
    with open_table(
        tmp_path / "rows.parquet", declared("ill"), local_copy=False if room == "neither" else None
    ) as table:
        assert same(fitted(table, "ill"), in_memory["ill"])
    assert (len(reads) == 1) == (room in ("memory", "file", "both"))


def _defaults(most_cached_bytes: int) -> dict[str, Any]:
    return (cell_rows.CellRows.__init__.__kwdefaults__ or {}) | {"most_cached_bytes": most_cached_bytes}


def _counted(batches: Any, reads: list[int]) -> Any:
    def counted(self: Table, columns: Any = None, **options: Any) -> Any:
        reads.append(1)
        return batches(self, columns, **(options | {"rows": 1_000}))

    return counted


def _no_space(file: Any, array: Any) -> None:
    raise OSError(28, "no space left on device")


@pytest.mark.parametrize("target", ["ill", "score"])
def test_from_postgresql(postgres_server: Server, in_memory: dict[str, Any], target: str) -> None:
    postgres_server.load(people(), "additive people")
    try:
        with open_table(postgres_server.url("additive people"), declared(target)) as table:
            assert same(fitted(table, target), in_memory[target])
    finally:
        postgres_server.run('DROP TABLE "additive people"')


def test_rows_that_may_not_leave_the_server_are_not_fitted(postgres_server: Server) -> None:
    postgres_server.load(people(), "additive people")
    try:
        with open_table(postgres_server.url("additive people", way="sql"), declared("ill")) as table:
            with pytest.raises(Exception, match="rows do not leave the server"):
                PrivateAdditiveClassifier(4.0, 1e-6, random_state=7).fit(table, target="ill")
    finally:
        postgres_server.run('DROP TABLE "additive people"')


def test_three_hundred_columns() -> None:
    random = np.random.default_rng(0)
    columns = {f"x{place}": random.uniform(-1, 1, 2_000) for place in range(300)}
    columns["y"] = np.where(columns["x0"] + columns["x7"] > 0, "yes", "no")
    schema = Schema([*(Numeric(f"x{place}", -1, 1) for place in range(300)), Categorical("y", ["no", "yes"])])
    model = PrivateAdditiveClassifier(50.0, 1e-6, random_state=1).fit(open_table(columns, schema), target="y")
    assert np.mean(model.predict(columns) == columns["y"]) > 0.6
    assert len(model.model_.columns) == 300
