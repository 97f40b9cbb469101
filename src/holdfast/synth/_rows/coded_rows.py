"""CodedRows: synthetic records as cell codes, their joint counts, and their values.

Labels, numbers inside their bins and nulls come from the schema alone, never from the data. A decoded record, read
again with the same schema, falls into the cells it came from: what was certified of the cells holds for the values.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Codes, Floats
from holdfast.data._schema import Categorical, DateTime, Numeric, Schema
from holdfast.data._schema.columns import typed_labels
from holdfast.errors import ParameterError, require
from holdfast.noise._source import Source
from holdfast.synth._models.model import Measurement
from holdfast.synth._rows.impossible_rows import Zeros
from holdfast.synth._workload.workload import Group

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


@dataclass(frozen=True, kw_only=True, eq=False)
class CodedRows:
    """Cell codes, with a row per record and a column per column of the domain.

    >>> rows = CodedRows(domain={"a": 2, "b": 3}, codes=np.array([[0, 2], [1, 2], [1, 0]]))
    >>> rows(["a"]).tolist(), rows(["b", "a"]).tolist()
    ([1.0, 2.0], [[0.0, 1.0], [0.0, 0.0], [1.0, 1.0]])
    """

    domain: Mapping[str, int]
    codes: Codes

    def __post_init__(self) -> None:
        object.__setattr__(self, "codes", np.ascontiguousarray(self.codes, dtype=np.int64))
        sizes = np.array(list(self.domain.values()))
        flat = self.codes.ndim == 2 and self.codes.shape[1] == len(sizes)
        require(flat, "codes", self.codes.shape, f"rows of {len(sizes)} codes")
        inside = bool(np.all((self.codes >= 0) & (self.codes < sizes)))
        require(inside, "codes", "...", "codes inside the domain")

    def __len__(self) -> int:
        return len(self.codes)

    def __call__(self, columns: Sequence[str]) -> Floats:
        """The joint count of some columns."""
        shape = tuple(self.domain[name] for name in columns)
        if not shape:
            return np.array(float(len(self)))
        place = {name: column for column, name in enumerate(self.domain)}
        cells = np.ravel_multi_index(tuple(self.codes[:, place[name]] for name in columns), shape)
        counts = np.bincount(cells, minlength=int(np.prod(shape, dtype=np.int64)))
        return counts.reshape(shape).astype(np.float64)

    def answers(self, group: Group) -> Floats:
        """The summed answers of a group: from the joint count of its columns, or row by row."""
        if not group.by_rows:
            return group.answers(self(group.columns))
        place = {name: column for column, name in enumerate(self.domain)}
        summed: Any = group
        return np.asarray(summed.sums_over(self.codes[:, [place[name] for name in group.columns]]))

    def fingerprint(self) -> str:
        """A hash of the records, by which a certificate names the rows that it is about."""
        head = repr([list(self.domain.items()), self.codes.shape]).encode()
        return hashlib.sha256(head + self.codes.astype("<i8").tobytes()).hexdigest()


def row_coins(measurements: Sequence[Measurement], *, key: str) -> Source:
    """The source of randomness that draws rows from a released model: a function of what was released.

    Drawing rows is post-processing, so its randomness protects nobody. Because it is a function of released values,
    a job that was killed and runs again draws the same rows, and its certificate is about the rows that come out.
    """
    digest = hashlib.sha256(key.encode())
    for measurement in measurements:
        digest.update(repr((measurement.columns, measurement.noise_std)).encode())
        digest.update(np.ascontiguousarray(measurement.values, dtype="<f8").tobytes())
    return Source(seed=int.from_bytes(digest.digest()[:16], "little"))


# To values.


def decode_rows(rows: CodedRows, schema: Schema, source: Source, constraints: Sequence[Zeros] = ()) -> Any:
    """An Arrow table: whole numbers as int64, other numbers as float64, dates as dates, categories as texts.

    A `dtype` of the schema is kept; an ordered column is an ordered dictionary of its labels.
    Categories that are all whole numbers, all dates (2026-05-01), or `true` and `false`, come back as such: types
    follow from the declared labels, never from how a frame stored them. A number is uniform within its bin, or its
    logarithm is where bins are logarithmic, and whole numbers are such numbers, rounded; columns that `constraints`
    declare to be in order keep to it there.
    """
    import pyarrow

    codes = {name: rows.codes[:, place] for place, name in enumerate(rows.domain)}
    ordered = _order_cells(codes, schema, [zeros for zeros in constraints if zeros.gap is not None])
    return pyarrow.table(
        {name: _decode_column(schema[name], codes[name], source, ordered) for name in rows.domain}
    )


def _order_cells(codes: Mapping[str, Codes], schema: Schema, orders: Sequence[Zeros]) -> Any:
    """The ranges of values that columns in order allow each row (`OrderedCells`); None where no order is declared."""
    if not orders:
        return None
    from holdfast.synth._rows.column_order import OrderedCells

    return OrderedCells(codes, schema, orders)


def empty_cells(schema: Schema, names: tuple[str, ...]) -> tuple[Zeros, ...]:
    """Bins of whole-number columns that contain no whole number, as impossible cells."""
    zeros = []
    for name in names:
        column = schema[name]
        if isinstance(column, Numeric) and column.integer:
            low, high = whole_bounds(column)
            empty = np.flatnonzero(low > high)
            if empty.size:
                zeros.append(Zeros((name,), [(int(cell),) for cell in empty]))
    return tuple(zeros)


def null_cell(column: Numeric | Categorical) -> int | None:
    """The cell that means a missing value and nothing else; None where there is none."""
    if isinstance(column, Numeric):
        return column.cells - 1 if column.has_null_cell else None
    new = (
        column.null is not None and column.null not in column.declared_labels and column.null != column.other
    )
    return column.null_code if new else None


def _decode_column(column: Numeric | Categorical, codes: Codes, source: Source, ordered: Any) -> Any:
    missing = None if null_cell(column) is None else codes == null_cell(column)
    if isinstance(column, Numeric):
        values = _numbers(column, codes, missing, source, ordered)
    else:
        values = _labels(column, codes, missing)
    if column.dtype is None and not (isinstance(column, Categorical) and column.ordered):
        return values
    from holdfast.synth._rows.frames import as_type, declared_type

    return as_type(column, values, declared_type(column))


def _numbers(
    column: Numeric, codes: Codes, missing: NDArray[np.bool_] | None, source: Source, ordered: Any
) -> Any:
    import pyarrow

    bins = len(column.edges) - 1
    cell = np.minimum(codes, bins - 1)
    uniform = (source.words(len(codes)) >> np.uint64(11)).astype(np.float64) * 2.0**-53
    if column.integer:
        low, high = whole_bounds(column)
        if np.any(low[cell] > high[cell]):
            raise ParameterError(f"a bin of column {column.name!r} holds no whole number; declare wider bins")
        low, high = low[cell], high[cell]
        in_order = ordered is not None and column.name in ordered
        if in_order:
            low, high = ordered.bounds(column.name)
        values: NDArray[Any] = _whole_numbers(low, high, uniform, logarithmic=column.spacing == "log")
        if in_order:
            ordered.decide(column.name, values)
        if isinstance(column, DateTime):
            from holdfast.data._moments import as_dates

            return as_dates(column, values, missing)
    else:
        edges = np.array(column.edges)
        left, right = edges[:-1][cell], edges[1:][cell]
        # Bins are half-open: the right edge belongs to the next one.
        values = left + uniform * (right - left)
        if column.spacing == "log":
            one_sign = left * right > 0
            ratio = np.where(one_sign, right, 1.0) / np.where(one_sign, left, 1.0)
            values = np.where(one_sign, left * ratio**uniform, values)
        if column.decimals is not None:
            values = _round_within(values, left, right, column.decimals)
        values = np.maximum(np.minimum(values, np.nextafter(right, left)), left)
    return pyarrow.array(values, mask=missing)


def _whole_numbers(low: Codes, high: Codes, uniform: Floats, *, logarithmic: bool) -> Codes:
    """Whole numbers from `low` to `high`, each with the probability of the real numbers that round to it (`Numeric`).

    The real numbers are uniform between `low - 1/2` and `high + 1/2`, or log-uniform where all have the same sign.
    """
    span = high - low + 1
    even: Codes = low + np.minimum((uniform * span).astype(np.int64), span - 1)
    if not logarithmic:
        return even
    one_sign = (low > 0) | (high < 0)
    smallest, largest = np.minimum(np.abs(low), np.abs(high)), np.maximum(np.abs(low), np.abs(high))
    start = np.where(one_sign, smallest, 1) - 0.5
    ratio = np.where(one_sign, largest + 0.5, start) / start
    # Below zero the uniform number counts from the other end, so that a larger one gives a larger value everywhere.
    size = np.floor(start * ratio ** np.where(high < 0, 1.0 - uniform, uniform) + 0.5).astype(np.int64)
    size = np.clip(size, smallest, largest)
    return np.where(one_sign, np.where(high < 0, -size, size), even)


def _round_within(values: Floats, left: Floats, right: Floats, decimals: int) -> Floats:
    """The values rounded to `decimals` digits, where the cell contains such a number."""
    near, step = np.round(values, decimals), 10.0**-decimals
    rounded, settled = values, np.zeros(len(values), dtype=np.bool_)
    for candidate in (near, np.round(near - step, decimals), np.round(near + step, decimals)):
        inside = ~settled & (candidate >= left) & (candidate < right)
        rounded, settled = np.where(inside, candidate, rounded), settled | inside
    return rounded


def whole_bounds(column: Numeric) -> tuple[Codes, Codes]:
    """The first and the last whole number of each bin; the last bin is closed on the right."""
    edges = column.edges
    low = np.array([math.ceil(edge) for edge in edges[:-1]])
    high = np.array([math.ceil(edge) - 1 for edge in edges[1:]])
    high[-1] = math.floor(min(edges[-1], column.high))
    return low, high


def _labels(column: Categorical, codes: Codes, missing: NDArray[np.bool_] | None) -> Any:
    import pyarrow

    null = null_cell(column)
    labels = [label for cell, label in enumerate(column.labels) if cell != null]
    typed = typed_labels(labels)
    if all(_is_date(label) for label in labels):
        values: Any = np.array(labels, dtype="datetime64[D]")
    else:
        values = np.array(typed, dtype=object if isinstance(typed[0], str) else None)
    place = np.minimum(codes, len(labels) - 1)
    if null is not None and null < len(labels):
        place = np.where(codes > null, codes - 1, place)
    # Of texts that are all missing, Arrow would say that they have no type.
    dtype = pyarrow.string() if values.dtype == object else None
    return pyarrow.array(values[place], type=dtype, mask=missing)


def _is_date(label: str) -> bool:
    """Whether a label is a calendar date in the form YYYY-MM-DD, which every engine reads."""
    try:
        return _DATE.fullmatch(label) is not None and bool(date.fromisoformat(label))
    except ValueError:
        return False
