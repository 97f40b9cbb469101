"""The table that a PostgreSQL URL names, and what the catalogue says about it. No text shows the password."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote_plus, urlsplit, urlunsplit

from holdfast.data._engines.postgres.dialect import KINDS, PostgresDialect
from holdfast.data._engines.postgres.session import Session
from holdfast.data._storage_kinds import Kind
from holdfast.errors import DataError, ParameterError

URL_SCHEMES = ("postgresql", "postgres")
URL_OPTIONS = ("table", "schema", "way", "keep")
CONNECT_TIMEOUT_S = "15"
_DIALECT = PostgresDialect()


@dataclass(frozen=True, kw_only=True)
class Address:
    """A URL in two parts: the URL for the driver, and the options for holdfast.

    >>> address = Address.of("postgresql://ann:secret@host/clinic?table=s.visits&way=sql")
    >>> address.options
    {'table': 's.visits', 'way': 'sql'}
    >>> "secret" in repr(address)
    False
    """

    url: str = field(repr=False)
    options: Mapping[str, str]

    @classmethod
    def of(cls, source: str) -> Address:
        """Split a URL; errors show no part of it."""
        parts, problem = None, False
        try:
            parts = urlsplit(source)
            problem = parts.scheme not in URL_SCHEMES
        except ValueError:
            problem = True
        if problem or parts is None:
            raise ParameterError(
                "a PostgreSQL URL must be postgresql://user@host:port/database?table=name, with the special "
                "characters of a password written as %40; its text is not repeated here"
            )
        options: dict[str, str] = {}
        rest = []
        for pair in filter(None, parts.query.split("&")):
            name, _, value = pair.partition("=")
            if name in URL_OPTIONS:
                options[name] = unquote_plus(value)
            else:  # an option of the driver, passed on as it was written
                rest.append(pair)
        if not any(pair.startswith("connect_timeout=") for pair in rest):
            rest.append(f"connect_timeout={CONNECT_TIMEOUT_S}")
        return cls(url=urlunsplit(parts._replace(query="&".join(rest))), options=options)

    def with_options(self, **options: str | None) -> dict[str, str]:
        """The options of the URL and of the call; a contradiction is an error."""
        merged = dict(self.options)
        for name, value in options.items():
            if value is not None and merged.setdefault(name, value) != value:
                raise ParameterError(
                    f"{name}={value!r} contradicts the URL, which names another; give one of them"
                )
        return merged


@dataclass(frozen=True, kw_only=True)
class Relation:
    """A table, view or foreign table as the catalogue describes it; none of its rows was read."""

    name: str
    """The quoted name, with its schema."""
    position: str
    """An SQL expression that differs between any two rows."""
    kinds: Mapping[str, Kind]
    readable: Mapping[str, bool]
    rows: int
    """How many rows the planner expects."""
    filtered: bool = False
    """Whether the server leaves out rows that this user may not see."""
    stored: Mapping[str, str] = field(default_factory=dict)
    """The types of the columns, as PostgreSQL writes them."""
    orders: Mapping[str, list[str]] = field(default_factory=dict)
    """The texts of enumerations, in their order."""


def find_relation(session: Session, table: str, schema: str | None) -> Relation:
    """The relation of this name: in the schema, as `schema.table`, or in the schema of the user's name or `public`.

    The user's own search path is not used, since other users may have put objects into its schemas.
    """
    matches = session.answer(
        "SELECT CAST(c.oid AS bigint) AS id, CAST(n.nspname AS text) AS schema, CAST(c.relname AS text) AS name, "
        "CAST(c.relkind AS text) AS kind, pg_catalog.has_table_privilege(c.oid, 'SELECT') AS whole "
        "FROM pg_catalog.pg_class c "
        "JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
        f"WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND ({_name_condition(table, schema)}) "
        f"ORDER BY c.relname <> {_DIALECT.literal(table)}, pg_catalog.length(n.nspname), n.nspname",
        "look for the table",
    ).to_pylist()
    if not matches:
        raise DataError(
            f"the database has no table {table!r}{'' if schema is None else f' in the schema {schema!r}'} "
            "that this user can see; write schema.table, or add &schema=name to the URL"
        )
    row = matches[0]
    schemas = [match["schema"] for match in matches if match["name"] == table]
    if len(schemas) > 1:
        raise DataError(
            f"the table {table!r} is in the schemas {' and '.join(map(repr, schemas))}; "
            "write schema.table, or add &schema=name to the URL"
        )
    if session.answer(_code_of_others(row["id"]), "ask whose code it runs").to_pylist()[0]["found"]:
        raise DataError(
            f"the view {table!r}, or something that it is made of, belongs to a user who is no superuser: its code "
            "would run with your rights, a superuser's. Connect as a user who may read it and nothing else"
        )
    columns = session.answer(_columns(row["id"]), "read the columns").to_pylist()
    name = f"{_DIALECT.identifier(row['schema'])}.{_DIALECT.identifier(row['name'])}"
    readable = {column["name"]: bool(column["readable"]) for column in columns}
    may_read = [column for column, may in readable.items() if may]
    return Relation(
        name=name,
        position=_position(row["kind"] if row["whole"] else ""),
        kinds={column["name"]: _kind(column) for column in columns},
        readable=readable,
        rows=_expected_rows(session, name, may_read),
        filtered=bool(may_read) and session.filters(f"SELECT {_DIALECT.identifier(may_read[0])} FROM {name}"),
        stored={column["name"]: column["written"] for column in columns},
        orders={column["name"]: list(column["words"]) for column in columns if column["sort"] == "e"},
    )


def read_relation(url: str) -> tuple[Any, Relation]:
    """All rows of a table, each column as the engine reads it, and its relation; only the owner may see them.

    A column of a type that is read as missing is empty.
    """
    address = Address.of(url)
    options = address.with_options(table=None, way=None, keep=None)
    if "table" not in options:
        raise ParameterError("table must be named: postgresql://...?table=name")
    session = Session(address.url)
    try:
        relation = find_relation(session, options["table"], options.get("schema"))
        listed = [
            _arrow_column(name, kind) for name, kind in relation.kinds.items() if relation.readable[name]
        ]
        return session.answer(f"SELECT {', '.join(listed)} FROM {relation.name}", "read the rows"), relation
    finally:
        session.close()


def _arrow_column(name: str, kind: Kind) -> str:
    """A column in a type that Arrow has: decimals, identifiers and enumerations become texts."""
    own = _DIALECT.identifier(name)
    if kind is Kind.unknown:
        return f"CAST(NULL AS text) AS {own}"
    return f"CAST({own} AS text) AS {own}" if kind in (Kind.decimal, Kind.text) else own


def _name_condition(table: str, schema: str | None) -> str:
    """SQL: the whole text is a name in the usual schemas, or a schema and a name, split at one of its dots."""
    literal = _DIALECT.literal
    if schema is not None:
        return f"n.nspname = {literal(schema)} AND c.relname = {literal(table)}"
    usual = "(n.nspname = 'public' OR n.nspname = CAST(CURRENT_USER AS name))"
    tests = [f"(c.relname = {literal(table)} AND {usual})"]
    for place in (i for i, letter in enumerate(table) if letter == "."):
        first, second = literal(table[:place]), literal(table[place + 1 :])
        tests.append(f"(n.nspname = {first} AND c.relname = {second})")
    return " OR ".join(tests)


def _code_of_others(relation: int) -> str:
    """SQL for whether a superuser's query would run code (views, and functions in them) of users who are none."""
    superuser = "(SELECT r.rolsuper FROM pg_catalog.pg_roles r WHERE r.oid = {0})"
    return (
        f"WITH RECURSIVE reached (class, id) AS (SELECT CAST('pg_catalog.pg_class' AS pg_catalog.regclass), "
        f"CAST({relation} AS oid) UNION SELECT d.refclassid, d.refobjid FROM reached "
        "JOIN pg_catalog.pg_rewrite w ON w.ev_class = reached.id JOIN pg_catalog.pg_depend d ON d.objid = w.oid "
        "AND d.classid = CAST('pg_catalog.pg_rewrite' AS pg_catalog.regclass) "
        "WHERE reached.class = CAST('pg_catalog.pg_class' AS pg_catalog.regclass)) "
        "SELECT (SELECT r.rolsuper FROM pg_catalog.pg_roles r WHERE r.rolname = CURRENT_USER) AND EXISTS ("
        "SELECT FROM reached LEFT JOIN pg_catalog.pg_class c ON c.oid = reached.id AND c.relkind = 'v' "
        "AND reached.class = CAST('pg_catalog.pg_class' AS pg_catalog.regclass) "
        "LEFT JOIN pg_catalog.pg_proc p ON p.oid = reached.id "
        "AND reached.class = CAST('pg_catalog.pg_proc' AS pg_catalog.regclass) "
        f"WHERE NOT coalesce({superuser.format('coalesce(c.relowner, p.proowner)')}, true)) AS found"
    )


def _columns(relation: int) -> str:
    """SQL for the names, base types (also of domains) and rights of the columns."""
    return (
        "WITH RECURSIVE based AS (SELECT attnum, attname, atttypid AS type, atttypmod AS mod "
        f"FROM pg_catalog.pg_attribute WHERE attrelid = {relation} AND attnum > 0 AND NOT attisdropped UNION ALL "
        "SELECT attnum, attname, typbasetype, typtypmod FROM based JOIN pg_catalog.pg_type t ON t.oid = type "
        "WHERE typtype = 'd') SELECT CAST(attname AS text) AS name, CAST(typname AS text) AS type, "
        "CAST(typtype AS text) AS sort, pg_catalog.format_type(type, mod) AS written, "
        "(typnamespace = CAST('pg_catalog' AS pg_catalog.regnamespace) OR EXISTS (SELECT FROM pg_catalog.pg_depend d "
        "WHERE d.classid = CAST('pg_catalog.pg_type' AS pg_catalog.regclass) AND d.objid = t.oid AND d.deptype = 'e')) "
        "AS known, "
        "ARRAY(SELECT CAST(enumlabel AS text) FROM pg_catalog.pg_enum WHERE enumtypid = type ORDER BY enumsortorder) "
        "AS words, "
        f"pg_catalog.has_column_privilege(CAST({relation} AS oid), attnum, 'SELECT') AS readable "
        "FROM based JOIN pg_catalog.pg_type t ON t.oid = type WHERE typtype <> 'd' ORDER BY attnum"
    )


def _kind(column: Mapping[str, Any]) -> Kind:
    if column["sort"] == "e":
        return Kind.text
    # A type of a user with the name of one of PostgreSQL's is another type, with casts of its own.
    return KINDS.get(column["type"], Kind.unknown) if column["known"] else Kind.unknown


def _position(kind: str) -> str:
    """SQL for the position of a row: its physical place, with its partition where there are several.

    A user who may read only some columns cannot read the place; then rows are numbered.
    """
    positions = {"r": "ctid", "m": "ctid", "p": "(tableoid::text || ctid::text)"}
    return positions.get(kind, "row_number() OVER ()")


def _expected_rows(session: Session, name: str, columns: list[str]) -> int:
    """The planner's guess of the number of rows; it decides where work is done, never what is released."""
    if not columns:
        return 0
    plan = session.answer(
        f"EXPLAIN (FORMAT JSON) SELECT {_DIALECT.identifier(columns[0])} FROM {name}",
        "plan a scan",
        copy=False,
    )
    return int(json.loads(plan.column(0)[0].as_py())[0]["Plan"]["Plan Rows"])
