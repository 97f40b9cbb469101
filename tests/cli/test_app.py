from __future__ import annotations

import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from holdfast._cli.app import COMMANDS, app
from holdfast.data import Categorical, Identifier, Schema
from holdfast.ledger import Ledger
from holdfast.privacy._adjacency import PrivacyUnit


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def test_every_command_has_help_with_an_example() -> None:
    assert run("--help").exit_code == 0
    for name in COMMANDS:
        shown = run(name, "--help")
        assert shown.exit_code == 0
        assert len(shown.output.splitlines()) > 5
        assert COMMANDS[name] in run("--help").output


def test_curve_answers_which_epsilon() -> None:
    shown = run("curve", "gaussian:sigma=4.2247", "--delta", "1e-6", "--json")
    assert shown.exit_code == 0
    assert json.loads(shown.output)["epsilon"]["1e-06"] == pytest.approx(1.0, abs=1e-4)


def test_curve_composes_and_draws(tmp_path: Path) -> None:
    target = tmp_path / "curve.svg"
    shown = run(
        "curve",
        "subsampled_gaussian:sigma=0.8,rate=0.01*3000",
        "--delta",
        "1e-5",
        "--epsilon",
        "5",
        "--plot",
        str(target),
    )
    assert shown.exit_code == 0, shown.output
    assert "epsilon 5.242" in shown.output
    ElementTree.parse(target)


@pytest.mark.parametrize(
    "spec",
    [
        "gauss",
        "gaussian:sigma",
        "gaussian:sigma=-1",
        "gaussian:sgima=1",
        "gaussian",
        "pure:epsilon=1*0",
        "pure",
        "gaussian:sigma=x",
    ],
)
def test_bad_mechanisms_exit_with_2_and_name_the_way_out(spec: str) -> None:
    shown = run("curve", spec)
    assert shown.exit_code == 2, shown.output
    assert "Error" in shown.output
    assert "Traceback" not in shown.output


def test_schema_draft_and_show(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("age,sex\n30,F\n41,M\n55,F\n")
    target = tmp_path / "t.toml"
    assert run("schema", "draft", str(table), "-o", str(target)).exit_code == 0
    assert "taken from the data: replace it" in target.read_text()
    again = run("schema", "draft", str(table), "-o", str(target))
    assert again.exit_code == 2
    assert "--force" in again.output
    shown = run("schema", "show", str(target))
    assert shown.exit_code == 0, shown.output
    assert "assumes:" in shown.output
    assert run("schema", "draft", str(tmp_path / "absent.csv")).exit_code == 2


def test_ledger_commands(tmp_path: Path) -> None:
    path = str(tmp_path / "l.db")
    assert (
        run("ledger", "init", path, "--dataset", "clinic", "--epsilon", "2", "--delta", "1e-6").exit_code == 0
    )
    assert (
        run("ledger", "init", path, "--dataset", "clinic", "--epsilon", "2", "--delta", "1e-6").exit_code == 2
    )
    assert "clinic" in run("ledger", "show", path).output
    assert run("ledger", "verify", path).exit_code == 0
    assert run("ledger", "verify", path, "--head", "0" * 64).exit_code == 1
    assert run("ledger", "history", path).exit_code == 0
    target = tmp_path / "l.jsonl"
    assert run("ledger", "export", path, "-o", str(target)).exit_code == 0
    assert all(json.loads(line) for line in target.read_text().splitlines())


def test_a_ledger_takes_neighbours_and_units_from_a_schema(tmp_path: Path) -> None:
    declared = Schema(
        [Identifier("patient"), Categorical("ill", ["no", "yes"])],
        unit=PrivacyUnit("patient", 3),
        adjacency="zero_out",
    )
    declared.save(tmp_path / "s.toml")
    start = ("--dataset", "clinic", "--epsilon", "2", "--schema", str(tmp_path / "s.toml"))
    assert run("ledger", "init", str(tmp_path / "l.db"), *start).exit_code == 0
    with Ledger.open(tmp_path / "l.db") as opened:
        shown = opened.standing("clinic").dataset
        assert (shown.adjacency.value, shown.unit) == ("zero_out", declared.unit)
    for more in (("--user", "patient"), ("--max-rows", "1"), ("--adjacency", "replace")):
        refused = run("ledger", "init", str(tmp_path / "other.db"), *start, *more)
        assert refused.exit_code == 2
        assert more[0] in refused.output
        assert not (tmp_path / "other.db").exists()


@pytest.mark.slow
def test_the_installed_command_runs() -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "holdfast._cli.app", "curve", "pure:epsilon=0.1*100"],
        capture_output=True,
        text=True,
    )
    assert shown.returncode == 0
    assert "epsilon" in shown.stdout


def test_releases_have_one_ending_everywhere() -> None:
    """Files of any name load; what we write and show is called NAME.holdfast."""
    root = Path(__file__).parents[2]
    places = ["README.md", "docs/**/*.md", "examples/*.py", "src/holdfast/**/*.py", "tests/**/*.py"]
    named = re.compile(r"""[\w-]\.release(?=["'` ]|$)""")
    code = re.compile(r"""\b(holdfast|account|permit|\w*Account|Permit|self|there)\.release\b""")
    found = [
        f"{path.relative_to(root)}: {line.strip()}"
        for pattern in places
        for path in root.glob(pattern)
        for line in path.read_text(encoding="utf-8").splitlines()
        if named.search(code.sub("", line)) and "import" not in line
    ]
    assert not found, "\n".join(found)
