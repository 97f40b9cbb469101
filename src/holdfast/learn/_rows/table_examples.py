"""TableExamples: the rows of a table of any engine, encoded, clipped and labelled a chunk at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from holdfast._arrays import Floats
from holdfast._kernel import SgdOptions
from holdfast.data._encode import Encoder
from holdfast.data._order import Order
from holdfast.data._table import CHUNK_ROWS, Table
from holdfast.errors import DataError, ParameterError
from holdfast.learn._problem import Problem
from holdfast.learn._problem.problem import LabelCoding, NumberLabels, ShiftedNumbers
from holdfast.learn._rows.counted_rows import target_may_be_missing
from holdfast.learn._rows.engine_sums import EngineSums, LabelledRows, engine_sums
from holdfast.learn._rows.examples import ArrayExamples, Chunk, Examples
from holdfast.learn._rows.summation import BLOCK
from holdfast.noise._source import Source
from holdfast.privacy._adjacency import Adjacency, PrivacyUnit

IN_MEMORY_BYTES = 2**29
"""Encoded rows up to this size are held in memory, so that a method of many passes reads the table once."""
CHUNK_BYTES = 2**21
"""Encoded rows that are read at a time. Encoding makes several copies, which should stay in a processor's cache."""


@dataclass(frozen=True, kw_only=True, eq=False)
class TableExamples(Examples):
    """Rows that each pass reads from the table again; `for_many_passes` and `shuffled_copy.fixed_order` avoid that.

    `intercept` is the value of the constant column, which comes after the encoder's features; 0 for no such column.

    >>> from holdfast.data import Categorical, Numeric, Schema, open_table
    >>> from holdfast.learn._problem.problem import ClassLabels
    >>> schema = Schema([Numeric("age", 0, 100), Categorical("ill", ["no", "yes"])])
    >>> table = open_table({"age": [50, 100], "ill": ["no", "yes"]}, schema)
    >>> rows = TableExamples(table=table, encoder=Encoder(schema, ["age"], intercept=False), target="ill",
    ...                      coding=ClassLabels.of_column(schema["ill"]), public_count=2)
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
        """The number of features, the constant column included."""
        return int(self.encoder.width) + (self.intercept != 0)

    @property
    def adjacency(self) -> Adjacency:
        return self.table.adjacency

    @property
    def unit(self) -> PrivacyUnit:
        return self.table.unit

    @property
    def may_lack_targets(self) -> bool:
        """Whether the schema allows rows without a target."""
        return target_may_be_missing(self.table.schema[self.target])

    @property
    def labelled_rows(self) -> LabelledRows:
        """How a batch of the table becomes features and labels."""
        return LabelledRows(
            encoder=self.encoder, target=self.target, coding=self.coding, intercept=self.intercept
        )

    def chunks(self) -> Iterator[Chunk]:
        """The rows in the order that is fastest to read."""
        return self._chunks_in(Order.irrelevant())

    def shuffled_chunks(self, source: Source) -> Iterator[Chunk]:
        """The rows in a fresh secret random order."""
        return self._chunks_in(Order.permutation(source))

    def random_batches(self, source: Source, *, batches: int) -> Iterator[Chunk]:
        """The engine draws the batches by a keyed hash of each record; within a batch the order is secret, too."""
        order = Order.per_record_batches(batches=batches, cap=2 * self.public_count, source=source)
        return self._chunks_in(order)

    @property
    def worth_copying(self) -> bool:
        """Whether the table allows copies of its rows outside the engine."""
        return self.table.copies

    @property
    def copy_folder(self) -> Path | None:
        return self.table.copy_folder

    def sums(self, problem: Problem) -> EngineSums | None:
        """The engine's sums, if it has any and the rows are within the problem's norm."""
        return engine_sums(self.table, self.labelled_rows, problem) if self.table.can("engine_sums") else None

    def target_sum(self, problem: Problem, *, bound: float) -> float | None:
        """The engine's sum of y times the constant column, over the constant."""
        engine = self.sums(problem) if self.intercept else None
        return None if engine is None else engine.target_sum(bound)

    def epochs(self, options: SgdOptions, *, source: Source, passes: int, records: int) -> Floats | None:
        """The kernel runs in the engine, in one secret order for all passes (soundness, section 1, order (i))."""
        table: Any = self.table  # engines that can do it have a method `epochs`
        if not table.can("engine_epochs"):
            return None
        order = Order.permutation(source)
        weights: Floats = table.epochs(
            self.labelled_rows, options, order=order, passes=passes, records=records
        )
        return weights

    def with_shifted_labels(self, *, bound: float, shift: float) -> Examples | None:
        """The same rows with another coding of labels, for targets that are numbers."""
        if not isinstance(self.coding, NumberLabels):
            return None
        return replace(self, coding=ShiftedNumbers(numbers=self.coding, bound=bound, shift=shift))

    def engine_part_count(self) -> int | None:
        """The number that the caller gave the engine, or one that follows from the number of rows."""
        table: Any = self.table
        return int(table.parts()) if table.can("engine_parts") else None

    def for_many_passes(self) -> Examples:
        """The same rows for many passes: in memory if they are few enough, else copied to a disk that has room.

        The copy is written when rows are first read, so never for a method that only uses the engine's sums.
        """
        if self.table.can("engine_sums") or self.table.unit.column is not None:
            return self._copy_rows()
        count = self.table.count()
        if 8 * count * self.dimension > IN_MEMORY_BYTES:
            return self._copy_rows()
        features, labels = self._gather_rows(count)
        return ArrayExamples(
            features=features,
            labels=labels,
            adjacency=self.adjacency,
            public_count=self.public_count,
            unit=self.unit,
            lacking=self.may_lack_targets,
        )

    def _copy_rows(self) -> Examples:
        from holdfast.learn._rows.row_copy import RowCopy, room_for  # for large tables only

        # An engine that trains models in parts reads the rows itself.
        possible = (
            self.worth_copying and self.engine_part_count() is None and room_for(self, self.copy_folder)
        )
        return RowCopy(self, self.copy_folder) if possible else self

    @property
    def _chunk_rows(self) -> int:
        """The number of rows in a chunk: a multiple of the block that sums use, as far as `CHUNK_BYTES` allows."""
        return min(CHUNK_ROWS, BLOCK * max(1, CHUNK_BYTES // (8 * max(1, self.dimension) * BLOCK)))

    def _gather_rows(self, count: int) -> Chunk:
        """All rows in arrays that are allocated once, so that no chunk is in memory twice."""
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

    def _chunks_in(self, order: Order) -> Iterator[Chunk]:
        reader = self.labelled_rows
        return map(reader.chunk, self.table.batches(reader.columns, order=order, rows=self._chunk_rows))
