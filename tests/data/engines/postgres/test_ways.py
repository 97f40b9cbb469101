"""PostgreSQL: where the work is done, what is copied and what stays when a connection is lost."""

from __future__ import annotations

import gc
import stat
import tempfile
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner

from holdfast._cli.app import app
from holdfast.data import Categorical, Encoder, Numeric, RowSum, Schema, SecondMoment, open_table
from holdfast.data._engines.postgres import session as postgres_session
from holdfast.data._engines.postgres import table as postgres
from holdfast.data._engines.postgres.copy import pull
from holdfast.data._engines.postgres.table import PostgresTable
from holdfast.errors import DataError
from holdfast.learn import load_model
from tests.servers.postgres import READER_PASSWORD, Server

X = Schema([Numeric("x", 0, 9)])


@pytest.fixture
def numbers(postgres_server: Server) -> Iterator[str]:
    """A table of ten numbers."""
    postgres_server.load(pa.table({"x": np.arange(10.0)}), "ten numbers")
    yield "ten numbers"
    postgres_server.run('DROP TABLE "ten numbers"')


class TestWays:
    def test_sql_reads_no_row(
        self, postgres_server: Server, numbers: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(postgres, "pull", None)
        with open_table(postgres_server.url(numbers, way="sql"), X) as table:
            assert table.can("engine_sums")
            assert not table.can("map_partitions")
            assert table.count() == table.units() == table.counts([["x"]])[0].sum() == 10
            encoder = Encoder(X, intercept=False, row_norm=None, scale="unit")
            assert table.sums(RowSum(encoder)).tolist() == [5.0]
            for ask in (table.batches, lambda: table.map_partitions(next), lambda: table.sums(Unspelled())):
                with pytest.raises(DataError, match="rows do not leave the server"):
                    ask()

    def test_auto_pulls_rows_once_and_then_lets_the_server_go(
        self, postgres_server: Server, numbers: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        made = []

        def watched(*asked: Any, **options: Any) -> Any:
            made.append(options["keep"])
            return pull(*asked, **options)

        monkeypatch.setattr(postgres, "pull", watched)
        with open_table(postgres_server.url(numbers, application_name="once"), X) as table:
            table.counts([["x"]])
            assert made == []
            assert postgres_server.sessions("once", expected=1) == 1
            for _ in range(3):
                assert sorted(next(table.batches()).column("x").tolist()) == list(range(10))
            assert made == ["memory"]
            assert postgres_server.sessions("once", expected=0) == 0
            assert table.count() == 10

    def test_the_rule(self, postgres_server: Server, numbers: str, monkeypatch: pytest.MonkeyPatch) -> None:
        for most, large in ((9, True), (10, False)):
            monkeypatch.setattr(postgres, "MOST_PULLED_VALUES", most)
            with open_table(postgres_server.url(numbers), X) as table:
                assert isinstance(table, PostgresTable)
                assert table.can("engine_sums") is large
                assert table.can("map_partitions")
                assert table._keep == ("file" if large else "memory")
            with open_table(postgres_server.url(numbers), X, way="pull", keep="memory") as table:
                assert not table.can("engine_sums")

    def test_two_streams_at_once(self, postgres_server: Server, numbers: str) -> None:
        with open_table(postgres_server.url(numbers), X) as table:
            pairs = zip(table.batches(rows=4), table.batches(rows=4), strict=True)
            assert [(len(a), len(b), table.count()) for a, b in pairs] == [(4, 4, 10), (4, 4, 10), (2, 2, 10)]

    def test_one_snapshot(self, postgres_server: Server, numbers: str) -> None:
        with open_table(postgres_server.url(numbers), X) as table:
            before = table.count()
            postgres_server.run('INSERT INTO "ten numbers" VALUES (1), (2)')
            assert table.count() == before == 10
            assert len(next(table.batches())) == 10
        with open_table(postgres_server.url(numbers), X) as table:
            assert table.count() == 12

    def test_nothing_can_be_written(self, postgres_server: Server, numbers: str) -> None:
        url = postgres_server.url(numbers, user="postgres")  # not even by who may
        with open_table(url, X) as table:
            assert isinstance(table, PostgresTable)
            with pytest.raises(DataError, match="25006"):
                table._session.answer('DELETE FROM public."ten numbers"', "misbehave", copy=False)
            with pytest.raises(DataError, match="open the table again"):
                table.count()


class TestCopy:
    @pytest.fixture
    def folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
        return tmp_path

    def test_a_file_is_private_and_deleted(self, postgres_server: Server, numbers: str, folder: Path) -> None:
        with open_table(postgres_server.url(numbers), X, keep="file") as table:
            assert list(folder.iterdir()) == []
            next(table.batches())
            (made,) = folder.iterdir()
            assert stat.S_IMODE(made.stat().st_mode) == 0o700
            assert not (made / "copy.db").exists()  # it is open, and has no name
        assert list(folder.iterdir()) == []
        table = open_table(postgres_server.url(numbers), X, way="pull", keep="file")
        assert table.count() == 10
        del table
        gc.collect()
        assert list(folder.iterdir()) == []

    def test_memory_leaves_no_file(self, postgres_server: Server, numbers: str, folder: Path) -> None:
        with open_table(postgres_server.url(numbers), X, keep="memory") as table:
            assert len(next(table.batches())) == 10
            assert list(folder.iterdir()) == []

    def test_a_connection_lost_half_way(
        self, postgres_server: Server, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        postgres_server.run(
            "CREATE TABLE long AS SELECT i::float8 AS x, repeat('secret', 20) AS k "
            "FROM generate_series(1, 60000) AS i",
            "GRANT SELECT ON long TO reader",
        )
        monkeypatch.setattr(postgres_session, "BATCH_BYTES", 2**16)
        schema = Schema([Numeric("x", 0, 9), Categorical("k", ["a"])])
        table = open_table(postgres_server.url("long", application_name="doomed"), schema, keep="file")
        assert isinstance(table, PostgresTable)
        original, seen = table._session.stream, list[int]()

        def stream(*asked: Any, **options: Any) -> Iterator[Any]:
            for batch in original(*asked, **options):
                if not seen:
                    postgres_server.terminate("doomed")
                seen.append(batch.num_rows)
                yield batch

        monkeypatch.setattr(table._session, "stream", stream)
        with pytest.raises(DataError, match="could not send the rows: the connection was lost") as caught:
            table.batches()
        assert 0 < sum(seen) < 60000
        assert "secret" not in "".join(traceback.format_exception(caught.value))
        assert list(folder.iterdir()) == []
        with pytest.raises(DataError, match="open the table again"):
            table.batches()
        table.close()


class Unspelled:
    """A statistic that SQL has no words for."""

    columns, shape = ("x",), (1,)

    def __call__(self, batch: Any) -> Any:
        return np.zeros(1)


def test_users_are_bounded_the_same_way_on_both_sides(postgres_server: Server) -> None:
    from tests.contracts.engine_contract import (
        all_rows,
        as_multiset,
        reference,
        seeded,
        visits,
        visits_schema,
    )

    rows, schema = visits(), visits_schema(3)
    postgres_server.load(rows, "visits of users")
    encoder = Encoder(schema)
    theirs = reference(rows, schema, entropy=seeded())
    url = postgres_server.url("visits of users")
    with open_table(url, schema, way="sql", entropy=seeded()) as table:
        assert (table.count(), table.units()) == (theirs.count(), theirs.units())
        np.testing.assert_array_equal(table.counts([["kind"]])[0], theirs.counts([["kind"]])[0])
        expected = theirs.sums(SecondMoment(encoder))
        np.testing.assert_allclose(table.sums(SecondMoment(encoder)), expected, rtol=0, atol=1e-12)
    with open_table(url, schema, way="pull", entropy=seeded()) as table:
        assert as_multiset(all_rows(table)) == as_multiset(all_rows(theirs))


def test_the_command_line_fits_a_url(postgres_server: Server, tmp_path: Path) -> None:
    coins = np.random.default_rng(3)
    age = coins.integers(0, 100, 3000)
    ill = np.where(age + coins.normal(0, 10, 3000) > 50, "yes", "no")
    postgres_server.load(pa.table({"age": age, "ill": ill}), "clinic")
    Schema([Numeric("age", 0, 100), Categorical("ill", ["no", "yes"])]).save(tmp_path / "clinic.toml")
    for way in ("pull", "sql"):
        model = tmp_path / f"{way}.holdfast"
        shown = CliRunner().invoke(
            app,
            [
                "fit",
                postgres_server.url("clinic", way=way),
                "--schema",
                str(tmp_path / "clinic.toml"),
                "--target",
                "ill",
                "--epsilon",
                "2",
                "--delta",
                "1e-6",
                "--method",
                "noisy_gd",
                "-o",
                str(model),
            ],
        )
        assert shown.exit_code == 0, shown.output
        assert load_model(model).predict({"age": [5, 95]}).tolist() == ["no", "yes"]
        for secret in (READER_PASSWORD, "p%C3%A4", "127.0.0.1"):
            assert secret.encode() not in model.read_bytes()
            assert secret not in shown.output
    refused = CliRunner().invoke(
        app,
        [
            "fit",
            postgres_server.url("clinic", password="wr%ng"),
            "--schema",
            str(tmp_path / "clinic.toml"),
            "--target",
            "ill",
            "--epsilon",
            "2",
            "-o",
            str(tmp_path / "none.holdfast"),
        ],
    )
    assert refused.exit_code == 2
    assert "wr%" not in refused.output
    assert not (tmp_path / "none.holdfast").exists()
