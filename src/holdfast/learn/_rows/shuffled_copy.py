"""ShuffledCopy: encoded rows in one secret order, kept in a private file while a run of many passes reads them.

Shuffling a stored table costs far more than reading it, and a run needs one order only: a uniform secret permutation
that every pass keeps is admissible (soundness, section 1, order (i)). So the first pass is the engine's shuffle, whose
rows are written down as they come, and every further pass reads the file from its start: the same numbers, bit by bit.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from holdfast.learn._rows.examples import Chunk, DerivedExamples, Examples
from holdfast.learn._rows.private_file import PrivateFile
from holdfast.learn._rows.row_copy import room_for
from holdfast.noise._source import Source


class ShuffledCopy(DerivedExamples):
    """Examples whose first pass is a fresh secret shuffle, and whose later passes are the same order from a file.

    Where the disk is full, rows go on coming from the engine, shuffled afresh for each pass: slower, no less private.

    >>> import numpy as np
    >>> from holdfast.learn._rows.examples import ArrayExamples
    >>> from holdfast.privacy import Adjacency
    >>> rows = ArrayExamples(features=np.arange(6.0).reshape(3, 2), labels=np.ones(3),
    ...                      adjacency=Adjacency.replace, public_count=3)
    >>> with ShuffledCopy(rows) as copy:
    ...     passes = [[x.tolist() for x, _ in copy.shuffled(Source(seed=1))] for _ in range(2)]
    >>> passes[0] == passes[1]
    True
    """

    def __init__(self, examples: Examples, folder: Path | None = None) -> None:
        self._examples = examples
        self._file = PrivateFile(folder)
        self.complete = False
        """Whether every row of a pass has been written, so that passes are read from the file."""

    @property
    def examples(self) -> Examples:
        """The rows where they are."""
        return self._examples

    def chunks(self) -> Iterator[Chunk]:
        """Whatever order is fastest: sums only."""
        return self._read() if self.complete else self._examples.chunks()

    def shuffled(self, source: Source) -> Iterator[Chunk]:
        """The secret order of this copy; the first whole pass draws it."""
        if self.complete:
            return self._read()
        return self._write(source) if self._file.usable else self._examples.shuffled(source)

    def close(self) -> None:
        """Give the rows up."""
        self.complete = False
        self._file.close()

    def __enter__(self) -> ShuffledCopy:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _write(self, source: Source) -> Iterator[Chunk]:
        """One pass from the engine, written down as it goes; a pass that is broken off leaves nothing to read."""
        self._file.clear()
        for features, labels in self._examples.shuffled(source):
            self._file.append(features, labels)
            yield features, labels
        self.complete = self._file.usable

    def _read(self) -> Iterator[Chunk]:
        return self._file.chunks()  # type: ignore[return-value]  # two arrays each, as they were written


@contextmanager
def one_order(examples: Examples, *, passes: int) -> Iterator[Examples]:
    """The examples for a run of so many shuffled passes: through a copy where that saves shuffling again.

    Only for examples that say so: rows that the caller holds in memory, or that may not leave a server, are not
    written to a disk.
    """
    if passes <= 1 or not examples.worth_copying or not room_for(examples, examples.copy_folder):
        yield examples
        return
    with ShuffledCopy(examples, examples.copy_folder) as copy:
        yield copy
