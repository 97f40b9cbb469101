"""A first schema to edit: what the data look like, with every guess marked as taken from them.

A draft reads bounds and categories from the data, which is exactly what a schema must not do. So each guess
is marked, the reading is warned about, and whatever is computed with the draft carries the guesses as
assumptions until somebody replaces them. What a guess rests on is said beside it.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from holdfast.data.draft.guesses import Evidence, Guess, guessed_column
from holdfast.data.draft.stored import StoredTable
from holdfast.data.draft.units import (
    BY_NAME,
    MOST_VALUES,
    UnitCandidate,
    UnitEvidence,
    as_identifiers,
    open_unit,
    ranked,
    unit_notes,
)
from holdfast.data.rows import Kind
from holdfast.data.schema import Categorical, Identifier, Schema
from holdfast.data.schema.kinds import Column
from holdfast.data.schema.schema import to_toml
from holdfast.errors import NotPrivateWarning, require
from holdfast.privacy.adjacency import PrivacyUnit

_SAID = "a draft: replace what was taken from the data, then remove the marks"


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A schema, and for every column what its guesses rest on (under the name "", those about the whole table).

    The unit of the schema is unconfirmed where a column may name a person; `candidates` say what each would mean.
    """

    schema: Schema
    reasons: Mapping[str, tuple[str, ...]]
    candidates: tuple[UnitCandidate, ...] = ()

    def to_toml(self) -> str:
        """The file to edit, with the reasons as comments."""
        return to_toml(self.schema, self.reasons, unit_notes=unit_notes(self.candidates))


def draft_schema(source: Any, *, target: str | None = None) -> Schema:
    """Guess a schema from a data frame, Arrow table, mapping, file or database.

    Not private: the result shows values of the data. Replace each guess by what is publicly known. Where a column may
    name a person the unit is left unconfirmed, and nothing is read or spent until `Schema.with_unit` says whose privacy
    is promised.
    `target` names the column that is to be predicted: whole numbers of few values are then classes.
    """
    warnings.warn(
        "a draft schema shows values taken from the data; replace each marked one before publishing it",
        NotPrivateWarning, stacklevel=2,
    )  # fmt: skip
    return draft_of(source, target=target).schema


def draft_of(source: Any, *, target: str | None = None) -> Draft:
    """The same with what every guess rests on."""
    stored = StoredTable.of(source)
    known = target is None or target in stored.columns
    require(known, "target", target, f"one of the columns {list(stored.columns)}")
    seen = [
        Evidence(
            name=name, values=values, dtype=stored.types.get(name), decimal=stored.csv.decimal, target=name == target,
            order=stored.orders.get(name, ()),
        )
        for name, values in stored.columns.items()
    ]  # fmt: skip
    read = [one for one in seen if one.counted or one.target] or seen
    guesses = {one.name: guessed_column(one) for one in read}
    guessed = [one.column for one in guesses.values()]
    named = [_candidate(one, guesses[one.name].column) for one in read if one.name != target]
    candidates = ranked(one for one in named if one is not None)
    columns = as_identifiers(guessed, candidates)
    whole = tuple(_left_out(one) for one in seen if one.name not in guesses)
    if target is not None:
        whole += (_target(target, guesses[target]),)
    schema = Schema(
        columns,
        description=_SAID,
        csv=stored.csv,
        unit=open_unit(candidates) if candidates else PrivacyUnit.row(),
        unit_taken_from_data=not candidates,
    )
    whole = (schema.no_features, *whole) if schema.identifiers else whole
    reasons = {
        one.column.name: one.reasons if one.column is column else (BY_NAME,)
        for one, column in zip(guesses.values(), columns, strict=True)
    }
    return Draft(schema=schema, reasons=reasons | {"": whole}, candidates=candidates)


def _candidate(evidence: Evidence, column: Column) -> UnitCandidate | None:
    """The column as one that may name a person."""
    owned = np.fromiter(evidence.counted.values(), dtype=np.int64, count=len(evidence.counted))
    values = list(islice(evidence.counted, MOST_VALUES))
    return UnitCandidate.of(UnitEvidence(column=column, owned=owned, values=values))


def _left_out(unread: Evidence) -> str:
    """Why a column is not declared."""
    stored = unread.dtype if unread.dtype is not None else getattr(unread.values, "type", "null")
    nested = isinstance(stored, str) or (unread.kind is Kind.unknown and str(stored) != "null")
    why = f"is stored as {stored}, which no kind of column reads" if nested else "holds no value"
    return f"left out: {unread.name!r} {why}"


def _target(name: str, found: Guess) -> str:
    if isinstance(found.column, Identifier):
        return f"target: {name!r} looks like an identifier, which nothing can be predicted of"
    kind = "classification" if isinstance(found.column, Categorical) else "regression"
    return f"target: {name!r} is a {kind}, because it is {'a category' if kind[0] == 'c' else 'a number'}"
