"""Tables of a stranger to which code is attached: none of it runs as whoever reads them; what is harmless is read."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast._cli.app import app
from holdfast.data import Categorical, Numeric, Order, Schema, open_table
from holdfast.data._engines import rows_of_source
from holdfast.data._engines.postgres import install, source
from holdfast.data._engines.postgres.connection import Connection
from holdfast.data._engines.postgres.session import Session
from holdfast.errors import DataError, ParameterError
from tests.paths import ROOT
from tests.servers.postgres import Server, quoted, required_server

SCHEMA = Schema([Numeric("age", 0, 100, bins=4), Categorical("ill", ["no", "yes"], other="?", null="-")])
SIGN = "a stranger ran"
ROWS = "SELECT i AS age, CASE WHEN i % 3 = 0 THEN 'yes' ELSE 'no' END AS ill FROM generate_series(1, 30) AS i"

SPRUNG = (
    "(what text) RETURNS {} IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RAISE LOG 'a stranger ran % as %', what, "
)
SPRUNG += "CURRENT_USER; RETURN {}; END $$"
BEGINNING = (
    f"CREATE FUNCTION own.sprung{SPRUNG.format('bool', 'true')}",
    f"CREATE FUNCTION own.one{SPRUNG.format('int', '1')}",
    "CREATE FUNCTION own.same(int, int) RETURNS bool IMMUTABLE LANGUAGE plpgsql AS "
    f"$$ BEGIN RAISE LOG '{SIGN} an operator as %', CURRENT_USER; RETURN true; END $$",
    "CREATE OPERATOR own.=== (LEFTARG = int, RIGHTARG = int, FUNCTION = own.same)",
    "CREATE TYPE own.word AS ENUM ('no', 'yes')",
    "CREATE FUNCTION own.written(own.word) RETURNS text LANGUAGE plpgsql AS "
    f"$$ BEGIN RAISE LOG '{SIGN} a cast as %', CURRENT_USER; RETURN 'no'; END $$",
    "CREATE CAST (own.word AS text) WITH FUNCTION own.written(own.word)",
    "CREATE DOMAIN own.checked AS int CHECK (own.sprung('a domain'))",
    "CREATE DOMAIN own.worded AS own.word CHECK (own.sprung('a domain of words'))",
)
#: Each makes `own.t`; what is refused would run something if it were read, as the next test shows.
REFUSED = {
    "a view": [f"CREATE VIEW own.t AS SELECT * FROM ({ROWS}) AS q WHERE own.sprung('a view')"],
    "a view without functions of theirs": [
        f"CREATE VIEW own.t AS SELECT age, ill FROM ({ROWS}) AS q, "
        "ts_stat('SELECT CAST(CAST(own.sprung(''a text'') AS text) AS tsvector)') AS x"
    ],
    "an operator in a view": [
        f"CREATE VIEW own.t AS SELECT * FROM ({ROWS}) AS q WHERE age OPERATOR(own.===) 1"
    ],
    "a cast in a view": [
        f"CREATE VIEW own.t AS SELECT age, CAST(CAST(ill AS own.word) AS text) AS ill FROM ({ROWS}) AS q"
    ],
    "a domain in a view": [
        f"CREATE VIEW own.t AS SELECT CAST(age AS own.checked) AS age, ill FROM ({ROWS}) AS q"
    ],
    "a view of a view": [
        f"CREATE VIEW own.inner AS SELECT * FROM ({ROWS}) AS q WHERE own.sprung('a view below')",
        "CREATE VIEW own.t AS SELECT * FROM own.inner",
    ],
    "the predicate of an index": [
        f"CREATE TABLE own.t AS {ROWS}",
        "CREATE INDEX ON own.t (age) WHERE own.sprung('an index')",
    ],
    "an expression of an index": [
        f"CREATE TABLE own.t AS {ROWS}",
        "CREATE INDEX ON own.t ((own.one('it') + age))",
    ],
    "an operator in an index": [
        f"CREATE TABLE own.t AS {ROWS}",
        "CREATE INDEX ON own.t (age) WHERE 1 OPERATOR(own.===) 2",
    ],
    "an index of a materialized view": [
        f"CREATE MATERIALIZED VIEW own.t AS {ROWS}",
        "CREATE INDEX ON own.t (age) WHERE own.sprung('an index')",
    ],
    "statistics": [
        f"CREATE TABLE own.t AS {ROWS}",
        "CREATE STATISTICS own.s ON (age + own.one('statistics')), ill FROM own.t",
    ],
    "a key of partitions": [
        "CREATE TABLE own.t (age int, ill text) PARTITION BY RANGE ((age + own.one('a key')))",
        "CREATE TABLE own.p PARTITION OF own.t FOR VALUES FROM (0) TO (100)",
        f"INSERT INTO own.t {ROWS}",
    ],
    "an index of a partition": [
        "CREATE TABLE own.t (age int, ill text) PARTITION BY RANGE (age)",
        "CREATE TABLE own.p PARTITION OF own.t FOR VALUES FROM (0) TO (100)",
        "CREATE INDEX ON own.p (age) WHERE own.sprung('a partition')",
        f"INSERT INTO own.t {ROWS}",
    ],
    "an index of a child of a child": [
        "CREATE TABLE own.t (age int, ill text)",
        "CREATE TABLE own.child () INHERITS (own.t)",
        "CREATE TABLE own.grandchild () INHERITS (own.child)",
        "CREATE INDEX ON own.grandchild (age) WHERE own.sprung('a child')",
        f"INSERT INTO own.grandchild {ROWS}",
    ],
    "a policy": [
        f"CREATE TABLE own.t AS {ROWS}",
        "ALTER TABLE own.t ENABLE ROW LEVEL SECURITY",
        "CREATE POLICY p ON own.t USING (own.sprung('a policy'))",
    ],
    "a policy without functions of theirs": [
        f"CREATE TABLE own.t AS {ROWS}",
        "ALTER TABLE own.t ENABLE ROW LEVEL SECURITY",
        "CREATE POLICY p ON own.t USING "
        "(EXISTS (SELECT FROM ts_stat('SELECT CAST(CAST(own.sprung(''a text'') AS text) AS tsvector)')))",
    ],
}
#: Policies do not run for a superuser.
NOT_FOR_A_SUPERUSER = ("a policy", "a policy without functions of theirs")
#: Code that no reading runs, or that is PostgreSQL's own.
READ = {
    "a table": [f"CREATE TABLE own.t AS {ROWS}"],
    "words with a cast of theirs": [
        f"CREATE TABLE own.t AS SELECT age, CAST(ill AS own.word) AS ill FROM ({ROWS}) AS q"
    ],
    "a domain of words": [
        "CREATE TABLE own.t (age own.checked, ill own.worded)",
        f"INSERT INTO own.t SELECT age, CAST(ill AS own.word) FROM ({ROWS}) AS q",
    ],
    "triggers, rules, defaults and checks": [
        "CREATE TABLE own.t (age int, ill text DEFAULT CASE WHEN own.sprung('a default') THEN 'x' END, "
        "CHECK (own.sprung('a check')), CHECK (own.sprung('a check with ' || age)))",
        f"INSERT INTO own.t {ROWS}",
        "CREATE FUNCTION own.fired() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE LOG '{SIGN} a trigger as %', CURRENT_USER; RETURN NEW; END $$",
        "CREATE TRIGGER fired BEFORE INSERT OR UPDATE ON own.t FOR EACH ROW EXECUTE FUNCTION own.fired()",
        "CREATE RULE fired AS ON UPDATE TO own.t DO ALSO SELECT own.sprung('a rule')",
    ],
    "a stored column": [
        "CREATE TABLE own.t (age int, ill text, more int GENERATED ALWAYS AS (age + own.one('stored')) STORED)",
        f"INSERT INTO own.t (age, ill) {ROWS}",
    ],
    "a check of a child": [
        "CREATE TABLE own.t (age int, ill text)",
        "CREATE TABLE own.child (CHECK (own.sprung('a check of a child'))) INHERITS (own.t)",
        f"INSERT INTO own.child {ROWS}",
    ],
    "a materialized view": [
        f"CREATE MATERIALIZED VIEW own.t AS SELECT * FROM ({ROWS}) AS q WHERE own.sprung('once')"
    ],
    "indexes and statistics of PostgreSQL's own functions": [
        f"CREATE TABLE own.t AS {ROWS}",
        "CREATE INDEX ON own.t (lower(ill)) WHERE age > 3",
        "ALTER TABLE own.t ADD PRIMARY KEY (age)",
        "CREATE STATISTICS own.s ON (age * 2), ill FROM own.t",
    ],
    "comments and names": [
        f"CREATE TABLE own.t AS {ROWS}",
        "COMMENT ON TABLE own.t IS '''; SELECT own.sprung(''a comment''); --'",
        "COMMENT ON COLUMN own.t.age IS '$$; SELECT own.sprung(''a comment''); --'",
    ],
}


@dataclass(frozen=True)
class Strange:
    """A server on which a stranger has a schema of their own."""

    server: Server

    @property
    def log(self) -> str:
        return (self.server.data.parent / "log").read_text(errors="replace")

    def make(self, *statements: str, role: str | None = "stranger") -> None:
        """Run what a role thought of; nothing of it counts as run by a victim."""
        with self.server.admin() as connection:
            if role is not None:
                connection.execute(f"SET ROLE {role}")
            for statement in statements:
                connection.execute(statement)

    def url(self, user: str, **options: str) -> str:
        return self.server.url("own.t", user=user, **options)


@pytest.fixture(scope="module")
def strange_server() -> Iterator[Strange]:
    server = required_server()
    server.run("CREATE ROLE stranger")
    yield Strange(server)
    server.run("DROP SCHEMA IF EXISTS own CASCADE", "DROP OWNED BY stranger CASCADE", "DROP ROLE stranger")


@pytest.fixture
def strange(strange_server: Strange) -> Strange:
    """With an empty schema."""
    strange_server.server.run(
        "DROP SCHEMA IF EXISTS own CASCADE",
        "CREATE SCHEMA own AUTHORIZATION stranger",
        "GRANT USAGE ON SCHEMA own TO PUBLIC",
        "ALTER DEFAULT PRIVILEGES FOR ROLE stranger IN SCHEMA own GRANT SELECT ON TABLES TO PUBLIC",
    )
    strange_server.make(*BEGINNING)
    return strange_server


def _use(url: str, *, way: str = "auto") -> list[int]:
    with open_table(url, SCHEMA, way=way) as table:
        table.units()
        if way != "sql":
            list(table.batches(order=Order.permutation(), rows=7))
        return [int(n) for n in table.counts([["age"], ["ill"]])[0]]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", REFUSED)
def test_code_of_a_stranger_is_refused_and_not_run(strange: Strange, name: str) -> None:
    strange.make(*REFUSED[name])
    before = len(strange.log)
    for user in ("reader", "postgres"):
        if user == "postgres" and name in NOT_FOR_A_SUPERUSER:
            assert sum(_use(strange.url(user, trusted_owner="stranger"))) == 30
            continue
        for read in (_use, rows_of_source):
            with pytest.raises(DataError, match="runs code of a user who is no superuser") as refusal:
                read(strange.url(user))
            assert "of 'stranger'" in str(refusal.value)
        shown = CliRunner().invoke(app, ["schema", "draft", strange.url(user)])
        assert shown.exit_code == 2, shown.output
    assert SIGN not in strange.log[before:]
    # Whoever names the stranger reads it, and then it runs: the traps are real.
    assert sum(_use(strange.url("reader", trusted_owner="stranger"))) in (30, 0)
    ran = re.findall(f"{SIGN} .* as reader", strange.log[before:])
    assert ran, "this trap is none"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", READ)
def test_what_runs_nothing_is_read(strange: Strange, name: str) -> None:
    strange.make(*READ[name])
    before = len(strange.log)
    for url in (strange.url("reader"), strange.url("postgres", trusted_owner="stranger")):
        for way in ("sql", "pull", "auto"):
            counts = _use(url, way=way)
            assert sum(counts) == 30
            assert counts == [24, 6, 0, 0]
        assert rows_of_source(url).num_rows == 30
        with open_table(url, SCHEMA) as table:
            assert table.counts([["ill"]])[0].tolist() == [20, 10, 0, 0]
    # Its owner could attach code to it while somebody reads it who may do more than read.
    with pytest.raises(DataError, match=r"of 'stranger'.*Read it as a user who may only read"):
        _use(strange.url("postgres"))
    assert SIGN not in strange.log[before:]


LATER = {
    "an index": "CREATE INDEX ON own.t (age) WHERE own.sprung('a late index')",
    "statistics": "CREATE STATISTICS own.s ON (age + own.one('late statistics')), ill FROM own.t",
    "a child": "CREATE TABLE own.child (CHECK (age > 0)) INHERITS (own.t); "
    "CREATE INDEX ON own.child (age) WHERE own.sprung('an index of a late child')",
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("way", ["sql", "pull"])
@pytest.mark.parametrize("kind", LATER)
def test_code_that_is_added_later_does_not_run(strange: Strange, kind: str, way: str) -> None:
    strange.make(f"CREATE TABLE own.t AS {ROWS}")
    before = len(strange.log)
    with open_table(strange.url("reader"), SCHEMA, way=way) as table:
        strange.make(LATER[kind])
        with pytest.raises(DataError, match=r"runs code of a user .* of 'stranger'"):
            table.counts([["age"]])
    assert SIGN not in re.sub(f"{SIGN} .* as stranger", "", strange.log[before:])


@pytest.mark.slow
def test_a_table_is_held_while_it_is_open(strange: Strange) -> None:
    strange.make(f"CREATE TABLE own.t AS {ROWS}")
    with open_table(strange.url("reader"), SCHEMA) as table:
        with pytest.raises(Exception, match="lock timeout"):
            strange.make("SET lock_timeout = '50ms'", "ALTER TABLE own.t RENAME TO gone")
        assert table.counts([["ill"]])[0].tolist() == [20, 10, 0, 0]


@pytest.mark.slow
def test_a_trigger_on_login_is_spoken_of(strange: Strange) -> None:
    """It has run when it can be seen; a superuser can have it off."""
    strange.make(
        "CREATE FUNCTION own.any() RETURNS event_trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE LOG '{SIGN} an event trigger as %', CURRENT_USER; END $$",
        f"CREATE TABLE own.t AS {ROWS}",
    )
    off = {"options": "-c event_triggers=off", "trusted_owner": "stranger"}
    with strange.server.admin() as admin:
        if admin.info.server_version < 170_000:
            pytest.skip("servers have such triggers from 17 on")
        admin.execute("CREATE EVENT TRIGGER comes ON login EXECUTE FUNCTION own.any()")
        try:
            with pytest.raises(DataError, match="the event trigger 'comes'"):
                _use(strange.url("reader"))
            before = len(strange.log)
            assert sum(_use(strange.url("postgres", **off))) == 30
            assert SIGN not in strange.log[before:]
        finally:
            admin.execute("DROP EVENT TRIGGER comes")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("owner", ["postgres", "reader"])
def test_code_of_a_superuser_or_of_ones_own_is_read(strange: Strange, owner: str) -> None:
    strange.server.run("GRANT CREATE ON SCHEMA own TO reader", f"CREATE TABLE own.rows AS {ROWS}")
    strange.server.run("GRANT SELECT ON own.rows TO reader")
    strange.make(
        "CREATE FUNCTION own.fine(int) RETURNS bool IMMUTABLE LANGUAGE sql AS 'SELECT $1 > 0'",
        "CREATE VIEW own.t AS SELECT age, ill FROM own.rows WHERE own.fine(age)",
        "GRANT SELECT ON own.t TO PUBLIC",
        role=owner,
    )
    assert sum(_use(strange.url("reader"))) == 30
    # A function that a stranger may change makes it another's.
    strange.server.run("ALTER FUNCTION own.fine(int) OWNER TO stranger")
    for user in ("reader", "postgres"):
        with pytest.raises(DataError, match=r"the function 'own.fine\(integer\)' of 'stranger'"):
            _use(strange.url(user))
    assert sum(_use(strange.url("reader", trusted_owner="stranger"))) == 30
    with pytest.raises(DataError, match="of 'stranger'"):
        _use(strange.url("reader", trusted_owner="x' OR 'a' = 'a"))
    several = "&trusted_owner=somebody&trusted_owner=stranger"
    assert sum(_use(strange.url("reader") + several)) == 30
    with open_table(strange.url("reader"), SCHEMA, trusted_owner=["somebody", "stranger"]) as table:
        assert table.counts([["ill"]])[0].sum() == 30
    with pytest.raises(ParameterError, match="trusted_owner"):
        open_table(strange.url("reader"), SCHEMA, trusted_owner=7)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_policies_of_a_superuser_are_followed(strange: Strange) -> None:
    strange.server.run(
        f"CREATE TABLE own.t AS {ROWS}",
        "ALTER TABLE own.t ENABLE ROW LEVEL SECURITY",
        "CREATE POLICY p ON own.t TO reader USING (age <= 12)",
        "GRANT SELECT ON own.t TO reader",
    )
    assert sum(_use(strange.url("reader"))) == 12
    assert sum(_use(strange.url("postgres"))) == 30


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_foreign_table_of_a_stranger_is_refused(strange: Strange) -> None:
    """Its wrapper needs no function to be one, and a stranger's server is a place that they chose."""
    strange.server.run(
        "CREATE FOREIGN DATA WRAPPER nowhere", "GRANT USAGE ON FOREIGN DATA WRAPPER nowhere TO stranger"
    )
    try:
        strange.make(
            "CREATE SERVER theirs FOREIGN DATA WRAPPER nowhere",
            "CREATE FOREIGN TABLE own.t (age int, ill text) SERVER theirs",
        )
        for user in ("reader", "postgres"):
            with pytest.raises(DataError, match=r"(?s)the foreign table 'own.t' of 'stranger'.*server"):
                _use(strange.url(user))
        strange.make(
            "DROP FOREIGN TABLE own.t",
            "CREATE TABLE own.t (age int, ill text) PARTITION BY RANGE (age)",
            "CREATE FOREIGN TABLE own.part PARTITION OF own.t FOR VALUES FROM (0) TO (9) SERVER theirs",
        )
        with pytest.raises(DataError, match=r"the foreign table 'own\.part'"):
            _use(strange.url("reader"))
    finally:
        strange.server.run("DROP FOREIGN DATA WRAPPER nowhere CASCADE")


@pytest.mark.slow
def test_an_event_trigger_with_a_function_of_a_stranger_stops_an_installation(strange: Strange) -> None:
    strange.make(
        "CREATE FUNCTION own.any() RETURNS event_trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE LOG '{SIGN} an event trigger as %', CURRENT_USER; END $$"
    )
    strange.server.run("CREATE EVENT TRIGGER any_change ON ddl_command_start EXECUTE FUNCTION own.any()")
    try:
        before = len(strange.log)
        for act in (install.install, install.uninstall):
            with pytest.raises(DataError, match="the event trigger 'any_change'"):
                act(strange.server.url(user="postgres"))
        install.status(strange.server.url(user="postgres"))
        assert SIGN not in strange.log[before:]
    finally:
        with strange.server.admin() as admin:
            admin.execute("DROP EVENT TRIGGER any_change")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["CREATE VIEW own.t AS SELECT * FROM own.trap", "policy"])
def test_what_becomes_code_after_it_was_looked_up_does_not_run(strange: Strange, kind: str) -> None:
    """A table that its owner puts a view in the place of, or a policy on, while a reader has a snapshot."""
    strange.make(
        f"CREATE VIEW own.trap AS SELECT * FROM ({ROWS}) AS q WHERE own.sprung('another view')",
        f"CREATE TABLE own.t AS {ROWS}",
    )
    before = len(strange.log)
    address = source.Address.of(strange.url("reader"))
    session = Session(address.url)
    matches = session.answer("SELECT 1 AS one", "take the snapshot")
    assert matches.num_rows == 1
    if kind == "policy":
        strange.make(
            "ALTER TABLE own.t ENABLE ROW LEVEL SECURITY",
            "CREATE POLICY p ON own.t USING (own.sprung('a late policy'))",
        )
    else:
        strange.make("DROP TABLE own.t", kind)
    try:
        relation = source.find_relation(session, "own.t", None)
        session.answer(f"SELECT age FROM {relation.name}", "read it")
    except DataError:
        pass
    finally:
        session.close()
    assert SIGN not in strange.log[before:]


NAMES = st.text(
    st.sampled_from("""aB"'`;.-/*\\%$?&#:{}[]()|=<> \t\n\u202eé漢"""), min_size=1, max_size=12
) | st.sampled_from(
    ["own", "ctid", "q", "p", "SELECT", "' OR 1=1 --", '".', "pg_catalog.pg_class", "$$", "\\'; --"]
)


@pytest.mark.slow
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(table=NAMES, column=NAMES, kind=NAMES, word=NAMES)
def test_names_are_names(strange_server: Strange, table: str, column: str, kind: str, word: str) -> None:
    if column == "ctid":  # a name of PostgreSQL's own
        column = "CTID"
    word = word.strip(" \t\n") or "a"
    where = f"named.{quoted(table)}"
    with strange_server.server.admin() as admin:
        admin.execute("DROP SCHEMA IF EXISTS named CASCADE")
        admin.execute("CREATE SCHEMA named; GRANT USAGE ON SCHEMA named TO reader; SET search_path = named")
        text = word.replace("'", "''")
        admin.execute(
            f"CREATE TYPE named.{quoted('_' + kind)} AS ENUM (E'{text.replace(chr(92), chr(92) * 2)}', 'z z')"
        )
        admin.execute(f"CREATE TABLE {where} ({quoted(column)} named.{quoted('_' + kind)})")
        admin.execute(f"INSERT INTO {where} VALUES ('z z'), ('z z'), (NULL)")
        admin.execute(f"GRANT SELECT ON {where} TO reader")
    url = strange_server.server.url() + f"?table={quote(table, safe='')}&schema=named"
    for way in ("sql", "pull"):
        with open_table(url, Schema([Categorical(column, ["z z"], other="o", null="-")]), way=way) as opened:
            assert opened.counts([[column]])[0].tolist() == [2, 0, 1]
    assert rows_of_source(url).column_names == [column]


#: What FROM or JOIN names: no query in brackets and no function, which is looked for on the pinned path.
RELATION = re.compile(
    r'(?i)\b(?:FROM|JOIN) (?!LATERAL\b)((?:"(?:[^"]|"")*"|\w++)(?:\.(?:"(?:[^"]|"")*"|\w++))*+)(?!\()'
)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_server_sees_no_statement_before_the_pins(strange: Strange, tmp_path: Any) -> None:
    """All that the server logs of our sessions: the driver's questions, the pins, then what is computed on them."""
    server = strange.server
    strange.make(f"CREATE TABLE own.t AS {ROWS}")
    SCHEMA.save(tmp_path / "s.toml")
    url = strange.url("reader", application_name="watched")
    told = [url, "--schema", str(tmp_path / "s.toml")]
    server.run(
        "ALTER SYSTEM SET log_statement = 'all'",
        "ALTER SYSTEM SET log_line_prefix = '%a|%c|'",
        "SELECT pg_reload_conf()",
        "SELECT pg_sleep(0.2)",
    )
    before = len(strange.log)
    try:
        for way in ("sql", "pull"):
            _use(url, way=way)
        for command in (
            ["fit", *told, "--target", "ill", "--epsilon", "1", "-o", str(tmp_path / "m.holdfast")],
            ["schema", "draft", url],
            ["postgres", "status", server.url(application_name="watched")],
        ):
            shown = CliRunner().invoke(app, command)
            assert shown.exit_code in (0, 1), shown.output
    finally:
        server.run(
            "ALTER SYSTEM RESET log_statement",
            "ALTER SYSTEM RESET log_line_prefix",
            "SELECT pg_reload_conf()",
        )
    sessions: dict[str, list[str]] = {}
    entry = re.compile(r"(?ms)^watched\|([^|]*)\|LOG:\s+(?:statement|execute [^:]*): (.*?)(?=^\S*\|\S*\|)")
    for number, statement in entry.findall(strange.log[before:] + "end|end|"):
        sessions.setdefault(number, []).append(" ".join(statement.split()))
    starts = "BEGIN ISOLATION LEVEL REPEATABLE READ"
    assert sum(any(sent.startswith(starts) for sent in statements) for statements in sessions.values()) == 9
    for statements in sessions.values():
        # The driver has connections of its own, in which it asks for types.
        begin = next((i for i, sent in enumerate(statements) if sent.startswith(starts)), len(statements))
        assert all(
            "SET LOCAL search_path = pg_catalog, pg_temp" in sent for sent in statements[begin : begin + 1]
        )
        # What the driver asks for itself, on the path that is an option of the connection.
        own = statements[:begin]
        assert all(
            re.match(
                r"SELECT .*\bFROM (pg_catalog\.)?pg_(type|attribute|enum|range)\b|SELECT version\(\)", one
            )
            for one in own
        ), own
        rest = statements[begin + 1 :]
        later = [sent for sent in rest if not sent.startswith(starts)]
        assert not any("search_path" in sent or "SET SESSION" in sent for sent in later)
        first = re.compile(
            r"(SET LOCAL|SELECT|COPY \(|WITH|EXPLAIN|LOCK TABLE|SAVEPOINT|ROLLBACK|COMMIT|BEGIN|DEALLOCATE)\b"
        )
        assert all(first.match(sent) for sent in rest), rest
        # A relation is named with its schema, or is one that the statement itself makes.
        for sent in rest:
            without = re.sub(r"'(?:[^']|'')*'", "''", sent)
            made = {name.lower() for name in re.findall(r'(?i)\bAS (?:MATERIALIZED )?"?(\w+)"?', without)}
            made |= {
                name.lower()
                for name in re.findall(r"(?i)(?:WITH|RECURSIVE|,) (\w+)(?: \([\w, ]*\))? AS ", without)
            }
            for name in RELATION.findall(without):
                assert "." in name or name.lower() in made, (name, sent)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_every_statement_runs_pinned(strange: Strange, monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked of the server in the connection itself, before each statement that is sent through it."""
    strange.make(f"CREATE TABLE own.t AS {ROWS}")
    seen: list[tuple[str, dict[str, str]]] = []
    settings_of = (
        "SELECT pg_catalog.current_setting('search_path') AS path, "
        "pg_catalog.current_setting('transaction_read_only') AS reading, "
        "pg_catalog.current_setting('row_security') AS policies, "
        "pg_catalog.current_setting('constraint_exclusion') AS checks"
    )
    run, result = Connection.run, Connection.result

    def watch(connection: Any, statement: str) -> None:
        with result(connection, settings_of, copy=False) as reader:
            seen.append((statement, reader.read_all().to_pylist()[0]))

    def watched_run(connection: Any, statement: str) -> None:
        if not statement.startswith("ROLLBACK"):
            watch(connection, statement)
        run(connection, statement)

    def watched_result(connection: Any, statement: str, **options: Any) -> Any:
        watch(connection, statement)
        return result(connection, statement, **options)

    monkeypatch.setattr(Connection, "run", watched_run)
    monkeypatch.setattr(Connection, "result", watched_result)
    for way in ("sql", "pull"):
        _use(strange.url("reader"), way=way)
    rows_of_source(strange.url("reader"))
    assert install.status(strange.server.url()).summary()
    assert len(seen) > 30
    wanted = {"path": "pg_catalog,pg_temp", "reading": "on", "policies": "off", "checks": "off"}
    for statement, state in seen:
        assert state | {"path": state["path"].replace(" ", "")} == wanted, statement


def test_only_one_place_sends_statements() -> None:
    """The driver is asked for a connection, and a cursor for an answer, in one file."""
    places = set()
    for file in (ROOT / "src/holdfast/data/_engines/postgres").glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and node.attr in (
                "cursor",
                "execute",
                "executescript",
                "connect",
            ):
                owner = ast.unparse(node.value)
                if owner not in ("connection", "connection.cursor"):  # of DuckDB, in the private copy
                    places.add(file.name)
    assert places == {"connection.py"}
