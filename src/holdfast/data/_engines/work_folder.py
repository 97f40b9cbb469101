"""Folders for what an engine spills or pulls: of this user alone, deleted at the end, or by the next one after a kill.

DuckDB needs files with names. Each folder holds a lock while its process lives, which the system takes away however the
process ends; whoever opens the next folder deletes those of this user that nobody locks any more. Where a system has no
such locks (Windows), a killed process leaves its folder to the user.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

PREFIX = "holdfast-work-"
LOCK = "held"
SETTLED_S = 60.0
"""A folder younger than this may have been made and not locked yet."""


class WorkFolder:
    """A private folder (mode 0700) until `delete`.

    >>> folder = WorkFolder()
    >>> folder.path.is_dir()
    True
    >>> folder.delete()
    >>> folder.path.exists()
    False
    """

    def __init__(self) -> None:
        for stale in abandoned_folders(Path(tempfile.gettempdir())):
            shutil.rmtree(stale, ignore_errors=True)
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
        self._lock: IO[bytes] | None = _locked(self.path / LOCK, create=True)

    def delete(self) -> None:
        """All of it, and the lock."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock is not None:
            self._lock.close()
            self._lock = None


def abandoned_folders(parent: Path) -> Iterator[Path]:
    """Folders of this user there whose process is gone."""
    if _fcntl() is None:
        return
    with suppress(OSError):
        for folder in parent.glob(f"{PREFIX}*"):
            with suppress(OSError):
                status = folder.lstat()
                ours = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()
                if ours and time.time() - status.st_mtime > SETTLED_S:
                    lock = _locked(folder / LOCK, create=False)
                    if lock is not None:
                        yield folder
                        lock.close()


def _locked(path: Path, *, create: bool) -> IO[bytes] | None:
    """The file, locked by this process; None where another holds it, it is not there or nothing can be locked."""
    fcntl = _fcntl()
    if fcntl is None:
        return None
    flags = os.O_RDWR | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0) | (os.O_CREAT if create else 0)
    with suppress(OSError):
        file = os.fdopen(os.open(path, flags, 0o600), "r+b")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            return None
        return file
    return None


def _fcntl() -> Any:
    try:
        import fcntl
    except ImportError:
        return None
    return fcntl
