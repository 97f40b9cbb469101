from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from holdfast._cli.app import app
from tests.dossier.dossier_samples import paid


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def command(tmp_path: Path) -> list[str | Path]:
    there, page = paid(tmp_path), tmp_path / "page.html"
    assert run("dossier", there.release, "-o", page, "--ledger", there.ledger).exit_code == 0
    return ["verify", page, "--release", there.release, "--ledger", there.ledger]


def test_page_release_and_ledger_agree(command: list[str | Path]) -> None:
    shown = run(*command, "--recompute")
    assert shown.exit_code == 0, shown.output
    assert "PROBLEM" not in shown.output
    assert "from the recorded mechanisms" in shown.output


def test_an_edit_exits_with_1(command: list[str | Path]) -> None:
    page = Path(command[1])
    page.write_text(page.read_text(encoding="utf-8").replace("M. Head", "M. Hood"), encoding="utf-8")
    shown = run(*command, "--json")
    assert shown.exit_code == 1
    found = json.loads(shown.stdout)
    assert not found["ok"]
    assert any("seal" in problem for problem in found["problems"])


def test_a_missing_file_exits_with_2(command: list[str | Path], tmp_path: Path) -> None:
    assert run("verify", tmp_path / "absent.html").exit_code == 2
