"""Conditions on declared columns: which rows a statistic is about.

A condition is computed from the clipped numbers and cells of one row, so no value can make it raise, and it speaks of
that row alone. It has the three values of SQL: about a number that is missing a comparison is unknown, and only rows
of which a condition is true take part.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from holdfast._arguments import checked
from holdfast.data._batch import Batch
from holdfast.data._schema import Categorical, Numeric, Schema
from holdfast.data._sql.sums import CodedRow
from holdfast.errors import require

Flags = NDArray[np.bool_]
Operator = Literal["<", "<=", ">", ">=", "=", "<>"]
OPERATORS: tuple[Operator, ...] = ("<", "<=", ">", ">=", "=", "<>")


@dataclass(frozen=True)
class Truth:
    """Of each row whether a condition is true, and whether it is unknown."""

    true: Flags
    unknown: Flags

    def __invert__(self) -> Truth:
        return Truth(~self.true & ~self.unknown, self.unknown)

    def __and__(self, other: Truth) -> Truth:
        true = self.true & other.true
        false = ~(self.true | self.unknown) | ~(other.true | other.unknown)
        return Truth(true, ~true & ~false)

    def __or__(self, other: Truth) -> Truth:
        return ~(~self & ~other)


class Condition(ABC):
    """Which rows: `&`, `|` and `~` put conditions together."""

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """The columns that it reads."""

    @abstractmethod
    def check(self, schema: Schema) -> None:
        """Refuse what the schema does not declare, before any row is read."""

    @abstractmethod
    def truth(self, batch: Batch) -> Truth:
        """Of each row of the batch."""

    @abstractmethod
    def sql(self, row: CodedRow, schema: Schema) -> str:
        """The same in SQL, NULL where it is unknown."""

    @abstractmethod
    def describe(self) -> str:
        """In the words of SQL."""

    def __and__(self, other: Condition) -> Condition:
        return AllOf((self, other))

    def __or__(self, other: Condition) -> Condition:
        return ~AllOf((~self, ~other))

    def __invert__(self) -> Condition:
        return Negation(self)


@checked
@dataclass(frozen=True)
class Compare(Condition):
    """A clipped number against a constant; unknown where the number is missing and the schema declares none for it."""

    column: str
    operator: Operator
    number: float

    def __post_init__(self) -> None:
        require(self.operator in OPERATORS, "operator", self.operator, f"one of {OPERATORS}")

    @property
    def columns(self) -> tuple[str, ...]:
        """The one that is compared."""
        return (self.column,)

    def check(self, schema: Schema) -> None:
        """Only numbers have an order."""
        numeric = isinstance(schema[self.column], Numeric)
        require(numeric, "column", self.column, "a number of the schema", "use isin for categories")

    def truth(self, batch: Batch) -> Truth:
        """By doubles."""
        values = batch.column(self.column)
        compare = {
            "<": np.less,
            "<=": np.less_equal,
            ">": np.greater,
            ">=": np.greater_equal,
            "=": np.equal,
            "<>": np.not_equal,
        }[self.operator]
        missing = batch.without_value(self.column)
        unknown = np.zeros(len(batch), dtype=np.bool_) if missing is None else missing
        return Truth(compare(values, self.number) & ~unknown, unknown)

    def sql(self, row: CodedRow, schema: Schema) -> str:
        """By the same doubles."""
        test = f"({row.value(self.column)} {self.operator} {row.dialect.number(self.number + 0.0)})"
        missing = row.without_value(self.column)
        return test if missing is None else f"(CASE WHEN {missing} THEN NULL ELSE {test} END)"

    def describe(self) -> str:
        """column operator number."""
        return f"{self.column} {self.operator} {self.number:g}"


@checked
@dataclass(frozen=True)
class Among(Condition):
    """A category among some labels of its column; never unknown, since every value has a cell."""

    column: str
    labels: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", tuple(self.labels))
        require(len(self.labels) > 0, "labels", self.labels, "at least one label")

    @property
    def columns(self) -> tuple[str, ...]:
        """The one that is looked at."""
        return (self.column,)

    def check(self, schema: Schema) -> None:
        """Every label is declared."""
        column = schema[self.column]
        known = column.labels if isinstance(column, Categorical) else ()
        require(bool(known), "column", self.column, "a category of the schema", "compare numbers by < and >")
        for label in self.labels:
            require(label in known, "labels", label, f"among those of {self.column}: {list(known)}")

    def _codes(self, schema: Schema) -> list[int]:
        return [schema[self.column].labels.index(label) for label in self.labels]

    def truth(self, batch: Batch) -> Truth:
        """By cells."""
        true = np.isin(batch.codes(self.column), self._codes(batch.schema))
        return Truth(true, np.zeros(len(batch), dtype=np.bool_))

    def sql(self, row: CodedRow, schema: Schema) -> str:
        """By cells."""
        return f"({row.cell(self.column)} IN ({', '.join(map(str, self._codes(schema)))}))"

    def describe(self) -> str:
        """column in (labels)."""
        return f"{self.column} in ({', '.join(map(repr, self.labels))})"


@checked
@dataclass(frozen=True)
class AllOf(Condition):
    """True where all of these are."""

    parts: tuple[Condition, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """Those of all parts, each once."""
        return tuple(dict.fromkeys(name for part in self.parts for name in part.columns))

    def check(self, schema: Schema) -> None:
        """Each part."""
        for part in self.parts:
            part.check(schema)

    def truth(self, batch: Batch) -> Truth:
        """Kleene's and."""
        truth, *others = (part.truth(batch) for part in self.parts)
        for other in others:
            truth = truth & other
        return truth

    def sql(self, row: CodedRow, schema: Schema) -> str:
        """SQL's and."""
        return f"({' AND '.join(part.sql(row, schema) for part in self.parts)})"

    def describe(self) -> str:
        """In brackets."""
        return f"({' and '.join(part.describe() for part in self.parts)})"


@checked
@dataclass(frozen=True)
class Negation(Condition):
    """True where the other is false; unknown where it is unknown."""

    of: Condition

    @property
    def columns(self) -> tuple[str, ...]:
        """The same."""
        return self.of.columns

    def check(self, schema: Schema) -> None:
        """The same."""
        self.of.check(schema)

    def truth(self, batch: Batch) -> Truth:
        """Kleene's not."""
        return ~self.of.truth(batch)

    def sql(self, row: CodedRow, schema: Schema) -> str:
        """SQL's not."""
        return f"(NOT {self.of.sql(row, schema)})"

    def describe(self) -> str:
        """not (...)."""
        return f"not {self.of.describe()}"


@checked
@dataclass(frozen=True)
class IsTrue(Condition):
    """True where the other is true, false where it is false or unknown."""

    of: Condition

    @property
    def columns(self) -> tuple[str, ...]:
        """The same."""
        return self.of.columns

    def check(self, schema: Schema) -> None:
        """The same."""
        self.of.check(schema)

    def truth(self, batch: Batch) -> Truth:
        """Never unknown."""
        true = self.of.truth(batch).true
        return Truth(true, np.zeros_like(true))

    def sql(self, row: CodedRow, schema: Schema) -> str:
        """By SQL's `is true`."""
        return f"({self.of.sql(row, schema)} IS TRUE)"

    def describe(self) -> str:
        """(...) is true."""
        return f"{self.of.describe()} is true"


@checked
class ColumnName:
    """A column that conditions compare: `column("age") >= 18`.

    Parameters
    ----------
    name : str
        A declared column.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __lt__(self, number: float) -> Condition:
        return Compare(self.name, "<", number)

    def __le__(self, number: float) -> Condition:
        return Compare(self.name, "<=", number)

    def __gt__(self, number: float) -> Condition:
        return Compare(self.name, ">", number)

    def __ge__(self, number: float) -> Condition:
        return Compare(self.name, ">=", number)

    def __eq__(self, value: object) -> Condition:  # type: ignore[override]  # a condition, as in data frames
        if isinstance(value, str):
            return Among(self.name, (value,))
        return Compare(self.name, "=", value)  # type: ignore[arg-type]  # refused there unless it is a number

    def __ne__(self, value: object) -> Condition:  # type: ignore[override]
        return ~(self == value)

    __hash__ = None  # type: ignore[assignment]

    def isin(self, labels: Sequence[str]) -> Condition:
        """The category is one of these `labels`."""
        return Among(self.name, tuple(labels))
