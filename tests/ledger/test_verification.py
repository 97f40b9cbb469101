from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import LedgerError
from holdfast.ledger import Ledger
from holdfast.ledger._entry import LedgerEntry, canonical, entry_digest
from holdfast.privacy import Laplace, PureDP
from tests.ledger.unguarded import unguarded

TENTH = Laplace(scale=10.0, l1_sensitivity=1.0)
Sql = Callable[[str], None]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A ledger with some of everything."""
    place = tmp_path / "ledger.db"
    with Ledger.create(place) as ledger:
        ledger.dataset("d", limit=PureDP(1.0))
        old = ledger.account("d", name="old", limit=PureDP(0.2))
        old.release(TENTH, [1.0])
        ledger.close_account("old")
        ledger.reset("d", reason="new year", approver="me")
        account = ledger.account("d", name="a", limit=PureDP(0.5))
        account.split(0.5)[0].release(TENTH, [1.0], key="k1")
        account.release(TENTH, [1.0], key="k2")
        account.release(TENTH, [1.0])
    return place


def edit(path: Path, *statements: str, parameters: tuple[Any, ...] = ()) -> None:
    """What somebody with write access and SQLite can do, triggers or not."""
    connection = sqlite3.connect(path, isolation_level=None)
    with unguarded(connection):
        for statement in statements:
            connection.execute(statement, parameters if "?" in statement else ())
    connection.close()


def problems(path: Path) -> str:
    with Ledger.open(path, check="nothing") as ledger:
        found = ledger.verify()
    with pytest.raises(LedgerError, match="nothing was released"):
        Ledger.open(path)  # fails closed
    assert not found.ok
    assert "PROBLEM" in found.summary()
    return "\n".join(found.problems)


def entries(path: Path) -> list[dict[str, Any]]:
    connection = sqlite3.connect(path)
    texts = [json.loads(text) for (text,) in connection.execute("SELECT text FROM entries ORDER BY number")]
    connection.close()
    return texts


def rewrite(path: Path, change: Callable[[list[dict[str, Any]]], None]) -> None:
    """Change entries and compute every hash again, as a forger would."""
    everything = entries(path)
    change(everything)
    connection = sqlite3.connect(path, isolation_level=None)
    with unguarded(connection):
        connection.execute("DELETE FROM entries")
        previous = "0" * 64
        for number, data in enumerate(everything):
            text = canonical(data | {"previous": previous, "number": number})
            previous = entry_digest(text)
            row = (number, data["kind"], data["body"].get("account"), text, previous)
            connection.execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?)", row)
    connection.close()


def find(everything: list[dict[str, Any]], kind: str, place: int = 0) -> dict[str, Any]:
    body: dict[str, Any] = [data for data in everything if data["kind"] == kind][place]["body"]
    return body


def test_a_sound_ledger_verifies_and_says_what_it_cannot_see(path: Path) -> None:
    with Ledger.open(path) as ledger:
        found = ledger.verify()
    assert found.ok
    assert found.entries == len(entries(path))
    assert "old copy" in found.summary()


def test_triggers_forbid_changes(path: Path) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in (
        "UPDATE entries SET text = 'x' WHERE number = 3",
        "DELETE FROM entries WHERE number = 3",
        "INSERT INTO entries VALUES (99, 'page', NULL, 'x', 'y')",
        "INSERT OR REPLACE INTO entries VALUES (3, 'page', NULL, 'x', 'y')",
        "UPDATE payloads SET payload = 'x'",
        "DELETE FROM payloads",
        "INSERT OR REPLACE INTO payloads SELECT number, part, 'x' FROM payloads",
        "UPDATE totals SET number = 3",
        "DELETE FROM totals",
        "INSERT INTO totals SELECT account, share, number - 1 FROM totals",
        "UPDATE budgets SET number = 3",
        "DELETE FROM budgets",
        "INSERT INTO budgets SELECT dataset, 0 FROM budgets",
    ):
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            connection.execute(statement)
    connection.close()
    assert Ledger.open(path).verify().ok


@pytest.mark.parametrize("number", range(0, 14, 3))
def test_one_changed_letter_is_found_in_its_entry(path: Path, number: int) -> None:
    edit(path, f'UPDATE entries SET text = replace(text, \'"at":"2\', \'"at":"3\') WHERE number = {number}')
    if number == 0:
        with pytest.raises(LedgerError):
            Ledger.open(path)
    else:
        assert problems(path).startswith(f"entry {number}:")


def test_a_removed_entry_is_found(path: Path) -> None:
    edit(path, "DELETE FROM entries WHERE number = 5")
    assert "entry 6: is not in its place" in problems(path)


def test_a_rehashed_entry_breaks_the_chain_after_it(path: Path) -> None:
    data = entries(path)[5]
    text = canonical(data | {"at": "2001-01-01T00:00:00Z"})
    edit(
        path, "UPDATE entries SET text = ?, hash = ? WHERE number = 5", parameters=(text, entry_digest(text))
    )
    assert "entry 6: does not follow" in problems(path)


@pytest.mark.parametrize(
    ("table", "statement"),
    [
        ("entries", "UPDATE entries SET account = 'old' WHERE number = 8"),
        ("entries", "UPDATE entries SET kind = 'page' WHERE number = 8"),
        ("totals", "UPDATE totals SET number = number - 1 WHERE number = (SELECT max(number) FROM totals)"),
        ("totals", "INSERT INTO totals VALUES ('a', '1/', 8)"),
        ("budgets", "DELETE FROM budgets WHERE number = (SELECT max(number) FROM budgets)"),
        ("budgets", "INSERT INTO budgets VALUES ('d', 9)"),
        ("budgets", "INSERT INTO budgets VALUES ('e', 9)"),
        ("totals", "DELETE FROM totals WHERE share = ''"),
        ("charges", "UPDATE charges SET settled = NULL"),
        ("charges", "UPDATE charges SET key = 'other' WHERE key = 'k1'"),
        ("charges", "DELETE FROM charges"),
        ("accounts", "UPDATE accounts SET closed = NULL"),
        ("datasets", "UPDATE datasets SET period = 0"),
        ("durable", "UPDATE durable SET number = 1"),
        ("kept", "UPDATE payloads SET payload = 'x' WHERE number = (SELECT min(number) FROM payloads)"),
        ("kept", "DELETE FROM payloads"),
    ],
)
def test_a_moved_pointer_is_found(path: Path, table: str, statement: str) -> None:
    edit(path, statement)
    assert table in problems(path)


def totals(body: dict[str, Any], value: str) -> None:
    body["totals"][""][0] = value


@pytest.mark.parametrize(
    ("rule", "change"),
    [
        ("add up to", lambda e: totals(find(e, "charge", 2), "1/10")),
        ("budget", lambda e: find(e, "charge", 2)["budget"].update(spent=["0", "0", "0"])),
        ("budget", lambda e: find(e, "account", 1)["budget"].update(taken=["0", "0", "0"])),
        ("budget", lambda e: find(e, "close")["budget"].update(taken=["0", "0", "0"])),
        ("budget", lambda e: find(e, "close")["budget"].update(open=1)),
        ("other charges", lambda e: find(e, "charge", 2)["counts"].update({"": [1, 1, 1]})),
        ("add up to", lambda e: find(e, "charge", 1).update(cost=["1/20", "0", "0"])),
        ("another limit", lambda e: find(e, "charge", 1)["caps"].update({"": ["9", "0", "0"]})),
        ("every share", lambda e: find(e, "charge", 1).update(share="")),
        ("exceeds", lambda e: find(e, "charge", 1)["caps"].update({"0/": ["1/100", "0", "0"]})),
        ("more than its dataset", lambda e: find(e, "account", 1).update(amount=["9", "0", "0"])),
        ("other terms", lambda e: find(e, "account", 1).update(adjacency="add_remove")),
        ("another total", lambda e: find(e, "close").update(spent=["0", "0", "0"])),
        ("one key twice", lambda e: find(e, "charge", 2).update(key="k1")),
        ("not charged", lambda e: find(e, "settle", 1).update(entry=1)),
        ("not open", lambda e: find(e, "charge", 1).update(account="old")),
        ("without a reason", lambda e: find(e, "reset").update(reason="")),
        ("lacks a field", lambda e: find(e, "charge", 1).pop("cost")),
        ("lacks a field", lambda e: find(e, "charge", 1).update(totals=3)),
        ("no use", lambda e: find(e, "charge", 1).update(times=0)),
        ("opens an account twice", lambda e: find(e, "account", 1).update(account="old")),
        ("does not say", lambda e: e.pop()),  # the last settlement
        ("starts a ledger", lambda e: e.append(e[0])),
        ("open accounts", lambda e: e.append(next(d for d in e if d["kind"] == "reset"))),
        ("not open", lambda e: e.insert(10, next(d for d in e if d["kind"] == "close"))),
    ],
)
def test_a_forger_who_computes_all_hashes_still_breaks_a_rule(
    path: Path, rule: str, change: Callable[[list[dict[str, Any]]], None]
) -> None:
    rewrite(path, change)
    assert rule in problems(path)


def test_a_forged_chain_without_broken_rules_is_found_by_a_head(path: Path) -> None:
    with Ledger.open(path) as ledger:
        head = ledger.head
    rewrite(path, lambda e: find(e, "dataset").update(approver="somebody else"))
    with Ledger.open(path) as ledger:
        assert ledger.verify().ok
        found = ledger.verify(head=head)
    assert not found.ok
    assert "older copy" in found.problems[0]


def test_a_rolled_back_copy_is_found_by_the_head_of_a_later_release(path: Path, tmp_path: Path) -> None:
    shutil.copy(path, tmp_path / "old copy")
    with Ledger.open(path) as ledger:
        account = ledger.account("d", name="a")
        account.release(TENTH, [1.0])
        head = account.journal.head
        assert ledger.verify(head=head).found_at is not None
    with Ledger.open(tmp_path / "old copy") as old:
        assert old.verify().ok  # from one file nothing can be seen
        assert not old.verify(head=head).ok
        assert old.account("d", name="a").spent() != PureDP(0)


def test_a_truncated_chain_is_found_by_the_pointers(path: Path) -> None:
    edit(path, "DELETE FROM entries WHERE number > 8")
    assert "does not say what the entries say" in problems(path)


def test_parsing_again_gives_the_same_entry(path: Path) -> None:
    with Ledger.open(path) as ledger:
        for entry in ledger.history():
            assert LedgerEntry.parse(entry.text, entry.hash) == entry
