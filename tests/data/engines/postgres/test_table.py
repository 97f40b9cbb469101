"""PostgreSQL: what the engine contract does not ask. Every test talks to a real server."""

from __future__ import annotations

import decimal
import logging
import re
import traceback
from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa
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
    Table,
    open_table,
)
from holdfast.data._engines.postgres import table as postgres
from holdfast.data._engines.postgres.source import Address
from holdfast.data._engines.postgres.table import PostgresTable
from holdfast.errors import DataError, HoldfastError, ParameterError
from tests.paths import ROOT
from tests.servers.postgres import READER_PASSWORD, Server

X = Schema([Numeric("x", 0, 9)])


@pytest.fixture
def numbers(postgres_server: Server) -> Iterator[str]:
    """A table of ten numbers."""
    postgres_server.load(pa.table({"x": np.arange(10.0)}), "numbers")
    yield "numbers"
    postgres_server.run("DROP TABLE numbers")


def codes(table: Table) -> dict[str, list[int]]:
    """The cells of every row, from the rows."""
    batches = list(table.batches(order=Order.irrelevant()))
    return {name: np.concatenate([b.codes(name) for b in batches]).tolist() for name in table.schema.names}


class TestTypes:
    def test_types_of_postgres_only(self, postgres_server: Server) -> None:
        postgres_server.run(
            "CREATE TYPE mood AS ENUM ('sad', 'glad')",
            "CREATE DOMAIN score AS numeric CHECK (value IS NOT NULL OR true)",
            "CREATE DOMAIN deep AS score",
            "CREATE TABLE types (mood mood, deep deep, fixed char(4), id uuid, word varchar(9), "
            "huge numeric, money money, span interval, flag boolean, stamp timestamptz)",
            "INSERT INTO types VALUES "
            "('sad', 2.5, 'ab', '00000000-0000-0000-0000-000000000001', 'Ab', 'NaN', 1, '1 day', true, "
            " '2024-01-01 01:00:00+01'), "
            "('glad', 1, 'ab  ', NULL, 'ab', 'Infinity', 2, '2 days', false, '2024-01-01 00:00:00.5Z'), "
            "(NULL, NULL, NULL, NULL, 'AB', 1e400, NULL, NULL, NULL, NULL), "
            "('sad', -1, 'abc', NULL, NULL, '-1e-400', 1, NULL, NULL, 'infinity')",
            "GRANT SELECT ON types TO reader",
        )
        schema = Schema(
            [
                Categorical("mood", ["sad", "glad"], null="none"),
                Categorical("deep", ["1", "2.50"], other="else", null="none"),
                Categorical("fixed", ["ab", "abc"], null="none"),
                Categorical("id", ["00000000-0000-0000-0000-000000000001"], null="none"),
                Categorical("word", ["ab", "Ab"], other="else", null="none"),
                Numeric("huge", -1, 1, bins=[-1, 0, 1], null="category"),
                Categorical("money", ["1"], other="else", null="none"),
                Numeric("span", 0, 1, bins=1, null="category"),
                Numeric("flag", 0, 1, bins=2, null="category"),
                Categorical("stamp", ["2024-01-01 00:00:00", "2024-01-01 00:00:00.5"], other="else"),
            ]
        )
        expected = {
            "mood": [0, 1, 2, 0],
            "deep": [1, 0, 3, 2],
            "fixed": [0, 0, 2, 1],
            "id": [0, 1, 1, 1],
            "word": [1, 0, 2, 3],
            "huge": [2, 1, 1, 1],
            "money": [2, 2, 2, 2],
            "span": [1, 1, 1, 1],
            "flag": [1, 0, 2, 2],
            "stamp": [0, 1, 2, 2],
        }
        with open_table(postgres_server.url("types"), schema, way="sql") as table:
            for name, count in zip(schema.names, table.counts([[n] for n in schema.names]), strict=True):
                wanted = np.bincount(expected[name], minlength=schema.cells(name))
                np.testing.assert_array_equal(count, wanted, err_msg=name)
            encoder = Encoder(schema)
            moment = table.sums(SecondMoment(encoder))
        with open_table(postgres_server.url("types"), schema, way="pull") as table:
            assert codes(table) == expected
            np.testing.assert_allclose(table.sums(SecondMoment(encoder)), moment, rtol=0, atol=1e-12)

    def test_every_value_is_read_bit_for_bit(self, postgres_server: Server) -> None:
        """Random bits as doubles and singles, decimals of many digits, texts that nearly are numbers."""
        coins = np.random.default_rng(8)
        n = 600
        bits = coins.integers(0, 2**64, n, dtype=np.uint64)
        letters = np.array(list("0123456789.+-eE \t\nx\u0661\u00b2"))
        texts = ["".join(coins.choice(letters, coins.integers(1, 9))) for _ in range(n - 8)]
        texts += [" 12 ", "1e5", "1e999", "5.", ".5", "0x10", "1_000", "infinity"]
        digits = [decimal.Decimal(int(value)).scaleb(-int(coins.integers(0, 30))) for value in bits]
        rows = pa.table(
            {
                "double": bits.view(np.float64),
                "single": pa.array(bits.astype(np.uint32).view(np.float32)),
                "near": coins.normal(0, 1, n).round(3),
                "text": texts,
                "exact": pa.array(digits, pa.decimal256(60, 30)),
                "whole": bits.view(np.int64),
            }
        )
        postgres_server.load(rows, "bits")
        schema = Schema(
            [
                Numeric("double", -1e300, 1e300, bins=7, null="category"),
                Numeric("single", -1e-3, 1e30, bins=5, null=0.3),
                Numeric("near", -0.7, 0.9, bins=[-0.7, -0.1, 0.1, 0.3, 0.7, 0.9]),
                Numeric("text", -100, 1000, bins=9, null="category"),
                Numeric("exact", -1e3, 1e15, integer=True),
                Numeric("whole", -(2.0**50), 2.0**50, integer=True),
            ]
        )
        (batch,) = open_table(rows, schema).batches(order=Order.irrelevant())
        with open_table(postgres_server.url("bits"), schema, way="sql") as table:
            assert isinstance(table, PostgresTable)
            names = list(schema.names)
            made = table._session.answer(table._statements.coded_rows(names) + " ORDER BY p", "compare")
        for place, name in enumerate(names):
            mine = made.column(f"v{place}").to_numpy()
            np.testing.assert_array_equal(
                mine.view(np.int64), batch.column(name).view(np.int64), err_msg=name
            )
            np.testing.assert_array_equal(
                made.column(f"k{place}").to_numpy(), batch.codes(name), err_msg=name
            )

    def test_numbers_as_identifiers_are_the_same_text_everywhere(self, postgres_server: Server) -> None:
        values = [7.0, 0.1, 1e300, 9.1e15, -0.0, 5e-324, float("inf"), float("-inf"), 123456789.25, 2.0**53]
        rows = pa.table({"x": np.arange(10.0), "id": values})
        postgres_server.load(rows, "identified")
        schema = Schema([Numeric("x", 0, 9), Identifier("id")])
        order = Order.keyed_hash("id", key=b"k" * 16, neighbours_keep_identifier=True)
        found = []
        for table in (open_table(postgres_server.url("identified"), schema), open_table(rows, schema)):
            found.append(next(table.batches(order=order)).column("x").tolist())
            table.close()
        assert found[0] == found[1]

    def test_views_partitions_and_generated_columns(self, postgres_server: Server) -> None:
        postgres_server.run(
            "CREATE TABLE split (x int, y int GENERATED ALWAYS AS (x + 1) STORED) PARTITION BY RANGE (x)",
            "CREATE TABLE low PARTITION OF split FOR VALUES FROM (0) TO (5)",
            "CREATE TABLE high PARTITION OF split FOR VALUES FROM (5) TO (10)",
            "INSERT INTO split SELECT generate_series(0, 9)",
            "CREATE VIEW seen AS SELECT x FROM split WHERE x > 2",
            "CREATE MATERIALIZED VIEW held AS SELECT x FROM seen",
            "GRANT SELECT ON split, seen, held TO reader",
        )
        for name, rows in (("split", 10), ("seen", 7), ("held", 7)):
            with open_table(postgres_server.url(name), X) as table:
                assert table.count() == rows
                assert sorted(next(table.batches()).column("x").tolist())[-1] == 9.0
                assert table.count() == rows


def test_the_right_to_read_the_declared_columns_is_enough(postgres_server: Server) -> None:
    postgres_server.run(
        "CREATE TABLE partly (x float8, secret text)",
        "INSERT INTO partly SELECT i, 'hidden' FROM generate_series(0, 9) AS i",
        "GRANT SELECT (x) ON partly TO reader",
    )
    with open_table(postgres_server.url("partly"), X) as table:
        assert table.count() == 10
        assert table.counts([["x"]])[0].sum() == 10
        assert table.sums(RowSum(Encoder(X))).shape == (2,)
        assert sorted(next(table.batches()).column("x").tolist()) == list(range(10))
    with pytest.raises(DataError, match=r"may not read the columns \['secret'\]"):
        open_table(postgres_server.url("partly"), Schema([Numeric("x", 0, 9), Categorical("secret", ["a"])]))


class TestNames:
    @pytest.mark.parametrize(
        "name", ['t"; DROP TABLE numbers; --', "Ünï 列", "a.b", "new\nline", "%s $1 {0}", "select"]
    )
    def test_hostile_tables(self, postgres_server: Server, numbers: str, name: str) -> None:
        postgres_server.load(pa.table({"x": [1.0, 2.0]}), name)
        for url, table_name in ((postgres_server.url(name), None), (postgres_server.url(), name)):
            with open_table(url, X, table=table_name) as table:
                assert table.count() == 2
        with open_table(postgres_server.url(numbers), X) as table:
            assert table.count() == 10

    def test_schemas(self, postgres_server: Server) -> None:
        postgres_server.run(
            'CREATE SCHEMA "Cl.inic"',
            'GRANT USAGE ON SCHEMA "Cl.inic" TO reader',
            'CREATE TABLE "Cl.inic"."visits" AS SELECT 1.0::float8 AS x',
            'GRANT SELECT ON "Cl.inic"."visits" TO reader',
        )
        for url in (
            postgres_server.url("Cl.inic.visits"),
            postgres_server.url("visits", schema="Cl.inic"),
        ):
            with open_table(url, X) as table:
                assert table.count() == 1
        with pytest.raises(DataError, match="no table 'visits'"):
            open_table(postgres_server.url("visits"), X)

    def test_columns_that_differ_by_case(self, postgres_server: Server) -> None:
        postgres_server.load(pa.table({"x": [1.0], "X": [2.0], "r0": [3.0]}), "cases")
        schema = Schema([Numeric("X", 0, 9), Numeric("x", 0, 9), Numeric("r0", 0, 9)])
        with open_table(postgres_server.url("cases"), schema, way="pull") as table:
            assert next(table.batches()).matrix().tolist() == [[2.0, 1.0, 3.0]]

    def test_the_table_must_be_named_once(self, postgres_server: Server) -> None:
        with pytest.raises(ParameterError, match="table must be named"):
            open_table(postgres_server.url(), X)
        with pytest.raises(ParameterError, match="contradicts the URL"):
            open_table(postgres_server.url("numbers"), X, table="others")
        with pytest.raises(ParameterError, match="way must be one of"):
            open_table(postgres_server.url("numbers"), X, way="abacus")
        with pytest.raises(ParameterError, match="keep must be one of"):
            open_table(postgres_server.url("numbers"), X, keep="tape")


class TestSecrets:
    """A password is in no error, no log and no representation, whatever goes wrong."""

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            (lambda s: s.url("numbers", password="not-Ümy word"), "refused the user name or the password"),
            (lambda s: s.url("numbers").replace("127.0.0.1", "no-such-host.invalid"), "was not found"),
            (lambda s: s.url("numbers").replace(f":{s.port}", ":1"), "nothing listens"),
            (lambda s: s.url("numbers").replace("/postgres?", "/nowhere?"), "no such user or database"),
            (lambda s: s.url("numbers", sslmode="require"), "sslmode"),
            (lambda s: s.url("numbers", colour="blue"), "could not connect"),
            (lambda s: s.url("absent"), "no table 'absent'"),
            (lambda s: s.url("numbers").replace("@", "[@", 1), "PostgreSQL URL|could not connect"),
            (lambda s: s.url("forbidden"), "GRANT SELECT"),
            (lambda s: s.url("lacking"), "'x'"),
        ],
    )
    def test_errors(
        self,
        postgres_server: Server,
        numbers: str,
        caplog: pytest.LogCaptureFixture,
        change: Callable[[Server], str],
        said: str,
    ) -> None:
        caplog.set_level(logging.DEBUG)
        postgres_server.run(
            "CREATE TABLE IF NOT EXISTS forbidden (x float8)", "CREATE TABLE IF NOT EXISTS lacking (y float8)"
        )
        with pytest.raises(HoldfastError, match=said) as caught:
            open_table(change(postgres_server), X)
        told = "".join(traceback.format_exception(caught.value)) + repr(caught.value) + caplog.text
        context = caught.value.__context__
        told += "" if context is None else str(context)
        for secret in (READER_PASSWORD, "not-Ümy", "not-%C3%9Cmy", "p%C3%A4", postgres_server.admin_password):
            assert secret not in told

    def test_representations(self, postgres_server: Server, numbers: str) -> None:
        url = postgres_server.url(numbers)
        address = Address.of(url)
        assert "p%C3%A4" in address.url
        with open_table(url, X) as table:
            assert isinstance(table, PostgresTable)
            for shown in (repr(address), repr(table), str(vars(table)), repr(table._session)):
                assert READER_PASSWORD not in shown
                assert "p%C3%A4" not in shown


def test_wide_tables_and_many_counts(postgres_server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """More than one query has room for."""
    wide = 299
    rows = pa.table(
        {f"n{i}": pa.array([0.1 * (i % 7), 0.5], pa.float32()) for i in range(wide)} | {"k": ["a", "b"]}
    )
    postgres_server.load(rows, "wide")
    schema = Schema([*(Numeric(f"n{i}", 0, 1, bins=2) for i in range(wide)), Categorical("k", ["a", "b"])])
    encoder = Encoder(schema)
    memory = open_table(rows, schema)
    with open_table(postgres_server.url("wide"), schema, way="sql") as table:
        expected = memory.sums(RowSum(encoder))
        np.testing.assert_allclose(table.sums(RowSum(encoder)), expected, rtol=0, atol=1e-12)
        monkeypatch.setattr(postgres, "MOST_QUERY_COLUMNS", 100)
        with pytest.raises(DataError, match="too many columns"):
            table.sums(RowSum(encoder))
        monkeypatch.setattr(postgres, "MOST_GROUPING_SETS", 7)
        sets = [[name] for name in schema.names] + [["k", "n0"], ["n0", "k"], []]
        for mine, theirs in zip(table.counts(sets), memory.counts(sets), strict=True):
            np.testing.assert_array_equal(mine, theirs)


def test_the_page_runs(postgres_server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    """The worked example of docs/engines/postgres.md, with the address of the server of the tests."""
    page = ROOT / "docs" / "engines" / "postgres.md"
    (block,) = re.findall(
        r"^```\{code-block\} python\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S
    )
    coins = np.random.default_rng(3)
    age = coins.integers(0, 100, 2000)
    ill = np.where(age + coins.normal(0, 10, 2000) > 50, "yes", "no")
    postgres_server.load(pa.table({"age": age, "ill": ill}), "visits of the page")
    address = "postgresql://reader@localhost/clinic?table=visits"
    assert address in block
    exec(compile(block.replace(address, postgres_server.url("visits of the page")), str(page), "exec"), {})
    assert "PrivateLogisticRegression by method 'noisy_gd'" in capsys.readouterr().out
