"""CellRows: every row as the codes of its cells, two bytes per column, with its label; from a table of any engine.

A fit passes over the rows many times. Codes and labels stay in memory where they fit, and otherwise in a private file
where the table may be copied, so that the table is read once; failing that, it is read again in every pass. Sums over
rows are sums of whole numbers, so the order of rows changes nothing.
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
MOST_CACHED_BYTES = 2**30
"""Codes and labels up to this size stay in memory."""
LABEL_STEP = 2.0**-20
"""Labels and their squares are summed in whole multiples of this step."""
GRADIENT_BITS = 30
"""Gradients are summed in whole multiples of about 2^-30 of the clipping norm: 2^32 of them fit into 63 bits."""


@dataclass(kw_only=True, eq=False)
class CellRows:
    """The rows of a fit, which are private. `read` passes once over rows and labels, in any order."""

    cells: tuple[ColumnCells, ...]
    read: Callable[[], Iterator[tuple[Batch, Floats]]]
    adjacency: Adjacency
    unit: PrivacyUnit
    public_count: int
    most_cached_bytes: int = MOST_CACHED_BYTES
    may_lack_targets: bool = False
    """Whether rows of the table may be left out because they have no target."""
    file: PrivateFile | None = None
    """Where chunks beyond `most_cached_bytes` are written, if they may be."""
    _cached_chunks: list[CodedChunk] | None = None
    _cache_is_complete: bool = False

    def chunks(self) -> Iterator[CodedChunk]:
        """All rows: from the cache where it holds them, else from the table."""
        if self._cache_is_complete:
            yield from self._cached_chunks or ()
            if self.file is not None:
                yield from self.file.chunks()  # type: ignore[misc]  # codes and labels, as they were written
            return
        yield from self._coded_table()

    def _coded_table(self) -> Iterator[CodedChunk]:
        """A pass over the table, which fills the cache: memory first, then the file."""
        chunks: list[CodedChunk] = []
        room, complete = self.most_cached_bytes, True
        if self.file is not None:
            self.file.clear()
        for batch, labels in self.read():
            chunk = code_rows(self.cells, batch), labels
            room -= chunk[0].nbytes + chunk[1].nbytes
            if room >= 0:
                chunks.append(chunk)
            elif self.file is None or not self.file.append(*chunk):
                complete = False
                chunks.clear()
            yield chunk
        if complete:
            self._cached_chunks, self._cache_is_complete = chunks, True

    def close(self) -> None:
        """Empty the cache."""
        self._cached_chunks, self._cache_is_complete = None, False
        if self.file is not None:
            self.file.close()

    def regrid(self, grid: int) -> None:
        """Cut numeric columns by another grid (see cells.py); the cache is emptied if that changes their cells."""
        if any(column.grid != grid for column in self.cells):
            self.close()
            self.cells = cells_of_columns([column.column for column in self.cells], grid)

    def largest_count(self) -> int:
        """A bound on the rows of every table that the schema admits, 16 times as many where their count is private."""
        admitted = self.public_count * self.unit.max_rows
        return admitted if self.adjacency.count_is_public else 16 * admitted

    def counts(self) -> list[NDArray[np.int64]]:
        """For each column the exact number of rows in each cell."""
        histograms = [np.zeros(column.count, dtype=np.int64) for column in self.cells]
        for codes, _ in self.chunks():
            for place, counts in enumerate(histograms):
                counts += np.bincount(codes[:, place], minlength=counts.size)
        return histograms

    def class_counts(self, classes: int) -> NDArray[np.int64]:
        """The exact number of rows of each class. Two classes are labelled -1 and +1, several 0, 1, ..."""
        totals = np.zeros(classes, dtype=np.int64)
        for _, labels in self.chunks():
            totals += np.bincount(
                (labels > 0) if classes == 2 else labels.astype(np.int64), minlength=classes
            )
        return totals

    def sums(self) -> NDArray[np.int64]:
        """The sums of the labels and of their squares, clipped to [-1, 1] and rounded down to whole numbers.

        Adding a row moves each sum by at most 1; replacing it moves them by at most 2 and 1. Rounding down keeps these
        bounds, since they are whole numbers.
        """
        total = np.zeros(2, dtype=np.int64)
        for _, labels in self.chunks():
            inside = np.clip(labels, -1.0, 1.0)
            total += np.trunc(np.stack([inside, inside**2], axis=1) / LABEL_STEP).astype(np.int64).sum(axis=0)
        return np.asarray(np.floor(total * LABEL_STEP), dtype=np.int64)

    def gradient(self, plan: CellPlan, *, loss: Loss, table: Floats, constant: Floats, clip: float) -> Floats:
        """The sum of clipped slopes of all rows, for each cell and last for the constant: exact on a public grid."""
        steps_per_unit = 2.0 ** (GRADIENT_BITS - np.ceil(np.log2(clip)))
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
    """The rows of an array in batches, each column clipped to its declared bounds, with their labels."""
    columns: list[Any] = list(schema.columns)
    for start in range(0, len(features), CHUNK_ROWS):
        part = features[start : start + CHUNK_ROWS]
        values = {
            column.name: np.clip(part[:, place], column.low, column.high)
            for place, column in enumerate(columns)
        }
        yield Batch(schema=schema, values=values, rows=len(part)), labels[start : start + CHUNK_ROWS]
