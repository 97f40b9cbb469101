"""Outputs: what a run reads and what it writes; it never writes over what it reads, nor twice to one place.

Every command, every step of a plan and every function that writes a file asks this object before anything is spent.
Paths are compared by the file that they name and not by their spelling: links, relative paths and other letter case
make no difference, even for files that do not exist yet. No option overrides that.
"""

from __future__ import annotations

import fnmatch
import glob
import os
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from holdfast._regular_file import open_regular
from holdfast.data._irreplaceable import LEDGER_PARTS, require_replaceable
from holdfast.data._own_files import allow_replacing, may_replace
from holdfast.data._whole_file import remove_abandoned, temporary_file
from holdfast.errors import ParameterError

DATABASE_PARTS = (*LEDGER_PARTS, ".wal")
"""Endings of the files that a ledger or a DuckDB database keeps beside its own."""
KEPT_RESULTS_ENDING = ".kept"
"""The ending of the folder beside a ledger that holds results until they are written (`holdfast.ledger._jobs`)."""


@dataclass(frozen=True, kw_only=True)
class FileRead:
    """A file that a run reads, a folder, or a pattern of files; `name` is what the user calls it."""

    name: str
    path: Path
    admits: Callable[[Path], bool] = lambda path: True
    """For a folder or a pattern: whether a new file in it would be read as well."""

    def meets(self, output: Path) -> bool:
        """Whether writing there would change what is read."""
        identities = _identities(output)
        if any(identities & _identities(file) for file in (self.path, *self._parts(), *self._files())):
            return True
        if self._is_pattern:
            wildcards = str(Path(*_wild_parts(self.path))).replace("**/", "*")
            pattern = os.path.join(os.path.realpath(_root(self.path)), wildcards)
            return fnmatch.fnmatch(
                _without_case(os.path.realpath(output)), _without_case(pattern)
            ) and self.admits(output)
        if self.path.is_dir():
            return _lies_in(output, self.path) and self.admits(output)
        return any(
            _lies_in(output, spelling.with_name(spelling.name + KEPT_RESULTS_ENDING))
            for spelling in self._spellings()
        )

    @property
    def _is_pattern(self) -> bool:
        """Whether the path is a pattern with wildcards and not an existing file of that name."""
        return not self.path.exists() and any(letter in str(self.path) for letter in "*?[")

    def _spellings(self) -> tuple[Path, ...]:
        """The path as it was given, and with links followed."""
        real = Path(os.path.realpath(self.path))
        return (self.path, real) if self.path.name and real.name else ()

    def _parts(self) -> Iterator[Path]:
        """The files that a database at this path would keep beside its own."""
        return (
            spelling.with_name(spelling.name + ending)
            for spelling in self._spellings()
            for ending in DATABASE_PARTS
        )

    def _files(self) -> Iterator[Path]:
        """The files that a folder or a pattern stands for; some may be links to elsewhere."""
        if self._is_pattern:
            return map(Path, glob.iglob(str(self.path), recursive=True))
        if self.path.is_dir():
            return (file for file in self.path.rglob("*") if self.admits(file))
        return iter(())


@dataclass(frozen=True, kw_only=True)
class FileWritten:
    """A file that a run writes. One that is there already may be written over if `replaces`, or if it is its own."""

    name: str
    path: Path
    replaces: bool = False
    is_own: Callable[[], bool] = lambda: False
    """Whether what is there was written by an earlier run of the same work; asked only where a file is there."""

    def require_new(self, *, way_out: str = "use --force to overwrite it", data: bytes | None = None) -> None:
        """Refuse to write over a file that was not made by the same work, or holds the same data, unless asked to.

        Leave is for the file that is there now: one that takes its place in the meantime is not written over.
        """
        path, name, shown = self.path, self.name, repr(str(self.path))
        if path.exists() and not path.is_file():
            raise ParameterError(f"{name} must be a file, got {shown}, which is a folder or a device")
        if not os.path.lexists(path) or may_replace(path):
            return
        if _holds(path, data):
            return
        # A link to nothing is there as well, and it would be lost.
        if not self.replaces and not (path.exists() and self.is_own()):
            raise ParameterError(f"{name} must be a new file, got {shown}; {way_out}")
        allow_replacing(path)

    def require_writable(self) -> None:
        """Refuse a path that a result could not be written to.

        A temporary file of a few pages is tried beside it, which also finds a full disk.
        """
        path, name, shown = self.path, self.name, repr(str(self.path))
        self.require_new()
        if not path.parent.is_dir():
            raise ParameterError(
                f"{name} must lie in a folder that exists, got {shown}; make the folder first"
            )
        if path.exists() and not os.access(path, os.W_OK):
            raise ParameterError(
                f"{name} must be a file that may be written to, got {shown}; choose another one"
            )
        try:
            remove_abandoned(path.parent)
            with temporary_file(path) as temporary, temporary.open("rb+") as file:
                file.write(bytes(16_384))
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise ParameterError(
                f"{name} must lie where files can be written, got {shown}: {error.strerror}; choose another place"
            ) from None


@dataclass(frozen=True, kw_only=True)
class Outputs:
    """Everything that a run reads and writes.

    >>> Outputs(
    ...     reads=(FileRead(name="ledger", path=Path("budget.db")),),
    ...     writes=(FileWritten(name="output", path=Path("./budget.db"), replaces=True),),
    ... ).require_apart()
    Traceback (most recent call last):
    ...
    holdfast.errors.ParameterError: output must be a file of its own, got 'budget.db', which is ledger, ...
    """

    reads: tuple[FileRead, ...] = ()
    writes: tuple[FileWritten, ...] = ()

    def require(self) -> None:
        """Refuse what must not be written over, and every place where a file could not be written."""
        self.require_apart()
        for written in self.writes:
            written.require_writable()

    def require_apart(self) -> None:
        """Refuse an output that is read, that is another output, or that is never to be written over."""
        for place, written in enumerate(self.writes):
            for read in self.reads:
                if read.meets(written.path):
                    raise _clash_error(written, read.name, "which is read")
            for other in self.writes[:place]:
                if _identities(written.path) & _identities(other.path):
                    raise _clash_error(written, other.name, "which is written as well")
            require_replaceable(written.path, name=written.name)


def _clash_error(written: FileWritten, other: str, why: str) -> ParameterError:
    return ParameterError(
        f"{written.name} must be a file of its own, got {str(written.path)!r}, which is {other}, or a part of it, "
        f"{why}; choose another name (nothing overrides this)"
    )


def _holds(path: Path, data: bytes | None) -> bool:
    with suppress(OSError), open_regular(path) as (file, size):
        return data is not None and size == len(data) and file.read(size) == data
    return False


def lies_outside(path: Path, folder: Path) -> bool:
    """Whether a path, links followed, lies outside of a folder."""
    return not _lies_in(path, folder)


def _identities(path: Path) -> frozenset[object]:
    """What identifies a file: its real path without case, its inode, and its name in the inode of its folder.

    On some disks names that differ in case, or in how an accent is composed, are one file; here they are one
    everywhere.
    """
    real = os.path.realpath(path)
    identities: set[object] = {_without_case(real)}
    with suppress(OSError, ValueError):
        status = os.stat(real)
        identities.add((status.st_dev, status.st_ino))
    with suppress(OSError, ValueError):
        status = os.stat(os.path.dirname(real))
        identities.add((status.st_dev, status.st_ino, _without_case(os.path.basename(real))))
    return frozenset(identities)


def _without_case(text: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def _lies_in(path: Path, folder: Path) -> bool:
    """Whether a path is the folder itself, or lies in it at any depth."""
    identities = _identities(folder)
    real = Path(os.path.realpath(path))
    return any(identities & _identities(parent) for parent in (real, *real.parents))


def _wild_parts(pattern: Path) -> Iterator[str]:
    """The parts of a pattern from the first one with a wildcard on."""
    return (part for part in pattern.parts[len(_root(pattern).parts) :])


def _root(pattern: Path) -> Path:
    """The folder above the first part with a wildcard."""
    parts: list[str] = []
    for part in pattern.parts:
        if any(letter in part for letter in "*?["):
            break
        parts.append(part)
    return Path(*parts) if parts else Path()
