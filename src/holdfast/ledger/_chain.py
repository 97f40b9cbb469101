"""Chain: the entries of a ledger file as one transaction sees them, and the index tables that point to them.

Every amount is stored in an entry of the chain, and is read from there after the entry's hash was
checked. The other tables hold numbers of entries only ("pointers"): by them a charge takes the same
time in a long ledger as in a short one. `verify` derives every pointer again from the chain.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from holdfast.data._irreplaceable import LEDGER_ID
from holdfast.errors import LedgerError
from holdfast.ledger._entry import BEGINNING_HASH, Kind, LedgerEntry, now
from holdfast.privacy._account.journal import shares_above

APPLICATION_ID = LEDGER_ID
FORMAT_VERSION = 1
TABLES = """
CREATE TABLE entries (number INTEGER PRIMARY KEY, text TEXT NOT NULL, hash TEXT NOT NULL);
CREATE TABLE datasets (name TEXT PRIMARY KEY, opened INTEGER NOT NULL, period INTEGER NOT NULL);
CREATE TABLE accounts (name TEXT PRIMARY KEY, dataset TEXT NOT NULL, opened INTEGER NOT NULL, closed INTEGER);
CREATE TABLE totals (account TEXT, share TEXT, number INTEGER NOT NULL, PRIMARY KEY (account, share));
CREATE TABLE charges (number INTEGER PRIMARY KEY, account TEXT NOT NULL, key TEXT, settled INTEGER);
CREATE UNIQUE INDEX charges_by_key ON charges (account, key) WHERE key IS NOT NULL;
CREATE INDEX charges_by_account ON charges (account, number);
CREATE TABLE payloads (number INTEGER PRIMARY KEY, payload TEXT NOT NULL);
CREATE TABLE durable (one INTEGER PRIMARY KEY CHECK (one = 1), number INTEGER NOT NULL);
CREATE TABLE holders (account TEXT, host TEXT, process INTEGER, started TEXT,
PRIMARY KEY (account, host, process, started));

CREATE TRIGGER entries_never_change BEFORE UPDATE ON entries
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER entries_never_go BEFORE DELETE ON entries
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER entries_follow_each_other BEFORE INSERT ON entries
WHEN NEW.number IS NOT (SELECT coalesce(max(number) + 1, 0) FROM entries)
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER payloads_never_change BEFORE UPDATE ON payloads
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER payloads_never_go BEFORE DELETE ON payloads
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER payloads_come_once BEFORE INSERT ON payloads
WHEN EXISTS (SELECT 1 FROM payloads WHERE number = NEW.number)
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
"""
"""The SQL that makes every table, index and trigger; `holders` says which processes have an account open."""
POINTERS = {
    "datasets": "SELECT name, opened, period FROM datasets ORDER BY name",
    "accounts": "SELECT name, dataset, opened, closed FROM accounts ORDER BY name",
    "totals": "SELECT account, share, number FROM totals ORDER BY account, share",
    "charges": "SELECT number, account, key, settled FROM charges ORDER BY number",
    "durable": "SELECT number FROM durable",
}
"""How to read each table of pointers, in a fixed order."""
ReadBack = tuple[str, tuple[Any, ...], tuple[Any, ...]]
"""A query, its parameters, and the one row that it must answer."""


class DatasetRow(NamedTuple):
    """Which entries opened a dataset and its present period; the same entry before the first reset."""

    opened: int
    period: int


class AccountRow(NamedTuple):
    """The dataset of an account, and which entries opened and closed it."""

    dataset: str
    opened: int
    closed: int | None

    @property
    def is_open(self) -> bool:
        """Whether no entry closed it."""
        return self.closed is None


class Chain:
    """Reads and appends entries inside a transaction that the store opened."""

    def __init__(self, connection: sqlite3.Connection, *, durable: bool = False) -> None:
        self._sql = connection
        self._durable = durable

    # Entries.

    def entry(self, number: int) -> LedgerEntry:
        """The entry of this number, with its hash checked."""
        row = self._sql.execute("SELECT text, hash FROM entries WHERE number = ?", (number,)).fetchone()
        if row is None:
            raise LedgerError(f"entry {number} of the ledger is missing; nothing was released")
        entry = LedgerEntry.parse(*row)
        if entry.number != number:
            raise LedgerError(f"entry {number} of the ledger is in the wrong place; nothing was released")
        return entry

    def rows(self) -> Iterator[tuple[int, str, str]]:
        """Every entry as it is stored: number, text, hash."""
        return iter(self._sql.execute("SELECT number, text, hash FROM entries ORDER BY number"))

    def closings(self, digest: str) -> Iterator[LedgerEntry]:
        """Entries that close a release or a page of this hash, in order."""
        query = "SELECT number FROM entries WHERE instr(text, ?) > 0 ORDER BY number"
        for (number,) in self._sql.execute(query, (digest,)):
            entry = self.entry(number)
            if entry.body.get("sha256") == digest:
                yield entry

    def last(self) -> LedgerEntry | None:
        """The newest entry; None in a ledger that is being created."""
        (number,) = self._sql.execute("SELECT max(number) FROM entries").fetchone()
        return None if number is None else self.entry(number)

    def append(self, kind: Kind, body: dict[str, Any], *, payload: str | None = None) -> LedgerEntry:
        """Write the next entry and let the pointers of its kind point to it; `payload` is a value to keep."""
        last = self.last()
        entry = LedgerEntry(
            number=0 if last is None else last.number + 1,
            previous=BEGINNING_HASH if last is None else last.hash,
            at=now(),
            kind=kind,
            body=body,
        )
        entry = LedgerEntry.parse(entry.text, entry.hash)  # as any later reader will see it
        self._sql.execute("INSERT INTO entries VALUES (?, ?, ?)", (entry.number, entry.text, entry.hash))
        if payload is not None:
            self._sql.execute("INSERT INTO payloads VALUES (?, ?)", (body["entry"], payload))
        _POINTER_MOVES.get(kind, _no_pointers)(self._sql, entry.number, entry.body)
        if entry.must_last:
            assert self._durable, (
                "an entry that must last was written in a transaction that does not wait for the disk"
            )
            self._sql.execute("INSERT OR REPLACE INTO durable VALUES (1, ?)", (entry.number,))
        self._require_written(entry, payload)
        return entry

    def _require_written(self, entry: LedgerEntry, payload: str | None) -> None:
        """Read back what was just written, before anybody acts on it; refused if anything is not as it was written."""
        number, body = entry.number, entry.body
        rows: list[ReadBack] = [
            ("SELECT text, hash FROM entries WHERE number = ?", (number,), (entry.text, entry.hash)),
            *_ROWS_LEFT.get(entry.kind, _no_rows)(number, body),
        ]
        if payload is not None:
            rows.append(("SELECT payload FROM payloads WHERE number = ?", (body["entry"],), (payload,)))
        if entry.must_last:
            rows.append((POINTERS["durable"], (), (number,)))
        for query, parameters, expected in rows:
            if self._sql.execute(query, parameters).fetchall() != [expected]:
                raise LedgerError(
                    f"entry {number} was not written as it is ({entry.kind}): the ledger is damaged; "
                    "nothing was released"
                )

    # Pointers.

    def dataset(self, name: str) -> DatasetRow | None:
        """Where the dataset is in the chain; None for an unknown name."""
        query = "SELECT opened, period FROM datasets WHERE name = ?"
        row = self._sql.execute(query, (name,)).fetchone()
        return None if row is None else DatasetRow(*row)

    def datasets(self) -> list[str]:
        """The names of all datasets, in the order of opening."""
        return [name for (name,) in self._sql.execute("SELECT name FROM datasets ORDER BY opened")]

    def account(self, name: str) -> AccountRow | None:
        """Where the account is in the chain; None for an unknown name."""
        query = "SELECT dataset, opened, closed FROM accounts WHERE name = ?"
        row = self._sql.execute(query, (name,)).fetchone()
        return None if row is None else AccountRow(*row)

    def accounts(self, dataset: str) -> list[tuple[str, int, int | None]]:
        """Name, opening and closing entry of each account of a dataset, in the order of opening."""
        query = "SELECT name, opened, closed FROM accounts WHERE dataset = ? ORDER BY opened"
        return self._sql.execute(query, (dataset,)).fetchall()

    def total(self, account: str, share: str) -> list[str] | None:
        """The running total of a share, from the last charge to it."""
        body = self._last_charge(account, share)
        return None if body is None else body["totals"][share]

    def cap(self, account: str, share: str) -> list[str] | None:
        """The limit of a share, from the last charge to it."""
        body = self._last_charge(account, share)
        return None if body is None else body["caps"][share]

    def _last_charge(self, account: str, share: str) -> Any:
        """The body of the last entry that charged a share; None where nothing was charged to it."""
        query = "SELECT number FROM totals WHERE account = ? AND share = ?"
        row = self._sql.execute(query, (account, share)).fetchone()
        if row is None:
            if share == "" and self.charges(account):
                raise LedgerError(
                    "the ledger is damaged: an account with charges has no total; nothing was released"
                )
            return None
        body = self.entry(row[0]).body
        if body.get("account") != account or share not in body.get("totals", {}):
            raise LedgerError("a running total of the ledger points to the wrong entry; nothing was released")
        return body

    def charge_of_key(self, account: str, key: str) -> int | None:
        """The number of the charge that was made under an idempotency key."""
        query = "SELECT number FROM charges WHERE account = ? AND key = ?"
        row = self._sql.execute(query, (account, key)).fetchone()
        return None if row is None else int(row[0])

    def charges(self, account: str) -> list[int]:
        """The numbers of all charges of an account."""
        query = "SELECT number FROM charges WHERE account = ? ORDER BY number"
        return [number for (number,) in self._sql.execute(query, (account,))]

    def settlement(self, number: int) -> int | None:
        """The number of the entry that settled a charge: by it the value was released, or given up."""
        row = self._sql.execute("SELECT settled FROM charges WHERE number = ?", (number,)).fetchone()
        return None if row is None else row[0]

    def payload(self, number: int) -> str | None:
        """The released value that is kept for a charge."""
        row = self._sql.execute("SELECT payload FROM payloads WHERE number = ?", (number,)).fetchone()
        return None if row is None else row[0]

    def payloads(self) -> Iterator[tuple[int, str]]:
        """Every kept value, with the number of its charge."""
        return iter(self._sql.execute("SELECT number, payload FROM payloads ORDER BY number"))

    def hold(self, account: str, holder: tuple[str, int, str]) -> None:
        """Note that a process has the account open."""
        self._sql.execute("INSERT OR IGNORE INTO holders VALUES (?, ?, ?, ?)", (account, *holder))

    def holders(self, account: str) -> list[tuple[str, int, str]]:
        """The processes that had the account open: host, number, start."""
        query = "SELECT host, process, started FROM holders WHERE account = ? ORDER BY rowid"
        return self._sql.execute(query, (account,)).fetchall()

    def durable(self) -> LedgerEntry:
        """The newest entry that is known to be on the disk."""
        row = self._sql.execute(POINTERS["durable"]).fetchone()
        if row is None:
            raise LedgerError("the ledger holds no durable entry; nothing was released")
        return self.entry(row[0])

    def pointers(self, table: str) -> list[tuple[Any, ...]]:
        """All rows of a table of pointers, in its fixed order."""
        return self._sql.execute(POINTERS[table]).fetchall()

    def integrity(self) -> str:
        """SQLite's own opinion of the file, its indexes included: 'ok', or what is wrong."""
        return str(self._sql.execute("PRAGMA integrity_check(1)").fetchone()[0])


# Which pointers each kind of entry changes. `_replay` derives the same independently, and `verify` compares.
def _no_pointers(sql: sqlite3.Connection, number: int, body: Any) -> None:
    return None


def _move_for_dataset(sql: sqlite3.Connection, number: int, body: Any) -> None:
    sql.execute("INSERT INTO datasets VALUES (?, ?, ?)", (body["dataset"], number, number))


def _move_for_reset(sql: sqlite3.Connection, number: int, body: Any) -> None:
    sql.execute("UPDATE datasets SET period = ? WHERE name = ?", (number, body["dataset"]))


def _move_for_account(sql: sqlite3.Connection, number: int, body: Any) -> None:
    sql.execute("INSERT INTO accounts VALUES (?, ?, ?, NULL)", (body["account"], body["dataset"], number))


def _move_for_close(sql: sqlite3.Connection, number: int, body: Any) -> None:
    sql.execute("UPDATE accounts SET closed = ? WHERE name = ?", (number, body["account"]))


def _move_for_charge(sql: sqlite3.Connection, number: int, body: Any) -> None:
    sql.execute("INSERT INTO charges VALUES (?, ?, ?, NULL)", (number, body["account"], body["key"]))
    totals = [(body["account"], share, number) for share in shares_above(body["share"])]
    sql.executemany("INSERT OR REPLACE INTO totals VALUES (?, ?, ?)", totals)


def _move_for_settle(sql: sqlite3.Connection, number: int, body: Any) -> None:
    sql.execute("UPDATE charges SET settled = ? WHERE number = ?", (number, body["entry"]))


_POINTER_MOVES: dict[str, Any] = {
    "dataset": _move_for_dataset,
    "reset": _move_for_reset,
    "account": _move_for_account,
    "close": _move_for_close,
    "charge": _move_for_charge,
    "settle": _move_for_settle,
}


# The rows that each kind of entry must have left behind, to be read back in the same transaction.
def _no_rows(number: int, body: Any) -> list[ReadBack]:
    return []


def _rows_of_account(number: int, body: Any) -> list[ReadBack]:
    query = "SELECT dataset, opened, closed FROM accounts WHERE name = ?"
    return [(query, (body["account"],), (body["dataset"], number, None))]


def _rows_of_charge(number: int, body: Any) -> list[ReadBack]:
    charge = "SELECT account, key, settled FROM charges WHERE number = ?"
    total = "SELECT number FROM totals WHERE account = ? AND share = ?"
    return [
        (charge, (number,), (body["account"], body["key"], None)),
        *((total, (body["account"], share), (number,)) for share in shares_above(body["share"])),
    ]


def _rows_of_settle(number: int, body: Any) -> list[ReadBack]:
    return [("SELECT settled FROM charges WHERE number = ?", (body["entry"],), (number,))]


def _rows_of_close(number: int, body: Any) -> list[ReadBack]:
    return [("SELECT closed FROM accounts WHERE name = ?", (body["account"],), (number,))]


def _rows_of_dataset(number: int, body: Any) -> list[ReadBack]:
    return [("SELECT opened, period FROM datasets WHERE name = ?", (body["dataset"],), (number, number))]


def _rows_of_reset(number: int, body: Any) -> list[ReadBack]:
    return [("SELECT period FROM datasets WHERE name = ?", (body["dataset"],), (number,))]


_ROWS_LEFT: dict[str, Callable[[int, Any], list[ReadBack]]] = {
    "dataset": _rows_of_dataset,
    "reset": _rows_of_reset,
    "account": _rows_of_account,
    "close": _rows_of_close,
    "charge": _rows_of_charge,
    "settle": _rows_of_settle,
}
