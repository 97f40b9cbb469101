"""Whether constraints leave a record at all, and one that is near a given one: an exact search over declared domains.

Every impossible cell is a set of values that never occur together. A column's remaining values are bits of a number;
when all but one value of an impossible cell are certain, the last one is struck out. The search decides the column with
the fewest values left and remembers what it found hopeless, so that the same rest is never tried twice: what is left of
a problem is the undecided columns' values and the wider cells that have begun to come true. Public: no row is read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from holdfast.errors import ParameterError

Literal = tuple[int, int]
"""A column's number and one of its cells."""
Domains = tuple[int, ...]
#: Decisions of one search; constraints that need more are refused, before anything is spent.
MOST_STEPS = 100_000
#: Of a search for a near record, which has one in reserve.
FEW_STEPS = 1_000


class Impossible(Protocol):
    """Cells of some columns in which no record can be."""

    @property
    def columns(self) -> Sequence[str]:
        """The columns."""

    @property
    def cells(self) -> Sequence[Sequence[int]]:
        """Codes in the columns' order."""


class PossibleRecords:
    """The records of a domain that break no constraint; refuses constraints that leave none.

    >>> from holdfast.synth._rows.impossible_rows import Zeros
    >>> records = PossibleRecords({"a": 2, "b": 2}, [Zeros(("a", "b"), [(0, 0), (1, 1)])])
    >>> records.near({"a": 0, "b": 0})
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
        self._start = self._struck(every, range(len(self._cells)))
        record = self._search(None, MOST_STEPS)
        if record is None:
            raise ParameterError(
                f"constraints must leave a record, got none that is possible in all of {list(self._names)} at once; "
                "declare fewer impossible cells"
            )
        self._one = record

    def near(self, record: Mapping[str, int]) -> dict[str, int]:
        """A possible record that keeps what it can of this one, in the columns that constraints name."""
        wanted = [record[name] for name in self._names]
        try:
            nearest = self._search(wanted, FEW_STEPS) or self._one
        except ParameterError:  # it would take long: the record that is known
            nearest = self._one
        return dict(zip(self._names, nearest, strict=True))

    def _search(self, wanted: Sequence[int] | None, most_steps: int) -> list[int] | None:
        """A possible cell of every column, the wanted ones first; None where there is none."""
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
        """Columns that constraints connect, each with one value left."""
        hopeless: set[object] = set()
        waiting: list[Iterator[Domains]] = [iter((start,))]
        keys: list[object] = [None]
        steps = 0
        while waiting:
            domains = next(waiting[-1], None)
            if domains is None:
                waiting.pop()
                hopeless.add(keys.pop())
                continue
            open_columns = [column for column in part if domains[column] & (domains[column] - 1)]
            if not open_columns:
                return domains
            key = (
                tuple(domains[column] for column in open_columns),
                tuple(open_columns),
                self._open_clauses(domains, part),
            )
            if key in hopeless:
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
        """Each value that the column can take, with all that follows from it; the wanted value first."""
        left = [code for code in range(domains[column].bit_length()) if domains[column] >> code & 1]
        for code in sorted(left, key=lambda code: (code != wanted, code)):
            decided = list(domains)
            decided[column] = 1 << code
            followed = self._struck(decided, self._holding.get((column, code), ()))
            if followed is not None:
                yield followed

    def _struck(self, domains: list[int], changed: Iterable[int]) -> Domains | None:
        """What is left when the last open value of every impossible cell is struck out; None where nothing is."""
        waiting = list(changed)
        while waiting:
            cell = self._cells[waiting.pop()]
            if any(not domains[column] >> code & 1 for column, code in cell):
                continue
            still = [literal for literal in cell if domains[literal[0]] != 1 << literal[1]]
            if not still:
                return None
            if len(still) == 1:
                column, code = still[0]
                domains[column] &= ~(1 << code)
                if domains[column].bit_count() == 1:
                    waiting += self._holding.get((column, domains[column].bit_length() - 1), ())
        return tuple(domains)

    def _open_clauses(self, domains: Domains, part: Sequence[int]) -> frozenset[tuple[Literal, ...]]:
        """The rest of every cell of three columns or more of which some values are certain and none is excluded."""
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
    """Columns that constraints join, directly or through others."""
    leader = list(range(columns))

    def lead(column: int) -> int:
        while leader[column] != column:
            leader[column] = leader[leader[column]]
            column = leader[column]
        return column

    for cell in cells:
        for column, _ in cell[1:]:
            leader[lead(column)] = lead(cell[0][0])
    parts: dict[int, list[int]] = defaultdict(list)
    for column in range(columns):
        parts[lead(column)].append(column)
    return list(parts.values())
