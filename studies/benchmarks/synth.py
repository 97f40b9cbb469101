"""Every synthesiser beside the reference lines on Adult, what classifiers learn from it, and a million rows.

Run with `python -m studies.benchmarks.synth` (all of it), or with parts of it: `errors`, `downstream`, `scale`.
Options: `--methods a,b`, `--epsilons 0.1,1`, `--seeds N`, `--limit SECONDS` for each run. Each run is a process of
its own, so that its CPU time and peak memory are its own; finished runs are kept in
`studies/benchmarks/results/synth.json` and not repeated (`--again` repeats them). The table goes to
`studies/benchmarks/results/synth.md`.

Data: Adult in private-pgm's cells, the 64 3-way marginals of `studies.benchmarks.synth_data`, delta 1e-9,
`add_remove` with a public number of rows, n rows out, fixed defaults: a tenth of the budget is spent on the
certificate.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

RESULTS = Path(__file__).resolve().parent / "results"
STORE = RESULTS / "synth.json"
EPSILONS = (0.1, 1.0, 10.0)
SIZES = (10_000, 100_000, 1_000_000)
BARS = {
    0.1: ((0.235, 0.060), (0.20, 0.035)),
    1.0: ((0.10, 0.028), (0.068, 0.010)),
    10.0: ((0.09, 0.035), (0.045, 0.005)),
}
"""Average total variation and largest error: must, and goal."""
PUBLISHED = {
    0.1: (("AIM (mbi, defaults, 331 s on an accelerator)", 0.212, 0.0360),),
    1.0: (
        ("AIM (mbi, defaults, 1,230 CPU s, 5.1 GB)", 0.0714, 0.0113),
        ("MST (mbi, 173 CPU s, 3.5 GB)", 0.097, 0.0284),
    ),
    10.0: (),
}
LINE_NAMES = {
    "uniform": "uniform",
    "independent": "independent 1-ways",
    "gaussian answers": "Gaussian on the workload (answers, no rows)",
    "tree": "tree",
}


class Kept:
    """Finished runs, by what was asked."""

    def __init__(self, *, again: bool, limit: float) -> None:
        self.runs: dict[str, Any] = json.loads(STORE.read_text()) if STORE.exists() else {}
        self.again, self.limit = again, limit

    def run(self, kind: str, method: str, epsilon: float, seed: int) -> dict[str, Any]:
        """What a run found; one that took too long says so."""
        key = f"{kind} {method} {epsilon:g} {seed}"
        known: dict[str, Any] = self.runs.get(key, {"failed": ""})
        if not self.again and known.get("failed", "not finished").startswith("not finished"):
            return known
        command = [
            sys.executable,
            "-m",
            "studies.benchmarks.synth_runs",
            kind,
            method,
            str(epsilon),
            str(seed),
        ]
        environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                timeout=self.limit,
                env=environment,
                check=False,
            )
            failed = {"failed": (done.stderr.strip().splitlines() or ["no words"])[-1][:200]}
            found = json.loads(done.stdout.strip().splitlines()[-1]) if done.returncode == 0 else failed
        except subprocess.TimeoutExpired:
            found = {"failed": f"not finished in {self.limit:g} s"}
        self.runs[key] = found
        STORE.write_text(json.dumps(self.runs, indent=0, sort_keys=True) + "\n")
        print(key, found, flush=True)
        return found


def mean(found: list[dict[str, Any]], name: str, *, digits: int = 3) -> str:
    """The mean of the runs that finished, or why none did."""
    values = [one[name] for one in found if name in one]
    if not values:
        return found[0].get("failed", "-") if found else "-"
    return f"{np.mean(values):.{digits}f}"


def names_of(methods: str | None) -> list[str]:
    """Those asked for, or all; `auto` is `adaptive` here."""
    from holdfast.synth import SYNTHESISERS

    return (
        methods.split(",")
        if methods
        else ["auto", *(method.name for method in SYNTHESISERS if method.name != "adaptive")]
    )


def errors_table(kept: Kept, methods: list[str], epsilons: list[float], seeds: int) -> list[str]:
    lines = []
    for epsilon in epsilons:
        lines += [
            "",
            f"### epsilon {epsilon:g}",
            "",
            "| method | runs | average TVD | TVD max | largest error | certificate says | CPU s | wall s | peak MB |",
            "|---|---|---|---|---|---|---|---|---|",
        ]
        for name, told in LINE_NAMES.items():
            found = [
                kept.run("line", name, epsilon, seed) for seed in range(1 if name == "uniform" else seeds)
            ]
            lines.append(_row(f"*{told}*", found))
        for told, bar in zip(("must", "goal"), BARS.get(epsilon, ()), strict=False):
            lines.append(f"| {told} | | {bar[0]} | | {bar[1]} | | | | |")
        for told, tvd, largest in PUBLISHED.get(epsilon, ()):
            lines.append(f"| {told} | 1 | {tvd} | | {largest} | none | | | |")
        for method in methods:
            found = [kept.run("errors", method, epsilon, seed) for seed in range(seeds)]
            chosen = f" ({found[0]['chosen']})" if method == "auto" and "chosen" in found[0] else ""
            lines.append(_row(f"**{method}**{chosen}" if method == "auto" else f"`{method}`", found))
    return lines


def _row(name: str, found: list[dict[str, Any]]) -> str:
    failed = [one["failed"] for one in found if "failed" in one]
    if len(failed) == len(found):
        return f"| {name} | | {failed[0].replace('|', '/')} | | | | | | |"
    alpha = mean(found, "alpha", digits=4) if any("alpha" in one for one in found) else ""
    return (
        f"| {name} | {len(found) - len(failed)} | {mean(found, 'tvd', digits=4)} | {mean(found, 'tvd_max')} | "
        f"{mean(found, 'max_error', digits=4)} | {alpha} | {mean(found, 'cpu_s', digits=1)} | "
        f"{mean(found, 'wall_s', digits=1)} | {mean(found, 'peak_mb', digits=0)} |"
    )


def downstream_table(kept: Kept, methods: list[str], epsilons: list[float], seeds: int) -> list[str]:
    head = ["accuracy", "AUC", "accuracy, line", "AUC, line"]
    lines = [f"| trained on | epsilon | {' | '.join(head)} | s |", "|---" * 7 + "|"]
    asked = [("real rows", [0.0]), *((method, epsilons) for method in methods)]
    for method, at in asked:
        for epsilon in at:
            runs = [kept.run("downstream", method, epsilon, seed) for seed in range(seeds if epsilon else 1)]
            shown = [
                mean(runs, f"{learner}_{score}", digits=4)
                for learner in ("boosting", "line")
                for score in ("accuracy", "auc")
            ]
            told = f"{epsilon:g}" if epsilon else "none"
            lines.append(f"| {method} | {told} | {' | '.join(shown)} | {mean(runs, 'wall_s', digits=0)} |")
    return lines


def scale_table(kept: Kept, methods: list[str]) -> list[str]:
    lines = [
        "| method | rows | file MB | groups | certificate says | CPU s | wall s | peak MB (before: imports) |",
        "|---" * 8 + "|",
    ]
    for method in methods:
        for rows in SIZES:
            found = kept.run("scale", method, 1.0, rows)
            if "failed" in found:
                lines.append(f"| {method} | {rows:,} | {found['failed']} | | | | | |")
                continue
            lines.append(
                f"| {method} | {rows:,} | {found['file_mb']:.0f} | {found['groups']} | {found['alpha']:.4f} | "
                f"{found['cpu_s']:.0f} | {found['wall_s']:.0f} | {found['peak_mb']:.0f} ({found['start_mb']:.0f}) |"
            )
    return lines


def machine() -> str:
    import holdfast

    return (
        f"{platform.machine()}, {os.cpu_count()} cores shared with other work (wall times are upper bounds), Python "
        f"{platform.python_version()}, numpy {np.__version__}, holdfast {holdfast.__version__}, one BLAS thread"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", default=[])
    parser.add_argument("--methods")
    parser.add_argument("--epsilons", default=",".join(f"{e:g}" for e in EPSILONS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--limit", type=float, default=900.0)
    parser.add_argument("--again", action="store_true")
    asked = parser.parse_args()
    parts = asked.parts or ["errors", "downstream", "scale"]
    kept = Kept(again=asked.again, limit=asked.limit)
    methods, epsilons = names_of(asked.methods), [float(text) for text in asked.epsilons.split(",")]
    for part in parts:
        _part(part, kept, methods, epsilons, asked.seeds)
    kept.again = False
    write(Kept(again=False, limit=asked.limit), asked.seeds)


def _part(part: str, kept: Kept, methods: list[str], epsilons: list[float], seeds: int) -> list[str]:
    if part == "errors":
        return errors_table(kept, methods, epsilons, seeds)
    if part == "downstream":
        return downstream_table(
            kept, [m for m in methods if m in ("auto", "tree", "independent")], epsilons, seeds
        )
    return scale_table(kept, [m for m in methods if m in ("auto", "tree", "independent")])


class Shown(Kept):
    """Only what was run: a table of the finished runs."""

    def run(self, kind: str, method: str, epsilon: float, seed: int) -> dict[str, Any]:
        """A finished run, or a dash."""
        found: dict[str, Any] = self.runs.get(f"{kind} {method} {epsilon:g} {seed}", {"failed": "not run"})
        return found


def write(kept: Kept, seeds: int) -> None:
    """The page of results, from every run that is kept."""
    shown = Shown(again=False, limit=kept.limit)
    methods = names_of(None)
    text = [
        "# Private synthetic data",
        "",
        "Rows of `python -m studies.benchmarks.synth`; a cell that says *not run* was not asked "
        f"for. Machine: {machine()}.",
        "",
        "Adult in private-pgm's cells (48,842 rows, 14 columns, 6.4e17 possible records); the 64 3-way marginals",
        "(458,996 queries) of the query-release literature, seed 0; delta 1e-9, add_remove with a public number of",
        "rows, n rows out, fixed defaults, means over seeds 0, 1, ... Holdfast's methods spend a tenth of the",
        "budget on the certificate; the reference lines (in italics) and the published runs spend all of it on",
        "themselves. Errors are exact, seeded and not private. The certificate holds with confidence 0.95.",
        "",
        "## Errors on Adult",
        *errors_table(shown, methods, list(EPSILONS), seeds),
        "",
        "## Trained on synthetic rows, tested on real ones",
        "",
        "Income above 50K; synthesised from two thirds of Adult, tested on the last third. Boosted trees (defaults)",
        "and logistic regression (*line*, C = 0.1) of scikit-learn. Workload: all pairs of columns, and triples with",
        "the target.",
        "",
        *downstream_table(shown, ["auto", "tree", "independent"], list(EPSILONS), seeds),
        "",
        "## A million rows of 30 columns",
        "",
        "Columns of 4, 8 and 16 cells in a Parquet file, counted by DuckDB (400 MB, two threads) and never loaded; all",
        "2-way marginals, epsilon 1. Peak memory is of the whole process.",
        "",
        *scale_table(shown, ["auto", "tree", "independent"]),
    ]
    (RESULTS / "synth.md").write_text("\n".join(text) + "\n")


if __name__ == "__main__":
    main()
