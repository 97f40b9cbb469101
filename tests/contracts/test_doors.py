"""Every door by which a path comes in, found and not listed: what is no regular file ends in a clear error at once."""

from __future__ import annotations

import inspect
import runpy
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from holdfast._cli.app import app
from holdfast._cli.paths import FunctionText, ReadFile, SourceText, WrittenFile, WrittenFolder
from holdfast.data import Categorical, Numeric, Schema, draft_schema, open_table
from holdfast.dossier import Dossier, verify_dossier
from holdfast.errors import HoldfastError
from holdfast.learn import load_model
from holdfast.ledger import Ledger, SignedHead
from holdfast.plan import ReleasePlan
from holdfast.release import Release
from holdfast.statistics import StatisticsTable
from holdfast.synth import Synthesizer
from tests.cli.arguments import files, leaves
from tests.cli.test_any_arguments import READERS as COMMANDS
from tests.golden.stored_files import FOLDER
from tests.paths import ROOT
from tests.test_regular_file import KINDS, of_kind

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="pipes and sockets have no names in folders"),
]
SECONDS = 60.0
"""Whoever waits for a pipe waits for ever."""
SMALL = Schema([Categorical("sex", ["F", "M"]), Numeric("age", low=0, high=99)])


def budget(path: Path) -> Ledger:
    """A ledger beside a path."""
    own = path.with_name("own.db")
    shutil.copy(FOLDER / "budget.db", own)
    return Ledger.open(own)


def page(path: Path) -> Path:
    """A page of a release, as this version draws it, beside a path."""
    return Dossier.of_files([FOLDER / "counts.holdfast"]).save(path.with_name("own.html"))


READS: dict[str, Callable[[Path], object]] = {
    "Dossier.of_files paths": lambda path: Dossier.of_files([path]),
    "Ledger.approve private_key": lambda path: budget(path).approve("counts", path, approver="B. Officer"),
    "Ledger.extract private_key": lambda path: budget(path).extract(["clinic"], path),
    "Ledger.open path": Ledger.open,
    "Ledger.open_or_create path": Ledger.open_or_create,
    "Ledger.sign private_key": lambda path: budget(path).sign(path),
    "Ledger.verify public_key": lambda path: budget(path).verify(public_key=path).require(),
    "Release.load path": Release.load,
    "ReleasePlan.load path": ReleasePlan.load,
    "Schema.load path": Schema.load,
    "SignedHead.load path": SignedHead.load,
    "Synthesizer.estimate source": lambda path: Synthesizer(epsilon=1.0, delta=1e-6).estimate(path, SMALL),
    "Synthesizer.fit source": lambda path: Synthesizer(epsilon=1.0, delta=1e-6).fit(path, SMALL),
    "StatisticsTable.load path": StatisticsTable.load,
    "Synthesizer.load path": Synthesizer.load,
    "draft_schema source": lambda path: draft_schema(str(path)),
    "load_model path": load_model,
    "open_table source": lambda path: open_table(path, SMALL, n_public=9).count(),
    "verify_dossier ledger": lambda path: refused(verify_dossier(page(path), ledger=path)),
    "verify_dossier page": verify_dossier,
    "verify_dossier public_key": lambda path: verify_dossier(
        page(path), ledger=FOLDER / "budget.db", public_key=path
    ),
    "verify_dossier releases": lambda path: verify_dossier(page(path), releases=[path]),
}
WRITES = {
    "Dossier.save path",
    "Ledger.create path",
    "Ledger.export path",
    "Release.save path",
    "Schema.save path",
}
WRITES |= {"StatisticsTable.save path", "Synthesizer.save path"}
NO_FILE = {"open_table local_copy", "Dossier files"}
"""A folder for copies, and names of files whose hashes stand on a page."""


def refused(verification: Any) -> None:
    """A verification that finds the file no ledger says so, which is as clear."""
    if verification.problems:
        raise HoldfastError("; ".join(verification.problems))


def doors() -> set[str]:
    """Every parameter of a public name that takes a path, or rows that a path may stand for."""
    script = runpy.run_path(str(ROOT / "docs" / "make_public_names.py"))
    names = [("holdfast", name) for line in script["HEADLINE"].values() for name in line.split()]
    names += [(room, name) for room, line in script["FURTHER"].items() for name in line.split()]
    callables: dict[str, Any] = {}
    for room, name in names:
        found = getattr(import_module(room), name)
        callables[name] = found
        if inspect.isclass(found):
            methods = inspect.getmembers(found, callable)
            callables |= {f"{name}.{each}": method for each, method in methods if not each.startswith("_")}
    return {
        f"{name} {parameter.name}"
        for name, found in callables.items()
        if callable(found)
        for parameter in inspect.signature(found).parameters.values()
        if "Path" in str(parameter.annotation)
        or (parameter.name == "source" and "Source" not in str(parameter.annotation))
    }


@contextmanager
def at_once() -> Iterator[None]:
    """Fail where the block waits."""

    def over(*_: object) -> None:
        raise TimeoutError("it waits")

    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_every_public_door_is_known() -> None:
    # The estimators' own `load` is `Release.load` and `load_model` in one.
    found = {door for door in doors() if not (door.startswith("Private") and door.endswith(".load path"))}
    assert found - set(READS) - WRITES - NO_FILE == set()
    assert set(READS) - found == {"SignedHead.load path"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS)
def test_no_public_name_reads_anything_but_a_regular_file(kind: str, tmp_path: Path) -> None:
    with of_kind(kind, tmp_path) as place:
        path = tmp_path / "place.parquet"
        path.symlink_to(place)
        said = {door: words_of(read, path) for door, read in READS.items()}
    rows = [door for door in READS if door.endswith(" source")] if kind == "a folder" else []
    wanted = {door: "no Parquet or CSV file" if door in rows else f"it is {kind}" for door in READS}
    assert {door: words for door, words in said.items() if wanted[door] not in words} == {}


def words_of(read: Callable[[Path], object], path: Path) -> str:
    """What a door says of it, at once."""
    try:
        with at_once():
            read(path)
    except HoldfastError as error:
        return str(error)
    return "nothing"


@pytest.mark.parametrize("kind", KINDS)
def test_no_option_takes_anything_but_a_regular_file(kind: str, tmp_path: Path) -> None:
    """Each option says by its type what it is; a type that reads files refuses all else."""
    taken = 0
    with of_kind(kind, tmp_path) as path:
        for name, command in leaves():
            for parameter in command.params:
                told = (name, parameter.name)
                paths = isinstance(parameter.type, click.Path | click.File)
                assert not paths or isinstance(parameter.type, ReadFile | WrittenFile | WrittenFolder), told
                if isinstance(parameter.type, ReadFile):
                    taken += 1
                    with pytest.raises(
                        click.BadParameter, match=kind.split()[1] if kind != "a folder" else "directory"
                    ):
                        parameter.type.convert(str(path), parameter, click.Context(command))
    assert taken > 30


@pytest.mark.filterwarnings("ignore")
def test_no_command_waits_for_a_pipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    files(tmp_path)
    (tmp_path / "other").mkdir()
    with of_kind("a pipe", tmp_path / "other") as pipe:
        for ending in ("csv", "parquet"):
            Path(f"pipe.{ending}").symlink_to(pipe)
        Path("waits.py").symlink_to(pipe)
        lines = [
            line.replace("{}", f"pipe.{ending}")
            for line in COMMANDS.values()
            for ending in ("csv", "parquet")
        ]
        lines.append(
            "audit waits:train --data c.csv --label ill --classes no yes --epsilon 1 --adjacency replace"
        )
        for line in lines:
            with at_once():
                shown = CliRunner().invoke(app, line.split())
            assert shown.exit_code == 2, (line, shown.output)
            assert "it is a pipe" in shown.output, (line, shown.output)


def test_sources_and_functions_are_the_other_kinds_of_text_that_name_files() -> None:
    named = {type(parameter.type) for _, command in leaves() for parameter in command.params}
    assert {SourceText, FunctionText, ReadFile} <= named
