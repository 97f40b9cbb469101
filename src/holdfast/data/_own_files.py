"""Files that this process may write over: those that it wrote, and those that it was told to replace.

Each is remembered as it was then. A file that somebody else put there, or changed, in the meantime is no longer such a
file. So leave to write over something is given once, for what was looked at, and holds for nothing that comes later.
"""

from __future__ import annotations

import os
from contextlib import suppress
from itertools import chain
from pathlib import Path

_STATES: dict[str, tuple[int, ...]] = {}
"""Which file had a name when it was written, or when leave was given to replace it."""


def allow_replacing(path: Path) -> None:
    """What has this name now may be written over from here, for as long as nobody else writes to it."""
    state = _state(path)
    if state is not None:
        _STATES[_name_key(path)] = state


def forget() -> None:
    """Another run begins in this process: what an earlier one wrote is a file of others."""
    _STATES.clear()


def may_replace(path: Path) -> bool:
    """Whether what has this name is what was remembered, unchanged."""
    state = _state(path)
    return state is not None and _STATES.get(_name_key(path)) == state


def _name_key(path: Path) -> str:
    """The name in its real folder; a link is something else than the file that it leads to."""
    return os.path.join(os.path.realpath(path.parent), path.name)


def _state(path: Path) -> tuple[int, ...] | None:
    """Which file it is, how long, and when it was last written, of a link and of what it leads to."""
    statuses = []
    for look in (os.lstat, os.stat):
        with suppress(OSError, ValueError):
            statuses.append(look(path))
    numbers = ((s.st_dev, s.st_ino, s.st_size, s.st_mtime_ns) for s in statuses)
    return tuple(chain.from_iterable(numbers)) or None
