"""Batches: rows as a schema reads them, from raw Arrow values to clipped numbers and category codes.

No value can cause an error. This code defines the meaning of a schema; SQL engines compute the same codes
(`holdfast.data._sql`), and the contract of engines compares the two. A value is read as a number (`Numeric`) or as a
text (`Categorical`, `Identifier`) by the rules of `holdfast.data._readings`, and becomes a clipped number or a cell by
those of `holdfast.data._cells`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from holdfast._arguments import checked
from holdfast._arrays import Codes, Floats
from holdfast.data._arrow_columns import arrow_column
from holdfast.data._cells import declared_cells, numeric_cells, numeric_values
from holdfast.data._mixed import read_by_kind
from holdfast.data._readings import numbers, texts
from holdfast.data._schema import Identifier, Numeric, Schema
from holdfast.errors import DataError


@checked
@dataclass(frozen=True, kw_only=True)
class Batch:
    """Some rows as arrays: clipped numbers (float64) and category codes (int64), one array for each column.

    Parameters
    ----------
    schema : Schema
        The schema that the rows were read by.
    values : mapping of str to numpy.ndarray
        For each column its numbers or its codes.
    missing : mapping of str to numpy.ndarray of bool
        For each numeric column whose missing values are a category of their own, where they are; their place in
        the values is filled with the column's midpoint.
    undeclared : mapping of str to numpy.ndarray of bool
        For each other column, where a value is missing, or outside the categories, and the column declares
        nothing for it: as a feature it is read as the schema says, as a target it is none.
    present : numpy.ndarray of bool, optional
        False for the null rows that pad a user to the bound: they contribute 0 to whatever is computed.
    identifiers : mapping of str to numpy.ndarray of str
        For each identifier its texts, `v` and the text or `n`, where all rows of every unit are read.
    rows : int
        How many rows there are.

    Examples
    --------
    >>> from holdfast.data import Numeric, Schema, open_table
    >>> [batch] = open_table({"age": [20, 300]}, Schema([Numeric("age", 17, 90)])).batches()
    >>> batch.rows, sorted(batch.column("age").tolist())
    (2, [20.0, 90.0])
    """

    schema: Schema
    values: Mapping[str, Floats | Codes]
    missing: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
    undeclared: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
    present: NDArray[np.bool_] | None = None
    identifiers: Mapping[str, NDArray[np.object_]] = field(default_factory=dict)
    rows: int

    def __len__(self) -> int:
        return self.rows

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, in order."""
        return self.schema.names

    def column(self, name: str) -> Floats | Codes:
        """Clipped numbers of the column `name` if it is numeric, codes if it is categorical."""
        self.schema[name]
        return self.values[name]

    def codes(self, name: str) -> Codes:
        """The cell of each row in a count of the column `name` (numbers are binned)."""
        column = self.schema[name]
        if isinstance(column, Numeric):
            none_missing = np.zeros(self.rows, dtype=np.bool_)
            return numeric_cells(column, self.values[name], self.missing.get(name, none_missing))  # type: ignore[arg-type]
        return self.values[name].astype(np.int64)

    def without_value(self, name: str) -> NDArray[np.bool_] | None:
        """Which rows have no value of the column `name` as a target; None where all have one.

        A number that is missing is a target only where the column declares a number for it, and a category only
        where the column declares one: a default such as the midpoint or the last category is not a declaration.
        """
        column = self.schema[name]
        masks = self.missing if isinstance(column, Numeric) and column.has_null_cell else self.undeclared
        return masks.get(name)

    def matrix(self) -> Floats:
        """All columns side by side as float64: numbers as they are, categories as their codes."""
        arrays = [np.asarray(self.values[name], dtype=np.float64) for name in self.names]
        return np.column_stack(arrays) if arrays else np.empty((self.rows, 0))

    def take(self, index: NDArray[np.intp] | slice) -> Batch:
        """The rows of the batch at the places `index`."""
        return Batch(
            schema=self.schema,
            values={name: array[index] for name, array in self.values.items()},
            missing={name: mask[index] for name, mask in self.missing.items()},
            undeclared={name: mask[index] for name, mask in self.undeclared.items()},
            present=None if self.present is None else self.present[index],
            rows=len(np.arange(self.rows)[index]),
        )


def encode_batch(schema: Schema, columns: Mapping[str, object], rows: int) -> Batch:
    """Read Arrow columns as the schema says, whose unit is confirmed. Nothing in the values can make this raise."""
    schema.require_confirmed()
    values: dict[str, Floats | Codes] = {}
    missing: dict[str, NDArray[np.bool_]] = {}
    undeclared: dict[str, NDArray[np.bool_]] = {}
    for column in schema.columns:
        if isinstance(column, Identifier):
            continue
        stored = columns[column.name]
        if column.read is not None:
            stored = arrow_column(read_by_kind(column.read, numbers(stored), texts(stored).to_pylist()))
        if isinstance(column, Numeric):
            values[column.name], mask = numeric_values(column, stored)
            if column.has_null_cell:
                missing[column.name] = mask
            elif not column.declares_null and mask.any():
                undeclared[column.name] = mask
        else:
            values[column.name], absent = declared_cells(column, stored)
            if absent is not None:
                undeclared[column.name] = absent
        if len(values[column.name]) != rows:
            raise DataError(f"column {column.name!r} must have as many rows as the others")
    return Batch(schema=schema, values=values, missing=missing, undeclared=undeclared, rows=rows)
