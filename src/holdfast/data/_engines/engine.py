"""Engine: what an engine declares about itself. `ENGINES` lists the engines of this package."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.data._table import Table


@dataclass(frozen=True, kw_only=True)
class Engine:
    """The name of an engine, the sources that it takes, and how it opens one (which imports its driver)."""

    name: str
    takes: str
    accepts: Callable[[Any], bool]
    connect: Callable[..., Table]
    reads_kinds: bool = False
    """Whether the engine can read columns of kinds with a `read` function of their own, which is Python code."""
    put: Callable[[Any, Path], Mapping[str, Any]] | None = None
    """For tests: writes an Arrow table into a folder and returns the arguments by which `open_table` opens it. With it
    the contracts of engines run on this one without further code."""
