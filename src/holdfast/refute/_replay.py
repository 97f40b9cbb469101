"""Replay: a run on one table is recorded, then repeated on a neighbouring table with the same noisy outputs.

A run is private as declared, by the composition of its mechanisms' curves, if the following holds for all neighbours
and every prefix of outputs (soundness, section 22): both runs take the same steps with the same mechanisms, charges,
warnings and exceptions; the values that are released lie within the declared sensitivity; and the result is a function
of the outputs. One pair that breaks any of this refutes the run, whatever noise was drawn. A `ReplayCase` is what can
be run: a method with its problem and options, or anything else that takes a table and an account.
"""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from holdfast.learn._rows.summation import one_thread
from holdfast.privacy._account import Account
from holdfast.privacy._account.witness import Draw, Tape, TapeEnded, Witness, WitnessedRun, replay_tape
from holdfast.privacy._mechanisms.mechanism import Mechanism
from holdfast.refute._fingerprint import first_difference

TOLERANCE = 2.0**-40
"""How far above 1 a distance may lie, for rounding in sums of values that the mechanisms' own slack does not cover."""


MORE_OUTPUTS = "more outputs"
"""What stands in place of an exception's class when a replay asks for more outputs than were recorded."""


@dataclass(frozen=True, kw_only=True, eq=False)
class World:
    """A table, and a number for each of its records: records of the same number get the same coins in both runs."""

    rows: Any
    identifiers: NDArray[np.int64]


class NearbyTables(Protocol):
    """A source of neighbouring tables for one problem; `ReplayCase` has fields of the same names."""

    def pairs(self, random: np.random.Generator, /) -> Iterator[tuple[World, World]]:
        """Pairs of neighbours, those that should lie farthest apart first."""

    def vary(self, random: np.random.Generator, pair: tuple[World, World], /) -> tuple[World, World]:
        """A pair of neighbours near this one."""

    def plain(self, records: int, /) -> World:
        """An ordinary table of so many records."""

    def change_record(self, world: World, record: int, /) -> list[World]:
        """Copies of a table with one record changed."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ReplayCase:
    """Something that runs on a table through an account, and the neighbours on which it is tried."""

    name: str
    open_account: Callable[[], Account]
    run: Callable[[World, Account], Any]
    pairs: Callable[[np.random.Generator], Iterator[tuple[World, World]]]
    """Pairs of neighbours, built from the problem alone; those that should lie farthest apart first."""
    vary: Callable[[np.random.Generator, tuple[World, World]], tuple[World, World]]
    """A pair near this one: a step of the search for a larger distance."""
    plain: Callable[[int], World]
    """An ordinary table of so many records, for tests of noise and of sampling."""
    change_record: Callable[[World, int], list[World]]
    """Copies of a table with one record blanked or changed: whatever reads the record differs on one of them."""

    @classmethod
    def from_neighbours(
        cls,
        tables: NearbyTables,
        *,
        name: str,
        open_account: Callable[[], Account],
        run: Callable[[World, Account], Any],
    ) -> ReplayCase:
        """A case that is tried on these neighbouring tables."""
        return cls(
            name=name,
            open_account=open_account,
            run=run,
            pairs=tables.pairs,
            vary=tables.vary,
            plain=tables.plain,
            change_record=tables.change_record,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class RecordedRun:
    """What can be seen of one run."""

    transcript: WitnessedRun
    result: Any
    error: str
    raised: str
    """The class of the exception that ended it; empty where none did."""
    warned: tuple[str, ...]
    """The warnings, by class and text."""

    @property
    def outputs(self) -> list[Any]:
        """What was released, in order."""
        return [step.output for step in self.transcript.steps]


def record_run(case: ReplayCase, world: World, *, seed: int, tape: Tape | None = None) -> RecordedRun:
    """Run once with a witness; an exception becomes part of the record."""
    account, witness = case.open_account(), Witness(seed, tape=tape, identifiers=world.identifiers)
    account.watch(witness)
    result, error, kind = None, "", ""
    with warnings.catch_warnings(record=True) as caught, np.errstate(all="ignore"), one_thread():
        warnings.simplefilter("always")
        try:
            result = case.run(world, account)
        except TapeEnded as ended:
            error, kind = f"more outputs: {ended}", MORE_OUTPUTS
        except Exception as raised:  # an exception is a symbol of the transcript, whichever it is
            kind = type(raised).__name__
            error = f"{kind}: {raised}"
    warned = tuple(f"{warning.category.__name__}: {warning.message}" for warning in caught)
    return RecordedRun(transcript=witness.seen, result=result, error=error, raised=kind, warned=warned)


@dataclass(frozen=True, kw_only=True)
class RunComparison:
    """Two runs compared: what disagrees, and the largest distance of each kind of release."""

    disagreement: str
    distances: dict[str, float]
    raised: tuple[str, ...] = ()
    """The classes of the exceptions that ended the two runs, where these differ."""

    @property
    def largest(self) -> float:
        """The largest distance of all releases; infinite where the runs disagree."""
        return math.inf if self.disagreement else max(self.distances.values(), default=0.0)


def replay_on_neighbour(
    case: ReplayCase, first: World, second: World, *, seed: int = 0, tape: Tape | None = None
) -> RunComparison:
    """Record on one table, replay on its neighbour, and compare."""
    first_run = record_run(case, first, seed=seed, tape=tape)
    second_run = record_run(case, second, seed=seed, tape=replay_tape(first_run.outputs))
    with np.errstate(all="ignore"):
        return compare_runs(first_run, second_run)


def compare_runs(first_run: RecordedRun, second_run: RecordedRun) -> RunComparison:
    """The first thing in which the runs disagree, and the distances between released values."""
    disagreement = _disagreement(first_run, second_run)
    if disagreement:
        ended = (first_run.raised, second_run.raised) if first_run.error != second_run.error else ()
        return RunComparison(disagreement=disagreement, distances={}, raised=tuple(filter(None, ended)))
    pairs = zip(first_run.transcript.steps, second_run.transcript.steps, strict=True)
    step_distances = [
        first_step.mechanism.distance(first_step.value, second_step.value, at=first_step.output)
        for first_step, second_step in pairs
    ]
    distances: dict[str, float] = {}
    for step, distance in zip(first_run.transcript.steps, step_distances, strict=True):
        kind = kind_of_draw(step, first_run.transcript)
        distances[kind] = max(distances.get(kind, 0.0), distance)
        if not disagreement and not distance <= 1.0 + TOLERANCE:
            disagreement = f"{kind}: step {step.number + 1} lies {distance:.6g} sensitivities apart"
    return RunComparison(
        disagreement=disagreement or _overdraft(first_run.transcript, step_distances), distances=distances
    )


def _disagreement(first_run: RecordedRun, second_run: RecordedRun) -> str:
    """What differs apart from released values; empty if nothing does."""
    first_seen, second_seen = first_run.transcript, second_run.transcript
    for place, (first_step, second_step) in enumerate(zip(first_seen.steps, second_seen.steps, strict=False)):
        if not _same_mechanism(first_step.mechanism, second_step.mechanism):
            return f"step {place + 1} is another mechanism on the neighbour ({first_step.mechanism.name})"
        if _shape(first_step.value) != _shape(second_step.value):
            return f"step {place + 1} has another shape or kind of numbers on the neighbour"
    if first_run.error != second_run.error:
        return f"one side ends in {first_run.raised or 'a result'}, the other in {second_run.raised or 'a result'}"
    if first_seen.order != second_seen.order:
        first_counts = f"{len(first_seen.steps)} draws and {len(first_seen.charges)} charges"
        return f"{first_counts}, and {len(second_seen.steps)} and {len(second_seen.charges)}"
    if first_seen.charges != second_seen.charges:
        return "the charges differ"
    if first_run.warned != second_run.warned:
        return "the warnings differ"
    differing_part = first_difference(first_run.result, second_run.result)
    return f"{differing_part} differs although all outputs are the same" if differing_part else ""


def _overdraft(transcript: WitnessedRun, step_distances: list[float]) -> str:
    """What one unit moves beyond what was paid for; empty if nothing.

    A charge for `times` uses covers as many draws whose value the unit moves. Of parts that were paid for as disjoint,
    the unit may move only one.
    """
    paid: Counter[tuple[int, str]] = Counter()
    draws_moved: Counter[tuple[int, str]] = Counter()
    parts_moved: dict[int, set[int]] = {}
    for charge, payer in zip(transcript.charges, transcript.payers, strict=True):
        paid[id(payer.journal), repr(charge.mechanism)] += charge.times
    for step, distance in zip(transcript.steps, step_distances, strict=True):
        if distance > 0:
            draws_moved[id(step.account.journal), repr(step.mechanism.to_json())] += 1
            if step.account.within is not None:
                parts_moved.setdefault(id(step.account.within), set()).add(id(step.account))
    for key, count in draws_moved.items():
        if count > paid[key]:
            return f"one unit moves {count} draws, {paid[key]} were paid for"
    if any(len(parts) > 1 for parts in parts_moved.values()):
        return "one unit moves several parts that were paid for as disjoint"
    return ""


def kind_of_draw(step: Draw, transcript: WitnessedRun) -> str:
    """The label of the charge that pays for a draw, or the name of its mechanism."""
    stored = step.mechanism.to_json()
    for charge, payer in zip(transcript.charges, transcript.payers, strict=True):
        if payer.journal is step.account.journal and charge.mechanism == stored:
            return charge.label or step.mechanism.name
    return step.mechanism.name


def _same_mechanism(first: Mechanism, second: Mechanism) -> bool:
    return type(first) is type(second) and first.to_json() == second.to_json()


def _shape(value: Any) -> tuple[Any, ...]:
    if hasattr(value, "minimise"):
        return ("objective", value.dimension)
    return (np.shape(value), np.asarray(value).dtype.kind)
