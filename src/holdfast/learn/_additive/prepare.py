"""The input of an additive fit, from arrays or from a table: rows, labels, schema and assumptions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from holdfast._arrays import Floats
from holdfast._assumption import Assumption
from holdfast.data._batch import Batch
from holdfast.data._order import Order
from holdfast.data._schema import Categorical, Numeric, Schema
from holdfast.data._table import Table
from holdfast.errors import ParameterError
from holdfast.learn._additive.cell_rows import CellRows, batches_of_matrix
from holdfast.learn._additive.cells import cells_of_columns
from holdfast.learn._problem.problem import LabelCoding
from holdfast.learn._rows.counted_rows import CountedRows, target_may_be_missing
from holdfast.learn._rows.declared_bounds import FEATURES_ASSUMED, Bounds, declared_columns
from holdfast.learn._rows.drafted_classes import drafted_classes
from holdfast.learn._rows.levels import with_open_levels_chosen
from holdfast.learn._rows.payment import ROWS_AS_COLLECTED
from holdfast.learn._rows.private_file import PrivateFile, has_room
from holdfast.learn._rows.public_count import count_of_array, count_of_table
from holdfast.privacy._adjacency import Adjacency
from holdfast.privacy._curves.curve import PrivacyCurve

FEATURE_BOUNDS = (-1.0, 1.0)
"""What features of an array are clipped to where no bounds are declared."""


@dataclass(frozen=True, kw_only=True, eq=False)
class AdditiveInput:
    """The rows of an additive fit, the coding of its target, its schema, and what is assumed of them."""

    rows: CellRows
    coding: Any
    schema: Schema
    columns: tuple[str, ...]
    undeclared: tuple[Assumption, ...] = ()
    """What nobody declared and defaults or the data stand in for: callers are warned of it."""
    declared: tuple[Assumption, ...] = ()
    """What the caller declared, or what holds without a warning."""
    from_arrays: bool = False
    levels: Mapping[str, int] | None = None
    """The levels chosen for hierarchies that left them to the fit."""
    count_is_public: bool = True
    """Whether the number of units is public: declared, or the same in all neighbours."""
    counted: CountedRows
    """Which rows n counts."""


def additive_table(
    table: Table,
    target: str | None,
    *,
    coding: Callable[[Numeric | Categorical], LabelCoding],
    n_public: int | None,
    limit: PrivacyCurve | None,
) -> AdditiveInput:
    """The input from a table of any engine, where every declared column but the target has a shape."""
    if target is None:
        raise ParameterError("target must be the name of a column where a Table is fitted, got target=None")
    count, count_assumed = count_of_table(table, n_public)
    table, levels = with_open_levels_chosen(table, rows=count, limit=limit)
    target_column, label_coding = target, coding(table.schema[target])
    columns = tuple(column for column in table.schema.names if column != target_column)

    def batches_with_labels() -> Iterator[tuple[Batch, Floats]]:
        for batch in table.batches([*columns, target_column], order=Order.irrelevant()):
            labels = label_coding.encode_column(batch, target_column)
            with_target = np.flatnonzero(np.isfinite(labels))
            if len(with_target) < len(labels):
                # A row without a target is in no cell and has no gradient. It adds 0 to every sum, which no
                # sensitivity excludes, under `replace` neither.
                batch, labels = batch.take(with_target), labels[with_target]
            yield batch, labels

    rows = CellRows(
        cells=cells_of_columns([table.schema[column] for column in columns]),
        read=batches_with_labels,
        adjacency=table.adjacency,
        unit=table.unit,
        public_count=count,
        file=_cache_file(table, columns=len(columns), count=count),
        may_lack_targets=target_may_be_missing(table.schema[target_column]),
    )
    return AdditiveInput(
        rows=rows,
        coding=label_coding,
        schema=table.schema,
        columns=columns,
        undeclared=drafted_classes(table.schema[target_column]),
        declared=(*count_assumed, *table.assumptions),
        levels=levels,
        counted=CountedRows.of_table(table, target_column, None if count_assumed else count),
        count_is_public=not count_assumed,
    )


def _cache_file(table: Table, *, columns: int, count: int) -> PrivateFile | None:
    """The file for rows that do not fit into memory (two bytes per column, and a label), if the disk has room."""
    size = (2 * columns + 8) * count * table.unit.max_rows
    return PrivateFile(table.copy_folder) if table.copies and has_room(table.copy_folder, size) else None


def additive_arrays(
    X: Floats,
    targets: tuple[LabelCoding, tuple[Assumption, ...]],
    y: Any,
    *,
    names: tuple[str, ...],
    bounds: Bounds | None,
    adjacency: Adjacency,
    n_public: int | None,
) -> AdditiveInput:
    """The input from a matrix of numbers; `targets` is the coding of `y`, and what is assumed of it."""
    coding, targets_assumed = targets
    labels = coding.encode(y)
    schema = Schema(
        declared_columns(names, FEATURE_BOUNDS if bounds is None else bounds), adjacency=adjacency
    )
    count, count_assumed = count_of_array(len(X), n_public, adjacency)
    rows = CellRows(
        cells=cells_of_columns(list(schema.columns)),
        read=lambda: batches_of_matrix(schema, X, labels),
        adjacency=adjacency,
        unit=schema.confirmed_unit,
        public_count=count,
    )
    bounds_assumed = (FEATURES_ASSUMED,) if bounds is None else ()
    return AdditiveInput(
        rows=rows,
        coding=coding,
        schema=schema,
        columns=names,
        undeclared=(*targets_assumed, *count_assumed, *bounds_assumed),
        declared=(ROWS_AS_COLLECTED,),
        from_arrays=True,
        counted=CountedRows(count=None if count_assumed else count, unit="rows"),
        count_is_public=not count_assumed,
    )
