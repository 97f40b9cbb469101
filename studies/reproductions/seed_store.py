"""What a reproduction has measured so far, on disk after every number: a run that was cut off goes on where it was.

A key names everything that the number depends on. The file is also what the table of all items points into.
"""

from __future__ import annotations

import json
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "studies" / "reproductions" / "results"


class Store:
    """Lists of numbers by name.

    Without a file (`--quick`) nothing is read or kept. A frozen one measures nothing: what is not there is empty, so
    that a page can be written of what there is, and `keep` lists it as waiting.
    """

    def __init__(self, name: str | None, *, frozen: bool = False) -> None:
        self.frozen = frozen
        self.path = None if name is None else RESULTS / f"{name}.json"
        content: dict[str, Any] = {"made": {}, "values": {}, "seconds": {}}
        if self.path is not None and self.path.is_file():
            content = json.loads(self.path.read_text(encoding="utf-8"))
        self.made: dict[str, Any] = content["made"]
        self.values: dict[str, list[float]] = content["values"]
        self.seconds: dict[str, float] = content["seconds"]
        self.waiting: set[str] = set(content.get("waiting", ()))
        if self.path is not None and not frozen:
            commit()  # the code that is running is that of now, whatever is edited while it runs

    def of(self, key: str, measure: Callable[[], Sequence[float] | float]) -> list[float]:
        """The numbers of that name; measured now if they are not there yet."""
        if key not in self.values and self.frozen:
            self.waiting.add(key)
            return []
        if key not in self.values:
            begin = time.process_time()
            found = measure()
            numbers = [found] if isinstance(found, (int, float)) else list(found)
            self.put(key, numbers, seconds=time.process_time() - begin)
            self.keep()
            sys.stderr.write(f"{self.seconds[key]:8.1f} s  {key}\n")
        return self.values[key]

    def put(self, key: str, numbers: Sequence[float], *, seconds: float = 0.0) -> None:
        """Numbers that were measured together with others; `keep` writes them."""
        self.values[key] = [float(f"{number:.6g}") for number in numbers]
        self.seconds[key] = round(seconds, 2)

    def several(self, key: str, measure: Callable[[int], float], *, seeds: int) -> list[float]:
        """One number for each seed, kept one by one."""
        found = [self.of(f"{key}, seed {seed}", partial(measure, seed)) for seed in range(seeds)]
        return [number for numbers in found for number in numbers]

    def keep(self) -> None:
        """Write the whole file and put it in place in one step."""
        if self.path is None:
            return
        if not self.frozen:
            self.made = made_on(self.made)
        content: dict[str, Any] = {"made": self.made, "values": self.values, "seconds": self.seconds}
        left = sorted(self.waiting - set(self.values))
        if left:
            content["waiting"] = left
        draft = self.path.with_suffix(".part")
        draft.write_text(json.dumps(content, indent=0, sort_keys=True) + "\n", encoding="utf-8")
        draft.replace(self.path)

    def left_words(self) -> list[str]:
        """For a page that is written before everything is measured."""
        left = len(self.waiting - set(self.values))
        return ["", f"**{left} numbers have still to be measured**: their cells are empty."] if left else []

    @property
    def total_seconds(self) -> float:
        """CPU time of all that was measured, in however many runs."""
        return sum(self.seconds.values())

    @property
    def memory(self) -> str:
        """The largest resident memory of any run that added a number."""
        return f"{self.made.get('memory_mb', peak_memory()) / 1024:.1f} GB"


def peak_memory() -> int:
    """Of this process, in MB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak // (1024 * 1024 if sys.platform == "darwin" else 1024))


def made_on(before: dict[str, Any]) -> dict[str, Any]:
    """Commits, versions and the class of machine that the numbers come from."""
    commits = dict.fromkeys([*before.get("commits", []), commit()])
    return before | {
        "commits": list(commits),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, one used",
        "versions": f"Python {platform.python_version()}, NumPy {np.__version__}",
        "memory_mb": max(int(before.get("memory_mb", 0)), peak_memory()),
    }


@cache
def commit() -> str:
    """The commit of the code; " with edits" where a source differs from it."""

    def git(*words: str) -> str:
        return subprocess.run(
            ["git", *words], cwd=ROOT, capture_output=True, text=True, check=False
        ).stdout.strip()

    edits = git("status", "--porcelain", "src", "studies/reproductions/*.py")
    return git("rev-parse", "HEAD") + (" with edits" if edits else "")
