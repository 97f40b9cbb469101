"""Candidates for the privacy unit: columns that may name a person, and what protecting each would mean.

A draft cannot know whom a table is about, so it lists candidates, by their names first, and decides nothing. A column
is no candidate only because its texts repeat: the code of a product repeats as a person does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdfast.data._draft.unit_names import Likeness, likeness, may_count_people, names_measurement
from holdfast.data._schema import Identifier
from holdfast.data._schema.columns import Numeric
from holdfast.data._schema.kinds import Column
from holdfast.data._schema.unit import ROW, UnconfirmedUnit

_ROUND_ROWS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)
FEW_VALUES, FEW_NUMBERS = 20, 200
"""A column of no more values than this names no person, unless it is an identifier: a `household` of 3 or a `meter` of
12 is a measure."""
_GIVEN_OUT = re.compile(r"[A-Za-z]{0,4}[-_ ]?[0-9]{6,}|\S*[0-9@]\S*")
TRUTH_VALUES = 2
"""A column of no more values, such as an `email` that is yes or no, tells nobody apart."""
MOST_VALUES = 200
"""How many values are looked at to see whether they are words."""
BY_NAME = "an identifier, by its name, and so no feature: whoever names a person is not predicted from"


@dataclass(frozen=True, kw_only=True)
class UnitEvidence:
    """One column as far as units are concerned."""

    column: Column
    owned: NDArray[np.int64]
    """How many rows each of its values has."""
    values: Sequence[str]
    """Some of its values."""


@dataclass(frozen=True, kw_only=True)
class UnitCandidate:
    """A column that may name a person, and what protecting whoever it names would mean; exact numbers of the data."""

    name: str
    likeness: Likeness
    values: int
    most: int
    """The most rows that one value has."""
    usual: int
    """Nine of ten values have at most this many rows."""
    is_identifier: bool = True
    """Whether the draft declares it as one; a category or a number is declared anew by whoever confirms it."""

    @classmethod
    def of(cls, evidence: UnitEvidence) -> UnitCandidate | None:
        """The column as a candidate; None where it is none."""
        like = _likeness(evidence)
        if like is None:
            return None
        return cls(
            name=evidence.column.name,
            likeness=like,
            values=len(evidence.owned),
            most=int(evidence.owned.max()),
            usual=int(np.quantile(evidence.owned, 0.9, method="higher")),
            is_identifier=isinstance(evidence.column, Identifier)
            or (like is Likeness.person_identifier and not _may_be_count(evidence)),
        )

    @property
    def max_rows(self) -> int:
        """A round number of rows at or above the usual one."""
        return next((step for step in _ROUND_ROWS if step >= self.usual), _ROUND_ROWS[-1])

    @property
    def meaning(self) -> str:
        """What it would mean, in plain words.

        >>> common = {"likeness": Likeness.person_identifier, "values": 2113}
        >>> UnitCandidate(name="patient_id", most=4113, usual=11, **common).meaning
        'one patient_id, of 2,113: 4,113 rows at most, nine of ten have at most 11'
        """
        whose = f"one {self.name}, of {self.values:,}"
        if self.most == 1:
            return f"{whose}: each has one row, so it is the same as a row"
        return f"{whose}: {self.most:,} rows at most, nine of ten have at most {self.usual:,}"

    def lines(self) -> list[str]:
        """Comments for the file: the meaning, and the line that would confirm it."""
        name = json.dumps(self.name, ensure_ascii=False)
        also = '  # and declare that column by name and kind = "identifier" alone'
        return [
            self.meaning,
            f"  unit = {{ column = {name}, max_rows = {self.max_rows}, taken_from_data = true }}"
            + ("" if self.is_identifier else also),
        ]


def rank_candidates(candidates: Iterable[UnitCandidate]) -> tuple[UnitCandidate, ...]:
    """The likeliest by name first, then those that repeat."""
    return tuple(sorted(candidates, key=lambda candidate: (-candidate.likeness, candidate.most == 1)))


def _likeness(evidence: UnitEvidence) -> Likeness | None:
    """How much the column looks like an identifier of persons; None where it is no candidate."""
    said, values = likeness(evidence.column.name), len(evidence.owned)
    if values <= TRUTH_VALUES or not _may_identify(evidence.column):
        return None
    identifier = isinstance(evidence.column, Identifier)
    few = FEW_NUMBERS if isinstance(evidence.column, Numeric) else FEW_VALUES
    if said is Likeness.person_identifier or (said > Likeness.none and identifier):
        return said
    if said is Likeness.person and values > few:
        return said
    repeats = identifier and int(evidence.owned.max()) > 1
    given_out = repeats and not names_measurement(evidence.column.name) and _look_assigned(evidence.values)
    return Likeness.none if given_out else None


def _may_be_count(evidence: UnitEvidence) -> bool:
    """Whether a few small numbers may say how many people there are: then the column stays a feature.

    It is a candidate all the same. A panel of a hundred people looks alike, and a person decides.
    """
    few = isinstance(evidence.column, Numeric) and len(evidence.owned) <= FEW_NUMBERS
    return few and may_count_people(evidence.column.name)


def _may_identify(column: Column) -> bool:
    """Whole numbers and texts may; measured numbers and dates do not."""
    if isinstance(column, Numeric):
        return type(column) is Numeric and column.integer
    return True


def _look_assigned(values: Sequence[str]) -> bool:
    """Whether values look like identifiers that somebody assigned, and not like words."""
    looked = [value.strip() for value in values[:MOST_VALUES]]
    return bool(looked) and all(_GIVEN_OUT.fullmatch(value) for value in looked)


def as_identifiers(columns: Sequence[Column], candidates: Sequence[UnitCandidate]) -> list[Column]:
    """The columns, with an `Identifier` in place of each whose name says that it identifies a person."""
    named = {candidate.name for candidate in candidates if candidate.is_identifier}
    return [
        Identifier(column.name) if column.name in named and not isinstance(column, Identifier) else column
        for column in columns
    ]


def open_unit(candidates: Sequence[UnitCandidate]) -> UnconfirmedUnit:
    """The unit of a draft, which a person must confirm: the names of the candidates."""
    return UnconfirmedUnit([candidate.name for candidate in candidates])


def unit_notes(candidates: Sequence[UnitCandidate]) -> tuple[str, ...]:
    """The comments before the unit of a draft."""
    if not candidates:
        return (
            "Whose privacy is promised? No column seems to name a person, so each row is taken to be about another",
            "one, and every promise carries that as an assumption. If it is known, put this in the place of [unit]:",
            f'  unit = "{ROW}"',
            "If a person may have several rows, declare the column that names them as an identifier, and put there",
            "  unit = { column = ..., max_rows = ... }",
        )
    lines = [line for candidate in candidates for line in candidate.lines()]
    return (
        "Whose privacy is promised? A draft does not decide that: nothing is read or spent before it is said.",
        "Put one of these lines in the place of the table [unit] below:",
        "",
        "each row is about another person",
        f'  unit = "{ROW}"',
        *lines,
        "",
        "max_rows is public: how many rows of one person may count. The numbers above are taken from the data: put one",
        "that you know in their place and remove taken_from_data, or every promise carries that as an assumption.",
    )
