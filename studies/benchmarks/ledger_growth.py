"""What a ledger is asked, at growing lengths: the law of its growth, in processor time and memory.

    python studies/benchmarks/ledger_growth.py [--save] [--largest 1000000] [--folder PATH]

Each ledger has a hundredth as many accounts as charges, each charge with its settlement. It is written by the code of
the package up to the first charge of each account, and from there on by its tables and hashes alone, in one
transaction, since a million charges that wait for the disk take hours. `verify` then finds every rule kept. Times are
processor times, medians of rounds; peaks are of a process of its own.
"""

from __future__ import annotations

import argparse
import os
import platform
import secrets
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import Any

from holdfast.ledger import Ledger, LedgerEntry
from holdfast.ledger._chain import write_entry
from holdfast.privacy import Laplace, PureDP

NOISE = Laplace(scale=1e9, l1_sensitivity=1.0)
COST = Fraction(1, 10**9)
ROUNDS = 60
VERIFY = """
import re, sys, time
from pathlib import Path
from holdfast.ledger import Ledger
def peak():  # of this program alone; what getrusage says begins with the peak of its parent
    return int(re.search("VmHWM:\\s*([0-9]+)", Path("/proc/self/status").read_text())[1])
with Ledger.open(sys.argv[1], check="nothing", read_only=True) as ledger:
    before, start = peak(), time.process_time()
    {asked}
    print(time.process_time() - start, peak() - before)
"""


def long_ledger(path: Path, charges: int) -> None:
    """A ledger with so many charges, a hundred an account."""
    accounts = charges // 100
    with Ledger.create(path) as ledger:
        ledger.dataset("d", limit=PureDP(1.0))
        connection = ledger._store._connection()
        connection.execute("PRAGMA synchronous = OFF")
        limit = PureDP(0.5 / accounts)
        opened = [ledger.account("d", name=f"account {k}", limit=limit) for k in range(accounts)]
        for account in opened:
            account.release(NOISE, [1.0])
        *_, charge, settlement = ledger.history(account="account 0")
        connection.execute("BEGIN IMMEDIATE")
        _append(connection, charge, settlement, accounts=accounts, charges=charges)
        connection.execute("COMMIT")


def _append(
    sql: sqlite3.Connection,
    charge: LedgerEntry,
    settlement: LedgerEntry,
    *,
    accounts: int,
    charges: int,
) -> None:
    """The charges after the first of each account, in turn, as the package would write them."""
    number, previous = sql.execute("SELECT number, hash FROM entries ORDER BY number DESC LIMIT 1").fetchone()
    budget: dict[str, Any] = dict(charge.body["budget"])

    def write(kind: Any, body: dict[str, Any]) -> int:
        nonlocal number, previous
        nonce = secrets.token_hex(16)
        entry = LedgerEntry(
            number=number + 1, previous=previous, nonce=nonce, at=charge.at, kind=kind, body=body
        )
        write_entry(sql, entry)
        number, previous = entry.number, entry.hash
        return number

    for place in range(accounts, charges):
        name, rounds = f"account {place % accounts}", place // accounts + 1
        sums = {
            "account": name,
            "totals": {"": [str(rounds * COST), "0", "0"]},
            "counts": {"": [rounds, rounds, rounds]},
            "budget": budget | {"spent": [str((place + 1) * COST), "0", "0"]},
        }
        charged = write("charge", dict(charge.body) | sums)
        write("settle", dict(settlement.body) | {"account": name, "entry": charged})


def median_ms(call: Callable[[], object]) -> float:
    """Of the processor time of a call."""
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        call()
        times.append(1e3 * (time.process_time() - start))
    return sorted(times)[ROUNDS // 2]


def in_a_process(path: Path, asked: str) -> tuple[float, float]:
    """Seconds of processor time, and megabytes that the peak of the process rose by."""
    command = [sys.executable, "-c", VERIFY.format(asked=asked), str(path)]
    seconds, kilobytes = subprocess.run(command, capture_output=True, check=True, text=True).stdout.split()
    return float(seconds), float(kilobytes) / 1024


def measure(path: Path, charges: int) -> str:
    long_ledger(path, charges)
    size = path.stat().st_size / 2**20
    verified, peak = in_a_process(path, "assert ledger.verify().ok")
    shown, shown_peak = in_a_process(path, "ledger.summary()")
    Ledger.open(path).close()  # notes how far it was checked

    def opened() -> None:
        Ledger.open(path).close()

    names = count()
    with Ledger.open(path) as ledger:
        account = ledger.account("d", name="account 7")
        columns = [
            median_ms(opened),
            median_ms(lambda: ledger.account("d", name=f"new {next(names)}", limit=PureDP(1e-9))),
            median_ms(lambda: account.permit(NOISE, times=1)),
            median_ms(lambda: ledger.remaining("d")),
        ]
    entries = 2 + charges // 100 + 2 * charges
    cells = [f"{charges:,}", f"{charges // 100:,}", f"{size:,.0f}", *(f"{column:.2f}" for column in columns)]
    cells += [
        f"{shown:.2f}",
        f"{shown_peak:.0f}",
        f"{verified:.1f}",
        f"{1e6 * verified / entries:.0f}",
        f"{peak:.0f}",
    ]
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--save", action="store_true", help="write studies/benchmarks/results/ledger_growth.md"
    )
    parser.add_argument("--largest", type=int, default=1_000_000, help="charges of the longest ledger")
    parser.add_argument(
        "--folder", type=Path, default=None, help="where the ledgers are made; 2 GB for a million"
    )
    options = parser.parse_args()
    rows = []
    charges = 1000
    while charges <= options.largest:
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            rows.append(measure(Path(folder) / "ledger.db", charges))
            print(rows[-1], flush=True)
        charges *= 10
    machine = f"{os.cpu_count()} cores, Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}"
    text = "\n".join(
        [
            "# Ledger: what it is asked, at growing lengths",
            "",
            "Made by `python studies/benchmarks/ledger_growth.py --save`. Processor times: medians in milliseconds of",
            "opening the file, opening an account, a charge and what is left; seconds of a list of all accounts",
            "(`show`) and of `verify`, each with the megabytes by which the peak of its process rose.",
            "",
            f"Machine: {machine}.",
            "",
            "| charges | accounts | MB | open file, ms | open account, ms | charge, ms | what is left, ms "
            "| show, s | show, MB | verify, s | verify, us an entry | verify, MB |",
            "|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
            *rows,
        ]
    )
    if options.save:
        (Path(__file__).parent / "results" / "ledger_growth.md").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
