"""PossibleRecords: an exact search for a record that meets all constraints, and for one near a given record.

Every impossible cell is a set of values that never occur together. The values that a column may still take are the bits
of a number. When all but one value of an impossible cell are certain, the last one is excluded. The search branches on
the column with the fewest values left. It remembers subproblems without a solution, so that none is searched twice; a
subproblem is the values left in undecided columns, and the rest of every impossible cell of three or more columns of
which some values are certain. Public: no row of the table is read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from holdfast.errors import ParameterError

Literal = tuple[int, int]
"""A column's number and one of its cells."""
Domains = tuple[int, ...]
#: The most decisions of one search; constraints that need more are refused, before anything is spent.
MOST_SEARCH_STEPS = 100_000
#: The most decisions of a search for a near record; if it finds none, a known possible record is used.
MOST_NEAR_STEPS = 1_000


class Impossible(Protocol):
    """Cells of some columns in which no record can be."""

    @property
    def columns(self) -> Sequence[str]:
        """The columns."""

    @property
    def cells(self) -> Sequence[Sequence[int]]:
        """Codes in the columns' order."""


class PossibleRecords:
    """The records of a domain that meet all constraints; raises an error where there is none.

    >>> from holdfast.synth._rows.impossible_rows import Zeros
    >>> records = PossibleRecords({"a": 2, "b": 2}, [Zeros(("a", "b"), [(0, 0), (1, 1)])])
    >>> records.nearest({"a": 0, "b": 0})
    {'a': 0, 'b': 1}
    """

    def __init__(self, domain: Mapping[str, int], constraints: Iterable[Impossible]) -> None:
        self._cells: list[tuple[Literal, ...]] = []
        touched: dict[str, int] = {}
        for constraint in constraints:
            places = [touched.setdefault(name, len(touched)) for name in constraint.columns]
            self._cells += {tuple(zip(places, cell, strict=True)) for cell in constraint.cells}
        self._names = tuple(touched)
        self._holding: dict[Literal, list[int]] = defaultdict(list)
        for number, cell in enumerate(self._cells):
            for literal in cell:
                self._holding[literal].append(number)
        self._parts = _components(len(self._names), self._cells)
        every = [(1 << domain[name]) - 1 for name in self._names]
        self._start = self._propagate(every, range(len(self._cells)))
        record = self._search(None, MOST_SEARCH_STEPS)
        if record is None:
            raise ParameterError(
                f"constraints must leave a record, got none that is possible in all of {list(self._names)} at once; "
                "declare fewer impossible cells"
            )
        self._fallback = record

    def nearest(self, record: Mapping[str, int]) -> dict[str, int]:
        """A possible record that keeps as many values of this one as it can, in the columns that constraints name."""
        wanted = [record[name] for name in self._names]
        try:
            nearest = self._search(wanted, MOST_NEAR_STEPS) or self._fallback
        except ParameterError:  # the search would take too long
            nearest = self._fallback
        return dict(zip(self._names, nearest, strict=True))

    def _search(self, wanted: Sequence[int] | None, most_steps: int) -> list[int] | None:
        """A possible code for every column, the wanted ones where they can be; None where there is no record."""
        if self._start is None:
            return None
        codes = [0] * len(self._names)
        for part in self._parts:
            solved = self._solve(self._start, part, wanted, most_steps)
            if solved is None:
                return None
            for column in part:
                codes[column] = solved[column].bit_length() - 1
        return codes

    def _solve(
        self, start: Domains, part: Sequence[int], wanted: Sequence[int] | None, most_steps: int
    ) -> Domains | None:
        """Solve for one set of connected columns: each has one value left in the result; None if there is none."""
        unsolvable: set[object] = set()
        waiting: list[Iterator[Domains]] = [iter((start,))]
        keys: list[object] = [None]
        steps = 0
        while waiting:
            domains = next(waiting[-1], None)
            if domains is None:
                waiting.pop()
                unsolvable.add(keys.pop())
                continue
            open_columns = [column for column in part if domains[column] & (domains[column] - 1)]
            if not open_columns:
                return domains
            key = (
                tuple(domains[column] for column in open_columns),
                tuple(open_columns),
                self._open_clauses(domains, part),
            )
            if key in unsolvable:
                continue
            steps += 1
            if steps > most_steps:
                raise ParameterError(
                    f"constraints must be decided within {most_steps:,} steps, got some on {len(part)} columns that "
                    "are not; declare fewer impossible cells"
                )
            column = min(open_columns, key=lambda column: domains[column].bit_count())
            waiting.append(self._decisions(domains, column, None if wanted is None else wanted[column]))
            keys.append(key)
        return None

    def _decisions(self, domains: Domains, column: int, wanted: int | None) -> Iterator[Domains]:
        """For each value that the column can take, the values that are then left; the wanted value first."""
        left = [code for code in range(domains[column].bit_length()) if domains[column] >> code & 1]
        for code in sorted(left, key=lambda code: (code != wanted, code)):
            decided = list(domains)
            decided[column] = 1 << code
            remaining = self._propagate(decided, self._holding.get((column, code), ()))
            if remaining is not None:
                yield remaining

    def _propagate(self, domains: list[int], changed: Iterable[int]) -> Domains | None:
        """Exclude the last open value of every impossible cell whose other values are certain (unit propagation).

        Returns the values that are left, or None where a column has none.
        """
        waiting = list(changed)
        while waiting:
            cell = self._cells[waiting.pop()]
            if any(not domains[column] >> code & 1 for column, code in cell):
                continue
            open_literals = [literal for literal in cell if domains[literal[0]] != 1 << literal[1]]
            if not open_literals:
                return None
            if len(open_literals) == 1:
                column, code = open_literals[0]
                domains[column] &= ~(1 << code)
                if domains[column].bit_count() == 1:
                    waiting += self._holding.get((column, domains[column].bit_length() - 1), ())
        return tuple(domains)

    def _open_clauses(self, domains: Domains, part: Sequence[int]) -> frozenset[tuple[Literal, ...]]:
        """The open part of every impossible cell of three or more columns, if some but not all values are certain."""
        certain = [
            (column, domains[column].bit_length() - 1) for column in part if domains[column].bit_count() == 1
        ]
        clauses = set()
        for number in {
            n for literal in certain for n in self._holding.get(literal, ()) if len(self._cells[n]) > 2
        }:
            cell = self._cells[number]
            if all(domains[column] >> code & 1 for column, code in cell):
                clauses.add(tuple(literal for literal in cell if domains[literal[0]] != 1 << literal[1]))
        return frozenset(clauses)


def _components(columns: int, cells: Iterable[Sequence[Literal]]) -> list[list[int]]:
    """Sets of columns that constraints connect, directly or through others (union-find)."""
    parent = list(range(columns))

    def root(column: int) -> int:
        while parent[column] != column:
            parent[column] = parent[parent[column]]
            column = parent[column]
        return column

    for cell in cells:
        for column, _ in cell[1:]:
            parent[root(column)] = root(cell[0][0])
    parts: dict[int, list[int]] = defaultdict(list)
    for column in range(columns):
        parts[root(column)].append(column)
    return list(parts.values())
