"""Keeps what studies of full size found: one file of `tests/studies/results/` for each file of tests."""

from __future__ import annotations

import datetime
import json
import os
import platform
import subprocess
from pathlib import Path

import pytest

from tests.studies.size import deep

FOLDER = Path(__file__).with_name("results")
ROOT = FOLDER.parents[2]


def pytest_configure(config: pytest.Config) -> None:
    """Listen to the reports of all workers where the studies have their full size."""
    if deep() and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Results())


class Results:
    """Gathers the notes of each test that passed and writes them at the end."""

    def __init__(self) -> None:
        self.found: dict[str, dict[str, object]] = {}
        self.made_on = made_on()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """The notes of one test; one that failed has no result."""
        notes = [value for name, value in report.user_properties if name == "study"]
        if report.when == "call" and report.passed and notes:
            file, _, name = report.nodeid.partition("::")
            self.found.setdefault(file, {})[name] = notes[0] if len(notes) == 1 else notes

    def pytest_sessionfinish(self) -> None:
        """Tests that did not run this time keep their last result."""
        for file, studies in self.found.items():
            path = FOLDER / (file.removeprefix("tests/").removesuffix(".py").replace("/", ".") + ".json")
            before = json.loads(path.read_text(encoding="utf-8"))["studies"] if path.is_file() else {}
            made = {name: self.made_on | {"found": notes} for name, notes in studies.items()}
            content = {"tests": file, "studies": dict(sorted((before | made).items()))}
            path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def made_on() -> dict[str, object]:
    """The commit, the day and the class of machine; seeds are constants of the tests.

    Results of sources that were never committed say so, and are refused by the test of this folder.
    """
    edits = _git("status", "--porcelain", "src", "tests", "studies", ":!tests/studies/results")
    system = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    return {
        "commit": _git("rev-parse", "HEAD") + (" with edits" if edits else ""),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "machine": f"{system}, Python {platform.python_version()}",
        "seeds": "constants of the test",
    }


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip()
