"""What a run cost, in processor seconds by room: `--rooms` prints it at the end.

Processor time, since a busy machine stretches the other. The time of a server is that of its whole run, and is asked of
the system when the tests end.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

SPENT = "processor_seconds"
START = "(start, imports, collection)"
SERVERS = "(servers and other processes)"
_ended = 0.0
"""What servers have spent that ended while a test ran."""


def processor_seconds() -> float:
    """Of this process and of the children that it has waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


@contextmanager
def server_ends() -> Iterator[None]:
    """For whoever waits for a server: the system then adds its whole life to what this process has spent.

    That is no cost of the test at whose end it happens, which may be any.
    """
    global _ended
    before = processor_seconds()
    yield
    _ended += processor_seconds() - before


def room_of(test: str) -> str:
    """The folder of tests, or of the sources for doctests; files beside the folders count as one."""
    parts = test.partition("::")[0].split("/")
    if parts[0] == "src":
        return "src (doctests)"
    return f"tests/{parts[1]}" if len(parts) > 2 else "tests (files)"


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--rooms`: what every room cost, at the end."""
    parser.addoption("--rooms", action="store_true", help="print the processor seconds of each room of tests")


def pytest_configure(config: pytest.Config) -> None:
    """Where the tests run is measured; the process that starts workers adds up and prints.

    That process has waited for its workers when it ends, so its own stopwatch would count all their time again.
    """
    measured = config.getoption("--rooms") or config.getoption("--write-durations")
    if measured and not config.getoption("numprocesses", None):
        config.pluginmanager.register(Stopwatch())
    if config.getoption("--rooms") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Bill())


class Stopwatch:
    """Tells each report of set-up, call or tear-down the processor time since the one before."""

    def __init__(self) -> None:
        self.last = self.at_start = self.elsewhere = 0.0

    def pytest_collection_finish(self) -> None:
        """From here on time belongs to tests."""
        self.last = self.at_start = processor_seconds() - _ended

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Where the tests run; the attribute travels with the report.

        What a process that goes on has spent on a test, the test notes itself.
        """
        report = yield
        now = processor_seconds() - _ended
        elsewhere = sum(
            float(str(spent))
            for name, spent in item.user_properties
            if name == SPENT and report.when == "call"
        )
        vars(report)[SPENT], self.last = now - self.last + elsewhere, now
        self.elsewhere += elsewhere
        return report

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """What no report holds: the start, and servers, which run until now or have just ended."""
        # Those processes have ended by now, or still run: what tests have noted of them is theirs.
        others = processor_seconds() - self.last + _children_now() - self.elsewhere
        spent = {START: self.at_start, SERVERS: others}
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput["spent"] = spent
        else:
            session.config.stash[REST] = spent


REST = pytest.StashKey[dict[str, float]]()


def _children_now() -> float:
    """Of processes below this one that still run."""
    try:
        import psutil
    except ImportError:
        return 0.0
    total = 0.0
    for child in psutil.Process().children(recursive=True):
        try:
            times = child.cpu_times()
        except psutil.Error:
            continue
        total += times.user + times.system
    return total


class Bill:
    """Adds up by room."""

    def __init__(self) -> None:
        self.spent: defaultdict[str, float] = defaultdict(float)
        self.tests: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """One of three parts of a test."""
        room = room_of(report.nodeid)
        self.spent[room] += getattr(report, SPENT, 0.0)
        self.tests[room] += report.when == "call"

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """A worker ends and hands over what was no test's."""
        self.add(getattr(node, "workeroutput", {}).get("spent", {}))

    def add(self, spent: Mapping[str, float]) -> None:
        """What was no test's."""
        for name, seconds in spent.items():
            self.spent[name] += seconds

    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter, config: pytest.Config
    ) -> None:
        """The dearest room first."""
        rest: dict[str, float] = config.stash.get(REST, {})
        self.add(rest)
        if config.getoption("numprocesses", None):
            own = os.times()
            self.spent[START] += own.user + own.system
        terminalreporter.section("processor seconds by room")
        for room, spent in sorted(self.spent.items(), key=lambda entry: -entry[1]):
            terminalreporter.write_line(f"{spent:8.1f}  {self.tests[room] or '':>6}  {room}")
        terminalreporter.write_line(f"{sum(self.spent.values()):8.1f}  {sum(self.tests.values()):>6}  in all")
