"""The architecture page says what the tree is: its picture is fresh, and every row of its table holds."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

from docs import rooms
from tests.paths import ROOT

PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
SOURCE = ROOT / "src" / "holdfast"
OF_THEIR_OWN = {
    "adding",
    "benchmarks",
    "contracts",
    "docs",
    "golden",
    "kills",
    "layouts",
    "mutants",
    "mutation",
    "reproductions",
    "review",
    "servers",
    "studies",
}
"""Folders of tests that mirror no room."""


class Row(NamedTuple):
    """A line of the table: what, where, its registry, its check."""

    what: str
    places: tuple[Path, ...]
    line: str
    checks: tuple[Path, ...]


def _path(text: str) -> Path:
    return (
        ROOT / text
        if text.split("/")[0] in ("tests", "docs", "studies", "changes", "notebooks")
        else SOURCE / text
    )


def _rows() -> list[Row]:
    table = PAGE.split("## Where do I put ...?")[1].split("\n## ")[0]
    found = []
    for line in re.findall(r"^\| (?!a new|-)(.*) \|$", table, flags=re.M):
        what, place, registry, check = line.split(" | ")
        places, checks = (tuple(map(_path, re.findall(r"`([^`]+)`", text))) for text in (place, check))
        found.append(Row(what, places, registry.strip("`"), checks))
    return found


ROWS = [row for row in _rows() if "---" not in row.what]
each = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.what)


def test_the_table_answers_what_people_ask() -> None:
    asked = """curve, column kind, private learner, synthesiser, attack on a model, attack on rows, engine, audit bound,
        canary design, chart of the dossier, section of the page, command, step of a plan, planted fault, mechanism,
        sampler, test, study, benchmark, reproduction, decision"""
    assert set(re.split(r",\s+", asked)) <= {row.what for row in ROWS}


@each
def test_the_place_and_the_check_exist(row: Row) -> None:
    assert row.places
    assert row.checks
    for path in (*row.places, *row.checks):
        assert path.exists(), f"{row.what}: {path.relative_to(ROOT)} is not there"


def _registry(path: str) -> tuple[ModuleType, list[Any]]:
    """The module of a registry, and what the registry holds."""
    path = path if path.startswith("tests.") else f"holdfast.{path}"
    module = import_module(path.rpartition(".")[0])
    held = getattr(module, path.rpartition(".")[2])
    if isinstance(held, dict):
        return module, list(held.values())
    names = [getattr(module, one) if isinstance(one, str) else one for one in held]
    return module, [
        one for one in names if inspect.isclass(one) or callable(one) or not isinstance(one, str | int)
    ]


def _home(thing: Any) -> Path:
    """The file in which a class, a function or the function of an entry is written."""
    for name in ("run", "guess", "connect"):
        thing = thing if inspect.isclass(thing) else getattr(thing, name, thing)
    written = thing if inspect.isclass(thing) or inspect.isfunction(thing) else type(thing)
    return Path(inspect.getfile(written)).resolve()


def _within(file: Path, places: tuple[Path, ...]) -> bool:
    return any(file == place or place in file.parents for place in places)


@each
def test_the_registry_holds_things_that_live_in_the_place(row: Row) -> None:
    if row.line == "none":
        return
    if "/" in row.line:  # a page or a template that names what is in the folder
        text = _path(row.line).read_text(encoding="utf-8")
        assert any(file.stem in text for place in row.places for file in place.rglob("*.*"))
        return
    module, held = _registry(row.line)
    assert held, f"{row.line} is empty"
    if row.what == "command":
        assert all((SOURCE / "_cli" / f"{name}.py").is_file() for name in module.COMMANDS)
        return
    outside = [
        thing for thing in held if not isinstance(thing, dict) and not _within(_home(thing), row.places)
    ]
    assert not outside, f"{row.line} holds {outside[0]!r}, which is not in {row.places[0].relative_to(ROOT)}"


@each
def test_the_check_knows_the_registry_or_what_is_in_it(row: Row) -> None:
    if row.line == "none" or "/" in row.line:
        return
    files = [file for path in row.checks for file in ([path] if path.is_file() else path.rglob("test_*.py"))]
    text = "".join(file.read_text(encoding="utf-8") for file in files)
    words = set(re.findall(r"\w+", text))
    _, held = _registry(row.line)
    names = {row.line.rpartition(".")[2], *(getattr(one, "__name__", "") for one in held)}
    assert names & words, f"{row.what}: its check does not mention {row.line}"


# The picture, and tests in their places.


def test_the_picture_of_the_rooms_is_fresh() -> None:
    assert rooms.PICTURE.read_text(encoding="utf-8") == rooms.drawing(), "run: make lists"


def test_every_room_is_in_a_layer_and_has_its_words_and_its_paragraph() -> None:
    layered = {name for layer in rooms.rooms() for name in layer}
    there = {path.parent.name for path in SOURCE.glob("*/__init__.py")} | {
        p.stem for p in SOURCE.glob("*.py") if not p.stem.startswith("__")
    }
    assert layered == there
    assert layered <= set(rooms.WORDS)
    told = set(re.findall(r"\*\*(\w+)\*\*", PAGE.split("## The rooms")[1].split("\n## ")[0]))
    assert {path.parent.name for path in SOURCE.glob("*/__init__.py")} == told


def test_tests_mirror_the_tree() -> None:
    """Folders of tests leave out the mark of what is not public."""
    packages = {
        Path(*(part.removeprefix("_") for part in path.parent.relative_to(SOURCE).parts))
        for path in SOURCE.rglob("__init__.py")
    }
    for folder in sorted(
        path.parent.relative_to(ROOT / "tests") for path in (ROOT / "tests").rglob("__init__.py")
    ):
        if folder.parts and folder.parts[0] not in OF_THEIR_OWN:
            assert folder in packages, f"tests/{folder} mirrors no folder of the package"
