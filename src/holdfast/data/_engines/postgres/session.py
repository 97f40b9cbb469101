"""One read-only snapshot of a PostgreSQL server, through ADBC, without messages of the driver.

A session is one connection and one transaction, REPEATABLE READ and READ ONLY: all its queries are answered
from the same state of the database, and nothing can be written. Messages of the driver and the server may
quote data, statements or the URL, so errors say only what was being done and the kind of failure.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from holdfast._extras import import_optional
from holdfast.data._engines.postgres.pinned import PIN_PATH_LOCALLY, with_pinned_path
from holdfast.errors import DataError

LEAST_SERVER_VERSION = 120_000
#: About how many bytes of a result are held at a time.
BATCH_BYTES = 2**24
#: The snapshot, and settings that fix how texts and numbers are written, whatever the server or the role is set to.
#: They are local to the transaction, so that connections of a pool are not changed.
SETTINGS = (
    f"BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY; {PIN_PATH_LOCALLY}",
    "SET LOCAL client_encoding = 'UTF8'",
    "SET LOCAL standard_conforming_strings = on",
    "SET LOCAL DateStyle = 'ISO'",
    "SET LOCAL TimeZone = 'UTC'",
    "SET LOCAL extra_float_digits = 1",
    "SET LOCAL jit = off",  # compiling hundreds of sums takes longer than computing them
)
#: Parts of libpq's messages about a connection that failed, and what errors say instead.
_CONNECTION_ERROR_TEXTS = {
    "password authentication failed": "the server refused the user name or the password",
    "no password supplied": "the server wants a password: put it in PGPASSWORD or a .pgpass file",
    "no pg_hba.conf entry": "the server does not let this user connect from here",
    "does not exist": "the server has no such user or database",
    "SSL": "the server and the URL do not agree on encryption (sslmode)",
    "could not translate host name": "the host of the URL was not found",
    "Connection refused": "nothing listens at the host and port of the URL",
    "timeout expired": "the server did not answer in time",
    "invalid URI": "the URL is malformed; special characters of a password are written as %40",
    "invalid connection option": "the URL has a parameter that PostgreSQL does not know",
}
_LOST_STATES = ("08", "57P")
_DENIED_STATE, _CANCELLED_STATE, _FAILED_STATE = "42501", "57014", "25P02"


def _reason(message: str) -> str:
    return next(
        (text for part, text in _CONNECTION_ERROR_TEXTS.items() if part in message), "the connection failed"
    )


@contextmanager
def connecting() -> Iterator[None]:
    """Replace an error of the driver while it connects, whose message may quote the URL, by one of ours."""
    adbc_driver_manager = import_optional("adbc_driver_manager")

    reason = None
    try:
        yield
    except adbc_driver_manager.Error as error:
        reason = _reason(str(error))
    if reason is not None:
        raise DataError(f"could not connect to PostgreSQL: {reason}") from None


class Session:
    """One connection, one snapshot. After a failure it answers nothing more: open the table again."""

    def __init__(self, url: str) -> None:
        dbapi = import_optional("adbc_driver_postgresql.dbapi")
        self._broken = False
        self._lock = threading.RLock()
        with connecting():
            self._connection = dbapi.connect(with_pinned_path(url), autocommit=True)
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
        except BaseException:
            self.close()
            raise

    def _set(self, statement: str) -> None:
        with self._withholding("prepare the session"), self._connection.cursor() as cursor:
            cursor.executescript(statement)

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

        with self._lock:
            with self._withholding(doing):
                cursor = self._connection.cursor()
            try:
                with self._withholding(doing):
                    options = {
                        "adbc.postgresql.use_copy": str(copy).lower(),
                        "adbc.postgresql.batch_size_hint_bytes": str(BATCH_BYTES),
                    }
                    cursor.adbc_statement.set_options(**options)
                    cursor.execute(statement)
                    reader = cursor.fetch_record_batch()
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
            finally:
                _quietly(cursor.close)

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
            with self._connection.cursor() as cursor:
                cursor.execute("SELECT 1")
        except (adbc_driver_manager.Error, OSError) as error:
            return getattr(error, "sqlstate", None) == _FAILED_STATE
        return True

    def filters(self, statement: str) -> bool:
        """Whether policies of row-level security leave rows out of a query of this user.

        With `row_security` off the server refuses such a query instead of filtering it, also behind views.
        """
        adbc_driver_manager = import_optional("adbc_driver_manager")

        self._set("SAVEPOINT unfiltered")
        self._set("SET LOCAL row_security = off")
        state = None
        try:
            with self._connection.cursor() as cursor:
                cursor.execute(f"{statement} LIMIT 0")
                cursor.fetchall()
        except (adbc_driver_manager.Error, OSError) as error:
            state = getattr(error, "sqlstate", None)
        self._set("ROLLBACK TO SAVEPOINT unfiltered")
        return state == _DENIED_STATE

    def close(self) -> None:
        """End the transaction and the connection; never raises, also the second time."""
        self._broken = True
        _quietly(self._connection.close)


def _quietly(close: Callable[[], object]) -> None:
    """Close something whose connection may be gone already."""
    adbc_driver_manager = import_optional("adbc_driver_manager")

    with suppress(adbc_driver_manager.Error):
        close()
