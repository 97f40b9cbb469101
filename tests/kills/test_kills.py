"""Every command may be killed before any call that changes the file system, and is given again as if nothing had been.

What it wrote is whole at any time, the ledger verifies, nothing is paid twice, and of rows and temporary files nothing
is left. A few points of each command, drawn from a seed, are tried in `make test`, all in `make deep`.
"""

from __future__ import annotations

import json
import random
import shutil
import signal
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import pytest
from pyarrow import csv, feather, parquet

from holdfast.ledger import Ledger
from holdfast.release import Release
from tests.cli.arguments import leaves
from tests.conftest import missing
from tests.kills.commands import LINES, Ended, Warm, furnish, name_of, warm_process
from tests.studies.size import deep

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="LD_PRELOAD"),
]
LONG = ("demo",)
"""Commands of several seconds: tried in `make deep` only, and there at a few points."""
LONG_POINTS = 12
PARTS = ("-wal", "-shm", "-journal")
REWRITTEN = ("budget.db", "old.html")
"""What is there before and may be written to."""


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("furnished")
    furnish(folder)
    return folder


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warm]:
    compiler = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    if compiler is None:
        missing("compiler", "install a C compiler, as building the kernel needs")
    assert compiler is not None
    with warm_process(tmp_path_factory.mktemp("warm"), compiler) as process:
        yield process


class Place:
    """A folder with all that commands need, anew for each trial."""

    def __init__(self, furnished: Path, at: Path) -> None:
        self._furnished, self._at, self._trial = furnished, at, 0
        self.there = {path.name for path in furnished.iterdir()}

    def anew(self) -> Path:
        if self._trial > 1:  # the first is what others are compared with
            shutil.rmtree(self._at / f"trial{self._trial}")
        self._trial += 1
        shutil.copytree(self._furnished, self._at / f"trial{self._trial}" / "folder")
        return self._at / f"trial{self._trial}" / "folder"

    def outputs(self, folder: Path) -> set[str]:
        """What a command added, whatever a ledger keeps in files beside its own."""
        paths = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
        names = {str(path.relative_to(folder)) for path in paths}
        return {name for name in names - self.there if not name.endswith(PARTS)}

    def require_untouched(self, folder: Path) -> None:
        """What was there and is only read is as it was."""
        for path in self._furnished.iterdir():
            if path.is_file() and path.name not in REWRITTEN:
                assert (folder / path.name).read_bytes() == path.read_bytes(), path.name


@pytest.fixture
def place(furnished: Path, tmp_path: Path) -> Place:
    return Place(furnished, tmp_path)


def require_whole(path: Path) -> None:
    """A file of any kind that commands write, all of it."""
    text = path.read_bytes()
    match path.suffix:
        case ".holdfast":
            Release.load(path)
        case ".db":
            with Ledger.open(path, check="nothing", read_only=True) as ledger:
                ledger.verify().require()
        case ".json" | ".sig":
            json.loads(text)
        case ".jsonl":
            assert [json.loads(line) for line in text.splitlines()]
        case ".toml":
            tomllib.loads(text.decode())
        case ".html" | ".svg":
            assert text.rstrip().endswith(f"</{path.suffix[1:]}>".encode())
        case ".csv":
            csv.read_csv(path)
        case ".parquet":
            parquet.read_table(path)
        case ".arrow":
            feather.read_table(path)
        case ".pem" | ".pub":
            assert text.startswith(b"-----BEGIN")
            assert text.rstrip().endswith(b"KEY-----")
        case _:
            assert text.endswith(b"\n"), path.name


def leftovers(folder: Path) -> list[str]:
    """Temporary files, kept results, and anything of rows in the temporary folder."""
    found = [path for path in folder.rglob("*") if path.name.startswith(".holdfast-") or ".kept" in path.name]
    return [str(path) for path in (*found, *(folder.parent / "temporary").iterdir())]


def charges(folder: Path) -> int:
    with Ledger.open(folder / "budget.db", read_only=True) as ledger:
        return [entry.kind for entry in ledger.history()].count("charge")


def require_whole_files(place: Place, folder: Path) -> None:
    """Everything that has its own name is whole; looked at in a copy, so that the ledger is left as it was."""
    copy = folder.parent / "looked at"
    shutil.copytree(folder, copy)
    place.require_untouched(copy)
    for name in (*place.outputs(copy), *REWRITTEN):
        if not Path(name).name.startswith(".holdfast-"):
            require_whole(copy / name)
    shutil.rmtree(copy)


def points_of(line: str, ended: Ended) -> list[int]:
    """Before which calls a command is killed: some, and the last two that give a file its name."""
    every, draw = range(1, ended.calls + 1), random.Random(line)
    if deep() and not line.startswith(LONG):
        return list(every)
    naming = [
        point for point, call in zip(every, ended.journal, strict=True) if call[0] in ("rename", "link")
    ]
    drawn = draw.sample(every, min(LONG_POINTS if line.startswith(LONG) else 1, ended.calls))
    return sorted({*drawn, *naming[-2:]})


def contradicts(ended: Ended) -> bool:
    return "CONTRADICTED" in ended.shown or "REFUTED" in ended.shown


slow_last = [pytest.param(line, marks=pytest.mark.deep) if line.startswith(LONG) else line for line in LINES]


@pytest.mark.parametrize("line", slow_last, ids=[name_of(line) for line in LINES])
def test_a_killed_command_given_again_ends_as_if_nothing_had_been(
    line: str, warm: Warm, place: Place
) -> None:
    folder = place.anew()
    first = warm.run(line, folder)
    assert first.code in (0, 1), first.shown
    assert not leftovers(folder)
    outputs, paid = place.outputs(folder), charges(folder)
    second = cache(lambda: warm.run(line, folder))
    for point in points_of(line, first):
        where = f"{line}\nkilled before call {point}: {first.journal[point - 1]}"
        trial = place.anew()
        killed = warm.run(line, trial, before=point)
        assert killed.was_killed or killed.code == first.code, (where, killed.shown)
        require_whole_files(place, trial)
        again = warm.run(line, trial)
        lost = "stays charged" in again.shown
        if lost:  # noise that was drawn and kept nowhere: it is said, and the next run pays for new noise
            assert again.code == 2, where
            again = warm.run(line, trial)
        if again.code != first.code:  # it had ended: then as it does when it is given twice
            assert again.code == second().code, (where, again.shown)
        assert contradicts(again) == contradicts(first), (where, again.shown)
        assert place.outputs(trial) == outputs, (where, again.shown)
        require_whole_files(place, trial)
        assert not leftovers(trial), (where, leftovers(trial))
        most = paid if not lost else 2 * paid
        assert charges(trial) <= most or (
            killed.calls >= first.calls and charges(trial) == charges(folder)
        ), where


ENDINGS = {"SIGTERM": 143, "SIGHUP": 129, "SIGINT": 130}
OF_ROWS = [line for line in LINES if line.startswith(("answer", "fit", "synth", "schema draft"))]


@pytest.mark.parametrize("name", ENDINGS)
@pytest.mark.parametrize("line", OF_ROWS, ids=name_of)
@pytest.mark.share(4)
def test_a_command_that_is_ended_leaves_nothing_of_rows(
    line: str, name: str, warm: Warm, place: Place
) -> None:
    folder = place.anew()
    first = warm.run(line, folder)
    for point in points_of(line, first)[:: 10 if deep() else 2]:
        trial = place.anew()
        ended = warm.run(line, trial, before=point, number=getattr(signal, name))
        where = f"{line}\n{name} before call {point}: {first.journal[point - 1]}\n{ended.shown}"
        assert ended.code in (ENDINGS[name], first.code), where
        assert not list((trial.parent / "temporary").iterdir()), where
        assert not [path for path in trial.rglob("*") if path.name.startswith(".holdfast-")], where
        require_whole_files(place, trial)


@pytest.mark.parametrize("line", [line for line in LINES if not line.startswith(LONG)], ids=name_of)
def test_what_is_written_is_on_the_disk_before_it_has_its_name(line: str, warm: Warm, place: Place) -> None:
    """After a power cut a name stands for all of a file: the file is flushed before, and its folder after."""
    folder = place.anew()
    journal = [
        (call, *(str(folder / name) if name else "" for name in names))
        for call, *names in warm.run(line, folder).journal
    ]
    for number, (call, source, target) in enumerate(journal):
        if call in ("rename", "link"):
            of_source = [
                call for call, path, _ in journal[:number] if path == source and call in ("write", "fsync")
            ]
            assert of_source, source
            assert of_source[-1] == "fsync", f"{target} has its name before it is on the disk"
            parent = str(Path(target).parent)
            assert ("fsync", parent, str(folder)) in [
                (call, path, str(folder)) for call, path, _ in journal[number:]
            ], f"the name of {target} is not on the disk"
        if call == "open" and Path(source).is_relative_to(folder):
            name = Path(source).name
            ours = name.startswith(".holdfast-") or name.removesuffix("-wal").removesuffix("-shm").endswith(
                ".db"
            )
            assert ours, f"{name} is written in its place"


def test_every_command_with_a_path_is_tried() -> None:
    for words, command in leaves():
        paths = [one for one in command.params if isinstance(one.type, click.Path)]
        tried = [line for line in LINES if line.startswith(" ".join(words) + " ")]
        assert tried or not paths, f"{' '.join(words)} is not among the commands that are killed: add a line"
        written = {
            option
            for one in paths
            if type(one.type).__name__.startswith("Written") and isinstance(one, click.Option)
            for option in one.opts[:1]
        }
        told = " ".join(tried).split()
        assert all(option in told for option in written), f"{' '.join(words)}: try {written}"
