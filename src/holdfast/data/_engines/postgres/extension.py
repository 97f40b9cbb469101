"""The extension: one schema, three functions and one aggregate for each kind of array, and the library behind them.

The library is built by one compiler line from the very kernel that Python compiles (kernel/sgd.c), against the
running server's headers. No makefile of PostgreSQL is used: it would ask for the compiler and the warnings of whoever
packaged the server.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import holdfast._kernel
from holdfast.data._engines.postgres.code import is_trusted_sql
from holdfast.data._engines.postgres.dialect import PostgresDialect
from holdfast.data._engines.postgres.session import Session
from holdfast.errors import DataError, MissingExtra

KERNEL_FOLDER = Path(holdfast._kernel.__file__).parent
SOURCES = ("sgd.h", "sgd.c", "postgres/holdfast_sgd.c")
#: As for Python's kernel: no fast-math, no fused multiply-add, and nothing that only this machine has. The rest are
#: the flags of PostgreSQL itself.
COMPILER_FLAGS = (
    "-std=gnu99",
    "-O3",
    "-fPIC",
    "-fno-fast-math",
    "-ffp-contract=off",
    "-fno-strict-aliasing",
    "-fwrapv",
)
COMPILERS = ("gcc", "clang", "cc")
_SHARED_LIBRARY_FLAGS = {"darwin": ("-bundle", "-undefined", "dynamic_lookup")}
_COMPILER_TIMEOUT_S = 300


@cache
def version() -> str:
    """A digest of the source: two builds of the same version compute the same bits.

    >>> len(version())
    16
    """
    digest = sha256()
    for name in SOURCES:
        digest.update((KERNEL_FOLDER / name).read_bytes())
    return digest.hexdigest()[:16]


def find_compiler(name: str | None = None) -> str:
    """The C compiler: the one of this name, else $CC, else the first that is installed."""
    chosen = name or os.environ.get("CC")
    program = next(filter(None, map(shutil.which, (chosen,) if chosen else COMPILERS)), None)
    if program is None:
        raise MissingExtra(
            f"a C compiler is needed ({chosen or ' or '.join(COMPILERS)}) and was not found; install one (Debian: "
            "apt-get install gcc), or name it: --compiler PATH"
        )
    return program


def find_headers(reported: Mapping[str, str], *, major: int, pg_config: str | None = None) -> Path:
    """The folder with `postgres.h` of the running server, as it reports or as a local `pg_config` says.

    A `pg_config` of another major version is refused: its headers compile, and the library then fails to load.
    """
    folders = [] if pg_config else [Path(reported.get("INCLUDEDIR-SERVER", ""))]
    program = shutil.which(pg_config or "pg_config")
    if pg_config and program is None:
        raise DataError(f"pg_config must be a program, got pg_config={pg_config!r}")
    if program is not None:
        version_text = _output_of(program, "--version").partition(" ")[2]
        if version_text.partition(".")[0] == str(major):
            folders.append(Path(_output_of(program, "--includedir-server")))
        elif pg_config:
            raise DataError(
                f"pg_config must be of PostgreSQL {major}, as the server is; {pg_config!r} is of {version_text}"
            )
    for folder in folders:
        if (folder / "postgres.h").is_file():
            return folder
    raise MissingExtra(
        f"the server's C headers (postgres.h of PostgreSQL {major}) were not found on this machine; install them "
        f"(Debian: apt-get install postgresql-server-dev-{major}), or name their pg_config: --pg-config PATH"
    )


def _output_of(program: str, option: str) -> str:
    try:
        return subprocess.run(
            [program, option], check=True, capture_output=True, text=True, timeout=30
        ).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""


def build(target: Path, *, compiler: str, headers: Path) -> None:
    """Compile the extension to this file."""
    command = [
        compiler,
        *COMPILER_FLAGS,
        *_SHARED_LIBRARY_FLAGS.get(sys.platform, ("-shared",)),
        f'-DHOLDFAST_VERSION="{version()}"',
        f"-I{headers}",
        str(KERNEL_FOLDER / "postgres" / "holdfast_sgd.c"),
        "-o",
        str(target),
        "-lm",
    ]
    try:
        completed = subprocess.run(command, capture_output=True, text=True, timeout=_COMPILER_TIMEOUT_S)
    except (OSError, subprocess.SubprocessError):
        raise DataError(f"the compiler {compiler!r} could not be run") from None
    if completed.returncode != 0:
        reason = next(
            (line for line in completed.stderr.splitlines() if "error" in line), "it gave no reason"
        )
        raise DataError(f"the compiler {compiler!r} refused the extension: {reason}")


SCHEMA_NAME = "holdfast"
SCHEMA_COMMENT = "holdfast: made by `holdfast postgres install`"
"""The comment of our schema; a schema without it is somebody else's."""
ARRAY_TYPES = ("real[]", "double precision[]")
_DIALECT = PostgresDialect()


def _argument_types(array: str) -> str:
    return f"bytea, integer, bytea, {array}, double precision"


def create_statements(library: str) -> list[str]:
    """Statements that create everything, for a library at this absolute path on the server."""
    path = _DIALECT.literal(library)
    language = "LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE"
    statements = [
        f"CREATE SCHEMA {SCHEMA_NAME}",
        f"COMMENT ON SCHEMA {SCHEMA_NAME} IS {_DIALECT.literal(SCHEMA_COMMENT)}",
        f"CREATE FUNCTION {SCHEMA_NAME}.version() RETURNS text AS {path}, 'holdfast_version' {language}",
        f"CREATE FUNCTION {SCHEMA_NAME}.sgd_final(internal) RETURNS double precision[] AS {path}, 'holdfast_sgd_final' "
        f"{language}",
    ]
    for array in ARRAY_TYPES:
        statements += [
            f"CREATE FUNCTION {SCHEMA_NAME}.sgd_transition(internal, {_argument_types(array)}) RETURNS internal AS "
            f"{path}, 'holdfast_sgd_transition' {language}",
            f"CREATE AGGREGATE {SCHEMA_NAME}.sgd_epochs({_argument_types(array)}) "
            f"(SFUNC = {SCHEMA_NAME}.sgd_transition, STYPE = internal, SSPACE = 65536, "
            f"FINALFUNC = {SCHEMA_NAME}.sgd_final, FINALFUNC_MODIFY = READ_WRITE, "
            "PARALLEL = UNSAFE)",
        ]
    return statements


def drop_statements() -> list[str]:
    """Statements that remove it all, and fail if something else depends on it or was put into the schema."""
    statements = [
        f"DROP AGGREGATE IF EXISTS {SCHEMA_NAME}.sgd_epochs({_argument_types(array)})"
        for array in ARRAY_TYPES
    ]
    statements += [
        f"DROP FUNCTION IF EXISTS {SCHEMA_NAME}.sgd_transition(internal, {_argument_types(array)})"
        for array in ARRAY_TYPES
    ]
    statements += [
        f"DROP FUNCTION IF EXISTS {SCHEMA_NAME}.{name}" for name in ("sgd_final(internal)", "version()")
    ]
    return [*statements, f"DROP SCHEMA {SCHEMA_NAME} RESTRICT"]


SCHEMA_QUERY = (
    "SELECT coalesce(pg_catalog.obj_description(n.oid, 'pg_namespace'), '') AS mark, "
    "pg_catalog.has_schema_privilege(n.oid, 'USAGE') AS usable, "
    f"{is_trusted_sql('n.nspowner')} AS trusted, "
    "(SELECT CAST(pg_catalog.min(p.probin) AS text) FROM pg_catalog.pg_proc p "
    "JOIN pg_catalog.pg_language l ON l.oid = p.prolang WHERE p.pronamespace = n.oid AND p.proname = 'version' "
    f"AND l.lanname = 'c' AND {is_trusted_sql('p.proowner')}) AS library "
    f"FROM pg_catalog.pg_namespace n WHERE n.nspname = '{SCHEMA_NAME}'"
)
"""One row for the schema: whether it is ours, whether this user may use it, and where its library is."""
FUNCTIONS_QUERY = (
    "SELECT CAST(p.proname AS text) AS name, pg_catalog.pg_get_function_identity_arguments(p.oid) AS arguments, "
    "CAST(l.lanname AS text) AS language, CAST(p.prosrc AS text) AS source, "
    "coalesce(CAST(t.proname AS text), '') AS step, coalesce(CAST(f.proname AS text), '') AS final, "
    f"{is_trusted_sql('p.proowner')} AND NOT p.prosecdef AND p.proconfig IS NULL AS trusted "
    "FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace "
    "JOIN pg_catalog.pg_language l ON l.oid = p.prolang "
    "LEFT JOIN pg_catalog.pg_aggregate a ON a.aggfnoid = CAST(p.oid AS pg_catalog.regproc) "
    "LEFT JOIN pg_catalog.pg_proc t ON t.oid = CAST(a.aggtransfn AS oid) AND t.pronamespace = n.oid "
    "LEFT JOIN pg_catalog.pg_proc f ON f.oid = CAST(a.aggfinalfn AS oid) AND f.pronamespace = n.oid "
    f"WHERE n.nspname = '{SCHEMA_NAME}'"
)
"""Every function of the schema: what it is, and whether its owner is trusted."""


def created_functions() -> set[tuple[str, ...]]:
    """Of every function that is created: name, arguments, language, source, and the two functions of an aggregate."""
    functions: set[tuple[str, ...]] = {
        ("version", "", "c", "holdfast_version", "", ""),
        ("sgd_final", "internal", "c", "holdfast_sgd_final", "", ""),
    }
    for array in ARRAY_TYPES:
        functions.add(
            (
                "sgd_transition",
                f"internal, {_argument_types(array)}",
                "c",
                "holdfast_sgd_transition",
                "",
                "",
            )
        )
        functions.add(
            (
                "sgd_epochs",
                _argument_types(array),
                "internal",
                "aggregate_dummy",
                "sgd_transition",
                "sgd_final",
            )
        )
    return functions


@dataclass(frozen=True, kw_only=True)
class Installation:
    """What a database has of the extension."""

    installed: bool
    foreign: bool = False
    """Whether the schema, or a function in it, is somebody else's: then none of it is called."""
    usable: bool = False
    version: str | None = None
    library: str | None = None

    @property
    def is_current(self) -> bool:
        """Whether this package can use it: it is installed, usable and built from this source."""
        return self.installed and self.usable and self.version == version()

    def summary(self) -> str:
        """What is installed, and what to do if it cannot be used."""
        if self.foreign:
            return (
                f"not installed: the schema {SCHEMA_NAME!r} of the database, or a function in it, is not of this "
                "extension or not of a superuser's; none of it was called. Have it renamed or removed, then run: "
                "holdfast postgres install URL"
            )
        if not self.installed:
            return (
                "not installed; run: holdfast postgres install URL (as a superuser, on the server's machine)"
            )
        if not self.usable:
            return f"installed, but this user may not use it: GRANT USAGE ON SCHEMA {SCHEMA_NAME} TO the user"
        if not self.is_current:
            return "installed from another version of the source; run: holdfast postgres install URL"
        return f"installed (source {self.version})" + (f" at {self.library}" if self.library else "")


_FUNCTION_FIELDS = ("name", "arguments", "language", "source", "step", "final")


def is_ours(schema: Mapping[str, Any]) -> bool:
    """Whether a schema has our comment, and an owner who may put code into the database anyhow."""
    return schema["mark"] == SCHEMA_COMMENT and bool(schema["trusted"])


def find_installation(rows_of: Callable[[str], list[dict[str, Any]]]) -> Installation:
    """What a database has of the extension; `rows_of` runs a query."""
    schemas = rows_of(SCHEMA_QUERY)
    if not schemas:
        return Installation(installed=False)
    functions = rows_of(FUNCTIONS_QUERY)
    if not is_ours(schemas[0]) or not all(function["trusted"] for function in functions):
        return Installation(installed=False, foreign=True)
    listed = {tuple(function[name] for name in _FUNCTION_FIELDS) for function in functions}
    if listed != created_functions():
        return Installation(installed=False, foreign=bool(listed - created_functions()))
    usable, built_version = bool(schemas[0]["usable"]), None
    if usable:
        with suppress(DataError):  # a library that is gone or does not load is installed, but not current
            built_version = rows_of(f"SELECT {SCHEMA_NAME}.version() AS version")[0]["version"]
    return Installation(installed=True, usable=usable, version=built_version, library=schemas[0]["library"])


def require_installed(session: Session) -> None:
    """Refuse a database without the extension of this version, and say what to do."""
    installation = find_installation(
        lambda statement: session.answer(statement, "look for the extension").to_pylist()
    )
    if not installation.is_current:
        raise DataError(
            f"way='extension' needs holdfast's extension in the database: {installation.summary()}"
        )
