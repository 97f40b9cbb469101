"""Batch: some rows of a table, already clipped and coded, on their way to a method."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from holdfast.data.arrow_values import categorical_cells, numeric_cells, numeric_values
from holdfast.data.schema import Identifier, Numeric, Schema
from holdfast.errors import DataError

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Clipped numbers (float64) and category codes (int64), one array per column.

    `missing` holds a mask for each numeric column whose missing values are a category of their own; their
    place in the values is filled with the column's midpoint. `present` is None, or false for the null
    rows that pad a user to the bound: they contribute 0 to whatever is computed.
    """

    schema: Schema
    values: Mapping[str, Floats | Codes]
    missing: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
    present: NDArray[np.bool_] | None = None
    rows: int

    def __len__(self) -> int:
        return self.rows

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, in order."""
        return self.schema.names

    def column(self, name: str) -> Floats | Codes:
        """Clipped numbers of a numeric column, codes of a categorical one."""
        self.schema[name]
        return self.values[name]

    def codes(self, name: str) -> Codes:
        """The cell of each row in a count of this column (numbers are binned)."""
        column = self.schema[name]
        if isinstance(column, Numeric):
            nowhere = np.zeros(self.rows, dtype=np.bool_)
            return numeric_cells(column, self.values[name], self.missing.get(name, nowhere))  # type: ignore[arg-type]
        return self.values[name].astype(np.int64)

    def matrix(self) -> Floats:
        """All columns side by side as float64: numbers as they are, categories as their codes."""
        arrays = [np.asarray(self.values[name], dtype=np.float64) for name in self.names]
        return np.column_stack(arrays) if arrays else np.empty((self.rows, 0))

    def take(self, index: NDArray[np.intp] | slice) -> Batch:
        """These rows of the batch."""
        rows = len(np.arange(self.rows)[index])
        return Batch(
            schema=self.schema,
            values={name: array[index] for name, array in self.values.items()},
            missing={name: mask[index] for name, mask in self.missing.items()},
            present=None if self.present is None else self.present[index],
            rows=rows,
        )


def encode_batch(schema: Schema, columns: Mapping[str, object], rows: int) -> Batch:
    """Read Arrow columns as the schema says. Nothing in the values can make this raise."""
    values: dict[str, Floats | Codes] = {}
    missing: dict[str, NDArray[np.bool_]] = {}
    for column in schema.columns:
        if isinstance(column, Identifier):
            continue
        if isinstance(column, Numeric):
            values[column.name], mask = numeric_values(column, columns[column.name])
            if column.has_null_cell:
                missing[column.name] = mask
        else:
            values[column.name] = categorical_cells(column, columns[column.name])
        if len(values[column.name]) != rows:
            raise DataError(f"column {column.name!r} must have as many rows as the others")
    return Batch(schema=schema, values=values, missing=missing, rows=rows)
