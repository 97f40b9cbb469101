"""Ten digits, all 60,000 rows of MNIST: one softmax model beside ten models of one digit each, method by method.

Run: python -m studies.benchmarks.several_classes [--quick] [--save]. Rows go through one public random projection to
50 columns and lie on the unit sphere. Every method has its defaults; nothing is chosen on these data.
"""

from __future__ import annotations

import argparse
import math
import platform
import statistics
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from studies.reproductions.seed_data import Split, mnist

from holdfast.errors import AssumptionWarning, BudgetWarning, NotPrivateWarning
from holdfast.learn import PrivateLinearSVC, PrivateLogisticRegression

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "studies" / "benchmarks" / "results" / "several_classes.md"
EPSILONS = (0.5, 1.0, 2.0, 4.0)
METHODS = {
    "bolt_on": "replace",
    "bst14": "replace",
    "dp_sgd": "zero_out",
    "output": "replace",
    "scs13": "replace",
    "softmax": "replace",
}
"""With the neighbour relation of each; DP-SGD has no proof for the first."""
KINDS = ("multinomial", "one_vs_all")
RADIUS = 20.0
"""Of the public ball that bst14 needs."""
Cells = dict[float, list[float]]


def accuracies(
    split: Split, method: str, kind: str, *, delta: float, epsilons: tuple[float, ...], seeds: int
) -> tuple[Cells, float]:
    """Of every epsilon and seed, and the median CPU seconds of a fit."""
    found: Cells = {}
    seconds = []
    for epsilon in epsilons:
        for seed in range(seeds):
            start = time.process_time()
            model = PrivateLogisticRegression(
                epsilon,
                delta,
                method=method,
                multi_class=kind,
                classes=range(10),
                adjacency=METHODS[method],
                fit_intercept=False,
                radius=RADIUS if method == "bst14" else None,
                random_state=seed,
            ).fit(split.train, split.train_labels)
            seconds.append(time.process_time() - start)
            found.setdefault(epsilon, []).append(float(model.score(split.test, split.test_labels)))
    return found, statistics.median(seconds)


def without_privacy(split: Split, kind: str) -> float:
    """The same model at epsilon = inf."""
    model = PrivateLogisticRegression(math.inf, multi_class=kind, classes=range(10), fit_intercept=False)
    return float(model.fit(split.train, split.train_labels).score(split.test, split.test_labels))


def support_vectors(split: Split, *, epsilons: tuple[float, ...], delta: float, seeds: int) -> Cells:
    """The plain hinge of each digit against the rest, by output perturbation, on a tenth of the rows: n x d systems."""
    rows = len(split.train) // 10
    return {
        epsilon: [
            float(
                PrivateLinearSVC(
                    epsilon,
                    delta,
                    loss="hinge",
                    method="output",
                    classes=range(10),
                    adjacency="replace",
                    fit_intercept=False,
                    random_state=seed,
                )
                .fit(split.train[:rows], split.train_labels[:rows])
                .score(split.test, split.test_labels)
            )
            for seed in range(seeds)
        ]
        for epsilon in epsilons
    }


def line(label: str, cells: Cells, seconds: str) -> str:
    """Mean and standard deviation at each epsilon."""
    shown = [
        f"{statistics.mean(values):.3f} ± {statistics.pstdev(values):.3f}"
        if len(values) > 1
        else f"{values[0]:.3f}"
        for values in cells.values()
    ]
    return f"| {label} | " + " | ".join(shown) + f" | {seconds} |"


def page(split: Split, *, epsilons: tuple[float, ...], seeds: int) -> list[str]:
    """Everything measured."""
    delta = len(split.train) ** -1.5
    majority = float(np.bincount(split.test_labels.astype(int)).max()) / len(split.test_labels)
    exact = {kind: without_privacy(split, kind) for kind in KINDS}
    lines = [
        "# Several classes: one softmax, or one model for each",
        "",
        f"MNIST, {split.shape}: test accuracy of logistic regression, {seeds} seeds, δ = n^-1.5; always the most",
        f"frequent digit {majority:.3f}; without privacy {exact[KINDS[0]]:.3f} as one softmax, {exact[KINDS[1]]:.3f}",
        "as one digit against the rest. Defaults throughout; bst14 keeps to a ball of radius 20.",
        "",
        "| method, neighbours, classes | " + " | ".join(f"ε = {e:g}" for e in epsilons) + " | CPU s / fit |",
        "|---|" + "---:|" * (len(epsilons) + 1),
    ]
    ahead = []
    for method, adjacency in METHODS.items():
        means = {}
        for kind in KINDS:
            cells, seconds = accuracies(split, method, kind, delta=delta, epsilons=epsilons, seeds=seeds)
            means[kind] = {e: statistics.mean(values) for e, values in cells.items()}
            lines.append(line(f"{method}, {adjacency}, {kind}", cells, f"{seconds:.2f}"))
        ahead += [means[KINDS[0]][e] > means[KINDS[1]][e] for e in epsilons]
    hinge = support_vectors(split, epsilons=epsilons, delta=delta, seeds=seeds)
    lines += [line("output, replace, plain hinge of a tenth of the rows", hinge, ""), ""]
    lines += [
        f"One softmax is ahead in {sum(ahead)} of {len(ahead)} places. Its gradients are √2 long at most, those of ten",
        "models together √10: every row is in all ten, so they never have the budget in parallel.",
        "",
    ]
    return lines


def commit() -> str:
    """What was measured; a tree with edits says so."""
    told = ["git", "-C", str(ROOT)]
    edits = subprocess.run(
        [*told, "status", "--porcelain", "-uno"], capture_output=True, text=True, check=False
    )
    found = subprocess.run(
        [*told, "rev-parse", "HEAD"], capture_output=True, text=True, check=False
    ).stdout.strip()
    return f"{found}{' with edits' if edits.stdout.strip() else ''}"


def main() -> int:
    """Fit, print, and write where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows, two epsilons, one seed")
    parser.add_argument(
        "--save", action="store_true", help="write studies/benchmarks/results/several_classes.md"
    )
    told = parser.parse_args()
    for kind in (AssumptionWarning, BudgetWarning, NotPrivateWarning):
        warnings.filterwarnings("ignore", category=kind)
    at = commit()
    begin = time.process_time()
    split = mnist(rows=6_000 if told.quick else 60_000)
    lines = page(split, epsilons=EPSILONS[1::2] if told.quick else EPSILONS, seeds=1 if told.quick else 5)
    lines.append(
        f"Made by `python -m studies.benchmarks.several_classes` at {at}, "
        f"{time.process_time() - begin:.0f} CPU seconds: "
        f"{platform.machine()}, Python {platform.python_version()}, NumPy {np.__version__}, one thread."
    )
    sys.stdout.write("\n".join(lines) + "\n")
    if told.save and not told.quick:
        RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
