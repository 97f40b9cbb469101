"""Pure epsilon against diffprivlib, on Adult and Covertype; and, where it is installed, Opacus beside it.

Run: python -m benchmarks.learn_peers [--env FOLDER] [--rows 100000] [--seeds 5] [--opacus] [--save]. Peers live in
an environment of their own (made there if it is not), because diffprivlib 0.6.6 needs scikit-learn 1.7.2. Guarantee
of both sides: pure epsilon, one record replaced. Peers' fits are kept beside the environment and not made twice.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.learning_data import Split, adult, covertype

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "learn_peers.md"
EPSILONS = (0.05, 0.1, 0.5, 1.0, 4.0)
PINS = ("diffprivlib==0.6.6", "scikit-learn==1.7.2")
OPACUS = ("torch==2.13.0", "opacus")
SETTINGS = {"diffprivlib": (1.0, 0.1, 0.01), "opacus": (4.0, 16.0)}
THREADS = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
TABLES = {"adult": adult, "covertype": covertype}
Row = dict[float, list[tuple[float, float]]]
"""Epsilon to (accuracy, CPU seconds) of each fit."""


def first(table: Split, rows: int) -> Split:
    """The same with fewer training rows."""
    return replace(
        table, name=f"{table.name}, first {rows:,} training rows", train=table.train[:rows],
        train_labels=table.train_labels[:rows],
    )  # fmt: skip


def environment(folder: Path, packages: Sequence[str]) -> Path:
    """The interpreter of the peers' environment, made if it is not there."""
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", *packages], check=True)
    return python


def peer(
    python: Path, name: str, table: Any, key: str, seeds: int, *, metric: str = "accuracy"
) -> dict[float, Row]:
    """Setting to its row; fits that were made before are read back."""
    home = python.parents[1]
    rows, kept = home / f"{key}.npz", home / f"{key}-{name}.jsonl"
    if not rows.exists():
        np.savez(
            rows,
            rows=table.train,
            labels=table.train_labels,
            test_rows=table.test,
            test_labels=table.test_labels,
        )
    lines = [json.loads(line) for line in kept.read_text().splitlines()] if kept.exists() else []
    done = {(line["epsilon"], line["setting"], line["seed"]) for line in lines}
    jobs = [
        (e, s, k) for s in SETTINGS[name] for e in EPSILONS for k in range(seeds) if (e, s, k) not in done
    ]
    if jobs:
        command = [str(python), str(HERE / "learn_peers_worker.py"), name, str(rows), json.dumps(jobs)]
        with kept.open("a") as sink:
            subprocess.run(command, check=True, stdout=sink, env=os.environ | THREADS)
        lines = [json.loads(line) for line in kept.read_text().splitlines()]
    made: dict[float, Row] = {}
    for line in lines:
        if line["seed"] < seeds:
            row = made.setdefault(line["setting"], defaultdict(list))
            row[line["epsilon"]].append((line[metric], line["seconds"]))
    return made


def holdfast(table: Split, *, arithmetic: str, seeds: int, delta: float = 0.0) -> Row:
    """PrivateLogisticRegression by method='auto'; the constant is a column already."""
    from holdfast.learn import PrivateLogisticRegression

    row: Row = defaultdict(list)
    for epsilon in EPSILONS:
        for seed in range(seeds):
            start = time.process_time()
            model = PrivateLogisticRegression(
                epsilon=epsilon, delta=delta, classes=[-1.0, 1.0], fit_intercept=False, adjacency="replace",
                arithmetic=arithmetic, random_state=seed,
            ).fit(table.train, table.train_labels)  # fmt: skip
            seconds = time.process_time() - start
            row[epsilon].append((table.accuracy(model.coef_[0]), seconds))
    return row


def cells(row: Row) -> str:
    """Mean and standard deviation at each epsilon, then CPU seconds of a fit."""
    scores = {e: [accuracy for accuracy, _ in row[e]] for e in EPSILONS}
    seconds = [s for e in EPSILONS for _, s in row[e]]
    shown = [f"{statistics.mean(scores[e]):.4f} ± {statistics.pstdev(scores[e]):.4f}" for e in EPSILONS]
    return " | ".join([*shown, f"{statistics.median(seconds):.2f}"])


def mean(row: Row, epsilon: float) -> float:
    return statistics.mean(accuracy for accuracy, _ in row[epsilon])


def report(table: Split, key: str, python: Path, *, seeds: int, peers: Sequence[str]) -> str:
    """One data set's table."""
    ours = {a: holdfast(table, arithmetic=a, seeds=seeds) for a in ("strict", "idealised")}
    theirs = {name: peer(python, name, table, key, seeds) for name in peers}
    lines = [
        f"## {table.name}: n = {len(table.train):,}, d = {table.train.shape[1]}, {seeds} fits each", "",
        "| | " + " | ".join(f"{e:g}" for e in EPSILONS) + " | CPU s / fit |",
        "|---" * (len(EPSILONS) + 2) + "|",
        *(f"| holdfast, auto, {a}, pure, replace | {cells(row)} |" for a, row in ours.items()),
        *(
            f"| {name}, {'C' if name == 'diffprivlib' else 'step'} = {setting:g}"
            f"{'' if name == 'diffprivlib' else ', delta = n^-1.5, add or remove'} | {cells(row)} |"
            for name, made in theirs.items() for setting, row in made.items()
        ),
        "",
    ]  # fmt: skip
    for arithmetic, row in ours.items():
        for label, chosen in (
            ("diffprivlib's default C = 1", {1.0}),
            ("diffprivlib's best C, chosen on test data", set(SETTINGS["diffprivlib"])),
        ):
            made = theirs["diffprivlib"]
            gaps = [mean(row, e) - max(mean(made[s], e) for s in chosen) for e in EPSILONS]
            lines.append(f"- {arithmetic} minus {label}: " + ", ".join(f"{gap:+.4f}" for gap in gaps) + ".")
    return "\n".join([*lines, ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--env", type=Path, default=HERE.parent / ".bench" / "peers")
    parser.add_argument("--rows", type=int, default=100_000, help="of Covertype; 0 for all 464,809")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--opacus", action="store_true", help="also on Adult; installs PyTorch")
    parser.add_argument("--save", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    python = environment(options.env, [*PINS, *(OPACUS if options.opacus else ())])
    parts = []
    for name, load in TABLES.items():
        table = load()
        if name == "covertype" and options.rows:
            table = first(table, options.rows)
        peers = ["diffprivlib", *(["opacus"] if options.opacus and name == "adult" else [])]
        parts.append(report(table, f"{name}-{len(table.train)}", python, seeds=options.seeds, peers=peers))
        print(parts[-1], flush=True)
    text = "\n".join(
        [
            "# Pure epsilon: holdfast and its peers",
            "",
            "Made by `python -m benchmarks.learn_peers --save`. Test accuracy at each epsilon, mean and deviation",
            f"of the fits, one thread. Peers: {', '.join(PINS)}. Rows, split and ranges as in `learning_data.py`; the",
            "constant is a column. holdfast's rule reads public quantities only; a peer's best setting was chosen on",
            "test data, which is not private and not paid for here.",
            "",
            *parts,
        ]
    )
    if options.save:
        RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
