"""Finding E6 as a class: whatever a command is told, it ends in one line and a known exit code; no data are quoted."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Iterator

import pytest
from click.testing import CliRunner

from holdfast.cli import ending
from holdfast.cli.app import app
from tests.cli.arguments import GOOD, SECRET, bent, drawn, files, leaves
from tests.paths import ROOT

CODES = (0, 1, 2, 3, ending.INTERRUPTED)
LISTS = 500
PROCESSES = 24
SHOWN = ("schema draft", "refute", "demo")
"""A draft shows guesses taken from the data, and says so; the others read no file and take minutes."""


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    folder = tmp_path_factory.mktemp("any")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.syspath_prepend(str(folder))
        yield files(folder)


def argument_lists(seed: int, count: int, paths: list[str]) -> list[list[str]]:
    draw = random.Random(seed)
    tree = [(words, command) for words, command in leaves() if words[0] not in SHOWN]
    return [
        drawn(draw, *draw.choice(tree), paths) if draw.random() < 0.4 else bent(draw, paths)
        for _ in range(count)
    ]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("command", GOOD, ids=lambda command: " ".join(command.split()[:2]))
def test_the_lists_that_are_bent_are_good_ones(paths: list[str], command: str) -> None:
    expected = {"run plan.toml": 2, "ledger close": 2, "ledger verify": 1}.get(
        " ".join(command.split()[:2]), 0
    )
    shown = CliRunner().invoke(app, command.split())
    assert shown.exit_code == expected, shown.output


@pytest.mark.filterwarnings("ignore")
def test_five_hundred_random_argument_lists_end_in_one_line(
    paths: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No error falls into the net that is there for errors which holdfast does not know."""
    unexpected: list[str] = []
    known = ending.refusal

    def noted(error: Exception) -> ending.Refused:
        said = known(error)
        if "unexpected" in said.message:
            unexpected.append(f"{type(error).__name__}: {error}")
        return said

    monkeypatch.setattr(ending, "refusal", noted)
    codes = set()
    for number, arguments in enumerate(argument_lists(2026, LISTS, paths)):
        shown = CliRunner().invoke(app, arguments)
        place = f"list {number}: {arguments}"
        assert not unexpected, f"{place}: {unexpected[-1]}"
        assert shown.exception is None or isinstance(shown.exception, SystemExit), place
        assert shown.exit_code in CODES, place
        assert "Traceback" not in shown.output, place
        assert SECRET not in shown.output or arguments[:2] == SHOWN[0].split(), place
        codes.add(shown.exit_code)
    assert {0, 1, 2} <= codes  # or the lists would say little


def test_real_processes_end_as_well(paths: list[str]) -> None:
    for arguments in argument_lists(7, PROCESSES, paths):
        done = subprocess.run(
            [sys.executable, "-m", "holdfast.cli.app", *arguments],
            capture_output=True, check=False, env=os.environ | {"PYTHONPATH": f"{ROOT / 'src'}:."},
        )  # fmt: skip
        assert done.returncode in CODES, arguments
        assert b"Traceback" not in done.stderr, (arguments, done.stderr)
        assert SECRET.encode() not in done.stdout + done.stderr or arguments[:2] == SHOWN[0].split(), (
            arguments
        )
