"""Findings E3, E5, E6 and E8: nothing paid for is lost, nothing is locked, commands end in words. Public names only."""

from __future__ import annotations

import os
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
from holdfast.privacy import Account, ApproxDP, Laplace, PureDP
from tests.paths import ROOT

TABLE = ("c.parquet", "--schema", "s.toml", "--ledger", "budget.db", "--dataset", "clinic")
FIT = ("fit", *TABLE, "--target", "ill", "--epsilon", "0.3", "--method", "output", "-o")
SYNTH = ("synth", *TABLE, "--epsilon", "0.3", "--delta", "1e-6", "--method", "independent", "--release")


@pytest.fixture(autouse=True)
def clinic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table, its schema and a ledger in the current folder."""
    monkeypatch.chdir(tmp_path)
    age = np.random.default_rng(3).integers(0, 100, 300)
    parquet.write_table(pa.table({"age": age, "ill": np.where(age > 50, "yes", "no")}), "c.parquet")
    Schema([Numeric("age", 0, 100, bins=4), Categorical("ill", ["no", "yes"])]).save("s.toml")
    with Ledger.create("budget.db") as ledger:
        ledger.dataset("clinic", limit=ApproxDP(1.0, 1e-6), currency="zcdp")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def kinds() -> list[str]:
    with Ledger.open("budget.db") as ledger:
        return [entry.kind for entry in ledger.history()]


@pytest.mark.parametrize("command", [FIT, SYNTH], ids=["fit", "synth"])
def test_e3_an_output_that_cannot_be_written_costs_nothing(command: tuple[str, ...]) -> None:
    assert run(*command, "absent/m.holdfast").exit_code == 2
    assert "charge" not in kinds()


@pytest.mark.parametrize("command", [FIT, SYNTH], ids=["fit", "synth"])
def test_e3_a_disk_that_fills_up_meanwhile_costs_no_second_payment(
    command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    link = os.link

    def full(temporary: Any, path: Any) -> None:
        if Path(path).name == "m.holdfast":
            raise OSError(28, "No space left on device")
        link(temporary, path)

    with monkeypatch.context() as patch:
        patch.setattr(os, "link", full)
        assert run(*command, "m.holdfast").exit_code == 2
    paid = kinds().count("charge")
    assert paid > 0
    assert run(*command, "m.holdfast").exit_code == 0
    assert kinds().count("charge") == paid


def test_e5_what_a_killed_process_holds_is_given_back_on_the_command_line() -> None:
    opening = "Ledger.open('budget.db').account('clinic', name='a')"
    code = f"import os; from holdfast.ledger import Ledger; {opening}; os._exit(9)"
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    assert subprocess.run([sys.executable, "-c", code], env=environment, check=False).returncode == 9
    assert run(*FIT, "m.holdfast").exit_code == 3
    assert run("ledger", "close", "budget.db", "a").exit_code == 0
    assert run(*FIT, "m.holdfast").exit_code == 0


def test_e5_a_corrected_plan_is_accepted() -> None:
    plan = (
        '[plan]\nledger = "budget.db"\ndataset = "clinic"\nsource = "c.parquet"\nschema = "s.toml"\n'
        '[[step]]\ndo = "fit"\nname = "model"\ntarget = "ill"\nepsilon = {}\nrow_norm = {}\noutput = "m.holdfast"\n'
    )
    Path("plan.toml").write_text(plan.format(0.5, -1.0))
    assert run("run", "plan.toml").exit_code == 2
    assert "account" not in kinds()
    Path("plan.toml").write_text(plan.format(0.4, 1.0))
    assert run("run", "plan.toml").exit_code == 0


@pytest.mark.parametrize("spec", ["pure:epsilon=abc", "pure:epsilon=1/0", "zcdp:rho=x", "gdp:mu=2/0"])
def test_e6_a_curve_that_cannot_be_read_is_refused(spec: str) -> None:
    shown = run("curve", spec)
    assert shown.exit_code == 2
    assert isinstance(shown.exception, SystemExit)


def test_e6_an_interrupt_is_no_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Ledger, "open", interrupted)
    assert run("ledger", "show", "budget.db").exit_code == 130


def test_e8_a_bad_option_leaves_no_ledger_behind() -> None:
    wrong = ("--dataset", "d", "--epsilon", "1", "--delta", "0", "--currency", "gdp")
    assert run("ledger", "init", "new.db", *wrong).exit_code == 2
    assert not Path("new.db").exists()


def test_e8_a_reader_that_leaves_is_no_error() -> None:
    gone, into = os.pipe()
    os.close(gone)
    done = subprocess.run(
        [sys.executable, "-m", "holdfast._cli.app", "ledger", "show", "budget.db"],
        stdout=into,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        check=False,
    )
    os.close(into)
    assert (done.returncode, done.stderr) == (0, b"")


class Interrupted(Laplace):
    """Never gets as far as a value."""

    def sample(self, *_: Any) -> Any:
        raise KeyboardInterrupt


def test_e8_an_interrupted_permit_is_not_recorded_as_released() -> None:
    account = Account(PureDP(1.0))
    with pytest.raises(KeyboardInterrupt):
        account.permit(Interrupted(scale=1.0, l1_sensitivity=1.0), times=1).release([0.0])
    assert [entry.state for entry in account.journal.entries] == ["charged"]
