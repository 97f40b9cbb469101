"""Inference: a secret read off the released row that is nearest in all other columns (Giomi et al. 2023)."""

from __future__ import annotations

import numpy as np

from holdfast.attack._attack import Attack
from holdfast.attack._rows.disclosure_case import DisclosureCase, Successes, some_people
from holdfast.attack._rows.distances import nearest
from holdfast.attack._rows.released_rows import ReleasedRows


def infer(case: DisclosureCase) -> dict[str, Successes]:
    """For each column in turn: the cell of the released row that is nearest in all others."""
    random = np.random.default_rng(case.seed)
    members, control = (some_people(group, case.attacks, random) for group in (case.members, case.control))
    successes: dict[str, Successes] = {}
    columns = range(case.rows.cells.shape[1])
    for secret in (case.secrets or columns) if len(columns) > 1 else ():
        other_columns = [column for column in columns if column != secret]

        def successes_among(
            people: ReleasedRows, secret: int = secret, other_columns: list[int] = other_columns
        ) -> tuple[int, int]:
            guessed = case.rows.cells[nearest(people, case.rows, other_columns), secret]
            return int(np.sum(guessed == people.cells[:, secret])), people.count

        guess = int(np.bincount(case.rows.cells[:, secret]).argmax())
        blind = int(np.sum(members.cells[:, secret] == guess)), members.count
        successes[f"inference of {case.names[secret]}"] = (
            successes_among(members),
            successes_among(control),
            blind,
        )
    return successes


ATTACK = Attack(name="inference", kind="disclosure", guess=infer, paper="GBWT23", knows=("rows",))
