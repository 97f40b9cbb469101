"""What each part of `adaptive` brings on Adult: errors of n released rows, with CPU time and peak memory.

Run with `python -m studies.benchmarks.synth_tuning [--save]`. The constants of
`holdfast.synth.methods.adaptive`, of the penalty and of the trust were chosen on this table and workload,
with other noise draws: read the figures as tuned ones.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import platform
import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from studies.benchmarks.synth_data import ROWS, adult_table, adult_workload

from holdfast.noise._source import Source
from holdfast.privacy import Account, ApproxDP
from holdfast.synth._catalogue import SYNTHESISERS
from holdfast.synth._evaluation import evaluate
from holdfast.synth._exact_counts import ExactCounts
from holdfast.synth._models.dense import RowsModel
from holdfast.synth.methods import adaptive as rounds
from holdfast.synth.methods.adaptive import RoundSchedule

EPSILONS = (0.1, 1.0, 10.0)
SEEDS = (0, 1, 2)
DELTA = 1e-9
RESULT = Path(__file__).parent / "results" / "synth_tuning.md"
#: A name, the method, constants of `adaptive` that are set aside, and whether the sweep is left out.
VARIANTS: tuple[tuple[str, str, dict[str, float], bool], ...] = (
    ("**adaptive**", "adaptive", {}, False),
    ("adaptive, no sweep", "adaptive", {}, True),
    ("adaptive, no sweep, AIM's penalty and annealing", "adaptive", {"PENALTY": 1.0, "ANNEAL": 2.0}, True),
    ("tree", "tree", {}, False),
)
BARS = {
    0.1: "0.235 / 0.060, 0.20 / 0.035",
    1.0: "0.10 / 0.028, 0.068 / 0.010",
    10.0: "0.09 / 0.035, 0.045 / 0.005",
}
AIM = {0.1: "0.212 / 0.036", 1.0: "0.071 / 0.0113", 10.0: "not finished"}


@contextmanager
def constants(given: dict[str, float]) -> Iterator[None]:
    """The module's constants, for a while."""
    before = {name: getattr(rounds, name) for name in given}
    try:
        for name, value in given.items():
            setattr(rounds, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(rounds, name, value)


def run(variant: tuple[str, str, dict[str, float], bool], epsilon: float, seed: int) -> dict[str, float]:
    """Errors of the released rows, CPU seconds and rounds."""
    _, name, given, without = variant
    data, workload = ExactCounts(adult_table()), adult_workload()
    account = Account(ApproxDP(epsilon, DELTA), adjacency="add_remove", currency="zcdp", seed=seed)
    options: dict[str, Any] = {}
    if without:
        strength = ROWS * float(account.remaining().as_zcdp() or 0) ** 0.5
        options["schedule"] = RoundSchedule.of(strength, columns=len(data.names), tables=0)
    begun = time.process_time()
    with constants(given):
        made = next(m for m in SYNTHESISERS if m.name == name).fit(data, workload, account=account, **options)
    rows = RowsModel(domain=data.domain, codes=made.model.sample(ROWS, Source(seed + 100)), total=float(ROWS))
    spent = time.process_time() - begun
    errors = evaluate(lambda columns: data(*columns), rows.project, workload)
    return {
        "tvd": errors.average_total_variation,
        "max": errors.max_error,
        "cpu": spent,
        "rounds": float(made.parameters.get("rounds", 0)),
    }


def main() -> None:
    """The table, to the screen and with `--save` to the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--save", action="store_true")
    save = parser.parse_args().save
    lines = [
        "# Adaptive synthesis: what each part brings",
        "",
        "Made by `python -m studies.benchmarks.synth_tuning --save`. Adult, 48,842 x 14, the 64 3-way marginals of the "
        f"literature, delta 1e-9, `add_remove` with n public, seeds {', '.join(map(str, SEEDS))}, n released rows. One "
        "thread, CPU time. "
        f"{platform.machine()}, {os.cpu_count()} shared cores, Python {platform.python_version()}, "
        f"NumPy {np.__version__}. The constants were chosen on this table and workload.",
        "",
        "Average total variation / largest error of any of the 458,996 queries; means over seeds, the worst seed's "
        "largest error in brackets. Must and goal are the project's bars; AIM is mbi's own script at its defaults, "
        "one seed.",
        "",
    ]
    for epsilon in EPSILONS:
        lines += [
            f"## epsilon = {epsilon:g} (must, goal: {BARS[epsilon]}; AIM: {AIM[epsilon]})",
            "",
            "| | TVD / max error | CPU s | rounds |",
            "|---|---|---|---|",
        ]
        for variant in VARIANTS:
            found = [run(variant, epsilon, seed) for seed in SEEDS]
            mean = {key: float(np.mean([one[key] for one in found])) for key in found[0]}
            worst = max(one["max"] for one in found)
            shown = f"{mean['rounds']:.0f}" if mean["rounds"] else "-"
            lines.append(
                f"| {variant[0]} | {mean['tvd']:.4f} / {mean['max']:.4f} ({worst:.4f}) | {mean['cpu']:.1f} | {shown} |"
            )
            sys.stderr.write(lines[-1] + "\n")
        lines.append("")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    lines += [f"Peak memory of the whole benchmark, with the table and exact counts: {peak:,.0f} MB.", ""]
    text = "\n".join(lines)
    sys.stdout.write(text)
    if save:
        RESULT.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
