"""One read-only snapshot of a PostgreSQL server, through ADBC, without messages of the driver.

A session is one connection and one transaction, REPEATABLE READ and READ ONLY: all its queries are answered
from the same state of the database, and nothing can be written. Messages of the driver and the server may
quote data, statements or the URL, so errors say only what was being done and the kind of failure.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from holdfast._extras import import_optional
from holdfast.data._engines.postgres.code import LOGIN_TRIGGERS, is_trusted_sql
from holdfast.data._engines.postgres.connection import Connection
from holdfast.data._engines.postgres.pinned import pin_statements
from holdfast.errors import DataError

LEAST_SERVER_VERSION = 120_000
#: About how many bytes of a result are held at a time.
BATCH_BYTES = 2**24
#: The snapshot, and settings that fix how texts and numbers are written, whatever the server or the role is set to.
#: They are local to the transaction, so that connections of a pool are not changed.
SETTINGS = (
    "; ".join(["BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY", *pin_statements(local=True)]),
    "SET LOCAL client_encoding = 'UTF8'",
    "SET LOCAL DateStyle = 'ISO'",
    "SET LOCAL TimeZone = 'UTC'",
    "SET LOCAL extra_float_digits = 1",
    "SET LOCAL jit = off",  # compiling hundreds of sums takes longer than computing them
    "SET LOCAL lock_timeout = '60s'",  # whoever owns a table could hold up its readers for ever
)
#: Servers of 12.20, 13.16, 14.13, 15.8, 16.4 and later have this setting.
_REFUSED_KINDS = (
    "SELECT pg_catalog.set_config(name, '{0}', true) AS kinds FROM pg_catalog.pg_settings "
    "WHERE name = 'restrict_nonsystem_relation_kind'"
)
_SERVER_WITH_LOGIN_TRIGGERS = 170_000
_LOST_STATES = ("08", "57P")
_NO_TABLE_STATE = "42809"
_DENIED_STATE, _CANCELLED_STATE, _FAILED_STATE, _LOCKED_STATE = "42501", "57014", "25P02", "55P03"


class Session:
    """One connection, one snapshot. After a failure it answers nothing more: open the table again."""

    def __init__(self, url: str) -> None:
        self._broken = False
        self._lock = threading.RLock()
        self._url = url
        self._beside: Connection | None = None
        self._look: Callable[[], None] = lambda: None
        self._connection = Connection(url, read_only=True)
        try:
            for statement in SETTINGS:
                self._set(statement)
            server = self.answer(
                "SELECT CAST(pg_catalog.current_setting('server_version_num') AS integer) AS version, "
                "pg_catalog.current_setting('server_encoding') AS encoding",
                "ask for its version",
            ).to_pylist()[0]
            if server["version"] < LEAST_SERVER_VERSION or server["encoding"] != "UTF8":
                raise DataError("the PostgreSQL server must be version 12 or later with the encoding UTF8")
            self.can_refuse = self.refuse(("view", "foreign-table"))
            if server["version"] >= _SERVER_WITH_LOGIN_TRIGGERS:
                self._require_no_login_trigger()
        except BaseException:
            self.close()
            raise

    def _require_no_login_trigger(self) -> None:
        """Refuse a database in which a function of others has just run as this user."""
        asked = LOGIN_TRIGGERS.format(is_trusted_sql("p.proowner"))
        triggers = self.answer(asked, "look for event triggers").to_pylist()
        if triggers:
            raise DataError(
                f"the event trigger {triggers[0]['name']!r} of the database runs a function of a user who is no "
                "superuser, with your rights, whenever you connect, also now: nothing was read; have it disabled "
                "(ALTER EVENT TRIGGER), or, as a superuser, connect with &options=-c%20event_triggers%3Doff"
            )

    def _set(self, statement: str) -> None:
        with self._withholding("prepare the session"):
            self._connection.run(statement)

    def answer(self, statement: str, doing: str, *, copy: bool = True) -> Any:
        """The whole result as one Arrow table. `copy=False` is for statements that are not queries."""
        import pyarrow as pa

        batches = list(self.stream(statement, doing, copy=copy, empty=True))
        return pa.Table.from_batches(batches)

    def stream(self, statement: str, doing: str, *, copy: bool = True, empty: bool = False) -> Iterator[Any]:
        """The result as Arrow batches; with `empty` a result without rows is one empty batch.

        The connection is busy until the last batch was read.
        """
        import pyarrow as pa

        with self._lock, ExitStack() as held:
            self._look()
            with self._withholding(doing):
                reader = held.enter_context(
                    self._connection.result(statement, copy=copy, batch_bytes=BATCH_BYTES)
                )
            while True:
                batch = None
                with self._withholding(doing):
                    batch = next(reader, None)
                if batch is None:
                    break
                empty = False
                yield batch
            if empty:
                yield pa.RecordBatch.from_pylist([], schema=reader.schema)

    @contextmanager
    def _withholding(self, doing: str) -> Iterator[None]:
        """Replace errors of the driver by ours, which say the kind of failure and not the message."""
        adbc_driver_manager = import_optional("adbc_driver_manager")
        import pyarrow as pa

        if self._broken:
            raise DataError(
                f"could not {doing}: the connection to PostgreSQL is closed or failed before; open the table again"
            )
        message = None
        try:
            yield
        except (adbc_driver_manager.Error, pa.ArrowException, OSError) as error:
            state = getattr(error, "sqlstate", None) or ""
            message = f"PostgreSQL could not {doing}: {self._kind(state, str(error))}"
        if message is not None:
            self._broken = True
            raise DataError(message) from None

    def _kind(self, state: str, message: str) -> str:
        """The kind of a failure as a text. Errors in the middle of a stream have no state (SQLSTATE)."""
        if state == _DENIED_STATE:
            return "the user may not read it: GRANT SELECT on the table, and USAGE on its schema"
        if state == _LOCKED_STATE:
            return (
                "another session has locked the table for a minute or longer; open it again when it is free"
            )
        if state == _CANCELLED_STATE or (not state and "timeout" in message and self._alive()):
            return (
                "the server ended the statement, as its time limits (statement_timeout) or an administrator say; "
                "raise the limit for this user (ALTER ROLE ... SET statement_timeout) and open the table again"
            )
        if state.startswith(_LOST_STATES) or (not state and not self._alive()):
            return "the connection was lost; open the table again"
        return (
            f"error {state or 'in a statement'}; the server's message is withheld, because it may quote data"
        )

    def _alive(self) -> bool:
        """Whether the server still answers, if only that the transaction failed; this does not read messages."""
        adbc_driver_manager = import_optional("adbc_driver_manager")

        try:
            self._connection.run("SELECT 1")
        except (adbc_driver_manager.Error, OSError) as error:
            return getattr(error, "sqlstate", None) == _FAILED_STATE
        return True

    def filters(self, statement: str) -> bool:
        """Whether policies of row-level security leave rows out of a query of this user.

        With `row_security` off the server refuses such a query instead of filtering it, also behind views.
        """
        adbc_driver_manager = import_optional("adbc_driver_manager")

        self._look()
        self._set("SAVEPOINT unfiltered")
        state = None
        try:
            self._connection.run(f"{statement} LIMIT 0")
        except (adbc_driver_manager.Error, OSError) as error:
            state = getattr(error, "sqlstate", None)
        self._set("ROLLBACK TO SAVEPOINT unfiltered")
        return state == _DENIED_STATE

    def refuse(self, kinds: Sequence[str]) -> bool:
        """From now on the server reads no relation of these kinds, "view" or "foreign-table"; whether it can be told.

        What was a table when it was looked up may be something else when it is read.
        """
        told: int = self.answer(_REFUSED_KINDS.format(", ".join(kinds)), "prepare the session").num_rows
        return told > 0

    def hold(self, relation: str) -> bool:
        """Keep a relation from being dropped, renamed or replaced until the end; whether this user may.

        Whoever may read only some of its columns may not, and materialized views are not held.
        """
        adbc_driver_manager = import_optional("adbc_driver_manager")

        self._set("SAVEPOINT free")
        try:
            self._connection.run(f"LOCK TABLE {relation} IN ACCESS SHARE MODE")
        except (adbc_driver_manager.Error, OSError) as error:
            state = getattr(error, "sqlstate", None) or ""
            if state not in (_DENIED_STATE, _NO_TABLE_STATE):
                self._broken = True
                raise DataError(f"PostgreSQL could not hold the table: {self._kind(state, '')}") from None
            self._set("ROLLBACK TO SAVEPOINT free")
            return False
        return True

    def watch(self, look: Callable[[], None]) -> None:
        """From now on this is called before every statement; it asks what is true now (`now`) and refuses."""
        self._look = look

    def now(self, statement: str, doing: str) -> list[dict[str, Any]]:
        """The answer as the database is now, and not in the snapshot: from a second connection."""
        with self._lock, self._withholding(doing):
            if self._beside is None:
                self._beside = Connection(self._url, read_only=True)
            self._beside.run(SETTINGS[0])
            with self._beside.result(statement, copy=False) as reader:
                rows: list[dict[str, Any]] = reader.read_all().to_pylist()
            self._beside.run("ROLLBACK")
        return rows

    def allow_policies(self) -> None:
        """From now on policies of row-level security run: those of this session are known to be harmless."""
        self._set("SET LOCAL row_security = on")

    def close(self) -> None:
        """End the transaction and the connection; never raises, also the second time."""
        self._broken = True
        self._connection.close()
        if self._beside is not None:
            self._beside.close()
