"""Examples: encoded, clipped rows with labels, as methods see them, whatever engine holds the data.

A method asks for chunks in any order (sums), for one pass in a secret shuffled order (SGD), or for the whole
matrix where it fits. Labels are -1/+1, a clipped number, or a class code.

Examples over a table of any engine: encoded, clipped and labelled, a chunk at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from holdfast.data.encode import Encoder
from holdfast.data.order import Order
from holdfast.data.table import CHUNK_ROWS, Table
from holdfast.errors import DataError, ParameterError, require
from holdfast.learn.problem.labels import LabelCoding
from holdfast.learn.rows.engine_sums import BLOCK, LabelledRows
from holdfast.noise.source import Source
from holdfast.noise.uniform import permutation
from holdfast.privacy.adjacency import Adjacency, PrivacyUnit

Floats = NDArray[np.float64]
Chunk = tuple[Floats, Floats]


class Examples(Protocol):
    """What every method takes."""

    @property
    def dimension(self) -> int:
        """Columns, the intercept included."""

    @property
    def public_count(self) -> int:
        """The number that methods may divide by (soundness, section 0); never the private one."""

    @property
    def adjacency(self) -> Adjacency:
        """Who is a neighbour of whom."""

    @property
    def unit(self) -> PrivacyUnit:
        """What is protected."""

    def chunks(self) -> Iterator[Chunk]:
        """All rows in some fixed order that no result may depend on beyond rounding."""

    def shuffled(self, source: Source) -> Iterator[Chunk]:
        """All rows once, in a secret uniform order drawn now (soundness, section 1, order (i))."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ArrayExamples:
    """Rows in memory: float64, clipped to the declared norm by whoever encoded them."""

    features: Floats
    labels: Floats
    adjacency: Adjacency
    public_count: int
    unit: PrivacyUnit = PrivacyUnit()  # noqa: RUF009 - immutable

    def __post_init__(self) -> None:
        require(self.features.ndim == 2, "features.ndim", self.features.ndim, "2")
        require(
            self.labels.shape == self.features.shape[:1], "labels.shape", self.labels.shape, "one per row"
        )
        require(self.public_count >= 1, "public_count", self.public_count, ">= 1")

    @property
    def dimension(self) -> int:
        """Columns, the intercept included."""
        return int(self.features.shape[1])

    @property
    def resident(self) -> bool:
        """Every pass over `chunks` meets the same arrays in the same order."""
        return True

    def chunks(self) -> Iterator[Chunk]:
        """Slices, without copies."""
        for start in range(0, self.features.shape[0], CHUNK_ROWS):
            stop = start + CHUNK_ROWS
            yield self.features[start:stop], self.labels[start:stop]

    def secret_order(self, source: Source) -> NDArray[np.int64]:
        """The positions of one pass, drawn now: for a kernel that finds rows where they lie, without a copy."""
        return permutation(source, self.features.shape[0])

    def shuffled(self, source: Source) -> Iterator[Chunk]:
        """Gathered by a secret permutation, a chunk at a time."""
        order = self.secret_order(source)
        for start in range(0, order.size, CHUNK_ROWS):
            chosen = order[start : start + CHUNK_ROWS]
            yield self.features[chosen], self.labels[chosen]


IN_MEMORY_BYTES = 2**28
"""Encoded rows up to this size are kept, so that a method of many passes reads the table once."""
CHUNK_BYTES = 2**21
"""Of encoded rows read at a time: encoding makes several copies of them, which should stay in a processor's cache."""


@dataclass(frozen=True, kw_only=True, eq=False)
class TableExamples:
    """Rows that stay where they are: each pass reads them again (`shuffled_copy.one_order` saves further shuffles).

    `intercept` is the value of the constant column that is put behind the encoder's features; 0 for none.

    >>> from holdfast.data import Categorical, Numeric, Schema, open_table
    >>> from holdfast.learn.problem.labels import ClassTarget
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
    coding: LabelCoding
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

    @property
    def labelled(self) -> LabelledRows:
        """How batches are read."""
        return LabelledRows(
            encoder=self.encoder, target=self.target, coding=self.coding, intercept=self.intercept
        )

    def chunks(self) -> Iterator[Chunk]:
        """Whatever order is fastest: sums only."""
        return self._read(Order.irrelevant())

    def shuffled(self, source: Source) -> Iterator[Chunk]:
        """A fresh secret order."""
        return self._read(Order.shuffled(source))

    def drawn(self, source: Source, *, batches: int) -> Iterator[Chunk]:
        """One pass in which every record draws its batch by itself: batches in turn, records in secret order."""
        order = Order.per_record_batches(batches=batches, cap=2 * self.public_count, source=source)
        return self._read(order)

    def loaded(self) -> ArrayExamples | TableExamples:
        """The same in memory, if it is small enough and its engine does not rather take sums where it is."""
        if self.table.unit.column is not None or self.table.can("engine_sums"):
            return self
        count = self.table.count()
        if 8 * count * self.dimension > IN_MEMORY_BYTES:
            return self
        features, labels = self._gathered(count)
        return ArrayExamples(
            features=features,
            labels=labels,
            adjacency=self.adjacency,
            public_count=self.public_count,
            unit=self.unit,
        )

    @property
    def _chunk_rows(self) -> int:
        """Whole blocks of the sums over rows: at least one, and no more than any table reads at a time."""
        return min(CHUNK_ROWS, BLOCK * max(1, CHUNK_BYTES // (8 * max(1, self.dimension) * BLOCK)))

    def _gathered(self, count: int) -> Chunk:
        """All rows in arrays of their final size: no chunk is held twice."""
        features, labels = np.empty((count, self.dimension)), np.empty(count)
        start = 0
        for rows, values in self.chunks():
            stop = start + len(values)
            if stop > count:
                break
            features[start:stop], labels[start:stop] = rows, values
            start = stop
        if start != count:
            raise DataError(
                "the table changed while it was read: its rows are no longer as many as it counted"
            )
        return features, labels

    def _read(self, order: Order) -> Iterator[Chunk]:
        labelled = self.labelled
        return map(labelled.chunk, self.table.batches(labelled.columns, order=order, rows=self._chunk_rows))
