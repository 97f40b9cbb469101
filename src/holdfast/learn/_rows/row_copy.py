"""RowCopy: encoded rows of a table, written down in the first pass and read from the file in every further one.

Reading a stored table and encoding its rows costs ten times as much as a gradient over them, and a fit asks for a
dozen. A copy holds the very arrays that the engine's pass gave, chunk by chunk, so that every sum over it is the same,
bit by bit. Where the disk is full, or a pass is broken off, rows come from the engine again: slower, and nothing else.
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
    """What a copy of all rows takes, by public numbers only."""
    return DOUBLE_BYTES * (examples.dimension + 1) * examples.public_count * examples.unit.max_rows


def room_for(examples: Examples, folder: Path | None = None) -> bool:
    """Whether a copy is a small enough part of what is free where it would go."""
    return has_room(folder, copied_bytes(examples))


class RowCopy(DerivedExamples):
    """The same rows in the same order, kept in a file without a name.

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
        """The rows where they are."""
        return self._examples

    @property
    def repeats(self) -> bool:
        """Once all rows are in the file."""
        return self._complete

    @property
    def copy_folder(self) -> Path | None:
        """As the table says."""
        return self._examples.copy_folder

    @property
    def worth_copying(self) -> bool:
        """As the table says: a shuffled order is another copy."""
        return self._examples.worth_copying

    def chunks(self) -> Iterator[Chunk]:
        """From the engine once, then from the file."""
        if self._complete:
            return self._file.chunks()  # type: ignore[return-value]  # two arrays each, as they were written
        if self._writing or not self._file.usable:  # a second pass inside the first, or a full disk
            return self._examples.chunks()
        return self._write()

    def shuffled(self, source: Source) -> Iterator[Chunk]:
        """In the engine."""
        return self._examples.shuffled(source)

    def drawn(self, source: Source, *, batches: int) -> Iterator[Chunk]:
        """In the engine."""
        return self._examples.drawn(source, batches=batches)

    def sums(self, problem: Problem) -> RowSums | None:
        """In the engine, where it takes them."""
        return self._examples.sums(problem)

    def epochs(self, options: SgdOptions, *, source: Source, passes: int, records: int) -> Floats | None:
        """In the engine, where it runs them."""
        return self._examples.epochs(options, source=source, passes=passes, records=records)

    def close(self) -> None:
        """Give the file up."""
        self._complete = False
        self._file.close()

    def _write(self) -> Iterator[Chunk]:
        """One pass from the engine, written down as it goes; a pass that is broken off leaves nothing to read."""
        self._file.clear()
        self._writing = True
        try:
            for features, labels in self._examples.chunks():
                self._file.append(features, labels)
                yield features, labels
            self._complete = self._file.usable
        finally:
            self._writing = False
