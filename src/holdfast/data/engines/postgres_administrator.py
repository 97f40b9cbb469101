"""A connection of an administrator: it may write, and its errors never pass on a driver's message."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any

from holdfast.data.engines.postgres_session import connecting
from holdfast.data.engines.postgres_source import Address
from holdfast.errors import DataError, missing_extra

#: What is said for an error code.
_KINDS = {
    "42501": "the user has not the right; connect as a superuser",
    "25006": "the server is read-only; connect to the primary",
    "58P01": "the server cannot load the library",
    "2BP01": "something else depends on the extension or was put into its schema; remove that first",
    "XX000": "the library does not fit the server; build it against its own headers",
}


class Administrator:
    """A connection that may write. Its errors say what was being done and the kind of failure only."""

    def __init__(self, url: str) -> None:
        try:
            dbapi: Any = import_module("adbc_driver_postgresql.dbapi")
        except ImportError:
            raise missing_extra("adbc-driver-postgresql", "postgres") from None
        with connecting():
            self._connection = dbapi.connect(Address.of(url).url, autocommit=True)
        self.run("SET standard_conforming_strings = on", doing="prepare the session")

    def ask(self, statement: str, *, doing: str) -> list[dict[str, Any]]:
        """The rows of a query."""
        with self._withholding(doing), self._connection.cursor() as cursor:
            # A copy would be quicker and lose the codes of errors.
            cursor.adbc_statement.set_options(**{"adbc.postgresql.use_copy": "false"})
            cursor.execute(statement)
            rows: list[dict[str, Any]] = cursor.fetch_arrow_table().to_pylist()
            return rows

    def run(self, statement: str, *, doing: str) -> None:
        """A statement without a result."""
        with self._withholding(doing), self._connection.cursor() as cursor:
            cursor.executescript(statement)

    @contextmanager
    def transaction(self, doing: str) -> Iterator[None]:
        """All or nothing."""
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
        import adbc_driver_manager

        message = None
        try:
            yield
        except (adbc_driver_manager.Error, OSError) as error:
            state = getattr(error, "sqlstate", None) or "of the connection"
            message = f"PostgreSQL could not {doing}: {_KINDS.get(state, f'error {state}')}"
        if message is not None:
            raise DataError(message) from None

    def close(self) -> None:
        """End the connection; never raises."""
        import adbc_driver_manager

        with suppress(adbc_driver_manager.Error):
            self._connection.close()

    def __enter__(self) -> Administrator:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
