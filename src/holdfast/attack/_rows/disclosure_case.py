"""DisclosureCase: released rows, members and a control group; an attack of disclosure treats both groups alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from holdfast._argument_kinds import type_text
from holdfast._arguments import Seed, checked
from holdfast.attack._attack import Case, Kind, Knowledge
from holdfast.attack._rows.released_rows import ReleasedRows
from holdfast.errors import ParameterError, require

Successes = tuple[tuple[int, int], tuple[int, int], tuple[int, int]]
"""Pairs (successes, attacks): on members, on the control group, and on members without using the rows."""


@checked
@dataclass(frozen=True, kw_only=True, eq=False)
class DisclosureCase(Case):
    """What an attack of disclosure is made with: released rows, and as many people of either group.

    Parameters
    ----------
    rows : ReleasedRows
        What was released.
    members : ReleasedRows
        People who were in the data.
    control : ReleasedRows
        People from the same source who were not.
    names : tuple of str
        The columns.
    attacks : int
        How many attacks to make on each group, at most.
    seed : int
        Of all coins.
    halves : tuple, optional
        The two sets of columns that are to be linked, by place; drawn at random where none are given.
    secrets : tuple of int, optional
        The columns that are to be inferred, by place; each in turn where none are given.

    Examples
    --------
    >>> from holdfast.attack import ATTACKS
    >>> people = ReleasedRows(numbers=np.arange(8.0).reshape(4, 2), cells=np.arange(8).reshape(4, 2))
    >>> case = DisclosureCase(
    ...     rows=people, members=people, control=people, names=("a", "b"), attacks=4, seed=0
    ... )
    >>> linkability = next(attack for attack in ATTACKS if attack.name == "linkability")
    >>> linkability(case)
    {'linkability': ((4, 4), (4, 4), (1, 4))}
    """

    rows: ReleasedRows
    members: ReleasedRows
    control: ReleasedRows
    names: tuple[str, ...]
    attacks: int
    seed: Seed
    halves: tuple[tuple[int, ...], tuple[int, ...]] | None = None
    secrets: tuple[int, ...] | None = None
    kind: ClassVar[Kind] = "disclosure"

    def lacks(self, knowledge: Knowledge) -> str | None:
        """Nothing: the rows are there, and no other knowledge is asked for."""
        return None

    def check_guesses(self, guesses: Any) -> dict[str, Successes]:
        """The guesses as results by name, three pairs of successes and attacks each."""
        if not isinstance(guesses, Mapping):
            raise ParameterError(f"guesses must be a mapping from names to counts, got {type_text(guesses)}")
        for name, counts in guesses.items():
            require(_counts(counts), "guesses", name, "three pairs (came true, made): successes of attacks")
        return dict(guesses)


def _counts(counts: Any) -> bool:
    """Whether these are three pairs of successes and attacks."""
    try:
        return len(counts) == 3 and all(0 <= right <= trials and trials >= 1 for right, trials in counts)
    except (TypeError, ValueError):
        return False


def some_people(people: ReleasedRows, most: int, random: np.random.Generator) -> ReleasedRows:
    """The people, or `most` of them drawn at random where there are more."""
    return people if people.count <= most else people.take(random.permutation(people.count)[:most])
