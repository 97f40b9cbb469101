"""Gradients and second moments that a database engine sums over its rows, so that only the sums leave it.

Engines with `table.can("engine_sums")` do this. Each row's contribution is clipped in the engine, and the learning
method adds noise to the sum, as it does elsewhere. Each sum is a `Statistic`: a function of a batch of rows, and for
SQL engines the same as SQL expressions (`spelling`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Floats
from holdfast.data._batch import Batch
from holdfast.data._sql.features import FeatureRow
from holdfast.data._sql.sums import CodedRow, Layer, Spelling, Term, ordinary, zero_if_tiny
from holdfast.data._table import Table
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import Loss
from holdfast.learn._problem.problem import LabelCoding
from holdfast.learn._rows.sparse_sums import form_margin
from holdfast.learn._rows.sql_labels import SLOPES, sql_label, within
from holdfast.learn._rows.summation import BLOCK


def _cut_blocks(features: Floats, labels: Floats) -> Iterator[tuple[Floats, Floats]]:
    for start in range(0, len(features), BLOCK):
        yield features[start : start + BLOCK], labels[start : start + BLOCK]


def with_intercept(rows: Floats, constant: float) -> Floats:
    """The rows with a last column of this value; without one if it is 0.

    >>> with_intercept(np.array([[1.0]]), 0.5).tolist()
    [[1.0, 0.5]]
    """
    if not constant:
        return rows
    return np.hstack([rows, np.full((rows.shape[0], 1), constant)])


@dataclass(frozen=True, kw_only=True, eq=False)
class LabelledRows:
    """How a batch of a table is read: as clipped features, with the constant column last, and labels."""

    encoder: Any
    target: str
    coding: LabelCoding
    intercept: float = 0.0

    @property
    def columns(self) -> Sequence[str]:
        """The columns of the table that are read."""
        return (*self.encoder.columns_, self.target)

    @property
    def dimension(self) -> int:
        """The number of features, the constant column included."""
        return int(self.encoder.width) + (self.intercept != 0)

    def chunk(self, batch: Batch) -> tuple[Floats, Floats]:
        """The features and labels of a batch; null records have zeros only, also in the constant column."""
        features = np.empty((len(batch), self.dimension))
        features[:, self.dimension - 1] = self.intercept
        self.encoder.encode(batch, into=features[:, : self.encoder.width])
        labels = self.coding.encode_column(batch, self.target)
        null = self.null_records(batch, labels)
        features[null], labels[null] = 0.0, 0.0
        return features, labels

    def null_records(self, batch: Batch, labels: Floats | None = None) -> NDArray[np.bool_]:
        """Which rows are null records: rows that pad a user to its declared number of rows, and rows without a target.

        A null record is read as (0, 0), which is among the records that every sensitivity here covers. So the proofs
        hold for tables with null records in each adjacency: `replace` exchanges one record for another, `zero_out`
        exchanges one for (0, 0), and `add_remove` leaves one out. Null records count in the public number of rows or
        users, which could otherwise change with one record.
        """
        if labels is None:
            labels = self.coding.encode_column(batch, self.target)
        null = ~np.isfinite(labels)
        return null if batch.present is None else null | ~batch.present

    def features(self, row: CodedRow) -> FeatureRow | None:
        """The features as SQL expressions; None where SQL cannot express them."""
        null = row.without_value(self.target)  # as in `null_records`
        return FeatureRow.of(self.encoder, row, constant=self.intercept, null=null)

    def spelling(self, row: CodedRow) -> tuple[FeatureRow, Layer] | None:
        """The features and the label `y` as SQL expressions; None where SQL cannot express them."""
        features = self.features(row)
        labelled = sql_label(self.coding, self.target, row)
        return None if features is None or labelled is None else (features, (("y", labelled),))


def _lengths(x: Floats, form: Floats, margin: float) -> Floats:
    """sqrt(x^T form x + margin) for each row."""
    products = x @ form if form.ndim == 2 else x * form
    return np.asarray(np.sqrt(np.maximum(np.einsum("ij,ij->i", products, x) + margin, 0.0)))


@dataclass(frozen=True, kw_only=True, eq=False)
class GradientSum:
    """The sum of t phi'(<w, x>, y) x, with t = min(1, clip / |phi'| |P x|) and |P x|^2 = x^T `form` x + `margin`.

    This is a sum of gradients, each clipped to the norm `clip` after whitening by P. `form` is P^T P, or its diagonal
    if P is diagonal. `margin` bounds the rounding error of the quadratic form, so that no whitened gradient is longer
    than `clip` (soundness, section 20).
    """

    rows: LabelledRows
    loss: Loss
    weights: Floats
    form: Floats
    clip: float
    bound: float
    """The largest coordinate that a row's contribution can have."""
    margin: float = 0.0

    @property
    def columns(self) -> Sequence[str]:
        """The columns it reads."""
        return self.rows.columns

    @property
    def shape(self) -> tuple[int, ...]:
        """One number per feature."""
        return (self.rows.dimension,)

    def __call__(self, batch: Batch) -> Floats:
        """The sum over these rows."""
        return self.total(*self.rows.chunk(batch))

    def total(self, features: Floats, labels: Floats) -> Floats:
        """The sum over encoded rows."""
        gradient = np.zeros(self.shape)
        for x, y in _cut_blocks(features, labels):
            slopes = self.loss.slopes(x @ self.weights, y)
            sizes = np.abs(slopes) * _lengths(x, self.form, self.margin)
            gradient += (slopes * (self.clip / np.maximum(sizes, self.clip))) @ x
        return gradient

    def spelling(self, row: CodedRow) -> Spelling | None:
        """The sum in SQL, by nested queries: features and label, prediction and length, slope, clipped slope."""
        spelling = self.rows.spelling(row)
        if spelling is None or not ordinary(self.weights, self.form, self.bound, self.clip, 1.0 / self.clip):
            return None
        features, labelled = spelling
        dialect = row.dialect
        zero, clip = dialect.number(0.0), dialect.number(self.clip)
        slope = SLOPES[self.loss.name](self.loss, "z", "y", dialect)
        length = f"sqrt(greatest(q + {dialect.number(self.margin)}, {zero}))"
        layers: tuple[Layer, ...] = (
            *features.layers,
            (*labelled, ("raw", features.linear(self.weights)), ("q", features.quadratic(self.form))),
            (("l", length), ("z", zero_if_tiny("raw", dialect))),
            (("g", slope),),
            (("gg", zero_if_tiny("g", dialect)),),
            (("t", f"{clip} / greatest(abs(gg) * l, {clip})"),),
            (("c", "t * gg * s"), ("d", f"t * gg * {features.weight}")),
        )
        return Spelling(
            layers=layers, terms=features.terms("c", "d"), bound=self.bound, assemble=features.spread
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class GramSum:
    """The sum of t^2 x x^T over rows with a target, with t = min(1, norm / |S x|), or some entries of it.

    `form` is S^T S; without a form, t = 1. The kind "arrow" is the diagonal and the products with the constant column.
    """

    rows: LabelledRows
    bound: float
    kind: Literal["full", "diagonal", "arrow"] = "full"
    form: Floats | None = None
    norm: float = math.inf
    margin: float = 0.0

    @property
    def columns(self) -> Sequence[str]:
        """The columns it reads; of the target it reads only whether there is a value."""
        return self.rows.columns

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the matrix, or of its diagonal."""
        return (self.rows.dimension,) * (1 if self.kind == "diagonal" else 2)

    def __call__(self, batch: Batch) -> Floats:
        """The sum over these rows."""
        features = with_intercept(self.rows.encoder.encode(batch), self.rows.intercept)
        features[self.rows.null_records(batch)] = 0.0
        total = np.zeros(self.shape)
        for x, _ in _cut_blocks(features, features):
            if self.form is not None:
                x = x * (self.norm / np.maximum(_lengths(x, self.form, self.margin), self.norm))[:, None]
            total += np.einsum("ij,ij->j", x, x) if self.kind == "diagonal" else x.T @ x
        if self.kind == "arrow":
            total[:-1, :-1] = np.diag(np.diag(total)[:-1])
        return total

    def spelling(self, row: CodedRow) -> Spelling | None:
        """The sum in SQL: products of numbers, numbers within each category, pairs of categories, and the constant."""
        features = self.rows.features(row)
        if features is None or (
            self.form is not None and not ordinary(self.form, self.norm, 1.0 / self.norm)
        ):
            return None
        number = row.dialect.number
        layers: tuple[Layer, ...] = features.layers
        weight, constant = "", features.weight
        if self.form is not None:
            length = f"sqrt(greatest(q + {number(self.margin)}, {number(0.0)}))"
            layers = (
                *layers,
                (("q", features.quadratic(self.form)),),
                (("t", f"{number(self.norm)} / greatest({length}, {number(self.norm)})"),),
                (("tt", "t * t"),),
            )
            weight = "tt * "
        layer = (
            ("s2", f"{weight}s * s"),
            ("sc", f"{weight}s * {constant}"),
            ("cc", f"{weight}{constant} * {constant}"),
        )
        terms, pairs = features.product_terms("s2", "sc")
        if self.kind != "full":
            arrow = self.kind == "arrow"
            chosen = [place for place, (i, j) in enumerate(pairs) if i == j or (arrow and j == -1)]
            terms, pairs = tuple(terms[place] for place in chosen), [pairs[place] for place in chosen]
        corner = (Term(value="cc"),) if self.rows.intercept else ()

        def assemble(parts: Sequence[Floats]) -> Floats:
            matrix = features.matrix(parts[: len(pairs)], pairs)
            if corner:
                matrix[-1, -1] = parts[-1]
            return np.diag(matrix).copy() if self.kind == "diagonal" else matrix

        return Spelling(layers=(*layers, layer), terms=(*terms, *corner), bound=self.bound, assemble=assemble)


@dataclass(frozen=True, kw_only=True, eq=False)
class CrossSum:
    """The sum of y x, labels clipped to `target_bound`."""

    rows: LabelledRows
    target_bound: float
    bound: float

    @property
    def columns(self) -> Sequence[str]:
        """The columns it reads."""
        return self.rows.columns

    @property
    def shape(self) -> tuple[int, ...]:
        """One number per feature."""
        return (self.rows.dimension,)

    def __call__(self, batch: Batch) -> Floats:
        """The sum over these rows."""
        features, labels = self.rows.chunk(batch)
        total = np.zeros(self.shape)
        for x, y in _cut_blocks(features, np.clip(labels, -self.target_bound, self.target_bound)):
            total += x.T @ y
        return total

    def spelling(self, row: CodedRow) -> Spelling | None:
        """The sum in SQL, one expression per feature."""
        spelling = self.rows.spelling(row)
        if spelling is None:
            return None
        features, labelled = spelling
        y = within("y", -self.target_bound, self.target_bound, row.dialect)
        weights = (("c", f"{y} * s"), ("d", f"{y} * {features.weight}"))
        return Spelling(
            layers=(*features.layers, labelled, weights),
            terms=features.terms("c", "d"),
            bound=self.bound,
            assemble=features.spread,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class EngineSums:
    """The sums that `RowSums` declares, computed by the engine of a table for one problem; private before noise."""

    table: Table
    rows: LabelledRows
    problem: Problem

    def gradient(self, weights: Floats, *, form: Floats, clip: float, largest: float) -> Floats:
        """The sum of clipped gradients at these weights (`GradientSum`)."""
        return self.table.sums(
            GradientSum(
                rows=self.rows,
                loss=self.problem.loss,
                weights=weights,
                form=form,
                clip=clip,
                bound=largest,
                margin=form_margin(form, self.problem.norm_bound),
            )
        )

    def gram(
        self,
        kind: Literal["full", "diagonal", "arrow"] = "full",
        *,
        form: Floats | None = None,
        norm: float = math.inf,
    ) -> Floats:
        """The sum of x x^T, or some entries of it (`GramSum`)."""
        bound = self.problem.norm_bound
        margin = 0.0 if form is None else form_margin(form, bound)
        return self.table.sums(
            GramSum(rows=self.rows, kind=kind, bound=2.0 * bound**2, form=form, norm=norm, margin=margin)
        )

    def cross(self, target_bound: float) -> Floats:
        """The sum of y x."""
        bound = 2.0 * self.problem.norm_bound * target_bound
        return self.table.sums(CrossSum(rows=self.rows, target_bound=target_bound, bound=bound))

    def target_sum(self, target_bound: float) -> float:
        """The sum of y, labels clipped to `target_bound`: the sum of y times the constant column, over the constant.

        One row changes it by its own rounded terms only, whose error is below `rounding_of_sum` of the row's bound.
        """
        return float(self.cross(target_bound)[-1]) / self.rows.intercept


def engine_sums(table: Table, rows: LabelledRows, problem: Problem) -> EngineSums | None:
    """The sums of a table's engine; None where SQL lacks the loss, or rows may be longer than the problem's norm."""
    if problem.loss.name not in SLOPES or rows.coding.predictions > 1:
        return None
    norm = rows.encoder.row_norm
    unclipped_norm = math.sqrt(len(rows.encoder.columns_) + bool(rows.encoder.intercept))
    longest = math.hypot(unclipped_norm if norm is None else norm, rows.intercept)
    within_norm = longest <= problem.row_norm * (1.0 + 1e-12)
    return EngineSums(table=table, rows=rows, problem=problem) if within_norm else None
