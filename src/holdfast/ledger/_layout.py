"""Layout: the tables, indexes and triggers of a ledger file, which must be exactly those that this package makes.

Anything else in the file could change what a charge does: a trigger could drop it, a view could answer in the place of
a table, a computed column could be of any size, an index could hide a row.
"""

from __future__ import annotations

import sqlite3
from functools import cache
from pathlib import Path

from holdfast.errors import FormatError, LedgerError
from holdfast.ledger._chain import APPLICATION_ID, FORMAT_VERSION, TABLES

SchemaObject = tuple[str, str, str, str | None]
"""Type, name, table and statement, as `sqlite_master` lists an object."""
SETTINGS = {"encoding": "UTF-8", "auto_vacuum": 0}
"""What the header of the SQLite file must say, besides the application and the version of the format."""


def require_layout(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a file that is no ledger, or that holds anything that a ledger does not."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION_ID:
        raise LedgerError(f"the file {str(path)!r} is not a holdfast ledger; nothing was changed in it")
    if version != FORMAT_VERSION:
        raise FormatError(
            f"the ledger has the format holdfast-ledger/{version}, this version of holdfast reads "
            f"holdfast-ledger/{FORMAT_VERSION}; use a version that reads it"
        )
    for setting, value in SETTINGS.items():
        if connection.execute(f"PRAGMA {setting}").fetchone()[0] != value:
            raise LedgerError(
                f"the setting {setting} of the file {str(path)!r} was changed; nothing was released"
            )
    root_pages = connection.execute("SELECT rootpage FROM sqlite_master WHERE rootpage <> 0").fetchall()
    if len(set(root_pages)) < len(root_pages) or schema_objects(connection) != expected_objects():
        raise LedgerError(
            f"the file {str(path)!r} holds other tables, indexes or triggers than a ledger, or lacks some; "
            "nothing was released"
        )


def schema_objects(connection: sqlite3.Connection) -> tuple[SchemaObject, ...]:
    """Every object of the file, as often as it is listed there."""
    query = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name, tbl_name, sql"
    return tuple(connection.execute(query))


@cache
def expected_objects() -> tuple[SchemaObject, ...]:
    """The objects that a new ledger holds."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.executescript(TABLES)
        return schema_objects(connection)
    finally:
        connection.close()
