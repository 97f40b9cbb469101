"""What the extension is in a database: one schema, three functions, one aggregate for each kind of array."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from holdfast.data.engines.postgres_build import version
from holdfast.data.engines.postgres_dialect import PostgresDialect
from holdfast.data.engines.postgres_session import Session
from holdfast.errors import DataError

SCHEMA = "holdfast"
MARK = "holdfast: made by `holdfast postgres install`"
"""The comment of the schema: one without it is somebody else's."""
ARRAYS = ("real[]", "double precision[]")
_DIALECT = PostgresDialect()


def _arguments(array: str) -> str:
    return f"bytea, integer, bytea, {array}, double precision"


def created(library: str) -> list[str]:
    """Statements that create everything, for a library at this absolute path on the server."""
    path = _DIALECT.literal(library)
    language = "LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE"
    made = [
        f"CREATE SCHEMA {SCHEMA}",
        f"COMMENT ON SCHEMA {SCHEMA} IS {_DIALECT.literal(MARK)}",
        f"CREATE FUNCTION {SCHEMA}.version() RETURNS text AS {path}, 'holdfast_version' {language}",
        f"CREATE FUNCTION {SCHEMA}.sgd_final(internal) RETURNS double precision[] AS {path}, 'holdfast_sgd_final' "
        f"{language}",
    ]
    for array in ARRAYS:
        made += [
            f"CREATE FUNCTION {SCHEMA}.sgd_transition(internal, {_arguments(array)}) RETURNS internal AS {path}, "
            f"'holdfast_sgd_transition' {language}",
            f"CREATE AGGREGATE {SCHEMA}.sgd_epochs({_arguments(array)}) (SFUNC = {SCHEMA}.sgd_transition, "
            f"STYPE = internal, SSPACE = 65536, FINALFUNC = {SCHEMA}.sgd_final, FINALFUNC_MODIFY = READ_WRITE, "
            "PARALLEL = UNSAFE)",
        ]
    return made


def dropped() -> list[str]:
    """Statements that remove it all, and fail if something else depends on it or was put into the schema."""
    made = [f"DROP AGGREGATE IF EXISTS {SCHEMA}.sgd_epochs({_arguments(array)})" for array in ARRAYS]
    made += [
        f"DROP FUNCTION IF EXISTS {SCHEMA}.sgd_transition(internal, {_arguments(array)})" for array in ARRAYS
    ]
    made += [f"DROP FUNCTION IF EXISTS {SCHEMA}.{name}" for name in ("sgd_final(internal)", "version()")]
    return [*made, f"DROP SCHEMA {SCHEMA} RESTRICT"]


#: One row for the schema: whether it is ours, complete and usable by this user, and where its library is.
FOUND = (
    "SELECT coalesce(pg_catalog.obj_description(n.oid, 'pg_namespace'), '') AS mark, "
    "pg_catalog.has_schema_privilege(n.oid, 'USAGE') AS usable, "
    "(SELECT count(*) FROM pg_catalog.pg_proc p WHERE p.pronamespace = n.oid AND p.proname = 'sgd_epochs') AS parts, "
    "(SELECT CAST(min(p.probin) AS text) FROM pg_catalog.pg_proc p WHERE p.pronamespace = n.oid "
    f"AND p.proname = 'version') AS library FROM pg_catalog.pg_namespace n WHERE n.nspname = '{SCHEMA}'"
)


@dataclass(frozen=True, kw_only=True)
class Installation:
    """What a database has of the extension; `current` says whether it is built from this package's source."""

    installed: bool
    usable: bool = False
    version: str | None = None
    library: str | None = None

    @property
    def current(self) -> bool:
        """Whether this package can use it."""
        return self.installed and self.usable and self.version == version()

    def summary(self) -> str:
        """In a sentence or two, with what to do."""
        if not self.installed:
            return (
                "not installed; run: holdfast postgres install URL (as a superuser, on the server's machine)"
            )
        if not self.usable:
            return f"installed, but this user may not use it: GRANT USAGE ON SCHEMA {SCHEMA} TO the user"
        if not self.current:
            return "installed from another version of the source; run: holdfast postgres install URL"
        return f"installed (source {self.version})" + (f" at {self.library}" if self.library else "")


def look(ask: Callable[[str], list[dict[str, Any]]]) -> Installation:
    """What a database has; `ask` answers a query with its rows."""
    found = ask(FOUND)
    if not found or found[0]["parts"] != len(ARRAYS):
        return Installation(installed=False)
    usable, built = bool(found[0]["usable"]), None
    if usable:
        with suppress(DataError):  # a library that is gone or does not load: installed, and not current
            built = ask(f"SELECT {SCHEMA}.version() AS version")[0]["version"]
    return Installation(installed=True, usable=usable, version=built, library=found[0]["library"])


def require_installed(session: Session) -> None:
    """Refuse a database without the extension of this version, and say what to do."""
    found = look(lambda statement: session.answer(statement, "look for the extension").to_pylist())
    if not found.current:
        raise DataError(f"way='extension' needs holdfast's extension in the database: {found.summary()}")
