"""Membership attacks: the overfitted forest against the bars and ART, Location-30 and Adult, shadow-model times.

Run: python -m studies.benchmarks.attack [--env FOLDER] [--seeds 5] [--only forest|location|adult|shadows] [--save].
ART lives in an environment of its own (made there if it is not). BLAS has one thread; forests and reference models
use two.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
import platform
import resource
import statistics
import subprocess
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as parquet
import sklearn
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from studies.benchmarks.learning_data import adult, environment
from studies.benchmarks.public_data import data_file

from holdfast.attack import (
    AttackReport,
    MembershipResult,
    Records,
    ShadowModels,
    membership,
    reference_models,
)
from holdfast.learn import PrivateLogisticRegression

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "attack.md"
PINS = ("adversarial-robustness-toolbox==1.20.1", "packaging", "scikit-learn==1.6.1")
BARS = {"lira": (0.975, 0.75), "rmia": (0.975, 0.0)}
JOBS = 2
Pair = tuple[Any, Any]


def forest_data(seed: int, count: int = 1500) -> tuple[Pair, Pair]:
    """20 features, 10 of them informative, two classes, 20 % of the labels redrawn; members and non-members."""
    X, y = make_classification(
        2 * count, n_features=20, n_informative=10, n_classes=2, flip_y=0.2, random_state=seed
    )
    return (X[:count], y[:count]), (X[count:], y[count:])


def art(python: Path, members: Pair, others: Pair, seed: int) -> dict[str, MembershipResult]:
    """ART's black-box attacks, in its own environment."""
    file = python.parents[1] / f"forest-{seed}.npz"
    np.savez(file, rows=np.vstack([members[0], others[0]]), labels=np.concatenate([members[1], others[1]]))
    command = [str(python), str(HERE / "attack_peers_worker.py"), str(file), str(seed), "rf", "gb"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return {
        f"ART black-box, {line['kind']}": MembershipResult(
            attack=line["kind"],
            member_scores=line["members"],
            non_member_scores=line["others"],
            seconds=line["seconds"],
        )
        for line in lines
    }


def forest(python: Path, seeds: int) -> str:
    """The bars: mean over seeds, and whether they are met."""
    found: dict[str, list[MembershipResult]] = {}
    accuracy = []
    for seed in range(seeds):
        members, others = forest_data(seed)
        model = RandomForestClassifier(random_state=seed).fit(*members)
        accuracy.append((model.score(*members), model.score(*others)))
        report = membership(
            model,
            members=members,
            non_members=others,
            shadows=ShadowModels(count=16, jobs=JOBS),
            random_state=seed,
        )
        for name, result in ({r.attack: r for r in report} | art(python, members, others, seed)).items():
            found.setdefault(name, []).append(result)
        print(f"seed {seed}: lira {report['lira'].auc:.4f} {report['lira'].tpr_at(0.01):.3f}", flush=True)
    lines = [
        f"## The overfitted forest: 1500 members, 1500 non-members, 16 reference models, {seeds} seeds",
        "",
        f"`make_classification`, 20 features (10 informative), 20 % label noise; a forest of 100 trees, accuracy "
        f"{statistics.mean(a for a, _ in accuracy):.2f} on members and {statistics.mean(b for _, b in accuracy):.2f} "
        "on others. ART's attacks are trained on half of the true members, ours see nobody's membership. Mean (least).",
        "",
        "| attack | AUC | found at 1 % false alarms | at 0.1 % | seconds | bar |",
        "|---|---|---|---|---|---|",
    ]
    for name, results in found.items():
        areas = [r.auc for r in results]
        one, tenth = ([float(r.tpr_at(rate)) for r in results] for rate in (0.01, 0.001))
        bar = ""
        if name in BARS:
            met = statistics.mean(areas) >= BARS[name][0] and statistics.mean(one) >= BARS[name][1]
            bar = (
                f"AUC {BARS[name][0]}"
                + (f", {BARS[name][1]} at 1 %" if BARS[name][1] else "")
                + (": met" if met else ": MISSED")
            )
        lines.append(
            f"| {name} | {_mean(areas)} | {_mean(one)} | {_mean(tenth)} | "
            f"{statistics.mean(r.seconds for r in results):.1f} | {bar} |"
        )
    return "\n".join([*lines, ""])


def _mean(values: list[float]) -> str:
    return f"{statistics.mean(values):.3f} ({min(values):.3f})"


def location30() -> tuple[Pair, Pair, Pair]:
    """1,600 members, 1,600 non-members, 1,810 others, by a permutation of seed 0."""
    file = parquet.read_table(data_file("location30.parquet"))
    names = [name for name in file.column_names if name != "label"]
    X = np.column_stack([file[name].to_numpy() for name in names]).astype(np.float64)
    y = file["label"].to_numpy().astype(int)
    order = np.random.default_rng(0).permutation(len(y))
    first, second, third = np.split(order, [1600, 3200])
    return (X[first], y[first]), (X[second], y[second]), (X[third], y[third])


def adult_people() -> tuple[Pair, Pair]:
    """The training file's rows as members, the test file's as non-members."""
    table = adult()
    return (table.train, table.train_labels), (table.test, table.test_labels)


def table(title: str, report: AttackReport[MembershipResult], seconds: float, *, more: str = "") -> str:
    """One model's attacks; seconds of attacks with reference models include training them."""
    rows = [
        f"| {r.attack} | {r.auc:.4f} | {r.tpr_at(0.01).summary()} | {r.tpr_at(0.001).summary()} | "
        f"{r.advantage:.3f} | {r.seconds:.2f} | {r.verdict()} |"
        for r in report
    ]
    return "\n".join(
        [
            f"### {title}",
            "",
            f"{more}All attacks together: {seconds:.1f} s.",
            "",
            "| attack | AUC | found at 1 % | found at 0.1 % | advantage | seconds | verdict |",
            "|---|---|---|---|---|---|---|",
            *rows,
            "",
        ]
    )


def attacked(title: str, model: Any, members: Pair, others: Pair, **more: Any) -> str:
    """Fit, attack, and say how good the model is."""
    model.fit(*members)
    start = time.perf_counter()
    report = membership(
        model,
        members=members,
        non_members=others,
        shadows=ShadowModels(count=16, jobs=JOBS),
        random_state=0,
        **more,
    )
    seconds = time.perf_counter() - start
    print(title, f"{seconds:.1f} s", report.table(), sep="\n", flush=True)
    accuracy = f"Accuracy {model.score(*members):.3f} on members, {model.score(*others):.3f} on others. "
    return table(title, report, seconds, more=accuracy)


def location() -> str:
    members, others, more = location30()
    classes = list(range(1, 31))
    parts = [
        attacked(name, model, members, others, reference=more)
        for name, model in (
            ("Location-30, logistic regression (C = 10)", LogisticRegression(C=10.0, max_iter=300)),
            ("Location-30, forest of 100 trees", RandomForestClassifier(random_state=0)),
            (
                "Location-30, private logistic regression, epsilon 1, delta 1e-6",
                PrivateLogisticRegression(1.0, 1e-6, row_norm=10.0, classes=classes, random_state=0),
            ),
        )
    ]
    return "## Location-30: 1,600 members, 1,600 non-members, 1,810 others\n\n" + "\n".join(parts)


def adults() -> str:
    members, others = adult_people()
    parts = [
        attacked(name, model, members, others)
        for name, model in (
            ("Adult, logistic regression", LogisticRegression(max_iter=200)),
            ("Adult, forest of 50 trees", RandomForestClassifier(50, random_state=0)),
            (
                "Adult, private logistic regression, epsilon 1, delta 1e-6",
                PrivateLogisticRegression(1.0, 1e-6, classes=[-1.0, 1.0], random_state=0),
            ),
        )
    ]
    return "## Adult: 32,561 members, 16,281 non-members\n\n" + "\n".join(parts)


def shadows() -> str:
    """64 logistic reference models on all of Adult: the bar is 60 s on two cores."""
    members, others = adult_people()
    records = Records.of(members, "members").join(Records.of(others, "others"))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    wall, cpu = time.perf_counter(), time.process_time()
    made = reference_models(LogisticRegression(max_iter=200), records, models=64, random_state=0, jobs=JOBS)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    busy = os.getloadavg()[0]
    verdict = "met" if wall <= 60 else "met by CPU time only" if cpu / JOBS <= 60 else "MISSED"
    kept = made.signals.nbytes / 2**20
    text = (
        f"64 logistic reference models on random halves of all {records.count:,} rows of Adult: {cpu:.1f} s of CPU "
        f"time, {wall:.1f} s by the clock with two threads on two cores at a load average of {busy:.0f} (bar: 60 s "
        f"on two cores: {verdict}). Kept: one number per model and record, {kept:.0f} MiB; the process grew by "
        f"{grown:.0f} MiB at most.\n"
    )
    print(text)
    return "## 64 shadow models on Adult\n\n" + text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--env", type=Path, default=HERE.parent / ".bench" / "art")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only", choices=["forest", "location", "adult", "shadows"])
    parser.add_argument("--save", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    parts = {
        "forest": lambda: forest(environment(options.env, PINS), options.seeds),
        "location": location,
        "adult": adults,
        "shadows": shadows,
    }
    made = [parts[name]() for name in ([options.only] if options.only else parts)]
    text = "\n".join(
        [
            "# Membership attacks",
            "",
            "Made by `python -m studies.benchmarks.attack --save`. Seconds are wall seconds on "
            "a busy machine with two cores;",
            "those of the neural attacks, lira and rmia include training the reference models, which they share. ART: "
            f"{', '.join(PINS)}.",
            f"{platform.machine()}, Python {platform.python_version()}, NumPy {np.__version__}, scikit-learn "
            f"{sklearn.__version__}. Intervals: Clopper-Pearson, 95 %.",
            "",
            *made,
        ]
    )
    if options.save and not options.only:
        RESULTS.write_text(text, encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
