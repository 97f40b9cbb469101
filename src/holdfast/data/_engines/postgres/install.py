"""Installs the extension in a database and removes it: for a superuser on the server's own machine.

PostgreSQL loads C code only for superusers, from a file that its own process can read. The library is built here, put
into a folder that nobody else can write to, and read back through the server before anything is created: that shows
whether server and client are on one machine. All statements are one transaction, on a connection of an administrator
whose errors never show a message of the driver.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from holdfast._extras import import_optional
from holdfast.data._engines.postgres.code import is_trusted_sql
from holdfast.data._engines.postgres.connection import Connection
from holdfast.data._engines.postgres.dialect import PostgresDialect
from holdfast.data._engines.postgres.extension import (
    SCHEMA_NAME,
    SCHEMA_QUERY,
    Installation,
    build,
    create_statements,
    drop_statements,
    find_compiler,
    find_headers,
    find_installation,
    is_ours,
    version,
)
from holdfast.data._engines.postgres.pinned import pin_statements
from holdfast.data._engines.postgres.session import Session
from holdfast.data._engines.postgres.source import Address
from holdfast.errors import DataError

#: What to say for an error code of PostgreSQL.
_ERROR_TEXTS = {
    "42501": "the user has not the right; connect as a superuser",
    "25006": "the server is read-only; connect to the primary",
    "58P01": "the server cannot load the library",
    "2BP01": "something else depends on the extension or was put into its schema; remove that first",
    "XX000": "the library does not fit the server; build it against its own headers",
}


class Administrator:
    """A connection that may write. Its errors say only what was being done and the kind of failure."""

    def __init__(self, url: str) -> None:
        self._connection = Connection(Address.of(url).url, read_only=False)
        self.run("; ".join(pin_statements(local=False)), doing="prepare the session")

    def rows_of(self, statement: str, *, doing: str) -> list[dict[str, Any]]:
        """The rows of a query."""
        with self._withholding(doing), self._connection.result(statement, copy=False) as reader:
            rows: list[dict[str, Any]] = reader.read_all().to_pylist()
            return rows

    def run(self, statement: str, *, doing: str) -> None:
        """A statement without a result."""
        with self._withholding(doing):
            self._connection.run(statement)

    @contextmanager
    def transaction(self, doing: str) -> Iterator[None]:
        """A transaction: all statements in it take effect, or none."""
        self.run("BEGIN", doing=doing)
        try:
            yield
            self.run("COMMIT", doing=doing)
        except BaseException:
            with suppress(DataError):
                self.run("ROLLBACK", doing=doing)
            raise

    @contextmanager
    def _withholding(self, doing: str) -> Iterator[None]:
        adbc_driver_manager = import_optional("adbc_driver_manager")

        message = None
        try:
            yield
        except (adbc_driver_manager.Error, OSError) as error:
            state = getattr(error, "sqlstate", None) or "of the connection"
            message = f"PostgreSQL could not {doing}: {_ERROR_TEXTS.get(state, f'error {state}')}"
        if message is not None:
            raise DataError(message) from None

    def close(self) -> None:
        """End the connection; never raises."""
        self._connection.close()

    def __enter__(self) -> Administrator:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


_DIALECT = PostgresDialect()
_PREFIX, _SUFFIX = "holdfast_sgd_", ".so"


def status(url: str) -> Installation:
    """What the database has of the extension; any user may ask, and nothing can be changed by it."""
    session = Session(Address.of(url).url)
    try:
        return find_installation(
            lambda statement: session.answer(statement, "look for the extension", copy=False).to_pylist()
        )
    finally:
        session.close()


def _status(admin: Administrator) -> Installation:
    return find_installation(lambda statement: admin.rows_of(statement, doing="look for the extension"))


def install(
    url: str,
    *,
    folder: str | os.PathLike[str] | None = None,
    compiler: str | None = None,
    pg_config: str | None = None,
    role: str | None = None,
) -> Installation:
    """Build the extension and put it into the database of the URL; what was there of it is replaced.

    The server's own user must be able to read `folder`, and only its owner may be able to write to it; by default it is
    `holdfast` in the server's data folder. `role` is who may use the extension, by default everybody; that right
    gives no access to any table.
    """
    with Administrator(url) as admin:
        facts = _facts(admin)
        earlier_library = _our_library(admin)
        settings = admin.rows_of(
            "SELECT name, setting FROM pg_catalog.pg_config", doing="ask how it was built"
        )
        headers = find_headers(
            {row["name"]: row["setting"] for row in settings},
            major=facts["version"] // 10_000,
            pg_config=pg_config,
        )
        program = find_compiler(compiler)
        library_folder = _require_folder(
            Path(facts["data"]) / "holdfast" if folder is None else Path(folder).absolute()
        )
        library = library_folder / f"{_PREFIX}{version()}_{facts['database']}{_SUFFIX}"
        is_new = not library.exists()
        try:
            _build_library(library, compiler=program, headers=headers)
            _require_same_file(admin, library)
            _create(admin, str(library), role=role, replaces=earlier_library is not None)
        except BaseException:
            if is_new:
                _remove(str(library))
            raise
        if earlier_library not in (None, str(library)):
            _remove(str(earlier_library))
        return _status(admin)


def uninstall(url: str) -> Installation:
    """Remove the functions and the library; an error, and nothing changed, where one of them cannot be."""
    with Administrator(url) as admin:
        _facts(admin)
        library = _our_library(admin)
        if library is None:
            raise DataError(
                f"the database has no extension of holdfast's to remove (no schema {SCHEMA_NAME!r})"
            )
        quoted = _DIALECT.literal(library)
        file_status = admin.rows_of(
            f"SELECT (pg_catalog.pg_stat_file({quoted}, true)).size AS size", doing="look for the library"
        )
        if file_status[0]["size"] is not None and not os.access(Path(library).parent, os.W_OK):
            raise DataError(
                f"the library {library!r} cannot be deleted from here: run this on the server's machine, as a user who "
                "may write to its folder; nothing was removed"
            )
        with admin.transaction("remove the extension"):
            for statement in drop_statements():
                admin.run(statement, doing="remove the extension")
        _remove(library)
        return _status(admin)


def _facts(admin: Administrator) -> Mapping[str, Any]:
    """Version, data folder and database; refuses users who are no superusers."""
    rights = admin.rows_of(
        "SELECT rolsuper AS superuser FROM pg_catalog.pg_roles WHERE rolname = current_user",
        doing="ask for rights",
    )
    if not rights or not rights[0]["superuser"]:
        raise DataError(
            "only a superuser may put C code into PostgreSQL, and this user is none. Connect as one; where a managed "
            "server has none to offer, open tables with way='sql' or way='pull', which need no extension"
        )
    triggers = admin.rows_of(
        "SELECT CAST(e.evtname AS text) AS name FROM pg_catalog.pg_event_trigger e JOIN pg_catalog.pg_proc p "
        f"ON p.oid = e.evtfoid WHERE e.evtenabled <> 'D' AND NOT {is_trusted_sql('p.proowner')} ORDER BY e.evtname",
        doing="look for event triggers",
    )
    if triggers:
        raise DataError(
            f"the event trigger {triggers[0]['name']!r} of the database runs a function of a user who is no "
            "superuser, with your rights, whatever is created or dropped; disable it first (ALTER EVENT TRIGGER)"
        )
    return admin.rows_of(
        "SELECT CAST(pg_catalog.current_setting('server_version_num') AS integer) AS version, "
        "pg_catalog.current_setting('data_directory') AS data, CAST(oid AS bigint) AS database "
        "FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database()",
        doing="ask for its version",
    )[0]


def _our_library(admin: Administrator) -> str | None:
    """The installed library; '' where our schema has none, None without a schema; refused where it is not ours."""
    schemas = admin.rows_of(SCHEMA_QUERY, doing="look for the extension")
    if not schemas:
        return None
    if not is_ours(schemas[0]):
        raise DataError(
            f"the database has a schema {SCHEMA_NAME!r} that is not of this extension; rename it first"
        )
    return str(schemas[0]["library"] or "")


def _require_folder(place: Path) -> Path:
    """The folder, made if need be; refused if others may write to it, who could then change the code."""
    problem = None
    try:
        place.mkdir(mode=0o755, exist_ok=True)
        if place.stat().st_mode & 0o022:
            problem = "others may write to it, and could change the code that the server runs; use chmod go-w"
        elif not os.access(place, os.W_OK):
            problem = "this user may not write to it"
    except OSError as error:
        problem = str(error.strerror)
    if problem is not None:
        raise DataError(
            f"the library cannot be put into {str(place)!r}: {problem}. Run this on the server's machine as the user "
            "who owns its data folder, or give --folder, a folder that the server's user can read"
        )
    return place


def _build_library(library: Path, *, compiler: str, headers: Path) -> None:
    """Build the library beside its place and rename it, so that processes that use the old file keep it."""
    with tempfile.TemporaryDirectory(prefix="holdfast-build-") as folder:
        built = Path(folder) / library.name
        build(built, compiler=compiler, headers=headers)
        beside = library.with_suffix(".new")
        beside.write_bytes(built.read_bytes())
        beside.chmod(0o755)
        beside.replace(library)


def _require_same_file(admin: Administrator, library: Path) -> None:
    """Refuse unless the server reads the same bytes at this path."""
    digest = sha256(library.read_bytes()).hexdigest()
    path, server_digest = _DIALECT.literal(str(library)), None
    with suppress(DataError):
        server_digest = admin.rows_of(
            f"SELECT pg_catalog.encode(pg_catalog.sha256(pg_catalog.pg_read_binary_file({path})), 'hex') AS digest",
            doing="read the library",
        )[0]["digest"]
    if server_digest != digest:
        raise DataError(
            f"the server does not see {str(library)!r}: it runs on another machine or in a container, or its user may "
            "not enter the folder. Run this on the server's machine, or give --folder, which its user can read"
        )


def _create(admin: Administrator, library: str, *, role: str | None, replaces: bool) -> None:
    who = "PUBLIC" if role is None else _DIALECT.identifier(role)
    with admin.transaction("create the extension"):
        for statement in [
            *(drop_statements() if replaces else []),
            *create_statements(library),
            f"GRANT USAGE ON SCHEMA {SCHEMA_NAME} TO {who}",
        ]:
            admin.run(statement, doing="create the extension")
        loaded = admin.rows_of(f"SELECT {SCHEMA_NAME}.version() AS version", doing="load the extension")[0][
            "version"
        ]
        if loaded != version():
            raise DataError(
                "the server loaded another library than the one that was built; nothing was changed"
            )


def _remove(library: str) -> None:
    """Delete a library of ours, and its folder if that was made for it and is empty."""
    path = Path(library)
    if not (path.name.startswith(_PREFIX) and path.suffix == _SUFFIX):
        return
    with suppress(OSError):
        path.unlink(missing_ok=True)
        if path.parent.name == "holdfast":
            path.parent.rmdir()
