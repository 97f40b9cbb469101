"""Folders for what an engine spills or pulls: real rows, for this user alone, and gone however the process ends.

A folder has mode 0700, and its files 0600 where the disk knows default permissions. A database in it is unlinked as
soon as it is open, so that it has no name at all (`duckdb.sealed`). The rest is deleted at the end, on exceptions, and
on SIGTERM, SIGHUP and SIGINT. Each folder is locked while its process lives, and the system takes the lock away however
the process ends: whoever opens the next folder, or runs the next command, deletes those of this user that nobody locks
any more. Where a system has no such locks (Windows), a killed process leaves its folder to the user.
"""

from __future__ import annotations

import atexit
import os
import secrets
import shutil
import signal
import struct
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from types import FrameType

from holdfast.data._process_lock import abandoned_folder, new_locked_folder

PREFIX = "holdfast-work-"
_TOKEN_BYTES = 12
_ENDINGS = ("SIGTERM", "SIGHUP")
"""Signals that end a process without an exception; Python itself makes one of SIGINT."""
_open: set[WorkFolder] = set()


class WorkFolder:
    """A private folder until `delete`.

    >>> folder = WorkFolder()
    >>> folder.path.is_dir()
    True
    >>> folder.delete()
    >>> folder.path.exists()
    False
    """

    def __init__(self) -> None:
        remove_abandoned_folders()
        parent = Path(tempfile.gettempdir())
        self.path, self._lock = new_locked_folder(
            lambda: parent / f"{PREFIX}{secrets.token_hex(_TOKEN_BYTES)}"
        )
        self._process: int | None = os.getpid()
        _make_files_private(self.path)
        _open.add(self)
        _watch_endings()

    def delete(self) -> None:
        """Remove all of it, and the lock. What a fork inherited is not its own to remove."""
        _open.discard(self)
        if os.getpid() == self._process:
            shutil.rmtree(self.path, ignore_errors=True)
            self._process = None
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def delete_all() -> None:
    """Remove every folder of this process."""
    for folder in tuple(_open):
        folder.delete()


def remove_abandoned_folders() -> None:
    """Remove the folders of this user whose processes are gone."""
    parent, names = tempfile.gettempdir(), []
    with suppress(OSError), os.scandir(parent) as entries:
        names = [entry.name for entry in entries if entry.name.startswith(PREFIX)]
    for name in names:
        with abandoned_folder(Path(parent, name)) as ours:
            if ours:
                shutil.rmtree(os.path.join(parent, name), ignore_errors=True)


def _make_files_private(folder: Path) -> None:
    """Files that an engine makes here get mode 0600 whatever the umask says, where the disk has access lists."""
    owner, group, others = (0x01, 7), (0x04, 0), (0x20, 0)
    entries = b"".join(struct.pack("<HHI", tag, rights, 0xFFFFFFFF) for tag, rights in (owner, group, others))
    with suppress(AttributeError, OSError):  # Linux alone has it, and not on every disk
        os.setxattr(folder, "system.posix_acl_default", struct.pack("<I", 2) + entries)


def _watch_endings() -> None:
    """Remove the folders before a signal ends the process, where nobody else handles it."""
    if threading.current_thread() is not threading.main_thread():
        return
    for name in _ENDINGS:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _end)


def _end(number: int, frame: FrameType | None) -> None:
    delete_all()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


atexit.register(delete_all)
