"""Neighbouring tables under a schema: everybody in one cell and one unit in the opposite one, rare cells, full users.

A unit that owns several rows brings up to twice as many as are kept. Under `add_remove` its rows come and go; under
`zero_out` a null unit stays behind, which counts and contributes nothing; under `replace` others take their place.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from holdfast.data import Categorical, Identifier, Numeric, Schema, open_table
from holdfast.data._table import Table
from holdfast.noise._source import Source
from holdfast.privacy._adjacency import Adjacency, PrivacyUnit
from holdfast.refute._replay import World

Columns = dict[str, list[Any]]
OWNER = "owner"


@dataclass(frozen=True, kw_only=True)
class TableNeighbours:
    """Tables of one schema, of so many other units."""

    cells: Mapping[str, tuple[str, ...]]
    adjacency: Adjacency
    others: int = 15
    max_rows: int = 1
    n_public: int | None = None
    number: str = ""
    """The name of a column of numbers in [0, 1], if there is one."""
    lacking: str = ""
    """A column, as the target of a fit, in which rows may have no value, nor one that is declared; none if empty."""

    @property
    def unit(self) -> PrivacyUnit:
        """A row, or a user."""
        return PrivacyUnit() if self.max_rows == 1 else PrivacyUnit.user(OWNER, max_rows=self.max_rows)

    @property
    def schema(self) -> Schema:
        """Categories, and the owner of each row."""
        columns: list[Any] = [Categorical(name, list(values)) for name, values in self.cells.items()]
        columns += [Numeric(self.number, 0.0, 1.0, bins=4)] if self.number else []
        return Schema([*columns, Identifier(OWNER)], unit=self.unit, adjacency=self.adjacency)

    def open(self, world: World) -> Table:
        """In memory; which rows of a user are kept is decided by the same key for all worlds.

        No row of a table is a null unit, which counts and contributes nothing: the table is told how many there are.
        """
        opened = open_table(world.rows, self.schema, n_public=self.n_public, entropy=Source(seed=5))
        if self.adjacency is Adjacency.zero_out:
            # There are as many units as identifiers, present or null.
            units = len(world.identifiers)
            opened.units = lambda: units  # type: ignore[method-assign]
        return opened

    def pairs(self, random: np.random.Generator) -> Iterator[tuple[World, World]]:
        """Crowds in one cell or spread, against one who is alone, one in a rare cell, one who goes.

        Where a target may lack, every second pair is of one who has none.
        """
        usual = self._usual(random)
        for pair in self._without_target(random) if self.lacking else ():
            yield pair
            yield from islice(usual, 1)
        yield from usual

    def _without_target(self, random: np.random.Generator) -> Iterator[tuple[World, World]]:
        """One who has a target against one who has none, and who may differ from the other in nothing else."""
        low, high = ({name: values[end] for name, values in self.cells.items()} for end in (0, -1))
        for crowd in (self._thinned(self._spread(random)), self._crowd(low), self._nobody()):
            for mine in (high, low):
                yield self._pair(crowd, mine, {**high, self.lacking: None})
                yield self._pair(crowd, {**mine, self.lacking: None}, high)
                yield self._pair(crowd, {**mine, self.lacking: "elsewhere"}, mine)

    def _usual(self, random: np.random.Generator) -> Iterator[tuple[World, World]]:
        """Pairs in which everybody has values of all columns."""
        names = list(self.cells)
        low, high = ({name: self.cells[name][end] for name in names} for end in (0, -1))
        for crowd in (self._crowd(low), self._spread(random), self._crowd(high), self._nobody()):
            for mine, theirs in (
                (high, low),
                (low, high),
                (high, self._cell(random)),
                (self._cell(random), low),
            ):
                yield self._pair(crowd, mine, theirs)
            yield self._pair(crowd, {name: "elsewhere" for name in names}, high)

    def vary(self, random: np.random.Generator, pair: tuple[World, World]) -> tuple[World, World]:
        """Other cells for one of the crowd, or for the unit itself."""
        crowd = {name: list(values) for name, values in pair[0].rows.items()}
        kept = [place for place, owner in enumerate(crowd[OWNER]) if owner != "changed"]
        crowd = {name: [values[place] for place in kept] for name, values in crowd.items()}
        for _ in range(int(random.integers(3))):
            if kept:
                place, cell = int(random.integers(len(kept))), self._cell(random)
                for name, value in cell.items():
                    crowd[name][place] = value
        return self._pair(crowd, self._cell(random), self._cell(random))

    def plain(self, rows: int) -> World:
        """Rows in random cells."""
        made = self._spread(np.random.Generator(np.random.PCG64(rows)), rows)
        return World(rows=made, identifiers=np.arange(rows))

    def touched(self, world: World, place: int) -> list[World]:
        """A row without values, its target's among them."""
        rows = {name: list(values) for name, values in world.rows.items()}
        for name in rows:
            if name != OWNER:
                rows[name][place] = None
        return [dataclasses.replace(world, rows=rows)]

    # Their parts.

    def _cell(self, random: np.random.Generator) -> dict[str, Any]:
        return {name: values[int(random.integers(len(values)))] for name, values in self.cells.items()}

    def _crowd(self, cell: Mapping[str, str]) -> Columns:
        rows: Columns = {name: [cell[name]] * self.others for name in self.cells}
        return self._owned(rows, self.others)

    def _spread(self, random: np.random.Generator, count: int | None = None) -> Columns:
        count = self.others if count is None else count
        cells = [self._cell(random) for _ in range(count)]
        return self._owned({name: [cell[name] for cell in cells] for name in self.cells}, count)

    def _thinned(self, rows: Columns) -> Columns:
        """Every other row without a value in the column that may lack them."""
        values = rows[self.lacking]
        return {**rows, self.lacking: [value if place % 2 else None for place, value in enumerate(values)]}

    def _nobody(self) -> Columns:
        # Where the number of units is public, an empty crowd would be another table altogether.
        return (
            self._owned({name: [] for name in self.cells}, 0)
            if not self.adjacency.count_is_public
            else self._crowd({name: values[0] for name, values in self.cells.items()})
        )

    def _owned(self, rows: Columns, count: int) -> Columns:
        numbers = {self.number: [0.1] * count} if self.number else {}
        return {**rows, **numbers, OWNER: [f"unit{place}" for place in range(count)]}

    def _pair(
        self, crowd: Columns, mine: Mapping[str, Any], theirs: Mapping[str, Any]
    ) -> tuple[World, World]:
        size = 1 if self.max_rows == 1 else 2 * self.max_rows
        number = {self.number: (1.0, 0.0)} if self.number else {}

        def world(cell: Mapping[str, Any] | None, side: int) -> World:
            own = 0 if cell is None else size
            rows = {
                name: [*values, *([_value(cell, name, number, side)] * own)] for name, values in crowd.items()
            }
            rows[OWNER] = [*crowd[OWNER], *["changed"] * own]
            present = len(set(rows[OWNER])) + (cell is None and self.adjacency is Adjacency.zero_out)
            return World(rows=rows, identifiers=np.arange(present))

        return world(mine, 0), world(theirs if self.adjacency is Adjacency.replace else None, 1)


def _value(
    cell: Mapping[str, Any] | None, name: str, number: Mapping[str, tuple[float, float]], side: int
) -> Any:
    if cell is not None and name in cell:
        return cell[name]
    return number[name][side] if name in number else None
