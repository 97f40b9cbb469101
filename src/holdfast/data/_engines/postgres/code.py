"""Whose code a server would run to read a relation, found in its catalogue before anything is planned.

PostgreSQL runs more than a query says, and all of it with the rights of whoever asks: the query of a view, the policies
of row-level security, the wrapper of a foreign table; and, only to plan a query, the functions in the predicates and
expressions of indexes, in keys of partitions and in extended statistics, of every partition and child. So everything
that a relation is made of is followed through the catalogue, and an owner must answer for each piece of code: a
superuser, who may do everything anyhow, whoever asks, or a role that whoever asks has named.

The rows of a table are nobody's code; but its owner can attach code at any moment, and no lock that a reader may take
stops that. So relations of owners for whom nobody answers are listed as well (`code` is false): whoever may do more
than read does not read them, and for others the catalogue is looked at again before every statement (`Session.watch`).

The catalogue lists no dependency on a built-in function. In an index, a key or statistics those are immutable, so they
compute and do nothing else; in views and policies they may be anything (`query_to_xml` runs a text), so there the owner
of the view, or of the table that has the policies, must answer too.
"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.data._sql.dialect import Dialect

_LITERAL = Dialect().literal


def _catalogue(name: str) -> str:
    return f"CAST('pg_catalog.{name}' AS pg_catalog.regclass)"


_RELATION, _RULE, _POLICY, _STATISTICS = map(
    _catalogue, ("pg_class", "pg_rewrite", "pg_policy", "pg_statistic_ext")
)
_FUNCTION, _OPERATOR, _TYPE, _CONSTRAINT = map(
    _catalogue, ("pg_proc", "pg_operator", "pg_type", "pg_constraint")
)
_SERVER, _WRAPPER = map(_catalogue, ("pg_foreign_server", "pg_foreign_data_wrapper"))
_STEPS = {
    # What stands beside a relation and is computed when it is read or planned.
    "the query of a view": f"SELECT {_RULE}, w.oid FROM pg_catalog.pg_rewrite w JOIN pg_catalog.pg_class v "
    f"ON v.oid = w.ev_class WHERE reached.class = {_RELATION} AND w.ev_class = reached.id AND w.ev_type = '1' "
    "AND v.relkind = 'v'",
    "indexes": f"SELECT {_RELATION}, i.indexrelid FROM pg_catalog.pg_index i "
    f"WHERE reached.class = {_RELATION} AND i.indrelid = reached.id",
    "statistics": f"SELECT {_STATISTICS}, s.oid FROM pg_catalog.pg_statistic_ext s "
    f"WHERE reached.class = {_RELATION} AND s.stxrelid = reached.id",
    "children and partitions": f"SELECT {_RELATION}, h.inhrelid FROM pg_catalog.pg_inherits h "
    f"WHERE reached.class = {_RELATION} AND h.inhparent = reached.id",
    "constraints of a domain": f"SELECT {_CONSTRAINT}, k.oid FROM pg_catalog.pg_constraint k "
    f"WHERE reached.class = {_TYPE} AND k.contypid = reached.id",
    # What that is made of; of a relation itself, not of its columns, whose types and defaults are not computed here.
    "everything it depends on": "SELECT d.refclassid, d.refobjid FROM pg_catalog.pg_depend d "
    "WHERE d.classid = reached.class AND d.objid = reached.id AND d.objsubid = 0",
}
_POLICIES = (
    f"SELECT {_POLICY}, y.oid FROM pg_catalog.pg_policy y JOIN pg_catalog.pg_class p ON p.oid = y.polrelid "
    f"WHERE reached.class = {_RELATION} AND y.polrelid = reached.id AND p.relrowsecurity"
)
_OWNERS = (
    f"SELECT p.proowner, true FROM pg_catalog.pg_proc p WHERE reached.class = {_FUNCTION} AND p.oid = reached.id",
    f"SELECT o.oprowner, true FROM pg_catalog.pg_operator o WHERE reached.class = {_OPERATOR} AND o.oid = reached.id",
    f"SELECT t.typowner, true FROM pg_catalog.pg_type t WHERE reached.class = {_TYPE} AND t.oid = reached.id "
    "AND (t.typtype IN ('d', 'r', 'm') OR t.typtype = 'b' AND t.typelem = 0)",
    "SELECT s.srvowner, true FROM pg_catalog.pg_foreign_server s "
    f"WHERE reached.class = {_SERVER} AND s.oid = reached.id",
    f"SELECT w.fdwowner, true FROM pg_catalog.pg_foreign_data_wrapper w "
    f"WHERE reached.class = {_WRAPPER} AND w.oid = reached.id",
)
"""The owner of a piece of code, wherever owners of such pieces are listed."""
_OWNER_OF_RELATION = (
    "SELECT c.relowner AS owner, c.relkind IN ('v', 'f'){0} AS code FROM pg_catalog.pg_class c "
    f"WHERE reached.class = {_RELATION} AND c.oid = reached.id AND c.relkind IN ('r', 'p', 'm', 'v', 'f')"
)
MAY_DO_MORE = (
    "SELECT EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE (r.rolsuper OR r.rolcreaterole OR r.rolname IN "
    "('pg_execute_server_program', 'pg_write_server_files', 'pg_read_server_files')) "
    "AND pg_catalog.pg_has_role(CURRENT_USER, r.oid, 'MEMBER')) AS more"
)
"""Whether code that runs as whoever asks could reach beyond the data: programs and files of the server, other roles."""
LOGIN_TRIGGERS = (
    "SELECT CAST(e.evtname AS text) AS name FROM pg_catalog.pg_event_trigger e JOIN pg_catalog.pg_proc p "
    "ON p.oid = e.evtfoid WHERE e.evtevent = 'login' AND e.evtenabled <> 'D' AND NOT {0} "
    "AND pg_catalog.current_setting('event_triggers', true) IS DISTINCT FROM 'off' ORDER BY e.evtname"
)
"""Functions of others that run whenever somebody connects, for `is_trusted_sql('p.proowner')`; from server 17 on."""


def is_trusted_sql(owner: str, also: Sequence[str] = ()) -> str:
    """Whether an owner is a superuser, whoever asks, or a role that is named."""
    named = "".join(f" OR r.rolname = {_LITERAL(role)}" for role in also)
    return (
        "EXISTS (SELECT FROM pg_catalog.pg_roles r "
        f"WHERE r.oid = {owner} AND (r.rolsuper OR r.rolname = CURRENT_USER{named}))"
    )


def pieces_of_code(relation: int, *, policies: bool, also: Sequence[str] = ()) -> str:
    """A query for each relation and piece of code: what it is, its name, its owner, whether that is one who is trusted.

    `policies` says that row-level security runs, too: of a table that has it the owner must answer for what policies it
    may have, and what they are made of is followed. They do not run while `row_security` is off.
    """
    steps = [*_STEPS.values(), *([_POLICIES] if policies else [])]
    owners = [_OWNER_OF_RELATION.format(" OR c.relrowsecurity" if policies else ""), *_OWNERS]
    return (
        f"WITH RECURSIVE reached (class, id) AS (SELECT CAST({_RELATION} AS oid), CAST({relation} AS oid) "
        "UNION SELECT CAST(step.class AS oid), step.id FROM reached CROSS JOIN LATERAL "
        f"({' UNION ALL '.join(steps)}) AS step (class, id)) "
        "SELECT DISTINCT code.code AS code, "
        "coalesce(named.type, 'something') AS kind, coalesce(named.identity, '') AS name, "
        "coalesce(CAST(pg_catalog.pg_get_userbyid(code.owner) AS text), '') AS owner, "
        f"{is_trusted_sql('code.owner', also)} AS trusted "
        f"FROM reached CROSS JOIN LATERAL ({' UNION ALL '.join(owners)}) AS code (owner, code) "
        "CROSS JOIN LATERAL pg_catalog.pg_identify_object(reached.class, reached.id, 0) AS named "
        "ORDER BY code DESC, kind, name"
    )
