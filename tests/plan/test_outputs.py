"""No step writes over what the plan reads or over another step's output; that is said before anything is charged."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from holdfast._cli.app import app
from holdfast.errors import ParameterError
from holdfast.ledger import Ledger
from holdfast.plan._release_plan import STEP_KINDS, ReleasePlan
from tests.cli.arguments import PLAN, files, toml

READ = (
    "plan.toml",
    "budget.db",
    "budget.db-wal",
    "budget.db-shm",
    "c.parquet",
    "s.toml",
    "c.csv",
    "rows.npy",
    "train.py",
    "budget.db.kept/x.holdfast",
)
"""Everything that the plan of the tests reads, and what belongs to it."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plan") / "work"
    folder.mkdir()
    files(folder)
    return folder


@pytest.fixture
def folder(made: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(made)
    monkeypatch.syspath_prepend(str(made))
    (made / "plan.toml").write_text(toml(PLAN))
    return made


def _run(*words: str) -> Result:
    return CliRunner().invoke(app, ["run", "plan.toml", *words])


def _plan(**outputs: str) -> str:
    changed: dict[str, dict[str, Any]] = {name: dict(settings) for name, settings in PLAN.items()}
    for name, output in outputs.items():
        changed[name]["output"] = output
    return toml(changed)


def _state(folder: Path) -> Mapping[str, object]:
    held = {
        path.name: path.read_bytes()
        for path in folder.iterdir()
        if path.is_file() and os.access(path, os.R_OK) and not path.name.startswith("budget.db-")
    }
    with Ledger.open(folder / "budget.db", read_only=True) as ledger:
        return held | {"entries": len(ledger.history())}


KINDS = [kind.kind for kind in STEP_KINDS]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("read", READ)
def test_no_step_writes_over_what_the_plan_reads(folder: Path, kind: str, read: str) -> None:
    draw = random.Random(f"{kind} {read}")
    output = draw.choice([read, f"./sub/../{read}", str(folder / read), read.upper()])
    (folder / "plan.toml").write_text(_plan(**{kind: output}))
    before = _state(folder)
    shown = _run(*draw.choice([(), ("--dry-run",), ("--outside",)]))
    assert shown.exit_code == 2, shown.output
    assert "must be a file of its own" in shown.output
    assert _state(folder) == before


@pytest.mark.parametrize("way", ["link", "hard link"])
@pytest.mark.parametrize("kind", KINDS)
def test_links_make_no_difference(folder: Path, kind: str, way: str) -> None:
    link = folder / f"{kind} {way}.html"
    link.unlink(missing_ok=True)
    if way == "link":
        link.symlink_to(folder / "budget.db")
    else:
        os.link(folder / "c.parquet", link)
    (folder / "plan.toml").write_text(_plan(**{kind: link.name}))
    before = _state(folder)
    shown = _run()
    assert shown.exit_code == 2, shown.output
    assert "must be a file of its own" in shown.output
    assert _state(folder) == before


@pytest.mark.parametrize("one", KINDS)
@pytest.mark.parametrize("two", KINDS)
def test_two_steps_never_share_an_output(folder: Path, one: str, two: str) -> None:
    if one == two:
        return
    (folder / "plan.toml").write_text(_plan(**{one: "shared.out", two: "sub/../Shared.OUT"}))
    before = _state(folder)
    shown = _run()
    assert shown.exit_code == 2, shown.output
    assert "must be a file of its own" in shown.output
    assert _state(folder) == before


@pytest.mark.parametrize("kind", KINDS)
def test_outside_of_the_folder_is_said_by_who_runs_the_plan(folder: Path, kind: str) -> None:
    away = folder.parent / "away.out"
    (folder / "way out").unlink(missing_ok=True)
    (folder / "way out").symlink_to(folder.parent)
    for output in (str(away), "../away.out", "way out/away.out"):
        (folder / "plan.toml").write_text(_plan(**{kind: output}))
        before = _state(folder)
        shown = _run()
        assert shown.exit_code == 2, shown.output
        assert "--outside" in shown.output
        assert _state(folder) == before
        assert _run("--dry-run", "--outside").exit_code == 0
        plan = ReleasePlan.load(folder / "plan.toml")
        with (
            Ledger.open(folder / "budget.db") as ledger,
            pytest.raises(ParameterError, match="folder of the plan"),
        ):
            plan.run(ledger)
    assert not away.exists()


def test_a_dry_run_lists_the_outputs(folder: Path) -> None:
    shown = _run("--dry-run")
    assert shown.exit_code == 0, shown.output
    outputs = [settings["output"] for name, settings in PLAN.items() if name != "plan"]
    assert all(f"writes {output}" in shown.output for output in outputs)
    listed = json.loads(_run("--dry-run", "--json").output)["steps"]
    assert [step["output"] for step in listed] == [str(folder.resolve() / output) for output in outputs]


def test_a_page_is_drawn_over_nothing_but_a_page_of_its_own(folder: Path) -> None:
    (folder / "thesis.html").write_text("<html>a thesis</html>")
    (folder / "plan.toml").write_text(_plan(dossier="thesis.html"))
    shown = _run()
    assert shown.exit_code == 2, shown.output
    assert "must be a new file" in shown.output
    assert (folder / "thesis.html").read_text() == "<html>a thesis</html>"
