"""Replay: a run on one table, and the same run on a neighbour that is told the same outputs.

Soundness, section 22: if for all neighbours and every prefix the steps, mechanisms, charges, warnings and exceptions
agree, the values are within the declared distance, and the result is a function of the outputs, then the run satisfies
the composition of the declared curves. So one pair that breaks any of it refutes the run, whatever noise was drawn. A
`Setup` is what can be run: a method with its problem and options, or anything else that takes a table and an account.
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
from holdfast.privacy._account.witness import Draw, Tape, TapeEnded, Witness, WitnessedRun, replaying
from holdfast.privacy._mechanisms.mechanism import Mechanism
from holdfast.refute._fingerprint import differing

TOLERANCE = 2.0**-40
"""How far above 1 a distance may lie: rounding in sums of values, which mechanisms' own slack does not cover."""


MORE_OUTPUTS = "more outputs"
"""In the place of an exception's class, where a run asks for more than was recorded."""


@dataclass(frozen=True, kw_only=True, eq=False)
class World:
    """A table as a case takes it, and who its records are: coins are coupled by these numbers."""

    rows: Any
    identifiers: NDArray[np.int64]


class NearbyTables(Protocol):
    """Tables around a problem, and what can be done to them; the fields of `Setup` of the same names."""

    def pairs(self, random: np.random.Generator, /) -> Iterator[tuple[World, World]]:
        """The likely worst first."""

    def vary(self, random: np.random.Generator, pair: tuple[World, World], /) -> tuple[World, World]:
        """Neighbours near these."""

    def plain(self, records: int, /) -> World:
        """Without anything special."""

    def touched(self, world: World, record: int, /) -> list[World]:
        """With one record changed."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Setup:
    """Something that runs on a table through an account, and the neighbours on which it is tried."""

    name: str
    open: Callable[[], Account]
    run: Callable[[World, Account], Any]
    pairs: Callable[[np.random.Generator], Iterator[tuple[World, World]]]
    """Neighbours, made of the problem alone; the likely worst first."""
    vary: Callable[[np.random.Generator, tuple[World, World]], tuple[World, World]]
    """Neighbours near these: a step of the climb."""
    plain: Callable[[int], World]
    """A table without anything special, of so many records: for tests of noise and of sampling."""
    touched: Callable[[World, int], list[World]]
    """The same with one record blanked, or changed otherwise: wherever it is looked at, one of them shows."""

    @classmethod
    def among(
        cls,
        near: NearbyTables,
        *,
        name: str,
        open: Callable[[], Account],
        run: Callable[[World, Account], Any],
    ) -> Setup:
        """Tried on all that these neighbours have to offer."""
        return cls(
            name=name,
            open=open,
            run=run,
            pairs=near.pairs,
            vary=near.vary,
            plain=near.plain,
            touched=near.touched,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Run:
    """What can be seen of one run."""

    transcript: WitnessedRun
    result: Any
    error: str
    raised: str
    """The class of the exception that ended it; empty where none did."""
    said: tuple[str, ...]

    @property
    def outputs(self) -> list[Any]:
        """What was released, in order."""
        return [step.output for step in self.transcript.steps]


def recorded(case: Setup, world: World, *, seed: int, tape: Tape | None = None) -> Run:
    """One run with a witness, whatever becomes of it."""
    account, witness = case.open(), Witness(seed, tape=tape, identifiers=world.identifiers)
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
    said = tuple(f"{one.category.__name__}: {one.message}" for one in caught)
    return Run(transcript=witness.seen, result=result, error=error, raised=kind, said=said)


@dataclass(frozen=True, kw_only=True)
class Compared:
    """Two runs beside each other: what disagrees, and the largest distance of each kind of release."""

    disagreement: str
    distances: dict[str, float]
    raised: tuple[str, ...] = ()
    """The classes of the exceptions that ended the two runs, where they ended otherwise than each other."""

    @property
    def largest(self) -> float:
        """Of all releases; infinite where the runs disagree."""
        return math.inf if self.disagreement else max(self.distances.values(), default=0.0)


def replayed_on(
    case: Setup, first: World, second: World, *, seed: int = 0, tape: Tape | None = None
) -> Compared:
    """Record on one table, replay on its neighbour, and compare."""
    one = recorded(case, first, seed=seed, tape=tape)
    two = recorded(case, second, seed=seed, tape=replaying(one.outputs))
    with np.errstate(all="ignore"):
        return compared(one, two)


def compared(one: Run, two: Run) -> Compared:
    """Everything that must agree, the first that does not; and distances."""
    told = _told_apart(one, two)
    if told:
        ended = (one.raised, two.raised) if one.error != two.error else ()
        return Compared(disagreement=told, distances={}, raised=tuple(filter(None, ended)))
    pairs = zip(one.transcript.steps, two.transcript.steps, strict=True)
    apart = [mine.mechanism.distance(mine.value, other.value, at=mine.output) for mine, other in pairs]
    distances: dict[str, float] = {}
    for step, distance in zip(one.transcript.steps, apart, strict=True):
        kind = kind_of_draw(step, one.transcript)
        distances[kind] = max(distances.get(kind, 0.0), distance)
        if not told and not distance <= 1.0 + TOLERANCE:
            told = f"{kind}: step {step.number + 1} lies {distance:.6g} sensitivities apart"
    return Compared(disagreement=told or _overdrawn(one.transcript, apart), distances=distances)


def _told_apart(one: Run, two: Run) -> str:
    """What differs beside values; empty if nothing does."""
    a, b = one.transcript, two.transcript
    for place, (mine, other) in enumerate(zip(a.steps, b.steps, strict=False)):
        if not _same_mechanism(mine.mechanism, other.mechanism):
            return f"step {place + 1} is another mechanism on the neighbour ({mine.mechanism.name})"
        if _shape(mine.value) != _shape(other.value):
            return f"step {place + 1} has another shape or kind of numbers on the neighbour"
    if one.error != two.error:
        return f"one side ends in {one.raised or 'a result'}, the other in {two.raised or 'a result'}"
    if a.order != b.order:
        return f"{len(a.steps)} draws and {len(a.charges)} charges, and {len(b.steps)} and {len(b.charges)}"
    if a.charges != b.charges:
        return "the charges differ"
    if one.said != two.said:
        return "the warnings differ"
    apart = differing(one.result, two.result)
    return f"{apart} differs although all outputs are the same" if apart else ""


def _overdrawn(transcript: WitnessedRun, apart: list[float]) -> str:
    """Whether a unit is in more draws than were paid for: of a permit with parts, or of accounts for parts.

    A charge for `times` uses covers so many draws that a unit moves; of disjoint parts a unit may be in one.
    """
    paid: Counter[tuple[int, str]] = Counter()
    moved: Counter[tuple[int, str]] = Counter()
    touched: dict[int, set[int]] = {}
    for charge, payer in zip(transcript.charges, transcript.payers, strict=True):
        paid[id(payer.journal), repr(charge.mechanism)] += charge.times
    for step, distance in zip(transcript.steps, apart, strict=True):
        if distance > 0:
            moved[id(step.account.journal), repr(step.mechanism.to_json())] += 1
            if step.account.within is not None:
                touched.setdefault(id(step.account.within), set()).add(id(step.account))
    for key, count in moved.items():
        if count > paid[key]:
            return f"one unit moves {count} draws, {paid[key]} were paid for"
    if any(len(parts) > 1 for parts in touched.values()):
        return "one unit moves several parts that were paid for as disjoint"
    return ""


def kind_of_draw(step: Draw, transcript: WitnessedRun) -> str:
    """What a release is for, as its charge says."""
    stored = step.mechanism.to_json()
    for charge, payer in zip(transcript.charges, transcript.payers, strict=True):
        if payer.journal is step.account.journal and charge.mechanism == stored:
            return charge.label or step.mechanism.name
    return step.mechanism.name


def _same_mechanism(one: Mechanism, two: Mechanism) -> bool:
    return type(one) is type(two) and one.to_json() == two.to_json()


def _shape(value: Any) -> tuple[Any, ...]:
    if hasattr(value, "minimise"):
        return ("objective", value.dimension)
    return (np.shape(value), np.asarray(value).dtype.kind)
