"""What a run found, counted: by room, by operator, and the classes of survivors."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tests.mutation import draw, readings, verdicts
from tests.mutation.mutant import Mutant
from tests.mutation.places import PAYING, ROOMS
from tests.mutation.readings import Reading
from tests.mutation.verdicts import Verdict


@dataclass(frozen=True)
class Report:
    """Mutants, verdicts and readings, all by number."""

    mutants: Mapping[int, Mutant]
    verdicts: Mapping[int, Verdict]
    readings: Mapping[int, Reading]

    @classmethod
    def load(cls) -> Report:
        """From the committed files."""
        return cls(draw.stored(), verdicts.stored(), readings.stored())

    @property
    def tried(self) -> list[int]:
        """Those with a verdict; one whose text is gone has none."""
        known = self.verdicts
        return sorted(n for n in self.mutants if n in known and known[n].word not in ("gone", "fresh"))

    def state(self, number: int) -> str:
        """One word: killed, law (survived until a test was written), equivalent, sound or unexplained."""
        reading = self.readings.get(number)
        if self.verdicts[number].is_killed:
            return "law" if reading is not None and reading.proof == "law" else "killed"
        return reading.proof if reading is not None and reading.proof != "law" else "unexplained"

    def counts(self, numbers: list[int]) -> Counter[str]:
        """How many there are of each state."""
        return Counter(self.state(number) for number in numbers)

    @property
    def unexplained(self) -> list[int]:
        """Survivors that nobody has explained yet."""
        return [number for number in self.tried if self.state(number) == "unexplained"]

    def page(self) -> Iterator[str]:
        """What the docs show: the paying lines, what became of all mutants, and of those of each room and operator."""
        lines: dict[str, int] = json.loads(PAYING.read_text(encoding="utf-8"))
        rooms = ", ".join(f"{lines[room]:,} in `{room}`" for room in ROOMS)
        yield f"Of {sum(lines.values()):,} paying lines ({rooms}), {len(self.mutants):,} mutants were drawn."
        yield self.summary()
        yield ""
        yield from self.lines()

    def lines(self) -> Iterator[str]:
        """The tables in Markdown."""
        yield from self._table(
            "room", {room: [n for n in self.tried if self.mutants[n].room == room] for room in ROOMS}
        )
        yield ""
        operators = Counter(self.mutants[n].operator for n in self.tried)
        rows = {
            name: [n for n in self.tried if self.mutants[n].operator == name]
            for name, _ in operators.most_common()
        }
        yield from self._table("operator", rows)

    def _table(self, head: str, rows: Mapping[str, list[int]]) -> Iterator[str]:
        yield f"| {head} | mutants | killed | killed by a new law | equivalent | sound | unexplained |"
        yield "|---|---:|---:|---:|---:|---:|---:|"
        for name, numbers in [*rows.items(), ("**all**", self.tried)]:
            counts = self.counts(numbers)
            cells = (counts[state] for state in ("killed", "law", "equivalent", "sound", "unexplained"))
            yield f"| {name} | {len(numbers)} | " + " | ".join(map(str, cells)) + " |"

    def classes(self) -> Iterator[str]:
        """Each class of survivors that were read, with what became of its members."""
        yield "| class of survivor | mutants | equivalent | sound | killed by a new law |"
        yield "|---|---:|---:|---:|---:|"
        kinds = Counter(self.readings[n].kind for n in self.tried if n in self.readings)
        for kind, count in sorted(kinds.items(), key=lambda each: (-each[1], each[0])):
            proofs = Counter(
                self.readings[n].proof
                for n in self.tried
                if n in self.readings and self.readings[n].kind == kind
            )
            cells = (proofs[proof] for proof in ("equivalent", "sound", "law"))
            yield f"| {kind} | {count} | " + " | ".join(map(str, cells)) + " |"

    def summary(self) -> str:
        """The run in a sentence, with the two standard errors of a share that was drawn."""
        total = len(self.tried)
        counts = self.counts(self.tried)
        share = len(self.unexplained) / total if total else 0.0
        error = 2 * math.sqrt(share * (1 - share) / total) if total else 0.0
        return (
            f"{total} of {len(self.mutants)} mutants were tried: the tests killed {counts['killed']}, "
            f"new laws {counts['law']} more, {counts['equivalent']} are proved equivalent, of {counts['sound']} it is "
            f"proved that no promise depends on them, and "
            f"{counts['unexplained']} ({share:.1%}, give or take {error:.1%}) are unexplained."
        )
