"""From cell codes back to values: labels, numbers inside their bins, nulls. By the schema alone, never by the data.

A decoded record, read again with the same schema, falls into the cells it came from: what was certified of the
cells holds for the values.
"""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.data.columns import Categorical, Numeric
from holdfast.data.schema import Schema
from holdfast.errors import ParameterError
from holdfast.noise.source import Source
from holdfast.synth.coded import CodedRows, Codes
from holdfast.synth.constraints import Zeros

_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")


def decode(rows: CodedRows, schema: Schema, source: Source) -> Any:
    """An Arrow table: whole numbers as int64, other numbers as float64, categories as texts.

    Categories that are all whole numbers (or `true` and `false`) come back as such. A number is uniform within
    its bin.
    """
    import pyarrow

    columns = {
        name: _decoded(schema[name], rows.codes[:, place], source) for place, name in enumerate(rows.domain)
    }
    return pyarrow.table(columns)


def empty_cells(schema: Schema, names: tuple[str, ...]) -> tuple[Zeros, ...]:
    """Bins of whole-number columns that hold no whole number: no record can be there, so none is drawn there."""
    made = []
    for name in names:
        column = schema[name]
        if isinstance(column, Numeric) and column.integer:
            low, high = _whole_bounds(column)
            empty = np.flatnonzero(low > high)
            if empty.size:
                made.append(Zeros((name,), [(int(cell),) for cell in empty]))
    return tuple(made)


def null_cell(column: Numeric | Categorical) -> int | None:
    """The cell that stands for a missing value and for nothing else."""
    if isinstance(column, Numeric):
        return column.cells - 1 if column.has_null_cell else None
    new = column.null is not None and column.null not in column.categories and column.null != column.other
    return column.null_code if new else None


def _decoded(column: Numeric | Categorical, codes: Codes, source: Source) -> Any:
    missing = None if null_cell(column) is None else codes == null_cell(column)
    if isinstance(column, Numeric):
        return _numbers(column, codes, missing, source)
    return _labels(column, codes, missing)


def _numbers(column: Numeric, codes: Codes, missing: NDArray[np.bool_] | None, source: Source) -> Any:
    import pyarrow

    bins = len(column.edges) - 1
    cell = np.minimum(codes, bins - 1)
    uniform = (source.words(len(codes)) >> np.uint64(11)).astype(np.float64) * 2.0**-53
    if column.integer:
        low, high = _whole_bounds(column)
        if np.any(low[cell] > high[cell]):
            raise ParameterError(f"a bin of column {column.name!r} holds no whole number; declare wider bins")
        span = (high - low + 1)[cell]
        values: NDArray[Any] = low[cell] + np.minimum((uniform * span).astype(np.int64), span - 1)
    else:
        edges = np.array(column.edges)
        left, right = edges[:-1][cell], edges[1:][cell]
        # Bins are half-open: the right edge belongs to the next one.
        values = np.minimum(left + uniform * (right - left), np.nextafter(right, left))
        values = np.maximum(values, left)
    return pyarrow.array(values, mask=missing)


def _whole_bounds(column: Numeric) -> tuple[Codes, Codes]:
    """The first and the last whole number of each bin; the last bin is closed on the right."""
    edges = column.edges
    low = np.array([math.ceil(edge) for edge in edges[:-1]])
    high = np.array([math.ceil(edge) - 1 for edge in edges[1:]])
    high[-1] = math.floor(min(edges[-1], column.high))
    return low, high


def _labels(column: Categorical, codes: Codes, missing: NDArray[np.bool_] | None) -> Any:
    import pyarrow

    gone = null_cell(column)
    labels = [label for cell, label in enumerate(column.labels) if cell != gone]
    if all(_WHOLE.fullmatch(label) for label in labels):
        values: Any = np.array([int(label) for label in labels])
    elif set(labels) == {"true", "false"}:
        values = np.array([label == "true" for label in labels])
    else:
        values = np.array(labels, dtype=object)
    place = np.minimum(codes, len(labels) - 1)
    if gone is not None and gone < len(labels):
        place = np.where(codes > gone, codes - 1, place)
    return pyarrow.array(values[place], mask=missing)
