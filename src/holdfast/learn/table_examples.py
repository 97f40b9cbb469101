"""Examples over a table of any engine: encoded, clipped and labelled, a chunk at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from holdfast.data.encode import Encoder
from holdfast.data.order import Order
from holdfast.data.rows import Batch
from holdfast.data.table import Table
from holdfast.errors import ParameterError
from holdfast.learn.design import with_intercept
from holdfast.learn.examples import ArrayExamples, Chunk
from holdfast.learn.target import Target
from holdfast.noise.source import Source
from holdfast.privacy.adjacency import Adjacency, PrivacyUnit

IN_MEMORY_BYTES = 2**28
"""Encoded rows up to this size are kept, so that a method of many passes reads the table once."""


@dataclass(frozen=True, kw_only=True, eq=False)
class TableExamples:
    """Rows that stay where they are: each pass reads them again.

    `intercept` is the value of the constant column that is put behind the encoder's features; 0 for none.

    >>> from holdfast.data import Categorical, Numeric, Schema, open_table
    >>> from holdfast.learn.target import ClassTarget
    >>> schema = Schema([Numeric("age", 0, 100), Categorical("ill", ["no", "yes"])])
    >>> table = open_table({"age": [50, 100], "ill": ["no", "yes"]}, schema)
    >>> rows = TableExamples(table=table, encoder=Encoder(schema, ["age"], intercept=False), target="ill",
    ...                      coding=ClassTarget.of_column(schema["ill"]), public_count=2)
    >>> [(x.tolist(), y.tolist()) for x, y in rows.chunks()]
    [([[0.0], [1.0]], [-1.0, 1.0])]
    """

    table: Table
    encoder: Encoder
    target: str
    coding: Target
    public_count: int
    intercept: float = 0.0

    def __post_init__(self) -> None:
        self.table.schema[self.target]
        if self.target in self.encoder.columns_:
            raise ParameterError(f"target must not be among the encoded columns, got target={self.target!r}")

    @property
    def dimension(self) -> int:
        """Features, and the constant column."""
        return int(self.encoder.width) + (self.intercept != 0)

    @property
    def adjacency(self) -> Adjacency:
        """As the table was opened."""
        return self.table.adjacency

    @property
    def unit(self) -> PrivacyUnit:
        """As the schema declares."""
        return self.table.unit

    def chunks(self) -> Iterator[Chunk]:
        """Whatever order is fastest: sums only."""
        return self._read(Order.irrelevant())

    def shuffled(self, source: Source) -> Iterator[Chunk]:
        """A fresh secret order."""
        return self._read(Order.shuffled(source))

    def loaded(self) -> ArrayExamples | TableExamples:
        """The same in memory, if it is small enough."""
        if self.table.unit.column is not None or 8 * self.table.count() * self.dimension > IN_MEMORY_BYTES:
            return self
        parts = list(self.chunks())
        return ArrayExamples(
            features=np.concatenate([features for features, _ in parts] or [np.empty((0, self.dimension))]),
            labels=np.concatenate([labels for _, labels in parts] or [np.empty(0)]),
            adjacency=self.adjacency,
            public_count=self.public_count,
            unit=self.unit,
        )

    def _read(self, order: Order) -> Iterator[Chunk]:
        columns = [*self.encoder.columns_, self.target]
        return (self._chunk(batch) for batch in self.table.batches(columns, order=order))

    def _chunk(self, batch: Batch) -> Chunk:
        features = with_intercept(self.encoder.encode(batch), self.intercept)
        labels = self.coding.encode_column(batch, self.target)
        if batch.present is not None:  # a null record contributes 0, its constant included
            features[~batch.present], labels[~batch.present] = 0.0, 0.0
        return features, labels
