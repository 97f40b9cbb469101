"""Locks on files that last as long as the process that holds them, however it ends: they tell what was abandoned.

Whoever makes a file locks it, and makes another one where it was removed before it was locked. Whoever finds a file and
can lock it may remove it: its process is gone. So no file is too young to be judged. Windows has no such locks: there
nothing is ever judged abandoned.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

_BINARY = getattr(os, "O_BINARY", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_AT_ONCE = getattr(os, "O_NONBLOCK", 0)


def new_locked_file(name: Callable[[], Path], mode: int) -> tuple[Path, int]:
    """A new, empty file of a new name, and the handle that holds its lock."""
    while True:
        path = name()
        handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC | _BINARY, mode)
        fcntl = _fcntl()
        with suppress(OSError):  # a disk without locks: then nobody can lock it to remove it either
            if fcntl is not None:
                fcntl.flock(handle, fcntl.LOCK_EX)
        if fcntl is None or os.fstat(handle).st_nlink > 0:
            return path, handle
        os.close(handle)


@contextmanager
def abandoned_file(path: Path) -> Iterator[bool]:
    """Whether a file of this user is there that no process holds; for as long as the block lasts we hold it."""
    handle = _lock(path)
    try:
        yield handle is not None
    finally:
        if handle is not None:
            os.close(handle)


def _lock(path: Path) -> int | None:
    fcntl = _fcntl()
    if fcntl is None:
        return None
    handle = None
    try:
        handle = os.open(path, os.O_RDWR | os.O_CLOEXEC | _NO_LINK | _AT_ONCE)
        status = os.fstat(handle)
        if stat.S_ISREG(status.st_mode) and status.st_uid == os.getuid():
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return handle
    except OSError:
        pass
    if handle is not None:
        os.close(handle)
    return None


def _fcntl() -> Any:
    try:
        import fcntl
    except ImportError:
        return None
    return fcntl
