"""Writing files: whole or not at all, and tried before anything is paid for."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from holdfast.errors import ParameterError


def require_writable(path: Path, *, force: bool, name: str = "output") -> None:
    """Refuse a path that a result could not be written to: asked before anything is spent on the result.

    `force` allows a file that is there already. A temporary file of a few pages is tried beside it, which also finds
    a full disk.
    """
    shown = repr(str(path))
    if path.exists() and not path.is_file():
        raise ParameterError(f"{name} must be a file, got {shown}, which is a folder or a device")
    if path.exists() and not force:
        raise ParameterError(f"{name} must be a new file, got {shown}; use --force to overwrite it")
    if not path.parent.is_dir():
        raise ParameterError(f"{name} must lie in a folder that exists, got {shown}; make the folder first")
    if path.exists() and not os.access(path, os.W_OK):
        raise ParameterError(f"{name} must be a file that may be written to, got {shown}; choose another one")
    tried = _beside(path)
    try:
        with tried.open("xb") as file:
            file.write(bytes(16_384))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise ParameterError(
            f"{name} must lie where files can be written, got {shown}: {error.strerror}; choose another place"
        ) from None
    finally:
        with suppress(OSError):
            tried.unlink()


def write_atomically(path: Path, data: bytes) -> None:
    """After this the path holds the data, also after a power cut; on any error it holds what it held."""
    with whole(path) as temporary:
        temporary.write_bytes(data)


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A name beside the path, for a file that takes the path's place when all of it is on the disk."""
    temporary = _beside(path)
    try:
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _flush_directory(path.parent)


def _beside(path: Path) -> Path:
    """A new name in the same folder, with the same ending."""
    ending = path.suffix if len(path.suffix) <= 10 else ""
    return path.with_name(f".{secrets.token_hex(12)}.tmp{ending}")


def _flush_directory(folder: Path) -> None:
    if os.name != "posix":
        return  # elsewhere a folder cannot be opened, and the rename is already durable
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
