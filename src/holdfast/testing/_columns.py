"""The contract of a column kind: any stored value is read within the declared range, and each row independently.

Sensitivities are computed from declarations. A number beyond its bounds, or a cell that does not exist, would move a
sum or a count further than the noise allows for. A kind that looks at other rows would let one person change the values
of all others.
"""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import partial
from typing import Any

import numpy as np

from holdfast._arguments import checked
from holdfast.data._arrow_columns import arrow_columns
from holdfast.data._batch import Batch, encode_batch
from holdfast.data._encode import Encoder
from holdfast.data._engines import open_table
from holdfast.data._schema.columns import Categorical, Numeric
from holdfast.data._schema.kinds import KINDS, REGISTRY
from holdfast.data._schema.schema import Schema, read_column
from holdfast.errors import ParameterError
from holdfast.testing._contract import Check, ensure

DeclaredColumn = Numeric | Categorical
HOSTILE_VALUES: tuple[Any, ...] = (
    None,
    math.nan,
    math.inf,
    -math.inf,
    0,
    -0.0,
    1,
    -1,
    0.5,
    1e300,
    -1e300,
    2**70,
    -(2**70),
    True,
    False,
    "",
    " ",
    "0",
    "1e9",
    "-7",
    "nan",
    "no such thing",
    "\u00e9\u4e2d",
    "x" * 10_000,
    b"\xff",
    Decimal("1.5"),
    datetime.date(2024, 2, 29),
    datetime.datetime(1, 1, 1),
    [1, 2],
    {"a": 1},
)
"""Values that storage may hold in any column."""


def stored_values(column: DeclaredColumn) -> list[Any]:
    """Hostile values, and the ones that the declaration names."""
    declared_values: tuple[Any, ...] = column.labels
    if isinstance(column, Numeric):
        numbers = (*column.edges, *column.midpoints, column.low - 1, column.high + 1)
        declared_values = tuple(map(column.stored_value, numbers))
    return [*HOSTILE_VALUES, *declared_values]


def read_batch(column: DeclaredColumn, values: list[Any]) -> Batch:
    """The values as the column reads them."""
    return encode_batch(Schema([column]), arrow_columns({column.name: values}, [column.name]), len(values))


def _read_rows(batch: Batch, name: str) -> list[tuple[float, int, bool]]:
    """The value of each row, its cell, and whether it is missing."""
    missing = batch.missing.get(name, np.zeros(len(batch), dtype=np.bool_))
    readings = zip(batch.column(name).tolist(), batch.codes(name).tolist(), missing.tolist(), strict=True)
    return [(float(value), int(cell), bool(absent)) for value, cell, absent in readings]


def the_kind_is_declared(column: DeclaredColumn) -> None:
    """The kind has a name, the column has a label for each cell, and a stored declaration is read back unchanged."""
    kind = type(column)
    ensure(len(column.labels) == column.cells, f"{len(column.labels)} labels for {column.cells} cells")
    ensure(len(set(column.labels)) == column.cells, "two cells have one label")
    record = json.loads(json.dumps(column.to_dict()))
    ensure(
        record.get("kind") == kind.kind, f"to_dict says the kind {record.get('kind')!r}, not {kind.kind!r}"
    )
    if kind not in KINDS.values():
        try:
            REGISTRY.admit(kind)
        except ParameterError as error:
            raise AssertionError(str(error)) from error
    ensure(read_column(record, kind) == column, "a file gives another declaration than was written")
    ensure(bool(column.describe()), "describe() says nothing")


def every_value_is_read_within_the_declaration(column: DeclaredColumn) -> None:
    """Numbers stay between the bounds, cells exist, and no value makes it raise."""
    values = stored_values(column)
    for value, (read, cell, _) in zip(
        values, _read_rows(read_batch(column, values), column.name), strict=True
    ):
        value_text = repr(value)[:40]
        if isinstance(column, Numeric):
            inside = column.low <= read <= column.high
            ensure(inside, f"{value_text} is read as {read!r}, outside of [{column.low!r}, {column.high!r}]")
            ensure(
                not column.integer or read.is_integer(),
                f"{value_text} is read as {read!r}, which is not whole",
            )
        ensure(0 <= cell < column.cells, f"{value_text} falls into cell {cell} of {column.cells}")


def each_row_is_read_by_itself(column: DeclaredColumn) -> None:
    """A value is read alike when it is alone, among others, in another order and a second time.

    This check comes before all others that read values, so that a kind that remembers values has none to remember yet.
    """
    values = stored_values(column)
    first_readings = [_read_rows(read_batch(column, [value]), column.name)[0] for value in values]
    in_order = _read_rows(read_batch(column, values), column.name)
    in_reverse = _read_rows(read_batch(column, values[::-1]), column.name)[::-1]
    for place, value in enumerate(values):
        alone = _read_rows(read_batch(column, [value]), column.name)[0]
        is_same = first_readings[place] == in_order[place] == in_reverse[place] == alone
        ensure(is_same, f"{repr(value)[:40]} is read otherwise alone than among others")


def a_released_value_is_read_as_itself(column: DeclaredColumn) -> None:
    """Synthetic rows hold labels and midpoints: read again, they fall into the cell that they came from."""
    released_values: list[Any] = list(column.labels)
    if isinstance(column, Numeric):
        integer = column.integer
        released_values = [
            column.stored_value(math.floor(midpoint + 0.5) if integer else midpoint)
            for midpoint in column.midpoints
        ]
    # A missing value is released as missing.
    if isinstance(column, Numeric) and column.has_null_cell:
        released_values[-1] = None
    if isinstance(column, Categorical) and column.null not in (None, column.other, *column.declared_labels):
        released_values[column.null_code] = None
    readings = _read_rows(read_batch(column, released_values), column.name)
    for place, (value, (_, cell, _)) in enumerate(zip(released_values, readings, strict=True)):
        may_round = isinstance(column, Numeric) and column.integer  # a midpoint may round into the next cell
        ensure(
            cell == place or may_round,
            f"the released value {value!r} of cell {place} is read into cell {cell}",
        )


def rows_keep_their_norm(column: DeclaredColumn) -> None:
    """Encoded rows are no longer than the bound that sensitivities use."""
    for scale in ("symmetric", "unit"):
        encoder = Encoder(Schema([column]), row_norm=None, scale=scale)
        rows = encoder.encode(read_batch(column, stored_values(column)))
        longest = float(np.linalg.norm(rows, axis=1).max())
        ensure(
            longest <= encoder.row_norm_bound, f"a row has the norm {longest}, above {encoder.row_norm_bound}"
        )
        ensure(bool(np.abs(rows).max() <= 1.0), "an encoded feature leaves [-1, 1]")


def every_row_is_counted_once(column: DeclaredColumn) -> None:
    """Counts over the declared cells add up to the rows, and changing one row moves two of them by one."""
    values = stored_values(column)
    counts = _counts(column, values)
    ensure(counts.shape == (column.cells,), f"counts have the shape {counts.shape} for {column.cells} cells")
    ensure(int(counts.sum()) == len(values), f"{len(values)} rows are counted as {int(counts.sum())}")
    for place in range(0, len(values), 5):
        moved = int(np.abs(_counts(column, [*values[:place], None, *values[place + 1 :]]) - counts).sum())
        ensure(moved <= 2, f"changing one row moves the counts by {moved}")


def _counts(column: DeclaredColumn, values: list[Any]) -> Any:
    return open_table({column.name: values}, Schema([column])).counts([[column.name]])[0]


COLUMN_CHECKS: tuple[Callable[[DeclaredColumn], None], ...] = (
    the_kind_is_declared,
    each_row_is_read_by_itself,
    every_value_is_read_within_the_declaration,
    a_released_value_is_read_as_itself,
    rows_keep_their_norm,
    every_row_is_counted_once,
)


@checked
def column_checks(column: DeclaredColumn) -> Iterator[Check]:
    """What must hold of a column of this kind.

    Parameters
    ----------
    column : Numeric, Categorical or a column of a kind of your own
        An instance of the kind.

    Yields
    ------
    Check
        One statement each.

    Examples
    --------
    >>> next(column_checks(Numeric("age", 0, 100))).name
    'the_kind_is_declared'
    """
    for check in COLUMN_CHECKS:
        yield Check(name=check.__name__, run=partial(check, column))
