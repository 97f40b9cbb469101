"""synthetic_disclosure(): singling out, linkability and inference from released rows, with a control group.

The three dangers that European regulators name (the Article 29 Working Party, opinion 05/2014), attacked as Giomi
et al. 2023 do. Each attack is made on members and, in exactly the same way, on a control group of people from the
same source who were not in the data.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from holdfast._arguments import Seed, checked
from holdfast.attack._attack import Attack, playable
from holdfast.attack._catalogue import find_attacks, notes_about
from holdfast.attack._report import AttackReport
from holdfast.attack._rows.disclosure_case import DisclosureCase, Successes
from holdfast.attack._rows.disclosure_result import DisclosureResult
from holdfast.attack._rows.released_rows import opened_rows, reader
from holdfast.data._schema import Schema
from holdfast.errors import require

ATTACKS_OF_EACH_KIND = 1_000
"""Attacks of each kind on each group."""


@checked
def synthetic_disclosure(
    rows: Any,
    *,
    members: Any,
    control: Any,
    attacks: str | Sequence[str | Attack] = "all",
    number: int = ATTACKS_OF_EACH_KIND,
    halves: Sequence[Sequence[str]] | None = None,
    secrets: Sequence[str] | None = None,
    schema: Schema | None = None,
    confidence: float = 0.95,
    random_state: Seed = 0,
) -> AttackReport[DisclosureResult]:
    """Whether released rows single people out, link records about them, or tell their secrets, beyond the population.

    Parameters
    ----------
    rows : object
        What was released, as for `synthetic_membership`.
    members : table
        People who were in the data.
    control : table
        People from the same source who were not.
    attacks : str or sequence
        "all", names, or attacks of your own, of kind "disclosure".
    number : int
        How many attacks of each kind are made on each group.
    halves : pair of sequences, optional
        Two sets of columns that somebody holds apart and wants to link, by default two random halves of all. Columns of
        an array are called "0", "1" and so on.
    secrets : sequence of str, optional
        The columns to infer, by default each in turn.
    schema : Schema, optional
        How columns are read; a release brings its own, and arrays of numbers go without.
    confidence : float
        Of the limits of all results together.
    random_state : int
        The same one gives the same report.

    Returns
    -------
    AttackReport
        Of kind "disclosure", with a `DisclosureResult` for each statement: inference gives one for each column.

    Examples
    --------
    >>> import numpy as np
    >>> draw = np.random.default_rng(0)
    >>> people = draw.normal(size=(600, 6))
    >>> report = synthetic_disclosure(people[:300], members=people[:300], control=people[300:], number=200)
    >>> report["linkability"].limits[0] > 0.5        # the rows are the members
    True
    """
    if schema is not None:
        schema.require_confirmed()
    require(number >= 1, "number", number, ">= 1")
    table, declared, _ = opened_rows(rows, schema)
    read = reader(declared, table)
    released = read(table)
    names = (
        tuple(declared.names)
        if declared is not None
        else tuple(str(j) for j in range(released.cells.shape[1]))
    )
    case = DisclosureCase(
        rows=released,
        members=read(members),
        control=read(control),
        names=names,
        attacks=number,
        seed=random_state,
        halves=_halves(halves, names),
        secrets=None if secrets is None else _places(secrets, names, "secrets"),
    )
    playing, skipped = playable(find_attacks(attacks, "disclosure"), lambda attack: case)
    counted: list[tuple[str, Successes, float]] = []
    for attack in playing:
        start = time.perf_counter()
        successes = attack(case)
        spent = (time.perf_counter() - start) / max(len(successes), 1)
        counted += [(name, counts, spent) for name, counts in successes.items()]
    require(len(counted) >= 1, "rows", released.cells.shape, "of two columns or more")
    share = 1.0 - (1.0 - confidence) / len(counted)
    return AttackReport(
        kind="disclosure",
        results=tuple(
            DisclosureResult(
                attack=name, members=members, control=control, blind=blind, confidence=share, seconds=seconds
            )
            for name, (members, control, blind), seconds in counted
        ),
        skipped=skipped,
        notes=notes_about(playing),
    )


def _halves(halves: Sequence[Sequence[str]] | None, names: Sequence[str]) -> Any:
    if halves is None:
        return None
    require(
        len(halves) == 2 and not any(isinstance(half, str) for half in halves),
        "halves",
        halves,
        "two lists of columns",
    )
    first, second = (_places(half, names, "halves") for half in halves)
    shared = sorted({names[place] for place in first} & {names[place] for place in second})
    require(not shared, "halves", shared, "without a column in both: it would link everybody")
    return first, second


def _places(columns: Sequence[str], names: Sequence[str], parameter: str) -> tuple[int, ...]:
    listed = [columns] if isinstance(columns, str) else list(columns)
    strange = [name for name in listed if name not in names]
    require(
        bool(listed) and not strange, parameter, strange or listed, f"columns of the rows: {', '.join(names)}"
    )
    return tuple(sorted({names.index(name) for name in listed}))
