"""What private learning costs in time: a bolt-on epoch against SGDClassifier's, noise, baselines, a whole fit.

Run: python -m studies.benchmarks.learn_speed [--rows 581012] [--repeats 7] [--save]. The shape is Covertype's. One
thread, CPU seconds, the best of interleaved repeats: other work on the machine adds time and never takes it away.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")

import argparse
import json
import platform
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from studies.benchmarks.learn_panel_tables import load
from studies.benchmarks.learning_data import adult
from studies.benchmarks.public_data import package

from holdfast._kernel import SgdOptions, StepSize, start
from holdfast.data import Schema
from holdfast.data._engines import open_table
from holdfast.learn import PrivateLogisticRegression
from holdfast.learn import _whitened_examples as whitened_examples
from holdfast.learn import _whitening as whitening
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import Logistic
from holdfast.learn._risk.descent import ClippedGradients
from holdfast.learn._risk.multiclass_risk import MulticlassRisk
from holdfast.learn._risk.risk import Risk
from holdfast.learn._rows.examples import ArrayExamples
from holdfast.learn.classics.bst14 import bst14
from holdfast.learn.methods.bolt_on import bolt_on
from holdfast.learn.methods.scs13 import scs13
from holdfast.noise._source import Source
from holdfast.noise._uniform import permutation
from holdfast.privacy import Account, Adjacency, ApproxDP

if TYPE_CHECKING:
    import psutil
else:
    psutil = package("psutil")

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "studies" / "benchmarks" / "results" / "learn_speed.md"
DIMENSION, PENALTY = 54, 1e-3
FITS = {
    "Adult": (0.15, (0.05, 0.1, 0.5, 1.0, 4.0, 8.0), 7),
    "Protein": (5.0, (1.0,), 3),
    "MNIST": (60.0, (1.0,), 1),
}
"""Tables, with the CPU seconds that a fit may take, the epsilons, and how often they are fitted at most."""
Job = Callable[[], Any]


def commit() -> str:
    """What was measured."""

    def git(*words: str) -> str:
        told = ["git", "-C", str(ROOT), *words]
        return subprocess.run(told, capture_output=True, text=True, check=True).stdout.strip()

    edits = git(
        "status", "--porcelain", "-uno", "--", "src", "studies/benchmarks", ":!studies/benchmarks/results"
    )
    return git("rev-parse", "HEAD") + (" with edits" if edits else "")


def best(jobs: dict[str, Job], repeats: int) -> dict[str, float]:
    """CPU seconds of each, the least of interleaved repeats."""
    seconds = dict.fromkeys(jobs, float("inf"))
    for _ in range(repeats):
        for name, job in jobs.items():
            began = time.process_time()
            job()
            seconds[name] = min(seconds[name], time.process_time() - began)
    return seconds


def table(rows: int) -> tuple[Any, Any]:
    """Rows of norm up to 1.3, so that some are clipped."""
    source = np.random.default_rng(0)
    x = source.normal(size=(rows, DIMENSION))
    x *= source.uniform(0.2, 1.3, size=(rows, 1)) / np.linalg.norm(x, axis=1, keepdims=True)
    return x, np.where(x[:, 0] + 0.1 * source.normal(size=rows) > 0, 1.0, -1.0)


def account(delta: float = 1e-7, currency: str = "gdp") -> Account:
    """The operating system's randomness, as in a real fit: it is slower than a seeded stream."""
    return Account(ApproxDP(1.0, delta), adjacency="replace", currency=currency)


def epoch(x: Any, y: Any, repeats: int) -> list[str]:
    """One pass at b = 50, and how much of it is noise."""
    from sklearn.linear_model import SGDClassifier

    examples = ArrayExamples(features=x, labels=y, adjacency=Adjacency.replace, public_count=len(x))
    problem = Problem(loss=Logistic(), dimension=DIMENSION, penalty=PENALTY, row_norm=1.0)
    spent = [0.0]
    release = Account.release

    def timed(self: Account, *told: Any, **named: Any) -> Any:
        began = time.process_time()
        made = release(self, *told, **named)
        spent[0] = min(spent[0] or 1e9, time.process_time() - began)
        return made

    options = SgdOptions(
        dimension=DIMENSION,
        batch=50,
        penalty=PENALTY,
        row_norm=1.0,
        step_size=StepSize(cap=1.0, scale=1 / PENALTY),
    )
    source = Source()
    order = permutation(source, len(x))

    def kernel(**told: Any) -> None:
        run = start(options)
        run.feed(x, y, **told)
        run.final()

    peers = {
        shuffle: SGDClassifier(loss="log_loss", alpha=PENALTY, shuffle=shuffle) for shuffle in (True, False)
    }
    for model in peers.values():
        model.partial_fit(x[:10], y[:10], classes=[-1.0, 1.0])
    ours = PrivateLogisticRegression(
        method="bolt_on",
        penalty=PENALTY,
        row_norm=1.0,
        classes=[-1.0, 1.0],
        fit_intercept=False,
        delta=1e-7,
        random_state=1,
    )
    jobs: dict[str, Job] = {
        "bolt_on, b = 50, clipping, secret shuffle, noise and charge": lambda: bolt_on(
            examples, problem, account=account(), passes=1, batch=50
        ),
        "SGDClassifier epoch, shuffled, no clipping, no privacy": lambda: peers[True].partial_fit(x, y),
        "SGDClassifier epoch, in order, no clipping, no privacy": lambda: peers[False].partial_fit(x, y),
        "part: drawing the secret order": lambda: permutation(source, len(x)),
        "part: the kernel, rows met in that order": lambda: kernel(order=order),
        "for comparison: the kernel, rows met in storage order": kernel,
    }
    Account.release = timed  # type: ignore[method-assign]
    seconds = best(jobs, repeats)
    Account.release = release  # type: ignore[method-assign]
    first = next(iter(seconds.values()))
    whole = best({"fit": lambda: ours.fit(x, y)}, 2)["fit"]
    return [
        f"## One epoch, n = {len(x):,}, d = {DIMENSION}",
        "",
        "| | CPU ms | ns per row | this / bolt_on |",
        "|---|---|---|---|",
        *(f"| {n} | {1e3 * s:.1f} | {1e9 * s / len(x):.0f} | {s / first:.2f} |" for n, s in seconds.items()),
        "",
        f"Charge and noise took {1e3 * spent[0]:.2f} ms, {100 * spent[0] / first:.2f} % of that epoch, and "
        f"{100 * spent[0] / (10 * first):.2f} % of the default ten. Opening the account and "
        f"finding the noise are in the epoch's time. "
        f"`PrivateLogisticRegression(method='bolt_on')`, ten passes, with checks of the input, clipping, noise and "
        f"release, took {whole:.2f} s.",
        "",
    ]


def baselines(x: Any, y: Any, repeats: int) -> list[str]:
    """Noise in every step costs time too, most with small batches."""
    x, y = x[:20_000], y[:20_000]
    examples = ArrayExamples(features=x, labels=y, adjacency=Adjacency.replace, public_count=len(x))
    problem = Problem(loss=Logistic(), dimension=DIMENSION, penalty=PENALTY, row_norm=1.3)
    lines = [
        f"## Baselines, one pass, n = {len(x):,}",
        "",
        "| batch | bolt_on ms | scs13 | bst14 |",
        "|---|---|---|---|",
    ]
    for batch in (1, 10, 50):
        jobs: dict[str, Job] = {
            "bolt_on": lambda batch=batch: bolt_on(
                examples, problem, account=account(), passes=1, batch=batch
            ),  # type: ignore[misc]
            "scs13": lambda batch=batch: scs13(examples, problem, account=account(), batch=batch),  # type: ignore[misc]
            "bst14": lambda batch=batch: bst14(  # type: ignore[misc]
                examples, problem, account=account(currency="renyi"), batch=batch
            ),
        }
        seconds = best(jobs, max(1, min(repeats, 2)))
        ratio = {name: f"{s / seconds['bolt_on']:.0f} x" for name, s in seconds.items()}
        lines.append(f"| {batch} | {1e3 * seconds['bolt_on']:.1f} | {ratio['scs13']} | {ratio['bst14']} |")
    return [*lines, ""]


def loaded(table: str, *, pure: bool) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """Rows, what `fit` is told beside them, and what the estimator is. Adult is an array, the others are tables."""
    adjacency, told = "replace" if pure else "zero_out", dict[str, Any]()
    if table == "Adult":
        data = adult()
        told = {"classes": [-1.0, 1.0], "fit_intercept": False, "adjacency": adjacency}
        return data.train, {"y": data.train_labels}, told
    panel = load(table)
    rows = open_table(panel.split(0)[0], Schema(panel.schema.columns, adjacency=adjacency))
    return rows, {"target": panel.target}, told


@contextmanager
def counted() -> Iterator[list[float]]:
    """Counts passes over the rows while it lasts, parts of them as parts; what a method reads, not what it copies."""
    passes, undo = [0.0], list[tuple[Any, str, Any]]()

    def count(owner: Any, name: str, share: Callable[..., float]) -> None:
        whole = getattr(owner, name)

        def counting(*told: Any, **named: Any) -> Any:
            passes[0] += share(*told, **named)
            return whole(*told, **named)

        undo.append((owner, name, whole))
        setattr(owner, name, counting)

    def one(*_: Any, **__: Any) -> float:
        return 1.0

    def of_rows(risk: Any, *_: Any, every: int = 1, **__: Any) -> float:
        rows, wide = SIZE
        return float(risk.rows * risk.examples.dimension / (every * rows * wide))

    count(ClippedGradients, "at", one)
    count(ClippedGradients, "l2_sensitivity", one)  # once a fit, as the lengths of whitened rows are
    count(whitening, "second_moment", one)
    count(whitened_examples, "row_moments", one)
    for name in ("value", "gradient", "hessian", "_turned"):
        for risk in (Risk, MulticlassRisk):
            count(risk, name, of_rows)
    try:
        yield passes
    finally:
        for owner, name, whole in undo:
            setattr(owner, name, whole)


SIZE = [1, 1]
"""Rows and columns of the table that is fitted."""


def measured(table: str, *, pure: bool, epsilon: float, repeats: int) -> dict[str, float]:
    """One fit in this process: CPU seconds of the main thread, memory beyond the data, passes."""
    rows, fitted, told = loaded(table, pure=pure)
    count = len(rows) if isinstance(rows, np.ndarray) else rows.count()
    told |= {"epsilon": epsilon, "delta": 0.0 if pure else count**-1.5}
    few = np.tile(np.eye(2), (200, 1)), np.tile([-1.0, 1.0], 200)
    PrivateLogisticRegression(**told | {"classes": [-1.0, 1.0]}).fit(*few)  # what is imported late
    me, top, on = psutil.Process(), [0], [True]
    base, seconds = me.memory_info().rss, []

    def watch() -> None:
        while on[0]:
            top[0] = max(top[0], me.memory_info().rss)
            time.sleep(0.001)

    thread = threading.Thread(target=watch)
    thread.start()
    for _ in range(repeats):
        began = time.thread_time()
        model = PrivateLogisticRegression(**told).fit(rows, **fitted)
        seconds.append(time.thread_time() - began)
    on[0] = False
    thread.join()
    SIZE[:] = count, int(np.shape(model.coef_)[-1]) + told.get("fit_intercept", True)
    with counted() as passes:
        PrivateLogisticRegression(**told).fit(rows, **fitted)
    return {
        "seconds": min(seconds),
        "beyond": (top[0] - base) / 2**20,
        "passes": passes[0],
        "bytes": 8.0 * SIZE[0] * SIZE[1],
    }


def bandwidth(repeats: int) -> float:
    """Bytes a second that one thread reads from memory: a sum over an array that no cache holds."""
    numbers = np.ones(2**25)
    return numbers.nbytes / float(best({"sum": lambda: numbers.sum()}, max(5, repeats))["sum"])


def fits(repeats: int, speed: float) -> list[str]:
    """Whole fits by `auto`, in a fresh process each, beside the time that reading their rows takes."""
    lines = [
        "## PrivateLogisticRegression, auto",
        "",
        f"The floor is the time that memory takes: the rows in float64, times the passes over them, at the "
        f"{speed / 1e9:.1f} GB/s that one thread read in the same run. Adult is an array; MNIST and Protein are tables "
        "in memory (the learning panel's), whose encoding is in the time. With delta = n^-1.5 neighbours are zero_out, "
        "with delta = 0 replace. Memory is the growth of the resident set while fitting.",
        "",
        "| table | promise | epsilon | CPU s | allowed | passes | floor, s | ratio | MB of rows | MB beyond the data |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for table, (allowed, epsilons, most) in FITS.items():
        for pure in (False, True):
            for epsilon in epsilons:
                asked = [table, "pure" if pure else "delta", str(epsilon), str(min(repeats, most))]
                code = [sys.executable, "-m", "studies.benchmarks.learn_speed", "--fit", *asked]
                made = subprocess.run(code, check=True, capture_output=True, text=True, cwd=ROOT)
                found = json.loads(made.stdout)
                floor = found["passes"] * found["bytes"] / speed
                lines.append(
                    f"| {table} | {'delta = 0' if pure else 'delta > 0'} | {epsilon:g} | {found['seconds']:.3f} | "
                    f"{allowed:g} | {found['passes']:.1f} | {floor:.3f} | {found['seconds'] / floor:.1f} | "
                    f"{found['bytes'] / 2**20:.0f} | {found['beyond']:.0f} |"
                )
                print(lines[-1], flush=True)
    return [*lines, ""]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=581_012)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--save", action="store_true")
    parser.add_argument(
        "--fit", nargs=4, metavar=("TABLE", "KIND", "EPSILON", "REPEATS"), help="one fit, as JSON"
    )
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.fit:
        table_name, kind, epsilon, repeats = options.fit
        told: Any = {"pure": kind == "pure", "epsilon": float(epsilon), "repeats": int(repeats)}
        print(json.dumps(measured(table_name, **told)))
        return
    x, y = table(options.rows)
    head = [
        "# Learning: time and memory",
        "",
        f"Made by `python -m studies.benchmarks.learn_speed --rows {options.rows} --save`, one "
        "thread, CPU time, best of "
        f"{options.repeats} interleaved runs. Made-up rows of norm up to 1.3 (NumPy seed 0), so that clipping has "
        f"work. {platform.machine()}, {os.cpu_count()} shared cores, Python {platform.python_version()}, NumPy "
        f"{np.__version__}, scikit-learn {version('scikit-learn')}, commit {commit()}.",
        "",
    ]
    parts = [*epoch(x, y, options.repeats), *baselines(x, y, options.repeats)]
    del x, y
    text = "\n".join([*head, *parts, *fits(options.repeats, bandwidth(options.repeats))])
    print(text)
    if options.save:
        RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
