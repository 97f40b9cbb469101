"""Statistics: sums over rows that engines can compute where the data are.

A statistic is computed from batches; its `spelling` is the SQL by which an engine computes it without sending rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from holdfast._arguments import checked
from holdfast._arrays import Floats
from holdfast.data._batch import Batch
from holdfast.data._sql.features import FeatureRow
from holdfast.data._sql.sums import CodedRow, Spelling


class RowEncoder(Protocol):
    """What a statistic needs of `holdfast.data.Encoder`."""

    @property
    def columns_(self) -> tuple[str, ...]:
        """The columns it reads."""

    @property
    def width(self) -> int:
        """The number of features."""

    def encode(self, batch: Batch) -> Floats:
        """Clipped feature rows; null rows are 0."""


@checked
@dataclass(frozen=True)
class RowSum:
    """The sum of the clipped feature rows; one row moves it by at most `encoder.row_norm_bound`.

    Parameters
    ----------
    encoder : RowEncoder
        What makes feature rows of declared columns, such as an `Encoder`.

    Examples
    --------
    >>> from holdfast.data import Encoder, Numeric, Schema, open_table
    >>> schema = Schema([Numeric("age", 0, 100)])
    >>> table = open_table({"age": [50, 100]}, schema)
    >>> table.sums(RowSum(Encoder(schema, row_norm=None))).tolist()
    [1.0, 2.0]
    """

    encoder: RowEncoder

    @property
    def columns(self) -> Sequence[str]:
        """The columns it reads."""
        return self.encoder.columns_

    @property
    def shape(self) -> tuple[int, ...]:
        """One number per feature."""
        return (self.encoder.width,)

    def __call__(self, batch: Batch) -> Floats:
        """The sum over these rows."""
        return np.asarray(self.encoder.encode(batch).sum(axis=0))

    def spelling(self, row: CodedRow) -> Spelling | None:
        """One sum per feature of the coded `row`.

        The number or the rows in its cell, times what clipping multiplies with.
        """
        features = FeatureRow.of(self.encoder, row)
        if features is None:
            return None
        terms = features.terms(features.scale, features.scale)
        bound = float(getattr(self.encoder, "row_norm_bound"))  # noqa: B009 - of `Encoder`, not of the protocol
        return Spelling(layers=features.layers, terms=terms, bound=bound, assemble=features.spread)


@checked
@dataclass(frozen=True)
class SecondMoment:
    """The sum of x xᵀ over the clipped feature rows (the Gram matrix).

    Parameters
    ----------
    encoder : RowEncoder
        What makes feature rows of declared columns, such as an `Encoder`.

    Examples
    --------
    >>> from holdfast.data import Encoder, Numeric, Schema, open_table
    >>> schema = Schema([Numeric("age", 0, 100)])
    >>> table = open_table({"age": [50, 100]}, schema)
    >>> table.sums(SecondMoment(Encoder(schema, row_norm=None))).tolist()
    [[1.0, 1.0], [1.0, 2.0]]
    """

    encoder: RowEncoder

    @property
    def columns(self) -> Sequence[str]:
        """The columns it reads."""
        return self.encoder.columns_

    @property
    def shape(self) -> tuple[int, ...]:
        """Features by features."""
        return (self.encoder.width, self.encoder.width)

    def __call__(self, batch: Batch) -> Floats:
        """The sum over these rows."""
        features = self.encoder.encode(batch)
        return features.T @ features

    def spelling(self, row: CodedRow) -> Spelling | None:
        """One sum for each pair of numbers, of number and cell, and of cells of the coded `row` (by grouping sets)."""
        features = FeatureRow.of(self.encoder, row)
        if features is None:
            return None
        terms, pairs = features.product_terms("s2", "s")
        layers = (*features.layers, (("s2", f"{features.scale} * {features.scale}"),))
        bound = float(getattr(self.encoder, "row_norm_bound")) ** 2  # noqa: B009
        return Spelling(
            layers=layers, terms=terms, bound=bound, assemble=lambda parts: features.matrix(parts, pairs)
        )
