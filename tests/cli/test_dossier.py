from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from holdfast._cli.app import app
from holdfast.dossier._page import record_of
from tests.dossier.dossier_samples import Paid, audit, paid
from tests.dossier.test_comparison import stored


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def there(tmp_path: Path) -> Paid:
    return paid(tmp_path)


def test_a_page_is_written(there: Paid, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    shown = run("dossier", there.release, "-o", page, "--ledger", there.ledger, "--title", "Visits")
    assert shown.exit_code == 0, shown.output
    assert "becomes at most 77.1 % sure" in shown.output
    assert record_of(page.read_text(encoding="utf-8"))["title"] == "Visits"
    again = run("dossier", there.release, "-o", page)
    assert again.exit_code == 2
    assert "--force" in again.output
    assert run("dossier", there.release, "-o", page, "--force").exit_code == 0


def test_json_is_the_record(there: Paid, tmp_path: Path) -> None:
    shown = run("dossier", there.release, "-o", tmp_path / "page.html", "--json")
    found = json.loads(shown.stdout)
    assert found.pop("page") == str(tmp_path / "page.html")
    assert found == record_of((tmp_path / "page.html").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("correct", "code"), [(57, 0), (95, 1)])
def test_a_contradiction_exits_with_1(there: Paid, tmp_path: Path, correct: int, code: int) -> None:
    (tmp_path / "audit.json").write_text(json.dumps({"verdict": "?", "result": audit(correct).to_json()}))
    shown = run("dossier", there.release, "-o", tmp_path / "page.html", "--audit", tmp_path / "audit.json")
    assert shown.exit_code == code, shown.output
    assert (tmp_path / "page.html").exists()  # the page says it in red
    assert ("CONTRADICT" in shown.output) == bool(code)


def test_attacks_and_accuracy_are_for_the_internal_edition(there: Paid, tmp_path: Path) -> None:
    (tmp_path / "attacks.json").write_text(json.dumps({"attacks": [stored()]}))
    (tmp_path / "accuracy.json").write_text(json.dumps([{"model": "m", "score": 0.8, "rows": 90}]))
    for option, file in (("--attack", "attacks.json"), ("--accuracy", "accuracy.json")):
        refused = run("dossier", there.release, "-o", tmp_path / "page.html", option, tmp_path / file)
        assert refused.exit_code == 2
        assert "un-noised" in refused.output
        assert not (tmp_path / "page.html").exists()
    fine = run(
        "dossier",
        there.release,
        "-o",
        tmp_path / "page.html",
        "--attack",
        tmp_path / "attacks.json",
        "--accuracy",
        tmp_path / "accuracy.json",
        "--audience",
        "internal",
    )
    assert fine.exit_code == 0, fine.output


@pytest.mark.parametrize("content", ["", "[]", "{}", "3", '{"result": {}}'])
def test_bad_evidence_exits_with_2(there: Paid, tmp_path: Path, content: str) -> None:
    (tmp_path / "x.json").write_text(content)
    for option in ("--audit", "--attack", "--accuracy"):
        shown = run(
            "dossier",
            there.release,
            "-o",
            tmp_path / "page.html",
            option,
            tmp_path / "x.json",
            "--audience",
            "internal",
        )
        if option == "--accuracy" and content == "[]":
            continue  # nothing to say
        assert shown.exit_code == 2, (option, shown.output)
        assert "Traceback" not in shown.output


def test_no_release_exits_with_2(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"no release")
    assert run("dossier", tmp_path / "x", "-o", tmp_path / "page.html").exit_code == 2
    assert run("dossier", "-o", tmp_path / "page.html").exit_code == 2


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_can_complete_commands(shell: str) -> None:
    """What the docs tell users to put into their shell's start-up file."""
    made = subprocess.run(
        [Path(sys.executable).with_name("holdfast")],
        capture_output=True,
        text=True,
        env=os.environ | {"_HOLDFAST_COMPLETE": f"{shell}_source"},
    )
    assert made.returncode == 0, made.stderr
    assert "_HOLDFAST_COMPLETE" in made.stdout
    asked = subprocess.run(
        [Path(sys.executable).with_name("holdfast")],
        capture_output=True,
        text=True,
        env=os.environ
        | {"_HOLDFAST_COMPLETE": f"{shell}_complete", "COMP_WORDS": "holdfast ver"}
        | {"COMP_CWORD": "ver" if shell == "fish" else "1"},
    )
    assert "verify" in asked.stdout
