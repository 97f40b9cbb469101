"""Which tests are slow: measured, not remembered.

`tests/durations.json` holds every test that took more than `SLOW` seconds of processor time when `make durations`
last ran: processor time, since a busy machine stretches the other. Those tests, and all that need a server or a
browser, carry the mark `slow`; `make quick` runs the others. A test that the file does not know counts as quick until
it is measured. `python -m tests.pace` takes the tests that are gone out of the file, and runs none.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Generator, Iterable
from functools import cache
from pathlib import Path

import pytest

FILE = Path(__file__).with_name("durations.json")
ROOT = FILE.parent.parent
SLOW = 0.03
#: Fixtures that start a server or a browser, or read the benchmark data: whoever comes first pays for the start.
COSTLY = frozenset({"chromium", "data_folder", "postgres_server"})
MEASURED = pytest.StashKey[bool]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--write-durations`: keep what this run measures."""
    parser.addoption(
        "--write-durations", action="store_true", help=f"keep the times of slow tests in {FILE.name}"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Listen where asked to; the process that starts the workers hears all their reports."""
    if config.getoption("--write-durations"):
        config.pluginmanager.register(Declared())
        if not hasattr(config, "workerinput"):
            config.pluginmanager.register(Notebook())


def mark_slow(items: list[pytest.Item]) -> None:
    """What was measured as slow, and what needs a server or a browser."""
    measured = stored()
    for item in items:
        item.stash[MEASURED] = item.get_closest_marker("slow") is None
        if item.nodeid in measured or set(getattr(item, "fixturenames", ())) & COSTLY:
            item.add_marker(pytest.mark.slow)


def place_of(item: pytest.Item) -> tuple[int, bool]:
    """Servers first, then what calls itself slow in its own file, so that no long test is left for the end.

    There one process would run it while the others have nothing to do.
    """
    return server_of(item.nodeid), item.get_closest_marker("slow") is None


def server_of(test: str) -> int:
    """Spark's tests, then PostgreSQL's, then the others.

    pytest-xdist gives each worker a stretch of the list and lets idle ones take from its end. So one worker starts
    these servers, once, instead of every worker all of them: Spark takes nine seconds of processor time to start,
    and five more for its first three counts.
    """
    return next((place for place, word in enumerate(("spark", "postgres")) if word in test), 2)


def stored() -> dict[str, float]:
    """Seconds by test; none where nothing was measured yet."""
    if not FILE.is_file():
        return {}
    seconds: dict[str, float] = json.loads(FILE.read_text(encoding="utf-8"))
    return seconds


class Declared:
    """Tells each report whether its test is called slow in its own file, and need not be remembered."""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Where the tests run; the attribute travels with the report."""
        report = yield
        vars(report)["to_measure"] = item.stash.get(MEASURED, True)
        return report


class Notebook:
    """Adds up the three parts of each test and writes them down."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """One of the three parts."""
        measured = getattr(report, "processor_seconds", 0.0) if getattr(report, "to_measure", True) else 0.0
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + measured

    def pytest_sessionfinish(self) -> None:
        """Tests that ran replace what was stored of them; tests that are gone are forgotten."""
        write({name: spent for name, spent in (stored() | self.seconds).items() if spent >= SLOW})


def write(seconds: dict[str, float]) -> None:
    """Store those that there are."""
    gone = set(missing(seconds))
    there = {name: round(spent, 2) for name, spent in sorted(seconds.items()) if name not in gone}
    FILE.write_text(json.dumps(there, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")


def missing(tests: Iterable[str], root: Path = ROOT) -> list[str]:
    """Those whose file is gone, or in whose file no function has their name (a doctest's is that of its object)."""
    return [name for name in tests if not _is_there(root, *name.partition("[")[0].split("::"))]


def _is_there(root: Path, file: str, *names: str) -> bool:
    path = root / file
    return path.is_file() and {name.rpartition(".")[2] for name in names} <= _defined(path) | {path.stem}


@cache
def _defined(path: Path) -> set[str]:
    """Every function and class of the file."""
    text = path.read_text(encoding="utf-8")
    return set(re.findall(r"^\s*(?:(?:async )?def|class) (\w+)", text, flags=re.M))


if __name__ == "__main__":
    known = stored()
    write(known)
    sys.stdout.write(f"{len(known) - len(stored())} of {len(known)} were gone\n")
