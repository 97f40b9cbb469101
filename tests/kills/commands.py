"""Every command, as it is given in a folder with all that it needs; and the process in which it is run and killed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet

from holdfast.data import Categorical, Identifier, Numeric, Schema
from holdfast.ledger import Ledger, create_key
from holdfast.privacy import ApproxDP, PrivacyUnit
from tests.cli.arguments import PLAN, files, toml
from tests.paths import ROOT
from tests.signals import hear_signals

ROWS = "--ledger budget.db --dataset clinic --even-if-useless"
PEOPLE = ROWS.replace("clinic", "people")
QUERY = "select/**/count(*)/**/from/**/t"
LINES = (
    f"answer c.parquet {QUERY} --schema s.toml --epsilon 0.1 --release new.holdfast -o new.csv {ROWS}",
    "attack attribute c.parquet --schema s.toml --members c.csv --fresh c.parquet --sensitive ill -o new.json "
    "--json --plot new.svg",
    "attack disclosure c.parquet --schema s.toml --members c.csv --control c.parquet --number 5 -o new.txt "
    "--plot new.svg",
    "attack membership model.holdfast --members c.csv --non-members c.parquet --target ill --attacks loss -o new.json "
    "--json --plot new.svg",
    "attack synthetic c.parquet --schema s.toml --members c.csv --non-members c.parquet -o new.json --json "
    "--plot new.svg",
    "audit train:train --data rows.npy --epsilon 1 --adjacency add_remove --canaries 60 --seed 1 --plot new.svg --json",
    "compare a.holdfast model.holdfast -o new.html",
    "curve gaussian:sigma=2*3 --plot new.svg",
    "demo -o new",
    "dossier model.holdfast -o new.html --ledger budget.db",
    "dossier model.holdfast -o old.html --ledger budget.db --force",
    "evaluate c.parquet --against c.csv --schema s.toml -o new.html",
    f"fit c.parquet --schema s.toml --target ill --epsilon 0.1 --method output -o new.holdfast --weights w.json {ROWS}",
    f"fit u.parquet --schema u.toml --target ill --epsilon 0.1 --method output --account june -o new.holdfast {PEOPLE}",
    f"fit c.parquet --schema s.toml --target ill --epsilon 0.1 --method noisy_gd -o new.holdfast {ROWS}",
    "fit c.parquet --schema s.toml --target ill --epsilon 0.1 --delta 0 --method output -o new.holdfast "
    "--weights new.json --even-if-useless",
    "ledger approve budget.db --key officer.pem --account model --approver R",
    "ledger close budget.db open --force",
    "ledger export budget.db -o new.jsonl",
    "ledger extract budget.db --key officer.pem --dataset clinic -o new.json",
    "ledger history budget.db",
    "ledger init new.db --dataset clinic --epsilon 1",
    "ledger key new.pem",
    "ledger show budget.db",
    "ledger sign budget.db --key officer.pem -o new.json",
    "ledger verify budget.db",
    "plan --rows 100 --columns 4 --epsilon 1 --delta 1e-6",
    "recommend s.toml --target ill --rows 60 --epsilon 1",
    "run plan.toml",
    "run contradicted.toml --json",
    "schema check c.csv s.toml --internal",
    "schema draft c.csv -o new.toml",
    "schema show s.toml",
    "sign model.holdfast page.html --key officer.pem",
    f"synth c.parquet --schema s.toml --epsilon 0.1 --method independent --release new.holdfast -o new.csv {ROWS}",
    f"synth u.parquet --schema u.toml --epsilon 0.1 --method independent --account july -o new.parquet {PEOPLE}",
    "synth c.parquet --schema s.toml --epsilon 0.1 --method independent --release new.holdfast -o new.arrow "
    "--even-if-useless",
    "verify page.html --release model.holdfast --ledger budget.db",
)


def name_of(line: str) -> str:
    """The command, and which of its lines it is."""
    command = line.split()[:2] if line.startswith(("attack", "ledger", "schema")) else line.split()[:1]
    alike = [other for other in LINES if other.split()[: len(command)] == command]
    return " ".join(command) + (f" {alike.index(line) + 1}" if len(alike) > 1 else "")


def furnish(folder: Path) -> None:
    """All files that the commands read."""
    files(folder)
    for broken in ("closed", "ring"):
        (folder / broken).unlink()
    create_key(folder / "officer.pem")
    people = parquet.read_table(folder / "c.parquet")
    who = pa.array([f"patient {place // 3}" for place in range(people.num_rows)])
    parquet.write_table(people.append_column("who", who), folder / "u.parquet")
    columns: list[Any] = [
        Numeric("age", 0, 100, bins=4),
        Categorical("ill", ["no", "yes"]),
        Identifier("who"),
    ]
    Schema(columns, unit=PrivacyUnit("who", 1)).save(folder / "u.toml")
    shutil.copy(folder / "page.html", folder / "old.html")
    audit = PLAN["audit"] | {"rows": "public"}
    (folder / "plan.toml").write_text(toml(PLAN | {"audit": audit}))
    audit = PLAN["audit"] | {"data": "wide.npy", "canaries": 60, "rows": "public"}
    (folder / "contradicted.toml").write_text(toml(PLAN | {"audit": audit}))
    np.save(folder / "wide.npy", np.zeros((5, 64)))
    with Ledger.open(folder / "budget.db") as ledger:
        ledger.dataset("people", limit=ApproxDP(1.0, 1e-6), currency="zcdp", unit=PrivacyUnit("who", 1))
        ledger.account("clinic", name="open", limit=ApproxDP(0.01, 1e-6))


@dataclass(frozen=True)
class Ended:
    """How a command ended: its code, negative where a signal ended it, and the calls that it made."""

    code: int
    calls: int
    shown: str
    journal: tuple[tuple[str, ...], ...]

    @property
    def was_killed(self) -> bool:
        return self.code == -signal.SIGKILL


class Warm:
    """The process that forks for each command."""

    def __init__(self, process: subprocess.Popen[str], folder: Path) -> None:
        self._process, self._folder = process, folder

    def run(self, line: str, folder: Path, *, before: int = 0, number: int = signal.SIGKILL) -> Ended:
        """Run a command in a folder; the signal comes before this call."""
        temporary = folder.parent / "temporary"
        temporary.mkdir(exist_ok=True)
        shown, journal = self._folder / "shown", self._folder / "journal"
        job: dict[str, Any] = {
            "folder": str(folder),
            "temporary": str(temporary),
            "words": line.split(),
            "before": before,
            "signal": int(number),
            "shown": str(shown),
            "journal": str(journal),
        }
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        calls = journal.read_text(errors="replace").splitlines() if journal.exists() else []
        return Ended(
            answer["code"],
            answer["calls"],
            shown.read_text(errors="replace"),
            tuple(tuple(call.split("\t")) for call in calls),
        )


@contextmanager
def warm_process(folder: Path, compiler: str) -> Iterator[Warm]:
    """The process, with what stands between it and the C library."""
    shim = folder / "calls.so"
    source = Path(__file__).with_name("calls.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", str(shim), str(source), "-ldl"], check=True)
    one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    where = {"LD_PRELOAD": str(shim), "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.kills.warm"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=hear_signals,
        env=os.environ | one_thread | where | {"PYTHONDONTWRITEBYTECODE": "1"},
    )
    try:
        yield Warm(process, folder)
    finally:
        assert process.stdin is not None
        process.stdin.close()
        process.wait(timeout=60)
        assert process.stdout is not None
        process.stdout.close()
