"""Reproductions go on where they were cut off, and say what a quick run cannot show."""

from __future__ import annotations

import os
import re
import runpy
from pathlib import Path

import pytest
from studies.reproductions.seed_store import Store

from tests.paths import ROOT
from tests.studies.size import deep

COMMAND = runpy.run_path(str(ROOT / "studies" / "reproductions" / "__main__.py"))
SCRIPTS = COMMAND["names"]()
BRIEF = ("001_influence", "utility_theorems")
"""A second each, and without data."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("studies.reproductions.seed_store.RESULTS", tmp_path)
    return tmp_path


def test_what_was_measured_is_not_measured_again(folder: Path) -> None:
    asked: list[int] = []

    def measure(seed: int) -> float:
        asked.append(seed)
        if seed == 2 and len(asked) == 3:
            raise KeyboardInterrupt
        return 10.0 + seed

    with pytest.raises(KeyboardInterrupt):
        Store("x").several("a", measure, seeds=4)
    assert Store("x").several("a", measure, seeds=4) == [10.0, 11.0, 12.0, 13.0]
    assert asked == [0, 1, 2, 2, 3]
    assert [path.name for path in folder.iterdir()] == ["x.json"]


def test_a_frozen_store_measures_nothing_and_a_quick_one_keeps_nothing(folder: Path) -> None:
    assert Store("x", frozen=True).several("a", lambda seed: 1.0, seeds=2) == []
    assert Store(None).of("a", lambda: [1.0, 2.0]) == [1.0, 2.0]
    assert not list(folder.iterdir())


def test_every_reproduction_says_what_a_quick_run_cannot_show() -> None:
    assert len(SCRIPTS) >= 12
    for name in SCRIPTS:
        text = (ROOT / "studies" / "reproductions" / f"{name}.py").read_text(encoding="utf-8")
        assert re.search(r'"\\n--quick: \S', text), name


def test_results_name_commits_without_edits() -> None:
    import json

    for path in (ROOT / "studies" / "reproductions" / "results").glob("0*.json"):
        commits = json.loads(path.read_text(encoding="utf-8"))["made"]["commits"]
        assert commits, path.name
        assert all(re.fullmatch(r"[0-9a-f]{40}", commit) for commit in commits), path.name


@pytest.mark.parametrize("name", SCRIPTS if deep() else BRIEF)
def test_a_quick_run_ends_well_writes_nothing_and_says_what_it_cannot_show(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PYTHONPATH", f"{ROOT / 'src'}{os.pathsep}{ROOT}")
    before = {
        path: path.stat().st_mtime_ns for path in (ROOT / "studies" / "reproductions" / "results").iterdir()
    }
    assert COMMAND["run"](name, quick=True) == 0
    assert capsys.readouterr().out.startswith("--quick: ")
    assert before == {
        path: path.stat().st_mtime_ns for path in (ROOT / "studies" / "reproductions" / "results").iterdir()
    }


def test_a_run_that_fails_is_not_counted_as_done(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(COMMAND["run"].__globals__, "COSTS", tmp_path / "costs.json")
    assert COMMAND["run"]("of_this_name_there_is_none", quick=False) != 0
    assert not (tmp_path / "costs.json").exists()
