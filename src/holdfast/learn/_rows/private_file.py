"""PrivateFile: chunks of arrays in a temporary file that nobody else can open and that never outlives the process.

The file holds private data. It has no name in any folder and belongs to this user alone. The operating system frees it
when it is closed, after an error, and even when the process is killed. Where a write fails, as on a full disk, the file
is closed, and its user reads the rows from their source again.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import DataError

Arrays = tuple[NDArray[Any], ...]
FREE_SPACE_FACTOR = 2
"""A file is written only where the disk has this many times its size free."""


def has_room(folder: Path | None, size: int) -> bool:
    """Whether the disk of a folder has enough free space for a file of so many bytes."""
    try:
        return FREE_SPACE_FACTOR * size <= shutil.disk_usage(folder or tempfile.gettempdir()).free
    except OSError:
        return False


class PrivateFile:
    """Chunks of arrays, appended one after the other; they can be read from the first one any number of times.

    >>> with_two = PrivateFile()
    >>> with_two.append(np.arange(3.0), np.ones(2, dtype=np.uint16))
    True
    >>> [[array.tolist() for array in chunk] for chunk in with_two.chunks()]
    [[[0.0, 1.0, 2.0], [1, 1]]]
    >>> with_two.close()
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._file: IO[bytes] | None = None
        self.usable = True
        """Whether the file can be written to and read from."""
        self._shapes: list[tuple[tuple[np.dtype[Any], tuple[int, ...]], ...]] = []

    def append(self, *arrays: NDArray[Any]) -> bool:
        """Write a chunk. The first one opens the file; where a write fails the file is closed and False returned."""
        if not self.usable:
            return False
        try:
            if self._file is None:
                # Unbuffered: a full disk is noticed at once, and reads go directly into their arrays.
                self._file = tempfile.TemporaryFile(prefix="holdfast-", dir=self._folder, buffering=0)
            for array in arrays:
                _write(self._file, np.ascontiguousarray(array))
        except OSError:
            self.close()
            return False
        self._shapes.append(tuple((array.dtype, array.shape) for array in arrays))
        return True

    def clear(self) -> None:
        """Remove all chunks."""
        self._shapes.clear()
        if self._file is not None:
            try:
                self._file.seek(0)
                self._file.truncate()
            except OSError:
                self.close()

    def chunks(self) -> Iterator[Arrays]:
        """All chunks as they were written, each read into new arrays."""
        position = 0
        for shapes in self._shapes:
            arrays = tuple(np.empty(shape, dtype) for dtype, shape in shapes)
            for array in arrays:
                self._read_into(position, array)
                position += array.nbytes
            yield arrays

    def close(self) -> None:
        """Close the file, which deletes it."""
        self._shapes, self.usable = [], False
        if self._file is not None:
            # An error about data that could not be written no longer matters.
            with suppress(OSError):
                self._file.close()
            self._file = None

    def _read_into(self, position: int, array: NDArray[Any]) -> None:
        if self._file is None:
            raise DataError("the private copy of the rows was closed while it was read")
        target = _bytes(array)
        self._file.seek(position)
        filled = 0
        while filled < len(target):
            count = self._file.readinto(target[filled:])  # type: ignore[attr-defined]
            if not count:
                raise DataError("the private copy of the rows is shorter than it was; nothing was released")
            filled += count


def _write(file: IO[bytes], array: NDArray[Any]) -> None:
    """Write the whole array, in several calls where the disk takes only a part of it at a time."""
    rest = _bytes(array)
    while len(rest):
        rest = rest[file.write(rest) :]


def _bytes(array: NDArray[Any]) -> memoryview:
    flat: Any = array.reshape(-1).view(np.uint8)
    return memoryview(flat)
