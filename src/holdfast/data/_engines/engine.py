"""Engine: what an engine declares of itself; the file of a new one ends with its own, and `ENGINES` lists it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.data._table import Table


@dataclass(frozen=True, kw_only=True)
class Engine:
    """A name, the sources it takes, and how it opens one (its driver is imported there)."""

    name: str
    takes: str
    accepts: Callable[[Any], bool]
    connect: Callable[..., Table]
    reads_kinds: bool = False
    """Whether columns may be of kinds with a `read` of their own, which is Python: no database can run it."""
    put: Callable[[Any, Path], Mapping[str, Any]] | None = None
    """Puts an Arrow table into a folder, where it finds the rows, and says what `open_table` is told: with it the
    contracts run on the engine without further code. One that needs a server is put under contract there."""
