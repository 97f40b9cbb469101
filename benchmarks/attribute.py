"""Attribute risk: all columns of Adult for a fitted model, and one column beside ART and anonymeter in the same run.

Run: python -m benchmarks.attribute [--env FOLDER] [--save]. Peers live in an environment of their own; without
--env, or where one is missing, its line says so. BLAS has one thread, so one column uses one core.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
import platform
import subprocess
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from sklearn.tree import DecisionTreeClassifier

from holdfast import PrivateLogisticRegression, adult
from holdfast.attack import attribute_risk
from holdfast.attack.attributes.people import People
from holdfast.data.schema import Categorical, Numeric, Schema

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "attribute.md"
OWN = 1_000
CATEGORIES = ("marital_status", "relationship", "sex", "income")


def all_columns() -> str:
    """Every column of Adult guessed in turn, at four sizes, by six attacks."""
    model = PrivateLogisticRegression(epsilon=1.0, delta=1e-6, random_state=0).fit(adult(), target="income")
    wall, spent = time.perf_counter(), time.process_time()
    report = attribute_risk(model, adult(), fresh=adult("test"), sensitive="all", random_state=0)
    wall, spent = time.perf_counter() - wall, time.process_time() - spent
    load = os.getloadavg()[0]
    slowest = max(report, key=lambda risk: risk.seconds)
    return "\n".join(
        [
            "## All columns of Adult, a fitted logistic regression",
            "",
            f"{len(report)} columns, own people {', '.join(f'{size:,}' for size in report.risks[0].sizes)}, "
            f"{report.risks[0].outcome().members.size:,} members and as many fresh people: **{spent:.1f} s of "
            f"processor time** on one core, {wall:.1f} s by the clock at a load of {load:.1f}; the slowest column is "
            f"`{slowest.sensitive}` ({slowest.seconds:.1f} s by the clock).",
            "",
        ]
    )  # fmt: skip


def encoded() -> tuple[Any, Any, list[str]]:
    """Adult as numbers: few columns that all peers take; the response last."""
    names = ["age", "education_num", "hours_per_week", "marital_status", "relationship", "sex", "income"]
    parts = []
    for part in ("train", "test"):
        people = People.of(adult(part))
        parts.append(np.column_stack([people.batch.values[name].astype(float) for name in names]))
    return parts[0], parts[1], names


def beside_peers(python: Path | None) -> str:
    """One binary column of a tree grown by heart, and of rows that are half copied."""
    train, test, names = encoded()
    random = np.random.default_rng(0)
    train, test = train[random.permutation(len(train))[:4000]], test[random.permutation(len(test))]
    own, fresh, released = test[:OWN], test[OWN : OWN + 4000], test[OWN + 4000 : OWN + 6000].copy()
    rows = np.concatenate([released, train[:2000]])
    place = names.index("sex")
    schema = Schema(
        [
            Categorical(name, list(range(1 + int(train[:, k].max())))) if name in CATEGORIES
            else Numeric(name, float(train[:, k].min()), float(train[:, k].max()) + 1.0)
            for k, name in enumerate(names)
        ]
    )  # fmt: skip
    model = DecisionTreeClassifier(min_samples_leaf=2, random_state=0).fit(
        train[:, :-1], train[:, -1].astype(int)
    )
    lines: list[dict[str, Any]] = []
    releases: tuple[tuple[str, Any, dict[str, Any]], ...] = (
        ("a model", model, {"target": "income", "classes": [0, 1]}),
        ("rows", dict(zip(names, rows.T, strict=True)), {}),
    )
    for said, release, more in releases:
        spent = time.process_time()
        risk = attribute_risk(
            release, train, fresh=np.concatenate([fresh, own]), sensitive="sex", schema=schema, sizes=(OWN,),
            random_state=0, **more,
        )["sex"]  # fmt: skip
        spent = time.process_time() - spent
        lines += [
            {
                "peer": f"holdfast, {said}: {name}", "seconds": spent, "fresh": float(risk.outcome(name).accuracy()),
                "members": risk.outcome(name).member_accuracy(),
            }
            for name in ("imputer", *risk.attacks)
        ]  # fmt: skip
    if python is None or not python.exists():
        lines.append({"peer": "ART, anonymeter", "missing": "no environment was given: --env FOLDER"})
    else:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "people.npz"
            np.savez(
                file,
                members=train,
                fresh=fresh,
                own=own,
                rows=rows,
                place=place,
                categories=[names.index(name) for name in CATEGORIES],
            )
            done = subprocess.run(
                [str(python), str(HERE / "attribute_peers_worker.py"), str(file)], capture_output=True, text=True,
                check=False,
            )  # fmt: skip
        lines += [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        if done.returncode:
            lines.append({"peer": "a peer", "missing": done.stderr.strip().splitlines()[-1][:100]})
    return table(lines)


def table(lines: list[dict[str, Any]]) -> str:
    """Accuracy on both groups, the difference, and processor time; holdfast's is for all its attacks together."""
    text = [
        "## One column beside peers: `sex` of Adult",
        "",
        f"A decision tree with two people in a leaf, fitted to 4,000 people; rows of which half are copied from them; "
        f"{OWN:,} people of the attacker's own. Peers report no interval for members against others, and ART no fresh "
        "people at all: it was asked about both here. Seconds of holdfast are for all its attacks on that release "
        "together; accuracy is of single guesses. anonymeter's rates are of its own 2,000 attacks.",
        "",
        "| guesser | fresh | members | members - fresh | processor seconds |",
        "|---|---|---|---|---|",
    ]
    for one in lines:
        if "missing" in one:
            text.append(f"| {one['peer']} | not run: {one['missing']} | | | |")
            continue
        text.append(
            f"| {one['peer']} | {one['fresh']:.3f} | {one['members']:.3f} | {one['members'] - one['fresh']:+.3f} | "
            f"{one['seconds']:.2f} |"
        )
    ran = {one["peer"]: one for one in lines if "missing" not in one}
    ours, peer = ran.get("holdfast, a model: bayes"), ran.get("ART black box, rf")
    text.append("")
    if ours and peer:
        text.append(
            f"ART's black-box attack takes {peer['seconds'] / ours['seconds']:.1f} times the time of all of ours; it "
            f"is right {peer['fresh'] / ours['fresh']:.2f} times as often about fresh people and shows "
            f"{100 * (peer['members'] - peer['fresh']):+.1f} points about members where `bayes` shows "
            f"{100 * (ours['members'] - ours['fresh']):+.1f}."
        )
    ours, peer = ran.get("holdfast, rows: closest_row"), ran.get("anonymeter inference")
    if ours and peer:
        text.append(
            f"anonymeter takes {peer['seconds'] / ours['seconds']:.1f} times the time of all our attacks on rows, and "
            f"shows {100 * (peer['members'] - peer['fresh']):+.1f} points about members where `closest_row` shows "
            f"{100 * (ours['members'] - ours['fresh']):+.1f}."
        )
    return "\n".join([*text, ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--env", type=Path)
    parser.add_argument("--save", action="store_true")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    head = [
        "# Attribute risk",
        "",
        f"Python {platform.python_version()}, NumPy {np.__version__}, scikit-learn {sklearn.__version__}, "
        f"{platform.machine()}, {os.cpu_count()} cores, one thread. Made by `benchmarks/attribute.py`, seed 0.",
        "",
    ]
    python = None if chosen.env is None else chosen.env / "bin" / "python"
    text = "\n".join([*head, beside_peers(python), all_columns()])
    print(text)
    if chosen.save:
        RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
