"""Singling out: a description, read off released rows, that fits exactly one person (Giomi et al. 2023)."""

from __future__ import annotations

import numpy as np

from holdfast.attack._attack import Attack
from holdfast.attack._rows.disclosure_case import DisclosureCase, Successes
from holdfast.attack._rows.released_rows import ReleasedRows

PREDICATE_COLUMNS = 3
"""The most columns of a predicate that is to single somebody out."""
DRAWS_PER_PREDICATE = 40
"""How many predicates are drawn at most for each that is wanted."""


def single_out(case: DisclosureCase) -> dict[str, Successes]:
    """How often a description of up to three columns that fits one released row also fits exactly one person.

    A number is described by "at least" above the median and by "at most" below it, a category by itself. How often
    luck succeeds depends on the number of people, so both groups are cut to the same size.
    """
    random = np.random.default_rng(case.seed)
    size = min(case.members.count, case.control.count)
    groups = [group.take(random.permutation(group.count)[:size]) for group in (case.members, case.control)]
    descriptions = predicates(case.rows, case.rows, case.attacks, random, unique=True)
    blind = predicates(case.rows, _shuffled_rows(case.rows, random), case.attacks, random, unique=False)
    if not descriptions:  # no short description fits one row only: nobody is singled out
        return {"singling out": ((0, case.attacks), (0, case.attacks), (0, case.attacks))}
    members, control = (
        (sum(isolates(p, group) for p in descriptions), len(descriptions)) for group in groups
    )
    return {"singling out": (members, control, (sum(isolates(p, groups[0]) for p in blind), len(blind)))}


Predicate = tuple[tuple[int, float, int], ...]
"""(place, value, sign): the number at this place is at least (1) or at most (-1) the value."""


def predicates(
    rows: ReleasedRows, described: ReleasedRows, count: int, random: np.random.Generator, *, unique: bool
) -> list[Predicate]:
    """Descriptions of random rows of `described`; with `unique` only those that fit exactly one of `rows`."""
    columns = rows.cells.shape[1]
    middle = np.median(rows.numbers, axis=0)
    descriptions: dict[Predicate, None] = {}
    for _ in range(DRAWS_PER_PREDICATE * count):
        if len(descriptions) >= count:
            break
        row = described.numbers[random.integers(described.count)]
        chosen = random.choice(
            columns, size=min(columns, 1 + int(random.integers(PREDICATE_COLUMNS))), replace=False
        )
        conditions: list[tuple[int, float, int]] = []
        for column in sorted(chosen.tolist()):
            span = rows.places(column)
            place = span.start + int(np.argmax(row[span]))  # the category that it is; or the only number
            high = span.stop - span.start > 1 or row[place] >= middle[place]
            conditions.append((place, float(row[place]), 1 if high else -1))
        predicate = tuple(conditions)
        if predicate not in descriptions and (not unique or isolates(predicate, rows)):
            descriptions[predicate] = None
    return list(descriptions)


def isolates(predicate: Predicate, people: ReleasedRows) -> bool:
    """Whether a predicate fits exactly one of these people.

    >>> people = ReleasedRows(numbers=np.array([[1.0], [2.0], [3.0]]), cells=np.array([[0], [1], [2]]))
    >>> isolates(((0, 3.0, 1),), people), isolates(((0, 2.0, 1),), people)
    (True, False)
    """
    fits = np.ones(people.count, dtype=bool)
    for place, value, sign in predicate:
        fits &= sign * people.numbers[:, place] >= sign * value
    return int(fits.sum()) == 1


def _shuffled_rows(rows: ReleasedRows, random: np.random.Generator) -> ReleasedRows:
    """The rows with each column permuted by itself, so that only the marginals are left."""
    numbers = np.column_stack(
        [rows.numbers[random.permutation(rows.count), rows.places(c)] for c in range(rows.cells.shape[1])]
    )
    return ReleasedRows(numbers=numbers, cells=rows.cells, widths=rows.widths)


ATTACK = Attack(name="singling_out", kind="disclosure", guess=single_out, paper="GBWT23", knows=("rows",))
