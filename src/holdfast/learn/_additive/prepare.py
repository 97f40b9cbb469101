"""Rows and labels for an additive fit, from arrays or from a table, with what reading them assumed."""

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
    """Rows behind their cells. `read` is what nobody declared, of which callers are warned."""

    rows: CellRows
    coding: Any
    schema: Schema
    columns: tuple[str, ...]
    read: tuple[Assumption, ...] = ()
    declared: tuple[Assumption, ...] = ()
    from_arrays: bool = False
    levels: Mapping[str, int] | None = None
    """Of hierarchies that left their level to the fit."""
    count_is_public: bool = True
    """Whether the number of units is: declared, or the same in all neighbours."""
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
    """A table of any engine: every declared column but the target has a shape."""
    if target is None:
        raise ParameterError("target must be the name of a column where a Table is fitted, got target=None")
    count, counted = count_of_table(table, n_public)
    table, levels = with_open_levels_chosen(table, rows=count, limit=limit)
    coded, name = coding(table.schema[target]), target
    columns = tuple(column for column in table.schema.names if column != target)

    def read() -> Iterator[tuple[Batch, Floats]]:
        for batch in table.batches([*columns, name], order=Order.irrelevant()):
            labels = coded.encode_column(batch, name)
            known = np.flatnonzero(np.isfinite(labels))
            # A row without a target is in no cell and has no gradient: one record moves what is summed by what it adds,
            # which is 0 here, so that every sensitivity holds as it stands, under `replace` too.
            yield (batch, labels) if len(known) == len(labels) else (batch.take(known), labels[known])

    rows = CellRows(
        cells=cells_of_columns([table.schema[column] for column in columns]),
        read=read,
        adjacency=table.adjacency,
        unit=table.unit,
        public_count=count,
        file=_file(table, columns=len(columns), count=count),
        may_lack_targets=target_may_be_missing(table.schema[name]),
    )
    return AdditiveInput(
        rows=rows,
        coding=coded,
        schema=table.schema,
        columns=columns,
        read=drafted_classes(table.schema[name]),
        declared=(*counted, *table.assumptions),
        levels=levels,
        counted=CountedRows.of_table(table, name, None if counted else count),
        count_is_public=not counted,
    )


def _file(table: Table, *, columns: int, count: int) -> PrivateFile | None:
    """Where rows go that do not fit into memory: two bytes per column and a label each, if the disk has room."""
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
    """A matrix of numbers within declared bounds."""
    coding, read = targets
    labels = coding.encode(y)
    schema = Schema(
        declared_columns(names, FEATURE_BOUNDS if bounds is None else bounds), adjacency=adjacency
    )
    count, counted = count_of_array(len(X), n_public, adjacency)
    read = (*read, *counted)
    rows = CellRows(
        cells=cells_of_columns(list(schema.columns)),
        read=lambda: batches_of_matrix(schema, X, labels),
        adjacency=adjacency,
        unit=schema.confirmed_unit,
        public_count=count,
    )
    assumed = (FEATURES_ASSUMED,) if bounds is None else ()
    return AdditiveInput(
        rows=rows,
        coding=coding,
        schema=schema,
        columns=names,
        read=(*read, *assumed),
        declared=(ROWS_AS_COLLECTED,),
        from_arrays=True,
        counted=CountedRows(count=None if counted else count, unit="rows"),
        count_is_public=not counted,
    )
