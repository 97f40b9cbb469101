"""TableExamples: examples over a table of any engine, encoded, clipped and labelled a chunk at a time."""

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
from holdfast.learn._rows.counted_rows import may_lack
from holdfast.learn._rows.engine_sums import EngineSums, LabelledRows, engine_sums
from holdfast.learn._rows.examples import ArrayExamples, Chunk, Examples
from holdfast.learn._rows.summation import BLOCK
from holdfast.noise._source import Source
from holdfast.privacy._adjacency import Adjacency, PrivacyUnit

IN_MEMORY_BYTES = 2**29
"""Encoded rows up to this size are kept, so that a method of many passes reads the table once."""
CHUNK_BYTES = 2**21
"""Of encoded rows read at a time: encoding makes several copies of them, which should stay in a processor's cache."""


@dataclass(frozen=True, kw_only=True, eq=False)
class TableExamples(Examples):
    """Rows that stay where they are: each pass reads them again (`loaded` and `shuffled_copy.one_order` save that).

    `intercept` is the value of the constant column that is put behind the encoder's features; 0 for none.

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
    def may_lack_targets(self) -> bool:
        """As the column declares."""
        return may_lack(self.table.schema[self.target])

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
        """Drawn in the engine, by a keyed hash of each record: batches in turn, records in secret order."""
        order = Order.per_record_batches(batches=batches, cap=2 * self.public_count, source=source)
        return self._read(order)

    @property
    def worth_copying(self) -> bool:
        """Where the table says so: rows may not leave every server."""
        return self.table.copies

    @property
    def copy_folder(self) -> Path | None:
        """As the table was opened."""
        return self.table.copy_folder

    def sums(self, problem: Problem) -> EngineSums | None:
        """Where the engine takes them and the rows already are within the problem's norm."""
        return engine_sums(self.table, self.labelled, problem) if self.table.can("engine_sums") else None

    def target_sum(self, problem: Problem, *, bound: float) -> float | None:
        """By the engine, from the sum of y times the constant column."""
        engine = self.sums(problem) if self.intercept else None
        return None if engine is None else engine.target_sum(bound)

    def epochs(self, options: SgdOptions, *, source: Source, passes: int, records: int) -> Floats | None:
        """By the kernel, in the engine: one secret order that every pass keeps (soundness, section 1, order (i))."""
        table: Any = self.table  # engines that can have a method for it
        if not table.can("engine_epochs"):
            return None
        order = Order.shuffled(source)
        weights: Floats = table.epochs(self.labelled, options, order=order, passes=passes, records=records)
        return weights

    def with_shifted_labels(self, *, bound: float, shift: float) -> Examples | None:
        """Numbers only, by a coding of their own."""
        if not isinstance(self.coding, NumberLabels):
            return None
        return replace(self, coding=ShiftedNumbers(numbers=self.coding, bound=bound, shift=shift))

    def parts(self) -> int | None:
        """The engine's: the caller's number, or one that follows from the number of rows."""
        table: Any = self.table
        return int(table.parts()) if table.can("engine_parts") else None

    def loaded(self) -> Examples:
        """The same for many passes: in memory if it is small enough, else through a copy on a disk that has room.

        A copy is begun when rows are first read, so never by a method for which the engine takes sums.
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
        from holdfast.learn._rows.row_copy import RowCopy, room_for  # the way of large tables only

        # Models that an engine trains in parts are trained where the rows are.
        possible = self.worth_copying and self.parts() is None and room_for(self, self.copy_folder)
        return RowCopy(self, self.copy_folder) if possible else self

    @property
    def _chunk_rows(self) -> int:
        """Whole blocks of the sums over rows: at least one, and no more than any table reads at a time."""
        return min(CHUNK_ROWS, BLOCK * max(1, CHUNK_BYTES // (8 * max(1, self.dimension) * BLOCK)))

    def _gather_rows(self, count: int) -> Chunk:
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
