"""Plant every fault in a copy of the sources and see that the tests notice: `python -m tests.mutants [WORD]`."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from pathlib import Path
from queue import SimpleQueue

from tests.mutants.copies import ROOT, SOURCES, Copy, Outcome
from tests.mutants.fault import Fault
from tests.mutants.faults import FAULTS
from tests.mutants.planting import CannotPlant, Planted, plant

SLOWEST = 10


def main(arguments: Sequence[str] | None = None) -> int:
    """Print killed/total; 1 if any fault survives or cannot be planted."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("word", nargs="?", default="", help="only faults whose name contains it")
    parser.add_argument("--plant-only", action="store_true", help="see that all can be planted; run no test")
    options = parser.parse_args(arguments)
    faults = [fault for fault in FAULTS if options.word in fault.name]
    if not faults:
        parser.error(f"no fault's name contains {options.word!r}")
    planted = planted_of(faults)
    if options.plant_only:
        say(f"mutants: {len(planted)}/{len(faults)} can be planted")
        return int(len(planted) < len(faults))
    outcomes = tried(planted)
    for fault, outcome in sorted(outcomes.items(), key=lambda each: -each[1].seconds)[:SLOWEST]:
        say(f"slowest   {outcome.seconds:6.1f} s  {fault.name}  {outcome.killer}".rstrip())
    killed = sum(outcome.killed for outcome in outcomes.values())
    for fault in faults:
        if fault not in outcomes or not outcomes[fault].killed:
            say(f"{'SURVIVED' if fault in outcomes else 'UNPLANTED'}  {fault.name}")
    say(f"mutants: {killed}/{len(faults)} killed")
    return int(killed < len(faults))


def planted_of(faults: Sequence[Fault]) -> dict[Fault, Planted]:
    """Those that can be planted; the others are told."""
    planted = {}
    for fault in faults:
        try:
            planted[fault] = plant(fault, ROOT / SOURCES)
        except CannotPlant as problem:
            say(f"cannot plant {fault.name!r}: {problem}")
    return planted


def tried(planted: dict[Fault, Planted]) -> dict[Fault, Outcome]:
    """Every fault in one of the copies, and what its tests did, told as they end."""
    workers = min(os.cpu_count() or 1, len(planted) or 1)
    outcomes = {}
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(workers) as pool:
        free: SimpleQueue[Copy] = SimpleQueue()
        for place in range(workers):
            free.put(Copy.made(Path(folder) / str(place)))

        def attempt(fault: Fault) -> Outcome:
            copy = free.get()
            try:
                return copy.tried(planted[fault], fault.tests)
            finally:
                free.put(copy)

        running: dict[Future[Outcome], Fault] = {pool.submit(attempt, fault): fault for fault in planted}
        for done in as_completed(running):
            outcome = outcomes[running[done]] = done.result()
            verdict = "killed  " if outcome.killed else "SURVIVED"
            say(f"{verdict}  {outcome.seconds:6.1f} s  {running[done].name}  {outcome.killer}".rstrip())
            if outcome.code not in (0, 1):
                say(outcome.said)
    return outcomes


def say(line: str) -> None:
    """Print at once: a run takes minutes."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    raise SystemExit(main())
