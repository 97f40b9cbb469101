"""ShuffledCopy: encoded rows in one secret order, kept in a file without a name while a run of many passes reads them.

Shuffling a stored table costs far more than reading it, and a run needs one order only: a uniform secret permutation
that every pass keeps is admissible (soundness, section 1, order (i)). So the first pass is the engine's shuffle, whose
rows are written down as they come, and every further pass reads the file from its start: the same numbers, bit by bit.

The file holds data. It is made without a name (or loses it at once), so that nobody else can open it and nothing is
left behind: it is gone when it is closed, after an error, and even when the process is killed.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import IO, Any

import numpy as np

from holdfast.errors import DataError
from holdfast.learn.rows.examples import Chunk, DerivedExamples, Examples
from holdfast.noise.source import Source

READ_BYTES = 2**19
"""Read at a time: few enough to be in a processor's cache still when the kernel comes to them."""
_DOUBLE = 8


class ShuffledCopy(DerivedExamples):
    """Examples whose first pass is a fresh secret shuffle, and whose later passes are the same order from a file.

    Where the disk is full, rows go on coming from the engine, shuffled afresh for each pass: slower, no less private.

    >>> from holdfast.learn.rows.examples import ArrayExamples
    >>> from holdfast.privacy import Adjacency
    >>> rows = ArrayExamples(features=np.arange(6.0).reshape(3, 2), labels=np.ones(3),
    ...                      adjacency=Adjacency.replace, public_count=3)
    >>> with ShuffledCopy(rows) as copy:
    ...     passes = [[x.tolist() for x, _ in copy.shuffled(Source(seed=1))] for _ in range(2)]
    >>> passes[0] == passes[1]
    True
    """

    def __init__(self, examples: Examples) -> None:
        self._examples = examples
        self._width = examples.dimension + 1
        self._file: IO[bytes] | None = tempfile.TemporaryFile(prefix="holdfast-")
        self._rows = 0
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
        return self._examples.shuffled(source) if self._file is None else self._write(source)

    def close(self) -> None:
        """Give the rows up; without a name, the file is gone with this."""
        self.complete = False
        if self._file is not None:
            # What could not be written is of no interest any more.
            with suppress(OSError):
                self._file.close()
            self._file = None

    def __enter__(self) -> ShuffledCopy:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _write(self, source: Source) -> Iterator[Chunk]:
        """One pass from the engine, written down as it goes; a pass that is broken off leaves nothing to read."""
        assert self._file is not None, "callers have looked"
        self._file.seek(0)
        self._file.truncate()
        self._rows = 0
        for features, labels in self._examples.shuffled(source):
            self._append(features, labels)
            yield features, labels
        self.complete = self._file is not None and self._flushed()

    def _append(self, features: Any, labels: Any) -> None:
        if self._file is None:
            return
        try:
            self._file.write(np.column_stack([features, labels]).data)
        except OSError:
            self.close()
            return
        self._rows += len(labels)

    def _flushed(self) -> bool:
        assert self._file is not None, "the caller has looked"
        try:
            self._file.flush()
        except OSError:
            self.close()
            return False
        return True

    def _read(self) -> Iterator[Chunk]:
        """All rows as they were written, in arrays of their own."""
        assert self._file is not None, "complete copies have a file"
        row_bytes = _DOUBLE * self._width
        most = max(1, READ_BYTES // row_bytes)
        for start in range(0, self._rows, most):
            block = np.empty((min(most, self._rows - start), self._width))
            self._file.seek(start * row_bytes)
            if self._file.readinto(block.data) != block.nbytes:  # type: ignore[attr-defined]
                raise DataError("the private copy of the rows is shorter than it was; nothing was released")
            yield block[:, :-1], block[:, -1]


def room_for(examples: Examples) -> bool:
    """Whether a copy takes at most half of what is free where temporary files go. Looks at public numbers only."""
    needed = _DOUBLE * (examples.dimension + 1) * examples.public_count * examples.unit.max_rows
    return 2 * needed <= shutil.disk_usage(tempfile.gettempdir()).free


@contextmanager
def one_order(examples: Examples, *, passes: int) -> Iterator[Examples]:
    """The examples for a run of so many shuffled passes: through a copy where that saves shuffling again.

    Only for examples that say so: rows that the caller holds in memory, or that may not leave a server, are not
    written to a disk.
    """
    if passes <= 1 or not examples.worth_copying or not room_for(examples):
        yield examples
        return
    with ShuffledCopy(examples) as copy:
        yield copy
