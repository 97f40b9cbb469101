"""Attribute risk: all columns of Adult for a fitted model, and one column beside ART and anonymeter in the same run.

Run: python -m studies.benchmarks.attribute [--env FOLDER] [--save]. Peers live in an environment of their own; without
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
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from sklearn.tree import DecisionTreeClassifier

from holdfast import PrivateLogisticRegression, adult
from holdfast.attack import Attacker, Scoring, Target, attribute_risk
from holdfast.attack._attributes.people import People
from holdfast.data._schema import Categorical, Numeric, Schema

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
            f"{len(report)} columns, own people {', '.join(f'{size:,}' for size in report.results[0].sizes)}, "
            f"{report.results[0].outcome().members.size:,} members and as many fresh people: **{spent:.1f} s of "
            f"processor time** on one core, {wall:.1f} s by the clock at a load of {load:.1f}; the slowest column is "
            f"`{slowest.sensitive}` ({slowest.seconds:.1f} s by the clock).",
            "",
        ]
    )


NAMES = ("age", "education_num", "hours_per_week", "marital_status", "relationship", "sex", "income")


def encoded() -> tuple[Any, Any]:
    """Adult as numbers: few columns that all peers take; the response last."""
    parts = []
    for part in ("train", "test"):
        people = People.of(adult(part))
        parts.append(np.column_stack([people.batch.values[name].astype(float) for name in NAMES]))
    return parts[0], parts[1]


def one_hot(rows: Any) -> Any:
    """What the model takes: the secret as 0 and 1, numbers, and indicators of categories; without the response."""
    blocks = [rows[:, 5:6], rows[:, :3]]
    for place, kinds in ((3, 7), (4, 6)):
        blocks.append(np.eye(kinds)[rows[:, place].astype(int)])
    return np.column_stack(blocks)


def beside_peers(python: Path | None) -> tuple[str, list[str]]:
    """One binary column of a tree grown by heart, and of rows that are half copied; and versions of peers."""
    train, test = encoded()
    random = np.random.default_rng(0)
    train, test = train[random.permutation(len(train))[:4000]], test[random.permutation(len(test))]
    own, fresh, released = test[:OWN], test[OWN : OWN + 4000], test[OWN + 4000 : OWN + 6000].copy()
    rows = np.concatenate([released, train[:2000]])
    schema = Schema(
        [
            Categorical(name, list(range(1 + int(train[:, k].max()))))
            if name in CATEGORIES
            else Numeric(name, float(train[:, k].min()), float(train[:, k].max()) + 1.0)
            for k, name in enumerate(NAMES)
        ]
    )
    model = DecisionTreeClassifier(min_samples_leaf=2, random_state=0).fit(
        one_hot(train), train[:, -1].astype(int)
    )
    lines: list[dict[str, Any]] = []
    asked_as_rows = Target.of(model, prepare=lambda X: one_hot(as_rows(X)))
    releases: tuple[tuple[str, Any, str | None], ...] = (
        ("a model", asked_as_rows, "income"),
        ("rows", dict(zip(NAMES, rows.T, strict=True)), None),
    )
    for said, release, target in releases:
        told: dict[str, Any] = {
            "fresh": np.concatenate([fresh, own]),
            "sensitive": "sex",
            "schema": schema,
            "target": target,
            "scoring": Scoring(disclosure=False),
            "random_state": 0,
        }
        spent = time.process_time()
        risk = attribute_risk(release, train, attacker=Attacker(own=(OWN,)), **told)["sex"]
        spent = time.process_time() - spent
        lines.append({"peer": f"holdfast, {said}: all of these together", "seconds": spent})
        for name in ("imputer", *risk.attacks):
            start = time.process_time()
            attacker = Attacker(own=(OWN,), attacks=[risk.headline if name == "imputer" else name])
            attribute_risk(release, train, attacker=attacker, **told)
            lines.append(
                {
                    "peer": f"holdfast, {said}: {name}",
                    "seconds": time.process_time() - start,
                    "fresh": float(risk.outcome(name).accuracy()),
                    "members": risk.outcome(name).member_accuracy(),
                }
            )
    if python is None or not python.exists():
        lines.append({"peer": "ART, anonymeter", "missing": "no environment was given: --env FOLDER"})
        return table(lines), []
    groups = {"members": train, "fresh": fresh, "own": own}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "people.npz"
        np.savez(
            file,
            **groups,
            rows=rows,
            place=NAMES.index("sex"),
            coded_place=0,
            categories=[NAMES.index(name) for name in CATEGORIES],
            **{f"coded_{name}": one_hot(people) for name, people in groups.items()},
            **{f"labels_{name}": people[:, -1] for name, people in groups.items()},
        )
        done = subprocess.run(
            [str(python), str(HERE / "attribute_peers_worker.py"), str(file)],
            capture_output=True,
            text=True,
            check=False,
        )
    heard = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    lines += [one for one in heard if "peer" in one]
    if done.returncode:
        lines.append({"peer": "a peer", "missing": done.stderr.strip().splitlines()[-1][:100]})
    return table(lines), [one["version"] for one in heard if "version" in one]


def as_rows(asked: Any) -> Any:
    """A matrix, of what the model is asked with."""
    return np.asarray(asked, dtype=np.float64)


PAIRS = (
    ("holdfast, a model: imputer", "ART baseline with the label, rf", "without the model"),
    ("holdfast, a model: bayes", "ART black box, rf", "black box"),
    ("holdfast, a model: bayes", "ART black box, gb", "black box"),
    ("holdfast, a model: stacked", "ART black box, lr", "black box"),
    ("holdfast, a model: fredrikson", "ART white box, tree", "the model's own word"),
    ("holdfast, rows: closest_row", "anonymeter inference", "rows"),
)


def table(lines: list[dict[str, Any]]) -> str:
    """Accuracy on both groups, the difference, and processor time; then ratios of those that do the same."""
    text = [
        "## One column beside peers: `sex` of Adult",
        "",
        f"A decision tree with two people in a leaf, fitted to 4,000 people; rows of which half are copied from them; "
        f"{OWN:,} people of the attacker's own. All guessers on the model have the same: three numbers, marital status "
        "and relationship as one indicator for each category, the true label, the model and the same own people. "
        "Peers report no interval for members against others, and ART no fresh people at all: it was asked about both "
        "here. Seconds of one of our attacks hold the imputer that every report has; accuracy is of single guesses. "
        "anonymeter's rates are of its own 2,000 attacks, and its seconds hold the compiling of numba.",
        "",
        "| guesser | fresh | members | members - fresh | processor seconds |",
        "|---|---|---|---|---|",
    ]
    for one in lines:
        if "missing" in one:
            text.append(f"| {one['peer']} | not run: {one['missing']} | | | |")
        elif "fresh" not in one:
            text.append(f"| {one['peer']} | | | | {one['seconds']:.2f} |")
        else:
            text.append(
                f"| {one['peer']} | {one['fresh']:.3f} | {one['members']:.3f} | "
                f"{one['members'] - one['fresh']:+.3f} | {one['seconds']:.2f} |"
            )
    ran = {one["peer"]: one for one in lines if "fresh" in one}
    pairs = [(mine, peer, what) for mine, peer, what in PAIRS if mine in ran and peer in ran]
    if pairs:
        text += [
            "",
            "Ratios, peer to holdfast; above 1 in success is where the peer is right more often.",
            "",
            "| what | holdfast | peer | time | success, fresh | success, members |",
            "|---|---|---|---|---|---|",
        ]
        for mine, peer, what in pairs:
            ours, other = ran[mine], ran[peer]
            text.append(
                f"| {what} | {mine.split(': ')[1]} | {peer} | {other['seconds'] / ours['seconds']:.1f} | "
                f"{other['fresh'] / ours['fresh']:.3f} | {other['members'] / ours['members']:.3f} |"
            )
        text += ["", *words(ran)]
    return "\n".join([*text, ""])


CHANCE = 0.03
"""Two standard errors of a difference of two shares of 2,000 people each, at most."""


def words(ran: dict[str, dict[str, Any]]) -> list[str]:
    """Who is ahead, from the figures: on fresh people, and about members."""
    said = []
    models = {name: one for name, one in ran.items() if "rows" not in name and "anonymeter" not in name}
    measures: tuple[tuple[str, Callable[[dict[str, Any]], float]], ...] = (
        ("Right about fresh people most often", lambda one: one["fresh"]),
        ("The largest difference between members and others", lambda one: one["members"] - one["fresh"]),
    )
    for what, key in measures:
        ranked = sorted(models, key=lambda name: -key(models[name]))
        mine = next(name for name in ranked if name.startswith("holdfast"))
        theirs = next((name for name in ranked if name.startswith("ART")), None)
        if theirs is not None:
            apart = key(models[mine]) - key(models[theirs])
            ahead = "ours is ahead" if apart >= 0 else "theirs is ahead"
            said.append(
                f"{what}, among those who attack the model: of ours `{mine.split(': ')[1]}` ({key(models[mine]):.3f}), "
                f"of ART's `{theirs[4:]}` ({key(models[theirs]):.3f}); {ahead}"
                + (
                    f", by less than the {CHANCE} that chance allows 2,000 people in each group."
                    if abs(apart) < CHANCE
                    else "."
                )
            )
    return [f"{one}\n" for one in said]


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
        f"{platform.machine()}, {os.cpu_count()} cores, one thread. Made by `studies/benchmarks/attribute.py`, seed 0.",
        "",
    ]
    python = None if chosen.env is None else chosen.env / "bin" / "python"
    peers, versions = beside_peers(python)
    head[2] += f" Peers: {', '.join(versions)}." if versions else ""
    text = "\n".join([*head, peers, all_columns()])
    print(text)
    if chosen.save:
        RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
