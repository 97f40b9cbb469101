"""A plugin for pytest: which lines of the rooms each test runs, and which of them before its last charge.

`--trace-into FILE --shard 0/2`. The tracer is that of coverage, written in C; its sets of lines are emptied after each
test, and moved at every charge and every draw: what ran before one of them lies between the rows and a charged value,
or decided a charge. Caches of the rooms are emptied before each test, since each will run in a process of its own.
"""

from __future__ import annotations

import gc
import pickle
import time
from collections.abc import Generator
from dataclasses import dataclass, field
from functools import _lru_cache_wrapper
from pathlib import Path
from typing import Any

import coverage
import pytest

from tests.mutation.places import ROOMS, ROOT, SOURCES
from tests.mutation.selection import SUBJECTS, chosen

#: Seconds after which what was measured is stored, so that a run that is ended is not lost.
EVERY = 60.0

#: A set of lines as a number: bit n is line n. By file, below the sources.
Lines = dict[str, int]


@dataclass
class Trace:
    """What one test ran, and what it cost in processor seconds."""

    seconds: float = 0.0
    passed: bool = False
    lines: Lines = field(default_factory=dict)
    charged: Lines = field(default_factory=dict)


class Tracer:
    """Runs every chosen test once, traced."""

    def __init__(self, file: Path, shard: int, shards: int) -> None:
        self.file = file
        self.shard, self.shards = shard, shards
        self.traces: dict[str, Trace] = {}
        self.coverage = coverage.Coverage(
            data_file=None, source=[str(ROOT / SOURCES / room) for room in ROOMS], config_file=False
        )
        self.before: dict[str, set[int]] = {}
        self.saved = time.monotonic()

    @property
    def data(self) -> dict[str, set[int]]:
        """The tracer's own sets; they are emptied in place, since the tracer holds them."""
        collector: Any = vars(self.coverage)["_collector"]
        sets: dict[str, set[int]] = collector.data
        return sets

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """The chosen tests of this shard, the refutation at the end."""
        items[:] = sorted(chosen(items), key=lambda item: item.nodeid.startswith(SUBJECTS))[
            self.shard :: self.shards
        ]

    def pytest_collection_finish(self) -> None:
        """From here on: what is imported was imported."""
        self._listen()
        self.caches = room_caches()
        self.coverage.start()

    def _listen(self) -> None:
        """To every charge and every draw."""
        from holdfast.privacy._account import account

        def heard(function: Any) -> Any:
            def with_mark(*arguments: Any, **options: Any) -> Any:
                answer = function(*arguments, **options)
                self.mark_charge()
                return answer

            return with_mark

        vars(account)["_draw"] = heard(vars(account)["_draw"])
        type.__setattr__(account.Account, "_pay", heard(vars(account.Account)["_pay"]))

    def mark_charge(self) -> None:
        """Everything up to here belongs to a charge."""
        for name, lines in list(self.data.items()):
            if lines:
                self.before.setdefault(name, set()).update(lines)
                lines.clear()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """One test, with its fixtures."""
        for cache in self.caches:
            cache.cache_clear()
        for lines in list(self.data.values()):
            lines.clear()
        self.before = {}
        trace = self.traces[item.nodeid] = Trace(passed=True)
        start = time.process_time()
        answer = yield
        trace.seconds = time.process_time() - start
        trace.charged = as_numbers(self.before)
        self.mark_charge()
        trace.lines = as_numbers(self.before)
        if time.monotonic() > self.saved + EVERY:
            self.save()
        return answer

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test that fails without a fault can kill none; nor can one that is skipped."""
        if report.outcome != "passed":
            self.traces[report.nodeid].passed = False

    def pytest_sessionfinish(self) -> None:
        """Keep all of it."""
        self.coverage.stop()
        self.save()

    def save(self) -> None:
        """What was measured so far."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_bytes(pickle.dumps(self.traces))
        self.saved = time.monotonic()


def as_numbers(lines: dict[str, set[int]]) -> Lines:
    """Sets of lines as numbers, by file."""
    sources = str(ROOT / SOURCES) + "/"
    return {
        name.removeprefix(sources): sum(1 << line for line in where)
        for name, where in lines.items()
        if where and name.startswith(sources)
    }


def room_caches() -> list[Any]:
    """The caches of functions of the rooms; what they hold would hide a fault from all tests but the first."""
    homes = tuple(f"holdfast.{room}." for room in ROOMS)
    return [
        cache
        for cache in gc.get_objects()
        if isinstance(cache, _lru_cache_wrapper) and str(cache.__module__).startswith(homes)
    ]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Where to keep what is measured, and which part of the tests."""
    parser.addoption("--trace-into", type=Path, required=True)
    parser.addoption("--shard", default="0/1")


def pytest_configure(config: pytest.Config) -> None:
    """One tracer for the session."""
    shard, _, shards = config.getoption("--shard").partition("/")
    config.pluginmanager.register(Tracer(config.getoption("--trace-into"), int(shard), int(shards)))
