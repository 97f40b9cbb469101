"""Which tests are slow: measured, not remembered.

`tests/durations.json` holds every test that took more than `SLOW` seconds of processor time when `make durations`
last ran: processor time, since a busy machine stretches the other. Those tests, and all that need a server or a
browser, carry the mark `slow`; `make quick` runs the others. A test that the file does not know counts as quick until
it is measured.
"""

from __future__ import annotations

import json
import os
from collections.abc import Generator, Iterable
from pathlib import Path

import pytest

FILE = Path(__file__).with_name("durations.json")
SLOW = 0.03
#: Fixtures that start a server or a browser, or read the benchmark data: whoever comes first pays for the start.
COSTLY = frozenset({"chromium", "data_folder", "postgres_server"})


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--write-durations`: keep what this run measures."""
    parser.addoption(
        "--write-durations", action="store_true", help=f"keep the times of slow tests in {FILE.name}"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Measure where asked to; workers of a run in parallel report to the process that started them."""
    if config.getoption("--write-durations"):
        config.pluginmanager.register(Stopwatch())
        if not hasattr(config, "workerinput"):
            config.pluginmanager.register(Notebook())


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is slow, before the choice by `-m`, which other hooks make after; servers first."""
    items.sort(key=lambda item: server_of(item.nodeid))
    measured = stored()
    for item in items:
        fixtures = set(getattr(item, "fixturenames", ()))
        if item.nodeid in measured or fixtures & COSTLY:
            item.add_marker(pytest.mark.slow)
        if "study" in fixtures:
            item.add_marker(pytest.mark.study)


def server_of(test: str) -> int:
    """Spark's tests, then PostgreSQL's, then the others.

    pytest-xdist gives each worker a stretch of the list and lets idle ones take from its end. So one worker starts
    these servers, once, instead of every worker all of them: Spark takes nine seconds of processor time to start,
    and five more for its first three counts. (No clock of ours sees them: they are a Java machine's, not a child's.)
    """
    return next((place for place, word in enumerate(("spark", "postgres")) if word in test), 2)


def stored() -> dict[str, float]:
    """Seconds by test; none where nothing was measured yet."""
    if not FILE.is_file():
        return {}
    seconds: dict[str, float] = json.loads(FILE.read_text(encoding="utf-8"))
    return seconds


def processor_seconds() -> float:
    """Of this process and of the children that it has waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


class Stopwatch:
    """Tells each report of set-up, call or tear-down the processor time since the one before."""

    def __init__(self) -> None:
        self.last = processor_seconds()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Where the tests run; the attribute travels with the report."""
        report = yield
        now = processor_seconds()
        vars(report)["processor_seconds"], self.last = now - self.last, now
        return report


class Notebook:
    """Adds up the three parts of each test and writes them down."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """One of the three parts."""
        spent = self.seconds.get(report.nodeid, 0.0)
        self.seconds[report.nodeid] = spent + getattr(report, "processor_seconds", 0.0)

    def pytest_sessionfinish(self) -> None:
        """Tests that ran replace what was stored of them; tests of files that are gone are forgotten."""
        merged = known_files(stored()) | self.seconds
        slow = {name: round(spent, 2) for name, spent in sorted(merged.items()) if spent >= SLOW}
        FILE.write_text(json.dumps(slow, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")


def known_files(seconds: dict[str, float]) -> dict[str, float]:
    """Without the tests of files that are no more."""
    root = FILE.parent.parent
    there: Iterable[str] = {name.split("::")[0] for name in seconds}
    files = {file for file in there if (root / file).is_file()}
    return {name: spent for name, spent in seconds.items() if name.split("::")[0] in files}
