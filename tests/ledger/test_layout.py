"""Whatever is put into a ledger file, or taken out, it is refused; a charge that did not arrive draws no noise."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import HoldfastError, LedgerError
from holdfast.ledger import Ledger
from holdfast.ledger import _layout as file_layout
from holdfast.ledger import _store as ledger_store
from holdfast.privacy import Laplace, PureDP
from tests.ledger.unguarded import unguarded

NOISE = Laplace(scale=1e6, l1_sensitivity=1.0)
TABLES = (
    "entries",
    "datasets",
    "accounts",
    "budgets",
    "totals",
    "charges",
    "payloads",
    "durable",
    "verified",
    "holders",
)
COLUMNS = {
    "entries": "text",
    "datasets": "opened",
    "accounts": "opened",
    "budgets": "number",
    "totals": "number",
    "verified": "hash",
    "charges": "account",
    "payloads": "payload",
    "durable": "number",
    "holders": "host",
}
Draw = random.Random
Tamper = Callable[[sqlite3.Connection, Draw], None]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("layout") / "ledger.db"
    with Ledger.create(place) as ledger:
        ledger.dataset("d", limit=PureDP(1.0))
        ledger.account("d", name="a", limit=PureDP(0.5)).release(NOISE, [1.0], key="first")
    return place


@pytest.fixture
def path(sound: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(sound, tmp_path / "ledger.db"))


def _name(draw: Draw) -> str:
    return draw.choice(["x", "entries_2", "Entries ", "a b", "sqlit_stat", "é"]) + str(draw.randrange(1000))


def _trigger(sql: sqlite3.Connection, draw: Draw) -> None:
    table, other = draw.choice(TABLES), draw.choice(TABLES)
    when, event = draw.choice(["BEFORE", "AFTER"]), draw.choice(["INSERT", "UPDATE", "DELETE"])
    action = draw.choice(
        [
            "SELECT RAISE(IGNORE)",
            f"DELETE FROM {other}",
            "SELECT 1",
            f"UPDATE {other} SET {COLUMNS[other]} = 0",
        ]
    )
    condition = draw.choice(["", "WHEN 1 = 2 ", "WHEN random() > 0 "])
    sql.execute(f'CREATE TRIGGER "{_name(draw)}" {when} {event} ON {table} {condition}BEGIN {action}; END')


def _table(sql: sqlite3.Connection, draw: Draw) -> None:
    kind = draw.choice(["({} TEXT)", "AS SELECT 1 AS {}", "({} INTEGER PRIMARY KEY) WITHOUT ROWID"])
    sql.execute(f'CREATE TABLE "{_name(draw)}" {kind.format("c")}')


def _view(sql: sqlite3.Connection, draw: Draw) -> None:
    sql.execute(f'CREATE VIEW "{_name(draw)}" AS SELECT * FROM {draw.choice(TABLES)}')


def _index(sql: sqlite3.Connection, draw: Draw) -> None:
    table = draw.choice(TABLES)
    where = draw.choice(["", " WHERE 1 = 1"])
    sql.execute(f'CREATE INDEX "{_name(draw)}" ON {table} ({COLUMNS[table]}){where}')


def _virtual(sql: sqlite3.Connection, draw: Draw) -> None:
    sql.execute(f'CREATE VIRTUAL TABLE "{_name(draw)}" USING {draw.choice(["fts5(c)", "rtree(a, b, c)"])}')


def _column(sql: sqlite3.Connection, draw: Draw) -> None:
    table = draw.choice(TABLES)
    change = draw.choice(
        ["ADD COLUMN more TEXT", "ADD COLUMN more AS (1)", f"RENAME COLUMN {COLUMNS[table]} TO other"]
    )
    sql.execute(f"ALTER TABLE {table} {change}")


def _renamed(sql: sqlite3.Connection, draw: Draw) -> None:
    table = draw.choice(TABLES)
    sql.execute(f"ALTER TABLE {table} RENAME TO {table}_old")
    sql.execute(f"CREATE VIEW {table} AS SELECT * FROM {table}_old")


def _dropped(sql: sqlite3.Connection, draw: Draw) -> None:
    listed = "SELECT type, name FROM sqlite_master WHERE type <> 'index' OR sql IS NOT NULL ORDER BY name"
    kind, name = draw.choice(list(sql.execute(listed)))
    sql.execute(f"DROP {kind} {name}")


def _rewritten(sql: sqlite3.Connection, draw: Draw) -> None:
    """The words of an object of ours, edited in place."""
    sql.execute("PRAGMA writable_schema = ON")
    rows = sql.execute("SELECT name FROM sqlite_master WHERE type = 'trigger' ORDER BY name").fetchall()
    change = draw.choice(["replace(sql, 'ABORT', 'IGNORE')", "replace(sql, 'BEFORE', 'AFTER')", "sql || ' '"])
    sql.execute(f"UPDATE sqlite_master SET sql = {change} WHERE name = ?", draw.choice(rows))


def _shared_page(sql: sqlite3.Connection, draw: Draw) -> None:
    sql.execute("PRAGMA writable_schema = ON")
    one, two = draw.sample(
        ["charges_by_key", "entries_by_account", "totals", "budgets", "durable", "payloads"], 2
    )
    place = "(SELECT rootpage FROM sqlite_master WHERE name = ?)"
    sql.execute(f"UPDATE sqlite_master SET rootpage = {place} WHERE name = ?", (one, two))


def _setting(sql: sqlite3.Connection, draw: Draw) -> None:
    if draw.random() < 0.3:
        sql.execute("PRAGMA auto_vacuum = FULL")
        sql.execute("VACUUM")
        return
    sql.execute(f"PRAGMA {draw.choice(['application_id', 'user_version'])} = {draw.randrange(2, 2**31 - 1)}")


def _statistics(sql: sqlite3.Connection, draw: Draw) -> None:
    sql.execute("ANALYZE")


TAMPERINGS: tuple[Tamper, ...] = (
    _trigger,
    _table,
    _view,
    _index,
    _virtual,
    _column,
    _renamed,
    _dropped,
    _rewritten,
    _shared_page,
    _setting,
    _statistics,
)


def _tampered(path: Path, tamper: Tamper, draw: Draw) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as sql:
        tamper(sql, draw)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("tamper", TAMPERINGS, ids=lambda one: one.__name__.strip("_"))
def test_a_file_with_anything_else_in_it_is_refused_at_opening(path: Path, tamper: Tamper, seed: int) -> None:
    draw = random.Random(f"{tamper.__name__} {seed}")
    _tampered(path, tamper, draw)
    check: Any = draw.choice(["full", "tail", "nothing"])
    with pytest.raises(HoldfastError, match=r"nothing was (released|changed)|format holdfast-ledger"):
        Ledger.open(path, check=check, read_only=draw.random() < 0.5)


@pytest.mark.parametrize("tamper", TAMPERINGS, ids=lambda one: one.__name__.strip("_"))
def test_what_is_put_in_while_it_is_open_is_met_by_the_next_charge(
    path: Path, tamper: Tamper, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Ledger.open(path) as ledger:
        account = ledger.account("d", name="a")
        _tampered(path, tamper, random.Random(tamper.__name__))
        monkeypatch.setattr(Laplace, "sample", lambda *_: pytest.fail("noise was drawn"))
        with pytest.raises(HoldfastError, match=r"nothing was (released|changed)|format holdfast-ledger"):
            account.release(NOISE, [1.0], key="second")


@pytest.mark.parametrize(
    ("index", "table", "column"),
    [
        ("charges_by_key", "charges", "key"),
        ("entries_by_account", "entries", "account"),
        ("accounts_open", "accounts", "dataset"),
    ],
)
def test_an_index_that_hides_a_row_is_found(path: Path, index: str, table: str, column: str) -> None:
    """The table says what the entries say; whoever looks the row up by the index does not find it."""
    hide_a_row(path, index, table, column)
    with pytest.raises(LedgerError, match="SQLite finds the file damaged"):
        Ledger.open(path, check="full")


def hide_a_row(path: Path, index: str, table: str, column: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as sql, unguarded(sql):
        where = f"WHERE {column} IS NOT NULL"
        written = sql.execute(f"SELECT {column} FROM {table} {where}").fetchone()
        sql.execute(f"UPDATE {table} SET {column} = 'another' {where}")
        sql.execute("PRAGMA writable_schema = ON")
        listed = sql.execute("SELECT * FROM sqlite_master WHERE name = ?", (index,)).fetchone()
        sql.execute("DELETE FROM sqlite_master WHERE name = ?", (index,))
        sql.execute("PRAGMA writable_schema = RESET")
        sql.execute(f"UPDATE {table} SET {column} = ? {where}", written)
        sql.execute("PRAGMA writable_schema = ON")
        sql.execute("INSERT INTO sqlite_master VALUES (?, ?, ?, ?, ?)", listed)
        sql.execute("PRAGMA writable_schema = RESET")


def test_an_index_that_hides_a_charge_draws_no_noise(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing but the charge itself looks: two tables must agree which charge of an account is the newest."""
    hide_a_row(path, "entries_by_account", "entries", "account")
    with Ledger.open(path, check="nothing") as ledger:
        monkeypatch.setattr(Laplace, "sample", lambda *_: pytest.fail("noise was drawn"))
        with pytest.raises(LedgerError, match="another total than its charges; nothing was released"):
            ledger.account("d", name="a").release(NOISE, [1.0], key="second")


def test_a_total_that_is_gone_does_not_count_as_nothing_spent(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as sql, unguarded(sql):
        sql.execute("DELETE FROM totals")
    with Ledger.open(path, check="nothing") as ledger:
        monkeypatch.setattr(Laplace, "sample", lambda *_: pytest.fail("noise was drawn"))
        with pytest.raises(LedgerError, match="another total than its charges; nothing was released"):
            ledger.account("d", name="a").release(NOISE, [1.0], key="second")


def test_a_budget_that_is_gone_opens_no_account(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as sql, unguarded(sql):
        sql.execute("DELETE FROM budgets WHERE number > 1")
    with (
        Ledger.open(path, check="nothing") as ledger,
        pytest.raises(LedgerError, match="has left is not in it"),
    ):
        ledger.account("d", name="b", limit=PureDP(1.0))


def test_a_ledger_is_whole_before_and_after_its_first_account(tmp_path: Path) -> None:
    with Ledger.create(tmp_path / "new.db") as ledger:
        ledger.dataset("d", limit=PureDP(1.0))
    with Ledger.open(tmp_path / "new.db") as ledger:
        ledger.account("d", name="a").release(NOISE, [1.0])
    assert Ledger.open(tmp_path / "new.db").verify().ok


NEWEST = "WHERE number = (SELECT max(number) FROM {table})"
DEEDS = {
    "dropped": "BEFORE INSERT ON {table} BEGIN SELECT RAISE(IGNORE); END",
    "deleted": f"AFTER INSERT ON {{table}} BEGIN DELETE FROM {{table}} {NEWEST}; END",
    "changed": f"AFTER INSERT ON {{table}} BEGIN UPDATE {{table}} SET {{column}} = 0 {NEWEST}; END",
}


@pytest.mark.parametrize("deed", DEEDS)
@pytest.mark.parametrize("table", ["entries", "budgets", "totals", "charges", "durable"])
def test_a_charge_that_did_not_arrive_draws_no_noise(
    path: Path, table: str, deed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second defence, alone: nobody looks at the objects, and the charge is read back all the same."""
    monkeypatch.setattr(ledger_store, "require_layout", lambda connection, path: None)
    with closing(sqlite3.connect(path)) as sql, sql:
        for name in ("entries", "totals", "budgets"):
            sql.execute(f"DROP TRIGGER {name}_never_go")
            sql.execute(f"DROP TRIGGER {name}_never_change")
        sql.execute("CREATE TRIGGER theirs " + DEEDS[deed].format(table=table, column=COLUMNS[table]))
    with Ledger.open(path, check="nothing") as ledger:
        before, terms = ledger.spent("d"), ledger.dataset("d")
        with ledger._store.reading() as chain:
            opened = chain.entry(2)
        account = ledger._account(terms, opened, None)
        monkeypatch.setattr(Laplace, "sample", lambda *_: pytest.fail("noise was drawn"))
        with pytest.raises(LedgerError, match="nothing was released"):
            account.release(NOISE, [1.0], key="second")
        assert ledger.spent("d") == before


def test_the_objects_are_those_that_are_created(sound: Path) -> None:
    with closing(sqlite3.connect(sound)) as sql:
        assert file_layout.schema_objects(sql) == file_layout.expected_objects()
