"""A first schema to edit: what the data look like, with every guess marked as taken from them.

A draft reads bounds and categories from the data, which is exactly what a schema must not do. So each guess
is marked, the reading is warned about, and whatever is computed with the draft carries the guesses as
assumptions until somebody replaces them. What a guess rests on is said beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from holdfast.arguments import checked
from holdfast.caution import warn
from holdfast.data.draft.guesses import Evidence, Guess, guessed_column
from holdfast.data.draft.stored import StoredTable
from holdfast.data.rows import Kind
from holdfast.data.schema import Categorical, Identifier, Schema
from holdfast.data.schema.schema import to_toml
from holdfast.errors import NotPrivateWarning, require
from holdfast.privacy.adjacency import PrivacyUnit

_SAID = "a draft: replace what was taken from the data, then remove the marks"
_STEPS = (2, 5, 10, 20, 50, 100, 200, 500, 1000)


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A schema, and for every column what its guesses rest on (under the name "", those about the whole table)."""

    schema: Schema
    reasons: Mapping[str, tuple[str, ...]]

    def to_toml(self) -> str:
        """The file to edit, with the reasons as comments."""
        return to_toml(self.schema, self.reasons)


@checked
def draft_schema(source: Any, *, target: str | None = None) -> Schema:
    """Guess a schema from a data frame, Arrow table, mapping, file or database.

    Not private: the result shows values of the data. Replace each guess by what is publicly known. `target` names the
    column that is to be predicted: whole numbers of few values are then classes.
    """
    warn(
        "a draft schema shows values taken from the data; replace each marked one before publishing it",
        NotPrivateWarning
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
    unit, whole = _unit(guesses)
    whole += tuple(_left_out(one) for one in seen if one.name not in guesses)
    if target is not None:
        whole += (_target(target, guesses[target]),)
    schema = Schema(
        [one.column for one in guesses.values()], description=_SAID, csv=stored.csv,
        unit=PrivacyUnit.row() if unit is None else unit,
    )  # fmt: skip
    reasons = {name: one.reasons for name, one in guesses.items()}
    return Draft(schema=schema, reasons=reasons | {"": whole})


def _unit(guesses: Mapping[str, Guess]) -> tuple[PrivacyUnit | None, tuple[str, ...]]:
    """Whoever has several rows is the unit: of identifiers that repeat, the one that repeats most."""
    repeated = {
        name: one.repeats
        for name, one in guesses.items()
        if isinstance(one.column, Identifier) and one.repeats
    }
    if not repeated:
        return None, ("unit: one row, because no identifier was found that repeats",)
    name = max(repeated, key=lambda one: repeated[one])
    most = next((step for step in _STEPS if step >= repeated[name]), _STEPS[-1])
    others = [f"{one!r} repeats, too" for one in repeated if one != name]
    return PrivacyUnit.user(name, max_rows=most), (
        "; ".join([f"unit: {name!r} has several rows; is it whoever is to be protected?", *others]),
        f"max_rows: nine of ten have at most {repeated[name]} rows (taken from the data: replace it)",
    )


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
