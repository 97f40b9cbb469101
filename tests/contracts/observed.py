"""What can be observed of a run, apart from the charged values: whether one record shows in any of it.

A run is observed once on a table, and its outputs are recorded. On a neighbour it gets the same outputs, so that all
that follows from them is the same; then whatever differs was decided by the record, and nothing paid for it. Compared
are the order of charges and draws, each mechanism, the type, dtype and shape of each release as its own mechanism draws
it, warnings, logs, what was printed, the exception that ended the run, the result with the types, names and order of
its parts, and names, sizes and contents of all files.
"""

from __future__ import annotations

import io
import logging
import re
import sqlite3
import traceback
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from holdfast.learn._rows.summation import one_thread
from holdfast.noise._source import Source
from holdfast.privacy._account import account as account_file
from holdfast.privacy._account.account import Account
from holdfast.refute._fingerprint import fingerprint

TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\dZ?|\d+(\.\d+)? ?(ms|s)\b|[0-9a-f]{12,64}")
"""Times of day, durations and hashes of files that hold a time, in what a command prints."""


@dataclass(kw_only=True)
class Observation:
    """One run: facts by name, and the outputs that it released."""

    facts: dict[str, Any] = field(default_factory=dict)
    outputs: list[Any] = field(default_factory=list)
    draws: list[tuple[Any, Any]] = field(default_factory=list)
    """The mechanism and the private value of each."""

    def reach(self, other: Observation) -> float:
        """How far the draws of two runs that agree lie apart at most, in sensitivities."""
        return max(
            (
                mechanism.distance(value, moved, at=output)
                for (mechanism, value), (_, moved), output in zip(
                    self.draws, other.draws, self.outputs, strict=True
                )
            ),
            default=0.0,
        )

    def differences(self, other: Observation) -> list[str]:
        """The names of the facts that differ, with both of them where they are short."""
        names = [*self.facts, *(name for name in other.facts if name not in self.facts)]
        pairs = [(name, self.facts.get(name, "nothing"), other.facts.get(name, "nothing")) for name in names]
        return [f"{name}: {_unlike(str(a), str(b))}" for name, a, b in pairs if a != b]


def _unlike(first: str, second: str) -> str:
    """Where two texts differ, with a little of what stands there."""
    same = next((i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), 0)
    start = max(0, same - 60)
    return f"{first[start : same + 140]!r} | {second[start : same + 140]!r}"


class OutputsEnded(Exception):
    """A run asked for more outputs than were recorded."""


@contextmanager
def _watched(seen: Observation, tape: Sequence[Any] | None) -> Iterator[None]:
    """Record every charge and draw of every account; with a tape, its outputs are released in place of others."""
    steps: list[tuple[str, ...]] = []
    seen.facts["charges and draws"] = steps
    pay = Account._pay

    def paid(account: Account, charge: Any, source: Source) -> Any:
        steps.append(("charge", repr(charge)))
        return pay(account, charge, source)

    def drawn(account: Account, mechanism: Any, value: Any, source: Source) -> Any:
        number = len(seen.outputs)
        own = mechanism.sample(value, Source(seed=1000 + number))
        steps.append(("draw", repr(mechanism.to_json()), *kind_of(own)))
        if tape is not None and number >= len(tape):
            raise OutputsEnded(f"output {number + 1} was asked for, {len(tape)} were recorded")
        seen.draws.append((mechanism, value))
        seen.outputs.append(own if tape is None else tape[number])
        return seen.outputs[-1]

    with mock.patch.object(Account, "_pay", paid), mock.patch.object(account_file, "_draw", drawn):
        yield


def kind_of(thing: Any) -> tuple[str, str, str]:
    """The type, dtype and shape of a release."""
    array = np.asarray(thing)
    return type(thing).__name__, array.dtype.str, str(array.shape)


def observe(
    run: Callable[[], Mapping[str, Any]], *, folder: Path | None = None, tape: Sequence[Any] | None = None
) -> Observation:
    """Run once; an exception is part of what is seen."""
    seen, logged, printed = Observation(), io.StringIO(), io.StringIO()
    handler, root = logging.StreamHandler(logged), logging.getLogger()
    result: Mapping[str, Any] = {}
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        with ExitStack() as stack:
            caught = stack.enter_context(warnings.catch_warnings(record=True))
            for context in (redirect_stdout(printed), redirect_stderr(printed), one_thread()):
                stack.enter_context(context)
            stack.enter_context(_watched(seen, tape))
            warnings.simplefilter("always")
            ended = "in a result"
            try:
                result = run()
            except (Exception, SystemExit) as error:
                ended = f"{type(error).__name__}: {error}"
                seen.facts["where it ended"] = [
                    frame.name for frame in traceback.extract_tb(error.__traceback__)
                ]
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
    seen.facts |= {
        "ended": ended,
        "warnings": [f"{warning.category.__name__}: {warning.message}" for warning in caught],
        "logs": logged.getvalue(),
        "printed": TIME.sub("...", printed.getvalue()),
    }
    seen.facts |= {f"result {name}": described(thing) for name, thing in result.items()}
    seen.facts |= {"order of the result": list(result)}
    if folder is not None:
        for path in sorted(each for each in folder.rglob("*") if each.is_file()):
            seen.facts[f"file {path.relative_to(folder)}"] = _file(path)
    return seen


def described(thing: Any) -> Any:
    """Types, names, order and values of a part of a result."""
    if isinstance(thing, pd.DataFrame):
        types = [(str(name), str(dtype)) for name, dtype in thing.dtypes.items()]
        return types, thing.to_dict("list").__repr__()
    if isinstance(thing, pl.DataFrame):
        return [(name, str(dtype)) for name, dtype in thing.schema.items()], repr(
            thing.to_dict(as_series=False)
        )
    if isinstance(thing, pa.Table):
        return str(thing.schema), repr(thing.to_pydict())
    if isinstance(thing, Mapping):
        return [(str(name), described(part)) for name, part in thing.items()]
    if isinstance(thing, np.ndarray):
        return thing.dtype.str, thing.shape, repr(thing.tolist())
    if isinstance(thing, str | int | float | bool | bytes | list | tuple) or thing is None:
        return f"{type(thing).__name__} {thing!r}"
    return f"{type(thing).__name__} {fingerprint(thing)}"


def _file(path: Path) -> Any:
    """A file: its size and contents, or its members in their order; of a ledger, how many rows each table has."""
    if path.suffix == ".db":
        with sqlite3.connect(path) as database:
            names = [
                name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            ]
            return {name: database.execute(f'SELECT count(*) FROM "{name}"').fetchone() for name in names}
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            members = [
                (member.filename, member.file_size, archive.read(member)) for member in archive.infolist()
            ]
            return [
                (name, size, TIME.sub("...", content.decode("latin-1"))) for name, size, content in members
            ]
    return path.stat().st_size, TIME.sub("...", path.read_bytes().decode("latin-1"))


def what_one_record_shows(
    table: Callable[[Path], Mapping[str, Any]],
    neighbours: Mapping[str, Callable[[Path], Mapping[str, Any]]],
    folder: Path,
    *,
    reach: float = np.inf,
) -> dict[str, list[str]]:
    """For each neighbour of a table, what differs, and whether a value moved by more than so many sensitivities.

    Each run has a folder of its own, which it is given.
    """
    places = iter(range(10_000))

    def place() -> Path:
        path = folder / f"run{next(places):04d}"
        path.mkdir()
        return path

    own = place()
    first = observe(lambda: table(own), folder=own)
    found = {}
    for name, neighbour in neighbours.items():
        other = place()
        second = observe(lambda: neighbour(other), folder=other, tape=first.outputs)  # noqa: B023 - called at once
        differing = first.differences(second)
        if not differing and (moved := first.reach(second)) > reach * (1 + 2.0**-40):
            differing = [f"a value moves by {moved:g} sensitivities"]
        if differing:
            found[name] = differing
    return found
