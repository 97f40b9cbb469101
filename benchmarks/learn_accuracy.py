"""Accuracy of the default and its rivals on Adult and Covertype, against the bars, with CPU time per fit.

Run with `python -m benchmarks.learn_accuracy [--save]`. Fixed rules only: nothing is tuned here. BLAS has one
thread, so CPU seconds are those of the arithmetic.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import time
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.learning_data import Split, adult, covertype

from holdfast.learn.choice import choose_learner
from holdfast.learn.methods import METHODS
from holdfast.learn.methods.dp_sgd import plan_for
from holdfast.learn.methods.method import Learner
from holdfast.learn.problem import Problem
from holdfast.learn.problem.losses import Logistic
from holdfast.learn.rows.examples import ArrayExamples
from holdfast.privacy import Account, ApproxDP
from holdfast.privacy.adjacency import Adjacency

EPSILONS = (0.05, 0.1, 0.5, 1.0, 4.0)
FITS = 5
BARS = {
    "Adult": ((0.806, 0.824, 0.8385, 0.841, 0.8443), (0.815, 0.826, 0.840, 0.843, 0.848)),
    "Covertype": ((0.751, 0.755, 0.7575, 0.758, 0.758), (0.753, 0.757, 0.759, 0.759, 0.759)),
}
RIVALS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("**auto**", "auto", {}),
    ("auto, idealised arithmetic", "auto", {"arithmetic": "idealised"}),
    ("noisy_gd, diagonal second moment", "noisy_gd", {"preconditioner": "diagonal"}),
    ("noisy_gd, momentum, no second moment", "noisy_gd", {"preconditioner": "none"}),
    ("objective", "objective", {}),
    ("dp_sgd, numeric plan", "dp_sgd", {}),
)
TOO_SLOW = {("Covertype", "dp_sgd")}
"""465 thousand coins for each of 4,540 steps."""


def fit(split: Split, name: str, epsilon: float, seed: int, options: dict[str, Any]) -> tuple[float, float]:
    """Accuracy and CPU seconds of one fit."""
    count, dimension = split.train.shape
    limit = ApproxDP(epsilon, count**-1.5)
    problem = Problem(loss=Logistic(), dimension=dimension)
    examples = ArrayExamples(
        features=split.train, labels=split.train_labels, adjacency=Adjacency.zero_out, public_count=count
    )
    start = time.process_time()
    chosen = name
    if name == "auto":
        choice = choose_learner(problem, count=count, limit=limit, adjacency="zero_out")
        chosen, options = choice.method, {**choice.options, **options}
    method: Learner = next(method for method in METHODS if method.name == chosen)
    if chosen == "dp_sgd":
        plan = plan_for(problem, limit, count=count, adjacency="zero_out")
        account = Account(limit, adjacency="zero_out", plan=plan, seed=seed)
    else:
        account = Account(limit, adjacency="zero_out", currency=method.currency, seed=seed)
    weights = method.run(examples, problem, account=account, **options).weights
    return split.accuracy(weights), time.process_time() - start


def table(split: Split) -> list[str]:
    """One line per method."""
    must, goal = BARS[split.name]
    heads = " | ".join(f"{epsilon:g}" for epsilon in EPSILONS)
    lines = [
        f"| {split.name}, n = {len(split.train):,}, d = {split.train.shape[1]} | {heads} | CPU s / fit |"
    ]
    lines.append("|---|" + "---|" * (len(EPSILONS) + 1))
    lines.append("| must | " + " | ".join(f"{bar:g}" for bar in must) + " | |")
    lines.append("| goal | " + " | ".join(f"{bar:g}" for bar in goal) + " | |")
    for label, name, options in RIVALS:
        if (split.name, name) in TOO_SLOW:
            continue
        cells, seconds = [], []
        for epsilon in EPSILONS:
            done = [fit(split, name, epsilon, seed, options) for seed in range(FITS)]
            accuracies = [accuracy for accuracy, _ in done]
            seconds += [spent for _, spent in done]
            cells.append(f"{np.mean(accuracies):.4f} ± {np.std(accuracies):.4f}")
        lines.append(f"| {label} | " + " | ".join(cells) + f" | {min(seconds):.2f} to {max(seconds):.2f} |")
        print(lines[-1], flush=True)
    return lines


def peak_megabytes(split: Split) -> float:
    """Memory that one fit takes beyond the data."""
    tracemalloc.start()
    fit(split, "auto", 1.0, 0, {})
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--save", action="store_true")
    save = parser.parse_args().save
    small = adult()
    fit(small, "auto", 1.0, 0, {})  # imports
    memory = peak_megabytes(small)
    text = [
        "# Accuracy of private logistic regression",
        "",
        "Made by `python -m benchmarks.learn_accuracy --save`: test accuracy, mean ± deviation of 5 fits, adjacency",
        "zero_out, delta = n^-1.5, fixed rules, strict arithmetic unless said. The rule behind `auto` was found on",
        "these two data sets (docs/decisions/learning-default.md). Each column is an epsilon. CPU seconds include",
        "the account, the calibration and all noise; one BLAS thread on a shared machine.",
        "",
        *table(small),
        "",
        f"Memory of one `auto` fit on Adult, beyond the data: {memory:.1f} MB at the peak.",
        "",
    ]
    large = covertype()
    text += [*table(large), ""]
    if save:
        path = Path(__file__).parent / "results" / "learn_accuracy.md"
        path.write_text("\n".join(text))
        print(f"saved {path.name}")


if __name__ == "__main__":
    main()
