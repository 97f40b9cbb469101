"""What a ledger is asked costs the same at any length: counted in steps of SQLite and entries read, not in seconds."""

from __future__ import annotations

import shutil
import sqlite3
import tracemalloc
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from holdfast.errors import BudgetExceeded, LedgerError
from holdfast.ledger import Ledger, LedgerEntry
from holdfast.ledger import _chain as chain_file
from holdfast.ledger import _replay as replay
from holdfast.privacy import Laplace, PureDP
from tests.ledger.unguarded import unguarded

NOISE = Laplace(scale=1e7, l1_sensitivity=1.0)
TOO_MUCH = PureDP(0.9)
SIZES = (20, 200)
"""Accounts, with two charges each."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ...]:
    """A short and a long ledger; every third account is closed, and the dataset began a new period halfway."""
    return tuple(_ledger(tmp_path_factory.mktemp("load") / "ledger.db", accounts) for accounts in SIZES)


def _ledger(path: Path, accounts: int) -> Path:
    with Ledger.create(path) as ledger:
        ledger.dataset("d", limit=PureDP(0.5))
        _work(ledger, 0, accounts // 2, close_all=True)
        ledger.reset("d", reason="a new year", approver="me")
        _work(ledger, accounts // 2, accounts, close_all=False)
    return path


def _work(ledger: Ledger, first: int, after: int, *, close_all: bool) -> None:
    for number in range(first, after):
        account = ledger.account("d", name=f"account {number}", limit=PureDP(0.5 / max(SIZES)))
        account.release(NOISE, [1.0])
        account.split(0.5)[0].release(NOISE, [1.0], key="k")
        if close_all or number % 3 == 0:
            ledger.close_account(f"account {number}")


@pytest.fixture
def copies(made: tuple[Path, ...], tmp_path: Path) -> tuple[Path, ...]:
    return tuple(Path(shutil.copy(path, tmp_path / f"{place}.db")) for place, path in enumerate(made))


def steps(ledger: Ledger, ask: Callable[[Ledger, str], object], account: str = "") -> int:
    """How many steps the virtual machine of SQLite makes."""
    counter = [0]

    def count() -> None:
        counter[0] += 1

    connection = ledger._store._connection()
    connection.set_progress_handler(count, 1)
    ask(ledger, account)
    connection.set_progress_handler(None, 1)
    return counter[0]


def _newest_open(ledger: Ledger) -> str:
    with ledger._store.reading() as chain:
        *_, (name, _, _) = chain.accounts("d", only_open=True)
    return name


def _refused(ledger: Ledger, account: str) -> None:
    with suppress(BudgetExceeded):
        ledger.account("d", name="too much", limit=TOO_MUCH)
        raise AssertionError("opened")


ASKED: dict[str, Callable[[Ledger, str], object]] = {
    "open an account": lambda ledger, _: ledger.account("d", name="new", limit=PureDP(1e-6)),
    "open an account on all that is left": lambda ledger, _: ledger.account("d", name="new"),
    "go on with an account": lambda ledger, name: ledger.account("d", name=name),
    "charge": lambda ledger, name: ledger.account("d", name=name).release(NOISE, [1.0]),
    "charge a share under a key": lambda ledger, name: (
        ledger.account("d", name=name).split(0.5)[0].release(NOISE, [1.0], key="another")
    ),
    "close an account": lambda ledger, name: ledger.close_account(name),
    "what is left": lambda ledger, _: ledger.remaining("d"),
    "what is spent": lambda ledger, _: ledger.spent("d"),
    "where it stands": lambda ledger, _: ledger.standing("d"),
    "the head": lambda ledger, _: ledger.head,
}


@pytest.mark.parametrize("what", ASKED)
def test_what_is_asked_costs_the_same_at_any_length(copies: tuple[Path, ...], what: str) -> None:
    counts = []
    for path in copies:
        with Ledger.open(path, check="nothing") as ledger:
            counts.append(steps(ledger, ASKED[what], _newest_open(ledger)))
    assert counts[1] <= counts[0] + 40, counts  # each row more that is passed takes two steps or more


def test_a_refusal_looks_at_so_many_open_accounts_and_no_more(
    copies: tuple[Path, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.ledger._dataset._MOST_LOOKED_AT", 5)
    counts = []
    for path in copies:
        with Ledger.open(path, check="nothing") as ledger:
            counts.append(steps(ledger, _refused))
    assert counts[1] <= counts[0] + 40, counts


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Counts the entries that are read."""
    counter, parse = [0], LedgerEntry.parse

    def counted(text: str, stored_hash: str) -> LedgerEntry:
        counter[0] += 1
        return parse(text, stored_hash)

    monkeypatch.setattr(LedgerEntry, "parse", counted)
    return counter


def test_opening_reads_what_came_since_the_last_check(copies: tuple[Path, ...], parsed: list[int]) -> None:
    counts = []
    for path in copies:
        Ledger.open(path).close()  # notes how far it got
        parsed[0] = 0
        with Ledger.open(path) as ledger:
            counts.append(parsed[0])
            assert ledger.verify().checked == ledger.verify().entries
    assert counts[0] == counts[1] <= 5


def test_whether_an_account_is_open_costs_the_same_after_any_number_of_charges(tmp_path: Path) -> None:
    with Ledger.create(tmp_path / "ledger.db") as ledger:
        ledger.dataset("d", limit=PureDP(0.5))
        account = ledger.account("d", name="a")
        steps: list[int] = []
        counts = []
        for _ in range(2):
            steps.clear()
            for _ in range(50):
                account.release(NOISE, [1.0])
            with ledger._store.reading() as chain:
                chain._sql.set_progress_handler(lambda: steps.append(1), 1)
                chain.account("a")
                chain._sql.set_progress_handler(None, 0)
            counts.append(len(steps))
    assert 0 < counts[0] == counts[1]


def test_a_ledger_that_is_opened_to_be_read_is_not_written_to(copies: tuple[Path, ...]) -> None:
    before = copies[1].read_bytes()
    Ledger.open(copies[1], read_only=True).close()
    assert copies[1].read_bytes() == before


def noted(path: Path) -> tuple[int, str]:
    """The file, after a check that noted how far it got."""
    with Ledger.open(path) as ledger, ledger._store.reading() as chain:
        note = chain.verified()
    assert note is not None
    return note


def _edit(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as sql, unguarded(sql):
        for statement in statements:
            sql.execute(statement)


TAIL_EDITS = {
    "a text": 'UPDATE entries SET text = replace(text, \'"at":"2\', \'"at":"3\') WHERE number > {number}',
    "an entry": "DELETE FROM entries WHERE number = {number} + 2",
    "the kind": "UPDATE entries SET kind = 'page' WHERE number = {number} + 2",
    "the total": "UPDATE totals SET number = number - 1 WHERE number > {number}",
    "the budget": "UPDATE budgets SET number = number - 1 WHERE number > {number}",
    "the charge": "UPDATE charges SET settled = NULL WHERE number > {number}",
    "the account": "UPDATE accounts SET closed = NULL WHERE closed > {number}",
    "the newest entry": "UPDATE durable SET number = {number}",
    "the value": "UPDATE payloads SET payload = 'x' WHERE number > {number}",
}


@pytest.mark.parametrize("what", TAIL_EDITS)
def test_what_came_since_the_last_check_is_checked_at_opening(copies: tuple[Path, ...], what: str) -> None:
    """Every rule holds for the tail, which begins in the middle of accounts and of a period."""
    number, _ = noted(copies[0])
    with Ledger.open(copies[0]) as ledger:
        account = _newest_open(ledger)
        ledger.account("d", name=account).release(NOISE, [1.0], key="later")
        ledger.close_account(account)
        _work(ledger, 100, 101, close_all=False)
        assert ledger._check(since_last=True).checked == 8
    Ledger.open(copies[0]).close()
    _edit(copies[0], TAIL_EDITS[what].format(number=number))
    with pytest.raises(LedgerError, match="does not verify"):
        Ledger.open(copies[0])


@pytest.mark.parametrize("timeout_s", [np.inf, 1e9])
def test_whoever_waits_as_long_as_it_takes_waits(copies: tuple[Path, ...], timeout_s: float) -> None:
    with Ledger.open(copies[0], timeout_s=timeout_s) as ledger:  # notes how far it got, without waiting
        (milliseconds,) = ledger._store._connection().execute("PRAGMA busy_timeout").fetchone()
    assert milliseconds == 2_000_000_000


def test_a_note_that_names_another_entry_is_refused(copies: tuple[Path, ...]) -> None:
    noted(copies[0])
    _edit(copies[0], "UPDATE verified SET hash = (SELECT hash FROM entries WHERE number = 7)")
    for check in ("tail", "full"):
        with pytest.raises(LedgerError, match="another than the one that was verified before"):
            Ledger.open(copies[0], check=check)


def test_entries_that_are_gone_are_missed_by_the_note(copies: tuple[Path, ...]) -> None:
    """A copy of the file that lost its end, tables and all."""
    number, entry_hash = noted(copies[0])
    shutil.copy(copies[0], copies[1])
    with closing(sqlite3.connect(copies[1])) as sql, sql:
        sql.execute("UPDATE verified SET number = ?, hash = ?", (number + 1, entry_hash))
    with pytest.raises(LedgerError, match=f"entry {number + 1} of the ledger is missing"):
        Ledger.open(copies[1])


def test_an_end_that_is_gone_is_missed_where_nothing_came_since(copies: tuple[Path, ...]) -> None:
    """The table of what is on the disk names an entry that is not there."""
    number, _ = noted(copies[0])
    with Ledger.open(copies[0]) as ledger:
        ledger.account("d", name="later", limit=PureDP(1e-6))
    _edit(
        copies[0],
        f"DELETE FROM entries WHERE number > {number}",
        f"DELETE FROM budgets WHERE number > {number}",
        f"DELETE FROM accounts WHERE opened > {number}",
    )
    with pytest.raises(LedgerError, match=f"entry {number + 1}, which was on the disk, is gone"):
        Ledger.open(copies[0])


@pytest.mark.parametrize("check", ["tail", "full"])
@pytest.mark.parametrize("table", ["verified", "durable"])
def test_a_number_of_an_entry_that_is_none_is_refused_without_it(
    copies: tuple[Path, ...], table: str, check: Literal["tail", "full"]
) -> None:
    noted(copies[0])
    _edit(copies[0], f"UPDATE {table} SET number = 'secret'")
    with pytest.raises(LedgerError, match="is damaged") as error:
        Ledger.open(copies[0], check=check)
    assert "secret" not in str(error.value)


WRONG_ROWS: dict[str, tuple[str, Callable[[Ledger], object]]] = {
    "a closed account that is open again": (
        "UPDATE accounts SET closed = NULL WHERE name = 'closed'",
        lambda ledger: ledger.account("d", name="closed").release(NOISE, [1.0]),
    ),
    "an account of a refusal": (
        "UPDATE accounts SET opened = (SELECT max(number) FROM entries WHERE kind = 'refusal') WHERE name = 'open'",
        lambda ledger: ledger.account("d", name="open").release(NOISE, [1.0]),
    ),
    "another dataset's limit": (
        "UPDATE datasets SET opened = (SELECT opened FROM datasets WHERE name = 'large') WHERE name = 'd'",
        lambda ledger: ledger.account("d", name="new", limit=PureDP(1e-6)),
    ),
    "a refusal's budget": (
        "INSERT INTO budgets SELECT 'd', max(number) FROM entries WHERE kind = 'refusal'",
        lambda ledger: ledger.account("d", name="new", limit=PureDP(1e-6)),
    ),
}


@pytest.mark.parametrize("what", WRONG_ROWS)
def test_a_row_that_points_to_the_wrong_entry_pays_for_nothing(tmp_path: Path, what: str) -> None:
    """One edited row, before the note of a check: nothing is checked at opening, and paying finds it."""
    path = tmp_path / "ledger.db"
    with Ledger.create(path) as ledger:
        ledger.dataset("d", limit=PureDP(1.0))
        ledger.dataset("large", limit=PureDP(100.0))
        for name in ("closed", "open"):
            ledger.account("d", name=name, limit=PureDP(0.25))
        ledger.close_account("closed")
        with pytest.raises(BudgetExceeded):
            ledger.account("d", name="refused", limit=PureDP(9.0))
        ledger._store.note_verified(ledger.verify().entries - 1, ledger.verify().head)
    statement, use = WRONG_ROWS[what]
    _edit(path, statement)
    with (
        Ledger.open(path) as ledger,
        pytest.raises(LedgerError, match=r"damaged|wrong entry"),
    ):
        use(ledger)


def test_verify_asks_no_note(copies: tuple[Path, ...]) -> None:
    """Whoever can write the file can write the note: it saves work, and proves nothing."""
    noted(copies[0])
    _edit(copies[0], "UPDATE charges SET settled = NULL WHERE number = (SELECT min(number) FROM charges)")
    with Ledger.open(copies[0]) as ledger:
        assert "the table charges" in ledger.verify().problems[0]
    with pytest.raises(LedgerError, match="the table charges"):
        Ledger.open(copies[0], check="full")


def test_a_check_of_a_long_ledger_needs_no_more_memory(
    copies: tuple[Path, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay, "_MOST_REMEMBERED", 16)
    peaks = []
    for path in copies:
        with Ledger.open(path, check="full") as ledger:  # what is read once is read
            tracemalloc.start()
            assert ledger.verify().ok
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
    assert peaks[1] < 2 * peaks[0], peaks  # of ten times as many accounts and entries


def test_two_copies_that_do_the_same_in_the_same_second_differ(
    copies: tuple[Path, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chain_file, "now", lambda: "2026-01-01T00:00:00Z")
    heads = set()
    for copy in (copies[0], Path(shutil.copy(copies[0], tmp_path / "copy.db"))):
        with Ledger.open(copy) as ledger:
            ledger.account("d", name="same", limit=PureDP(1e-6))
            heads.add(ledger.head)
    assert len(heads) == 2


def test_a_release_of_a_million_numbers_is_kept(tmp_path: Path) -> None:
    """More than one row can hold: it is kept in parts, and given again as it was."""
    with Ledger.create(tmp_path / "ledger.db") as ledger:
        ledger.dataset("d", limit=PureDP(1.0))
        account = ledger.account("d", name="a")
        noisy = account.release(Laplace(scale=1e7, l1_sensitivity=1.0), np.zeros(1_000_000), key="large")
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        again = ledger.account("d", name="a").release(NOISE, np.zeros(1_000_000), key="large")
        assert np.array_equal(noisy, again)
        assert ledger.spent("d") == account.spent()
    _edit(tmp_path / "ledger.db", "UPDATE payloads SET payload = 'x' WHERE part = 3")
    with pytest.raises(LedgerError, match="the value that is kept for entry 3 was changed"):
        Ledger.open(tmp_path / "ledger.db", check="full")
