"""Full disks, locks, damage, forks: whatever happens, no value leaves without its charge."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from holdfast.errors import BudgetExceeded, FormatError, LedgerError
from holdfast.ledger import Ledger
from holdfast.privacy import Laplace, PureDP
from tests.ledger.unguarded import unguarded

NOISE = Laplace(scale=1e6, l1_sensitivity=1.0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    place = tmp_path / "ledger.db"
    with Ledger.create(place) as ledger:
        ledger.dataset("d", limit=PureDP(1.0))
        account = ledger.account("d", name="a")
        for number in range(40):
            account.release(NOISE, [1.0], key=f"job/{number}")
    return place


def paid(path: Path) -> list[str]:
    """The keys of all charges, after a full check."""
    with Ledger.open(path) as ledger:
        return [e.body["key"] for e in ledger.history() if e.kind == "charge"]


FULL_DISK = """
import os, resource, sys
from holdfast.errors import LedgerError
from holdfast.ledger import Ledger
from holdfast.privacy import Laplace
ledger = Ledger.open(sys.argv[1])
account = ledger.account("d", name="a")
account.release(Laplace(scale=1e6, l1_sensitivity=1.0), [1.0], key="before")
room = os.path.getsize(sys.argv[1] + "-wal") + int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
for number in range(10_000):
    try:
        account.release(Laplace(scale=1e6, l1_sensitivity=1.0), [1.0], key=f"new/{number}")
    except LedgerError:
        os._exit(7)
    os.write(1, f"new/{number}\\n".encode())
"""


@pytest.mark.parametrize("room", [0, 3_000, 20_000, 50_001])
def test_a_full_disk_gives_no_value_and_forgets_no_charge(path: Path, room: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(path), str(room)], capture_output=True, check=False, text=True
    )
    assert done.returncode == 7, done.stderr
    values, charges = done.stdout.split(), paid(path)
    assert set(values) <= set(charges)
    assert len(values) < 10_000
    with Ledger.open(path) as ledger:  # and goes on once there is room
        ledger.account("d", name="a").release(NOISE, [1.0], key="after")
    assert "after" in paid(path)


def test_a_full_database_gives_no_value(path: Path) -> None:
    with Ledger.open(path) as ledger:
        account = ledger.account("d", name="a")
        connection = ledger._store._connection()
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages + 1}")
        values: list[object] = []

        def fill() -> None:
            for _ in range(1000):
                values.append(account.release(NOISE, [1.0]))

        with pytest.raises(LedgerError, match=r"the disk is full.*nothing was released"):
            fill()
        before = len(paid(path))
        with pytest.raises(LedgerError):
            account.release(NOISE, [1.0] * 500, key="long")
        connection.execute("PRAGMA max_page_count = 100000")
        account.release(NOISE, [1.0], key="after")
    assert 40 + len(values) <= before
    assert "after" in paid(path)


def test_a_ledger_opened_read_only_gives_no_value(path: Path) -> None:
    with Ledger.open(path, read_only=True) as ledger:
        assert ledger.verify().ok
        assert "d" in ledger.summary()
        with pytest.raises(LedgerError, match="read-only"):
            ledger.account("d", name="a")
    with Ledger.open(path) as ledger:
        account = ledger.account("d", name="a")
        ledger._store.read_only = True
        with pytest.raises(LedgerError, match="read-only"):
            account.release(NOISE, [1.0])
    assert len(paid(path)) == 40


READ_ONLY = """
import os, sys
from holdfast.errors import LedgerError
from holdfast.ledger import Ledger
import holdfast.privacy._curves, holdfast.ledger._recompute
if os.getuid() == 0:
    os.setuid(65534)
with Ledger.open(sys.argv[1], read_only=True) as ledger:
    assert ledger.verify().ok
try:
    Ledger.open(sys.argv[1]).account("d", name="a")
except LedgerError as error:
    assert "nothing was released" in str(error)
    os._exit(7)
"""


def test_a_read_only_file_fails_closed_and_can_still_be_checked(path: Path) -> None:
    for place, mode in ((path, 0o444), (path.parent, 0o555)):
        place.chmod(mode)
    for folder in path.parent.parents:
        if os.getuid() == 0 and folder.name.startswith(("pytest-", "popen-")):
            folder.chmod(folder.stat().st_mode | 0o011)  # let the other user pass through
    try:
        done = subprocess.run(
            [sys.executable, "-c", READ_ONLY, str(path)], capture_output=True, check=False, text=True
        )
    finally:
        path.parent.chmod(0o755)
    assert done.returncode == 7, done.stderr


@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 0.6, 0.9, 0.999])
def test_a_truncated_file_is_refused(path: Path, share: float) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(LedgerError):
        Ledger.open(path)


@pytest.mark.share(20)
@pytest.mark.parametrize("seed", range(60))
def test_a_damaged_file_is_refused_or_says_the_same_as_before(path: Path, seed: int) -> None:
    with Ledger.open(path) as ledger:
        before = (ledger.summary(), [e.hash for e in ledger.history()])
    draw, data = random.Random(seed), bytearray(path.read_bytes())
    for _ in range(draw.choice((1, 1, 4, 50))):
        data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    path.write_bytes(data)
    try:
        with Ledger.open(path) as ledger:
            assert (ledger.summary(), [e.hash for e in ledger.history()]) == before
    except (LedgerError, FormatError):
        pass


def test_a_held_lock_is_waited_for_and_then_fails_closed(path: Path) -> None:
    with Ledger.open(path, timeout_s=0.05) as ledger:
        account = ledger.account("d", name="a")
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerError, match=r"another process holds the lock.*nothing was released"):
            account.release(NOISE, [1.0])
        assert account.spent() is not None  # reading goes on
        other.execute("ROLLBACK")
        other.close()
        account.release(NOISE, [1.0])
    assert len(paid(path)) == 41


def test_other_files_are_refused_untouched(tmp_path: Path) -> None:
    for name, data in (("empty", b""), ("text", b"not a ledger at all" * 100)):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(LedgerError):
            Ledger.open(tmp_path / name)
        assert (tmp_path / name).read_bytes() == data
    sqlite3.connect(tmp_path / "other").execute("CREATE TABLE t (x)").connection.close()
    with pytest.raises(LedgerError, match="not a holdfast ledger"):
        Ledger.open(tmp_path / "other")


def test_a_newer_format_is_refused_by_both_versions(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 2")
    connection.close()
    with pytest.raises(FormatError, match=r"holdfast-ledger/2.*holdfast-ledger/1"):
        Ledger.open(path)


def test_threads_of_one_process_share_an_account(path: Path) -> None:
    with Ledger.open(path) as ledger:
        account = ledger.account("d", name="a")

        def work(thread: int) -> None:
            for number in range(20):
                account.release(NOISE, [1.0], key=f"{thread}/{number}")

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(paid(path)) == 40 + 80


FORK = """
import os, sys
from holdfast.ledger import Ledger
from holdfast.privacy import Laplace
noise = Laplace(scale=1e6, l1_sensitivity=1.0)
ledger = Ledger.open(sys.argv[1])
account = ledger.account("d", name="a")
account.release(noise, [1.0], key="parent/before")
children = []
for child in range(3):
    pid = os.fork()
    if pid == 0:
        for number in range(10):
            account.release(noise, [1.0], key=f"child/{child}/{number}")
        os._exit(0)
    children.append(pid)
for number in range(10):
    account.release(noise, [1.0], key=f"parent/{number}")
assert all(os.waitpid(pid, 0)[1] == 0 for pid in children)
assert ledger.verify().ok
"""


def test_a_fork_leaves_both_sides_with_a_sound_ledger(path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORK, str(path)], capture_output=True, check=False, text=True
    )
    assert done.returncode == 0, done.stderr
    assert len(paid(path)) == 40 + 41


def test_errors_hold_no_values(path: Path) -> None:
    """Data, released values and SQLite's own words, which may quote either, stay out of messages."""
    with Ledger.open(path) as ledger:
        account = ledger.account("d", name="a")
        with pytest.raises(BudgetExceeded) as refused:
            account.release(Laplace(scale=0.001, l1_sensitivity=1.0), [987654321.0])
        assert "987654321" not in str(refused.value)
    connection = sqlite3.connect(path)
    with unguarded(connection):
        connection.execute("UPDATE payloads SET payload = CAST(x'987654FF' AS TEXT)")
    connection.commit()
    connection.close()
    with pytest.raises(LedgerError) as damaged:
        Ledger.open(path, check="tail").account("d", name="a").release(NOISE, [1.0], key="job/3")
    assert "vT" not in str(damaged.value)
    assert damaged.value.__cause__ is None


def test_a_folder_that_cannot_be_entered_is_a_ledger_error(
    monkeypatch: pytest.MonkeyPatch, path: Path
) -> None:
    def refused(self: Path) -> bool:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "is_file", refused)
    with pytest.raises(LedgerError, match="cannot be reached"):
        Ledger.open(path)
