"""Work that no ledger pays for: its files are written all or none, however often it takes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from holdfast.ledger._jobs.keeping import Shelf
from holdfast.release import Release


def unpaid(
    key: str,
    *,
    beside: Path,
    make: Callable[[], Release[Any]],
    write: Callable[[Release[Any]], None],
) -> tuple[Release[Any], bool]:
    """The release, and whether an earlier run of this key had made it.

    It is kept beside its first file until all of them are written. A run that was killed between two files is then gone
    on with, so that all of them are of one release, and nobody learns two.
    """
    shelf = Shelf(beside)
    release = shelf.find(key, paid_by="")
    was_kept = release is not None
    if release is None:
        release = make()
        with suppress(OSError):  # where it cannot be kept it is written all the same
            shelf.keep(key, release)
    write(release)
    shelf.remove(key)
    return release, was_kept
