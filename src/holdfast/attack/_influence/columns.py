"""Columns of a table of people: which values one can take, and the same people with another value put in."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast._argument_kinds import type_text
from holdfast._arrays import Codes, Floats
from holdfast.data._schema import Numeric, Schema
from holdfast.errors import DataError, ParameterError, require

Column = str | int
MOST_TEXT_VALUES = 50
"""A column of texts with more values is refused: declare fewer, or merge them."""
MOST_NUMBER_CELLS = 20
"""Cells of a declared column of numbers that are told apart; more are joined."""
INNER_QUANTILES = (0.02, 0.15, 0.32, 0.68, 0.85, 0.98)
"""Where inside of a cell of numbers an attacker tries values, beside its middle."""
NUMBER_BINS = 5
"""A column of many numbers, without a schema, is guessed up to fifths of its people."""


def published_columns(features: Any) -> list[Column]:
    """The names of a frame or table, the numbers of an array's columns."""
    if isinstance(features, Mapping):
        return list(features)
    if hasattr(features, "column_names"):
        return list(features.column_names)
    if hasattr(features, "columns"):
        return [str(name) for name in features.columns]
    if len(getattr(features, "shape", ())) != 2:
        raise DataError(f"rows must be a data frame, an Arrow table or a matrix, got {type_text(features)}")
    return list(range(features.shape[1]))


def column_of(features: Any, name: Column) -> NDArray[Any]:
    """The values of one column."""
    known = published_columns(features)
    require(name in known, "columns", name, f"one of {', '.join(str(other) for other in known[:30])}")
    if isinstance(name, int) and not isinstance(features, Mapping):
        return np.asarray(features)[:, name]
    values = features[name]
    return np.asarray(values.to_numpy() if hasattr(values, "to_numpy") else values)


def with_column(features: Any, name: Column, values: Any) -> Any:
    """The same people with this column changed: to one value for all, or to one for each."""
    return _CONTAINERS[_kind(features)](features, name, values)


def _frame(frame: Any, name: Column, values: Any) -> Any:
    return frame.assign(**{str(name): values})


def _table(table: Any, name: Column, values: Any) -> Any:
    import pyarrow as pa

    column = values if isinstance(values, np.ndarray) else [values] * table.num_rows
    kind = table.schema.field(name).type
    numbers = pa.types.is_integer(kind) and np.asarray(column).dtype.kind == "f"
    return table.set_column(
        table.schema.get_field_index(name), name, pa.array(column) if numbers else pa.array(column).cast(kind)
    )


def _array(matrix: Any, name: Column, values: Any) -> Any:
    changed = np.array(matrix, dtype=np.result_type(np.asarray(matrix).dtype, np.asarray(values).dtype))
    changed[:, int(name)] = values
    return changed


_CONTAINERS: dict[str, Callable[[Any, Column, Any], Any]] = {
    "frame": _frame,
    "table": _table,
    "array": _array,
}


def _kind(features: Any) -> str:
    if hasattr(features, "column_names"):
        return "table"
    if hasattr(features, "assign"):
        return "frame"
    require(
        hasattr(features, "shape"), "people", type(features).__name__, "an array, data frame or Arrow table"
    )
    return "array"


@dataclass(frozen=True, kw_only=True, eq=False)
class Domain:
    """What a column can be: a value to put in for each cell, its label, and the cell of each person."""

    name: Column
    values: tuple[Any, ...]
    labels: tuple[str, ...]
    codes: Codes
    inner: tuple[tuple[Any, ...], ...] = ()
    """For numbers, further values to try inside of each cell, as many in each: people need not stand in its middle."""

    @classmethod
    def of(cls, features: Any, name: Column, schema: Schema | None = None) -> Domain:
        """By the schema, where it has the column; else the values that occur, or fifths of numbers."""
        column = column_of(features, name)
        if schema is not None and isinstance(name, str) and name in schema:
            return cls._from_schema(features, name, schema)
        numbers = column.dtype.kind in "iufb"
        if column.dtype.kind == "f" and not np.isfinite(column).all():
            return cls._of_known_numbers(features, name, np.isfinite(column))
        kinds, codes = np.unique(column if numbers else column.astype(str), return_inverse=True)
        if len(kinds) > MOST_TEXT_VALUES and not numbers:
            raise ParameterError(
                f"column {name!r} must have at most {MOST_TEXT_VALUES} values, or be declared in schema="
            )
        if numbers and len(kinds) > 2 * NUMBER_BINS:
            return cls._from_quantiles(name, column.astype(np.float64))
        values = tuple(kinds.tolist())
        labels = tuple(str(value) for value in values)
        return cls(name=name, values=values, labels=labels, codes=codes.reshape(-1).astype(np.int64))

    @classmethod
    def _of_known_numbers(cls, features: Any, name: Column, there: NDArray[np.bool_]) -> Domain:
        """The domain of those who have a number; the others have no value to guess."""
        require(bool(there.any()), "columns", name, "a column with a number")
        known = cls.of({name: column_of(features, name)[there]}, name)
        codes = np.full(there.size, -1, dtype=np.int64)
        codes[there] = known.codes
        return replace(known, codes=codes)

    @classmethod
    def _from_schema(cls, features: Any, name: str, schema: Schema) -> Domain:
        from holdfast.data._arrow_columns import arrow_columns
        from holdfast.data._batch import encode_batch

        column = schema[name]
        columns = arrow_columns(features, [name])
        codes = encode_batch(schema.select(name), columns, len(columns[name])).codes(name)
        if isinstance(column, Numeric):
            edges = np.asarray(column.edges, dtype=np.float64)
            # People whose number is missing have no value to guess, as those whose category is none.
            middles = np.asarray(column.midpoints[: edges.size - 1], dtype=np.float64)
            domain = cls._from_joined_cells(name, middles, codes, edges)
            if not column.integer:
                return domain
            # A whole number: one that is rounded up would stand in the next cell.
            return replace(
                domain, inner=tuple(tuple(math.floor(number) for number in cell) for cell in domain.inner)
            )
        values = column.declared_labels
        # What is neither a number nor a category cannot be put into a model: such people have no value to guess.
        inside = np.where(codes < len(values), codes, -1)
        return cls(
            name=name,
            values=values,
            labels=tuple(column.labels)[: len(values)],
            codes=inside.astype(np.int64),
        )

    @classmethod
    def _from_joined_cells(cls, name: Column, middles: Floats, codes: Codes, edges: Floats) -> Domain:
        """Declared cells of numbers; many of them are joined, in order, to at most MOST_NUMBER_CELLS of equal width."""
        width = -(-len(middles) // MOST_NUMBER_CELLS)
        width += width % 2 == 0  # an odd number of cells has one in the middle
        groups = [middles[start : start + width] for start in range(0, len(middles), width)]
        values = tuple(float(group[len(group) // 2]) for group in groups)
        labels = tuple(f"{g[0]:g}" if len(g) == 1 else f"{g[0]:g} to {g[-1]:g}" for g in groups)
        inside = np.where(codes < len(middles), codes // width, -1)
        borders = np.append(edges[:-1:width], edges[-1])
        inner = tuple(
            tuple((low + (high - low) * share).item() for share in INNER_QUANTILES)
            for low, high in pairwise(borders)
        )
        return cls(name=name, values=values, labels=labels, codes=inside.astype(np.int64), inner=inner)

    @classmethod
    def _from_quantiles(cls, name: Column, numbers: Floats) -> Domain:
        edges = np.unique(np.quantile(numbers, np.arange(1, NUMBER_BINS) / NUMBER_BINS))
        codes = np.searchsorted(edges, numbers, side="right")
        occupied = np.unique(codes)
        values = tuple(float(np.median(numbers[codes == cell])) for cell in occupied)
        labels = tuple(f"about {value:.4g}" for value in values)
        inner = tuple(
            tuple(np.quantile(numbers[codes == cell], INNER_QUANTILES, method="nearest").tolist())
            for cell in occupied
        )
        return cls(
            name=name,
            values=values,
            labels=labels,
            codes=np.searchsorted(occupied, codes).astype(np.int64),
            inner=inner,
        )

    @property
    def size(self) -> int:
        """The number of values."""
        return len(self.values)


def encoded_without(features: Any, name: Column) -> Floats:
    """All other columns as numbers: centred and scaled, texts as indicators."""
    blocks: list[Floats] = []
    for other in published_columns(features):
        if other == name:
            continue
        values = column_of(features, other)
        if values.dtype.kind in "iufb":
            numbers = np.nan_to_num(values.astype(np.float64))
            blocks.append(((numbers - numbers.mean()) / max(float(numbers.std()), 1e-12))[:, None])
        else:
            kinds, codes = np.unique(values.astype(str), return_inverse=True)
            blocks.append(np.eye(len(kinds))[codes.reshape(-1)][:, : max(1, len(kinds) - 1)])
    return np.column_stack(blocks) if blocks else np.zeros((len(column_of(features, name)), 1))
