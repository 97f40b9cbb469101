"""A plugin for pytest that runs mutants: everything is imported and collected once, and each mutant has a fork.

In the fork the changed functions get their new code, and the tests that run the changed statement follow one another
until the first fails. A test that takes much more processor time than it did when it was traced ends its fork. A
constant, a default or a module that is imported late is left to `fresh`, where everything is read anew.
"""

from __future__ import annotations

import gc
import mmap
import os
import re
import resource
import shutil
import signal
import struct
import sys
import tempfile
import time
from collections import defaultdict, deque
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests import pace
from tests.mutation import draw, readings, verdicts
from tests.mutation.mutant import CannotPlant, Mutant
from tests.mutation.order import Order
from tests.mutation.paying import Traces
from tests.mutation.places import DRAWN, ROOT, TRACES, VERDICTS
from tests.mutation.planting import Functions, NeedsNewProcess
from tests.mutation.selection import family_of, is_left_out
from tests.mutation.tracing import room_caches
from tests.mutation.verdicts import Verdict, Word

#: A test may take so many seconds more than it did, and so many times as many.
GRACE, TIMES = 2.0, 10.0
#: A test that waits for something that never comes; of the clock, since it takes no processor time.
STUCK = 240
#: Gibibytes that a fork may take beyond what it has.
MEMORY = 6
NOTE = struct.Struct("ii")
#: In a note: the fork runs on, a test failed, all passed, the mutant needs a fresh process, its text is gone.
RUNNING, FAILED, PASSED, FRESH, GONE = range(5)


@dataclass
class Attempt:
    """A fork that is running."""

    number: int
    mutant: Mutant
    names: list[str]
    covering: int
    note: mmap.mmap
    folder: Path
    verdict: Verdict | None = None
    """In a control: what is so if the killer passes without the fault."""


class Runner:
    """Takes the place of pytest's own loop over tests."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.traces = Traces.load(config.getoption("--traces"))
        self.mutants = draw.stored(config.getoption("--drawn"))
        self.verdicts: Path = config.getoption("--verdicts")
        self.jobs: int = config.getoption("--mutant-jobs")
        self.budget: float = config.getoption("--budget")
        self.until: float = time.monotonic() + config.getoption("--minutes") * 60
        self.again: bool = config.getoption("--again")
        self.last: int = config.getoption("--last")
        self.order = Order(self.traces.tests)
        self.instances: dict[str, list[str]] = defaultdict(list)
        """At a second look, all instances of each test."""
        self.read = readings.stored()
        self.grace = float(os.environ.get("HOLDFAST_MUTATION_GRACE", GRACE))
        self.failed = False
        self.trusted: set[str] = set()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Those that were traced; at a second look the other instances of the same tests, and what was too slow."""
        if not self.again:
            items[:] = [item for item in items if item.nodeid in self.traces.tests]
            return
        items[:] = [item for item in items if not is_left_out(item)]
        measured = pace.stored()
        traced: dict[str, list[float]] = defaultdict(list)
        for name in self.traces.tests:
            traced[family_of(name)].append(self.order.price[name])
        for item in items:
            family = family_of(item.nodeid)
            self.instances[family].append(item.nodeid)
            prices = traced.get(family) or [measured.get(item.nodeid, 1.0)]
            self.order.price.setdefault(item.nodeid, sum(prices) / len(prices))

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """All mutants without a verdict, in the order of their numbers."""
        self.items = {item.nodeid: item for item in session.items}
        for cache in room_caches():
            cache.cache_clear()
        self.functions = Functions()
        gc.collect()
        gc.freeze()
        known = verdicts.stored(self.verdicts)
        for number, verdict in known.items():
            if verdict.is_killed and number in self.mutants:
                self.order.learn(self.mutants[number], verdict.killer)
                self.trusted.add(verdict.killer)
        waiting = deque(
            number for number in sorted(self.mutants) if number < self.last and self._waits(known.get(number))
        )
        running: dict[int, Attempt] = {}
        while True:
            while waiting and len(running) < self.jobs and time.monotonic() < self.until:
                self._fork(self._attempt(waiting.popleft()), running)
            if not running:
                break
            child, status, used = os.wait4(-1, 0)
            attempt = running.pop(child)
            verdict = self._verdict(attempt, status, used.ru_utime + used.ru_stime)
            if attempt.verdict is not None:  # a control
                if verdict.word == "survived":
                    self.trusted.add(attempt.names[0])
                    self._tell(attempt, attempt.verdict)
                else:
                    sys.stdout.write(f"fails without a fault: {attempt.names[0]}\n")
                    self.items.pop(attempt.names[0], None)
                    waiting.appendleft(attempt.number)
            elif verdict.killer and verdict.killer not in self.trusted:
                self._fork(self._control(attempt, verdict), running)
            else:
                self._tell(attempt, verdict)
        gc.unfreeze()
        return True

    def _waits(self, verdict: Verdict | None) -> bool:
        if verdict is None:
            return True
        reading = self.read.get(verdict.number)
        if not self.again or verdict.word != "survived":
            return False
        return not verdict.confirmed if reading is None else reading.proof == "law"

    def _attempt(self, number: int) -> Attempt:
        mutant = self.mutants[number]
        reading = self.read.get(number) if self.again else None
        if reading is not None:  # by its law alone
            covering = [name for name in self.items if name.partition("[")[0] == reading.test]
        else:
            covering = self._covering(mutant)
        names: list[str] = []
        spent = 0.0
        for name in covering:
            spent += self.order.price[name]
            if names and spent > self.budget:
                break
            names.append(name)
        return Attempt(number, mutant, names, len(covering), mmap.mmap(-1, NOTE.size), _folder())

    def _covering(self, mutant: Mutant) -> list[str]:
        """The tests that run a mutant, in their order; at a second look those that were left out come first."""
        traced = self.traces.of(mutant)
        if not self.again:
            return self.order.sorted(mutant, [name for name in traced if name in self.items])
        families = dict.fromkeys(family_of(name) for name in self.order.sorted(mutant, traced))
        files = dict.fromkeys(family.partition("::")[0] for family in families)
        # What was too slow to be traced stands beside what was not; files that name the object come first.
        beside = [
            family
            for family in self.instances
            if family.partition("::")[0] in files and family not in families
        ]
        names = [
            name for family in (*families, *beside) for name in self.instances[family] if name in self.items
        ]
        words = set(mutant.function.split("."))
        naming = {
            file
            for file in files
            if words & set(re.findall(r"\w+", (ROOT / file).read_text(encoding="utf-8")))
        }
        return sorted(
            names,
            key=lambda name: (
                name in self.traces.tests,
                name.partition("::")[0] not in naming,
                self.order.price[name],
            ),
        )

    def _control(self, attempt: Attempt, verdict: Verdict) -> Attempt:
        """The killer without the fault: a test that fails in a fork by itself has killed nothing."""
        note = mmap.mmap(-1, NOTE.size)
        return Attempt(attempt.number, attempt.mutant, [verdict.killer], 1, note, _folder(), verdict)

    def _fork(self, attempt: Attempt, running: dict[int, Attempt]) -> None:
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            try:
                self._run(attempt)
            finally:
                os._exit(3)
        running[child] = attempt

    def _run(self, attempt: Attempt) -> None:
        """In the fork; never returns."""
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
        tempfile.tempdir = os.environ["TMPDIR"] = os.environ["PYTEST_DEBUG_TEMPROOT"] = str(attempt.folder)
        try:
            if attempt.verdict is None:
                self.functions.plant(attempt.mutant)
        except NeedsNewProcess:
            self._leave(attempt, 0, FRESH)
        except CannotPlant:
            self._leave(attempt, 0, GONE)
        size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY * 2**30,) * 2)
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        for place, name in enumerate(attempt.names):
            NOTE.pack_into(attempt.note, 0, place, RUNNING)
            allowed = self.grace + TIMES * self.order.price[name]
            signal.setitimer(signal.ITIMER_PROF, allowed)
            signal.alarm(STUCK)
            item = self.items[name]
            following = attempt.names[place + 1] if place + 1 < len(attempt.names) else None
            item.config.hook.pytest_runtest_protocol(
                item=item, nextitem=None if following is None else self.items[following]
            )
            if self.failed:
                self._leave(attempt, place, FAILED)
        self._leave(attempt, len(attempt.names), PASSED)

    def _leave(self, attempt: Attempt, place: int, state: int) -> None:
        NOTE.pack_into(attempt.note, 0, place, state)
        os._exit(0)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """In the fork: whether anything failed."""
        self.failed = self.failed or report.failed

    def _verdict(self, attempt: Attempt, status: int, seconds: float) -> Verdict:
        place, state = NOTE.unpack_from(attempt.note, 0)
        attempt.note.close()
        shutil.rmtree(attempt.folder, ignore_errors=True)
        word: Word = "survived"
        if state == FAILED:
            word = "killed"
        elif state == RUNNING:
            # A fork that ended by itself, or by a fault of the machine's, was killed by the test that it ran.
            word = "out of time" if _in_time(status) else "killed"
        elif state in (FRESH, GONE):
            word = "fresh" if state == FRESH else "gone"
        killer = attempt.names[place] if word in ("killed", "out of time") else ""
        return Verdict(
            number=attempt.number,
            word=word,
            killer=killer,
            ran=min(place + 1, len(attempt.names)) if killer else place,
            covering=attempt.covering,
            seconds=round(seconds, 2),
            confirmed=self.again and word == "survived",
        )

    def _tell(self, attempt: Attempt, verdict: Verdict) -> None:
        verdicts.add(verdict, self.verdicts)
        if verdict.killer:
            self.order.learn(attempt.mutant, verdict.killer)
        mutant = attempt.mutant
        counts = f"{verdict.seconds:6.1f} s {verdict.ran:4}/{verdict.covering:<5}"
        change = f"{mutant.old[:50]!r} -> {mutant.new[:50]!r}"
        line = f"{attempt.number:5} {verdict.word:<11} {counts} {mutant.file} {mutant.function}  {change}"
        sys.stdout.write(f"{line}  {verdict.killer}\n")
        sys.stdout.flush()


def _folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="mutant-"))


def _in_time(status: int) -> bool:
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGPROF, signal.SIGALRM)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Which mutants, how long, and where the verdicts go."""
    parser.addoption("--traces", type=Path, default=TRACES)
    parser.addoption("--drawn", type=Path, default=DRAWN)
    parser.addoption("--verdicts", type=Path, default=VERDICTS)
    parser.addoption("--mutant-jobs", type=int, default=2)
    parser.addoption("--budget", type=float, default=8.0)
    parser.addoption("--minutes", type=float, default=1e6)
    parser.addoption("--last", type=int, default=10**9)
    parser.addoption("--again", action="store_true")


def pytest_configure(config: pytest.Config) -> None:
    """One runner for the session."""
    config.pluginmanager.register(Runner(config))
