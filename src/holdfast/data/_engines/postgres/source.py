"""The table that a PostgreSQL URL names, and what the catalogue says about it. No text shows the password."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.parse import unquote_plus, urlsplit, urlunsplit

from holdfast.data._engines.postgres.code import MAY_DO_MORE, pieces_of_code
from holdfast.data._engines.postgres.dialect import KINDS, PostgresDialect
from holdfast.data._engines.postgres.session import Session
from holdfast.data._storage_kinds import Kind
from holdfast.errors import DataError, ParameterError

URL_SCHEMES = ("postgresql", "postgres")
URL_OPTIONS = ("table", "schema", "way", "keep")
TRUSTED_OWNER = "trusted_owner"
"""The option of a URL that may be given several times."""
MOST_PIECES_LISTED = 4
"""Of the code of others, in an error."""
_REFUSED_PARTS = {"r": ("view", "foreign-table"), "m": ("view", "foreign-table"), "p": ("view",)}
"""For each kind of relation, kinds that it cannot be made of."""
_STILL_THERE = (
    "SELECT 1 AS there FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
    "WHERE c.oid = {id} AND c.relkind = {kind} AND c.relname = {name} AND n.nspname = {schema}"
)
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
    trusted_owners: tuple[str, ...] = ()
    """Roles whose code may run as whoever reads."""

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
        owners: list[str] = []
        rest = []
        for pair in filter(None, parts.query.split("&")):
            name, _, value = pair.partition("=")
            if name == TRUSTED_OWNER:
                owners.append(unquote_plus(value))
            elif name in URL_OPTIONS:
                options[name] = unquote_plus(value)
            else:  # an option of the driver, passed on as it was written
                rest.append(pair)
        if not any(pair.startswith("connect_timeout=") for pair in rest):
            rest.append(f"connect_timeout={CONNECT_TIMEOUT_S}")
        url = urlunsplit(parts._replace(query="&".join(rest)))
        return cls(url=url, options=options, trusted_owners=tuple(owners))

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
    read_as: Mapping[str, str] = field(default_factory=dict)
    """How columns are read that are not read by their names."""
    orders: Mapping[str, list[str]] = field(default_factory=dict)
    """The texts of enumerations, in their order."""


def find_relation(
    session: Session, table: str, schema: str | None, *, trusted_owners: Sequence[str] = ()
) -> Relation:
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
    name = f"{_DIALECT.identifier(row['schema'])}.{_DIALECT.identifier(row['name'])}"
    whose = partial(pieces_of_code, row["id"], also=trusted_owners)
    pieces = session.answer(whose(policies=False), "ask whose code it runs").to_pylist()
    _require_known_code(row, pieces)
    strangers = [piece for piece in pieces if not piece["trusted"]]
    if strangers and session.answer(MAY_DO_MORE, "ask for your rights").to_pylist()[0]["more"]:
        raise _powerful_error(row, strangers)
    if strangers and not session.hold(name) and not session.can_refuse:
        raise DataError(
            f"{row['name']!r} could become something else while it is read, and this server has no way to prevent "
            "that for a materialized view, or for somebody who may read only some columns: GRANT SELECT on a table, "
            "or update the server (12.20, 13.16, 14.13, 15.8, 16.4 or later)"
        )
    session.refuse(_REFUSED_PARTS.get(row["kind"], ()))
    if strangers:
        _watch(session, row, policies=False, whose=whose)
    columns = session.answer(_columns(row["id"]), "read the columns").to_pylist()
    readable = {column["name"]: bool(column["readable"]) for column in columns}
    may_read = [column for column, may in readable.items() if may]
    filtered = bool(may_read) and session.filters(f"SELECT {_DIALECT.identifier(may_read[0])} FROM {name}")
    if filtered:
        pieces = session.answer(whose(policies=True), "ask whose code it runs").to_pylist()
        if not any(piece["code"] and piece["kind"] == "table" for piece in pieces):
            raise _changed_error(row)
        if not all(piece["trusted"] for piece in pieces):
            _watch(session, row, policies=True, whose=whose)
        session.allow_policies()
    return Relation(
        name=name,
        position=_position(row["kind"] if row["whole"] else ""),
        kinds={column["name"]: _kind(column) for column in columns},
        readable=readable,
        rows=_expected_rows(session, name, may_read),
        filtered=filtered,
        stored={column["name"]: column["written"] for column in columns},
        read_as={column["name"]: _label(column) for column in columns if column["sort"] == "e"},
        orders={column["name"]: list(column["words"]) for column in columns if column["sort"] == "e"},
    )


def _watch(session: Session, row: Mapping[str, Any], *, policies: bool, whose: Callable[..., str]) -> None:
    """From now on look before every statement whether it is still the same relation, and runs no code of others.

    The snapshot does not show that: the server plans by its catalogue as it is now. Where everything belongs to owners
    who are trusted nobody else can change it, so one look at the snapshot is enough.
    """
    asked, same = whose(policies=policies), _still_there(row)

    def look() -> None:
        if not session.now(same, "look for the table again"):
            raise _changed_error(row)
        _require_known_code(row, session.now(asked, "ask whose code it runs"))

    look()
    session.watch(look)


def _still_there(row: Mapping[str, Any]) -> str:
    kind, name, schema = (_DIALECT.literal(row[part]) for part in ("kind", "name", "schema"))
    return _STILL_THERE.format(id=row["id"], kind=kind, name=name, schema=schema)


def _require_known_code(row: Mapping[str, Any], pieces: Sequence[Mapping[str, Any]]) -> None:
    """Refuse a relation that runs code for which nobody answers."""
    code = [piece for piece in pieces if piece["code"] and not piece["trusted"]]
    if code:
        raise DataError(
            f"reading {row['name']!r} runs code of a user who is no superuser, with your rights: {_listed(code)}. "
            "Name a table without such code, or a materialized view; or, if that user may do whatever you may, name "
            "them: &trusted_owner=name in the URL"
        )


def _powerful_error(row: Mapping[str, Any], strangers: Sequence[Mapping[str, Any]]) -> DataError:
    return DataError(
        "whoever owns a table can have code run as its readers, and you may do more on this server than read: "
        f"{row['name']!r} is made of {_listed(strangers)}. Read it as a user who may only read; or, if those owners "
        "may do whatever you may, name them: &trusted_owner=name in the URL, once for each"
    )


def _changed_error(row: Mapping[str, Any]) -> DataError:
    return DataError(f"the table {row['name']!r} was changed while it was open; open it again")


def _listed(pieces: Sequence[Mapping[str, Any]]) -> str:
    listed = [
        f"the {piece['kind']} {piece['name']!r} of {piece['owner']!r}"
        for piece in pieces[:MOST_PIECES_LISTED]
    ]
    return ", ".join(listed) + (" and more" if len(pieces) > MOST_PIECES_LISTED else "")


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
        owners = address.trusted_owners
        relation = find_relation(session, options["table"], options.get("schema"), trusted_owners=owners)
        listed = [_arrow_column(relation, name) for name in relation.kinds if relation.readable[name]]
        return session.answer(f"SELECT {', '.join(listed)} FROM {relation.name}", "read the rows"), relation
    finally:
        session.close()


def _arrow_column(relation: Relation, name: str) -> str:
    """A column in a type that Arrow has: decimals, identifiers and enumerations become texts."""
    kind, own = relation.kinds[name], _DIALECT.identifier(name)
    if kind is Kind.unknown:
        return f"CAST(NULL AS text) AS {own}"
    read = relation.read_as.get(name, own)
    return f"CAST({read} AS text) AS {own}" if kind in (Kind.decimal, Kind.text) else own


def _label(column: Mapping[str, Any]) -> str:
    """An enumeration as its output function writes it: a cast to text may be its owner's own."""
    return f"CAST(pg_catalog.enum_out(CAST({_DIALECT.identifier(column['name'])} AS {column['written']})) AS text)"


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


def _columns(relation: int) -> str:
    """SQL for the names, base types (also of domains) and rights of the columns."""
    return (
        "WITH RECURSIVE based AS (SELECT attnum, attname, atttypid AS type, atttypmod AS mod "
        f"FROM pg_catalog.pg_attribute WHERE attrelid = {relation} AND attnum > 0 AND NOT attisdropped UNION ALL "
        "SELECT attnum, attname, typbasetype, typtypmod FROM based JOIN pg_catalog.pg_type t ON t.oid = type "
        "WHERE typtype = 'd') SELECT CAST(attname AS text) AS name, CAST(typname AS text) AS type, "
        "CAST(typtype AS text) AS sort, pg_catalog.format_type(type, mod) AS written, "
        "(typnamespace = CAST('pg_catalog' AS pg_catalog.regnamespace) "
        "OR EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.oid = typowner AND r.rolsuper) "
        "AND EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.objid = t.oid AND d.deptype = 'e' "
        "AND d.classid = CAST('pg_catalog.pg_type' AS pg_catalog.regclass))) AS known, "
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
