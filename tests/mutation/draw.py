"""Drawing mutants: each by a coin of its own, so that any number of the first ones is a fair sample.

A paying line is drawn, all alike, then one of the operators that fit it, then one of that operator's mutants. So rooms
have mutants in proportion to their paying lines. A mutant that the compiler does not tell apart from the code, one that
was drawn before and a line without any are drawn again.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

from tests.mutation.mutant import Mutant, changes_nothing
from tests.mutation.paying import Traces, by_line
from tests.mutation.places import DRAWN

#: Chosen before any mutant was run.
SEED = 20261120


def drawn(traces: Traces, numbers: range, before: frozenset[Mutant] = frozenset()) -> Iterator[Mutant]:
    """The mutants with these numbers, none of which is one of those before."""
    lines = by_line(traces.candidates)
    keys = sorted(lines)
    seen = set(before)
    for number in numbers:
        coins = random.Random(f"{SEED}:{number}")
        while True:
            here = lines[coins.choice(keys)]
            operator = coins.choice(sorted({each.mutant.operator for each in here}))
            mutant = coins.choice([each.mutant for each in here if each.mutant.operator == operator])
            if mutant not in seen and not _is_the_same(mutant, traces.text(mutant.file)):
                seen.add(mutant)
                yield mutant
                break


def _is_the_same(mutant: Mutant, text: str) -> bool:
    try:
        return changes_nothing(mutant, text)
    except SyntaxError:
        return True


def stored(file: Path = DRAWN) -> dict[int, Mutant]:
    """The mutants that were drawn, by number."""
    if not file.is_file():
        return {}
    records = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return {record.pop("number"): Mutant(**record) for record in records}


def store(mutants: dict[int, Mutant], file: Path = DRAWN) -> None:
    """One line for each."""
    lines = [
        json.dumps({"number": number} | mutant.to_json(), ensure_ascii=False)
        for number, mutant in sorted(mutants.items())
    ]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
