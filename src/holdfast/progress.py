"""A line that says how far a long piece of work is: on a terminal, and nowhere else.

What is counted is public (a number of steps fixed in advance), never anything about the data. Work that ends
within half a second shows nothing, and the line is gone when the work is.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TextIO

from holdfast.errors import require

QUIET = 0.5
"""Seconds before the first line."""
INTERVAL = 0.1
"""Seconds between two drawings: drawing costs nothing that one would notice."""
WIDTH = 30
ERASE = "\r\x1b[K"


@dataclass(kw_only=True)
class Bar:
    """Steps done of a public total; `stream=None` draws nothing."""

    what: str
    total: int
    stream: TextIO | None = None
    done: int = 0
    _next: float = field(default_factory=lambda: time.monotonic() + QUIET)
    _drawn: bool = False

    def __post_init__(self) -> None:
        require(self.total >= 0, "total", self.total, ">= 0")

    def step(self, count: int = 1) -> None:
        """So many more are done."""
        self.done += count
        if self.stream is not None and time.monotonic() >= self._next:
            self._write(ERASE + self.line())
            self._drawn = True
            self._next = time.monotonic() + INTERVAL

    def line(self) -> str:
        """What it says now.

        >>> Bar(what="fitting", total=40, done=10).line()
        'fitting [#######                       ]  25 % 10/40'
        """
        share = min(1.0, self.done / self.total) if self.total else 1.0
        filled = int(WIDTH * share)
        return f"{self.what} [{'#' * filled:<{WIDTH}}] {100 * share:3.0f} % {self.done}/{self.total}"

    def close(self) -> None:
        """Leave an empty line behind."""
        if self._drawn:
            self._write(ERASE)
            self._drawn = False

    def _write(self, text: str) -> None:
        if self.stream is None:
            return
        try:
            self.stream.write(text)
            self.stream.flush()
        except (OSError, ValueError):  # the terminal is gone: the work goes on
            self.stream = None


@contextmanager
def progress(what: str, *, total: int, stream: TextIO | None = None) -> Iterator[Bar]:
    """A bar on standard error while the block runs, where that is a terminal; silent in a pipe.

    >>> with progress("fitting", total=3) as bar:
    ...     for _ in range(3):
    ...         bar.step()
    >>> bar.done
    3
    """
    place = sys.stderr if stream is None else stream
    bar = Bar(what=what, total=total, stream=place if place is not None and place.isatty() else None)
    try:
        yield bar
    finally:
        bar.close()


def counted(what: str, total: int, *, first: int = 0) -> Iterator[int]:
    """So many numbers in turn, with a bar while they are worked through.

    >>> list(counted("fitting", 3)), list(counted("fitting", 3, first=1))
    ([0, 1, 2], [1, 2, 3])
    """
    with progress(what, total=total) as bar:
        for number in range(total):
            yield first + number
            bar.step()
