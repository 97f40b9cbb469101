"""Files of DuckDB made by somebody who wants more than to be read: nothing in them reaches anything else."""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast._cli.app import app
from holdfast.data import Categorical, Identifier, Numeric, Order, Schema, open_table
from holdfast.data._engines import rows_of_source
from holdfast.data._engines.duckdb.sealed import (
    CLOSED,
    SEAL,
    STORED_DATABASE,
    WORK_DATABASE,
    reads_own_tables,
    sealed_connection,
)
from holdfast.errors import DataError
from holdfast.privacy import PrivacyUnit
from tests.paths import ROOT

pytestmark = pytest.mark.slow
SECRET = "Annie Lister of Shibden Hall"
SCHEMA = Schema([Numeric("x", 0, 10, bins=5), Categorical("k", ["a", "b"], other="(other)")])
ROWS = pa.table({"x": [1.0, None, 99.0, 5.0, 7.5], "k": ["a", "b", None, "ü", "b"]})
REFUSED = "reads something else than tables of its file"


def counted(source: Any, **options: Any) -> list[list[int]]:
    with open_table(source, SCHEMA, **options) as table:
        return [count.tolist() for count in table.counts([["x"], ["k"], ["k", "x"]])]


@pytest.fixture
def victim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with files that are nobody else's business, in which the victim works."""
    (tmp_path / "secret.csv").write_text(f"x,k\n1,{SECRET}\n")
    (tmp_path / "secret.json").write_text(f'{{"x": 1, "k": "{SECRET}"}}\n')
    parquet.write_table(pa.table({"x": [1], "k": [SECRET]}), tmp_path / "secret.parquet")
    with duckdb.connect(str(tmp_path / "secret.db")) as connection:
        connection.execute(f"CREATE TABLE t AS SELECT 1 AS x, '{SECRET}' AS k")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _file(folder: Path, *statements: str) -> Path:
    """The stranger's file: a table of rows, and what else they thought of."""
    path = folder / "town.db"
    with duckdb.connect(str(path)) as connection:
        connection.register("arrived", ROWS)
        connection.execute("CREATE TABLE t AS SELECT * FROM arrived")
        connection.unregister("arrived")
        for statement in statements:
            connection.execute(statement)
    return path


BAIT = {
    "csv": "SELECT x, k FROM read_csv('secret.csv')",
    "by its name": "SELECT x, k FROM 'secret.csv'",
    "json": "SELECT x, k FROM read_json('secret.json')",
    "parquet": "SELECT x, k FROM 'secret.parquet'",
    "another database": "SELECT x, k FROM read_duckdb('secret.db', table_name='t')",
    "text": "SELECT 1 AS x, content AS k FROM read_text('secret.csv')",
    "bytes": "SELECT 1 AS x, CAST(content AS VARCHAR) AS k FROM read_blob('secret.csv')",
    "a list of files": "SELECT 1 AS x, file AS k FROM glob('*')",
    "settings": "SELECT 1 AS x, value AS k FROM duckdb_settings()",
    "databases": "SELECT 1 AS x, path AS k FROM duckdb_databases()",
    "the catalogue": "SELECT 1 AS x, table_name AS k FROM information_schema.tables",
    "a variable of Python": "SELECT x, k FROM loot",
    "written in a query": f"SELECT * FROM query('SELECT 1 AS x, ''{SECRET}'' AS k')",
    "one arm of a union": "SELECT x, k FROM t UNION ALL SELECT x, k FROM read_csv('secret.csv')",
    "settings beside rows": "SELECT x, k FROM t UNION ALL SELECT 1 AS x, value AS k FROM duckdb_settings()",
    "a condition": "SELECT x, k FROM t WHERE k IN (SELECT k FROM read_csv('secret.csv'))",
    "a common table": "WITH c AS MATERIALIZED (SELECT * FROM read_csv('secret.csv')) SELECT c.x, c.k FROM c, t",
    "another view": "SELECT x, k FROM bait",
    "a macro": "SELECT x, steal(k) AS k FROM t",
    "a table of a macro": "SELECT x, k FROM stolen()",
    "without end": "WITH RECURSIVE r AS (SELECT 1 AS x UNION ALL SELECT x FROM r) SELECT x, 'a' AS k FROM r",
    "very long": "SELECT range AS x, 'a' AS k FROM range(1000000000000)",
}


@pytest.mark.parametrize("name", BAIT)
def test_a_view_reads_nothing_but_its_file(victim: Path, name: str) -> None:
    loot = pa.table({"x": [1], "k": [SECRET]})  # a view may name a variable of whoever opens it
    path = _file(
        victim,
        "CREATE MACRO steal(v) AS (SELECT content FROM read_text('secret.csv'))",
        "CREATE MACRO stolen() AS TABLE SELECT * FROM read_csv('secret.csv')",
        "CREATE VIEW bait AS SELECT x, k FROM read_csv('secret.csv')",
    )
    with duckdb.connect(str(path)) as connection:
        connection.register("loot", loot)
        connection.execute(f"CREATE VIEW v AS {BAIT[name]}")
    url = f"duckdb:///{path}?table=v"
    for read in (lambda: counted(url), lambda: rows_of_source(url)):
        with pytest.raises(DataError, match=REFUSED) as refusal:
            read()
        assert SECRET not in str(refusal.value)
    assert counted(f"duckdb:///{path}?table=t") == counted(ROWS)
    assert loot.num_rows == 1


def test_a_draft_shows_nothing_of_other_files(victim: Path) -> None:
    path = _file(victim, f"CREATE VIEW v AS {BAIT['csv']}")
    SCHEMA.save(victim / "s.toml")
    url = f"duckdb:///{path}?table=v"
    for command in (["schema", "draft", url], ["schema", "check", url, "s.toml", "--internal"]):
        shown = CliRunner().invoke(app, command)
        assert shown.exit_code == 2, shown.output
        assert REFUSED in " ".join(shown.output.split())
        assert "Lister" not in shown.output


def test_no_table_function_of_duckdb_is_read(victim: Path) -> None:
    """Every function that this DuckDB has and that a view can be made of, whatever it is called and does."""
    path = _file(victim)
    made = []
    with duckdb.connect(str(path)) as connection:
        names = connection.execute(
            "SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_type IN ('table', 'table_macro') "
            "ORDER BY ALL"
        ).fetchall()
        files = ("secret.csv", "secret.json", "secret.parquet", "secret.db", "t", "SELECT 1")
        for place, (name,) in enumerate(names):
            for given in ("", *map("'{}'".format, files), "1", "1, 2", "'secret.db', 't'"):
                try:
                    connection.execute(f'CREATE VIEW v{place} AS SELECT * FROM "{name}"({given})')
                except duckdb.Error:
                    continue
                made.append((name, place))
                break
    assert {"read_csv", "read_text", "glob", "duckdb_settings", "range"} <= {name for name, _ in made}
    connection = sealed_connection(
        "", work=":memory:", attach=lambda c: c.execute(f"ATTACH '{path}' AS f (READ_ONLY)")
    )
    allowed = [name for name, place in made if reads_own_tables(connection, f"f.v{place}", database="f")]
    connection.close()
    assert set(allowed) <= {"query_table"}, allowed  # that one was given the name of a table of the file


@pytest.mark.parametrize(
    "view",
    [
        "SELECT * FROM t",
        "SELECT x, k FROM t WHERE x < 100 OR x IS NULL OR k = 'b' LIMIT 5",
        "SELECT t.x, t.k FROM t LEFT JOIN u ON t.k = u.k",
        "SELECT x, k FROM t UNION ALL SELECT x, k FROM u",
        "WITH c AS MATERIALIZED (SELECT * FROM t) SELECT x, k FROM c",
        "SELECT * FROM w",
    ],
)
def test_a_view_of_tables_is_read(tmp_path: Path, view: str) -> None:
    path = _file(
        tmp_path,
        "CREATE TABLE u (x DOUBLE, k VARCHAR)",
        "CREATE VIEW w AS SELECT x, k FROM t",
        f"CREATE VIEW v AS {view}",
    )
    assert counted(f"duckdb:///{path}?table=v") == counted(ROWS)


@pytest.mark.parametrize("schema", ["stored", "work", "holdfast_stored", "holdfast_work", "main", "other"])
def test_a_schema_may_be_called_anything(tmp_path: Path, schema: str) -> None:
    """A view names its schema, and DuckDB refuses a name that is both a schema's and a database's."""
    path = _file(
        tmp_path,
        f'CREATE SCHEMA IF NOT EXISTS "{schema}"',
        f'CREATE TABLE "{schema}".u AS SELECT * FROM t',
        f'CREATE VIEW "{schema}".v AS SELECT * FROM "{schema}".u',
        f'CREATE VIEW w AS SELECT * FROM "{schema}".v',
    )
    for table in (f"v&schema={schema}", f"u&schema={schema}", "w"):
        assert counted(f"duckdb:///{path}?table={table}") == counted(ROWS)


def test_a_table_of_a_schema_is_asked_for_as_the_error_says(tmp_path: Path) -> None:
    path = _file(tmp_path, "CREATE SCHEMA s", "CREATE TABLE s.u AS SELECT * FROM t")
    with pytest.raises(DataError, match=r"it holds t, s\.u\. .* table=name&schema=schema"):
        counted(f"duckdb:///{path}?table=s.u")


def test_a_view_of_a_schema_called_memory_says_why(tmp_path: Path) -> None:
    path = _file(
        tmp_path,
        "CREATE SCHEMA memory",
        "CREATE TABLE memory.u AS SELECT * FROM t",
        "CREATE VIEW v AS SELECT * FROM memory.u",
    )
    assert counted(f"duckdb:///{path}?table=u&schema=memory") == counted(ROWS)
    with pytest.raises(DataError, match="its schema 'memory' has the name of a database of DuckDB's own"):
        counted(f"duckdb:///{path}?table=v")


NAMES = st.text(
    st.sampled_from("""aB"'`;.-/*\\%$?&#{}[]()|=<> \t\n\u202eé漢"""), min_size=1, max_size=12
) | st.sampled_from(
    [
        "stored",
        "holdfast_stored",
        "holdfast_work",
        "SELECT",
        "' OR 1=1 --",
        '"."',
        "information_schema",
        "memory.main",
        "kept",
    ]
)


@settings(max_examples=30)
@given(schema=NAMES, table=NAMES, column=NAMES, over=st.booleans())
def test_names_are_names(
    tmp_path_factory: pytest.TempPathFactory, schema: str, table: str, column: str, over: bool
) -> None:
    from urllib.parse import quote

    def quoted(name: str) -> str:
        return '"' + name.replace('"', '""') + '"'

    path = tmp_path_factory.mktemp("named") / "a'b \"c.db"
    with duckdb.connect(str(path)) as connection:
        where = quoted(schema)
        try:
            connection.execute(f"CREATE SCHEMA {where}")
        except duckdb.Error:  # names of DuckDB's own
            return
        connection.execute(f"CREATE TABLE {where}.{quoted(table)} ({quoted(column)} VARCHAR)")
        connection.execute(
            f"INSERT INTO {where}.{quoted(table)} VALUES ('a'), ('b'), ('b'), ({column!r:.0}NULL)"
        )
        connection.execute(f"COMMENT ON TABLE {where}.{quoted(table)} IS '''; DROP TABLE t; --'")
        if over:
            connection.execute(
                f'CREATE VIEW {where}."v {table[:1].replace(chr(34), "")}" AS FROM {where}.{quoted(table)}'
            )
            table = f"v {table[:1].replace(chr(34), '')}"
    url = f"duckdb:///{quote(str(path))}?table={quote(table, safe='')}&schema={quote(schema, safe='')}"
    with open_table(url, Schema([Categorical(column, ["a", "b"], null="-")])) as opened:
        assert opened.counts([[column]])[0].tolist() == [1, 2, 1]


def _shadows(connection: Any, names: list[str], *, takes: tuple[str, ...] = ("x", "x, y")) -> set[str]:
    """Macros of these names, of one and two arguments; those that DuckDB lets anyone make."""
    made = set()
    for name in names:
        quoted = '"' + name.replace('"', '""') + '"'
        try:
            bodies = ", ".join(f"({taken}) AS 0" for taken in takes)
            connection.execute(f"CREATE MACRO {quoted}{bodies}")
            made.add(name)
        except duckdb.Error:
            pass
    return made


def _function_names(connection: Any) -> list[str]:
    rows = connection.execute(
        "SELECT DISTINCT function_name FROM duckdb_functions() WHERE internal"
    ).fetchall()
    return sorted(name for (name,) in rows)


def _answers(source: Any, **options: Any) -> Any:
    schema = Schema(
        [Identifier("who"), Numeric("x", 0, 10, bins=5), Categorical("k", ["a", "b"], other="(other)")],
        unit=PrivacyUnit.user("who", max_rows=2),
    )
    with open_table(source, schema, **options) as table:
        shuffled = [batch.rows for batch in table.batches(order=Order.permutation(), rows=3)]
        return (
            [count.tolist() for count in table.counts([["x"], ["k"]])],
            table.units(),
            table.count(),
            shuffled,
        )


def test_macros_of_a_file_do_not_stand_for_functions(tmp_path: Path) -> None:
    """A macro for every function and operator that DuckDB has, in a file that is opened by its URL."""
    rows = ROWS.append_column("who", pa.array(["p", "p", "q", "r", "q"]))
    path = tmp_path / "town.db"
    with duckdb.connect(str(path)) as connection:
        connection.register("arrived", rows)
        connection.execute("CREATE TABLE t AS SELECT * FROM arrived")
        names = _function_names(connection)
        made = _shadows(connection, names)
        assert {"sha256", "+", "||", "count", "floor", "row_number", "isfinite"} <= made
    assert _answers(f"duckdb:///{path}?table=t") == _answers(rows)


SHADOWED = random.Random(20).sample(
    sorted({*_function_names(duckdb.connect()), "sha256", "+", "~~", "range", "Sha256"}), 12
)


@pytest.mark.parametrize("name", [*SHADOWED, "sha256", "FLOOR", "+"])
@pytest.mark.parametrize("kind", ["connection", "relation"])
def test_a_connection_with_macros_for_functions_is_refused(name: str, kind: str) -> None:
    with duckdb.connect() as connection:
        connection.register("arrived", ROWS)
        connection.execute("CREATE TABLE t AS SELECT * FROM arrived")
        connection.execute("CREATE MACRO twice(x) AS 2 * x")  # takes nobody's place
        assert counted(connection, table="t") == counted(ROWS)
        relation = connection.table("t")
        if not _shadows(connection, [name]):
            pytest.skip(f"DuckDB lets nobody define {name!r}")
        with pytest.raises(DataError, match=re.escape(f"has macros called {name!r}")):
            counted(connection, table="t") if kind == "connection" else counted(relation)


def test_a_macro_cannot_hide_the_others() -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t (x INTEGER, k VARCHAR)")
        connection.execute(
            "CREATE MACRO duckdb_functions() AS TABLE SELECT 'abs' AS function_name, true AS internal"
        )
        connection.execute("CREATE MACRO sha256(x) AS '0'")
        with pytest.raises(DataError, match="'duckdb_functions', 'sha256'"):
            counted(connection, table="t")


@pytest.mark.parametrize(
    "expression", ["hidden(x)", "x * 2", "current_setting('temp_directory')", "random()"]
)
def test_generated_columns_are_computed_by_duckdb_alone(victim: Path, expression: str) -> None:
    path = _file(
        victim,
        "CREATE MACRO hidden(x) AS 0",
        f"CREATE TABLE g (x DOUBLE, k VARCHAR, extra VARCHAR AS ({expression}))",
        "INSERT INTO g SELECT x, k FROM t",
    )
    if expression == "hidden(x)":
        with pytest.raises(DataError, match="could not read the columns"):
            counted(f"duckdb:///{path}?table=g")
    else:
        assert counted(f"duckdb:///{path}?table=g") == counted(ROWS)


@pytest.mark.parametrize("collation", ["NOCASE", "NOACCENT", "NOCASE.NOACCENT"])
def test_collations_of_a_file_change_no_answer(tmp_path: Path, collation: str) -> None:
    words = ["yes", "YES", "yés", "no", "No", "yes"]
    path = tmp_path / "town.db"
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"CREATE TABLE t (who VARCHAR COLLATE {collation}, k VARCHAR COLLATE {collation})")
        connection.executemany("INSERT INTO t VALUES (?, ?)", [[word, word] for word in words])
    schema = Schema(
        [Identifier("who"), Categorical("k", ["yes", "no"], other="-")],
        unit=PrivacyUnit.user("who", max_rows=1),
    )
    rows = pa.table({"who": words, "k": words})
    answers = []
    for source in (rows, f"duckdb:///{path}?table=t"):
        with open_table(source, schema) as table:
            answers.append((table.counts([["k"]])[0].tolist(), table.units(), table.count()))
    assert answers[0] == answers[1]


class Recorded:
    """A connection or cursor that writes down what it is told."""

    def __init__(self, connection: Any, sent: list[str]) -> None:
        self._connection, self._sent = connection, sent

    def cursor(self) -> Any:
        return Recorded(self._connection.cursor(), self._sent)

    def execute(self, statement: str) -> Any:
        self._sent.append(statement)
        return self._connection.execute(statement)

    def sql(self, statement: str) -> Any:
        self._sent.append(statement)
        return self._connection.sql(statement)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


def _sources(folder: Path) -> list[str]:
    path = _file(folder, "CREATE VIEW v AS SELECT * FROM t")
    duckdb.from_arrow(ROWS).write_parquet(str(folder / "rows.parquet"))
    duckdb.from_arrow(ROWS).write_csv(str(folder / "rows.csv"))
    urls = [f"duckdb:///{path}?table={name}" for name in "tv"]
    return [*urls, str(folder / "rows.parquet"), str(folder / "rows.csv")]


def _use(source: str) -> None:
    schema = Schema([Numeric("x", 0, 10), Identifier("k")], unit=PrivacyUnit.user("k", max_rows=1))
    with open_table(source, schema) as table:
        table.counts([["x"]])
        list(table.batches(order=Order.permutation(), rows=2))
    rows_of_source(source)


def test_every_connection_is_sealed_before_it_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is sent before the seal attaches and sets; then the seal, whole; then it holds, on every cursor."""
    connections: list[tuple[Any, list[str]]] = []
    sources = _sources(tmp_path)
    connect: Callable[..., Any] = duckdb.connect

    def recording(*given: Any, **options: Any) -> Any:
        sent: list[str] = []
        connections.append((connect(*given, **options), sent))
        assert (
            options["config"].items()
            >= {
                "autoload_known_extensions": "false",
                "autoinstall_known_extensions": "false",
                "allow_community_extensions": "false",
            }.items()
        )
        return Recorded(connections[-1][0], sent)

    monkeypatch.setattr(duckdb, "connect", recording)
    for source in sources:
        _use(source)
    assert len(connections) >= 2 * 2 + 2
    for _, sent in connections:
        first = sent.index(SEAL[0])
        assert tuple(sent[first : first + len(SEAL)]) == SEAL
        assert all(
            re.match(
                rf"ATTACH '[^']*' AS ({WORK_DATABASE}|{STORED_DATABASE}) |SET (memory_limit|threads) ", one
            )
            for one in sent[:first]
        )
        attached = [one for one in sent[:first] if f" AS {STORED_DATABASE} " in one]
        assert all(one.endswith("(READ_ONLY, TYPE duckdb)") for one in attached)
        after = sent[first + len(SEAL) :]
        assert after
        assert not any(
            re.match(r"\s*(SET|ATTACH|LOAD|INSTALL|COPY|PRAGMA|RESET|USE)\b", one) for one in after
        )
        # Tables are named with their database, whichever statement it is.
        named = re.findall(r'(?:FROM|JOIN|INTO|TABLE)\s+("?\w+"?)\.', " ".join(after))
        assert set(named) <= {f'"{STORED_DATABASE}"', WORK_DATABASE, "system"}, named


FORBIDDEN = (
    "SET enable_external_access = true",
    "SET GLOBAL enable_external_access = true",
    "RESET lock_configuration",
    "SET python_enable_replacements = true",
    "SET autoload_known_extensions = true",
    "ATTACH 'other.db' AS other",
    "ATTACH 'secret.db' AS other (READ_ONLY)",
    "COPY (SELECT 1) TO 'out.csv'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SELECT * FROM read_csv('secret.csv')",
    "SELECT * FROM 'secret.parquet'",
    "SELECT * FROM loot",
    "EXPORT DATABASE 'out'",
    "CREATE SECRET s (TYPE http)",
)


@pytest.mark.parametrize("statement", FORBIDDEN)
@pytest.mark.parametrize("spills", [True, False])
def test_a_sealed_connection_stays_shut(victim: Path, statement: str, spills: bool) -> None:
    loot = pa.table({"x": [1]})
    folder = victim / "work"
    folder.mkdir()
    connection = sealed_connection(
        str(folder) if spills else "", work=str(folder / "w.db") if spills else ":memory:"
    )
    before = sorted(victim.iterdir())
    for asked in (connection, connection.cursor()):
        with pytest.raises(duckdb.Error):
            asked.execute(statement).fetchall()
    connection.close()
    assert sorted(victim.iterdir()) == before
    assert loot.num_rows == 1


def test_every_cursor_has_the_settings() -> None:
    """Also those that only matter where another one fails."""
    connection = sealed_connection("", work=":memory:")
    for asked in (connection, connection.cursor()):
        listed = dict(asked.execute("SELECT name, value FROM duckdb_settings()").fetchall())
        wanted = dict(statement.removeprefix("SET GLOBAL ").split(" = ") for statement in SEAL)
        assert listed.items() >= (wanted | CLOSED).items()
    connection.close()


def test_a_sealed_connection_spills(tmp_path: Path) -> None:
    """It can still do what it is for: more than its memory, in its own folder."""
    connection = sealed_connection(str(tmp_path), work=str(tmp_path / "w.db"), memory_limit="60MB", threads=1)
    cursor = connection.cursor()
    cursor.execute(f"CREATE TABLE {WORK_DATABASE}.h AS SELECT hash(range) AS h FROM range(3000000)")
    first = cursor.execute(
        f"SELECT h FROM {WORK_DATABASE}.h ORDER BY h DESC LIMIT 1 OFFSET 2000000"
    ).fetchall()
    assert len(first) == 1
    connection.close()


def test_a_file_that_is_something_else_loads_no_extension(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DuckDB loads an extension for what looks like a database of another kind."""
    import sqlite3

    monkeypatch.chdir(tmp_path)
    with sqlite3.connect("lite.db") as lite:
        lite.execute("CREATE TABLE t (x, k)")
    Path("postgres:dbname=x").write_bytes(b"")
    for name in ("lite.db", "postgres:dbname=x"):
        with pytest.raises(DataError):
            open_table(f"duckdb:///{name}?table=t", SCHEMA)


def test_only_one_place_opens_connections() -> None:
    """Whoever writes another way to DuckDB must say it here."""
    places = []
    for file in (ROOT / "src" / "holdfast").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in (
                "duckdb.connect",
                "duckdb.sql",
                "duckdb.query",
            ):
                places.append(file.name)
    assert places == ["sealed.py"]


def test_numbers_are_those_of_memory(tmp_path: Path) -> None:
    path = _file(tmp_path)
    with open_table(f"duckdb:///{path}?table=t", SCHEMA) as table, open_table(ROWS, SCHEMA) as memory:
        for here, there in zip(
            table.batches(order=Order.irrelevant()), memory.batches(order=Order.irrelevant()), strict=True
        ):
            np.testing.assert_array_equal(here.values["x"], there.values["x"])
