"""Mutants in a process that imports everything anew: constants, defaults, and survivors, to confirm them.

A fault is planted in a copy of the tree, as the planted faults of `tests/mutants` are. A survivor is tried against
every instance of the tests that run its statement, not only against those that were traced.
"""

from __future__ import annotations

import ast
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.mutants.copies import Copy
from tests.mutants.planting import Planted
from tests.mutation import verdicts
from tests.mutation.mutant import CannotPlant, Mutant, place_of, plant
from tests.mutation.order import Order
from tests.mutation.paying import Traces
from tests.mutation.places import ROOT, SOURCES
from tests.mutation.verdicts import Verdict, Word

#: The most test functions of one run, and the most processor seconds of their traced instances.
TESTS, BUDGET = 25, 3.0


def planted(mutant: Mutant) -> Planted:
    """The file before and after; what is after has no comments."""
    file = place_of(mutant)
    before = (ROOT / SOURCES / file).read_text(encoding="utf-8")
    return Planted(Path(file), before, ast.unparse(plant(mutant, before)) + "\n")


def tests_of(mutant: Mutant, traces: Traces, order: Order) -> tuple[str, ...]:
    """The tests that run it, the most likely killers first, each with all its instances."""
    chosen: dict[str, None] = {}
    spent = 0.0
    for name in order.sorted(mutant, traces.of(mutant)):
        family = name.partition("[")[0] if "test_refutation" not in name else name
        if family not in chosen:
            spent += order.price[name]
            if chosen and (len(chosen) >= TESTS or spent > BUDGET):
                break
            chosen[family] = None
    return tuple(chosen)


def run(numbers: Sequence[int], mutants: dict[int, Mutant], traces: Traces, *, minutes: float) -> None:
    """One after the other; each verdict is stored at once."""
    order = Order(traces.tests)
    for number, verdict in verdicts.stored().items():
        if verdict.is_killed:
            order.learn(mutants[number], verdict.killer)
    until = time.monotonic() + minutes * 60
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy.made(Path(folder))
        for number in numbers:
            if time.monotonic() > until:
                break
            mutant = mutants[number]
            tests = tests_of(mutant, traces, order)
            word: Word = "survived"
            killer, seconds = "", 0.0
            try:
                fault = planted(mutant)
            except CannotPlant:
                word = "gone"
            else:
                if tests:
                    outcome = copy.tried(fault, ("-p", "tests.mutation.limits", *tests))
                    seconds = outcome.seconds
                    # Tests that cannot even be collected, or a process that ended, notice a fault, too.
                    if outcome.code < 0:
                        word, killer = "out of time", tests[0]
                    elif outcome.code not in (0, 5):
                        word, killer = "killed", outcome.killer or "the import"
            verdict = Verdict(
                number=number,
                word=word,
                killer=killer,
                ran=len(tests),
                covering=len(tests),
                seconds=round(seconds, 2),
                confirmed=word == "survived",
            )
            verdicts.add(verdict)
            change = f"{mutant.file} {mutant.function}  {mutant.old[:50]!r} -> {mutant.new[:50]!r}"
            sys.stdout.write(f"{number:5} {word:<9} {seconds:6.1f} s {len(tests):3}  {change}  {killer}\n")
            sys.stdout.flush()
