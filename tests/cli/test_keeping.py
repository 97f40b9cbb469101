"""Findings E3 and E5 on the command line: fit, synth and run lose nothing, and lock nothing for ever."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from click.testing import CliRunner, Result

from holdfast._cli.app import app
from holdfast.data import Categorical, Numeric, Schema
from holdfast.ledger import Ledger
from holdfast.ledger._jobs.keeping import Shelf
from holdfast.privacy import ApproxDP
from holdfast.release import Release
from tests.paths import ROOT

PLAN = """
[plan]
ledger = "budget.db"
dataset = "clinic"
source = "c.parquet"
schema = "s.toml"

[[step]]
do = "fit"
name = "model"
target = "ill"
method = "{method}"
epsilon = 0.2
output = "out/result.holdfast"
"""
TABLE = ("c.parquet", "--schema", "s.toml", "--ledger", "budget.db", "--dataset", "clinic")
COMMANDS = {
    "fit": (
        "fit",
        *TABLE,
        "--target",
        "ill",
        "--epsilon",
        "0.2",
        "--method",
        "output",
        "-o",
        "out/result.holdfast",
        "--weights",
        "out/w.json",
    ),
    "fit, noisy steps": (
        "fit",
        *TABLE,
        "--target",
        "ill",
        "--method",
        "noisy_gd",
        "-o",
        "out/result.holdfast",
    ),
    "fit, named": (
        "fit",
        *TABLE,
        "--target",
        "ill",
        "--method",
        "output",
        "--account",
        "june",
        "-o",
        "out/result.holdfast",
    ),
    "synth": (
        "synth",
        *TABLE,
        "--epsilon",
        "0.2",
        "--delta",
        "1e-6",
        "--method",
        "independent",
        "-o",
        "out/r.csv",
        "--release",
        "out/result.holdfast",
    ),
    "synth, named": (
        "synth",
        *TABLE,
        "--account",
        "july",
        "--method",
        "independent",
        "--release",
        "out/result.holdfast",
    ),
    "run": ("run", "plan.toml"),
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    age = np.random.default_rng(3).integers(0, 100, 300)
    parquet.write_table(pa.table({"age": age, "ill": np.where(age > 50, "yes", "no")}), "c.parquet")
    Schema([Numeric("age", 0, 100, bins=4), Categorical("ill", ["no", "yes"])]).save("s.toml")
    Path("plan.toml").write_text(PLAN.format(method="output"))
    Path("out").mkdir()
    with Ledger.create("budget.db") as ledger:
        ledger.dataset("clinic", limit=ApproxDP(1.0, 1e-6), currency="zcdp")
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def charges() -> int:
    with Ledger.open("budget.db") as ledger:
        return [entry.kind for entry in ledger.history()].count("charge")


def held() -> str:
    """What open accounts hold, as `ledger show` says it."""
    shown = run("ledger", "show", "budget.db").output
    return shown.partition("held by open accounts ")[2].partition(",")[0]


WHOLE = {"fit": 2, "fit, named": 2, "run": 2, "fit, noisy steps": 1, "synth": 1}
"""Charges of a run that nothing stops: output perturbation pays for its centre and its weights."""

each = pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)


@each
@pytest.mark.parametrize("how", ["disk full", "folder removed", "interrupted"])
def test_a_result_that_cannot_be_written_is_found_again(
    command: tuple[str, ...], how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    link, keep = os.link, Shelf.keep

    def fail(temporary: Path, path: Path) -> None:
        if path.name == "result.holdfast" and how == "disk full":
            raise OSError(28, "No space left on device")
        if path.name == "result.holdfast" and how == "interrupted":
            raise KeyboardInterrupt
        link(temporary, path)

    def kept_while_the_folder_goes(shelf: Shelf, account: str, release: Release[Any]) -> None:
        keep(shelf, account, release)
        if how == "folder removed":
            shutil.rmtree("out")

    with monkeypatch.context() as patch:
        patch.setattr("holdfast.data._whole_file.os.link", fail)
        patch.setattr(Shelf, "keep", kept_while_the_folder_goes)
        shown = run(*command)
    assert shown.exit_code == (130 if how == "interrupted" else 2), shown.output
    if how != "interrupted":
        assert "pays nothing" in shown.output
    assert held() == "0 %"
    (kept,) = Path("budget.db.kept").iterdir()
    assert kept.name in run("ledger", "show", "budget.db").output
    made, paid = Release.load(kept), charges()
    Path("out").mkdir(exist_ok=True)
    shown = run(*command)
    assert shown.exit_code == 0, shown.output
    assert Release.load("out/result.holdfast") == made
    assert charges() == paid
    assert not Path("budget.db.kept").exists()
    if command[0] != "run":
        assert "nothing was spent now" in shown.output
        assert (Path("out/w.json").exists(), Path("out/r.csv").exists()) == (
            "out/w.json" in command,
            "out/r.csv" in command,
        )


KILLED = """
import os, signal, sys
from holdfast._cli.app import app
from holdfast.privacy._account.account import Permit
from holdfast.ledger import Ledger
from holdfast.ledger._journal import LedgerJournal
from holdfast.ledger._jobs.keeping import Shelf
from holdfast.release import Release
place = {"account": (Ledger, "account"), "charge": (LedgerJournal, "charge"), "drawn": (Release, "paid_by"),
         "kept": (Shelf, "keep"), "closed": (Ledger, "close_account"), "written": (Shelf, "let_go")}[sys.argv[1]]
true = getattr(*place)
def killed(*given, **named):
    true(*given, **named)
    os.kill(os.getpid(), signal.SIGKILL)
setattr(*place, killed)
app(sys.argv[2:])
"""


def killed(place: str, *command: str) -> None:
    """Run a command in a process of its own that is killed just after it did this."""
    done = subprocess.run(
        [sys.executable, "-c", KILLED, place, *command],
        capture_output=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
    )
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()


@pytest.mark.parametrize(
    ("place", "name"),
    [
        ("account", "fit"),
        ("charge", "fit, named"),
        ("drawn", "run"),
        ("kept", "fit, noisy steps"),
        ("closed", "synth"),
    ],
)
def test_the_same_command_goes_on_after_a_kill(place: str, name: str) -> None:
    killed(place, *COMMANDS[name])
    paid = charges()
    shown = run(*COMMANDS[name])
    assert shown.exit_code == 0, shown.output
    # What was paid is not paid again; of a synthesis that was killed early the rest is.
    assert charges() == max(paid, WHOLE[name])
    assert Release.load("out/result.holdfast").private
    assert held() == "0 %"


def test_noise_that_is_gone_stays_charged_and_nothing_else_is_held() -> None:
    """A killed fit without --epsilon used to lock the whole limit for ever."""
    killed("drawn", *COMMANDS["fit, noisy steps"])
    paid = charges()
    assert held() not in ("", "0 %")
    other = run("fit", *TABLE, "--target", "age", "-o", "out/other.holdfast")
    assert other.exit_code == 3, other.output
    assert "ledger close --abandoned" in other.output
    shown = run(*COMMANDS["fit, noisy steps"])
    assert shown.exit_code == 2, shown.output
    assert "stays charged" in shown.output
    assert charges() == paid
    assert held() == "0 %"


def test_a_kill_can_be_cleared_away_from_the_command_line() -> None:
    killed("account", "fit", *TABLE, "--target", "ill", "-o", "out/result.holdfast")
    assert held() == "100 %"
    assert "its process is gone" in run("ledger", "show", "budget.db").output
    shown = run("ledger", "close", "budget.db", "--abandoned")
    assert shown.exit_code == 0, shown.output
    assert "free 100 %" in shown.output
    assert run(*COMMANDS["synth, named"]).exit_code == 0


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ('target = "ill"', 'target = "sick"'),
        ('method = "output"', 'method = "magic"'),
        ('method = "output"', 'method = "output"\nrow_norm = -1.0'),
        ('method = "output"', 'method = "output"\nmodel = "svm"\nradius = -2.0'),
        ('method = "output"', 'method = "output"\ndelta = 1.5'),
        ("epsilon = 0.2", "epsilon = nan"),
    ],
)
@pytest.mark.parametrize("place", [0, 1])
def test_a_plan_with_a_wrong_parameter_opens_no_account_and_is_accepted_when_it_is_corrected(
    wrong: str, right: str, place: int
) -> None:
    good = PLAN.format(method="output")
    step = good[good.index("[[step]]") :]
    second = step.replace('"model"', '"second"').replace("result", "second")
    steps = [step, second]
    steps[place] = steps[place].replace(wrong, right)
    Path("plan.toml").write_text(good[: good.index("[[step]]")] + "\n".join(steps))
    with Ledger.open("budget.db") as ledger:
        before = ledger.history()
        shown = run("run", "plan.toml")
        assert shown.exit_code == 2, shown.output
        assert ledger.history() == before
    Path("plan.toml").write_text(f"{good}\n{second}")
    shown = run("run", "plan.toml")
    assert shown.exit_code == 0, shown.output


ATTACK = {
    "do": "attack",
    "model": "model",
    "members": "c.parquet",
    "non_members": "c.parquet",
    "target": "ill",
}
AUDIT = {"do": "audit", "claim": "model", "function": "json:dumps", "data": "c.parquet"}
PAGE = {"do": "dossier", "releases": ["model"]}
EVIDENCE: dict[str, dict[str, Any]] = {
    "model of": ATTACK | {"model": "none"},
    "members of": ATTACK | {"members": "absent"},
    "reference of": ATTACK | {"reference": "absent"},
    "attacks of": ATTACK | {"attacks": ["magic"]},
    "seed of": ATTACK | {"seed": -1},
    "claim of": AUDIT | {"claim": "none"},
    "data of": AUDIT | {"data": "absent"},
    "function must be": AUDIT | {"function": "no:no"},
    "design of": AUDIT | {"design": "magic"},
    "canaries of": AUDIT | {"canaries": 0},
    "releases of": PAGE | {"releases": ["modle"]},
    "audience of": PAGE | {"audience": "all"},
    "confidence of": PAGE | {"confidence": 1.5},
}
"""What is said of a step, and the step."""


@pytest.mark.parametrize("words", EVIDENCE)
def test_what_is_wrong_with_a_later_step_is_said_before_anything_is_spent(words: str) -> None:
    settings = {"name": "after", "output": "after.json"} | EVIDENCE[words]
    step = "\n".join(f"{name} = {json.dumps(value)}" for name, value in settings.items())
    Path("plan.toml").write_text(f"{PLAN.format(method='output')}\n[[step]]\n{step}\n")
    shown = run("run", "plan.toml")
    assert shown.exit_code == 2, shown.output
    assert words in shown.output
    assert charges() == 0


def test_an_empty_account_of_a_step_gives_way_to_the_corrected_step() -> None:
    """Opened by hand, and never charged."""
    with Ledger.open("budget.db") as ledger:
        ledger.account("clinic", name="plan/model", limit=ApproxDP(0.9, 1e-6))
    shown = run("run", "plan.toml", "--dry-run")
    assert shown.exit_code == 0, shown.output
    assert "in place of what was set aside" in shown.output
    shown = run("run", "plan.toml")
    assert shown.exit_code == 0, shown.output
    assert Release.load("out/result.holdfast").provenance.account.endswith("/plan/model~2")
    assert "(done)" in run("run", "plan.toml").output
    assert held() == "0 %"


def test_the_same_command_without_a_name_pays_again_when_all_was_written() -> None:
    for turn in (1, 2):
        shown = run(*COMMANDS["fit"], "--force")
        assert shown.exit_code == 0, shown.output
        assert "nothing was spent now" not in shown.output
        assert charges() == turn * WHOLE["fit"]
    assert run(*COMMANDS["fit, named"], "--force").exit_code == 0
    shown = run(*COMMANDS["fit, named"], "--force")
    assert shown.exit_code == 2, shown.output
    assert "another key" in shown.output
