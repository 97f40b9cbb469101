"""CellRows: every row as its cells, two bytes per column, with its label; read once, from any engine.

Codes and labels are kept in memory where they fit, else in a private file where the table may be copied, so that a fit
of many passes reads its table once; otherwise it is read again in every pass. Nothing depends on the order of rows:
what is summed over them is whole numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Floats
from holdfast._kernel.lookup import CellPlan, Loss
from holdfast.data._batch import Batch
from holdfast.data._schema import Schema
from holdfast.data._table import CHUNK_ROWS
from holdfast.learn._additive.cells import ColumnCells, cells_of_columns, code_rows
from holdfast.learn._rows.private_file import PrivateFile
from holdfast.privacy._adjacency import Adjacency, PrivacyUnit

CodedChunk = tuple[NDArray[np.uint16], Floats]
KEPT_BYTES = 2**30
"""Codes and labels up to this size are kept in memory."""
SUM_STEP = 2.0**-20
GRID_BITS = 30
"""Gradients are summed in whole multiples of 2^-30 of (about) their largest size: 2^32 of them fit into 63 bits."""


@dataclass(kw_only=True, eq=False)
class CellRows:
    """Rows behind their cells. `read` reads rows and labels once, in any order; all of it is private."""

    cells: tuple[ColumnCells, ...]
    read: Callable[[], Iterator[tuple[Batch, Floats]]]
    adjacency: Adjacency
    unit: PrivacyUnit
    public_count: int
    kept_bytes: int = KEPT_BYTES
    may_lack_targets: bool = False
    """Whether rows of the table may be left out because they have no target."""
    file: PrivateFile | None = None
    """Where chunks go beyond `kept_bytes`, if they may."""
    _kept: list[CodedChunk] | None = None
    _complete: bool = False

    def chunks(self) -> Iterator[CodedChunk]:
        """All rows."""
        if self._complete:
            yield from self._kept or ()
            if self.file is not None:
                yield from self.file.chunks()  # type: ignore[misc]  # codes and labels, as they were written
            return
        yield from self._first()

    def _first(self) -> Iterator[CodedChunk]:
        """A pass over the table: as many chunks as fit are kept in memory, those behind them in the file."""
        chunks: list[CodedChunk] = []
        room, whole = self.kept_bytes, True
        if self.file is not None:
            self.file.clear()
        for batch, labels in self.read():
            chunk = code_rows(self.cells, batch), labels
            room -= chunk[0].nbytes + chunk[1].nbytes
            if room >= 0:
                chunks.append(chunk)
            elif self.file is None or not self.file.append(*chunk):
                whole = False
                chunks.clear()
            yield chunk
        if whole:
            self._kept, self._complete = chunks, True

    def close(self) -> None:
        """Let go of what was kept."""
        self._kept, self._complete = None, False
        if self.file is not None:
            self.file.close()

    def regrid(self, grid: int) -> None:
        """Numbers get so many cells; what was kept is let go."""
        if any(column.grid != grid for column in self.cells):
            self.close()
            self.cells = cells_of_columns([column.column for column in self.cells], grid)

    def largest_count(self) -> int:
        """A bound on the rows of every table that the schema admits, generous where the number of units is private."""
        admitted = self.public_count * self.unit.max_rows
        return admitted if self.adjacency.count_is_public else 16 * admitted

    def counts(self) -> list[NDArray[np.int64]]:
        """Rows in each cell of each column; exact."""
        histograms = [np.zeros(column.count, dtype=np.int64) for column in self.cells]
        for codes, _ in self.chunks():
            for place, counts in enumerate(histograms):
                counts += np.bincount(codes[:, place], minlength=counts.size)
        return histograms

    def class_counts(self, classes: int) -> NDArray[np.int64]:
        """Rows of each class; exact. Two classes are labelled -1 and +1, several 0, 1, ..."""
        totals = np.zeros(classes, dtype=np.int64)
        for _, labels in self.chunks():
            totals += np.bincount(
                (labels > 0) if classes == 2 else labels.astype(np.int64), minlength=classes
            )
        return totals

    def sums(self) -> NDArray[np.int64]:
        """Sums of labels and of their squares, labels within [-1, 1], in whole numbers.

        A row moves either by one at most, and by two and one where it is replaced: rounding down a sum that moved by at
        most a whole number moves it by no more.
        """
        total = np.zeros(2, dtype=np.int64)
        for _, labels in self.chunks():
            inside = np.clip(labels, -1.0, 1.0)
            total += np.trunc(np.stack([inside, inside**2], axis=1) / SUM_STEP).astype(np.int64).sum(axis=0)
        return np.asarray(np.floor(total * SUM_STEP), dtype=np.int64)

    def gradient(self, plan: CellPlan, *, loss: Loss, table: Floats, constant: Floats, clip: float) -> Floats:
        """Per cell, and last for the constant, the sum of clipped slopes: exact multiples of a public grid."""
        steps_per_unit = 2.0 ** (GRID_BITS - np.ceil(np.log2(clip)))
        total = np.zeros((plan.total + 1, plan.outputs), dtype=np.int64)
        for codes, labels in self.chunks():
            total += plan.gradient(
                codes,
                labels,
                loss=loss,
                table=table,
                constant=constant,
                clip=clip,
                steps_per_unit=steps_per_unit,
            )
        return np.asarray(total / steps_per_unit)


def batches_of_matrix(schema: Schema, features: Floats, labels: Floats) -> Iterator[tuple[Batch, Floats]]:
    """Rows of an array, a number per declared column, clipped to its bounds."""
    columns: list[Any] = list(schema.columns)
    for start in range(0, len(features), CHUNK_ROWS):
        part = features[start : start + CHUNK_ROWS]
        values = {
            column.name: np.clip(part[:, place], column.low, column.high)
            for place, column in enumerate(columns)
        }
        yield Batch(schema=schema, values=values, rows=len(part)), labels[start : start + CHUNK_ROWS]
