"""Store: the SQLite file of a ledger, its transactions, and every error of SQLite as a `LedgerError`.

SQLite writes ahead (WAL) and waits for the disk (synchronous FULL), so a committed charge survives a
power cut. There is one connection per process, used by one thread at a time. A connection must not
be used across a fork, so it is closed before a fork and opened again, in parent and child, when it is used next.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import urllib.parse
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from holdfast._regular_file import require_regular
from holdfast.data._irreplaceable import LEDGER_PARTS
from holdfast.data._whole_file import name_new, remove_abandoned, temporary_file
from holdfast.errors import LedgerError, require
from holdfast.ledger._chain import APPLICATION_ID, FORMAT_VERSION, TABLES, Chain
from holdfast.ledger._entry import Kind
from holdfast.ledger._layout import require_layout


class Store:
    """One ledger file, opened for reading and, unless `read_only`, for appending."""

    def __init__(self, path: Path, *, read_only: bool = False, timeout_s: float = 60.0) -> None:
        require(timeout_s >= 0, "timeout_s", timeout_s, ">= 0")
        self.path = Path(os.path.realpath(path))
        self.read_only = read_only
        self._timeout_s = min(timeout_s, _LONGEST_TIMEOUT_S)
        self._lock = threading.RLock()
        self._connections: list[sqlite3.Connection] = []  # none or one
        _OPEN.add(self)
        weakref.finalize(self, _close, self._connections)

    @classmethod
    def create(cls, path: Path, entries: Sequence[tuple[Kind, dict[str, Any]]]) -> None:
        """Make a file with the tables and its first entries; refused if anything is there.

        It is made under another name and appears whole, so that nobody ever opens half a ledger. Of two processes
        that start one at the same place the second is refused.
        """
        try:
            remove_abandoned(path.parent)
            # Only its owner can read the new file; letting others read the history takes a decision.
            with temporary_file(path, mode=0o600) as temporary:
                _begin(temporary, entries)
                name_new(temporary, path)
        except FileExistsError:
            raise LedgerError(
                f"there is already a file at {str(path)!r}; open it, or choose another name"
            ) from None
        except OSError as error:
            raise LedgerError(f"cannot create a ledger at {str(path)!r}: {error.strerror}") from None

    @contextmanager
    def reading(self) -> Iterator[Chain]:
        """One unchanging view of the ledger."""
        with self._lock, _ledger_errors():
            connection = self._connection()
            connection.execute("BEGIN")
            try:
                require_layout(connection, self.path)  # again: it may have been changed since it was opened
                yield Chain(connection)
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    @contextmanager
    def writing(self, *, durable: bool = True) -> Iterator[Chain]:
        """A transaction of the only writer; everything in it is kept, or nothing.

        `durable` waits for the disk. Entries that may be lost in a power cut without harm do not wait (see
        `LedgerEntry.must_last`): they reach the disk with the next durable entry.
        """
        if self.read_only:
            raise LedgerError(f"the ledger {str(self.path)!r} was opened read-only; nothing was released")
        with self._lock, _ledger_errors():
            connection = self._connection()
            connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            connection.execute("BEGIN IMMEDIATE")
            try:
                require_layout(connection, self.path)  # again: it may have been changed since it was opened
                yield Chain(connection, durable=durable)
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def note_verified(self, number: int, entry_hash: str) -> None:
        """Note how far the file was checked, if that can be done at once: the next opening then has less to check."""
        if self.read_only:
            return
        with self._lock, suppress(LedgerError):
            self._connection().execute("PRAGMA busy_timeout = 0")
            try:
                with self.writing(durable=False) as chain:
                    chain.mark_verified(number, entry_hash)
            finally:
                self._connection().execute(f"PRAGMA busy_timeout = {int(1000 * self._timeout_s)}")

    def close(self) -> None:
        """Give the file back; the next use opens it again."""
        with self._lock:
            _close(self._connections)

    def _connection(self) -> sqlite3.Connection:
        if not self._connections:
            connection = self._open()
            try:
                require_layout(connection, self.path)
                if not self.read_only:
                    connection.execute("PRAGMA journal_mode = WAL")
            except BaseException:
                connection.close()
                raise
            self._connections.append(connection)
        return self._connections[0]

    def _open(self) -> sqlite3.Connection:
        try:
            exists = self.path.is_file()
        except OSError as error:
            raise LedgerError(f"the ledger {str(self.path)!r} cannot be reached: {error.strerror}") from error
        if not exists:
            require_regular(self.path, what="a ledger", error=LedgerError)
            raise LedgerError(f"there is no ledger at {str(self.path)!r}; create it with Ledger.create")
        for ending in LEDGER_PARTS:
            require_regular(f"{self.path}{ending}", what="a part of the ledger", error=LedgerError)
        options = "mode=ro" if self.read_only else "mode=rw"
        if self.read_only and not os.access(self.path.parent, os.W_OK):
            # Without a place for shared memory SQLite can read the file only if nobody writes to it.
            wal = self.path.with_name(self.path.name + "-wal")
            if wal.exists() and wal.stat().st_size > 0:
                raise LedgerError(
                    f"{str(wal)!r} holds entries that are not yet in the ledger file; "
                    "copy both files into a folder that can be written to, and open them there"
                )
            options = "mode=ro&immutable=1"
        connection = sqlite3.connect(
            f"file:{urllib.parse.quote(os.fsencode(self.path))}?{options}",
            uri=True,
            isolation_level=None,
            timeout=self._timeout_s,
            check_same_thread=False,
        )
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MOST_TEXT_BYTES)
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA cell_size_check = ON")
        return connection


def _begin(path: Path, entries: Sequence[tuple[Kind, dict[str, Any]]]) -> None:
    """Tables and first entries, in one transaction, in a file that nobody else knows."""
    with _ledger_errors():
        connection = sqlite3.connect(path, isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.executescript(
                f"BEGIN IMMEDIATE; {TABLES} PRAGMA application_id = {APPLICATION_ID}; "
                f"PRAGMA user_version = {FORMAT_VERSION};"
            )
            chain = Chain(connection, durable=True)
            for kind, body in entries:
                chain.append(kind, body)
            connection.execute("COMMIT")
        finally:
            connection.close()


_LONGEST_TIMEOUT_S = 2_000_000
"""Three weeks: SQLite counts milliseconds in 32 bits, and takes what does not fit for no time at all."""
_MOST_TEXT_BYTES = 8 * 2**20
"""The size of the largest text that is read from the file."""

_CAUSES = {
    "SQLITE_BUSY": "another process holds the lock",
    "SQLITE_FULL": "the disk is full",
    "SQLITE_IOERR": "the disk reports an error, or is full",
    "SQLITE_READONLY": "the file cannot be written to",
    "SQLITE_CANTOPEN": "the file or its folder cannot be opened",
    "SQLITE_CORRUPT": "the file is damaged",
    "SQLITE_NOTADB": "the file is damaged, or is no ledger",
    "SQLITE_CONSTRAINT": "the ledger is append-only",
    "SQLITE_TOOBIG": "it holds a text that is longer than any entry",
}


@contextmanager
def _ledger_errors() -> Iterator[None]:
    """Raise a `LedgerError` in the place of SQLite's errors, whose texts can quote what is stored."""
    try:
        yield
    except UnicodeEncodeError:
        raise LedgerError(
            "a name that was given is no text that a ledger can hold; nothing was released"
        ) from None
    except (sqlite3.Error, UnicodeDecodeError) as error:  # the second where even its message is damaged
        code = getattr(error, "sqlite_errorname", None) or type(error).__name__
        cause = next((text for prefix, text in _CAUSES.items() if code.startswith(prefix)), "it is damaged")
        raise LedgerError(f"the ledger cannot be used: {cause} ({code}); nothing was released") from None


# A connection that is open during a fork leaves the child believing that it holds the locks of its
# parent, which it does not (sqlite.org, "How to corrupt a database", section 2.6).
_OPEN: weakref.WeakSet[Store] = weakref.WeakSet()


def _before_fork() -> None:
    held = list(_OPEN)
    for store in held:
        store._lock.acquire()
        store.close()
    _HELD.append(held)


def _after_fork() -> None:
    for store in _HELD.pop():
        store._lock.release()


_HELD: list[list[Store]] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)


def _close(connections: list[sqlite3.Connection]) -> None:
    while connections:
        connections.pop().close()
