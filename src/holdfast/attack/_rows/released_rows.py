"""ReleasedRows: a table of rows in the two forms that attacks need, numbers for distances and cells for counts."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast._arguments import checked
from holdfast._arrays import Codes, Floats
from holdfast._ranges import require_numbers
from holdfast.data._schema import Schema
from holdfast.errors import ParameterError, require
from holdfast.privacy._guarantee import Guarantee

NUMBER_CELLS = 10
"""Cells of a column of numbers without a schema: tenths of the released rows."""


@checked
@dataclass(frozen=True, kw_only=True, eq=False)
class ReleasedRows:
    """Released rows in two forms, one line per row: as numbers for distances, and as cells for counts.

    Parameters
    ----------
    numbers : array of float
        The rows scaled so that columns count alike.
    cells : array of int
        The rows coded for counting, one code per column.
    widths : tuple of int
        How many numbers each column became; empty where each became one.

    Examples
    --------
    >>> rows = ReleasedRows(numbers=np.array([[0.5, 1.0], [0.1, 0.0]]), cells=np.array([[2, 1], [0, 0]]))
    >>> rows.count, rows.take(np.array([1])).cells.tolist()
    (2, [[0, 0]])
    """

    numbers: Floats
    cells: Codes
    widths: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        require(len(self.numbers) == len(self.cells) >= 1, "rows", len(self.cells), "one row or more")
        require(
            sum(self.widths or (1,) * self.numbers.shape[1]) == self.numbers.shape[1],
            "widths",
            self.widths,
            "numbers that add up to the width of the rows",
        )

    def places(self, column: int) -> slice:
        """Where the numbers of a column stand."""
        widths = self.widths or (1,) * self.numbers.shape[1]
        return slice(sum(widths[:column]), sum(widths[: column + 1]))

    @property
    def count(self) -> int:
        """The number of rows."""
        return len(self.cells)

    def take(self, rows: NDArray[Any]) -> ReleasedRows:
        """Some rows, by a mask or by row numbers."""
        require(
            rows.dtype.kind in "biu" and rows.ndim == 1,
            "rows",
            rows,
            "a mask or row numbers in one dimension",
        )
        return ReleasedRows(numbers=self.numbers[rows], cells=self.cells[rows], widths=self.widths)

    def join(self, other: ReleasedRows) -> ReleasedRows:
        """These rows, then the other ones."""
        return ReleasedRows(
            numbers=np.concatenate([self.numbers, other.numbers]),
            cells=np.concatenate([self.cells, other.cells]),
            widths=self.widths,
        )


# From a release, frame, table or array to the rows that are seen.
Reader = Callable[[Any], ReleasedRows]
"""From a frame, table, mapping or array to what is seen of it."""


def reader(schema: Schema | None, rows: Any) -> Reader:
    """How to read tables of this kind: by the schema, or arrays of numbers by the spread of the released rows."""
    return by_schema(schema) if schema is not None else by_spread(rows)


def by_schema(schema: Schema) -> Reader:
    """Numbers to [0, 1], one indicator per category; cells as the schema counts them.

    >>> from holdfast.data import Categorical, Numeric, Schema
    >>> read = by_schema(Schema([Numeric("age", 0, 100, bins=4), Categorical("sex", ["F", "M"])]))
    >>> seen = read({"age": [50, 99], "sex": ["M", "F"]})
    >>> seen.numbers.tolist(), seen.cells.tolist()
    ([[0.5, 0.0, 1.0], [0.99, 1.0, 0.0]], [[2, 1], [3, 0]])
    """
    from holdfast.data._arrow_columns import arrow_columns
    from holdfast.data._batch import encode_batch
    from holdfast.data._encode import Encoder

    names = list(schema.names)
    chosen = schema.select(*names)
    encoder = Encoder(chosen, scale="unit", intercept=False, row_norm=None)
    widths = tuple(
        Encoder(schema.select(n), scale="unit", intercept=False, row_norm=None).width for n in names
    )

    def read(table: Any) -> ReleasedRows:
        columns = arrow_columns(table, names)
        batch = encode_batch(chosen, columns, len(next(iter(columns.values()))))
        cells = np.column_stack([batch.codes(name) for name in names])
        return ReleasedRows(numbers=encoder.encode(batch), cells=cells, widths=widths)

    return read


def by_spread(rows: Any) -> Reader:
    """Arrays of numbers: centred and scaled by the released rows, cells between their deciles."""
    released = _matrix(rows)
    centre, spread = released.mean(axis=0), np.maximum(released.std(axis=0), 1e-12)
    edges = np.quantile(released, np.arange(1, NUMBER_CELLS) / NUMBER_CELLS, axis=0)

    def read(table: Any) -> ReleasedRows:
        matrix = _matrix(table)
        require(matrix.shape[1] == centre.size, "members", matrix.shape, f"{centre.size} columns, as rows")
        cells = [np.searchsorted(edges[:, j], matrix[:, j]) for j in range(centre.size)]
        return ReleasedRows(numbers=(matrix - centre) / spread, cells=np.column_stack(cells).astype(np.int64))

    return read


def _matrix(table: Any) -> Floats:
    if not isinstance(table, np.ndarray | list):
        raise ParameterError(
            f"schema must be given with a {type(table).__name__}: it says how columns are read; only arrays of numbers "
            "go without"
        )
    matrix = require_numbers("rows", table)
    require(matrix.ndim == 2 and matrix.shape[1] >= 1, "rows", matrix.shape, "a matrix: one line per row")
    require(bool(np.isfinite(matrix).all()), "rows", "...", "finite numbers")
    return matrix


def opened_rows(rows: Any, schema: Schema | None) -> tuple[Any, Schema | None, Guarantee | None]:
    """The rows of a synthetic release (or the path of one) with its schema and promise; others as they are."""
    if isinstance(rows, str | os.PathLike):
        from holdfast.release import Release

        rows = Release.load(Path(rows))
    if not (hasattr(rows, "provenance") and hasattr(rows, "guarantee")):
        return rows, schema, None
    from holdfast.synth._contents import SyntheticContents

    released = SyntheticContents.of_value(rows.value)
    return released.table, released.schema if schema is None else schema, rows.guarantee
