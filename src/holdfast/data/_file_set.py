"""Several files of one piece of work: each whole, and none an obstacle to doing the work again.

A process that is killed between two files leaves the first. Before it names any of them it writes down the hashes of
all, in a small file beside each: so the same work, done again, knows what it may write over. That file goes when all
files have their names.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from holdfast._plain_data import parse_json
from holdfast._regular_file import read_regular
from holdfast.data._process_lock import abandoned_file, new_locked_file
from holdfast.data._whole_file import PREFIX, flush, flush_folder, prepared_file, take_place
from holdfast.errors import FormatError

ENDING = ".set"
_TOKEN_BYTES = 12
_NAME = re.compile(rf"{re.escape(PREFIX)}[0-9a-f]{{{2 * _TOKEN_BYTES}}}{re.escape(ENDING)}")
_MOST_NOTE_BYTES = 65_536


@contextmanager
def whole_files(paths: Sequence[Path]) -> Iterator[list[Path]]:
    """Temporary files that take the places of the paths when the block ends, one after the other."""
    with ExitStack() as stack:
        temporaries = [stack.enter_context(prepared_file(path)) for path in paths]
        yield temporaries
        for temporary in temporaries:
            flush(temporary)
        folders = sorted({path.parent for path in paths})
        if len(paths) > 1:
            hashes = {_real(path): _hash(file) for path, file in zip(paths, temporaries, strict=True)}
            for folder in folders:
                stack.enter_context(_note(folder, hashes))
        for path, temporary in zip(paths, temporaries, strict=True):
            take_place(temporary, path)
        for path in paths:
            _forget(path)


def was_interrupted(path: Path) -> bool:
    """Whether a file was written, as it is, by a process that was killed before it had written all of its files."""
    return any(hashes.get(_real(path)) == _hash(path) for _, hashes in _abandoned_notes(path.parent))


@contextmanager
def _note(folder: Path, hashes: dict[str, str]) -> Iterator[None]:
    """What is about to be written, on the disk for as long as the block lasts or its process was killed in it."""
    note, handle = new_locked_file(
        lambda: folder / f"{PREFIX}{secrets.token_hex(_TOKEN_BYTES)}{ENDING}", 0o600
    )
    try:
        os.write(handle, json.dumps(hashes).encode())
        os.fsync(handle)
        flush_folder(folder)
        yield
    finally:
        with suppress(OSError):
            os.unlink(note)
        os.close(handle)


def _forget(path: Path) -> None:
    """Remove the notes of killed processes about a path that is now written."""
    for note, hashes in _abandoned_notes(path.parent):
        if _real(path) in hashes:
            with suppress(OSError):
                os.unlink(note)


def _abandoned_notes(folder: Path) -> Iterator[tuple[Path, dict[str, str]]]:
    names: list[str] = []
    with suppress(OSError), os.scandir(folder) as entries:
        names = [entry.name for entry in entries if _NAME.fullmatch(entry.name)]
    for name in names:
        with abandoned_file(folder / name) as ours, suppress(FormatError):
            if ours:
                note = read_regular(folder / name, what="a note", most_bytes=_MOST_NOTE_BYTES)
                hashes = parse_json(note, "a note")
                yield folder / name, hashes if isinstance(hashes, dict) else {}


def _real(path: Path) -> str:
    return os.path.realpath(path)


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
