"""Charges per second against what the disk allows, and how long a check of the whole ledger takes.

    python benchmarks/ledger.py [--save] [--entries 100000]

The floor is measured in the same run, in the same folder: a plain file that is appended to and
flushed once per line, and a bare SQLite insert with the ledger's settings. A charge must wait for
the disk once; nothing that keeps its promise is faster than the floor.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from holdfast.errors import BudgetExceeded
from holdfast.ledger import Ledger
from holdfast.privacy import Laplace, PureDP

NOISE = Laplace(scale=1e7, l1_sensitivity=1.0)
REPEATS = 300


def each(call: Callable[[], object], repeats: int = REPEATS) -> float:
    """Median milliseconds of one call."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return 1e3 * sorted(times)[len(times) // 2]


def fsync_floor(folder: Path) -> float:
    handle = os.open(folder / "floor", os.O_CREAT | os.O_WRONLY | os.O_APPEND)

    def append() -> None:
        os.write(handle, b"x" * 700)
        os.fsync(handle)

    try:
        return each(append)
    finally:
        os.close(handle)


def sqlite_floor(folder: Path) -> float:
    connection = sqlite3.connect(folder / "floor.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE t (number INTEGER PRIMARY KEY, text TEXT)")

    def insert() -> None:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO t (text) VALUES (?)", ("x" * 700,))
        connection.execute("COMMIT")

    try:
        return each(insert)
    finally:
        connection.close()


def long_ledger(path: Path, entries: int) -> None:
    """Made in memory, where waiting for the disk takes no time, and copied."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        with Ledger.create(Path(folder) / "long.db") as ledger:
            ledger.dataset("d", limit=PureDP(1.0))
            account = ledger.account("d", name="a", limit=PureDP(0.5))
            for _ in range(entries // 2):
                account.release(NOISE, [1.0])
        shutil.copy(Path(folder) / "long.db", path)


def measure(folder: Path, entries: int) -> list[tuple[str, str]]:
    path = folder / "ledger.db"
    rows = [("append and fsync, plain file", fsync_floor(folder)), ("SQLite insert, WAL and FULL", sqlite_floor(folder))]
    with Ledger.create(path) as ledger:
        ledger.dataset("d", limit=PureDP(1.0))
        account = ledger.account("d", name="a", limit=PureDP(0.25))
        keys = iter(range(10**9))
        rows.append(("charge (permit), short ledger", each(lambda: account.permit(NOISE, times=1))))
        rows.append(("release", each(lambda: account.release(NOISE, [1.0]))))
        rows.append(("release with a key (two waits)", each(lambda: account.release(NOISE, [1.0], key=f"k{next(keys)}"))))
        large = Laplace(scale=1.0, l1_sensitivity=1.0)

        def refused() -> None:
            try:
                account.permit(large, times=1)
            except BudgetExceeded:
                return
            raise AssertionError("accepted")

        rows.append(("refusal", each(refused)))
    path = folder / "long.db"
    long_ledger(path, entries)
    with Ledger.open(path, check="tail") as ledger:
        long = ledger.account("d", name="a")
        rows.append((f"charge (permit), {entries:,} entries", each(lambda: long.permit(NOISE, times=1))))
        shown = [(name, f"{ms:8.3f} ms   {1e3 / ms:8.0f} per s") for name, ms in rows]
        start = time.perf_counter()
        found = ledger.verify()
        seconds = time.perf_counter() - start
        assert found.ok
        shown.append((f"verify, {found.entries:,} entries", f"{seconds:8.2f} s    {found.entries / seconds:8.0f} per s"))
        shown.append(("file size", f"{path.stat().st_size / found.entries:8.0f} bytes per entry"))
    return shown


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--save", action="store_true", help="write benchmarks/results/ledger.md")
    parser.add_argument("--entries", type=int, default=100_000)
    parser.add_argument("--folder", type=Path, default=None, help="on the disk that is to be measured")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        rows = measure(Path(folder), options.entries)
    lines = [f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, {os.cpu_count()} cores"]
    lines += [f"{name:<36} {value}" for name, value in rows]
    text = "\n".join(lines)
    print(text)
    if options.save:
        (Path(__file__).parent / "results" / "ledger.md").write_text(text + "\n")


if __name__ == "__main__":
    main()
