"""Every path of every command is declared as read or written, and nothing that is read can be written over.

The tree of commands is walked: a command or an option that is new is tried without further code.
"""

from __future__ import annotations

import os
import random
import re
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from holdfast._cli.app import app
from holdfast._cli.paths import (
    NEW_FILE,
    Command,
    FunctionText,
    PictureFile,
    ReadFile,
    SourceText,
    WrittenFile,
    WrittenFolder,
)
from holdfast.ledger import Ledger
from tests.cli.arguments import leaves

LEAVES = [(" ".join(words), command) for words, command in leaves()]
READS = (ReadFile, SourceText, FunctionText)


def _of_kind(command: click.Command, *kinds: type[Any]) -> list[click.Parameter]:
    return [parameter for parameter in command.params if isinstance(parameter.type, kinds)]


PAIRS = [
    (words, command, written, read)
    for words, command in LEAVES
    for written in _of_kind(command, WrittenFile)
    for read in [*_of_kind(command, *READS), *_of_kind(command, WrittenFile)]
    if written is not read
]


@pytest.mark.parametrize(("words", "command"), LEAVES, ids=[words for words, _ in LEAVES])
def test_every_path_says_whether_it_is_read_or_written(words: str, command: click.Command) -> None:
    assert isinstance(command, Command), (
        f"{words} does not look at its outputs: use holdfast._cli.paths.Command"
    )
    for parameter in command.params:
        if isinstance(parameter.type, click.Path | click.File):
            assert isinstance(parameter.type, ReadFile | WrittenFile | WrittenFolder), (words, parameter.name)
        text = f"{parameter.name} {parameter.metavar or ''} {getattr(parameter, 'help', '')}".casefold()
        if isinstance(parameter.type, click.types.StringParamType) and parameter.name != "folder":
            a_place = re.search(r"\b(a|or|parquet) file\b|database url| source\b", text) is not None
            known = isinstance(parameter.type, SourceText | FunctionText)
            assert known or not a_place, f"{words}: is {parameter.name} a path that is read? declare it so"


@pytest.mark.parametrize(("words", "command"), LEAVES, ids=[words for words, _ in LEAVES])
def test_what_is_there_is_written_over_on_request_only(words: str, command: click.Command) -> None:
    written = [one for one in _of_kind(command, WrittenFile) if one.type is not NEW_FILE]
    assert not written or any(one.name == "force" for one in command.params), f"{words} lacks FORCE"


def test_the_walk_finds_pairs() -> None:
    assert len(PAIRS) > 50
    assert {"fit", "synth", "dossier", "run", "sign"} <= {words for words, _ in LEAVES}


def _value(parameter: click.Parameter, place: str) -> list[str]:
    """What the parameter is told: a file of its own, a number, a word."""
    given = {"integer": "1", "float": "0.5", "float range": "0.5", "integer range": "1"}
    value = given.get(parameter.type.name, "x")
    if isinstance(parameter.type, click.Choice):
        value = str(parameter.type.choices[0])
    if isinstance(parameter.type, (*READS, WrittenFile)):
        value = place
    return [value] * max(1, parameter.nargs)


def _list(words: str, command: click.Command, places: dict[str, str]) -> list[str]:
    """An argument list with everything that is needed, and these paths."""
    options: list[str] = []
    arguments: list[str] = []
    for parameter in command.params:
        name = str(parameter.name)
        if not parameter.required and name not in places:
            continue
        told = _value(parameter, places.get(name, f"{name}.file"))
        if isinstance(parameter, click.Option):
            options += [parameter.opts[0], *told]
        else:
            arguments += told
    force = ["--force"] if any(one.name == "force" for one in command.params) else []
    return [*words.split(), *options, *force, "--", *arguments]


def _places(folder: Path, command: click.Command) -> dict[str, str]:
    """A file of its own for each path that is read, and a place for each that is written."""
    places = {}
    for parameter in _of_kind(command, *READS):
        (folder / f"{parameter.name}.file").write_bytes(f"precious {parameter.name}".encode())
        places[str(parameter.name)] = str(folder / f"{parameter.name}.file")
        if isinstance(parameter.type, FunctionText):
            (folder / "module.py").write_text("def train(rows): return rows")
            places[str(parameter.name)] = "module:train"
    for parameter in _of_kind(command, WrittenFile):
        ending = "svg" if isinstance(parameter.type, PictureFile) else "out"
        places[str(parameter.name)] = str(folder / f"{parameter.name}.{ending}")
    return places


def _other_way(path: Path, folder: Path, draw: random.Random) -> str:
    token = draw.randrange(10**9)
    match draw.randrange(5):
        case 0:
            return os.path.relpath(path)
        case 1:
            (folder / f"link{token}").symlink_to(path)
            return str(folder / f"link{token}")
        case 2 if path.exists():
            os.link(path, folder / f"hard{token}")
            return str(folder / f"hard{token}")
        case 3:
            return str(path.with_name(path.name.upper()))
    return str(path)


@pytest.mark.parametrize(
    ("words", "command", "written", "read"),
    PAIRS,
    ids=[f"{words} {one.name} over {two.name}" for words, _, one, two in PAIRS],
)
def test_nothing_that_is_read_or_written_is_written_over(
    words: str,
    command: click.Command,
    written: click.Parameter,
    read: click.Parameter,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    draw = random.Random(f"{words} {written.name} {read.name}")
    places = _places(tmp_path, command)
    met = Path(tmp_path / "module.py" if isinstance(read.type, FunctionText) else places[str(read.name)])
    places[str(written.name)] = _other_way(met, tmp_path, draw)
    if isinstance(written.type, PictureFile):  # whose name must end in .svg
        (tmp_path / "picture.svg").symlink_to(met)
        places[str(written.name)] = str(tmp_path / "picture.svg")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    shown = CliRunner().invoke(app, _list(words, command, places))
    assert shown.exit_code == 2, shown.output
    if written.type is not NEW_FILE:  # such a file is refused where it is there, whatever it is
        assert "must be a file of its own" in shown.output, shown.output
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before


@pytest.mark.parametrize("source", ["rows", "rows/*.csv", "duckdb:///rows/town.db?table=t"])
@pytest.mark.parametrize("command", ["fit", "synth", "schema draft"])
def test_a_source_of_any_kind_is_not_written_over(
    command: str, source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows").mkdir()
    (tmp_path / "rows" / "one.csv").write_text("a\n1\n")
    (tmp_path / "rows" / "town.db").write_text("a database")
    (tmp_path / "s.toml").write_text("")
    more = [] if command == "schema draft" else ["--schema", "s.toml", "--epsilon", "1"]
    more += ["--target", "a"] if command == "fit" else []
    outputs = ["rows/town.db", "rows/town.db.wal"] if "://" in source else ["rows/one.csv", "rows/two.csv"]
    for output in outputs:
        shown = CliRunner().invoke(app, [*command.split(), source, *more, "-o", output, "--force"])
        assert shown.exit_code == 2, shown.output
        assert "must be a file of its own" in shown.output
    assert (tmp_path / "rows" / "one.csv").read_text() == "a\n1\n"
    assert not (tmp_path / "rows" / "two.csv").exists()


def test_another_ledger_and_its_parts_are_not_written_over(tmp_path: Path) -> None:
    Ledger.create(tmp_path / "other.db").close()
    before = (tmp_path / "other.db").read_bytes()
    for name in ("other.db", "other.db-wal"):
        shown = CliRunner().invoke(app, ["curve", "gaussian:sigma=2", "--plot", str(tmp_path / name)])
        assert shown.exit_code == 2, shown.output
        assert "ledger" in shown.output
    assert (tmp_path / "other.db").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["other.db"]
