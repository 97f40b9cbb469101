"""The package of the tutorial, installed as a stranger would install it, and used by name."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.paths import ROOT

pytestmark = pytest.mark.slow
PACKAGE = ROOT / "examples" / "extension"
PAGE = ROOT / "docs" / "extending.md"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a process that has the package: built and installed without a network."""
    folder = tmp_path_factory.mktemp("extension")
    shutil.copytree(
        PACKAGE, folder / "source", ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__")
    )
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--no-index",
        "--disable-pip-version-check",
        "--target",
        str(folder / "site"),
        str(folder / "source"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    path = os.pathsep.join([str(ROOT / "src"), str(folder / "site")])
    return {**os.environ, "PYTHONPATH": path, "SOURCE": str(folder / "source")}


def run(installed: dict[str, str], *arguments: str, cwd: Path | None = None) -> str:
    done = subprocess.run(
        [sys.executable, *arguments], env=installed, capture_output=True, text=True, check=False, cwd=cwd
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_its_own_tests_pass(installed: dict[str, str]) -> None:
    source = Path(installed["SOURCE"])
    said = run(
        installed, "-m", "pytest", "-q", "-c", "pyproject.toml", "-p", "no:cacheprovider", "tests", cwd=source
    )
    assert "5 passed" in said


def test_it_is_found_by_name_and_named_in_releases(installed: dict[str, str], tmp_path: Path) -> None:
    said = run(installed, str(PACKAGE / "use.py"), cwd=tmp_path)
    assert "PrivateLogisticRegression, mean_direction [package holdfast-staircase 1.0]" in said
    assert (
        "the mechanism 'holdfast_staircase.staircase:Staircase' is from the package holdfast-staircase 1.0"
        in said
    )
    assert "the column kind 'weekday' is from the package holdfast-staircase 1.0" in said
    assert "the engine 'jsonlines' is from the package holdfast-staircase 1.0" in said
    assert "the attack 'margin' is from the package holdfast-staircase 1.0" in said
    assert "verified: True" in said


def test_refute_takes_it(installed: dict[str, str]) -> None:
    command = "from holdfast._cli.app import main; main()"
    said = run(installed, "-c", command, "refute", "mean_direction replace", "--table", "--jobs", "1")
    assert re.search(r"mean_direction replace +[01]\.\d{3}", said)
    assert "passed: 1 of 1 survived" in said


def test_without_the_package_its_names_are_unknown() -> None:
    code = "from holdfast.learn._choice import find_learner; find_learner('mean_direction')"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "ParameterError: method must be 'auto', a Learner or one of" in done.stderr


def test_the_tutorial_shows_the_package_and_nothing_else() -> None:
    """Every file of the package is on the page, included and not copied."""
    page = PAGE.read_text(encoding="utf-8")
    shown = set(re.findall(r"```\{literalinclude\} \.\./examples/extension/(\S+)", page))
    there = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*")
        if path.suffix in (".py", ".toml") and path.name != "__init__.py" and "build" not in path.parts
    }
    assert shown == there
