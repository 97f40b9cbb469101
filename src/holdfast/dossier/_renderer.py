"""The renderer: a hash of everything that can shape a page, which is every file of the package.

What a page looks like follows from templates, charts and sections, and these take words, roundings and records from
rooms all over the package. A list of the files that count would one day lack one, so none is kept: all of them count,
but for what compilers made of them. Within one version they are the same wherever it is installed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable

COMPILED = (".pyc", ".so", ".pyd", ".dylib")
"""Endings of files that differ from machine to machine."""


@lru_cache(maxsize=1)
def renderer() -> str:
    """The hash of this package: a page can be drawn again only by the renderer that it names."""
    return package_hash(files("holdfast"))


def package_hash(package: Traversable) -> str:
    """The hash of one line `HASH  PATH` for each file of a package, as `sha256sum` prints it, in the order of paths."""
    lines = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {path}\n" for path, file in _files(package)]
    return hashlib.sha256("".join(sorted(lines, key=lambda line: line[66:])).encode()).hexdigest()


def _files(folder: Traversable, place: str = "holdfast") -> Iterator[tuple[str, Traversable]]:
    """Every file, with its path; no caches, and nothing hidden."""
    for entry in folder.iterdir():
        if entry.name == "__pycache__" or entry.name.startswith("."):
            continue
        path = f"{place}/{entry.name}"
        if entry.is_dir():
            yield from _files(entry, path)
        elif not entry.name.endswith(COMPILED):
            yield path, entry
