"""A database in which a stranger shadows everything: nothing of it runs as whoever calls a command.

The stranger may create in `public` and in schemas of their own, nothing else. Each function, operator, type and view of
theirs writes a line into the server's log, where no transaction takes it back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from click.testing import CliRunner

from holdfast._cli.app import app
from holdfast.data import Categorical, Numeric, Schema, open_table
from holdfast.data._engines.postgres import extension, install
from holdfast.data._engines.postgres.pinned import PINS, READ_ONLY, SEARCH_PATH, pin_statements, with_pins
from holdfast.errors import DataError, ParameterError
from tests.paths import ROOT
from tests.servers.postgres import Server, required_server

TYPES = (
    "name",
    "text",
    "int2",
    "int4",
    "int8",
    "float4",
    "float8",
    "numeric",
    "oid",
    "bool",
    "varchar",
    '"char"',
    "regproc",
    "regtype",
    "regclass",
    "tid",
    "bytea",
    "date",
    "timestamp",
    "timestamptz",
    "text[]",
)
PAIRED = ("name", "text", "int4", "int8", "float8", "numeric", "oid", '"char"', "regproc")
OPERATORS = ("=", "<>", "<", ">", "<=", ">=", "+", "-", "*", "/", "%", "||", "~", "~~", "!~~")
VIEWS = (
    "pg_class",
    "pg_namespace",
    "pg_type",
    "pg_roles",
    "pg_proc",
    "pg_database",
    "pg_enum",
)
SCHEMA = Schema([Numeric("age", 0, 100, bins=4), Categorical("ill", ["no", "yes"])])
SIGN = "a stranger ran"


def _names() -> list[str]:
    """Everything that our statements could call, and what the driver does."""
    folder = ROOT / "src" / "holdfast" / "data"
    text = "".join(
        path.read_text()
        for path in [*(folder / "_sql").glob("*.py"), *(folder / "_engines/postgres").glob("*.py")]
    )
    return sorted({*re.findall(r"\b([a-z_][a-z0-9_]*)\(", text), "version", "current_schema", "to_regtype"})


def _traps(connection: Any) -> None:
    """Shadows of functions, operators, types and views, made by the stranger."""
    connection.execute(
        f"CREATE FUNCTION public.sprung(what pg_catalog.text) RETURNS pg_catalog.bool LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE LOG '{SIGN} % as %', what, CURRENT_USER; RETURN true; END $$"
    )
    known = connection.execute(
        "SELECT DISTINCT p.proname FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace "
        "WHERE p.proname = ANY(%s) AND n.nspname = 'pg_catalog'",
        [_names()],
    ).fetchall()
    statements = []
    for (name,) in known:
        arguments = ["", *TYPES, *(f"{one}, {two}" for one in PAIRED for two in PAIRED)]
        statements += [_function(name, taken) for taken in arguments]
    for one, two in {(one, one) for one in TYPES} | {(one, two) for one in PAIRED for two in PAIRED}:
        for number, operator in enumerate(OPERATORS):
            result = one if operator in "+-*/%||" else "bool"
            name = f"operator_{number}"
            statements.append(_function(name, f"{one}, {two}", result=result))
            statements.append(
                f"CREATE OPERATOR public.{operator} (LEFTARG = {one}, RIGHTARG = {two}, FUNCTION = public.{name})"
            )
    statements += [
        f"CREATE VIEW public.{name} AS SELECT * FROM pg_catalog.{name} WHERE public.sprung('view {name}')"
        for name in VIEWS
    ]
    statements += [
        f"CREATE DOMAIN public.{name} AS pg_catalog.{name} CHECK (public.sprung('type {name}'))"
        for name in ("text", "bytea", "oid", "name", "float8", "int4", "regclass", "regnamespace")
    ]
    connection.execute("SET search_path = pg_catalog")
    connection.execute("; ".join(statements))


def _function(name: str, arguments: str, *, result: str = "text") -> str:
    what = f"{name}({arguments})".replace("'", "").replace('"', "")
    return (
        f'CREATE FUNCTION public."{name}"({arguments}) RETURNS {result} LANGUAGE plpgsql AS '
        f"$$ BEGIN PERFORM public.sprung('{what}'); RETURN NULL; END $$"
    )


@dataclass(frozen=True)
class Trapped:
    """A database of the server, in which a stranger has been."""

    server: Server
    files: Path

    def url(self, user: str, table: str | None = None) -> str:
        return self.server.url(table, user=user).replace("/postgres?", "/strange?").removesuffix(
            "/postgres"
        ) + ("" if table else "/strange")

    @property
    def log(self) -> str:
        return (self.server.data.parent / "log").read_text(errors="replace")

    def connect(self, user: str) -> Any:
        import psycopg

        return psycopg.connect(self.url(user), autocommit=True)


@pytest.fixture(scope="module")
def trapped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trapped]:
    server = required_server()
    server.run("CREATE DATABASE strange", "CREATE ROLE stranger")
    made = Trapped(server, tmp_path_factory.mktemp("strange"))
    SCHEMA.save(made.files / "s.toml")
    rows = "SELECT (i * 37) % 100 AS age, CASE WHEN i % 3 = 0 THEN 'yes' ELSE 'no' END AS ill"
    with made.connect("postgres") as admin:
        for statement in (
            "GRANT CREATE ON SCHEMA public TO stranger",
            "GRANT CREATE ON DATABASE strange TO stranger",
            "CREATE SCHEMA clinic",
            "GRANT USAGE ON SCHEMA clinic TO reader",
            f"CREATE TABLE clinic.visits AS {rows} FROM generate_series(1, 200) AS i",
            f"CREATE TABLE public.people AS {rows} FROM generate_series(1, 200) AS i",
            "GRANT SELECT ON clinic.visits, public.people TO reader",
            "SET ROLE stranger",
        ):
            admin.execute(statement)
        _traps(admin)
    yield made
    server.run(
        "DROP DATABASE strange WITH (FORCE)",
        "DROP ROLE stranger",
        "ALTER ROLE reader RESET search_path",
        "ALTER ROLE postgres RESET search_path",
    )


@pytest.fixture(params=["usual path", "public before pg_catalog"])
def path(request: pytest.FixtureRequest, trapped: Trapped) -> str:
    """The path that the roles have when they connect; an administrator set the second."""
    for role in ("reader", "postgres"):
        change = (
            "RESET search_path" if request.param == "usual path" else "SET search_path = public, pg_catalog"
        )
        with trapped.connect("postgres") as admin:
            admin.execute(f"ALTER ROLE {role} IN DATABASE strange {change}")
    return str(request.param)


def test_the_traps_are_sprung_by_statements_that_are_not_qualified(trapped: Trapped, path: str) -> None:
    before = len(trapped.log)
    with trapped.connect("reader") as reader:
        reader.execute("SELECT length(nspname) FROM pg_catalog.pg_namespace")
        reader.execute("SELECT 1 FROM pg_catalog.pg_class WHERE relnamespace = 1 AND relkind < relname")
    assert f"{SIGN} length(name) as reader" in trapped.log[before:]
    assert f"{SIGN} operator_" in trapped.log[before:]


def _commands(url: str, files: Path) -> dict[str, list[str]]:
    told = [url, "--schema", str(files / "s.toml")]
    return {
        "fit": [
            "fit",
            *told,
            "--target",
            "ill",
            "--epsilon",
            "1",
            "-o",
            str(files / "m.holdfast"),
            "--force",
        ],
        "additive": [
            "fit",
            *told,
            "--target",
            "ill",
            "--epsilon",
            "1",
            "--model",
            "additive",
            "-o",
            str(files / "m.holdfast"),
            "--force",
        ],
        "synth": [
            "synth",
            *told,
            "--epsilon",
            "1",
            "--workload",
            "k=2",
            "-o",
            str(files / "rows.csv"),
            "--release",
            str(files / "rows.holdfast"),
            "--force",
        ],
        "evaluate": [
            "evaluate",
            str(files / "rows.csv"),
            "--against",
            url,
            "--schema",
            str(files / "s.toml"),
        ],
        "draft": ["schema", "draft", url],
        "check": ["schema", "check", url, str(files / "s.toml")],
        "check inside": ["schema", "check", url, str(files / "s.toml"), "--internal"],
        "compare": [
            "compare",
            "--data",
            url,
            "--schema",
            str(files / "s.toml"),
            "--target",
            "ill",
            "--methods",
            "output",
            "--fits",
            "1",
        ],
    }


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("table", ["clinic.visits", "people"])
@pytest.mark.parametrize("user", ["reader", "postgres"])
def test_no_command_runs_anything_of_theirs(trapped: Trapped, path: str, user: str, table: str) -> None:
    before = len(trapped.log)
    for name, command in _commands(trapped.url(user, table), trapped.files).items():
        shown = CliRunner().invoke(app, command)
        assert shown.exit_code in (0, 1), (name, shown.output)
        assert "Error: " not in shown.output, (name, shown.output)
    assert SIGN not in trapped.log[before:]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("way", ["sql", "pull", "auto"])
def test_no_way_runs_anything_of_theirs(trapped: Trapped, path: str, way: Any) -> None:
    before = len(trapped.log)
    with open_table(trapped.url("reader", "people"), SCHEMA, way=way) as table:
        assert table.counts([["age", "ill"], []])[1] == 200
        table.count()
    assert SIGN not in trapped.log[before:]


@pytest.mark.parametrize("marked", [True, False])
@pytest.mark.parametrize("user", ["reader", "postgres"])
def test_an_extension_of_theirs_is_said_and_not_called(
    trapped: Trapped, path: str, user: str, marked: bool
) -> None:
    with trapped.connect("postgres") as admin:
        admin.execute("SET search_path = pg_catalog; SET ROLE stranger; CREATE SCHEMA holdfast")
        if marked:
            admin.execute(f"COMMENT ON SCHEMA holdfast IS '{extension.SCHEMA_COMMENT}'")
        admin.execute("GRANT USAGE ON SCHEMA holdfast TO PUBLIC")
        for made in (
            "version()",
            *(f"sgd_epochs(bytea, int4, bytea, {a}, float8)" for a in extension.ARRAY_TYPES),
        ):
            admin.execute(
                f"CREATE FUNCTION holdfast.{made} RETURNS text LANGUAGE plpgsql AS "
                f"$$ BEGIN PERFORM public.sprung('extension'); RETURN '{extension.version()}'; END $$"
            )
    try:
        before = len(trapped.log)
        shown = CliRunner().invoke(app, ["postgres", "status", trapped.url(user)])
        assert shown.exit_code == 1, shown.output
        assert "none of it was called" in shown.output
        with pytest.raises(DataError, match="none of it was called"):
            open_table(trapped.url(user, "people"), SCHEMA, way="extension")
        if user == "postgres":
            for act in (install.install, install.uninstall):
                with pytest.raises(DataError, match="not of this extension"):
                    act(trapped.url(user))
        assert SIGN not in trapped.log[before:]
    finally:
        with trapped.connect("postgres") as admin:
            admin.execute("SET search_path = pg_catalog; DROP SCHEMA holdfast CASCADE")


@pytest.mark.parametrize("place", range(len(extension.created_functions())))
def test_a_function_that_was_given_to_them_is_not_called(place: int) -> None:
    """Of the same shape as ours, in a schema of ours: whoever owns a function may change what it is."""
    names = ("name", "arguments", "language", "source", "step", "final")
    functions = [dict(zip(names, one, strict=True)) for one in sorted(extension.created_functions())]
    schema = {"mark": extension.SCHEMA_COMMENT, "trusted": True, "usable": True, "library": "/lib.so"}

    def ask(statement: str, *, stranger: int | None) -> list[dict[str, Any]]:
        if statement == extension.SCHEMA_QUERY:
            return [schema]
        if statement == extension.FUNCTIONS_QUERY:
            return [one | {"trusted": number != stranger} for number, one in enumerate(functions)]
        assert stranger is None, "it was called"
        return [{"version": extension.version()}]

    assert extension.find_installation(partial(ask, stranger=None)).is_current
    seen = extension.find_installation(partial(ask, stranger=place))
    assert seen.foreign
    assert not seen.is_current


@pytest.mark.parametrize("wrapped", [False, True])
def test_a_superuser_does_not_read_a_view_of_theirs(trapped: Trapped, path: str, wrapped: bool) -> None:
    with trapped.connect("postgres") as admin:
        admin.execute(
            "SET search_path = pg_catalog; SET ROLE stranger; DROP VIEW IF EXISTS public.bait CASCADE"
        )
        admin.execute(
            "CREATE VIEW public.bait AS SELECT 1 AS age, 'no'::pg_catalog.text AS ill WHERE public.sprung('bait')"
        )
        admin.execute("RESET ROLE")
        admin.execute("CREATE OR REPLACE VIEW clinic.wrapped AS SELECT * FROM public.bait")
    before = len(trapped.log)
    with pytest.raises(DataError, match="runs code of a user who is no superuser"):
        open_table(trapped.url("postgres", "clinic.wrapped" if wrapped else "bait"), SCHEMA)
    assert SIGN not in trapped.log[before:]


def test_a_name_in_two_places_is_refused(trapped: Trapped, path: str) -> None:
    with trapped.connect("postgres") as admin:
        admin.execute("SET search_path = pg_catalog; SET ROLE stranger; CREATE SCHEMA reader")
        admin.execute("CREATE TABLE reader.people AS SELECT 1 AS age")
    try:
        with pytest.raises(DataError, match=r"in the schemas .*; write schema.table"):
            open_table(trapped.url("reader", "people"), SCHEMA)
    finally:
        with trapped.connect("postgres") as admin:
            admin.execute("SET search_path = pg_catalog; DROP SCHEMA reader CASCADE")


class Recorded:
    """A connection that writes down what it is sent."""

    def __init__(self, connection: Any, sent: list[str]) -> None:
        self._connection, self._sent = connection, sent

    def cursor(self) -> Any:
        return RecordedCursor(self._connection.cursor(), self._sent)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


class RecordedCursor(Recorded):
    """Its cursor."""

    def execute(self, statement: str) -> Any:
        self._sent.append(statement)
        return self._connection.execute(statement)

    def executescript(self, statement: str) -> Any:
        self._sent.append(statement)
        return self._connection.executescript(statement)

    def __enter__(self) -> RecordedCursor:
        return self

    def __exit__(self, *error: object) -> None:
        self._connection.close()


@pytest.mark.filterwarnings("ignore")
def test_every_connection_begins_with_the_path(trapped: Trapped, monkeypatch: pytest.MonkeyPatch) -> None:
    """All that is sent in a fit, a synthesis, a draft and a look for the extension; nothing moves the path again."""
    from adbc_driver_postgresql import dbapi

    connections: list[tuple[str, list[str]]] = []
    connect = dbapi.connect

    def recording(url: str, **options: Any) -> Any:
        connections.append((url, []))
        return Recorded(connect(url, **options), connections[-1][1])

    monkeypatch.setattr(dbapi, "connect", recording)
    for command in _commands(trapped.url("reader", "people"), trapped.files).values():
        CliRunner().invoke(app, command)
    CliRunner().invoke(app, ["postgres", "status", trapped.url("reader")])
    assert len(connections) >= 9
    pinned = "; ".join(pin_statements(local=True))
    options = " ".join(f"-c {name}={value.replace(' ', '')}" for name, value in (PINS | READ_ONLY).items())
    for url, sent in connections:
        assert url.endswith(f"options={quote(options, safe='')}")
        assert sent[0] == f"BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY; {pinned}"
        later = [statement for statement in sent if statement != sent[0]]
        assert not any("search_path" in statement for statement in later)
        # Calls in the statements that look things up name their schema; the others are computed on that path alone.
        looked_up = [statement for statement in sent if "FROM pg_catalog.pg_" in statement]
        calls = re.findall(r"(?<![.\w])([a-z_]+)\(", " ".join(looked_up))
        assert set(calls) <= {"coalesce", "exists", "in", "and"}, calls


@pytest.mark.parametrize(
    "given", ["", "?options=-c%20search_path%3Dpublic", "?sslmode=disable&options=-csearch_path%3Devil"]
)
@pytest.mark.parametrize("environment", [None, "-c search_path=evil"])
def test_the_path_of_a_url_or_of_the_environment_is_not_ours(
    trapped: Trapped, given: str, environment: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    from adbc_driver_postgresql import dbapi

    if environment is not None:
        monkeypatch.setenv("PGOPTIONS", environment)
    with (
        dbapi.connect(with_pins(trapped.url("reader") + given, read_only=True)) as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute("SELECT pg_catalog.current_setting('search_path') AS path")
        assert cursor.fetch_arrow_table().to_pylist()[0]["path"].replace(" ", "") == SEARCH_PATH.replace(
            " ", ""
        )


def test_options_that_would_swallow_the_path_are_refused() -> None:
    with pytest.raises(ParameterError, match="backslash"):
        with_pins("postgresql://ann@host/clinic?options=-c%20a%3D%5C", read_only=True)
