"""The contract of every engine, run over ENGINES."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from holdfast.data import (
    Categorical,
    Encoder,
    Identifier,
    Numeric,
    Order,
    RowSum,
    Schema,
    SecondMoment,
    open_table,
)
from holdfast.data._batch import Batch
from holdfast.data._engines import ENGINES
from holdfast.data._sensitivity import counts_l1, counts_l2, sum_l2
from holdfast.errors import AdjacencyError, DataError, ParameterError
from holdfast.noise._source import Source
from holdfast.privacy._adjacency import PrivacyUnit
from holdfast.synth._workload.one_layer import OneLayer
from tests.servers import postgres, spark

from .engine_contract import (
    HOSTILE,
    Store,
    all_rows,
    as_multiset,
    columns_of_files,
    everything,
    opened,
    reference,
    seeded,
    visits,
    visits_schema,
)


def in_memory(rows: pa.Table, folder: Path) -> dict[str, Any]:
    return {"source": rows}


def in_parquet(rows: pa.Table, folder: Path) -> dict[str, Any]:
    half = rows.num_rows // 2
    parquet.write_table(rows.slice(0, half), folder / "part-1.parquet")
    parquet.write_table(rows.slice(half), folder / "part-2.parquet")
    return {"source": folder}


def in_duckdb_file(rows: pa.Table, folder: Path) -> dict[str, Any]:
    path = folder / f"{uuid.uuid4()}.db"
    with duckdb.connect(str(path)) as connection:
        connection.register("arrived", rows)
        connection.execute('CREATE TABLE "t ""1""" AS SELECT * FROM arrived')
    return {"source": f"duckdb:///{path}?table=t+%221%22"}


def in_duckdb_connection(rows: pa.Table, folder: Path) -> dict[str, Any]:
    connection = duckdb.connect()
    connection.register("arrived", rows)
    connection.execute("SET TimeZone = 'America/New_York'")
    connection.execute("CREATE TEMP TABLE t AS SELECT * FROM arrived")
    return {"source": connection, "table": "t"}


def in_spark(rows: pa.Table, folder: Path) -> dict[str, Any]:
    return {"source": spark.stored(spark.classic(), rows)}


def in_spark_connect(rows: pa.Table, folder: Path) -> dict[str, Any]:
    return {"source": spark.stored(spark.connect(), rows)}


def in_postgres(rows: pa.Table, folder: Path) -> dict[str, Any]:
    """By a user who may read the table and do nothing else; counts and sums come from the server."""
    name = f't "{uuid.uuid4()}"'
    server = postgres.required_server()
    server.load(rows, name)
    return {"source": server.url(name)}


def in_postgres_pulled(rows: pa.Table, folder: Path) -> dict[str, Any]:
    return in_postgres(rows, folder) | {"way": "pull", "keep": "file"}


WRITTEN: dict[str, dict[str, Store]] = {
    "memory": {"arrow": in_memory},
    "duckdb": {"parquet": in_parquet, "file": in_duckdb_file, "connection": in_duckdb_connection},
    "spark": {"classic": in_spark, "connect": in_spark_connect},
    "postgres": {"server": in_postgres, "pulled": in_postgres_pulled},
}
OWN: dict[str, dict[str, Store]] = {
    engine.name: {"own": engine.put} for engine in ENGINES if engine.put is not None
}
"""What engines say themselves of how rows are put where they find them."""
STORES = WRITTEN | OWN
MARKS = {
    "spark": (pytest.mark.filterwarnings(spark.IGNORED), pytest.mark.slow),
    "postgres": (pytest.mark.slow,),
}
PLACES = [
    pytest.param(store, id=f"{name}-{kind}", marks=MARKS.get(name, ()))
    for name, kinds in STORES.items()
    for kind, store in kinds.items()
]


@pytest.fixture(params=PLACES)
def store(request: pytest.FixtureRequest) -> Store:
    made: Store = request.param
    return made


def test_every_engine_is_under_contract() -> None:
    assert {engine.name for engine in ENGINES} == set(STORES), "give it `put`, or a place in STORES"


class TestSameAnswers:
    def test_counts_of_every_type(self, store: Store, tmp_path: Path) -> None:
        rows, schema = everything()
        sets = [[name] for name in schema.names] + [
            ["sex", "whole"],
            ["whole", "sex"],
            ["real", "flag", "code"],
            [],
        ]
        found = opened(store, tmp_path, rows, schema).counts(sets)
        for names, mine, theirs in zip(sets, found, reference(rows, schema).counts(sets), strict=True):
            assert mine.shape == schema.shape(*names)
            assert mine.dtype == np.int64
            np.testing.assert_array_equal(mine, theirs, err_msg=str(names))
            assert mine.sum() == rows.num_rows

    def test_columns_of_real_files(self, store: Store, tmp_path: Path) -> None:
        """Dates, amounts, spellings and levels: each row is read as in memory, and each count is that of memory."""
        rows, schema = columns_of_files()
        if "spark" in store.__name__:  # which takes seconds to compile each column
            schema = schema.select("american", "lohn", "paid")
        table, same = opened(store, tmp_path, rows, schema), reference(rows, schema)
        for name, mine, theirs in zip(
            schema.names,
            *(one.counts([[name] for name in schema.names]) for one in (table, same)),
            strict=True,
        ):
            np.testing.assert_array_equal(mine, theirs, err_msg=name)
        np.testing.assert_array_equal(as_multiset(all_rows(table)), as_multiset(all_rows(same)))
        if "spark" in store.__name__:
            return
        users = replace(schema, unit=PrivacyUnit.user("id", max_rows=1))
        kept = opened(store, tmp_path, rows, users, entropy=seeded())
        assert as_multiset(all_rows(kept)) == as_multiset(all_rows(reference(rows, users, entropy=seeded())))

    def test_multiset_of_rows(self, store: Store, tmp_path: Path) -> None:
        rows, schema = everything()
        table = opened(store, tmp_path, rows, schema)
        expected = as_multiset(all_rows(reference(rows, schema)))
        assert table.count() == table.units() == rows.num_rows
        assert as_multiset(all_rows(table)) == expected
        assert as_multiset(all_rows(table, Order.permutation(seeded()))) == expected
        assert as_multiset(all_rows(table, Order.keyed_hash("id"))) == expected

    def test_counts_agree_with_codes_of_batches(self, store: Store, tmp_path: Path) -> None:
        rows, schema = everything()
        table = opened(store, tmp_path, rows, schema)
        (batch,) = table.batches(order=Order.irrelevant())
        for name, count in zip(schema.names, table.counts([[name] for name in schema.names]), strict=True):
            np.testing.assert_array_equal(
                count, np.bincount(batch.codes(name), minlength=schema.cells(name)), name
            )

    def test_values_are_inside_the_declaration(self, store: Store, tmp_path: Path) -> None:
        rows, schema = everything()
        for batch in opened(store, tmp_path, rows, schema).batches():
            for name in schema.names:
                column = schema[name]
                values = batch.column(name)
                low, high = (
                    (column.low, column.high) if isinstance(column, Numeric) else (0, column.cells - 1)
                )
                assert np.all((values >= low) & (values <= high))

    def test_sums(self, store: Store, tmp_path: Path) -> None:
        rows, schema = everything()
        encoder = Encoder(schema, row_norm=1.5)
        table, same = opened(store, tmp_path, rows, schema), reference(rows, schema)
        assert table.can("sums")
        for statistic in (RowSum(encoder), SecondMoment(encoder)):
            found = table.sums(statistic, rows=3)
            assert found.shape == statistic.shape
            np.testing.assert_allclose(found, same.sums(statistic), rtol=0, atol=1e-12)
        columns = ("flag", "sex", "shade")
        functions = OneLayer.random(columns, schema.shape(*columns), functions=4, seed=1)
        joint = functions.answers(same.counts([columns])[0].astype(float))
        np.testing.assert_array_equal(table.sums(functions, rows=3), joint)

    def test_batches_have_the_asked_size(self, store: Store, tmp_path: Path) -> None:
        table = opened(store, tmp_path, pa.table({"x": np.arange(10)}), Schema([Numeric("x", 0, 9)]))
        assert [len(batch) for batch in table.batches(rows=4)] == [4, 4, 2]
        assert [len(batch) for batch in table.batches([], order=Order.irrelevant(), rows=4)] == [4, 4, 2]


class TestOrder:
    @pytest.mark.slow
    def test_shuffled_is_uniform(self, store: Store, tmp_path: Path) -> None:
        """Over several keys, the order among four neighbours; disjoint groups of four are independent."""
        groups, readings = 60, 8
        n = 4 * groups
        table = opened(store, tmp_path, pa.table({"x": np.arange(n)}), Schema([Numeric("x", 0, n)]))
        source = seeded()
        seen: Counter[tuple[int, ...]] = Counter()
        for _ in range(readings):
            place = np.argsort(all_rows(table, Order.permutation(source))[:, 0])
            seen.update(map(tuple, np.argsort(place.reshape(groups, 4), axis=1).tolist()))
        expected = groups * readings / 24
        statistic = sum((seen[order] - expected) ** 2 / expected for order in permutations(range(4)))
        assert statistic < 62  # chi-square, 23 degrees of freedom: P[>= 62] is below 2e-5

    def test_one_order_is_one_order(self, store: Store, tmp_path: Path) -> None:
        table = opened(store, tmp_path, pa.table({"x": np.arange(50)}), Schema([Numeric("x", 0, 49)]))
        order = Order.permutation(seeded())
        first, second = all_rows(table, order), all_rows(table, order, rows=7)
        np.testing.assert_array_equal(first, second)
        assert first[:, 0].tolist() != list(range(50))
        assert all_rows(table, Order.permutation()).tolist() != first.tolist()

    def test_replacing_a_record_changes_one_position(self, store: Store, tmp_path: Path) -> None:
        schema = Schema([Numeric("x", 0, 99), Identifier("id")])
        before = {"x": np.arange(40), "id": np.arange(40)}
        after = {"x": np.where(np.arange(40) == 17, 99, np.arange(40)), "id": np.arange(40)}
        for make in (
            lambda: Order.permutation(seeded()),
            lambda: Order.keyed_hash("id", source=seeded()),
            lambda: Order.keyed_hash("id", key=b"k" * 16, neighbours_keep_identifier=True),
            lambda: Order.storage(position_carries_no_information=True),
        ):
            one = all_rows(opened(store, tmp_path, pa.table(before), schema), make())
            two = all_rows(opened(store, tmp_path, pa.table(after), schema), make())
            assert (one != two).any(axis=1).sum() == 1

    def test_keyed_hash_is_the_same_in_every_engine(self, store: Store, tmp_path: Path) -> None:
        rows = pa.table({"x": np.arange(40), "id": [f"é{i}" for i in range(40)]})
        schema = Schema([Numeric("x", 0, 99), Identifier("id")])
        order = Order.keyed_hash("id", key=b"k" * 16, neighbours_keep_identifier=True)
        mine = all_rows(opened(store, tmp_path, rows, schema), order)
        np.testing.assert_array_equal(mine, all_rows(reference(rows, schema), order))

    def test_ranking_is_refused_under_add_remove(self, store: Store, tmp_path: Path) -> None:
        table = opened(
            store, tmp_path, pa.table({"x": [1, 2]}), Schema([Numeric("x", 0, 9)], adjacency="add_remove")
        )
        with pytest.raises(AdjacencyError, match="per_record_batches"):
            table.batches()
        with pytest.raises(AdjacencyError, match="per_record_batches"):
            table.batches(order=Order.storage(position_carries_no_information=True))

    def test_each_record_draws_its_batch(self, store: Store, tmp_path: Path) -> None:
        n, batches = 400, 8
        schema = Schema([Numeric("x", 0, n)], adjacency="add_remove", n_public=n)
        table = opened(store, tmp_path, pa.table({"x": np.arange(n)}), schema)
        order = Order.per_record_batches(batches=batches, cap=n, source=seeded())
        drawn = [batch.column("x").tolist() for batch in table.batches(order=order, rows=37)]
        assert len(drawn) == batches
        assert sorted(x for batch in drawn for x in batch) == list(range(n))
        expected = n / batches
        assert sum((len(batch) - expected) ** 2 / expected for batch in drawn) < 30  # 7 degrees: P < 1e-4
        capped = Order.per_record_batches(batches=batches, cap=10, source=seeded())
        kept = [batch.column("x").tolist() for batch in table.batches(order=capped)]
        assert [len(batch) for batch in kept] == [min(10, len(batch)) for batch in drawn]
        assert all(set(few) <= set(many) for few, many in zip(kept, drawn, strict=True))
        assert any(few != sorted(many)[:10] for few, many in zip(kept, drawn, strict=True))

    def test_batches_that_nobody_drew_are_empty(self, store: Store, tmp_path: Path) -> None:
        schema = Schema([Numeric("x", 0, 9), Categorical("k", ["a"])], adjacency="add_remove")
        one = pa.table({"x": [3], "k": ["a"]})
        for rows in (one, one.slice(0, 0)):
            table = opened(store, tmp_path, rows, schema)
            order = Order.per_record_batches(batches=5, cap=2, source=seeded())
            sizes = [len(batch) for batch in table.batches(order=order)]
            assert len(sizes) == 5
            assert sum(sizes) == rows.num_rows

    def test_partitions(self, store: Store, tmp_path: Path) -> None:
        table = opened(store, tmp_path, pa.table({"x": np.arange(10)}), Schema([Numeric("x", 0, 9)]))
        order = Order.permutation(seeded())

        def gather(batches: Iterator[Batch]) -> list[float]:
            return [x for batch in batches for x in batch.column("x").tolist()]

        parts = table.map_partitions(gather, order=order, partitions=3, rows=2)
        assert [part.rows for part in parts] == [len(part.value) for part in parts] == [3, 3, 4]
        assert [x for part in parts for x in part.value] == all_rows(table, order)[:, 0].tolist()
        early = table.map_partitions(lambda batches: len(next(batches)), order=order, partitions=2, rows=3)
        assert [part.value for part in early] == [3, 1]  # the second part starts with the rest of a batch


class TestUsers:
    @pytest.mark.parametrize("max_rows", [1, 3, 20])
    def test_every_engine_keeps_the_same_rows(self, store: Store, tmp_path: Path, max_rows: int) -> None:
        rows, schema = visits(), visits_schema(max_rows)
        mine = opened(store, tmp_path, rows, schema, entropy=seeded())
        theirs = reference(rows, schema, entropy=seeded())
        assert (mine.count(), mine.units()) == (theirs.count(), theirs.units())
        assert mine.units() == len(set(rows["user"].to_pylist()))
        assert as_multiset(all_rows(mine)) == as_multiset(all_rows(theirs))
        sizes = Counter(rows["user"].to_pylist()).values()
        assert mine.count() == sum(min(size, max_rows) for size in sizes)
        np.testing.assert_array_equal(
            mine.counts([["value", "kind"]])[0], theirs.counts([["value", "kind"]])[0]
        )

    def test_parts_keep_the_same_rows(
        self, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """An engine may bound the users a part at a time."""
        monkeypatch.setattr("holdfast.data._engines.duckdb.table.PART_ROWS", 20)
        rows, schema = visits(), visits_schema(3)
        mine = opened(store, tmp_path, rows, schema, entropy=seeded())
        assert as_multiset(all_rows(mine)) == as_multiset(all_rows(reference(rows, schema, entropy=seeded())))

    def test_rows_beyond_the_bound(self, store: Store, tmp_path: Path) -> None:
        """Each user's rows count up to the cap; one above the bound, it is the number of users who are cut."""
        owned = np.array(list(Counter(visits()["user"].to_pylist()).values()))
        table = opened(store, tmp_path, visits(), visits_schema(2))
        for most in (2, 3, 4, 10**6):
            assert table.beyond(most) == int(np.maximum(np.minimum(owned, most) - 2, 0).sum())
        assert table.beyond(3) == int((owned > 2).sum())
        with pytest.raises(ParameterError, match="most must be >= max_rows = 2"):
            table.beyond(1)

    def test_layout_does_not_matter_and_coins_do(self, store: Store, tmp_path: Path) -> None:
        rows, schema = visits(), visits_schema(3)
        shuffled = rows.take(np.random.default_rng(0).permutation(rows.num_rows))
        one = opened(store, tmp_path, rows, schema, entropy=seeded())
        kept = as_multiset(all_rows(one))
        assert as_multiset(all_rows(opened(store, tmp_path, shuffled, schema, entropy=seeded()))) == kept
        assert as_multiset(all_rows(opened(store, tmp_path, rows, schema, entropy=seeded(12)))) != kept

    def test_a_user_with_a_thousand_rows(self, store: Store, tmp_path: Path) -> None:
        schema = visits_schema(3)
        others = visits()
        heavy = pa.table(
            {
                "user": ["heavy"] * 1000,
                "value": pa.array([1.0] * 1000),
                "kind": ["b"] * 1000,
                "visit": pa.array(np.arange(1000)),
            }
        )
        encoder = Encoder(schema, row_norm=1.0)
        sets = [["kind"], ["value"], ["kind", "value"]]

        def measured(rows: pa.Table) -> tuple[list[Any], Any, Any]:
            table = opened(store, tmp_path, rows, schema, entropy=seeded())
            return table.counts(sets), table.sums(RowSum(encoder)), table.sums(SecondMoment(encoder))

        counts, total, moment = measured(pa.concat_tables([others, heavy]))
        less_counts, less_total, less_moment = measured(others)
        moved = [a - b for a, b in zip(counts, less_counts, strict=True)]
        for change in moved:
            assert (
                np.abs(change).sum() == 3 == counts_l1("add_remove", schema.confirmed_unit)
            )  # reached, not exceeded
            assert np.linalg.norm(change) <= counts_l2("add_remove", schema.confirmed_unit)
        assert np.linalg.norm(np.concatenate([change.ravel() for change in moved])) <= counts_l2(
            "add_remove", schema.confirmed_unit, marginals=3
        )
        bound = sum_l2(encoder.row_norm_bound, "add_remove", schema.confirmed_unit)
        assert 2.9 < np.linalg.norm(total - less_total) <= bound + 1e-12
        assert np.linalg.norm(moment - less_moment) <= 3 * encoder.row_norm_bound**2 + 1e-12

    def test_ranking_pads_every_user(self, store: Store, tmp_path: Path) -> None:
        rows, schema = visits(), visits_schema(3)
        table = opened(store, tmp_path, rows, schema, entropy=seeded())
        for order in (Order.permutation(seeded()), Order.keyed_hash("user", source=seeded())):
            read = all_rows(table, order, rows=16)
            present = read[:, -1] == 1
            assert len(read) == 3 * table.units()
            assert as_multiset(read[present][:, :-1]) == as_multiset(all_rows(table))
        encoder = Encoder(schema)
        for batch in table.batches(order=Order.permutation(seeded())):
            assert batch.present is not None
            assert not encoder.transform(batch)[~batch.present].any()

    def test_orders_that_users_do_not_allow(self, store: Store, tmp_path: Path) -> None:
        table = opened(store, tmp_path, visits(), visits_schema(3))
        with pytest.raises(ParameterError, match="padded"):
            table.batches(order=Order.storage(position_carries_no_information=True))
        with pytest.raises(ParameterError, match="user column"):
            table.batches(order=Order.keyed_hash("visit"))
        with pytest.raises(ParameterError, match="declared identifier"):
            table.batches(order=Order.keyed_hash("kind"))


class TestHostileTables:
    def test_names(self, store: Store, tmp_path: Path) -> None:
        rows = pa.table({name: [i, 0, 1] for i, name in enumerate(HOSTILE)} | {'id"': ["a", "'b", '"c']})
        columns = [Categorical(name, ["0", "1", "it's", '"', "é\n"], other="(else)") for name in HOSTILE]
        schema = Schema([*columns, Identifier('id"')])
        table = opened(store, tmp_path, rows, schema)
        sets = [[name] for name in HOSTILE] + [HOSTILE[:3]]
        for mine, theirs in zip(table.counts(sets), reference(rows, schema).counts(sets), strict=True):
            np.testing.assert_array_equal(mine, theirs)
        assert len(all_rows(table, Order.keyed_hash('id"'))) == 3

    def test_categories(self, store: Store, tmp_path: Path) -> None:
        words = ["'; DROP TABLE t; --", '"', "\\", "%", "é", "\n", "", " ", "NULL"]
        rows = pa.table({"k": [*words, None, "new"]})
        schema = Schema([Categorical("k", words, other="(else)", null="(none)")])
        assert opened(store, tmp_path, rows, schema).counts([["k"]])[0].tolist() == [1] * 11

    @pytest.mark.parametrize("n", [0, 1])
    def test_hardly_any_rows(self, store: Store, tmp_path: Path, n: int) -> None:
        rows, schema = everything()
        table = opened(store, tmp_path, rows.slice(0, n), schema)
        assert table.count() == n
        assert [count.sum() for count in table.counts([["sex"], ["real", "code"], []])] == [n, n, n]
        assert sum(len(batch) for batch in table.batches()) == n
        assert table.sums(RowSum(Encoder(schema))).shape == (Encoder(schema).width,)
        assert [part.value for part in table.map_partitions(lambda b: sum(map(len, b)), partitions=2)] == [
            0,
            n,
        ]
        users = opened(store, tmp_path, visits().slice(0, n), visits_schema(3))
        assert (users.count(), users.units()) == (n, n)
        assert sum(len(batch) for batch in users.batches()) == 3 * n

    def test_a_missing_column(self, store: Store, tmp_path: Path) -> None:
        rows = pa.table({"x": [1], "secret": ["value-in-data"]})
        with pytest.raises(DataError, match="'absent'") as caught:
            opened(store, tmp_path, rows, Schema([Numeric("x", 0, 1), Numeric("absent", 0, 1)]))
        assert "value-in-data" not in str(caught.value)
        with pytest.raises(DataError, match="'X'"):
            opened(store, tmp_path, rows, Schema([Numeric("X", 0, 1)]))

    def test_a_column_of_nothing_but_nulls(self, store: Store, tmp_path: Path) -> None:
        rows = pa.table({"x": pa.array([None, None], pa.float64()), "k": pa.array([None, None], pa.string())})
        schema = Schema([Numeric("x", 0, 4, null="high"), Categorical("k", ["a", "b"], null="a")])
        table = opened(store, tmp_path, rows, schema)
        assert all_rows(table).tolist() == [[4, 0], [4, 0]]

    def test_names_outside_the_schema_are_refused(self, store: Store, tmp_path: Path) -> None:
        table = opened(store, tmp_path, visits(), visits_schema())
        with pytest.raises(ParameterError, match="identifier"):
            table.counts([["user"]])
        with pytest.raises(ParameterError, match="among"):
            table.batches(["nobody"])
        with pytest.raises(ParameterError, match="different columns"):
            table.counts([["kind", "kind"]])


@pytest.mark.parametrize(
    "store", [in_memory, in_parquet, in_duckdb_file]
)  # a temporary table serves one at a time
def test_two_streams_at_once(store: Store, tmp_path: Path) -> None:
    table = opened(store, tmp_path, pa.table({"x": np.arange(5000)}), Schema([Numeric("x", 0, 4999)]))
    one, two = table.batches(rows=1000), table.batches(rows=1000)
    sizes = [(len(a), len(b), table.count()) for a, b in zip(one, two, strict=True)]
    assert sizes == [(1000, 1000, 5000)] * 5


def test_entropy_is_fresh_by_default(store: Store, tmp_path: Path) -> None:
    rows, schema = visits(), visits_schema(1)
    kept = {tuple(as_multiset(all_rows(opened(store, tmp_path, rows, schema)))) for _ in range(3)}
    assert len(kept) == 3
    assert Order.permutation().provenance == "secure"
    assert Order.permutation(Source(seed=1)).provenance == "seeded"


def test_unknown_sources() -> None:
    with pytest.raises(ParameterError, match="got a oracle URL") as caught:
        open_table("oracle://someone:password@host/db", Schema([Numeric("x", 0, 1)]))
    assert "password" not in str(caught.value)
    with pytest.raises(ParameterError, match="engine must be an Engine or one of"):
        open_table({}, Schema([]), engine="abacus")
