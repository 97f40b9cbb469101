"""Draw mutants of paying code, run them, and say what survived: `python -m tests.mutation [COMMAND]`.

`make mutation` traces the tests where nothing is traced yet, goes on with the mutants that have no verdict, tries
constants and survivors in fresh processes, and prints the report. It may be ended at any time.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence

from tests.mutation import draw, fresh, readings, verdicts
from tests.mutation.paying import Traces, rows_of
from tests.mutation.places import PAYING, ROOMS, ROOT, SOURCES, TRACES
from tests.mutation.report import Report
from tests.mutation.selection import arguments as collected


def main(arguments: Sequence[str] | None = None) -> int:
    """1 if a mutant is unexplained."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument(
        "command",
        nargs="?",
        default="all",
        choices=("all", "trace", "paying", "draw", "run", "fresh", "report"),
    )
    parser.add_argument(
        "--count", type=int, default=600, help="mutants that there shall be, or be run, in all"
    )
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=1e6, help="start nothing after so many minutes")
    parser.add_argument(
        "--budget", type=float, default=8.0, help="processor seconds of tests for each mutant"
    )
    parser.add_argument(
        "--again", action="store_true", help="survivors that were not tried against all of their tests"
    )
    parser.add_argument(
        "--numbers", type=int, nargs="*", default=[], help="with `fresh`: these, whatever they are"
    )
    options = parser.parse_args(arguments)
    if options.command == "trace" or (options.command == "all" and not list(TRACES.glob("trace*.pickle"))):
        trace(options.jobs)
    if options.command == "paying":
        say("\n".join(rows_of(Traces.load().lines())))
    if options.command == "draw":
        add_drawn(options.count)
    if options.command in ("all", "run"):
        run(options)
    if options.command in ("all", "fresh"):
        run_fresh(options)
    if options.command in ("all", "report"):
        return tell()
    return 0


def trace(shards: int) -> None:
    """Every chosen test once, in so many processes."""
    shutil.rmtree(TRACES, ignore_errors=True)
    shutil.copytree(
        ROOT / SOURCES, TRACES / "traced" / "holdfast", ignore=shutil.ignore_patterns("__pycache__", "*.so")
    )
    processes = []
    for shard in range(shards):
        own = ("--trace-into", str(TRACES / f"trace{shard}.pickle"), "--shard", f"{shard}/{shards}")
        processes.append(subprocess.Popen(pytest_command("tests.mutation.tracing", *own), env=environment()))
    for process in processes:
        process.wait()


def add_drawn(count: int) -> None:
    """Further mutants, until there are so many; those whose text is gone are drawn again under a new number."""
    mutants, traces = draw.stored(), Traces.load()
    PAYING.write_text(
        json.dumps({room: traces.lines()[room] for room in ROOMS}, indent=1) + "\n", encoding="utf-8"
    )
    numbers = range(max(mutants, default=-1) + 1, count)
    mutants |= dict(zip(numbers, draw.drawn(traces, numbers, frozenset(mutants.values())), strict=True))
    draw.store(mutants)


def run(options: argparse.Namespace) -> None:
    """In forks of one process that has collected all tests."""
    limits = (
        "--budget",
        str(options.budget),
        "--minutes",
        str(options.minutes),
        "--last",
        str(options.count),
    )
    jobs = ("--mutant-jobs", str(options.jobs), *(("--again",) if options.again else ()))
    subprocess.run(
        pytest_command("tests.mutation.running", "-s", *limits, *jobs), env=environment(), check=False
    )


def run_fresh(options: argparse.Namespace) -> None:
    """What waits for a process of its own: constants, defaults, and survivors that were not confirmed yet."""
    mutants, known, read = draw.stored(), verdicts.stored(), readings.stored()
    numbers = options.numbers or [
        number
        for number, verdict in sorted(known.items())
        if verdict.word == "fresh"
        or (verdict.word == "survived" and not verdict.confirmed and number not in read)
    ]
    fresh.run(numbers, mutants, Traces.load(), minutes=options.minutes)


def tell() -> int:
    """The report; survivors that nobody has explained in full."""
    verdicts.store(verdicts.stored().values())
    report = Report.load()
    say("\n".join(report.lines()))
    say("")
    say("\n".join(report.classes()))
    say("")
    for number in report.unexplained:
        mutant = report.mutants[number]
        say(f"{number:5} {mutant.file}: {mutant.function}: {mutant.operator}\n      in    {mutant.wider}")
        say(f"      {mutant.old}  ->  {mutant.new}")
    say(report.summary())
    return int(bool(report.unexplained))


def pytest_command(plugin: str, *own: str) -> list[str]:
    """Pytest over all tests that mutants are tried against, with one of our plugins."""
    quiet = ("-q", "-p", "no:cacheprovider", "-p", "no:faulthandler", "-p", plugin)
    return [sys.executable, "-m", "pytest", *quiet, *own, *collected()]


def environment() -> dict[str, str]:
    """The examples of laws are the same at every run, and nobody reads the smallest that fails."""
    return os.environ | {"HYPOTHESIS_PROFILE": "planted", "OMP_NUM_THREADS": "1", "HOLDFAST_DEEP": ""}


def say(text: str) -> None:
    """Print at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    raise SystemExit(main())
