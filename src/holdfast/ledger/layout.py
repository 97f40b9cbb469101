"""The tables of a ledger file: the chain, and pointers into it.

Every amount is in an entry of the chain, and is read from there after its hash was checked. The
other tables hold entry numbers only, so that a charge takes the same time in a long ledger as in a
short one; `verify` derives them again from the chain.
"""

from __future__ import annotations

APPLICATION_ID = 0x484F4C44  # "HOLD"
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

POINTERS = {
    "datasets": "SELECT name, opened, period FROM datasets ORDER BY name",
    "accounts": "SELECT name, dataset, opened, closed FROM accounts ORDER BY name",
    "totals": "SELECT account, share, number FROM totals ORDER BY account, share",
    "charges": "SELECT number, account, key, settled FROM charges ORDER BY number",
    "durable": "SELECT number FROM durable",
}
"""How to read each table of pointers, in a fixed order."""
