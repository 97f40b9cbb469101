"""The one way to a PostgreSQL server: every statement of this package goes through a `Connection`.

It is pinned before its first statement. Errors of the driver are raised as they are; whoever holds the connection says
instead what was being done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from holdfast._extras import import_optional
from holdfast.data._engines.postgres.pinned import with_pins
from holdfast.errors import DataError

#: Parts of libpq's messages about a connection that failed, and what is said instead.
_REFUSALS = {
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


class Connection:
    """A connection of the driver, pinned; a reader says so, and the server then lets it change nothing."""

    def __init__(self, url: str, *, read_only: bool) -> None:
        adbc_driver_manager = import_optional("adbc_driver_manager")
        dbapi = import_optional("adbc_driver_postgresql.dbapi")

        reason = None
        try:
            self._connection = dbapi.connect(with_pins(url, read_only=read_only), autocommit=True)
        except adbc_driver_manager.Error as error:  # its message may quote the URL
            reason = _reason(str(error))
        if reason is not None:
            raise DataError(f"could not connect to PostgreSQL: {reason}") from None

    def run(self, statement: str) -> None:
        """A statement without a result."""
        with self._connection.cursor() as cursor:
            cursor.executescript(statement)

    @contextmanager
    def result(self, statement: str, *, copy: bool, batch_bytes: int | None = None) -> Iterator[Any]:
        """A reader of the Arrow batches of a query; a copy is quicker, and loses the codes of errors."""
        cursor = self._connection.cursor()
        try:
            options = {"adbc.postgresql.use_copy": str(copy).lower()}
            if batch_bytes is not None:
                options["adbc.postgresql.batch_size_hint_bytes"] = str(batch_bytes)
            cursor.adbc_statement.set_options(**options)
            cursor.execute(statement)
            yield cursor.fetch_record_batch()
        finally:
            _quietly(cursor.close)

    def close(self) -> None:
        """End the connection; never raises, also the second time."""
        _quietly(self._connection.close)


def _reason(message: str) -> str:
    return next((said for part, said in _REFUSALS.items() if part in message), "the connection failed")


def _quietly(close: Callable[[], object]) -> None:
    """Let go of something whose connection may be gone already."""
    adbc_driver_manager = import_optional("adbc_driver_manager")

    with suppress(adbc_driver_manager.Error):
        close()
