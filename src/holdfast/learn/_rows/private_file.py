"""PrivateFile: arrays in a file without a name, read back chunk by chunk, bit by bit as they were written.

The file holds data. It is made without a name (or loses it at once) and for this user alone, so that nobody else can
open it and nothing is left behind: it is gone when it is closed, after an error, and even when the process is killed.
Where a write fails, as on a full disk, the file is given up and its owner reads rows where they come from.
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
"""A file is begun only where the disk has this many times its size free."""


def has_room(folder: Path | None, size: int) -> bool:
    """Whether so many bytes are a small enough part of what is free there."""
    try:
        return FREE_SPACE_FACTOR * size <= shutil.disk_usage(folder or tempfile.gettempdir()).free
    except OSError:
        return False


class PrivateFile:
    """Chunks of arrays, appended in turn and read from the first one again and again.

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
        """Whether it can be written to and read from."""
        self._shapes: list[tuple[tuple[np.dtype[Any], tuple[int, ...]], ...]] = []

    def append(self, *arrays: NDArray[Any]) -> bool:
        """Write a chunk; False where that failed, and the file is gone. The first one opens the file."""
        if not self.usable:
            return False
        try:
            if self._file is None:
                # Unbuffered: what a disk cannot take is known at once, and a read goes straight into its array.
                self._file = tempfile.TemporaryFile(prefix="holdfast-", dir=self._folder, buffering=0)
            for array in arrays:
                _write(self._file, np.ascontiguousarray(array))
        except OSError:
            self.close()
            return False
        self._shapes.append(tuple((array.dtype, array.shape) for array in arrays))
        return True

    def clear(self) -> None:
        """Forget all chunks."""
        self._shapes.clear()
        if self._file is not None:
            try:
                self._file.seek(0)
                self._file.truncate()
            except OSError:
                self.close()

    def chunks(self) -> Iterator[Arrays]:
        """All chunks as they were written, in arrays of their own."""
        place = 0
        for shapes in self._shapes:
            arrays = tuple(np.empty(shape, dtype) for dtype, shape in shapes)
            for array in arrays:
                self._read(place, array)
                place += array.nbytes
            yield arrays

    def close(self) -> None:
        """Give the arrays up; without a name, the file is gone with this."""
        self._shapes, self.usable = [], False
        if self._file is not None:
            # What could not be written is of no interest any more.
            with suppress(OSError):
                self._file.close()
            self._file = None

    def _read(self, place: int, array: NDArray[Any]) -> None:
        if self._file is None:
            raise DataError("the private copy of the rows was closed while it was read")
        whole = _bytes(array)
        self._file.seek(place)
        read = 0
        while read < len(whole):
            got = self._file.readinto(whole[read:])  # type: ignore[attr-defined]
            if not got:
                raise DataError("the private copy of the rows is shorter than it was; nothing was released")
            read += got


def _write(file: IO[bytes], array: NDArray[Any]) -> None:
    """All of it: a nearly full disk takes a part before it refuses."""
    left = _bytes(array)
    while len(left):
        left = left[file.write(left) :]


def _bytes(array: NDArray[Any]) -> memoryview:
    flat: Any = array.reshape(-1).view(np.uint8)
    return memoryview(flat)
