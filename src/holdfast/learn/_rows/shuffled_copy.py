"""ShuffledCopy: encoded rows in one secret random order, in a private file that all passes of a run read.

Shuffling a stored table costs far more than reading it, and one uniform secret permutation may serve all passes of a
run (soundness, section 1, order (i)). So the engine shuffles the rows in the first pass, which writes them to a file,
and all later passes read the same numbers from the file.
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
    """Examples that are shuffled once, in the first pass; later passes read the same order from a file.

    Where the disk is full, the engine shuffles the rows again for each pass: slower, and equally private.

    >>> import numpy as np
    >>> from holdfast.learn._rows.examples import ArrayExamples
    >>> from holdfast.privacy import Adjacency
    >>> rows = ArrayExamples(features=np.arange(6.0).reshape(3, 2), labels=np.ones(3),
    ...                      adjacency=Adjacency.replace, public_count=3)
    >>> with ShuffledCopy(rows) as copy:
    ...     passes = [[x.tolist() for x, _ in copy.shuffled_chunks(Source(seed=1))] for _ in range(2)]
    >>> passes[0] == passes[1]
    True
    """

    def __init__(self, examples: Examples, folder: Path | None = None) -> None:
        self._examples = examples
        self._file = PrivateFile(folder)
        self.complete = False
        """Whether the file holds all rows, so that passes are read from it."""

    @property
    def examples(self) -> Examples:
        """The examples that are copied."""
        return self._examples

    def chunks(self) -> Iterator[Chunk]:
        """The rows in the order that is fastest to read."""
        return self._stored_chunks() if self.complete else self._examples.chunks()

    def shuffled_chunks(self, source: Source) -> Iterator[Chunk]:
        """The rows in the secret order of this copy, which the first finished pass draws."""
        if self.complete:
            return self._stored_chunks()
        return self._write(source) if self._file.usable else self._examples.shuffled_chunks(source)

    def close(self) -> None:
        """Delete the file."""
        self.complete = False
        self._file.close()

    def __enter__(self) -> ShuffledCopy:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _write(self, source: Source) -> Iterator[Chunk]:
        """A shuffled pass over the engine's rows that writes them to the file; an unfinished pass leaves no copy."""
        self._file.clear()
        for features, labels in self._examples.shuffled_chunks(source):
            self._file.append(features, labels)
            yield features, labels
        self.complete = self._file.usable

    def _stored_chunks(self) -> Iterator[Chunk]:
        return self._file.chunks()  # type: ignore[return-value]  # two arrays each, as they were written


@contextmanager
def fixed_order(examples: Examples, *, passes: int) -> Iterator[Examples]:
    """The examples for a run of so many shuffled passes: copied to a file where that saves shuffling again.

    Only examples that are `worth_copying` are: neither rows in memory, nor rows that may not leave a server.
    """
    if passes <= 1 or not examples.worth_copying or not room_for(examples, examples.copy_folder):
        yield examples
        return
    with ShuffledCopy(examples, examples.copy_folder) as copy:
        yield copy
