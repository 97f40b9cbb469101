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
    """Where its file goes."""
    entry: str
    """What the registry holds."""
    behind: str
    """Behind what it is written in the registry."""
    registry: str = "__init__"
    """The file of the registry, in the same package."""

    @property
    def folder(self) -> str:
        """The package as a folder of the tree."""
        return "src/" + self.package.replace(".", "/")

    @property
    def touched(self) -> set[str]:
        """What is written by hand."""
        return {f"{self.folder}/{name}.py" for name in (self.name, self.registry)}

    def put(self, root: Path) -> None:
        """Its file, and its line with the import that this needs; ruff puts imports and lines into order."""
        shutil.copy(TOYS / f"{self.name}.py", root / self.folder)
        place = root / self.folder / f"{self.registry}.py"
        text = place.read_text(encoding="utf-8")
        assert text.count(self.behind) == 1, f"{self.behind!r} stands {text.count(self.behind)} times"
        line = f"from {self.package}.{self.name} import {self.entry}\n"
        text = text.replace(self.behind, f"{self.behind} {self.entry},")
        text = re.sub(r"(?m)^from holdfast", f"{line}from holdfast", text, count=1)
        place.write_text(text, encoding="utf-8")
        for command in (("check", "--fix", "--select", "I"), ("format",)):
            ruff = [sys.executable, "-m", "ruff", *command, "--no-cache", "--quiet", str(place)]
            subprocess.run(ruff, check=True, cwd=root)


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
