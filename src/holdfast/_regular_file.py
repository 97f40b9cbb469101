"""Files that somebody else may have made: regular ones only, opened without waiting, read up to a size known before.

A pipe without a writer would be waited for without end, a device may give bytes without end, and opening one can do
something by itself. So what a name stands for is looked at before it is opened and once more on the open handle, which
nobody can exchange, and no more is read than the handle said the file holds.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from holdfast.errors import FormatError, HoldfastError

_OTHER_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
_AT_ONCE = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
_FLAGS = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0) | _AT_ONCE
_PIECE_BYTES = 2**20


def other_kind(path: str | os.PathLike[str]) -> str:
    """What stands at a path that is no regular file, such as "a pipe"; empty for a regular file, or for nothing.

    >>> other_kind(os.devnull), other_kind(os.curdir), other_kind(__file__)
    ('a device', 'a folder', '')
    """
    try:
        return _other_kind(os.stat(path).st_mode)
    except (OSError, ValueError):  # a name with a null byte stands for nothing
        return ""


def require_regular(
    path: str | os.PathLike[str], *, what: str, error: type[HoldfastError] = FormatError
) -> None:
    """Refuse what is no regular file, for a library that opens it by its name; that nothing is there it says itself."""
    kind = other_kind(path)
    if kind:
        raise error(f"cannot read {what} from {os.fspath(path)!r}: {_refusal(kind)}")


@contextmanager
def open_regular(path: str | os.PathLike[str]) -> Iterator[tuple[BinaryIO, int]]:
    """A file and how many bytes it holds; `OSError` with the reason for anything but a regular file."""
    _require_file(os.stat(path).st_mode, path)
    handle = os.open(path, _FLAGS)
    try:
        status = os.fstat(handle)
        _require_file(status.st_mode, path)
        file = os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise
    with file:
        yield file, status.st_size


def read_regular(
    path: str | os.PathLike[str], *, what: str, most_bytes: int, error: type[HoldfastError] = FormatError
) -> bytes:
    """All bytes of a file of at most `most_bytes`; `what` names it in the error for any other.

    >>> read_regular(os.devnull, what="a schema", most_bytes=100)
    Traceback (most recent call last):
    ...
    holdfast.errors.FormatError: cannot read a schema from '/dev/null': it is a device, and only a regular file is read
    """
    try:
        with open_regular(path) as (file, size):
            if size <= most_bytes:
                return file.read(size)
    except (OSError, ValueError) as failure:
        reason = getattr(failure, "strerror", None) or "no file can have this name"
        raise error(f"cannot read {what} from {os.fspath(path)!r}: {reason}") from None
    raise error(
        f"cannot read {what} from {os.fspath(path)!r}: it has {size:,} bytes, and at most {most_bytes:,} are read"
    )


def sha256_of(path: str | os.PathLike[str], *, what: str) -> str:
    """SHA-256 of a regular file of any size, in hexadecimal."""
    digest = hashlib.sha256()
    try:
        with open_regular(path) as (file, size):
            for at in range(0, size, _PIECE_BYTES):
                digest.update(file.read(min(_PIECE_BYTES, size - at)))
    except OSError as failure:
        raise FormatError(f"cannot read {what} from {os.fspath(path)!r}: {failure.strerror}") from None
    return digest.hexdigest()


def _other_kind(mode: int) -> str:
    if stat.S_ISREG(mode):
        return ""
    return next((words for test, words in _OTHER_KINDS if test(mode)), "no file")


def _require_file(mode: int, path: str | os.PathLike[str]) -> None:
    kind = _other_kind(mode)
    if kind:
        raise OSError(None, _refusal(kind), os.fspath(path))


def _refusal(kind: str) -> str:
    way_out = "; write what it gives into a file first" if kind in ("a pipe", "a socket") else ""
    return f"it is {kind}, and only a regular file is read{way_out}"
