"""Which test first: the one that kills most for its price, judged by the mutants and planted faults nearby."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress

from tests.mutants.faults import FAULTS
from tests.mutants.planting import CannotPlant, find
from tests.mutation.mutant import Mutant
from tests.mutation.places import ROOT, SOURCES
from tests.mutation.tracing import Trace

#: What any test costs beside its own time.
OVERHEAD = 0.01


class Order:
    """What is known of every test: its price, how few files it runs, and what it killed."""

    def __init__(self, tests: Mapping[str, Trace]) -> None:
        self.price = {name: trace.seconds + OVERHEAD for name, trace in tests.items()}
        self.narrow = {name: 1.0 / (1 + len(trace.lines)) for name, trace in tests.items()}
        self.by_function: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        self.by_file: dict[str, Counter[str]] = defaultdict(Counter)
        self.everywhere: Counter[str] = Counter()
        self._planted: dict[str, list[tuple[str, str, str]]] = {}

    def planted_in(self, room: str) -> list[tuple[str, str, str]]:
        """File, function and a test of every fault that is planted in a room; looked up when the room is asked for."""
        if room not in self._planted:
            found = self._planted[room] = []
            for fault in FAULTS:
                if re.split("[:/]", fault.target)[0] == room:
                    with suppress(CannotPlant):
                        definition = find(fault.target, ROOT / SOURCES)
                        found += [(definition.file.as_posix(), definition.name, test) for test in fault.tests]
        return self._planted[room]

    def learn(self, mutant: Mutant, killer: str) -> None:
        """A test killed a mutant."""
        self.by_function[mutant.file, mutant.function][killer] += 1
        self.by_file[mutant.file][killer] += 1
        self.everywhere[killer] += 1

    def sorted(self, mutant: Mutant, tests: Iterable[str]) -> list[str]:
        """The most likely killers for their price first."""
        near = self.by_function[mutant.file, mutant.function]
        file = self.by_file[mutant.file]
        most = max(self.everywhere.values(), default=1)
        prefixes = [
            (test, 2.0 if name == mutant.function else 0.4)
            for home, name, test in self.planted_in(mutant.room)
            if home == mutant.file
        ]

        def worth(name: str) -> float:
            of_faults = max((value for test, value in prefixes if name.startswith(test)), default=0.0)
            likely = self.narrow[name] + 2 * min(near[name], 3) + 0.5 * min(file[name], 3) + of_faults
            return (likely + 0.2 * self.everywhere[name] / most) / self.price[name]

        return sorted(tests, key=worth, reverse=True)
