"""synthetic_disclosure(): singling out, linkability and inference from released rows, with a control group.

The three dangers that European regulators name (the Article 29 Working Party, opinion 05/2014), attacked as Giomi
et al. 2023 do. Each attack is made on members and, in exactly the same way, on a control group of people from the
same source who were not in the data.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast._arguments import Seed, checked
from holdfast._extensions import Registry
from holdfast.attack._result import find_attacks, words_about
from holdfast.attack._rows.disclosure_result import DisclosureReport, DisclosureResult
from holdfast.attack._rows.distance_based import squared_distances
from holdfast.attack._rows.released_rows import ReleasedRows, opened, reader
from holdfast.data._schema import Schema
from holdfast.errors import require

ATTACKS = 1_000
"""Attacks of each kind on each group."""
CONDITIONS = 3
"""Columns of a predicate that is to single somebody out."""
MOST_TRIES = 40
"""Predicates that are tried for each one wanted."""


@dataclass(frozen=True, kw_only=True, eq=False)
class DisclosureCase:
    """What an attack is made with: released rows, and as many people of either group."""

    rows: ReleasedRows
    members: ReleasedRows
    control: ReleasedRows
    names: tuple[str, ...]
    attacks: int
    seed: Seed
    halves: tuple[tuple[int, ...], tuple[int, ...]] | None = None
    """The two sets of columns that are to be linked, by place; drawn at random where none are given."""
    secrets: tuple[int, ...] | None = None
    """The columns that are to be inferred, by place; each in turn where none are given."""


Successes = tuple[tuple[int, int], tuple[int, int], tuple[int, int]]
"""Of members, control and blindly: attacks that came true, and all of them."""


@checked
@dataclass(frozen=True, kw_only=True)
class DisclosureAttack:
    """An entry of DISCLOSURES: one kind of attack, which may give several results (one for each secret)."""

    name: str
    make: Callable[[DisclosureCase], dict[str, Successes]]
    paper: str


# Singling out: a description that fits exactly one person.
def single_out(case: DisclosureCase) -> dict[str, Successes]:
    """Descriptions of up to three columns that fit one released row, held against the people.

    A number is described by "at most" or "at least", whichever side of the middle it lies, a category by itself. A
    lucky guess depends on the size of the table, so both groups are cut to one size.
    """
    random = np.random.default_rng(case.seed)
    size = min(case.members.count, case.control.count)
    groups = [group.take(random.permutation(group.count)[:size]) for group in (case.members, case.control)]
    told = predicates(case.rows, case.rows, case.attacks, random, alone=True)
    blind = predicates(case.rows, _shuffled(case.rows, random), case.attacks, random, alone=False)
    if not told:  # no short description fits one row only: nobody is singled out
        return {"singling out": ((0, case.attacks), (0, case.attacks), (0, case.attacks))}
    members, control = ((sum(isolates(p, group) for p in told), len(told)) for group in groups)
    return {"singling out": (members, control, (sum(isolates(p, groups[0]) for p in blind), len(blind)))}


Predicate = tuple[tuple[int, float, int], ...]
"""(place, value, sign): the number at this place is at least (1) or at most (-1) the value."""


def predicates(
    rows: ReleasedRows, drawn: ReleasedRows, count: int, random: np.random.Generator, *, alone: bool
) -> list[Predicate]:
    """Descriptions of rows of `drawn`; with `alone` those that fit exactly one of `rows`."""
    columns = rows.cells.shape[1]
    middle = np.median(rows.numbers, axis=0)
    found: dict[Predicate, None] = {}
    for _ in range(MOST_TRIES * count):
        if len(found) >= count:
            break
        line = drawn.numbers[random.integers(drawn.count)]
        chosen = random.choice(
            columns, size=min(columns, 1 + int(random.integers(CONDITIONS))), replace=False
        )
        made: list[tuple[int, float, int]] = []
        for column in sorted(chosen.tolist()):
            span = rows.places(column)
            place = span.start + int(np.argmax(line[span]))  # the category that it is; or the only number
            high = span.stop - span.start > 1 or line[place] >= middle[place]
            made.append((place, float(line[place]), 1 if high else -1))
        predicate = tuple(made)
        if predicate not in found and (not alone or isolates(predicate, rows)):
            found[predicate] = None
    return list(found)


def isolates(predicate: Predicate, people: ReleasedRows) -> bool:
    """Whether it fits exactly one of them.

    >>> people = ReleasedRows(numbers=np.array([[1.0], [2.0], [3.0]]), cells=np.array([[0], [1], [2]]))
    >>> isolates(((0, 3.0, 1),), people), isolates(((0, 2.0, 1),), people)
    (True, False)
    """
    fits = np.ones(people.count, dtype=bool)
    for place, value, sign in predicate:
        fits &= sign * people.numbers[:, place] >= sign * value
    return int(fits.sum()) == 1


def _shuffled(rows: ReleasedRows, random: np.random.Generator) -> ReleasedRows:
    """Columns drawn on their own: what is known from marginals alone."""
    numbers = np.column_stack(
        [rows.numbers[random.permutation(rows.count), rows.places(c)] for c in range(rows.cells.shape[1])]
    )
    return ReleasedRows(numbers=numbers, cells=rows.cells, widths=rows.widths)


# Linking: two halves of a person that lead to one released row.
def link(case: DisclosureCase) -> dict[str, Successes]:
    """Someone holds two sets of columns about people: it asks whether one released row is nearest to both."""
    random = np.random.default_rng(case.seed)
    order = random.permutation(case.rows.cells.shape[1]).tolist()
    halves = case.halves or (sorted(order[: len(order) // 2]), sorted(order[len(order) // 2 :]))
    if not halves[0]:
        return {}

    def linked(people: ReleasedRows, rows: ReleasedRows) -> tuple[int, int]:
        first, second = (nearest(people, rows, half) for half in halves)
        return int(np.sum(first == second)), people.count

    members, control = (_some(group, case.attacks, random) for group in (case.members, case.control))
    chance = members.count / case.rows.count
    return {
        "linkability": (
            linked(members, case.rows),
            linked(control, case.rows),
            (round(chance), members.count),
        )
    }


def nearest(people: ReleasedRows, rows: ReleasedRows, columns: Sequence[int]) -> NDArray[np.intp]:
    """The nearest released row in these columns, each column counting alike; of equally near ones the first."""
    places = np.concatenate([np.arange(p.start, p.stop) for p in map(rows.places, columns)])
    # Two categories are sqrt(2) apart as indicators: weighed so that they are 1 apart, like the ends of a range.
    weight = np.concatenate(
        [
            np.full(p.stop - p.start, 1.0 if p.stop - p.start == 1 else np.sqrt(0.5))
            for p in map(rows.places, columns)
        ]
    )
    found = np.empty(people.count, dtype=np.intp)
    for where, block in squared_distances(
        people.numbers[:, places] * weight, rows.numbers[:, places] * weight
    ):
        found[where] = np.argmin(block, axis=1)
    return found


# Inference: a secret read off the nearest row.
def infer(case: DisclosureCase) -> dict[str, Successes]:
    """For each column in turn: the cell of the released row that is nearest in all others."""
    random = np.random.default_rng(case.seed)
    members, control = (_some(group, case.attacks, random) for group in (case.members, case.control))
    found: dict[str, Successes] = {}
    columns = range(case.rows.cells.shape[1])
    for secret in (case.secrets or columns) if len(columns) > 1 else ():
        others = [column for column in columns if column != secret]

        def told(people: ReleasedRows, secret: int = secret, others: list[int] = others) -> tuple[int, int]:
            guessed = case.rows.cells[nearest(people, case.rows, others), secret]
            return int(np.sum(guessed == people.cells[:, secret])), people.count

        guess = int(np.bincount(case.rows.cells[:, secret]).argmax())
        blind = int(np.sum(members.cells[:, secret] == guess)), members.count
        found[f"inference of {case.names[secret]}"] = (told(members), told(control), blind)
    return found


def _some(people: ReleasedRows, most: int, random: np.random.Generator) -> ReleasedRows:
    return people if people.count <= most else people.take(random.permutation(people.count)[:most])


SINGLING_OUT = DisclosureAttack(name="singling_out", make=single_out, paper="GBWT23")
LINKABILITY = DisclosureAttack(name="linkability", make=link, paper="GBWT23")
INFERENCE = DisclosureAttack(name="inference", make=infer, paper="GBWT23")
DISCLOSURES: tuple[DisclosureAttack, ...] = (SINGLING_OUT, LINKABILITY, INFERENCE)
DISCLOSURE_REGISTRY = Registry(
    group="holdfast.disclosures",
    noun="attack",
    own=DISCLOSURES,
    kind=DisclosureAttack,
    calls=("make",),
    states=("paper",),
    promise="sees no answers",
)


@checked
def synthetic_disclosure(
    rows: Any,
    *,
    members: Any,
    control: Any,
    attacks: str | Sequence[str | DisclosureAttack] = "all",
    number: int = ATTACKS,
    halves: Sequence[Sequence[str]] | None = None,
    secrets: Sequence[str] | None = None,
    schema: Schema | None = None,
    confidence: float = 0.95,
    random_state: Seed = 0,
) -> DisclosureReport:
    """Whether released rows single people out, link records about them, or tell their secrets, beyond the population.

    `rows` are what was released, as for `synthetic_membership`. `members` were in the data, `control` are people from
    the same source who were not. `number` attacks of each kind are made on each group. Limits hold for all results
    together. For the owner only.

    `halves` are two sets of columns that somebody holds apart and wants to link, by default two random halves of all;
    `secrets` are the columns to infer, by default each in turn. Columns of an array are called "0", "1" and so on.

    >>> draw = np.random.default_rng(0)
    >>> people = draw.normal(size=(600, 6))
    >>> report = synthetic_disclosure(people[:300], members=people[:300], control=people[300:], number=200)
    >>> report["linkability"].limits[0] > 0.5        # the rows are the members
    True
    """
    if schema is not None:
        schema.confirmed()
    require(number >= 1, "number", number, ">= 1")
    table, declared, _ = opened(rows, schema)
    read = reader(declared, table)
    seen = read(table)
    names = (
        tuple(declared.names) if declared is not None else tuple(str(j) for j in range(seen.cells.shape[1]))
    )
    case = DisclosureCase(
        rows=seen,
        members=read(members),
        control=read(control),
        names=names,
        attacks=number,
        seed=random_state,
        halves=_halves(halves, names),
        secrets=None if secrets is None else _places(secrets, names, "secrets"),
    )
    chosen = find_attacks(attacks, DISCLOSURE_REGISTRY)
    made: list[tuple[str, Successes, float]] = []
    for attack in chosen:
        start = time.perf_counter()
        found = attack.make(case)
        spent = (time.perf_counter() - start) / max(len(found), 1)
        made += [(name, counts, spent) for name, counts in found.items()]
    require(len(made) >= 1, "rows", seen.cells.shape, "of two columns or more")
    share = 1.0 - (1.0 - confidence) / len(made)
    return DisclosureReport(
        results=tuple(
            DisclosureResult(
                attack=name, members=members, control=control, blind=blind, confidence=share, seconds=seconds
            )
            for name, (members, control, blind), seconds in made
        ),
        notes=words_about(chosen, DISCLOSURE_REGISTRY),
    )


def _halves(halves: Sequence[Sequence[str]] | None, names: Sequence[str]) -> Any:
    if halves is None:
        return None
    require(
        len(halves) == 2 and not any(isinstance(one, str) for one in halves),
        "halves",
        halves,
        "two lists of columns",
    )
    first, second = (_places(one, names, "halves") for one in halves)
    both = sorted({names[place] for place in first} & {names[place] for place in second})
    require(not both, "halves", both, "without a column in both: it would link everybody")
    return first, second


def _places(columns: Sequence[str], names: Sequence[str], parameter: str) -> tuple[int, ...]:
    asked = [columns] if isinstance(columns, str) else list(columns)
    strange = [name for name in asked if name not in names]
    require(
        bool(asked) and not strange, parameter, strange or asked, f"columns of the rows: {', '.join(names)}"
    )
    return tuple(sorted({names.index(name) for name in asked}))
