"""Singling out, linkability and inference from synthetic rows: holdfast beside anonymeter, in time and success.

Run: python -m studies.benchmarks.disclosure [--env FOLDER] [--attacks 500] [--save]. anonymeter lives in an
environment of its own (made there if it is not). One thread each. Members and control are drawn from Adult's
training and test rows.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
import platform
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv as csv
import pyarrow.parquet as parquet
from studies.benchmarks.learning_data import environment
from studies.benchmarks.public_data import data_file

from holdfast.attack import ATTACKS, synthetic_disclosure
from holdfast.data._datasets import adult_schema
from holdfast.synth import Synthesizer

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "disclosure.md"
PINS = ("anonymeter==1.1.0",)
COLUMNS = ("age", "workclass", "education", "marital_status", "occupation", "race", "sex", "hours_per_week")
SECRET = "marital_status"
ROWS = 3_000
SEED = 7


def tables() -> dict[str, Any]:
    """Members, a control group, and three releases of the members: copies, a private synthesis, other people."""
    everybody = parquet.read_table(data_file("adult_train.parquet"), columns=list(COLUMNS))
    order = np.random.default_rng(SEED).permutation(everybody.num_rows)
    members, control, others = (everybody.take(order[ROWS * k : ROWS * (k + 1)]) for k in range(3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = Synthesizer(epsilon=1.0, delta=1e-6, columns=list(COLUMNS), random_state=SEED).fit(
            members, adult_schema().select(*COLUMNS)
        )
        private = made.sample()
    copies = members.take(np.random.default_rng(SEED + 1).permutation(ROWS)[: ROWS // 2])
    half = _joined(copies, others.slice(0, ROWS // 2))
    return {
        "members": members,
        "control": control,
        "releases": {"half of the members copied": half, "holdfast, ε = 1": private, "other people": others},
    }


def _joined(first: Any, second: Any) -> Any:
    import pyarrow as pa

    return pa.concat_tables([first, second])


def ours(rows: Any, found: dict[str, Any], attacks: int) -> dict[str, tuple[Any, float]]:
    """Results by name, each with its CPU seconds; inference is made for all columns, and one of them counted."""
    schema = adult_schema().select(*COLUMNS)
    made: dict[str, tuple[Any, float]] = {}
    for attack in (attack for attack in ATTACKS if attack.kind == "disclosure"):
        begin = time.process_time()
        report = synthetic_disclosure(
            rows,
            members=found["members"],
            control=found["control"],
            schema=schema,
            number=attacks,
            attacks=[attack],
            confidence=0.985,
            random_state=SEED,
        )
        results = list(report)
        seconds = (time.process_time() - begin) / len(results)
        made |= {result.attack: (result, seconds) for result in results}
    return made


def theirs(python: Path, rows: Any, found: dict[str, Any], attacks: int) -> list[dict[str, Any]]:
    """anonymeter's lines, with the columns divided as ours are."""
    order = np.random.default_rng(SEED).permutation(len(COLUMNS))
    halves = [",".join(COLUMNS[c] for c in sorted(part)) for part in (order[:4].tolist(), order[4:].tolist())]
    with tempfile.TemporaryDirectory() as folder:
        for name, table in (("rows", rows), ("members", found["members"]), ("control", found["control"])):
            csv.write_csv(table.select(list(COLUMNS)), Path(folder) / f"{name}.csv")
        command = [
            str(python),
            str(HERE / "disclosure_peers_worker.py"),
            folder,
            str(attacks),
            str(SEED),
            SECRET,
            *halves,
        ]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        sys.stderr.write(done.stderr[-2000:])
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def main() -> None:
    """Every release, both tools, one table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--env", type=Path, default=Path(tempfile.gettempdir()) / "holdfast-anonymeter")
    parser.add_argument("--attacks", type=int, default=500)
    parser.add_argument("--save", action="store_true")
    given = parser.parse_args()
    python = environment(given.env, PINS)
    found = tables()
    lines = [
        "# Disclosure by synthetic rows: holdfast and anonymeter",
        "",
        f"{ROWS:,} members, {ROWS:,} people as control, eight columns of Adult, {given.attacks} attacks of each kind "
        f"on each group, seed {SEED}. Python "
        f"{platform.python_version()}, NumPy {np.__version__}, {PINS[0]} with its own versions; {platform.machine()}, "
        "one thread each, CPU seconds. Risk with limits at 95 % (ours share the error among all results of a kind "
        "and take a third of it for each kind, and are wider for it). anonymeter's seconds hold the "
        "compiling of numba.",
        "",
        "| rows | attack | holdfast: members, control | risk | anonymeter: members, control | risk "
        "| seconds: ours, theirs |",
        "|---|---|---|---|---|---|---|",
    ]
    ratios = []
    for name, rows in found["releases"].items():
        mine = ours(rows, found, given.attacks)
        for line in theirs(python, rows, found, given.attacks):
            own, seconds = mine[line["attack"]]
            low, high = own.limits
            ratios.append(line["seconds"] / seconds)
            lines.append(
                f"| {name} | {line['attack']} | {own.rate('members'):.3f}, {own.rate('control'):.3f} | {own.risk:+.3f} "
                f"[{low:+.3f}, {high:+.3f}] | {line['members']:.3f}, {line['control']:.3f} | {line['risk']:.3f} "
                f"[{line['low']:.3f}, {line['high']:.3f}] | {seconds:.2f}, {line['seconds']:.2f} |"
            )
    if ratios:
        lines += [
            "",
            f"anonymeter takes {min(ratios):.1f} to {max(ratios):.1f} times as much CPU time (median "
            f"{np.median(ratios):.1f}).",
        ]
    lines += [
        "",
        "What differs: anonymeter cuts risks off at 0 and uses Wilson's limits with error propagation, ours are exact "
        "and may be negative; it corrects lucky descriptions for the size of the control group by a fitted "
        "curve, we cut both groups "
        "to one size; its singling out takes three columns always, ours one to three.",
    ]
    text = "\n".join(lines) + "\n"
    sys.stdout.write(text)
    if given.save:
        RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
