"""Secret: the columns that are guessed, and the candidate values: those that occur among the attacker's own people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from holdfast._arrays import Codes, Floats
from holdfast.attack._attributes.people import MOST_GUESSED_CELLS, People
from holdfast.data._schema import Numeric
from holdfast.errors import ParameterError, require


@dataclass(frozen=True, kw_only=True, eq=False)
class Secret:
    """One column that is guessed, or several at once as one, and the candidate values."""

    columns: tuple[str, ...]
    edges: Mapping[str, Floats]
    """The borders of the cells of columns of numbers that are guessed up to deciles."""
    cells: Codes
    """The cells of each candidate, (candidates, columns)."""
    values: tuple[Mapping[str, Any], ...]
    """The values of the columns with which a model is asked about each candidate."""

    @classmethod
    def of(cls, columns: Sequence[str], own: People) -> Secret:
        """The candidates that occur among the attacker's own people."""
        chosen = tuple(columns)
        require(len(chosen) >= 1, "sensitive", chosen, "one column or more")
        for name in chosen:
            if name not in own.schema.names:
                raise ParameterError(
                    f"sensitive must name columns of the table, got sensitive={name!r}; it has "
                    f"{', '.join(own.schema.names)}"
                )
        edges = {name: deciles for name in chosen if (deciles := _deciles(own, name)) is not None}
        cells, first_rows = np.unique(_cells(own, chosen, edges), axis=0, return_index=True)
        values = tuple(
            {
                name: _representative(own, name, edges, cells[place, column], int(first_rows[place]))
                for column, name in enumerate(chosen)
            }
            for place in range(len(cells))
        )
        return cls(columns=chosen, edges=edges, cells=cells, values=values)

    @property
    def name(self) -> str:
        """The name of the column, or the names of all columns."""
        return " and ".join(self.columns)

    @property
    def count(self) -> int:
        """The number of candidates."""
        return len(self.cells)

    @cached_property
    def _places(self) -> dict[tuple[int, ...], int]:
        return {tuple(line): place for place, line in enumerate(self.cells.tolist())}

    def codes(self, people: People) -> Codes:
        """For each person the candidate that is true; -1 where none is."""
        cells = _cells(people, self.columns, self.edges)
        distinct_cells, inverse = np.unique(cells, axis=0, return_inverse=True)
        places = np.array(
            [self._places.get(tuple(line), -1) for line in distinct_cells.tolist()], dtype=np.int64
        )
        return places[inverse.reshape(-1)]


def _deciles(own: People, name: str) -> Floats | None:
    """The deciles of a column of many numbers among the attacker's own people; None for any other column."""
    column = own.schema[name]
    # A few declared cells are candidates as they are. Those of a schema that was read from values mean nothing.
    if not isinstance(column, Numeric) or (column.cells <= MOST_GUESSED_CELLS and not column.taken_from_data):
        return None
    values = np.asarray(own.batch.values[name], dtype=np.float64)
    missing = own.batch.missing.get(name)
    if missing is not None and not missing.all():
        values = values[~missing]
    edges = np.unique(np.quantile(values, np.arange(1, MOST_GUESSED_CELLS) / MOST_GUESSED_CELLS))
    edges = edges[edges > values.min()]
    # Where nine of ten people have the least value, there are two candidates: that value, and more.
    above = values[values > values.min()]
    return np.asarray(edges if edges.size or not above.size else above.min()[None])


def _cells(people: People, columns: Sequence[str], edges: Mapping[str, Floats]) -> Codes:
    """The cell of each person in each column, (people, columns)."""
    return np.column_stack([_column_cells(people, name, edges.get(name)) for name in columns]).astype(
        np.int64
    )


def _column_cells(people: People, name: str, edges: Floats | None) -> Codes:
    """The cell of each person in a column; missing numbers have a cell of their own, the last."""
    if edges is None:
        return people.batch.codes(name)
    cells = np.searchsorted(edges, people.batch.values[name], side="right")
    missing = people.batch.missing.get(name)
    return np.asarray(cells if missing is None else np.where(missing, edges.size + 1, cells), dtype=np.int64)


def _representative(own: People, name: str, edges: Mapping[str, Floats], cell: int, row: int) -> Any:
    """The value that stands for a cell: that of the person in `row`, or the median of the numbers in the cell."""
    if isinstance(own.schema[name], Numeric):
        inside = np.flatnonzero(_cells(own, (name,), edges)[:, 0] == cell)
        values = own.batch.values[name][inside]
        row = int(inside[np.argsort(values, kind="stable")[values.size // 2]])
    raw_values = own.raw[name]
    return raw_values.iloc[row] if own.container == "frame" else raw_values[row]
