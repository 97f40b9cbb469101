"""Locks on files and folders that last as long as the process that holds them: they tell what was abandoned.

Whoever makes a file locks it, and makes another one where it was removed before it was locked. Whoever finds a file and
can lock it may remove it: its process is gone. So no file is too young to be judged. Windows has no such locks: there
nothing is ever judged abandoned.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
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


def new_locked_folder(name: Callable[[], Path]) -> tuple[Path, int | None]:
    """A new folder of a new name, for this user alone, and the handle that holds its lock, if there are locks."""
    while True:
        path = name()
        os.mkdir(path, 0o700)
        fcntl = _fcntl()
        if fcntl is None:
            return path, None
        try:
            handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | _NO_LINK)
        except FileNotFoundError:
            continue  # it was taken for abandoned before it was locked
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        if path.exists():
            return path, handle
        os.close(handle)


def abandoned_file(path: Path) -> AbstractContextManager[bool]:
    """Whether a file of this user is there that no process holds; for as long as the block lasts we hold it."""
    return _hold(path, os.O_RDWR | _AT_ONCE, stat.S_ISREG)


def abandoned_folder(path: Path) -> AbstractContextManager[bool]:
    """The same of a folder."""
    return _hold(path, os.O_RDONLY | _AT_ONCE, stat.S_ISDIR)


@contextmanager
def _hold(path: Path, flags: int, kind: Callable[[int], bool]) -> Iterator[bool]:
    handle = _lock(path, flags, kind)
    try:
        yield handle is not None
    finally:
        if handle is not None:
            os.close(handle)


def _lock(path: Path, flags: int, kind: Callable[[int], bool]) -> int | None:
    fcntl = _fcntl()
    if fcntl is None:
        return None
    handle = None
    try:
        handle = os.open(path, flags | os.O_CLOEXEC | _NO_LINK)
        status = os.fstat(handle)
        if kind(status.st_mode) and status.st_uid == os.getuid():
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
