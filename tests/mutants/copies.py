"""Copies of the tree in which faults are tried: one for each worker, restored after each fault."""

from __future__ import annotations

import compileall
import json
import os
import py_compile
import re
import shutil
import subprocess
import sys
import time
import tomllib
import weakref
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tests.room_costs import server_ends

from .planting import Planted

ROOT = Path(__file__).resolve().parents[2]
SOURCES = Path("src") / "holdfast"
#: Imported once for all faults; by the tests' own imports, each would pay for them.
LIBRARIES = (
    "numpy",
    "scipy.stats",
    "scipy.optimize",
    "pandas",
    "pyarrow.parquet",
    "duckdb",
    "sklearn.linear_model",
    "click.testing",
    "jinja2",
    "cryptography.hazmat.primitives.asymmetric.ed25519",
    "hypothesis.extra.numpy",
    "hypothesis.internal.conjecture.engine",
    "sqlite3",
    "tqdm.auto",
    "unittest.mock",
    "mpmath",
    "statistics",
    "tomllib",
    "lazy_loader",
)
#: What pytest, its workers and its coverage tell the processes that they start.
OUTER = ("PYTEST_", "COV_", "COVERAGE_")


@dataclass(frozen=True)
class Outcome:
    """How the tests of one fault ended, and the processor time that they took."""

    code: int
    seconds: float
    said: str

    @property
    def killed(self) -> bool:
        """Tests failed: 1. All else (0 passed, 2 interrupted, 4 usage, 5 none collected) is no kill."""
        return self.code == 1

    @property
    def killer(self) -> str:
        """The test that failed; "" where none did."""
        found = re.search(r"^(?:FAILED|ERROR) (.*?)(?: - |$)", self.said, re.MULTILINE)
        return found[1] if found and self.killed else ""


@dataclass(frozen=True)
class Copy:
    """Sources and tests in a folder of their own; the tests import the package from there."""

    root: Path

    @classmethod
    def made(cls, folder: Path) -> Copy:
        """Copied and compiled once. Byte code of sources is checked by hash: a planted file is always read anew.

        That of the tests is copied, where there is any: pytest rewrites their assertions, which takes longer than most
        tests.
        """
        shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("tests", "studies"):
            # Byte code that is just being written has a longer name.
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("*.pyc.*"))
        shutil.copy(ROOT / "pyproject.toml", folder)
        by_hash = py_compile.PycInvalidationMode.CHECKED_HASH
        compileall.compile_dir(folder / SOURCES, quiet=1, invalidation_mode=by_hash)
        copy = cls(folder)
        copy._require_its_own_package()
        return copy

    @property
    def sources(self) -> Path:
        """The folder of the rooms."""
        return self.root / SOURCES

    def tried(self, planted: Planted, tests: tuple[str, ...]) -> Outcome:
        """Run the tests of `make test` with the fault in place, then take it out."""
        file = self.sources / planted.file
        file.write_text(planted.after, encoding="utf-8")
        try:
            return self._pytest(
                planted.file, "-x", "-q", "--tb=line", "-p", "no:cacheprovider", "-m", "not deep", *tests
            )
        finally:
            file.write_text(planted.before, encoding="utf-8")

    def _pytest(self, file: Path, *arguments: str) -> Outcome:
        """From a fork where the system has them, which has imported what lies below the file with the fault."""
        if not hasattr(os, "fork"):
            start = time.perf_counter()
            run = self._python("-m", "pytest", *arguments)
            return Outcome(run.returncode, time.perf_counter() - start, (run.stdout + run.stderr)[-4000:])
        server = self._server
        assert server.stdin is not None
        assert server.stdout is not None
        job = {"arguments": arguments, "module": module_of(file), "modules": self._modules_below(file)}
        server.stdin.write(json.dumps(job) + "\n")
        server.stdin.flush()
        answer = json.loads(server.stdout.readline())
        return Outcome(answer["code"], answer["seconds"], answer["said"][-4000:])

    def _modules_below(self, file: Path) -> list[str]:
        """Every module of the rooms below that of a file: they import nothing from it (`make layers`)."""
        rooms = rooms_below(Path(file.parts[0]).stem, self._layers)
        return [module for room in sorted(rooms) for module in self._modules.get(room, [])]

    @cached_property
    def _modules(self) -> dict[str, list[str]]:
        """Of every room."""
        modules: dict[str, list[str]] = {}
        for path in sorted(self.sources.rglob("*.py")):
            file = path.relative_to(self.sources)
            if file.stem != "__main__":
                modules.setdefault(Path(file.parts[0]).stem, []).append(module_of(file))
        return modules

    @cached_property
    def _layers(self) -> list[list[str]]:
        """The rooms of each layer, from top to bottom, as `pyproject.toml` declares them."""
        project = tomllib.loads((self.root / "pyproject.toml").read_text(encoding="utf-8"))
        contracts = project["tool"].get("importlinter", {}).get("contracts", [{"layers": []}])
        return [layer.replace("holdfast.", "").split(" | ") for layer in contracts[0]["layers"]]

    @cached_property
    def _server(self) -> subprocess.Popen[str]:
        """Ends with this copy, which holds its input."""
        server = subprocess.Popen(
            [sys.executable, Path(__file__).with_name("forked_pytest.py"), *LIBRARIES],
            cwd=self.root,
            env=self._environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        weakref.finalize(self, _end, server)
        return server

    def _require_its_own_package(self) -> None:
        said = self._python("-c", "import holdfast; print(holdfast.__file__)").stdout.strip()
        if Path(said).resolve().parent != self.sources.resolve():
            raise SystemExit(f"mutants: the copy in {self.root} imports holdfast from {said or 'nowhere'}")

    def _python(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *arguments], cwd=self.root, env=self._environment, capture_output=True, text=True
        )

    @property
    def _environment(self) -> dict[str, str]:
        # Nothing of a run of pytest that this one is part of.
        outside = {name: value for name, value in os.environ.items() if not name.startswith(OUTER)}
        return outside | {
            "PYTHONPATH": str(self.root / "src"),
            "PYTHONDONTWRITEBYTECODE": "",
            "HYPOTHESIS_PROFILE": "planted",
            "HOLDFAST_DEEP": "",
            "HOLDFAST_POSTGRES_TEMPLATE": str(self.root / "postgres"),
        }


def module_of(file: Path) -> str:
    """The name of a module of ours, by its file below the sources.

    >>> module_of(Path("data/_rows.py")), module_of(Path("data/__init__.py"))
    ('holdfast.data._rows', 'holdfast.data')
    """
    return ".".join(("holdfast", *file.with_suffix("").parts)).removesuffix(".__init__")


def rooms_below(room: str, layers: list[list[str]]) -> set[str]:
    """The rooms of all layers below that of a room; of a room that no layer names, none.

    >>> sorted(rooms_below("data", [["cli"], ["data", "learn"], ["noise"], ["errors"]]))
    ['errors', 'noise']
    """
    place = next((place for place, layer in enumerate(layers) if room in layer), len(layers))
    return {name for layer in layers[place + 1 :] for name in layer}


def _end(server: subprocess.Popen[str]) -> None:
    for pipe in (server.stdin, server.stdout):
        if pipe is not None:
            pipe.close()
    with server_ends():
        server.wait()
