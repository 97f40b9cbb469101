"""Verdicts: what became of each mutant, one line of a committed file each, so that a run goes on where it ended."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from tests.mutation.places import VERDICTS

#: "fresh": it changes what is read at the start, and waits for a process of its own. "gone": its text is.
Word = Literal["killed", "out of time", "survived", "fresh", "gone"]


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What became of the mutant with this number.

    `killer` is the test that failed, or that did not end in its time; `ran` of `covering` tests were run, for
    `seconds` of processor time.
    """

    number: int
    word: Word
    killer: str = ""
    ran: int = 0
    covering: int = 0
    seconds: float = 0.0
    confirmed: bool = False
    """Of a survivor: at a second look, against the instances that were not traced, or in a fresh process."""

    @property
    def is_killed(self) -> bool:
        """A test that never ends is noticed as well as one that fails."""
        return self.word in ("killed", "out of time")


def stored(file: Path = VERDICTS) -> dict[int, Verdict]:
    """By number; of several for one mutant the last."""
    if not file.is_file():
        return {}
    verdicts = [Verdict(**json.loads(line)) for line in file.read_text(encoding="utf-8").splitlines()]
    return {verdict.number: verdict for verdict in verdicts}


def add(verdict: Verdict, file: Path = VERDICTS) -> None:
    """At the end of the file, at once."""
    with file.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(asdict(verdict), ensure_ascii=False) + "\n")


def store(verdicts: Iterable[Verdict], file: Path = VERDICTS) -> None:
    """In the order of their numbers, one for each."""
    lines = [
        json.dumps(asdict(each), ensure_ascii=False)
        for each in sorted(verdicts, key=lambda each: each.number)
    ]
    file.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
