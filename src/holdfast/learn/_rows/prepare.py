"""PreparedRows: rows and labels as learning methods take them, made from arrays or from a table."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from holdfast._argument_kinds import type_text, value_text
from holdfast._assumption import Assumption
from holdfast.data._encode import Encoder
from holdfast.data._schema import Categorical, Numeric, Schema
from holdfast.data._table import Table
from holdfast.errors import ParameterError
from holdfast.learn._inference.public_design import USERS_ASSUMED, PublicDesign, clipping_assumptions
from holdfast.learn._problem.problem import LabelCoding
from holdfast.learn._rows.counted_rows import CountedRows
from holdfast.learn._rows.declared_bounds import FEATURES_ASSUMED, Bounds, declared_columns
from holdfast.learn._rows.design import design, intercept_value, resolve_row_norm
from holdfast.learn._rows.drafted_classes import drafted_classes
from holdfast.learn._rows.examples import ArrayExamples, Examples
from holdfast.learn._rows.levels import with_open_levels_chosen
from holdfast.learn._rows.payment import ROWS_AS_COLLECTED
from holdfast.learn._rows.public_count import count_of_array, count_of_table
from holdfast.learn._rows.table_examples import TableExamples
from holdfast.privacy._adjacency import Adjacency
from holdfast.privacy._curves.curve import PrivacyCurve


@dataclass(frozen=True, kw_only=True, eq=False)
class PreparedRows:
    """Clipped rows with labels, and what a model or a release says about them."""

    examples: Examples
    coding: LabelCoding
    warned_assumptions: tuple[Assumption, ...] = ()
    """What nobody declared; the caller warns of it."""
    other_assumptions: tuple[Assumption, ...] = ()
    """Assumptions that a release lists without a warning."""
    feature_names: tuple[str, ...] | None = None
    columns: tuple[str, ...] | None = None
    schema: Mapping[str, Any] | None = None
    schema_hash: str | None = None
    row_norm: float = 1.0
    """The norm that rows are clipped to."""
    longest_row: float | None = None
    """The largest norm that a row can have by its declaration; None where nothing is declared."""
    reference: tuple[str, ...] = ()
    """Columns whose first category has no feature."""
    levels: Mapping[str, int] | None = None
    """The levels chosen for hierarchies that left them open, by column."""
    count_is_public: bool = True
    """Whether the number of units is declared, or the same in all neighbouring tables."""
    counted: CountedRows
    """What the number n of the fit counts."""

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """All assumptions that the promise rests on."""
        return (*self.warned_assumptions, *self.other_assumptions)

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of a release that describe rows and labels."""
        return {**self.counted.parameters, **self.coding.parameters}


def require_labels(X: Any, y: Any, target: str | None) -> None:
    """Refuse `target` with rows that are no Table; the error says how labels are given."""
    if target is None:
        return
    reason = (
        "None beside y"
        if y is not None
        else f"None where X is {type_text(X)}, as it names a column of a Table"
    )
    raise ParameterError(
        f"target must be {reason}, got target={value_text(target)}; give labels as fit(X, y), with y = frame[target] "
        "and X = frame.drop(columns=target), or a Table, which has a schema: fit(open_table(frame, schema), target=...)"
    )


def prepare_arrays(
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
) -> PreparedRows:
    """Prepare a dense or sparse matrix: scale columns with declared bounds, clip rows, add the constant column.

    `intervals` says whether confidence intervals will be computed; they decide the row norm where none is given.
    """
    coding, label_assumptions = targets
    count, count_assumptions = count_of_array(X.shape[0], n_public, adjacency)
    column_names = None if names is None else tuple(str(name) for name in np.asarray(names))
    schema, assumed = None, () if bounds is not None else (FEATURES_ASSUMED,)
    longest = None if bounds is None else math.nextafter(math.sqrt(X.shape[1]), math.inf)
    norm = resolve_row_norm(row_norm, longest, intervals=intervals)
    if intervals:
        assumed = (*assumed, *clipping_assumptions(norm, longest))
    if bounds is not None:
        column_names = column_names or tuple(f"x{place}" for place in range(X.shape[1]))
        schema = Schema(declared_columns(column_names, bounds), adjacency=adjacency)
        dense = X.toarray() if hasattr(X, "toarray") else X
        X = Encoder(schema, column_names, intercept=False, row_norm=norm).transform(np.asarray(dense))
    return PreparedRows(
        examples=ArrayExamples(
            features=design(X, row_norm=norm, constant=intercept_value(norm, fit_intercept=fit_intercept)),
            labels=coding.encode(y),
            adjacency=adjacency,
            public_count=count,
        ),
        coding=coding,
        warned_assumptions=(*label_assumptions, *count_assumptions, *assumed),
        other_assumptions=(ROWS_AS_COLLECTED,),
        feature_names=column_names,
        columns=None if schema is None else column_names,
        schema=None if schema is None else schema.to_dict(),
        schema_hash=None if schema is None else schema.hash(),
        count_is_public=not count_assumptions,
        counted=CountedRows(count=None if count_assumptions else count, unit="rows"),
        row_norm=norm,
        longest_row=longest,
    )


def prepare_table(
    table: Table,
    target: str | None,
    *,
    coding: Callable[[Numeric | Categorical], LabelCoding],
    row_norm: float | None,
    fit_intercept: bool,
    intervals: bool,
    n_public: int | None,
    limit: PrivacyCurve | None,
) -> PreparedRows:
    """Prepare a table of any engine, all columns but the target being features.

    `limit` is the budget that decides the levels of open hierarchies; None for a fit without privacy.
    """
    if target is None:
        raise ParameterError("target must be the name of a column where a Table is fitted, got target=None")
    count, count_assumptions = count_of_table(table, n_public)
    table, levels = with_open_levels_chosen(table, rows=count, limit=limit)
    label_coding = coding(table.schema[target])
    columns = tuple(name for name in table.schema.names if name != target)
    public = PublicDesign(schema=table.schema, columns=columns, reference=())
    assumed = drafted_classes(table.schema[target])
    if intervals:
        public = PublicDesign.of(table.schema, columns, intercept=fit_intercept)
        assumed = (*assumed, USERS_ASSUMED) if table.unit.max_rows > 1 else assumed
    norm = resolve_row_norm(row_norm, public.longest_row, intervals=intervals)
    if intervals:
        assumed = (*assumed, *clipping_assumptions(norm, public.longest_row))
    encoder = public.encoder(norm)
    encoder.fit()
    examples = TableExamples(
        table=table,
        encoder=encoder,
        target=target,
        coding=label_coding,
        public_count=count,
        intercept=intercept_value(norm, fit_intercept=fit_intercept),
    )
    return PreparedRows(
        examples=examples.for_many_passes(),
        coding=label_coding,
        warned_assumptions=assumed,
        other_assumptions=(*count_assumptions, *table.assumptions),
        feature_names=tuple(encoder.get_feature_names_out().tolist()),
        columns=columns,
        schema=table.schema.to_dict(),
        schema_hash=table.schema.hash(),
        levels=levels,
        count_is_public=not count_assumptions,
        counted=CountedRows.of_table(table, target, None if count_assumptions else count),
        row_norm=norm,
        longest_row=public.longest_row,
        reference=public.reference,
    )
