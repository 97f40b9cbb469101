"""Whether a result could be written: asked before anything is spent on it."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from holdfast.errors import ParameterError
from holdfast.release.archive import beside


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
    tried = beside(path)
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
