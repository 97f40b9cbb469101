"""Prepared: rows and labels as methods take them, from arrays or from a table, with what reading them assumed."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from holdfast._arguments import shown, type_of
from holdfast._assumption import Assumption
from holdfast.data._encode import Encoder
from holdfast.data._schema import Categorical, Numeric, Schema
from holdfast.data._table import Table
from holdfast.errors import ParameterError
from holdfast.learn._inference.public_design import USERS_ASSUMED, PublicDesign, clipping_assumptions
from holdfast.learn._problem.problem import LabelCoding
from holdfast.learn._rows.counted_rows import CountedRows
from holdfast.learn._rows.declared_bounds import FEATURES_ASSUMED, Bounds, declared_columns
from holdfast.learn._rows.design import design, intercept_value, row_norm_of
from holdfast.learn._rows.drafted_classes import drafted_classes
from holdfast.learn._rows.examples import ArrayExamples, Examples
from holdfast.learn._rows.levels import at_learned_levels
from holdfast.learn._rows.payment import ROWS_AS_COLLECTED
from holdfast.learn._rows.public_count import count_of_array, count_of_table
from holdfast.learn._rows.table_examples import TableExamples
from holdfast.privacy._adjacency import Adjacency
from holdfast.privacy._curves.curve import PrivacyCurve


@dataclass(frozen=True, kw_only=True, eq=False)
class Prepared:
    """Clipped and labelled rows. `read` is what nobody declared, of which callers are warned."""

    examples: Examples
    coding: LabelCoding
    read: tuple[Assumption, ...] = ()
    declared: tuple[Assumption, ...] = ()
    feature_names: tuple[str, ...] | None = None
    columns: tuple[str, ...] | None = None
    schema: Mapping[str, Any] | None = None
    schema_hash: str | None = None
    row_norm: float = 1.0
    """What rows are clipped to."""
    longest_row: float | None = None
    """No row is longer before it is clipped, by what is declared; None where nothing is."""
    reference: tuple[str, ...] = ()
    """Columns whose first category has no feature."""
    levels: Mapping[str, int] | None = None
    """Of hierarchies that left their level to the fit."""
    count_is_public: bool = True
    """Whether the number of units is: declared, or the same in all neighbours."""
    counted: CountedRows
    """Which rows n counts."""

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """What the promise rests on."""
        return (*self.read, *self.declared)

    @property
    def parameters(self) -> dict[str, Any]:
        """What a release says of rows and labels."""
        return {**self.counted.parameters, **self.coding.parameters}


def require_labels(X: Any, y: Any, target: str | None) -> None:
    """Rows that are no Table come with their labels beside them; the error says how, for a frame as for an array."""
    if target is None:
        return
    reason = (
        "None beside y" if y is not None else f"None where X is {type_of(X)}, as it names a column of a Table"
    )
    raise ParameterError(
        f"target must be {reason}, got target={shown(target)}; give labels as fit(X, y), with y = frame[target] and "
        "X = frame.drop(columns=target), or a Table, which has a schema: fit(open_table(frame, schema), target=...)"
    )


def of_arrays(
    X: Any,
    targets: tuple[LabelCoding, tuple[Assumption, ...]],
    y: Any,
    *,
    row_norm: float | None,
    fit_intercept: bool,
    intervals: bool,
    adjacency: Adjacency,
    n_public: int | None,
    names: Any = None,
    bounds: Bounds | None = None,
) -> Prepared:
    """A matrix, dense or sparse: scaled where bounds are declared, clipped, with the constant column.

    `intervals`: whether they are wanted, which decides the row norm where none is given.
    """
    coding, read = targets
    count, counted = count_of_array(X.shape[0], n_public, adjacency)
    named = None if names is None else tuple(str(name) for name in np.asarray(names))
    schema, assumed = None, () if bounds is not None else (FEATURES_ASSUMED,)
    longest = None if bounds is None else math.nextafter(math.sqrt(X.shape[1]), math.inf)
    norm = row_norm_of(row_norm, longest, intervals=intervals)
    if intervals:
        assumed = (*assumed, *clipping_assumptions(norm, longest))
    if bounds is not None:
        named = named or tuple(f"x{place}" for place in range(X.shape[1]))
        schema = Schema(declared_columns(named, bounds), adjacency=adjacency)
        dense = X.toarray() if hasattr(X, "toarray") else X
        X = Encoder(schema, named, intercept=False, row_norm=norm).transform(np.asarray(dense))
    return Prepared(
        examples=ArrayExamples(
            features=design(X, row_norm=norm, constant=intercept_value(norm, fit_intercept=fit_intercept)),
            labels=coding.encode(y),
            adjacency=adjacency,
            public_count=count,
        ),
        coding=coding,
        read=(*read, *counted, *assumed),
        declared=(ROWS_AS_COLLECTED,),
        feature_names=named,
        columns=None if schema is None else named,
        schema=None if schema is None else schema.to_dict(),
        schema_hash=None if schema is None else schema.hash(),
        count_is_public=not counted,
        counted=CountedRows(count=None if counted else count, unit="rows"),
        row_norm=norm,
        longest_row=longest,
    )


def of_table(
    table: Table,
    target: str | None,
    *,
    coding: Callable[[Numeric | Categorical], LabelCoding],
    row_norm: float | None,
    fit_intercept: bool,
    intervals: bool,
    n_public: int | None,
    limit: PrivacyCurve | None,
) -> Prepared:
    """A table of any engine: every declared column but the target is a feature; without a limit there is no noise."""
    if target is None:
        raise ParameterError("target must be the name of a column where a Table is fitted, got target=None")
    count, counted = count_of_table(table, n_public)
    table, levels = at_learned_levels(table, rows=count, limit=limit)
    coded = coding(table.schema[target])
    columns = tuple(name for name in table.schema.names if name != target)
    public = PublicDesign(schema=table.schema, columns=columns, reference=())
    said = drafted_classes(table.schema[target])
    if intervals:
        public = PublicDesign.of(table.schema, columns, intercept=fit_intercept)
        said = (*said, USERS_ASSUMED) if table.unit.max_rows > 1 else said
    norm = row_norm_of(row_norm, public.longest_row, intervals=intervals)
    if intervals:
        said = (*said, *clipping_assumptions(norm, public.longest_row))
    encoder = public.encoder(norm)
    encoder.fit()
    examples = TableExamples(
        table=table,
        encoder=encoder,
        target=target,
        coding=coded,
        public_count=count,
        intercept=intercept_value(norm, fit_intercept=fit_intercept),
    )
    return Prepared(
        examples=examples.loaded(),
        coding=coded,
        read=said,
        declared=(*counted, *table.assumptions),
        feature_names=tuple(encoder.get_feature_names_out().tolist()),
        columns=columns,
        schema=table.schema.to_dict(),
        schema_hash=table.schema.hash(),
        levels=levels,
        count_is_public=not counted,
        counted=CountedRows.of_table(table, target, None if counted else count),
        row_norm=norm,
        longest_row=public.longest_row,
        reference=public.reference,
    )
