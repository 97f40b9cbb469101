"""What an engine says when something fails: the kind of failure, and never a value of the data or a password."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.data import (
    Categorical,
    Encoder,
    Numeric,
    Order,
    RowSum,
    Schema,
    Table,
    draft_schema,
    open_table,
)
from holdfast.data._engines import file_rows
from holdfast.data._engines.csv_files import CsvFile
from holdfast.data._engines.file_rows import ParquetRows
from holdfast.errors import AssumptionWarning, DataError, HoldfastError
from tests.servers import postgres, spark
from tests.servers.postgres import READER_PASSWORD

SECRET = "Geheimrat"
SCHEMA = Schema([Numeric("x", 0, 9), Categorical("k", ["a"])])
ROWS = pa.table({"x": list(range(200)), "k": [SECRET] * 200})
ASKED: dict[str, Callable[[Table], object]] = {
    "rows": lambda table: list(table.batches(order=Order.irrelevant(), rows=7)),
    "shuffled": lambda table: list(table.batches(rows=7)),
    "counts": lambda table: table.counts([["x", "k"]]),
    "count": lambda table: table.count(),
    "sums": lambda table: table.sums(RowSum(Encoder(SCHEMA))),
}


def told(error: BaseException | None) -> str:
    return "" if error is None else "".join(traceback.format_exception(error))


def failing(error: Exception, after: int) -> Callable[..., Iterator[Any]]:
    """A reader that breaks after so many batches."""

    def batches(self: Any, columns: Any) -> Iterator[Any]:
        names = [f"n{place}" for place in columns] or ["n0"]
        for _ in range(after):
            made = pa.record_batch({name: pa.array([SECRET]) for name in names})
            yield (
                made if isinstance(self, CsvFile) else ([pa.nulls(1).cast(self.types[c]) for c in columns], 1)
            )
        raise error

    return batches


FAILURES = [
    ValueError(SECRET),
    OSError(SECRET),
    OSError(5, SECRET),
    pa.ArrowInvalid(SECRET),
    MemoryError(SECRET),
    UnicodeDecodeError("utf-8", SECRET.encode(), 0, 1, SECRET),
    RuntimeError(SECRET),
    KeyError(SECRET),
]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@settings(max_examples=25, deadline=None)
@given(error=st.sampled_from(FAILURES), after=st.integers(0, 3), asked=st.sampled_from(sorted(ASKED)))
def test_a_failure_in_the_middle_of_a_file(
    tmp_path_factory: pytest.TempPathFactory, kind: str, error: Exception, after: int, asked: str
) -> None:
    path = tmp_path_factory.getbasetemp() / f"failing.{kind}"
    if kind == "csv":
        path.write_text("x,k\n" + f"1,{SECRET}\n" * 9)
    else:
        parquet.write_table(ROWS, path)
    owner = CsvFile if kind == "csv" else ParquetRows
    with pytest.MonkeyPatch.context() as patched, open_table(path, SCHEMA) as table:
        patched.setattr(owner, "batches", failing(error, after))
        with pytest.raises(DataError, match="withheld") as caught:
            ASKED[asked](table)
    assert SECRET not in told(caught.value)


@settings(max_examples=40, deadline=None)
@given(place=st.integers(0, 2000), byte=st.integers(0, 255), cut=st.booleans())
def test_a_damaged_file(tmp_path_factory: pytest.TempPathFactory, place: int, byte: int, cut: bool) -> None:
    path = tmp_path_factory.getbasetemp() / "damaged.parquet"
    parquet.write_table(ROWS, path, compression="none", use_dictionary=False)
    content = bytearray(path.read_bytes())
    content[place % len(content)] = byte
    path.write_bytes(content[: place % len(content)] if cut else content)
    said = ""
    for question in ("count", "rows", "counts"):
        try:
            with open_table(path, SCHEMA) as table:
                ASKED[question](table)
        except HoldfastError as error:
            said += told(error)
    assert SECRET not in said


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet"])
@pytest.mark.filterwarnings("ignore::holdfast.errors.NotPrivateWarning")
def test_a_file_that_is_something_else(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"rows.{ending}"
    path.write_bytes(b"\xff\x00" + SECRET.encode() * 3)
    for opened in (lambda: open_table(path, SCHEMA), lambda: draft_schema(path)):
        with pytest.raises(DataError) as caught:
            opened()
        assert SECRET not in told(caught.value)


def test_a_caller_s_view_that_cannot_be_computed() -> None:
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE t AS SELECT '{SECRET}' AS word")
    connection.execute("CREATE VIEW v AS SELECT CAST(word AS INTEGER) AS x, word AS k FROM t")
    for asked in set(ASKED) - {"count"}:  # which computes no column
        with pytest.raises(DataError, match="withheld") as caught:
            ASKED[asked](open_table(connection, SCHEMA, table="v"))
        assert SECRET not in told(caught.value)


def test_objects_that_raise_when_they_are_read() -> None:
    class Hostile:
        def __str__(self) -> str:
            raise ValueError(SECRET)

        def __eq__(self, other: object) -> bool:
            raise ValueError(SECRET)

        __hash__ = None  # type: ignore[assignment]

    with open_table({"x": [Hostile(), 1], "k": ["a", Hostile()]}, SCHEMA) as table:
        assert table.count() == 2


def interrupted(asked: str) -> None:
    """Ends with 0 if the interrupt came through as one."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    connection = duckdb.connect()
    # Should nothing interrupt it, memory does: otherwise it would take all that the machine has.
    connection.execute("SET memory_limit = '3GB'; SET temp_directory = ''")
    endless = "SELECT a.range % 9 AS x, 'a' AS k FROM range(10000000) a, range(10000000) b"
    connection.execute(f"CREATE VIEW v AS SELECT * FROM ({endless}) ORDER BY hash(x)")
    table = open_table(connection, SCHEMA, table="v")
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt) as caught:
            ASKED[asked](table)
    finally:
        timer.cancel()
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


@pytest.mark.parametrize("asked", ["rows", "count"])
def test_an_interrupt_ends_a_query(asked: str) -> None:
    """Finding E6: as an interrupt, without a statement or a traceback of DuckDB's.

    In a process of its own, whose only thread is the main one: what other tests did to signals does not matter.
    """
    child = multiprocessing.get_context("fork").Process(target=interrupted, args=(asked,))
    child.start()
    child.join(60)
    ended, code = not child.is_alive(), child.exitcode
    child.kill()
    assert ended
    assert code == 0


@pytest.mark.slow
class TestPostgres:
    @pytest.fixture
    def server(self) -> postgres.Server:
        return postgres.required_server()

    @pytest.mark.parametrize("way", ["sql", "pull"])
    def test_a_time_limit_is_not_a_lost_connection(self, server: postgres.Server, way: str) -> None:
        """Finding E8."""
        server.run(
            "CREATE OR REPLACE VIEW slow AS SELECT i AS x, 'a' || pg_sleep(0.2)::text AS k "
            "FROM generate_series(1, 99) i",
            "GRANT SELECT ON slow TO reader",
        )
        url = server.url("slow", options="-c statement_timeout=150")
        with (
            open_table(url, SCHEMA, way=way) as table,
            pytest.raises(DataError, match="time limits") as caught,
        ):
            table.counts([["k"]])
        assert "lost" not in str(caught.value)

    @pytest.mark.parametrize("through", ["table", "view"])
    def test_rows_that_policies_hide_are_spoken_of(self, server: postgres.Server, through: str) -> None:
        """Finding E8."""
        server.run(
            "DROP TABLE IF EXISTS guarded CASCADE",
            "CREATE TABLE guarded AS SELECT i AS x, 'a' AS k FROM generate_series(1, 9) i",
            "ALTER TABLE guarded ENABLE ROW LEVEL SECURITY",
            "CREATE POLICY few ON guarded FOR SELECT TO reader USING (x < 4)",
            "CREATE VIEW shielded WITH (security_invoker = true) AS SELECT * FROM guarded",
            "GRANT SELECT ON guarded, shielded TO reader",
        )
        name = "guarded" if through == "table" else "shielded"
        with pytest.warns(AssumptionWarning, match="row-level security"):
            table = open_table(server.url(name), SCHEMA)
        with closing(table):
            assert table.count() == 3
            assert any("row-level security" in one.text for one in table.assumptions)
        with open_table(server.url(name, user="postgres"), SCHEMA) as whole:
            assert whole.count() == 9
            assert whole.assumptions == ()

    def test_a_value_that_cannot_be_computed(self, server: postgres.Server) -> None:
        server.run(
            f"CREATE OR REPLACE VIEW wrong AS SELECT CAST('{SECRET}' || i AS integer) AS x, 'a' AS k "
            "FROM generate_series(1, 3) i",
            "GRANT SELECT ON wrong TO reader",
        )
        for asked in ("counts", "rows"):
            with open_table(server.url("wrong"), SCHEMA) as table, pytest.raises(DataError) as caught:
                ASKED[asked](table)
            assert SECRET not in told(caught.value)
            assert READER_PASSWORD not in told(caught.value)


@pytest.mark.slow
@pytest.mark.filterwarnings(spark.IGNORED)
def test_a_value_that_spark_cannot_compute() -> None:
    session = spark.classic()
    frame = session.sql(f"SELECT CAST(concat('{SECRET}', id) AS INT) AS x, 'a' AS k FROM range(3)")
    for asked in ("counts", "rows"):
        with open_table(frame, SCHEMA) as table, pytest.raises(DataError) as caught:
            ASKED[asked](table)
        assert SECRET not in told(caught.value)


def test_all_files_are_read_one_way() -> None:
    """Whoever reads CSV reads it by lines: no other reader is called anywhere in the package."""
    package = Path(file_rows.__file__).parents[2]
    calls = [
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if any(word in path.read_text(encoding="utf-8") for word in ("read_csv(", "csv.reader", "open_csv"))
    ]
    assert calls == ["data/_engines/csv_files.py"]
