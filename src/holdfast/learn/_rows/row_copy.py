"""RowCopy: encoded rows of a table, written to a private file in the first pass and read from it in all later ones.

Reading a stored table and encoding its rows costs ten times as much as a gradient over them, and a fit needs a dozen
gradients. The copy holds the arrays of the first pass, chunk by chunk, so that every sum over them has the same bits.
Where the disk is full or a pass is not finished, rows are read from the engine again, which is slower and no different
otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from holdfast._arrays import Floats
from holdfast._kernel import SgdOptions
from holdfast.learn._problem import Problem
from holdfast.learn._rows.examples import Chunk, DerivedExamples, Examples, RowSums
from holdfast.learn._rows.private_file import PrivateFile, has_room
from holdfast.noise._source import Source

DOUBLE_BYTES = 8


def copied_bytes(examples: Examples) -> int:
    """The size of a copy of all rows in bytes, from public numbers only."""
    return DOUBLE_BYTES * (examples.dimension + 1) * examples.public_count * examples.unit.max_rows


def room_for(examples: Examples, folder: Path | None = None) -> bool:
    """Whether the disk has enough free space for a copy of the rows."""
    return has_room(folder, copied_bytes(examples))


class RowCopy(DerivedExamples):
    """The same rows in the same order, read from a private file after the first pass.

    >>> import numpy as np
    >>> from holdfast.learn._rows.examples import ArrayExamples
    >>> from holdfast.privacy import Adjacency
    >>> rows = ArrayExamples(features=np.eye(2), labels=np.ones(2), adjacency=Adjacency.replace, public_count=2)
    >>> copy = RowCopy(rows)
    >>> [[x.tolist() for x, _ in copy.chunks()] for _ in range(2)]
    [[[[1.0, 0.0], [0.0, 1.0]]], [[[1.0, 0.0], [0.0, 1.0]]]]
    >>> copy.repeats
    True
    >>> copy.close()
    """

    def __init__(self, examples: Examples, folder: Path | None = None) -> None:
        self._examples = examples
        self._file = PrivateFile(folder)
        self._complete = self._writing = False

    @property
    def examples(self) -> Examples:
        """The examples that are copied."""
        return self._examples

    @property
    def repeats(self) -> bool:
        """True once all rows are in the file."""
        return self._complete

    @property
    def copy_folder(self) -> Path | None:
        return self._examples.copy_folder

    @property
    def worth_copying(self) -> bool:
        """As of the table, since a shuffled order needs a copy of its own."""
        return self._examples.worth_copying

    def chunks(self) -> Iterator[Chunk]:
        """The rows from the engine in the first pass, from the file later."""
        if self._complete:
            return self._file.chunks()  # type: ignore[return-value]  # two arrays each, as they were written
        if self._writing or not self._file.usable:  # a pass inside the first one, or a full disk
            return self._examples.chunks()
        return self._write()

    def shuffled_chunks(self, source: Source) -> Iterator[Chunk]:
        return self._examples.shuffled_chunks(source)

    def random_batches(self, source: Source, *, batches: int) -> Iterator[Chunk]:
        return self._examples.random_batches(source, batches=batches)

    def sums(self, problem: Problem) -> RowSums | None:
        """By the engine, if it can."""
        return self._examples.sums(problem)

    def epochs(self, options: SgdOptions, *, source: Source, passes: int, records: int) -> Floats | None:
        """By the engine, if it can."""
        return self._examples.epochs(options, source=source, passes=passes, records=records)

    def close(self) -> None:
        """Delete the file."""
        self._complete = False
        self._file.close()

    def _write(self) -> Iterator[Chunk]:
        """A pass over the engine's rows that writes them to the file; an unfinished pass leaves no copy."""
        self._file.clear()
        self._writing = True
        try:
            for features, labels in self._examples.chunks():
                self._file.append(features, labels)
                yield features, labels
            self._complete = self._file.usable
        finally:
            self._writing = False
