"""Shelf: results that were paid for and are not yet where they were wanted.

A result is put on the shelf, a folder beside its ledger, before its account closes and before it is written anywhere
else. So nobody pays a second time because a disk fills up, a folder goes away or a process is killed. What lies there
is the release itself, which is public by its promise; still only its owner can read the file, as with the ledger. It is
removed when the result was written where it was wanted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from holdfast.data._whole_file import flush_folder, write_whole
from holdfast.errors import FormatError
from holdfast.release import Release
from holdfast.release._outputs import KEPT_RESULTS_ENDING


class Shelf:
    """The folder of kept results of one ledger."""

    def __init__(self, ledger: Path) -> None:
        self.folder = ledger.with_name(ledger.name + KEPT_RESULTS_ENDING)

    def place(self, account: str) -> Path:
        """The file of the result of an account; it is named by a hash, as an account's name may not be a file name."""
        return self.folder / f"{hashlib.sha256(account.encode()).hexdigest()[:32]}.holdfast"

    def files(self) -> frozenset[Path]:
        """Every file in the folder."""
        return frozenset(self.folder.iterdir()) if self.folder.is_dir() else frozenset()

    def keep(self, account: str, release: Release[Any]) -> None:
        """Store a result, whole and on the disk, or not at all."""
        self.folder.mkdir(mode=0o700, exist_ok=True)
        flush_folder(self.folder.parent)
        write_whole(self.place(account), release.file_bytes(), mode=0o600, overwrite=True)

    def find(self, account: str, *, paid_by: str) -> Release[Any] | None:
        """The result that is kept for an account; `FormatError` where the file is not what that account paid for."""
        path = self.place(account)
        if not path.exists():
            return None
        try:
            release = Release.load(path)
        except FormatError as error:
            raise FormatError(
                f"the kept result {str(path)!r} cannot be read ({error}); move it away, and the work goes on without it"
            ) from None
        if release.provenance.account not in ("", paid_by):  # empty where nothing had to be charged
            raise FormatError(f"{str(path)!r} was not paid for by account {account!r}; move it away")
        return release

    def results(self) -> Iterator[Release[Any]]:
        """Every result that is kept and can be read."""
        for path in sorted(self.folder.glob("*.holdfast")) if self.folder.is_dir() else ():
            with suppress(FormatError, OSError):
                yield Release.load(path)

    def remove(self, account: str) -> None:
        """Remove a result, and the folder with the last one."""
        self.place(account).unlink(missing_ok=True)
        with suppress(OSError):
            self.folder.rmdir()
