"""A copy of the tree in which something is added: by hand its file and its line, by one command all that lists it."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.paths import ROOT

TOYS = Path(__file__).resolve().parent / "toys"
COPIED = ("src", "tests", "docs", "README.md", "CONTRIBUTING.md")
"""What is written to, or imported. The rest of the tree is there by links."""
LEFT_OUT = (".*", "_build", "build", "*.egg-info")
WRITTEN = re.compile(
    r"docs/_generated/\w+\.md|docs/figures/rooms\.svg|docs/papers\.md|tests/golden/frozen\.json"
)
"""What `make lists` may write, and nobody by hand."""


@dataclass(frozen=True, kw_only=True)
class Toy:
    """A file of `toys`, and where it is registered."""

    name: str
    package: str
    """The package that its file goes to, and whose `__init__` holds the registry."""
    registry: str
    entry: str = "METHOD"

    @property
    def folder(self) -> str:
        """The package as a folder of the tree."""
        return "src/" + self.package.replace(".", "/")

    def put(self, root: Path) -> None:
        """Its file, and its line: the module among those that are imported, the entry in the tuple."""
        shutil.copy(TOYS / f"{self.name}.py", root / self.folder)
        place = root / self.folder / "__init__.py"
        text = place.read_text(encoding="utf-8")
        text = _among(text, rf"from {re.escape(self.package)} import \(\n", self.name)
        text = _among(text, rf"{self.registry}: tuple\[.*\] = \(\n", f"{self.name}.{self.entry}")
        place.write_text(text, encoding="utf-8")


def _among(text: str, head: str, line: str) -> str:
    """The line in its place among those of a list in brackets."""
    begin = re.search(head, text)
    assert begin is not None, f"no {head} here"
    end = text.index("\n)", begin.end()) + 1
    lines = sorted([*text[begin.end() : end].splitlines(), f"    {line},"])
    return text[: begin.end()] + "\n".join(lines) + "\n" + text[end:]


class Tree:
    """The copy, and what was done to it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for source in ROOT.iterdir():
            if source.name in COPIED:
                if source.is_dir():
                    shutil.copytree(source, root / source.name, ignore=shutil.ignore_patterns(*LEFT_OUT))
                else:
                    shutil.copy(source, root)
            elif not source.name.startswith("."):
                (root / source.name).symlink_to(source)
        self._known = self._hashes()

    def _hashes(self) -> Mapping[str, str]:
        files = (file for name in COPIED for file in [self.root / name, *(self.root / name).rglob("*")])
        return {
            file.relative_to(self.root).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest()
            for file in files
            if file.is_file() and "__pycache__" not in file.parts
        }

    def touched(self) -> set[str]:
        """The files that are new, or other than they were; from now on these count as known."""
        known, self._known = self._known, self._hashes()
        assert set(known) <= set(self._known), "a file is gone"
        return {name for name, digest in self._known.items() if known.get(name) != digest}

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Python on the copy, and on nothing of the tree that it was copied from."""
        path = os.pathsep.join([str(self.root / "src"), str(self.root)])
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
        return subprocess.run(
            [sys.executable, *arguments],
            env=environment | {"PYTHONPATH": path},
            cwd=self.root,
            capture_output=True,
            text=True,
            check=False,
        )

    def tests(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """These tests of the copy."""
        return self.run("-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *arguments)
