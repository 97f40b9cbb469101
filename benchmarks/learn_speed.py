"""What private learning costs in time: a bolt-on epoch against SGDClassifier's, noise, baselines, a whole fit.

Run: python -m benchmarks.learn_speed [--rows 581012] [--repeats 7] [--save]. The shape is Covertype's. One thread,
CPU seconds, the best of interleaved repeats: other work on the machine adds time and never takes it away.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from holdfast.kernel import SgdOptions, StepSize, start
from holdfast.learn.methods.bolt_on import bolt_on
from holdfast.learn.methods.bst14 import bst14
from holdfast.learn.methods.scs13 import scs13
from holdfast.learn.problem import Problem
from holdfast.learn.problem.losses import Logistic
from holdfast.learn.rows.examples import ArrayExamples
from holdfast.noise.source import Source
from holdfast.noise.uniform import permutation
from holdfast.privacy import Account, Adjacency, ApproxDP

RESULTS = Path(__file__).parent / "results" / "learn_speed.md"
DIMENSION, PENALTY = 54, 1e-3
EPSILONS = (0.05, 0.1, 0.5, 1.0, 4.0)
Job = Callable[[], Any]


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

    from holdfast.learn import PrivateLogisticRegression

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
        dimension=DIMENSION, batch=50, penalty=PENALTY, row_norm=1.0, step_size=StepSize(cap=1.0, scale=1 / PENALTY)
    )  # fmt: skip
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
        method="bolt_on", penalty=PENALTY, row_norm=1.0, classes=[-1.0, 1.0], fit_intercept=False, delta=1e-7,
        random_state=1,
    )  # fmt: skip
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
        f"## One epoch, n = {len(x):,}, d = {DIMENSION}", "",
        "| | CPU ms | ns per row | this / bolt_on |", "|---|---|---|---|",
        *(f"| {n} | {1e3 * s:.1f} | {1e9 * s / len(x):.0f} | {s / first:.2f} |" for n, s in seconds.items()),
        "",
        f"Charge and noise took {1e3 * spent[0]:.2f} ms, {100 * spent[0] / first:.2f} % of that epoch, and "
        f"{100 * spent[0] / (10 * first):.2f} % of the default ten. Opening the account and "
        f"finding the noise are in the epoch's time. "
        f"`PrivateLogisticRegression(method='bolt_on')`, ten passes, with checks of the input, clipping, noise and "
        f"release, took {whole:.2f} s.", "",
    ]  # fmt: skip


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


MEMORY = """
import sys, threading, time, warnings, psutil
sys.path.insert(0, {root!r})
warnings.simplefilter("ignore")
from benchmarks.learning_data import adult
from holdfast.learn import PrivateLogisticRegression
data = adult()
told = dict(epsilon={epsilon}, delta=0.0 if {pure} else len(data.train) ** -1.5, classes=[-1.0, 1.0],
            fit_intercept=False, adjacency="replace" if {pure} else "zero_out")
PrivateLogisticRegression(**told).fit(data.train[:500], data.train_labels[:500])
me, top, on = psutil.Process(), [0], [True]
base = me.memory_info().rss
def watch():
    while on[0]:
        top[0] = max(top[0], me.memory_info().rss)
        time.sleep(0.001)
thread = threading.Thread(target=watch); thread.start()
seconds = []
for _ in range({repeats}):
    start = time.thread_time()
    PrivateLogisticRegression(**told).fit(data.train, data.train_labels)
    seconds.append(time.thread_time() - start)
on[0] = False; thread.join()
print(min(seconds), (top[0] - base) / 2**20, data.train.nbytes / 2**20)
"""


def fits(repeats: int, *, pure: bool) -> list[str]:
    """A whole fit on Adult, in a fresh process each: CPU seconds and memory beyond the data."""
    promise = "delta = 0, replace" if pure else "delta = n^-1.5, zero_out"
    lines = [f"## PrivateLogisticRegression on Adult, auto, {promise}", "",
             "| epsilon | CPU s | MB beyond the data |", "|---|---|---|"]  # fmt: skip
    data = 0.0
    for epsilon in EPSILONS:
        code = MEMORY.format(
            root=str(Path(__file__).resolve().parents[1]), epsilon=epsilon, repeats=repeats, pure=pure
        )
        made = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
        seconds, extra, data = (float(v) for v in made.stdout.split())
        lines.append(f"| {epsilon:g} | {seconds:.3f} | {extra:.0f} |")
    return [
        *lines,
        "",
        f"The rows themselves are {data:.0f} MB. Memory is the growth of the resident set.",
        "",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=581_012)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--save", action="store_true")
    options = parser.parse_args()
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    warnings.simplefilter("ignore")
    x, y = table(options.rows)
    head = [
        "# Learning: time and memory", "",
        f"Made by `python -m benchmarks.learn_speed --rows {options.rows} --save`, one thread, CPU time, best of "
        f"{options.repeats} interleaved runs. Made-up rows of norm up to 1.3 (NumPy seed 0), so that clipping has "
        f"work. {platform.machine()}, {os.cpu_count()} shared cores, Python {platform.python_version()}, NumPy "
        f"{np.__version__}, scikit-learn {version('scikit-learn')}.", "",
    ]  # fmt: skip
    whole = [line for pure in (False, True) for line in fits(options.repeats, pure=pure)]
    text = "\n".join([*head, *epoch(x, y, options.repeats), *baselines(x, y, options.repeats), *whole])
    print(text)
    if options.save:
        RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
