"""A ledger file as its owner can edit it: its triggers taken out for so long, then put back as they were."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def unguarded(sql: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """A connection without triggers; afterwards the file holds the objects that a ledger holds."""
    triggers = sql.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
    for name, _ in triggers:
        sql.execute(f"DROP TRIGGER {name}")
    yield sql
    for _, statement in triggers:
        sql.execute(statement)
