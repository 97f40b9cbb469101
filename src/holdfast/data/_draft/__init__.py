"""Drafts of schemas: guesses from the data, for somebody to edit.

A draft reads bounds and categories from the data, which is exactly what a schema must not do. So each guess
is marked and gives its reasons, a warning is raised, and whatever is computed with the draft carries the
guesses as assumptions until somebody replaces them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from holdfast._arguments import checked
from holdfast._caution import warn
from holdfast._progress import progress
from holdfast.data._draft.evidence import Evidence
from holdfast.data._draft.guess import Guess, LeftOut
from holdfast.data._draft.guesses import guess_column
from holdfast.data._draft.stored import StoredTable, header_is_row
from holdfast.data._draft.units import (
    BY_NAME,
    MOST_VALUES,
    UnitCandidate,
    UnitEvidence,
    as_identifiers,
    open_unit,
    rank_candidates,
    unit_notes,
)
from holdfast.data._schema import Categorical, Identifier, Schema
from holdfast.data._schema.kinds import Column
from holdfast.data._schema.schema import to_toml
from holdfast.data._storage_kinds import Kind
from holdfast.errors import NotPrivateWarning, require
from holdfast.privacy._adjacency import PrivacyUnit

_DESCRIPTION = "a draft: replace what was taken from the data, then remove the marks"


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A schema, and the reasons for the guesses of every column (under the name "" those about the whole table).

    The unit of the schema is unconfirmed where a column may name a person; `candidates` say what each would
    mean.
    """

    schema: Schema
    reasons: Mapping[str, tuple[str, ...]]
    left_out: Mapping[str, str] = field(default_factory=dict)
    """The columns that are not declared, and why."""
    candidates: tuple[UnitCandidate, ...] = ()
    """The columns that may name whoever is to be protected."""

    @property
    def no_features(self) -> tuple[str, ...]:
        """The columns that are no features, one line each: identifiers, and columns that are left out."""
        identifiers = [f"identifier, no feature: {name!r}" for name in self.schema.identifiers]
        return (*identifiers, *(f"left out: {name!r} {why}" for name, why in self.left_out.items()))

    def to_toml(self) -> str:
        """The file to edit, with the reasons as comments."""
        return to_toml(self.schema, self.reasons, unit_notes=unit_notes(self.candidates))


@checked
def draft_schema(source: Any, *, target: str | None = None, encoding: str | None = None) -> Schema:
    """Guess a schema from a data frame, Arrow table, mapping, file or database.

    Not private: the result shows values of the data. Replace each guess by what is publicly known. Where a
    column may name a person the unit is left unconfirmed, and nothing is read or spent until `Schema.with_unit`
    says whose privacy is promised.

    Parameters
    ----------
    source : data frame, pyarrow.Table, mapping, path or URL
        The data, as `open_table` takes them.
    target : str, optional
        The column that is to be predicted: whole numbers of few values are then classes.
    encoding : str, optional
        The encoding of CSV files, which is guessed otherwise.

    Returns
    -------
    Schema
        The guesses, each marked as taken from the data.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     draft = draft_schema({"sex": ["F", "M", "M"], "age": [31, 45, 62]})
    >>> draft.names
    ('sex', 'age')
    """
    warn(
        "a draft schema shows values taken from the data; replace each marked one before publishing it",
        NotPrivateWarning,
    )
    return draft_of(source, target=target, encoding=encoding).schema


def draft_of(source: Any, *, target: str | None = None, encoding: str | None = None) -> Draft:
    """The draft of a source, with the reasons for every guess."""
    stored = StoredTable.of(source, encoding=encoding)
    known = target is None or target in stored.columns
    require(known, "target", target, f"one of the columns {list(stored.columns)}")
    guesses: dict[str, Guess] = {}
    left_out: dict[str, str] = {}
    unit_candidates: list[UnitCandidate] = []
    names_among_values = 0
    for name in progress(list(stored.columns), desc="drafting", unit="column"):
        if name == "":
            left_out[name] = "a column without a name cannot be declared; give it one"
            continue
        # One column at a time: of a large table only one is in memory.
        seen = Evidence(
            name=name,
            values=stored.columns[name],
            dtype=stored.types.get(name),
            decimal=stored.csv.decimal,
            target=name == target,
            order=stored.orders.get(name, ()),
        )
        names_among_values += stored.texts and header_is_row(name, seen)
        if not seen.present and not seen.target and stored.rows:
            left_out[name] = _unread(seen)
            continue
        guess = guess_column(seen)
        if isinstance(guess, LeftOut):
            left_out[name] = guess.why
            continue
        guesses[name] = guess
        if name != target and (candidate := _candidate(seen, guess.column)) is not None:
            unit_candidates.append(candidate)
    stored.require_names(names_among_values)
    candidates = rank_candidates(unit_candidates)
    guessed = [guess.column for guess in guesses.values()]
    columns = as_identifiers(guessed, candidates)
    whole = tuple(f"left out: {name!r} {why}" for name, why in left_out.items()) + stored.remarks
    if target is not None:
        whole += (_target(target, guesses[target]),)
    schema = Schema(
        columns,
        description=_DESCRIPTION,
        csv=stored.csv,
        unit=open_unit(candidates) if candidates else PrivacyUnit.row(),
        unit_taken_from_data=not candidates,
    )
    whole = (schema.no_features, *whole) if schema.identifiers else whole
    reasons = {
        guess.column.name: guess.reasons if guess.column is column else (BY_NAME,)
        for guess, column in zip(guesses.values(), columns, strict=True)
    }
    return Draft(schema=schema, reasons=reasons | {"": whole}, left_out=left_out, candidates=candidates)


def _candidate(seen: Evidence, column: Column) -> UnitCandidate | None:
    """The column as a candidate for the privacy unit; None where it cannot name a person."""
    if not seen.present:
        return None
    values = [str(word) for word in seen.texts_at(slice(MOST_VALUES)).to_pylist()]
    return UnitCandidate.of(UnitEvidence(column=column, owned=seen.times, values=values))


def _unread(unread: Evidence) -> str:
    """Why a column without a value that can be read is not declared."""
    stored = unread.dtype if unread.dtype is not None else getattr(unread.values, "type", "null")
    nested = isinstance(stored, str) or (unread.kind is Kind.unknown and str(stored) != "null")
    return f"is stored as {stored}, which no kind of column reads" if nested else "holds no value"


def _target(name: str, guess: Guess) -> str:
    if isinstance(guess.column, Identifier):
        return f"target: {name!r} looks like an identifier, which nothing can be predicted of"
    kind = "classification" if isinstance(guess.column, Categorical) else "regression"
    return f"target: {name!r} is a {kind}, because it is {'a category' if kind[0] == 'c' else 'a number'}"
