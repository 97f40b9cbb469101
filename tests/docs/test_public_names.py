"""Public names: each has a docstring and a place in the reference, and the table of them is fresh."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from pathlib import Path
from runpy import run_path
from typing import Any

import pytest

import holdfast
from tests.paths import ROOT

API = ROOT / "docs" / "api"
SOURCE = ROOT / "src" / "holdfast"
NOT_OFFERED = {"noise"}
"""Rooms that users reach by a command or through another room."""


@pytest.fixture(scope="module")
def script() -> dict[str, Any]:
    return run_path(str(ROOT / "docs" / "make_public_names.py"))


def _rooms() -> list[str]:
    return sorted(path.parent.name for path in SOURCE.glob("[!_]*/__init__.py"))


def _pages() -> str:
    return "".join(page.read_text(encoding="utf-8") for page in sorted(API.glob("*.md")))


def _documented(room: str, name: str) -> bool:
    """Whether the reference describes this name, or the same object under the name that it has now."""
    module, pages = import_module(room), _pages()
    names = {entry.rpartition(".")[2] for entry in re.findall(r"^\.\. auto\w+:: (\S+)", pages, flags=re.M)}
    automatic = set(re.findall(r"^\.\. automodule:: (\S+)$", pages, flags=re.M))
    value = getattr(module, name)
    same = {other for other in module.__all__ if getattr(module, other) is value}
    return bool(same & names) or room in automatic or getattr(value, "__module__", "") in automatic


@pytest.mark.parametrize("room", ["holdfast", *(f"holdfast.{name}" for name in _rooms())])
def test_public_names_have_a_docstring_and_a_place_in_the_reference(room: str) -> None:
    module = import_module(room)
    for name in getattr(module, "__all__", ()):
        value = getattr(module, name)
        if inspect.ismodule(value):
            assert room == "holdfast", f"{room}.{name} is a module: a file of that name hides what it defines"
            assert value.__doc__
            continue
        if inspect.isclass(value) or inspect.isfunction(value):
            assert inspect.getdoc(value), f"{room}.{name} has no docstring"
        assert _documented(room, name), f"{room}.{name} is not in docs/api"


def test_the_table_of_public_names_is_fresh(script: dict[str, Any]) -> None:
    page: Path = script["PAGE"]
    assert page.read_text(encoding="utf-8") == script["page"](), "run: make lists"


def test_the_table_has_every_headline_name_and_about_a_hundred_in_all(script: dict[str, Any]) -> None:
    headline = {
        name for name in import_module("holdfast").__all__ if not inspect.ismodule(getattr(holdfast, name))
    }
    assert set(script["headline"]()) == headline
    further = [name for names in script["FURTHER"].values() for name in names.split()]
    assert 70 <= len(headline) + len(further) <= 120


def test_every_room_that_offers_names_is_in_the_table(script: dict[str, Any]) -> None:
    shown = {room.split(".")[1] for room in script["FURTHER"]}
    # What the rooms of accounts and of releases offer stands at the top.
    assert shown | {"ledger", "release"} | NOT_OFFERED == set(_rooms())
