"""Zeros: declared impossible combinations of values. No released row has one, whatever model it is drawn from.

A constraint is public knowledge (nobody of age 5 is married), never an observation of the table: that a cell is
empty in the data is private. Removing impossible rows is post-processing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from holdfast._arguments import checked
from holdfast._arrays import Bools, Codes, Floats
from holdfast.data._schema import Schema
from holdfast.errors import FormatError, require
from holdfast.noise._source import Source
from holdfast.noise._uniform import integers
from holdfast.synth._models.model import Model
from holdfast.synth._rows.possible_record import PossibleRecords
from holdfast.synth._workload.workload import declared_text, parsed_json

#: Rounds in which impossible rows are drawn again, before those that are left are changed.
REDRAW_ROUNDS = 20
#: Steps of the random walk that changes impossible rows, for each column that the constraints name.
WALK_STEPS_PER_COLUMN = 200
#: The most cells of a constraint's columns for which a mask of all cells is made.
MOST_MASK_CELLS = 2**20


@checked
@dataclass(frozen=True)
class Zeros:
    """Cells of a few columns in which no record can be.

    Parameters
    ----------
    columns : sequence of str
        The columns.
    cells : sequence of tuples of int
        The impossible cells, as codes in the columns' order.

    Examples
    --------
    >>> Zeros(("age", "marital"), [(0, 1), (0, 2)]).possible_cells((2, 3)).tolist()
    [[True, False, False], [True, True, True]]
    """

    columns: Sequence[str]
    cells: Sequence[Sequence[int]]

    def __post_init__(self) -> None:
        require(not isinstance(self.columns, str), "columns", self.columns, "a list of names")
        object.__setattr__(self, "columns", tuple(self.columns))
        require(bool(self.columns), "columns", self.columns, "at least one name")
        require(len(set(self.columns)) == len(self.columns), "columns", self.columns, "names given once each")
        object.__setattr__(self, "cells", tuple(tuple(int(place) for place in cell) for cell in self.cells))
        width = len(self.columns)
        fits = all(len(cell) == width and min(cell) >= 0 for cell in self.cells)
        require(fits, "cells", f"{len(self.cells)} cells", f"tuples of {width} codes >= 0, one per column")

    @classmethod
    def of_labels(cls, schema: Schema, combinations: Sequence[Mapping[str, str | Sequence[str]]]) -> Zeros:
        """Impossible cells given by labels of the `schema`; a list of labels in `combinations` stands for each label.

        >>> from holdfast.data import Categorical
        >>> schema = Schema([Categorical("age", ["child", "adult"]), Categorical("work", ["none", "part", "full"])])
        >>> Zeros.of_labels(schema, [{"age": "child", "work": ["part", "full"]}]).cells
        ((0, 1), (0, 2))
        """
        require(len(combinations) > 0, "combinations", [], "at least one combination")
        columns = tuple(combinations[0])
        cells: list[tuple[int, ...]] = []
        for combination in combinations:
            require(
                set(combination) == set(columns),
                "combinations",
                sorted(combination),
                f"combinations of the same columns, {list(columns)}",
            )
            codes = [_codes(schema, name, combination[name]) for name in columns]
            mesh = np.meshgrid(*codes, indexing="ij")
            cells += [tuple(cell) for cell in np.stack([axis.reshape(-1) for axis in mesh], axis=1).tolist()]
        return cls(columns, cells)

    @classmethod
    def in_order(
        cls, schema: Schema, first: str, second: str, *, least: int = 0, most: int | None = None
    ) -> Zeros:
        """That the `second` date or whole number is never below the `first`.

        No row breaks it, in its cells or in its values. Declare it of every pair that it holds for, and give
        missing values a cell of their own: where they stand for some date, that date is in no order.

        Parameters
        ----------
        schema : Schema
            The declared columns.
        first, second : str
            The two columns.
        least, most : int, optional
            How far the second is above the first at least and at most, in the columns' unit.

        Returns
        -------
        Zeros
            The cells that this makes impossible.

        Examples
        --------
        >>> from holdfast.data import DateTime
        >>> names = ("admitted", "discharged")
        >>> schema = Schema([DateTime(name, "2024-01-01", "2024-06-30", bins="month") for name in names])
        >>> Zeros.in_order(schema, *names, most=31).possible_cells((6, 6))[1].tolist()
        [False, True, True, False, False, False]
        """
        from holdfast.synth._rows.column_order import ColumnsInOrder

        return ColumnsInOrder.of_columns(schema, first, second, least, most)

    @property
    def gap(self) -> tuple[int, int] | None:
        """By how much the second of two columns in order is above the first; None where no order was declared."""
        return None

    def possible_cells(self, shape: tuple[int, ...]) -> Bools:
        """Which cells of a joint count of the columns, of this `shape`, may hold a record."""
        require(len(shape) == len(self.columns), "shape", shape, "one number per column")
        mask = np.ones(shape, dtype=np.bool_)
        for cell in self.cells:
            self._require_inside(cell, shape)
            mask[tuple(cell)] = False
        return mask

    def potential(self, domain: Mapping[str, int]) -> tuple[tuple[str, ...], Floats]:
        """A log potential for a graphical model of this `domain`: the columns, and 0 or -inf in each of their cells."""
        columns = tuple(self.columns)
        allowed = self.possible_cells(self._shape(domain))
        return columns, np.where(allowed, 0.0, -np.inf)

    def check(self, domain: Mapping[str, int]) -> None:
        """Refuse columns or cells that the domain does not have."""
        shape = self._shape(domain)
        for cell in self.cells:
            self._require_inside(cell, shape)

    def _shape(self, domain: Mapping[str, int]) -> tuple[int, ...]:
        for name in self.columns:
            require(name in domain, "columns", name, f"among {list(domain)}")
        return tuple(domain[name] for name in self.columns)

    def fits_in_model(self, domain: Mapping[str, int]) -> bool:
        """Whether the joint table in this `domain` is small enough for a model; rows respect it in any case."""
        return math.prod(self._shape(domain)) <= MOST_MASK_CELLS

    def impossible_rows(self, codes: Codes, domain: Mapping[str, int]) -> Bools:
        """Which rows, given as codes of these columns, are in an impossible cell.

        `domain` says how many cells columns have.
        """
        if self.fits_in_model(domain):
            allowed = self.possible_cells(self._shape(domain))
            return ~np.asarray(allowed[tuple(codes.T)])
        listed = np.array(self.cells, dtype=np.int64).reshape(-1, len(self.columns))
        number = np.unique(np.concatenate([listed, codes]), axis=0, return_inverse=True)[1].reshape(-1)
        return np.isin(number[len(listed) :], number[: len(listed)])

    @staticmethod
    def _require_inside(cell: Sequence[int], shape: tuple[int, ...]) -> None:
        inside = all(place < cells for place, cells in zip(cell, shape, strict=True))
        require(inside, "cells", cell, f"codes below the numbers of cells, {shape}")


def _codes(schema: Schema, name: str, labels: str | Sequence[str]) -> list[int]:
    known = schema[name].labels
    wanted = [labels] if isinstance(labels, str) else list(labels)
    for label in wanted:
        require(label in known, "combinations", label, f"labels of column {name!r}")
    return [known.index(label) for label in wanted]


def require_possible(constraints: Sequence[Zeros], domain: Mapping[str, int]) -> None:
    """Refuse constraints on columns that do not exist, and constraints that together leave no possible record."""
    for constraint in constraints:
        constraint.check(domain)
    if constraints:
        PossibleRecords(domain, constraints)


def is_possible(
    codes: Codes, names: Sequence[str], domain: Mapping[str, int], constraints: Sequence[Zeros]
) -> Bools:
    """Which rows, given as cell codes, are possible under all constraints."""
    possible = np.ones(len(codes), dtype=np.bool_)
    place = {name: column for column, name in enumerate(names)}
    for constraint in constraints:
        columns = [place[name] for name in constraint.columns]
        possible &= ~constraint.impossible_rows(codes[:, columns], domain)
    return possible


def possible_rows(model: Model, rows: int, source: Source, constraints: Sequence[Zeros]) -> Codes:
    """Sample `rows` possible rows from any model; the constraints must have passed `require_possible`.

    Impossible rows are drawn again: the rows then have the model's distribution given the constraints. Rows that are
    still impossible after several rounds take a random walk, which changes one column at a time to a random cell.
    Rows that stay impossible even then are replaced by a possible record near them.
    """
    domain = dict(model.domain)
    codes = np.asarray(model.sample(rows, source), dtype=np.int64)
    names = tuple(domain)
    if not constraints:
        return codes
    for _ in range(REDRAW_ROUNDS):
        bad = np.flatnonzero(~is_possible(codes, names, domain, constraints))
        if not bad.size:
            return codes
        codes[bad] = model.sample(bad.size, source)
    return _random_walk(codes, names, domain, constraints, source)


def _random_walk(
    codes: Codes,
    names: Sequence[str],
    domain: Mapping[str, int],
    constraints: Sequence[Zeros],
    source: Source,
) -> Codes:
    """Change impossible rows at random in the columns that the constraints name, until all are possible."""
    touched = sorted({name for constraint in constraints for name in constraint.columns}, key=names.index)
    for step in range(WALK_STEPS_PER_COLUMN * len(touched)):
        bad = np.flatnonzero(~is_possible(codes, names, domain, constraints))
        if not bad.size:
            return codes
        name = touched[step % len(touched)]
        codes[bad, names.index(name)] = integers(source, bound=domain[name], size=bad.size)
    records = PossibleRecords(domain, constraints)
    for row in np.flatnonzero(~is_possible(codes, names, domain, constraints)).tolist():
        record = records.nearest(dict(zip(names, codes[row].tolist(), strict=True)))
        codes[row, [names.index(name) for name in record]] = list(record.values())
    return codes


def read_impossible(path: Path, schema: Schema) -> tuple[Zeros, ...]:
    """Constraints from a JSON file: a list of objects.

    Each maps columns to a label or to a list of labels; or it maps `in_order` to two columns, with `least` and `most`
    as `Zeros.in_order` takes them.
    """
    listed = parsed_json(declared_text(path, name="impossible"), name="impossible")
    if not isinstance(listed, list) or not all(isinstance(entry, dict) and entry for entry in listed):
        raise FormatError("impossible combinations are a list of objects: column to label or list of labels")
    return tuple(
        _read_order(entry, schema)
        if "in_order" in entry and "in_order" not in schema.names
        else Zeros.of_labels(schema, [entry])
        for entry in listed
    )


def _read_order(stored: Mapping[str, Any], schema: Schema) -> Zeros:
    named, bounds = stored["in_order"], {name: value for name, value in stored.items() if name != "in_order"}
    two = isinstance(named, list) and len(named) == 2 and all(isinstance(name, str) for name in named)
    if not two or not set(bounds) <= {"least", "most"}:
        raise FormatError(
            "columns in order are an object: in_order, two columns; least and most, whole numbers"
        )
    return Zeros.in_order(schema, *named, **bounds)
