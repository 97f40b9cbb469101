"""Files of a result: how each is written from its release, and how one that is there already is known again.

The release is kept until all of its files are written. So a command that was killed between two of them goes on when it
is given again, and a file that it had written is no obstacle: it holds what the kept release would write once more.
"""

from __future__ import annotations

import filecmp
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from holdfast.release import Release

Writer = Callable[["Release[Any]", Path], None]
"""Writes one kind of file of a release."""


def release_file(release: Release[Any], path: Path) -> None:
    """The release itself."""
    path.write_bytes(release.file_bytes())


def weights_file(release: Release[Any], path: Path) -> None:
    """The weights of a model as plain JSON."""
    from holdfast.learn._estimators import model_of_release

    path.write_bytes(f"{model_of_release(release).to_json()}\n".encode())


def rows_file(release: Release[Any], path: Path) -> None:
    """The rows of a synthetic table, in the format that the ending of the path names."""
    from holdfast.data._engines.files import write_table

    write_table(release.value["rows"], path)


def write_files(release: Release[Any], files: Iterable[tuple[Writer, Path | None]]) -> None:
    """Write the files that were asked for, each whole."""
    from holdfast.data._whole_file import whole_file

    for writer, path in files:
        if path is not None:
            with whole_file(path) as temporary:
                writer(release, temporary)


def holds_kept_result(path: Path, writer: Writer, *, beside: Iterable[Path]) -> bool:
    """Whether a file holds what a result that is kept beside one of these paths would write there."""
    from holdfast.data._whole_file import temporary_file
    from holdfast.errors import HoldfastError
    from holdfast.ledger._jobs.keeping import Shelf

    for place in beside:
        for result in Shelf(place).results():
            try:
                with temporary_file(path) as temporary:
                    writer(result, temporary)
                    if filecmp.cmp(temporary, path, shallow=False):
                        return True
            except (HoldfastError, OSError, KeyError, TypeError):
                continue  # it is a result of another kind
    return False
