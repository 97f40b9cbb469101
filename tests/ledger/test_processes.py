"""Many processes, killed processes. Run as a module, this file is the driver of those processes."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from holdfast.errors import BudgetExceeded
from holdfast.ledger import Ledger
from holdfast.privacy import Laplace, PureDP
from tests.paths import ROOT
from tests.studies.size import Study, trials

PROCESSES, ATTEMPTS, AFFORDABLE = 16, trials(1_000), trials(1_000)
KILLS = trials(200)
DRIVER = [sys.executable, "-m", "tests.ledger.test_processes"]
NOISE = Laplace(scale=1000.0, l1_sensitivity=1.0)  # epsilon 1/1000


@pytest.mark.slow
def test_sixteen_processes_with_a_thousand_charges_each_never_exceed_the_budget(
    tmp_path: Path, study: Study
) -> None:
    path = tmp_path / "ledger.db"
    with Ledger.create(path) as ledger:
        # Half a charge more than 1,000 of them (or 100): the next must be refused, whoever asks.
        ledger.dataset("d", limit=PureDP(Fraction(2 * AFFORDABLE + 1, 2000)))
        ledger.account("d", name="a")
    done = subprocess.run(
        [*DRIVER, "crowd", str(path)], cwd=ROOT, capture_output=True, check=False, text=True
    )
    assert done.returncode == 0, done.stderr
    outcomes = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(outcomes) == PROCESSES
    assert sum(charged for charged, _ in outcomes) == AFFORDABLE
    assert sum(refused for _, refused in outcomes) == PROCESSES * ATTEMPTS - AFFORDABLE
    with Ledger.open(path) as ledger:
        assert ledger.spent("d") == PureDP(Fraction(AFFORDABLE, 1000))
        kinds = [entry.kind for entry in ledger.history()]
    assert kinds.count("charge") == AFFORDABLE
    assert kinds.count("refusal") == PROCESSES * ATTEMPTS - AFFORDABLE
    study.note(processes=PROCESSES, attempts_each=ATTEMPTS, accepted=AFFORDABLE)


@pytest.mark.slow
def test_two_hundred_kills_lose_no_charge_and_pay_nothing_twice(tmp_path: Path, study: Study) -> None:
    path, side = tmp_path / "ledger.db", tmp_path / "values"
    with Ledger.create(path) as ledger:
        ledger.dataset("d", limit=PureDP(1000.0))
        ledger.account("d", name="a")
    done = subprocess.run(
        [*DRIVER, "killed", str(path), str(side)],
        cwd=ROOT,
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    released = dict(json.loads(line) for line in side.read_text().splitlines() if line.endswith("]"))
    with Ledger.open(path) as ledger:  # it opens and verifies
        charged = [e.body["key"] for e in ledger.history() if e.kind == "charge"]
        assert len(charged) == len(set(charged))  # nothing was paid twice
        assert set(released) <= set(charged)  # no value without its charge
        assert len(released) >= KILLS / 4  # or the test would say little
        account = ledger.account("d", name="a")
        before = account.spent()
        for key in charged:
            again = account.release(NOISE, [0.0], key=key)  # goes on where a process was killed
            assert key not in released or np.array_equal(again, released[key])
        assert account.spent() == before
        assert ledger.verify().ok
    study.note(kills=KILLS, released=len(released), charged=len(charged))


# The driver. Children are forked, so that they start in no time and can be killed anywhere.


def crowd(path: str) -> None:
    """Sixteen children; each prints how many of its charges were accepted and refused."""
    children = []
    for _ in range(PROCESSES):
        child = os.fork()
        if child == 0:
            account = Ledger.open(path, timeout_s=300).account("d", name="a")
            refused = 0
            for _ in range(ATTEMPTS):
                try:
                    account.permit(NOISE, times=1)  # the charge alone
                except BudgetExceeded:
                    refused += 1
            os.write(1, f"[{ATTEMPTS - refused}, {refused}]\n".encode())
            os._exit(0)
        children.append(child)
    for child in children:
        assert os.waitpid(child, 0)[1] == 0


def killed(path: str, side: str) -> None:
    """One child after another releases, notes what it got, and is killed at a random moment."""
    draw = random.Random(5)
    with Ledger.open(path) as ledger:  # loads every module before the first fork, and takes the time
        account, start = ledger.account("d", name="a"), time.perf_counter()
        for number in range(20):
            account.release(NOISE, [0.0], key=f"first/{number}")
        usual = (time.perf_counter() - start) / 20
    for turn in range(KILLS):
        ready, begin = os.pipe()
        child = os.fork()
        if child == 0:
            account = Ledger.open(path, check="tail").account("d", name="a")
            notes = os.open(side, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
            os.write(begin, b"!")
            number = 0
            while True:
                # Turns in groups of three go on with the keys of the turn before.
                key = f"{turn - turn % 3}/{number}"
                value = account.release(NOISE, [float(number)], key=key)
                os.write(notes, (json.dumps([key, value.tolist()]) + "\n").encode())
                number += 1
        if turn % 5:  # every fifth turn may be killed while it opens the ledger
            os.read(ready, 1)
        time.sleep(draw.uniform(0.0, 5 * usual))
        os.kill(child, signal.SIGKILL)
        assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
        os.close(ready)
        os.close(begin)
        # The chain only grows: a check in full now and then, and at the end, sees every kill.
        Ledger.open(path, check="tail" if turn % 20 else "full").close()


if __name__ == "__main__":
    if sys.argv[1] == "crowd":
        crowd(sys.argv[2])
    else:
        killed(sys.argv[2], sys.argv[3])
