"""Chain: the entries of a ledger file as one transaction sees them, and the index tables that point to them.

Every amount is stored in an entry of the chain, and is read from there after the entry's hash was
checked. The other tables hold numbers of entries only ("pointers"): by them a charge takes the same
time in a long ledger as in a short one. `verify` derives every pointer again from the chain.
"""

from __future__ import annotations

import hashlib
import secrets
import sqlite3
from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple

from holdfast.data._irreplaceable import LEDGER_ID
from holdfast.errors import LedgerError
from holdfast.ledger._entry import BEGINNING_HASH, Kind, LedgerEntry, now, parse_entry
from holdfast.privacy._account.journal import shares_above

APPLICATION_ID = LEDGER_ID
FORMAT_VERSION = 1
RARE_KINDS = "kind NOT IN ('charge', 'settle', 'refusal')"
"""Entries of all other kinds can be looked up by their kind."""
TABLES = f"""
CREATE TABLE entries (number INTEGER PRIMARY KEY, kind TEXT NOT NULL, account TEXT,
text TEXT NOT NULL, hash TEXT NOT NULL);
CREATE INDEX entries_by_account ON entries (account, kind) WHERE account IS NOT NULL;
CREATE INDEX entries_by_kind ON entries (kind) WHERE {RARE_KINDS};
CREATE TABLE datasets (name TEXT PRIMARY KEY, opened INTEGER NOT NULL, period INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE accounts (name TEXT PRIMARY KEY, dataset TEXT NOT NULL,
opened INTEGER NOT NULL, closed INTEGER) WITHOUT ROWID;
CREATE INDEX accounts_by_dataset ON accounts (dataset, opened);
CREATE INDEX accounts_open ON accounts (dataset, opened) WHERE closed IS NULL;
CREATE TABLE budgets (dataset TEXT, number INTEGER, PRIMARY KEY (dataset, number)) WITHOUT ROWID;
CREATE TABLE totals (account TEXT, share TEXT, number INTEGER, PRIMARY KEY (account, share, number)) WITHOUT ROWID;
CREATE TABLE charges (number INTEGER PRIMARY KEY, account TEXT NOT NULL, key TEXT, settled INTEGER);
CREATE UNIQUE INDEX charges_by_key ON charges (account, key) WHERE key IS NOT NULL;
CREATE TABLE payloads (number INTEGER, part INTEGER, payload TEXT NOT NULL, PRIMARY KEY (number, part));
CREATE TABLE durable (one INTEGER PRIMARY KEY CHECK (one = 1), number INTEGER NOT NULL);
CREATE TABLE verified (one INTEGER PRIMARY KEY CHECK (one = 1), number INTEGER NOT NULL, hash TEXT NOT NULL);
CREATE TABLE holders (account TEXT, host TEXT, process INTEGER, started TEXT,
PRIMARY KEY (account, host, process, started));
""" + "".join(
    f"""
CREATE TRIGGER {table}_never_change BEFORE UPDATE ON {table}
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER {table}_never_go BEFORE DELETE ON {table}
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER {table}_come_once BEFORE INSERT ON {table}
WHEN {again}
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
"""
    for table, again in {
        "entries": "NEW.number IS NOT (SELECT coalesce(max(number) + 1, 0) FROM entries)",
        "budgets": "NEW.number <= (SELECT max(number) FROM budgets WHERE dataset = NEW.dataset)",
        "totals": "NEW.number <= (SELECT max(number) FROM totals WHERE account = NEW.account AND share = NEW.share)",
        "payloads": "EXISTS (SELECT 1 FROM payloads WHERE number = NEW.number AND part = NEW.part)",
    }.items()
)
"""The SQL that makes every table, index and trigger.

What is looked up to pay (`budgets`, `totals`) has no index beside it that could say something else, and keeps its
former rows: what a total was at any entry can be looked up, so `verify` needs no memory of its own. `verified` is
where the last check got to, `holders` which processes have an account open; neither says what was spent.
"""
_PAYLOAD_PART = 2**20
"""How many characters of a kept value one row holds."""
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


class ChargeRow(NamedTuple):
    """The account and the key of a charge, and which entry settled it: by it the value was released, or given up."""

    account: str
    key: str | None
    settled: int | None


class StoredEntry(NamedTuple):
    """An entry as it is stored: by kind and account it is looked up, and its text says both."""

    number: int
    kind: str
    account: str | None
    text: str
    hash: str


class Chain:
    """Reads and appends entries inside a transaction that the store opened."""

    def __init__(self, connection: sqlite3.Connection, *, durable: bool = False) -> None:
        self._sql = connection
        self._durable = durable

        self._last_charges: dict[tuple[str, str], Any] = {}
        """Bodies that this transaction read already."""

    # Entries.

    def entry(self, number: int) -> LedgerEntry:
        """The entry of this number, with its hash checked."""
        row = self._sql.execute("SELECT text, hash FROM entries WHERE number = ?", (number,)).fetchone()
        if row is None:
            raise LedgerError(f"entry {number} of the ledger is missing; nothing was released")
        entry = parse_entry(*row)
        if entry.number != number:
            raise LedgerError(f"entry {number} of the ledger is in the wrong place; nothing was released")
        return entry

    def rows(self, *, after: int = -1) -> Iterator[StoredEntry]:
        """Every entry after a number, as it is stored."""
        query = "SELECT number, kind, account, text, hash FROM entries WHERE number > ? ORDER BY number"
        return (StoredEntry(*row) for row in self._sql.execute(query, (after,)))

    def entries(self, *, after: int = -1, kind: Kind | None = None) -> Iterator[LedgerEntry]:
        """The entries after a number in order, all or those of a kind, with their hashes checked."""
        query, parameters = "SELECT text, hash FROM entries WHERE number > ?", list[Any]([after])
        if kind is not None:
            query += " AND kind = ?" + ("" if kind in _FREQUENT_KINDS else f" AND {RARE_KINDS}")
            parameters.append(kind)
        for row in self._sql.execute(query + " ORDER BY number", parameters):
            yield parse_entry(*row)

    def number_of(self, entry_hash: str, *, after: int = -1) -> int | None:
        """The first entry after a number that has this hash: near the number it is found soon."""
        query = "SELECT number FROM entries WHERE number > ? AND hash = ? ORDER BY number LIMIT 1"
        row = self._sql.execute(query, (after, entry_hash)).fetchone()
        return None if row is None else int(row[0])

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
            nonce=secrets.token_hex(16),
            at=now(),
            kind=kind,
            body=body,
        )
        entry = LedgerEntry.parse(entry.text, entry.hash)  # as any later reader will see it
        assert self._durable or not entry.must_last, (
            "an entry that must last was written in a transaction that does not wait for the disk"
        )
        write_entry(self._sql, entry)
        if payload is not None:
            parts = [
                (body["entry"], part, payload[start : start + _PAYLOAD_PART])
                for part, start in enumerate(range(0, len(payload), _PAYLOAD_PART))
            ]
            self._sql.executemany("INSERT INTO payloads VALUES (?, ?, ?)", parts)
        self._last_charges.clear()
        self._require_written(entry, payload)
        return entry

    def _require_written(self, entry: LedgerEntry, payload: str | None) -> None:
        """Read back what was just written, before anybody acts on it; refused if anything is not as it was written."""
        number, body = entry.number, entry.body
        rows: list[ReadBack] = [
            (
                "SELECT kind, account, text, hash FROM entries WHERE number = ?",
                (number,),
                (entry.kind, body.get("account"), entry.text, entry.hash),
            ),
            *_ROWS_LEFT.get(entry.kind, _no_rows)(number, body),
        ]
        if "budget" in body or entry.kind in ("dataset", "reset"):
            newest = "SELECT max(number) FROM budgets WHERE dataset = ?"
            rows.append((newest, (self._dataset_of(body),), (number,)))
        if entry.must_last:
            rows.append(("SELECT number FROM durable", (), (number,)))
        if payload is not None and self.payload(body["entry"]) != payload:
            raise LedgerError(
                f"the value of entry {body['entry']} was not written as it is: the ledger is damaged; "
                "nothing was released"
            )
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
        if row is None:
            return None
        account = AccountRow(*row)
        closing = "SELECT 1 FROM entries WHERE account = ? AND kind = 'close' LIMIT 1"
        # What a closed account held may be another's by now.
        if account.is_open and self._sql.execute(closing, (name,)).fetchone():
            raise LedgerError(
                "the ledger is damaged: the table accounts has an account open that was closed; nothing was released"
            )
        return account

    def opening(self, kind: Literal["dataset", "account"], name: str) -> LedgerEntry:
        """The entry that opened a dataset or an account that is known."""
        row = self.dataset(name) if kind == "dataset" else self.account(name)
        assert row is not None
        entry = self.entry(row.opened)
        if entry.kind != kind or entry.body.get(kind) != name:
            raise LedgerError(
                f"{kind} {name!r} of the ledger points to the wrong entry; nothing was released"
            )
        return entry

    def accounts(
        self, dataset: str, *, opened_since: int = 0, only_open: bool = False
    ) -> Iterator[tuple[str, int, int | None]]:
        """Name, opening and closing entry of the accounts of a dataset, in the order of opening."""
        query = "SELECT name, opened, closed FROM accounts WHERE dataset = ? AND opened >= ?"
        state = " AND closed IS NULL" if only_open else ""
        return iter(self._sql.execute(f"{query}{state} ORDER BY opened", (dataset, opened_since)))

    def account_names(self) -> Iterator[str]:
        """The names of all accounts."""
        return (name for (name,) in self._sql.execute("SELECT name FROM accounts"))

    def budget_entry(self, dataset: str, *, upto: int | None = None) -> LedgerEntry:
        """The newest entry that changed what the accounts of a dataset take, or the newest up to a number."""
        numbers = self.budget_entries(dataset, upto=_NEWEST if upto is None else upto, most=1)
        (opened,) = self._sql.execute(
            "SELECT max(opened) FROM accounts WHERE dataset = ?", (dataset,)
        ).fetchone()
        if not numbers or (upto is None and opened is not None and numbers[0] < opened):
            raise LedgerError(
                f"the ledger is damaged: what dataset {dataset!r} has left is not in it; nothing was released"
            )
        entry = self.entry(numbers[0])
        sums = "budget" in entry.body or entry.kind in ("dataset", "reset")
        if not sums or self._dataset_of(entry.body) != dataset:
            raise LedgerError("a budget of the ledger points to the wrong entry; nothing was released")
        return entry

    def budget_entries(self, dataset: str, *, upto: int, most: int) -> list[int]:
        """The numbers of the newest entries, up to a number, that changed what the accounts of a dataset take."""
        query = "SELECT number FROM budgets WHERE dataset = ? AND number <= ? ORDER BY number DESC LIMIT ?"
        return [number for (number,) in self._sql.execute(query, (dataset, upto, most))]

    def budget_numbers(self, dataset: str, *, after: int) -> Iterator[int]:
        """The numbers of all entries after a number that changed what the accounts of a dataset take, in order."""
        query = "SELECT number FROM budgets WHERE dataset = ? AND number > ? ORDER BY number"
        return (number for (number,) in self._sql.execute(query, (dataset, after)))

    def _dataset_of(self, body: Any) -> str:
        """The dataset that an entry is about, by its account where it does not say."""
        if "dataset" in body:
            return str(body["dataset"])
        row = self.account(body["account"])
        if row is None:
            raise LedgerError(
                "an entry of the ledger is about an account that is not in it; nothing was released"
            )
        return row.dataset

    def total(self, account: str, share: str) -> list[str] | None:
        """The running total of a share, from the last charge to it."""
        body = self.last_charge(account, share)
        return None if body is None else body["totals"][share]

    def cap(self, account: str, share: str) -> list[str] | None:
        """The limit of a share, from the last charge to it."""
        body = self.last_charge(account, share)
        return None if body is None else body["caps"][share]

    def last_charge(self, account: str, share: str) -> Any:
        """The body of the last entry that charged a share; None where nothing was charged to it."""
        if (account, share) not in self._last_charges:
            self._last_charges[account, share] = self._read_last_charge(account, share)
        return self._last_charges[account, share]

    def _read_last_charge(self, account: str, share: str) -> Any:
        newest = self.share_charges(account, share, upto=_NEWEST, most=1)
        if not share:  # two tables say which charge is the newest of an account
            query = "SELECT max(number) FROM entries WHERE account = ? AND kind = 'charge'"
            (listed,) = self._sql.execute(query, (account,)).fetchone()
            if listed != (newest[0] if newest else None):
                raise LedgerError(
                    "the ledger is damaged: an account has another total than its charges; nothing was released"
                )
        if not newest:
            return None
        body = self.entry(newest[0]).body
        if body.get("account") != account or share not in body.get("totals", {}):
            raise LedgerError("a running total of the ledger points to the wrong entry; nothing was released")
        return body

    def share_charges(self, account: str, share: str, *, upto: int, most: int) -> list[int]:
        """The numbers of the newest charges to a share up to a number, the newest first."""
        query = "SELECT number FROM totals WHERE account = ? AND share = ? AND number <= ? ORDER BY number DESC LIMIT ?"
        return [number for (number,) in self._sql.execute(query, (account, share, upto, most))]

    def charge_of_key(self, account: str, key: str) -> int | None:
        """The number of the charge that was made under an idempotency key."""
        query = "SELECT number FROM charges WHERE account = ? AND key = ?"
        row = self._sql.execute(query, (account, key)).fetchone()
        return None if row is None else int(row[0])

    def charges(self, account: str) -> Iterator[int]:
        """The numbers of all charges of an account."""
        query = "SELECT number FROM entries WHERE account = ? AND kind = 'charge' ORDER BY number"
        return (number for (number,) in self._sql.execute(query, (account,)))

    def numbers(self, account: str, kind: Kind | None = None) -> list[int]:
        """The numbers of the entries about an account, all or those of a kind."""
        query = "SELECT number FROM entries WHERE account = ?1 AND (?2 IS NULL OR kind = ?2) ORDER BY number"
        return [number for (number,) in self._sql.execute(query, (account, kind))]

    def some_keys(self, account: str) -> list[str | None]:
        """Of the keys of an account's charges one, and None where a charge has no key; empty without charges."""
        keyed = "SELECT key FROM charges WHERE account = ? AND key IS NOT NULL LIMIT 1"
        unkeyed = (
            "SELECT charges.key FROM entries JOIN charges ON charges.number = entries.number "
            "WHERE entries.account = ? AND entries.kind = 'charge' AND charges.key IS NULL LIMIT 1"
        )
        return [key for query in (keyed, unkeyed) for (key,) in self._sql.execute(query, (account,))]

    def charge_row(self, number: int) -> ChargeRow | None:
        """What the table of charges says of a charge."""
        query = "SELECT account, key, settled FROM charges WHERE number = ?"
        row = self._sql.execute(query, (number,)).fetchone()
        return None if row is None else ChargeRow(*row)

    def payload(self, number: int) -> str | None:
        """The released value that is kept for a charge."""
        parts = [part for (part,) in self._payload_parts(number)]
        return "".join(parts) if parts else None

    def payload_digest(self, number: int) -> str | None:
        """The hash of the value that is kept for a charge, without holding all of it."""
        digest, found = hashlib.sha256(), False
        for (part,) in self._payload_parts(number):
            digest.update(part.encode())
            found = True
        return digest.hexdigest() if found else None

    def _payload_parts(self, number: int) -> sqlite3.Cursor:
        return self._sql.execute("SELECT payload FROM payloads WHERE number = ? ORDER BY part", (number,))

    def hold(self, account: str, holder: tuple[str, int, str]) -> None:
        """Note that a process has the account open."""
        self._sql.execute("INSERT OR IGNORE INTO holders VALUES (?, ?, ?, ?)", (account, *holder))

    def holders(self, account: str) -> list[tuple[str, int, str]]:
        """The processes that had the account open: host, number, start."""
        query = "SELECT host, process, started FROM holders WHERE account = ? ORDER BY rowid"
        return self._sql.execute(query, (account,)).fetchall()

    def durable_number(self) -> int | None:
        """The number of the newest entry that is known to be on the disk."""
        row = self._sql.execute("SELECT number FROM durable").fetchone()
        return None if row is None else _entry_number(row[0])

    def durable(self) -> LedgerEntry:
        """The newest entry that is known to be on the disk."""
        number = self.durable_number()
        if number is None:
            raise LedgerError("the ledger holds no durable entry; nothing was released")
        return self.entry(number)

    def verified(self) -> tuple[int, str] | None:
        """Number and hash of the entry up to which the ledger was checked; None before the first check."""
        row = self._sql.execute("SELECT number, hash FROM verified").fetchone()
        return None if row is None else (_entry_number(row[0]), str(row[1]))

    def mark_verified(self, number: int, entry_hash: str) -> None:
        """Note that the ledger was checked up to an entry, unless it was checked further already."""
        query = "INSERT OR REPLACE INTO verified SELECT 1, ?, ? WHERE ? > coalesce((SELECT number FROM verified), -1)"
        self._sql.execute(query, (number, entry_hash, number))

    def row_counts(self) -> dict[str, int]:
        """How many rows the tables hold that point to entries."""
        return {what: self._sql.execute(query).fetchone()[0] for what, query in _ROW_COUNTS.items()}

    def integrity(self) -> str:
        """SQLite's own opinion of the file, its indexes included: 'ok', or what is wrong."""
        return str(self._sql.execute("PRAGMA integrity_check(1)").fetchone()[0])


_FREQUENT_KINDS = ("charge", "settle", "refusal")
_NEWEST = 2**62
"""A number after every entry."""
_ROW_COUNTS = {
    "datasets": "SELECT count(*) FROM datasets",
    "accounts": "SELECT count(*) FROM accounts",
    "accounts that are closed": "SELECT count(*) FROM accounts WHERE closed IS NOT NULL",
    "budgets": "SELECT count(*) FROM budgets",
    "totals": "SELECT count(*) FROM totals",
    "charges": "SELECT count(*) FROM charges",
    "charges that are settled": "SELECT count(*) FROM charges WHERE settled IS NOT NULL",
    "payloads": "SELECT count(DISTINCT number) FROM payloads",
}


def _entry_number(value: Any) -> int:
    """The number of an entry, where SQLite would store a text or bytes as well."""
    if type(value) is not int:
        raise LedgerError("the ledger is damaged: a number of an entry is none; nothing was released")
    return value


def write_entry(sql: sqlite3.Connection, entry: LedgerEntry) -> None:
    """Write an entry and let the pointers of its kind point to it."""
    row = (entry.number, entry.kind, entry.body.get("account"), entry.text, entry.hash)
    sql.execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?)", row)
    _POINTER_MOVES.get(entry.kind, _no_pointers)(sql, entry.number, entry.body)
    if entry.must_last:
        sql.execute("INSERT OR REPLACE INTO durable VALUES (1, ?)", (entry.number,))


# Which pointers each kind of entry changes. `_replay` derives the same independently, and `verify` compares.
def _no_pointers(sql: sqlite3.Connection, number: int, body: Any) -> None:
    return None


def _move_for_dataset(sql: sqlite3.Connection, number: int, body: Any) -> None:
    sql.execute("INSERT INTO datasets VALUES (?, ?, ?)", (body["dataset"], number, number))
    sql.execute("INSERT INTO budgets VALUES (?, ?)", (body["dataset"], number))


def _move_for_reset(sql: sqlite3.Connection, number: int, body: Any) -> None:
    sql.execute("UPDATE datasets SET period = ? WHERE name = ?", (number, body["dataset"]))
    sql.execute("INSERT INTO budgets VALUES (?, ?)", (body["dataset"], number))


def _move_for_account(sql: sqlite3.Connection, number: int, body: Any) -> None:
    sql.execute("INSERT INTO accounts VALUES (?, ?, ?, NULL)", (body["account"], body["dataset"], number))
    sql.execute("INSERT INTO budgets VALUES (?, ?)", (body["dataset"], number))


def _move_for_close(sql: sqlite3.Connection, number: int, body: Any) -> None:
    sql.execute("UPDATE accounts SET closed = ? WHERE name = ?", (number, body["account"]))
    _move_budget_of_account(sql, number, body)


def _move_for_charge(sql: sqlite3.Connection, number: int, body: Any) -> None:
    sql.execute("INSERT INTO charges VALUES (?, ?, ?, NULL)", (number, body["account"], body["key"]))
    totals = [(body["account"], share, number) for share in shares_above(body["share"])]
    sql.executemany("INSERT INTO totals VALUES (?, ?, ?)", totals)
    _move_budget_of_account(sql, number, body)


def _move_budget_of_account(sql: sqlite3.Connection, number: int, body: Any) -> None:
    query = "INSERT INTO budgets SELECT dataset, ? FROM accounts WHERE name = ?"
    sql.execute(query, (number, body["account"]))


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
    total = "SELECT max(number) FROM totals WHERE account = ? AND share = ?"
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
