"""CPU seconds of one fit over the number of columns, for every method: finding L7, no cliff anywhere.

    python -m studies.benchmarks.learn_width          # a few minutes; writes results/learn_width.md

3,000 rows in all directions alike, one BLAS thread. From one width to the next the time may grow by 1.5 times the cube
of the widths' ratio; times below a twentieth of a second are taken for one, since they are mostly the account's.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from holdfast.learn import PrivateLinearRegression, PrivateLinearSVC, PrivateLogisticRegression
from holdfast.learn._rows.summation import one_thread

ROWS, WIDTHS = 3_000, (500, 800, 1_200, 1_700, 2_500, 3_500, 5_000)
LEAST = 0.05
RESULTS = Path(__file__).with_name("results") / "learn_width.md"
QUADRATIC = ("adassp", "functional")
"""They release d^2 / 2 numbers, noise and all: up to 1,200 columns here."""


def cases() -> dict[str, tuple[Any, str]]:
    """An estimator and the kind of its labels, by name."""
    told: dict[str, Any] = {"epsilon": 4.0, "random_state": 0}
    free: dict[str, Any] = {"target_bounds": (-1, 1)}
    ball = free | {"radius": 3.0}
    made: dict[str, tuple[Any, str]] = {}
    for method in ("auto", "objective", "output", "bolt_on", "noisy_gd", "scs13"):
        made[f"logistic, {method}"] = PrivateLogisticRegression(classes=[0, 1], method=method, **told), "two"
    for method in ("objective", "output"):
        model = PrivateLogisticRegression(classes=[0, 1], delta=0.0, method=method, **told)
        made[f"logistic, {method}, pure"] = model, "two"
    made["logistic, bst14"] = (
        PrivateLogisticRegression(classes=[0, 1], method="bst14", radius=5.0, **told),
        "two",
    )
    made["logistic, dp_sgd"] = (
        PrivateLogisticRegression(classes=[0, 1], method="dp_sgd", adjacency="zero_out", **told),
        "two",
    )
    for method in ("output", "bolt_on"):
        made[f"support vectors, {method}"] = PrivateLinearSVC(classes=[0, 1], method=method, **told), "two"
    made["softmax, auto"] = PrivateLogisticRegression(classes=[0, 1, 2], **told), "three"
    made["softmax, auto, pure"] = PrivateLogisticRegression(classes=[0, 1, 2], delta=0.0, **told), "three"
    for method in ("ridge", *QUADRATIC):
        made[f"least squares, {method}"] = PrivateLinearRegression(method=method, **free, **told), "number"
    for method in ("output", "noisy_gd"):
        made[f"least squares, {method}"] = PrivateLinearRegression(method=method, **ball, **told), "number"
    return made


def seconds(model: Any, kind: str, width: int) -> float:
    """CPU time of one fit."""
    random = np.random.default_rng(0)
    x = random.normal(size=(ROWS, width))
    x /= 1.01 * np.linalg.norm(x, axis=1)[:, None]
    scores = x @ random.normal(size=width)
    labels: Any = {
        "two": (scores > 0).astype(int),
        "three": np.digitize(scores, [-0.4, 0.4]),
        "number": np.clip(scores, -1, 1),
    }[kind]
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.process_time()
        model.fit(x, labels)
        return time.process_time() - start


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    lines = [
        "# CPU seconds over the number of columns",
        "",
        f"`python -m studies.benchmarks.learn_width`: one seeded fit on {ROWS:,} rows, epsilon "
        "4, one BLAS thread. The last",
        "column is the largest growth from one width to the next in units of what the cube of their ratio allows, 1.5",
        f"times: at most 1 means no cliff. Times below {LEAST} s count as {LEAST} s there.",
        "",
        "| method | " + " | ".join(f"{width:,}" for width in WIDTHS) + " | growth |",
        "|---" * (len(WIDTHS) + 2) + "|",
    ]
    for name, (model, kind) in cases().items():
        widths = WIDTHS if name.rpartition(" ")[2] not in QUADRATIC else WIDTHS[:3]
        taken = [seconds(model, kind, width) for width in widths]
        growth = max(
            max(after, LEAST) / max(before, LEAST) / (1.5 * (wide / narrow) ** 3)
            for before, after, narrow, wide in zip(taken, taken[1:], widths, widths[1:], strict=False)
        )
        shown = [f"{one:.2f}" for one in taken] + ["-"] * (len(WIDTHS) - len(taken))
        lines.append(f"| {name} | {' | '.join(shown)} | {growth:.2f} |")
        print(lines[-1], flush=True)
        RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
