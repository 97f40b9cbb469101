"""Files that appear whole or not at all, and the removal of what a killed process leaves of them.

A file is written under a temporary name beside its place, flushed to the disk and renamed. So its place holds, at any
moment, what it held before or all of what it is to hold. Nothing takes the place of another file, unless this process
wrote that one or was told to replace it (`_own_files`), be it one that appeared a moment ago.

While a temporary file is written its process holds a lock on it, which the system takes away however the process ends.
Whoever writes to the same folder next removes the temporary files of this user that nobody locks any more. Where a
system has no such locks (Windows), a killed process leaves its temporary file to the user.
"""

from __future__ import annotations

import errno
import filecmp
import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from holdfast._ranges import require_place
from holdfast.data._irreplaceable import LEDGER_PARTS, require_replaceable
from holdfast.data._own_files import allow_replacing, may_replace
from holdfast.data._process_lock import abandoned_file, new_locked_file
from holdfast.errors import ParameterError

PREFIX = ".holdfast-"
ENDING = ".tmp"
"""The beginning of a temporary file's name, and what stands before the ending of its place."""
_TOKEN_BYTES = 12
_NAME = re.compile(rf"{re.escape(PREFIX)}[0-9a-f]{{{2 * _TOKEN_BYTES}}}{re.escape(ENDING)}")
_LONGEST_ENDING = 10


class NameTakenError(ParameterError):
    """A file of others has the name; what was to be written is nowhere."""


def write_whole(path: Path, data: bytes, *, mode: int | None = None, overwrite: bool = False) -> None:
    """Write a file. After this it holds the data, also after a power cut; on any error it holds what it held.

    `mode` are the permissions of the file; without one it keeps those that it had.
    """
    with whole_file(path, mode=mode, overwrite=overwrite) as temporary:
        temporary.write_bytes(data)


@contextmanager
def whole_file(path: Path, *, mode: int | None = None, overwrite: bool = False) -> Iterator[Path]:
    """A temporary file that takes the path's place when the block ends, and all of it is on the disk.

    Nothing takes the place of a ledger or a private key, and only with `overwrite` that of a file of others.
    """
    with prepared_file(path, mode=mode) as temporary:
        yield temporary
        flush(temporary)
        take_place(temporary, path, overwrite=overwrite)


def take_place(temporary: Path, path: Path, *, overwrite: bool = False) -> None:
    """Give a finished file its name, on the disk. Where a file of others has it, that one must hold the same bytes."""
    if overwrite or may_replace(path):
        os.replace(temporary, path)
        flush_folder(path.parent)
        allow_replacing(path)
        return
    try:
        name_new(temporary, path)
        allow_replacing(path)
    except FileExistsError:
        require_same(temporary, path)
        with suppress(OSError):  # it may be read-only, and whoever wrote it is done
            flush(path)
        flush_folder(path.parent)


def require_same(temporary: Path, path: Path) -> None:
    """Refuse where a file of others has a name, unless it holds already what would be written there."""
    if not path.is_file() or not filecmp.cmp(temporary, path, shallow=False):
        raise NameTakenError(
            f"path must be a new file, got {str(path)!r}, which is there and was not made here: nothing was written "
            "over it; choose another name, or pass overwrite=True (a command: --force)"
        )


@contextmanager
def prepared_file(path: Path, *, mode: int | None = None) -> Iterator[Path]:
    """A temporary file for the place of a path, with its permissions; refused where nothing may take that place."""
    require_place("path", path)
    require_replaceable(path)
    remove_abandoned(path.parent)
    if mode is None:
        with suppress(OSError):
            mode = stat.S_IMODE(path.stat().st_mode)
    with temporary_file(path, mode=mode) as temporary:
        yield temporary


def write_new(path: Path, data: bytes, *, mode: int) -> None:
    """Write a file that was not there, whole or not at all; `FileExistsError` where anything is there."""
    remove_abandoned(path.parent)
    with temporary_file(path, mode=mode) as temporary:
        temporary.write_bytes(data)
        flush(temporary)
        name_new(temporary, path)


def name_new(temporary: Path, path: Path) -> None:
    """Give a finished temporary file its name, on the disk; `FileExistsError` where the name is taken."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS):
            raise
        # A disk without hard links: the name is taken first, and the finished file put over it.
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        os.replace(temporary, path)
    flush_folder(path.parent)


@contextmanager
def temporary_file(path: Path, *, mode: int | None = None) -> Iterator[Path]:
    """A new, empty file beside a path, with the same ending, locked by this process; removed at the end.

    What SQLite keeps beside it is removed as well.
    """
    ending = path.suffix if len(path.suffix) <= _LONGEST_ENDING else ""
    temporary, handle = new_locked_file(
        lambda: path.with_name(f"{PREFIX}{secrets.token_hex(_TOKEN_BYTES)}{ENDING}{ending}"),
        0o666 if mode is None else mode,
    )
    try:
        if mode is not None:
            os.chmod(temporary, mode)  # whatever the umask says
        if os.name != "posix":
            os.close(handle)  # elsewhere an open file cannot be renamed
        yield temporary
    finally:
        _remove(temporary)
        if os.name == "posix":
            os.close(handle)


def remove_abandoned(folder: Path) -> None:
    """Remove the temporary files of this user in a folder whose processes are gone."""
    names: list[str] = []
    with suppress(OSError), os.scandir(folder) as entries:
        names = [entry.name for entry in entries if _NAME.match(entry.name)]
    for name in names:
        if not name.endswith(LEDGER_PARTS):
            with abandoned_file(folder / name) as ours:
                if ours:
                    _remove(folder / name)


def _remove(temporary: Path) -> None:
    """Also where a signal that ends the command comes in between."""
    try:
        _unlink(temporary)
    except BaseException:
        _unlink(temporary)
        raise


def _unlink(temporary: Path) -> None:
    """The file itself comes last: what lies beside it is found by its name."""
    for ending in (*LEDGER_PARTS, ""):
        with suppress(OSError):
            os.unlink(f"{temporary}{ending}")


def flush_folder(folder: Path) -> None:
    """Put the names of a folder on the disk."""
    if os.name != "posix":
        return  # elsewhere a folder cannot be opened, and a rename is already durable
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def flush(path: Path) -> None:
    """Put what a file holds on the disk."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())
