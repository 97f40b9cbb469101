"""Charges per second against what the disk allows, and how long a check of the whole ledger takes.

    python studies/benchmarks/ledger.py [--save] [--entries 100000] [--folder PATH]

The floor is measured in the same run, in the same folder, one call after the other in turn (disks
have moods): a plain file that is appended to and flushed once per line, and a bare SQLite insert
with the ledger's settings. A charge must wait for the disk once; nothing that keeps the promise
is faster than the floor.
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
from contextlib import ExitStack, suppress
from itertools import count
from pathlib import Path

from holdfast.errors import BudgetExceeded
from holdfast.ledger import Ledger
from holdfast.privacy import Account, Laplace, PureDP

NOISE = Laplace(scale=1e7, l1_sensitivity=1.0)
TOO_LARGE = Laplace(scale=1.0, l1_sensitivity=1.0)
ROUNDS = 400


def medians(calls: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Median milliseconds of each call, all of them once per round."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(ROUNDS):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            times[name].append(1e3 * (time.perf_counter() - start))
    return {name: sorted(each)[ROUNDS // 2] for name, each in times.items()}


def plain_file(folder: Path, stack: ExitStack) -> Callable[[], None]:
    handle = os.open(folder / "floor", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    stack.callback(os.close, handle)

    def append() -> None:
        os.write(handle, b"x" * 700)
        os.fsync(handle)

    return append


def bare_sqlite(folder: Path, stack: ExitStack) -> Callable[[], None]:
    connection = sqlite3.connect(folder / "floor.db", isolation_level=None)
    stack.callback(connection.close)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE t (number INTEGER PRIMARY KEY, text TEXT)")

    def insert() -> None:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO t (text) VALUES (?)", ("x" * 700,))
        connection.execute("COMMIT")

    return insert


def refused(account: Account) -> None:
    with suppress(BudgetExceeded):
        account.permit(TOO_LARGE, times=1)
        raise AssertionError("accepted")


def short_ledger(path: Path) -> None:
    with Ledger.create(path) as ledger:
        ledger.dataset("d", limit=PureDP(1.0))
        for name in ("a", "b"):
            ledger.account("d", name=name, limit=PureDP(0.5))


def long_ledger(path: Path, entries: int) -> None:
    """Made in memory, where waiting for the disk takes no time, and copied."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        short_ledger(Path(folder) / "long.db")
        with Ledger.open(Path(folder) / "long.db") as ledger:
            account = ledger.account("d", name="a")
            for _ in range(entries // 2):
                account.release(NOISE, [1.0])
        shutil.copy(Path(folder) / "long.db", path)


def measure(folder: Path, entries: int) -> list[str]:
    short_ledger(folder / "short.db")
    long_ledger(folder / "long.db", entries)
    with ExitStack() as stack:
        short = stack.enter_context(Ledger.open(folder / "short.db"))
        long = stack.enter_context(Ledger.open(folder / "long.db", check="nothing"))
        first, other, late = (
            short.account("d", name="a"),
            short.account("d", name="b"),
            long.account("d", name="a"),
        )
        keys = count()
        times = medians(
            {
                "append and fsync, plain file": plain_file(folder, stack),
                "SQLite insert, WAL and FULL": bare_sqlite(folder, stack),
                "charge, short ledger": lambda: first.permit(NOISE, times=1),
                f"charge, {entries:,} entries": lambda: late.permit(NOISE, times=1),
                "release (charge, noise, note)": lambda: first.release(NOISE, [1.0]),
                "release with a key (waits twice)": lambda: first.release(NOISE, [1.0], key=f"k{next(keys)}"),
                "refusal (recorded, does not wait)": lambda: refused(other),
            }
        )
        floor = times["append and fsync, plain file"]
        rows = [f"| {name} | {ms:.3f} | {1e3 / ms:,.0f} | {ms / floor:.1f} |" for name, ms in times.items()]
        start = time.perf_counter()
        found = long.verify()
        seconds = time.perf_counter() - start
        assert found.ok
    size = (folder / "long.db").stat().st_size / found.entries
    return [
        "| call | median ms | per second | times the plain file |",
        "|---|---:|---:|---:|",
        *rows,
        "",
        f"`verify()` of {found.entries:,} entries: {seconds:.2f} s ({1e6 * seconds / found.entries:.0f} "
        f"microseconds per entry); {size:.0f} bytes per entry.",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--save", action="store_true", help="write studies/benchmarks/results/ledger.md")
    parser.add_argument("--entries", type=int, default=100_000)
    parser.add_argument(
        "--folder", type=Path, default=None, help="a folder on the disk that is to be measured"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        rows = measure(Path(folder), options.entries)
    machine = f"{os.cpu_count()} cores, Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}"
    text = "\n".join(
        [
            "# Ledger: charges against the disk's floor",
            "",
            "Made by `python studies/benchmarks/ledger.py --save`; all rows of the same run, called in turn.",
            "",
            f"Machine: {machine}.",
            "",
            *rows,
        ]
    )
    print(text)
    if options.save:
        (Path(__file__).parent / "results" / "ledger.md").write_text(text + "\n")


if __name__ == "__main__":
    main()
