"""Finding E5: what a dead process holds can be given back, and what a live one holds is not taken from it."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from holdfast._cli.app import app
from holdfast.errors import BudgetExceeded, LedgerError
from holdfast.ledger import Ledger
from holdfast.ledger import _holder as holder
from holdfast.ledger._holder import Holder
from holdfast.privacy import Laplace, PureDP
from tests.paths import ROOT

HALF = Laplace(scale=2.0, l1_sensitivity=1.0)
CHILD = """
import sys
from holdfast.ledger import Ledger
from holdfast.privacy import Laplace
account = Ledger.open(sys.argv[1]).account("d", name="all")
account.release(Laplace(scale=2.0, l1_sensitivity=1.0), [0.0])
print("open", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with Ledger.create(tmp_path / "l.db") as ledger:
        ledger.dataset("d", limit=PureDP(1.0))
    return tmp_path / "l.db"


def close(path: Path, *arguments: str) -> Result:
    return CliRunner().invoke(app, ["ledger", "close", str(path), *arguments])


def child(path: Path) -> subprocess.Popen[str]:
    """A process that has opened an account on everything and spent half of it."""
    running = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
    )
    assert running.stdout is not None
    assert running.stdout.readline() == "open\n"
    return running


@pytest.mark.parametrize("how", [("all",), ("--abandoned",)])
def test_a_live_process_keeps_its_account_and_a_dead_one_does_not(path: Path, how: tuple[str, ...]) -> None:
    with child(path) as running:
        shown = close(path, *how)
        if how == ("all",):
            assert shown.exit_code == 2, shown.output
            assert f"process {running.pid}" in shown.output
            assert "--force" in shown.output
        with Ledger.open(path) as ledger:
            assert ledger.abandoned_accounts("d") == ()
            assert not [entry for entry in ledger.history() if entry.kind == "close"]
            with pytest.raises(BudgetExceeded, match=r"nothing is left of dataset 'd'$"):
                ledger.account("d", name="mine")
        running.kill()
    with Ledger.open(path) as ledger:
        assert ledger.abandoned_accounts("d") == ("all",)
        assert "its process is gone" in ledger.summary()
        with pytest.raises(BudgetExceeded, match="ledger close --abandoned"):
            ledger.account("d", name="mine")
    shown = close(path, *how)
    assert shown.exit_code == 0, shown.output
    assert "closed: all" in shown.output
    with Ledger.open(path) as ledger:
        assert ledger.spent("d") == PureDP(0.5)  # what was spent stays spent
        assert ledger.remaining("d") == PureDP(0.5)  # and the rest is back
        assert ledger.history()[-1].body["reason"] == "closed on the command line"
        assert ledger.verify().ok


def test_force_closes_the_account_of_a_live_process_which_can_then_charge_nothing(path: Path) -> None:
    with Ledger.open(path) as mine:
        account = mine.account("d", name="all")
        done = subprocess.run(
            [sys.executable, "-m", "holdfast._cli.app", "ledger", "close", str(path), "all"],
            capture_output=True,
            text=True,
            env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
            check=False,
        )
        assert (done.returncode, "--force" in done.stderr) == (2, True)
        done = subprocess.run(
            [sys.executable, "-m", "holdfast._cli.app", "ledger", "close", str(path), "all", "--force"],
            capture_output=True,
            text=True,
            env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
            check=False,
        )
        assert done.returncode == 0, done.stderr
        with pytest.raises(LedgerError, match="closed"):
            account.release(HALF, [0.0])
        assert mine.remaining("d") == PureDP(1.0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_fork_that_charges_is_noted(path: Path) -> None:
    ledger = Ledger.open(path)
    account = ledger.account("d", name="all")
    asked, told = os.pipe()
    number = os.fork()
    if number == 0:
        try:
            account.release(HALF, [0.0])
        finally:
            os.write(told, b"!")
            os._exit(0)
    os.read(asked, 1)
    os.waitpid(number, 0)
    with ledger._store.reading() as chain:
        assert [one.process for one in holder.other_holders(chain, "all")] == [number]
        assert holder.other_living_holder(chain, "all") is None


def test_who_is_alive() -> None:
    here = Holder.this()
    assert here.alive is True
    assert replace(here, host="elsewhere").alive is None
    if here.started:
        boot, space, start = here.started.split("/")
        assert replace(here, started=f"{boot}/{space}/1{start}").alive is False  # the number was used again
        assert replace(here, started=f"older/{space}/{start}").alive is False
        assert replace(here, started=f"{boot}/pid:[1]/{start}").alive is None
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    assert Holder(here.host, gone.pid, "").alive in (False, None)
    assert replace(here, process=gone.pid).alive is False or not here.started


@pytest.mark.skipif(not Holder.this().started, reason="starts of processes are told on Linux")
def test_a_process_that_ended_and_was_not_asked_for_is_dead() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as running:
        assert running.stdin is not None
        start = holder._start_of(running.pid)
        boot, space, _ = Holder.this().started.split("/")
        other = replace(Holder.this(), process=running.pid, started=f"{boot}/{space}/{start}")
        assert other.alive is True
        running.stdin.write(b"\n")
        running.stdin.close()
        while ") Z " not in Path(f"/proc/{running.pid}/stat").read_text():
            time.sleep(0.01)
        assert other.alive is False


@pytest.mark.parametrize("statement", ["DELETE FROM holders", "UPDATE holders SET host = 'elsewhere'"])
def test_where_it_cannot_be_told_force_is_needed(path: Path, statement: str) -> None:
    """Where the notes are gone nothing is said, and of another machine nothing can be seen."""
    with Ledger.open(path) as ledger:
        ledger.account("d", name="all")
    with closing(sqlite3.connect(path)) as file, file:
        file.execute(statement)
    assert close(path, "--abandoned").exit_code == 0
    shown = close(path, "all")
    assert shown.exit_code == 2, shown.output
    assert "--force" in shown.output
    assert close(path, "all", "--force").exit_code == 0
    with Ledger.open(path) as ledger:
        assert ledger.remaining("d") == PureDP(1.0)
        ledger.account("d", name="next")  # and the note is kept again
        with ledger._store.reading() as chain:
            assert chain.holders("next")


@pytest.mark.parametrize(
    "wrong", [(), ("all", "--abandoned"), ("nobody",), ("nobody", "--force"), ("\udcff",)]
)
def test_what_to_close_must_be_said(path: Path, wrong: tuple[str, ...]) -> None:
    assert close(path, *wrong).exit_code == 2
