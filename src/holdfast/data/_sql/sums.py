"""Sums over rows as aggregate queries, whose result does not depend on the order of addition.

A statistic that can be written in SQL gives a `Spelling`: layers of named doubles over the coded columns of a row,
and the terms to be summed. Each term is rounded to a grid of 2^-61 of its public bound and the multiples are added
as whole numbers. So a sum is a function of the set of rows alone: no order, no parallel plan and no number of
rows changes it, and what one row adds is off by less than one part in 2^60 of the bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Protocol, runtime_checkable

import numpy as np

from holdfast._arrays import Floats
from holdfast.data._sql.dialect import Dialect
from holdfast.data._sql.statements import Statements

Layer = tuple[tuple[str, str], ...]
#: PostgreSQL takes 1664 columns in a result and 4096 grouping sets.
MOST_COLUMNS = 1_500
MOST_SETS = 2_000
GRID_BITS = 61
#: Numbers below this are 0 before they are multiplied: PostgreSQL calls a product that underflows an error, and an
#: error that depends on the data is an output.
TINY = 1e-60


def zero_if_tiny(expression: str, dialect: Dialect) -> str:
    """The number, or 0 if it is tiny."""
    tiny, zero = dialect.number(TINY), dialect.number(0.0)
    return f"CASE WHEN abs({expression}) < {tiny} THEN {zero} ELSE {expression} END"


def ordinary(*numbers: float | Floats) -> bool:
    """Whether all of them are 0 or far enough from the ends of the doubles to be multiplied in SQL."""
    sizes = np.abs(np.concatenate([np.ravel(np.asarray(number, dtype=np.float64)) for number in numbers]))
    return bool(np.all(np.isfinite(sizes)) and np.all(sizes < 1.0 / TINY))


class CodedRow(Protocol):
    """The columns of a coded row, by the names that a spelling may use."""

    @property
    def dialect(self) -> Dialect:
        """The SQL dialect of the engine."""

    def value(self, name: str) -> str:
        """The clipped number, or the code of a category."""

    def missing(self, name: str) -> str:
        """Whether the number was missing."""

    def cell(self, name: str) -> str:
        """The cell in a count."""

    def without_value(self, name: str) -> str | None:
        """Whether the row has no value of this column as a target; None where every row has one."""


@dataclass(frozen=True, kw_only=True)
class Term:
    """The sum of `value`, split by the cells of up to two codes: (name, number of cells) each."""

    value: str
    by: tuple[tuple[str, int], ...] = ()

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of what it sums to."""
        return tuple(cells for _, cells in self.by)


@dataclass(frozen=True, kw_only=True)
class Spelling:
    """A statistic in SQL. No `value` of a term is larger than `bound`, for any row that could exist.

    Layers must not reuse a name of a coded row: `cI`, `rI`, `vI`, `kI`, `p`, `u` and `slot`.
    """

    layers: tuple[Layer, ...]
    terms: tuple[Term, ...]
    bound: float
    assemble: Callable[[Sequence[Floats]], Floats]
    """From one array per term to the statistic's own shape."""

    @property
    def grid(self) -> int:
        """The exponent of the grid: multiples of 2^-grid are added."""
        return GRID_BITS - math.ceil(math.log2(self.bound))


@runtime_checkable
class SpelledStatistic(Protocol):
    """A statistic that an SQL engine can compute without reading rows."""

    def spelling(self, row: CodedRow) -> Spelling | None:
        """How it is written, or None where it cannot be."""


@dataclass(frozen=True)
class StatementRow:
    """The names that `Statements.coded_rows` gives to columns."""

    statements: Statements

    @property
    def dialect(self) -> Dialect:
        """The statements' own."""
        return self.statements.dialect

    def value(self, name: str) -> str:
        """`vI`."""
        return f"v{self.statements.place(name)}"

    def missing(self, name: str) -> str:
        """`rI IS NULL`."""
        return f"(r{self.statements.place(name)} IS NULL)"

    def cell(self, name: str) -> str:
        """`kI`."""
        return f"k{self.statements.place(name)}"

    def without_value(self, name: str) -> str | None:
        """In terms of `rI` (`Batch.without_value`)."""
        return self.statements.without_value(name)


def sum_in_sql(
    statements: Statements, columns: Sequence[str], spelling: Spelling, ask: Callable[[str], Any]
) -> Floats:
    """Run the queries of a spelling (`ask` answers one with an Arrow table) and put the sums together."""
    source = statements.coded_rows(columns)
    fence = statements.dialect.fence
    for layer in spelling.layers:
        named = ", ".join(["*", *(f"{expression} AS {name}" for name, expression in layer)])
        source = f"SELECT {named} FROM ({source}{fence}) AS q"
    over = f"({source}{fence}) AS q"
    totals: dict[Term, Floats] = {}
    for terms in _terms_of_one_row(spelling.terms):
        totals |= _sums_in_one_row(terms, over, spelling.grid, statements.dialect, ask)
    for terms in _terms_by_cell(spelling.terms):
        totals |= _sums_by_cell(terms, over, spelling.grid, statements.dialect, ask)
    return spelling.assemble([totals[term] for term in spelling.terms])


def _many_values(terms: Sequence[Term]) -> bool:
    """Whether codes split several values: then a query with groups is faster than a column for each cell."""
    return len({term.value for term in terms if len(term.by) == 1}) > 1


def _terms_of_one_row(terms: Sequence[Term]) -> Iterator[list[Term]]:
    """Groups of terms that one row of a result has room for."""
    most = 0 if _many_values(terms) else 1
    part: list[Term] = []
    room = MOST_COLUMNS
    for term in (term for term in terms if len(term.by) <= most):
        size = math.prod(term.shape)
        if part and size > room:
            yield part
            part, room = [], MOST_COLUMNS
        part.append(term)
        room -= size
    if part:
        yield part


def _terms_by_cell(terms: Sequence[Term]) -> Iterator[list[Term]]:
    """Groups of terms for queries with grouping sets: those split by one code, then those split by two."""
    for codes in (1, 2) if _many_values(terms) else (2,):
        chosen = [term for term in terms if len(term.by) == codes]
        values = list(dict.fromkeys(term.value for term in chosen))
        sets = list(dict.fromkeys(term.by for term in chosen))
        for first, start in product(range(0, len(values), MOST_COLUMNS), range(0, len(sets), MOST_SETS)):
            some, these = set(values[first : first + MOST_COLUMNS]), set(sets[start : start + MOST_SETS])
            yield [term for term in chosen if term.value in some and term.by in these]


def _sum_of(value: str, grid: int, dialect: Dialect) -> str:
    return f"sum(CAST({value} * {dialect.number(2.0**grid)} AS BIGINT))"


def _sums_in_one_row(
    terms: Sequence[Term], source: str, grid: int, dialect: Dialect, ask: Callable[[str], Any]
) -> dict[Term, Floats]:
    """One query, one row: each sum, or each sum over the rows of one cell, is a column."""
    columns: list[str] = []
    for term in terms:
        for cells in product(*(range(size) for size in term.shape)):
            tests = [f"{name} = {cell}" for (name, _), cell in zip(term.by, cells, strict=True)]
            where = f" FILTER (WHERE {' AND '.join(tests)})" if tests else ""
            total = f"CAST({_sum_of(term.value, grid, dialect)}{where} AS {dialect.text})"
            columns.append(f"coalesce({total}, '0') AS t{len(columns)}")
    answer = ask(f"SELECT {', '.join(columns)} FROM {source}")
    totals = [_rescale(column[0].as_py(), grid) for column in answer.columns]
    sums, first = {}, 0
    for term in terms:
        size = math.prod(term.shape)
        sums[term] = np.array(totals[first : first + size]).reshape(term.shape)
        first += size
    return sums


def _sums_by_cell(
    terms: Sequence[Term], source: str, grid: int, dialect: Dialect, ask: Callable[[str], Any]
) -> dict[Term, Floats]:
    """One query for all values over all sets of codes; NULL marks a code outside a row's set."""
    codes = list(dict.fromkeys(name for term in terms for name, _ in term.by))
    values = list(dict.fromkeys(term.value for term in terms))
    sets = {frozenset(name for name, _ in term.by): term.by for term in terms}
    totals = [
        f"CAST({_sum_of(value, grid, dialect)} AS {dialect.text}) AS t{place}"
        for place, value in enumerate(values)
    ]
    listed = ", ".join(f"({', '.join(name for name, _ in by)})" for by in sets.values())
    answer = ask(f"SELECT {', '.join([*codes, *totals])} FROM {source} GROUP BY GROUPING SETS ({listed})")
    sums = {term: np.zeros(term.shape) for term in terms}
    for row in answer.to_pylist():
        by = sets[frozenset(name for name in codes if row[name] is not None)]
        for place, value in enumerate(values):
            total = sums.get(Term(value=value, by=by))
            if total is not None:
                total[tuple(row[name] for name, _ in by)] = _rescale(row[f"t{place}"], grid)
    return sums


def _rescale(total: str, grid: int) -> float:
    """The sum of multiples of 2^-grid as a double, rounded correctly."""
    return int(total) / 2**grid if grid >= 0 else float(int(total) * 2**-grid)
