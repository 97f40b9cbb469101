"""Rows and labels as methods take them, from arrays or from a table, with what reading them assumed.

Rows of an array are clipped to the declared norm and get a constant column for the intercept.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast._arguments import shown, type_of
from holdfast._arrays import Floats
from holdfast._assumption import BOUNDS_BY_DEFAULT, READ_FROM_DATA, Assumption
from holdfast.data._clipped_rows import clip_rows
from holdfast.data._encode import Encoder
from holdfast.data._schema import Categorical, Numeric, Schema
from holdfast.data._table import Table
from holdfast.errors import ParameterError, require
from holdfast.learn._inference.public_design import USERS, PublicDesign, shortened
from holdfast.learn._problem.problem import LabelCoding
from holdfast.learn._rows.counted_rows import CountedRows
from holdfast.learn._rows.examples import ArrayExamples, Examples
from holdfast.learn._rows.levels import at_learned_levels
from holdfast.learn._rows.payment import ROWS_AS_COLLECTED
from holdfast.learn._rows.table_examples import TableExamples
from holdfast.privacy._account import Account
from holdfast.privacy._account.request import limit_of
from holdfast.privacy._adjacency import Adjacency
from holdfast.privacy._curves.curve import PrivacyCurve

Bounds = tuple[float, float] | Sequence[tuple[float, float]] | Mapping[str, tuple[float, float]]
INTERCEPT_SHARE = 0.5
"""The constant column, as a share of the row norm: it adds 12 % to the norm that sensitivities use."""
CLIPPED_AT_A_TIME = 4_096
FEATURES_ASSUMED = Assumption(
    kind=BOUNDS_BY_DEFAULT,
    subject="bounds",
    text="bounds was not declared: features are taken to be within [-1, 1], and what is larger is cut short; declare "
    "bounds, or fit a Table with a schema",
)
COUNT_READ = Assumption(
    kind=READ_FROM_DATA,
    subject="n_public",
    voids=True,
    text="the number of rows was read from the data and is treated as public; declare n_public",
)


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


def count_of_array(
    rows: int, n_public: int | None, adjacency: Adjacency
) -> tuple[int, tuple[Assumption, ...]]:
    """The public number of rows of an array, and what was read from the data for it.

    >>> count_of_array(5, None, Adjacency.replace), count_of_array(5, 7, Adjacency.add_remove)
    ((5, ()), (7, ()))
    """
    if n_public is None:
        return rows, () if adjacency.count_is_public else (COUNT_READ,)
    require(n_public >= 1, "n_public", n_public, ">= 1")
    if adjacency.count_is_public and n_public != rows:
        raise ParameterError(
            f"n_public must be the number of rows under adjacency={adjacency.value!r}, got "
            f"n_public={n_public}; leave it out, or use adjacency='add_remove'"
        )
    return n_public, ()


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
        assumed = (*assumed, *shortened(norm, longest))
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


def pairs_of_bounds(bounds: Any, columns: int) -> Floats:
    """One row (low, high) for each column; one pair holds for all.

    >>> pairs_of_bounds((0.0, 1.0), 2).tolist()
    [[0.0, 1.0], [0.0, 1.0]]
    """
    told = "a pair (low, high), or one for each column, of finite numbers with low < high"
    try:
        pairs = np.asarray(bounds, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"bounds must be {told}, got bounds={bounds!r}") from None
    if pairs.shape == (2,):
        pairs = np.tile(pairs, (columns, 1))
    require(pairs.shape == (columns, 2), "bounds", bounds, f"{told}: {columns} of them here")
    require(bool(np.isfinite(pairs).all() and (pairs[:, 0] < pairs[:, 1]).all()), "bounds", bounds, told)
    with np.errstate(over="ignore"):
        width = pairs[:, 1] - pairs[:, 0]
    require(bool(np.isfinite(width).all()), "bounds", bounds, f"{told}, not too far apart for a float")
    return pairs


def declared_columns(names: tuple[str, ...], bounds: Bounds) -> list[Numeric]:
    """Numbers within the declared bounds: one pair for all columns, one each, or by name."""
    if isinstance(bounds, Mapping):
        require(
            set(bounds) == set(names), "bounds", sorted(map(str, bounds)), f"one pair for each of {names}"
        )
        bounds = [bounds[name] for name in names]
    pairs = pairs_of_bounds(bounds, len(names)).tolist()
    return [Numeric(name, low, high) for name, (low, high) in zip(names, pairs, strict=True)]


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
    said: tuple[Assumption, ...] = ()
    if intervals:
        public = PublicDesign.of(table.schema, columns, intercept=fit_intercept)
        said = (USERS,) if table.unit.max_rows > 1 else ()
    norm = row_norm_of(row_norm, public.longest_row, intervals=intervals)
    if intervals:
        said = (*said, *shortened(norm, public.longest_row))
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


def row_norm_of(row_norm: float | None, longest: float | None, *, intervals: bool) -> float:
    """What rows are clipped to: what is given; else 1, or, where intervals are wanted, what no declared row exceeds.

    >>> row_norm_of(None, 2.0, intervals=True), row_norm_of(None, 2.0, intervals=False)
    (2.0, 1.0)
    """
    if row_norm is not None:
        return row_norm
    return longest if intervals and longest is not None else 1.0


def count_of_table(table: Table, n_public: int | None) -> tuple[int, tuple[Assumption, ...]]:
    """The public number of units of a table, and what was read from the data for it."""
    if n_public is not None and table.n_public is None and not table.adjacency.count_is_public:
        return n_public, ()
    count, counted = table.public_count()
    require(n_public in (None, count), "n_public", n_public, "what the table declares", "leave it out")
    return count, counted


def limit_to_spend(
    epsilon: float, delta: float | None, account: Account | None, *, count: int | None = None
) -> PrivacyCurve | None:
    """What a fit may spend; None for a fit without privacy. `count` is a public number of units, where it is known."""
    if account is not None:
        return account.remaining()
    return None if epsilon == math.inf else limit_of(epsilon, delta, count=count)


def intercept_value(row_norm: float, *, fit_intercept: bool) -> float:
    """The value of the constant column, in proportion to the row norm so that units do not matter; 0 for none."""
    return INTERCEPT_SHARE * row_norm if fit_intercept else 0.0


def design_norm(row_norm: float, *, fit_intercept: bool) -> float:
    """The norm of a row with its constant, which counts (soundness, section 0); rounded up.

    >>> design_norm(1.0, fit_intercept=True) >= math.sqrt(1.25)
    True
    """
    constant = intercept_value(row_norm, fit_intercept=fit_intercept)
    return math.nextafter(math.hypot(row_norm, constant), math.inf) if constant else row_norm


def design(X: Any, *, row_norm: float, constant: float) -> Floats:
    """Rows of a dense or sparse matrix, clipped and with the constant, in one array and little else in memory.

    >>> design(np.array([[0.0, 4.0], [0.3, 0.4]]), row_norm=1.0, constant=0.5).tolist()
    [[0.0, 1.0, 0.5], [0.3, 0.4, 0.5]]
    """
    rows, columns = X.shape
    made = np.empty((rows, columns + (constant != 0)))
    made[:, columns:] = constant
    for start in range(0, rows, CLIPPED_AT_A_TIME):
        part = X[start : start + CLIPPED_AT_A_TIME]
        part = np.asarray(part.toarray() if hasattr(part, "toarray") else part, dtype=np.float64)
        made[start : start + CLIPPED_AT_A_TIME, :columns] = part
        long = ~_within(part, row_norm)
        if long.any():
            made[start : start + CLIPPED_AT_A_TIME, :columns][long] = clip_rows(part[long], row_norm)
    return made


def _within(rows: Floats, row_norm: float) -> NDArray[np.bool_]:
    """Rows that are certainly no longer than row_norm (1 + 1e-9); only the others need care."""
    if not 1e-100 < row_norm < 1e100:
        return np.zeros(len(rows), dtype=np.bool_)
    # A tenth of the slack in the norm; the sum of squares is off by less than 1e-10 up to a million columns.
    with np.errstate(over="ignore"):
        return np.asarray(np.einsum("ij,ij->i", rows, rows) <= row_norm**2 * (1.0 + 2e-10))
