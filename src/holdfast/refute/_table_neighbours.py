"""TableNeighbours: pairs of neighbouring tables under a schema.

Most pairs put all other units (the crowd) in one cell and the unit that changes in the opposite one, or in a rare cell.
A unit that owns several rows has twice as many as are kept. Its rows are absent from the neighbour under `add_remove`;
under `zero_out` a null unit stays, which counts as a unit and contributes nothing; under `replace` other rows take
their place.
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
OWNER_COLUMN = "owner"


@dataclass(frozen=True, kw_only=True)
class TableNeighbours:
    """Neighbouring tables of one schema: `others` units that stay, and one that changes."""

    cells: Mapping[str, tuple[str, ...]]
    adjacency: Adjacency
    others: int = 15
    max_rows: int = 1
    n_public: int | None = None
    number_column: str = ""
    """The name of a column of numbers in [0, 1]; empty if there is none."""
    missing_column: str = ""
    """The name of a column, such as a target, in which rows may have no value or an undeclared one; empty if none."""

    @property
    def unit(self) -> PrivacyUnit:
        """A row, or a user with several rows."""
        return PrivacyUnit() if self.max_rows == 1 else PrivacyUnit.user(OWNER_COLUMN, max_rows=self.max_rows)

    @property
    def schema(self) -> Schema:
        """The categories, the column of numbers, and the owner of each row."""
        columns: list[Any] = [Categorical(name, list(values)) for name, values in self.cells.items()]
        columns += [Numeric(self.number_column, 0.0, 1.0, bins=4)] if self.number_column else []
        return Schema([*columns, Identifier(OWNER_COLUMN)], unit=self.unit, adjacency=self.adjacency)

    def open_table(self, world: World) -> Table:
        """The table in memory; the same key decides for all worlds which rows of a user are kept.

        A null unit has no row, so the table is given the number of units.
        """
        table = open_table(world.rows, self.schema, n_public=self.n_public, entropy=Source(seed=5))
        if self.adjacency is Adjacency.zero_out:
            # There are as many units as identifiers, present or null.
            units = len(world.identifiers)
            table.units = lambda: units  # type: ignore[method-assign]
        return table

    def pairs(self, random: np.random.Generator) -> Iterator[tuple[World, World]]:
        """Crowds in one cell or spread over all, with a unit in the opposite cell, in a random one, or without a cell.

        Where a column may lack values, pairs with a unit that has none alternate with these.
        """
        complete_pairs = self._complete_pairs(random)
        for pair in self._without_target(random) if self.missing_column else ():
            yield pair
            yield from islice(complete_pairs, 1)
        yield from complete_pairs

    def _without_target(self, random: np.random.Generator) -> Iterator[tuple[World, World]]:
        """Pairs in which the unit has a target in one table and none in the other; often nothing else differs."""
        low, high = ({name: values[end] for name, values in self.cells.items()} for end in (0, -1))
        for crowd in (
            self._without_half_of_the_values(self._spread(random)),
            self._crowd(low),
            self._smallest_crowd(),
        ):
            for own_cell in (high, low):
                yield self._pair(crowd, own_cell, {**high, self.missing_column: None})
                yield self._pair(crowd, {**own_cell, self.missing_column: None}, high)
                yield self._pair(crowd, {**own_cell, self.missing_column: "elsewhere"}, own_cell)

    def _complete_pairs(self, random: np.random.Generator) -> Iterator[tuple[World, World]]:
        """Pairs in which every row of the crowd has a value in every column."""
        names = list(self.cells)
        low, high = ({name: self.cells[name][end] for name in names} for end in (0, -1))
        for crowd in (self._crowd(low), self._spread(random), self._crowd(high), self._smallest_crowd()):
            for own_cell, new_cell in (
                (high, low),
                (low, high),
                (high, self._cell(random)),
                (self._cell(random), low),
            ):
                yield self._pair(crowd, own_cell, new_cell)
            yield self._pair(crowd, {name: "elsewhere" for name in names}, high)

    def vary(self, random: np.random.Generator, pair: tuple[World, World]) -> tuple[World, World]:
        """A pair near this one: new cells for the unit, and for up to two rows of the crowd."""
        crowd = {name: list(values) for name, values in pair[0].rows.items()}
        crowd_places = [place for place, owner in enumerate(crowd[OWNER_COLUMN]) if owner != "changed"]
        crowd = {name: [values[place] for place in crowd_places] for name, values in crowd.items()}
        for _ in range(int(random.integers(3))):
            if crowd_places:
                place, cell = int(random.integers(len(crowd_places))), self._cell(random)
                for name, value in cell.items():
                    crowd[name][place] = value
        return self._pair(crowd, self._cell(random), self._cell(random))

    def plain(self, rows: int) -> World:
        """A table of so many rows in random cells."""
        rows_by_column = self._spread(np.random.Generator(np.random.PCG64(rows)), rows)
        return World(rows=rows_by_column, identifiers=np.arange(rows))

    def change_record(self, world: World, place: int) -> list[World]:
        """The table with all values of one row removed."""
        rows = {name: list(values) for name, values in world.rows.items()}
        for name in rows:
            if name != OWNER_COLUMN:
                rows[name][place] = None
        return [dataclasses.replace(world, rows=rows)]

    # Parts of tables.

    def _cell(self, random: np.random.Generator) -> dict[str, Any]:
        return {name: values[int(random.integers(len(values)))] for name, values in self.cells.items()}

    def _crowd(self, cell: Mapping[str, str]) -> Columns:
        rows: Columns = {name: [cell[name]] * self.others for name in self.cells}
        return self._with_owners(rows, self.others)

    def _spread(self, random: np.random.Generator, count: int | None = None) -> Columns:
        count = self.others if count is None else count
        cells = [self._cell(random) for _ in range(count)]
        return self._with_owners({name: [cell[name] for cell in cells] for name in self.cells}, count)

    def _without_half_of_the_values(self, rows: Columns) -> Columns:
        """The rows, every other one without a value in the column that may lack them."""
        values = rows[self.missing_column]
        return {
            **rows,
            self.missing_column: [value if place % 2 else None for place, value in enumerate(values)],
        }

    def _smallest_crowd(self) -> Columns:
        # Where the number of units is public, an empty crowd would be another table altogether.
        return (
            self._with_owners({name: [] for name in self.cells}, 0)
            if not self.adjacency.count_is_public
            else self._crowd({name: values[0] for name, values in self.cells.items()})
        )

    def _with_owners(self, rows: Columns, count: int) -> Columns:
        numbers = {self.number_column: [0.1] * count} if self.number_column else {}
        return {**rows, **numbers, OWNER_COLUMN: [f"unit{place}" for place in range(count)]}

    def _pair(
        self, crowd: Columns, own_cell: Mapping[str, Any], new_cell: Mapping[str, Any]
    ) -> tuple[World, World]:
        size = 1 if self.max_rows == 1 else 2 * self.max_rows
        number_column = {self.number_column: (1.0, 0.0)} if self.number_column else {}

        def world(cell: Mapping[str, Any] | None, side: int) -> World:
            own = 0 if cell is None else size
            rows = {
                name: [*values, *([_value(cell, name, number_column, side)] * own)]
                for name, values in crowd.items()
            }
            rows[OWNER_COLUMN] = [*crowd[OWNER_COLUMN], *["changed"] * own]
            present = len(set(rows[OWNER_COLUMN])) + (cell is None and self.adjacency is Adjacency.zero_out)
            return World(rows=rows, identifiers=np.arange(present))

        return world(own_cell, 0), world(new_cell if self.adjacency is Adjacency.replace else None, 1)


def _value(
    cell: Mapping[str, Any] | None, name: str, number: Mapping[str, tuple[float, float]], side: int
) -> Any:
    if cell is not None and name in cell:
        return cell[name]
    return number[name][side] if name in number else None
