"""Finding E6 as a class: whatever a command is told, it ends in one line and a known exit code; no data are quoted."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from holdfast._cli import ending
from holdfast._cli.app import app
from holdfast.ledger import Ledger
from tests.cli.arguments import (
    GOOD,
    NUMBERS,
    SECRET,
    SPECS,
    TEXTS,
    URLS,
    bent,
    bent_plan,
    drawn,
    files,
    leaves,
)
from tests.paths import ROOT
from tests.studies.size import Study, trials

CODES = (0, 1, 2, 3, ending.INTERRUPTED_EXIT)
LISTS = 500
PLANS = 100
PROCESSES = trials(24, share=4)
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
    expected = {"ledger close": 2, "ledger verify": 2}.get(" ".join(command.split()[:2]), 0)
    shown = CliRunner().invoke(app, command.split())
    assert shown.exit_code == expected, shown.output


@pytest.fixture
def unexpected(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The errors that fell into the net for those which holdfast does not know; there should be none."""
    found: list[str] = []
    known = ending.command_error

    def noted(error: Exception) -> ending.CommandError:
        said = known(error)
        if "unexpected" in said.message:
            found.append(f"{type(error).__name__}: {error}")
        return said

    monkeypatch.setattr(ending, "command_error", noted)
    return found


def ended_well(arguments: list[str], unexpected: list[str], *, told: str = "") -> int:
    """The exit code of a command that is run here, which must end as every command does."""
    shown = CliRunner().invoke(app, arguments)
    place = f"{arguments} {told}"
    assert not unexpected, f"{place}: {unexpected[-1]}"
    assert shown.exception is None or isinstance(shown.exception, SystemExit), place
    assert shown.exit_code in CODES, place
    assert "Traceback" not in shown.output, place
    assert SECRET not in shown.output or arguments[:2] == SHOWN[0].split(), place
    return shown.exit_code


@pytest.mark.filterwarnings("ignore")
def test_five_hundred_random_argument_lists_end_in_one_line(paths: list[str], unexpected: list[str]) -> None:
    codes = {ended_well(arguments, unexpected) for arguments in argument_lists(2026, LISTS, paths)}
    assert {0, 1, 2} <= codes  # or the lists would say little


READERS = {
    "fit": "fit {} --schema s.toml --target ill --epsilon 1 -o new.csv --force",
    "synth": "synth {} --schema s.toml --epsilon 1 --method independent -o out.csv --force",
    "draft": "schema draft {}",
    "compare": "compare --data {} --schema s.toml --target ill --methods output --fits 1",
    "plan": "plan --public-data {} --schema s.toml --target ill --fits 1 --epsilon 1",
    "membership": "attack membership model.holdfast --members {} --non-members c.csv --target ill --attacks loss",
    "synthetic": "attack synthetic {} --schema s.toml --members c.csv --non-members {}",
    "audit": "audit train:train --data {} --label ill --classes no yes --epsilon 1 --adjacency replace",
    "schema": "schema show {}",
    "ledger": "ledger show {}",
    "workload": "synth c.csv --schema s.toml --epsilon 1 --method independent -o out.csv --force --workload {}",
    "impossible": "synth c.csv --schema s.toml --epsilon 1 --method independent -o out.csv --force --impossible {}",
    "dossier": "dossier model.holdfast -o new.csv --force --audit {}",
    "verify": "verify {} --release model.holdfast --ledger budget.db",
    "run": "run {}",
}
"""Every command that reads a file of somebody else's making."""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("command", READERS.values(), ids=READERS)
def test_files_of_every_wrong_kind_end_in_one_line(
    paths: list[str], unexpected: list[str], command: str
) -> None:
    """Ragged, Latin-1, UTF-16, a stray quote, empty, binary, cut off, a folder, a ring of links, a device."""
    for path in paths:
        ended_well([word.replace("{}", path) for word in command.split()], unexpected)


@pytest.mark.filterwarnings("ignore")
def test_a_hundred_random_plans_end_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unexpected: list[str]
) -> None:
    """In a folder of their own: a plan takes no file for its own that another command wrote over."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    files(tmp_path)
    draw, codes = random.Random(11), set()
    for number in range(PLANS):
        text = bent_plan(draw)
        name = f"plan-{number}.toml"
        Path(name).write_text(text, encoding="utf-8")
        codes.add(ended_well(["run", name, *draw.choice(([], ["--dry-run"]))], unexpected, told=text))
    assert {0, 2} <= codes


def test_real_processes_end_as_well(paths: list[str]) -> None:
    for arguments in argument_lists(7, PROCESSES, paths):
        done = subprocess.run(
            [sys.executable, "-m", "holdfast._cli.app", *arguments],
            capture_output=True,
            check=False,
            env=os.environ | {"PYTHONPATH": f"{ROOT / 'src'}:."},
        )
        assert done.returncode in CODES, arguments
        assert b"Traceback" not in done.stderr, (arguments, done.stderr)
        assert SECRET.encode() not in done.stdout + done.stderr or arguments[:2] == SHOWN[0].split(), (
            arguments
        )


def charges(ledger: Path) -> int:
    """How often anything was charged to a ledger."""
    with Ledger.open(ledger, check="nothing", read_only=True) as opened:
        return sum(entry.kind == "charge" for entry in opened.history())


@pytest.mark.filterwarnings("ignore")
def test_every_option_of_every_command_with_a_wrong_value_ends_in_one_line(
    paths: list[str], unexpected: list[str], study: Study
) -> None:
    """Options are found by walking the tree, the rest of the command is a good one; bad usage charges nothing."""
    draw, tried, refused = random.Random(5), 0, 0
    good: dict[str, list[list[str]]] = {}
    for line in GOOD:
        good.setdefault(line.split()[0], []).append(line.split())
    for words, command in leaves():
        options = [one for one in command.params if isinstance(one, click.Option) and not one.is_flag]
        if words[0] in SHOWN or words[0] == "postgres":
            continue
        bases = [base for base in good.get(words[0], []) if base[: len(words)] == [*words]] or [[*words]]
        for option in options:
            for value in draw.sample((*NUMBERS, *TEXTS, *SPECS, *URLS), trials(10)):
                before = charges(Path("budget.db"))
                code = ended_well([*draw.choice(bases), option.opts[0], value], unexpected)
                tried, refused = tried + 1, refused + (code == 2)
                assert code != 2 or charges(Path("budget.db")) == before, (words, option.opts[0], value)
    study.note(tried=tried, refused=refused)
    assert refused > tried / 3  # or the values were not wrong
