"""The walks are what users do, and the tracer that counts their files sees every one."""

from __future__ import annotations

import json
import sys
import threading
from importlib import import_module, invalidate_caches
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree import ElementTree

import pytest

from docs import walks

pytestmark = pytest.mark.slow  # the traced walks are shared by all tests


@pytest.fixture(scope="module")
def traces() -> dict[str, walks.Trace]:
    return {name: walks.traced(name) for name in walks.WALKS}


def test_every_walk_goes_from_a_file_to_a_page(traces: dict[str, walks.Trace]) -> None:
    assert list(walks.WALKS) == list(walks.TITLES)
    for name, maker in (("model", "learn"), ("rows", "synth")):
        rooms = [walks.room(file) for file in traces[name].files]
        assert next(room for room in rooms if room != "root") == "data"
        assert {maker, "ledger", "privacy", "noise", "release", "dossier"} <= set(rooms) <= set(walks.LAYERS)
        assert all((walks.PACKAGE / file).is_file() for file in traces[name].files)
        assert len(traces[name].files) <= len(traces[name].functions) <= traces[name].calls


def _package(folder: Path, name: str, *, extra: bool) -> ModuleType:
    """A package of three files, of which a call enters two, or three with `extra`."""
    room = folder / name
    room.mkdir()
    (room / "__init__.py").write_text("")
    (room / "a.py").write_text(f"from {name} import b\n\ndef go():\n    return b.step()\n")
    helper = f"\n    from {name} import c\n    c.helped()" if extra else ""
    (room / "b.py").write_text(f"def step():{helper}\n    return [k for k in range(2)]\n")
    (room / "c.py").write_text("class Body:\n    value = 1\n\ndef helped():\n    return Body.value\n")
    invalidate_caches()
    return import_module(f"{name}.a")


@pytest.mark.parametrize(("extra", "files"), [(False, ["a.py", "b.py"]), (True, ["a.py", "b.py", "c.py"])])
def test_a_file_more_raises_the_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, extra: bool, files: list[str]
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    name = f"walked_{extra}".lower()
    module: Any = _package(tmp_path, name, extra=extra)
    entered = walks.trace(module.go, tmp_path / name)
    assert list(entered.files) == files
    assert list(entered.files.values())[:2] == ["go", "step"]
    assert len(entered.functions) == entered.calls >= len(files)


def test_bodies_do_not_count_and_threads_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    module: Any = _package(tmp_path, "walked_thread", extra=False)
    package = tmp_path / "walked_thread"
    assert walks.trace(lambda: import_module("walked_thread.c"), package).files == {}

    def threaded() -> None:
        other = threading.Thread(target=module.go)
        other.start()
        other.join()

    before = sys.getprofile(), threading.getprofile()
    assert list(walks.trace(threaded, package).files) == ["a.py", "b.py"]
    assert (sys.getprofile(), threading.getprofile()) == before


def test_a_walk_that_fails_stops_the_tracer(tmp_path: Path) -> None:
    def fails() -> None:
        raise ArithmeticError

    before = sys.getprofile(), threading.getprofile()
    with pytest.raises(ArithmeticError):
        walks.trace(fails, tmp_path)
    assert (sys.getprofile(), threading.getprofile()) == before


def test_turns_are_counted_once_a_climb() -> None:
    assert walks.turns([]) == walks.turns(["learn/a.py", "privacy/b.py", "errors.py"]) == 0
    assert walks.turns(["learn/a.py", "errors.py", "privacy/b.py", "learn/c.py", "noise/d.py"]) == 1
    assert walks.turns(["noise/a.py", "learn/b.py", "noise/c.py", "learn/d.py"]) == 2


def test_the_drawing_has_a_dot_for_each_file(traces: dict[str, walks.Trace]) -> None:
    drawn = ElementTree.fromstring(walks.drawing(traces))
    named = {title.text for title in drawn.iter("{http://www.w3.org/2000/svg}title")}
    for walk in traces.values():
        assert {f"{file}: {function}" for file, function in walk.files.items()} <= named


def test_the_command_counts(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    fake = {
        "model": walks.Trace(files={"learn/a.py": "f"}),
        "rows": walks.Trace(files={"synth/a.py": "g", "dossier/b.py": "h"}),
    }
    monkeypatch.setattr(walks, "traced", fake.__getitem__)
    monkeypatch.setattr(sys, "argv", ["walks.py", "model", "rows", "--json"])
    walks.main()
    assert json.loads(capsys.readouterr().out) == {"model": 1, "rows": 2}
