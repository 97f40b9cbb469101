"""Linkability: two halves of a person that lead to one released row (Giomi et al. 2023)."""

from __future__ import annotations

import numpy as np

from holdfast.attack._attack import Attack
from holdfast.attack._rows.disclosure_case import DisclosureCase, Successes, some_people
from holdfast.attack._rows.distances import nearest
from holdfast.attack._rows.released_rows import ReleasedRows


def link(case: DisclosureCase) -> dict[str, Successes]:
    """Whether one released row is the nearest to both of two sets of columns about a person."""
    random = np.random.default_rng(case.seed)
    order = random.permutation(case.rows.cells.shape[1]).tolist()
    halves = case.halves or (sorted(order[: len(order) // 2]), sorted(order[len(order) // 2 :]))
    if not halves[0]:
        return {}

    def count_links(people: ReleasedRows, rows: ReleasedRows) -> tuple[int, int]:
        first, second = (nearest(people, rows, half) for half in halves)
        return int(np.sum(first == second)), people.count

    members, control = (some_people(group, case.attacks, random) for group in (case.members, case.control))
    chance = members.count / case.rows.count
    return {
        "linkability": (
            count_links(members, case.rows),
            count_links(control, case.rows),
            (round(chance), members.count),
        )
    }


ATTACK = Attack(name="linkability", kind="disclosure", guess=link, paper="GBWT23", knows=("rows",))
