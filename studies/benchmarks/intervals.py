"""Coverage and width of intervals for coefficients, over sizes, epsilons, designs and neighbours.

Run with `python -m studies.benchmarks.intervals --save`: every cell is written to `results/intervals.json` as it is
made, and a run that was stopped goes on from there; `--write` makes the page and the figure's numbers from what is
stored.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import platform
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from studies.benchmarks.interval_runs import UNSEEN, Cell, excess, shortfall, simulate

RESULTS = Path(__file__).parent / "results"
STORE = RESULTS / "intervals.json"
RUNS = 2_000
ROWS, EPSILONS = (500, 1_000, 2_000, 5_000, 20_000), (0.3, 0.5, 1.0, 2.0, 4.0)
FEW, FURTHER = 40, 10
"""Where fewer intervals were issued, so many times the tables are simulated: the mean of six says little."""
EARLIER = (
    "A first set of designs that nobody had looked at failed in three cells (rare positives and skewed columns,"
    " 500 rows at epsilon 4: .87 and .82 covered; strong correlation: 1.153 wide). The rule was changed for the"
    " reasons that they showed, they count as looked at since, and other designs took their place. Seeds are "
    "the same in every run: that no cell is left is partly selection, and with other seeds one or two of those "
    "that issue a handful of intervals may fall short."
)

WIDEST = 1.15
"""Mean width of Wald intervals, as a multiple of the oracle's."""


def cells() -> Iterator[Cell]:
    """The grid, refusals included; the most telling first."""
    for design in ("linear", "logistic"):
        for rows in ROWS:
            for epsilon in EPSILONS:
                yield Cell(design=design, adjacency="zero_out", rows=rows, epsilon=epsilon)
    for design in ("linear", "logistic"):
        for adjacency in ("replace", "add_remove"):
            for rows in (500, 2_000):
                for epsilon in EPSILONS:
                    yield Cell(design=design, adjacency=adjacency, rows=rows, epsilon=epsilon)
    others = ("linear, clipped", "linear, 5 columns", "logistic, strong", "logistic, 5 columns")
    rare = ("logistic, 5 % positive", "logistic, 1 column, 5 % positive")
    looked_at = (
        "logistic, 3 columns, correlated",
        "logistic, heavy tails",
        "logistic, 3 columns, 8 % positive",
        "linear, 1 column",
        "linear, correlated",
        "linear, heavy tails",
        "logistic, 4 columns",
        "logistic, 15 % positive, correlated",
        "linear, strongly correlated",
        "linear, 8 columns",
        "linear, skewed, outlying noise",
        "logistic, strongly correlated",
        "logistic, 8 columns",
        "logistic, 10 % positive",
        "logistic, skewed",
    )
    for design in (*others, *rare, *looked_at, *UNSEEN):
        for rows in (500, 2_000, 20_000):
            for epsilon in EPSILONS:
                yield Cell(design=design, adjacency="zero_out", rows=rows, epsilon=epsilon)
    for design in ("linear", "logistic", "logistic, strong"):  # where about half are refused
        for rows, epsilon in ((700, 1.0), (1_500, 0.5), (4_000, 1.0)):
            yield Cell(design=design, adjacency="zero_out", rows=rows, epsilon=epsilon)
    for design, rows, epsilon in (
        ("linear, narrow", 500, 1.0),
        ("linear, narrow", 2_000, 0.3),
        ("linear", 500, 0.3),
        ("linear, heavy tails", 500, 1.0),
        ("linear, strongly correlated", 500, 1.0),
        ("linear, skewed, outlying noise", 500, 0.5),
    ):
        yield Cell(design=design, adjacency="zero_out", rows=rows, epsilon=epsilon, method="test_inversion")


def loaded() -> dict[str, Any]:
    return json.loads(STORE.read_text()) if STORE.exists() else {}


def commit() -> str:
    def git(*words: str) -> str:
        return subprocess.run(["git", *words], capture_output=True, text=True, check=False).stdout.strip()

    edits = git("status", "--porcelain", "src", "studies/benchmarks", ":!studies/benchmarks/results")
    return git("rev-parse", "HEAD") + (" with edits" if edits else "")


def measure(runs: int) -> None:
    store, made_by = loaded(), commit()
    for cell, tables in itertools.product(cells(), (runs, FURTHER * runs)):
        found = store.get(cell.key, {"runs": 0, "issued": 1})
        if found["runs"] >= (tables if 0 < found["issued"] < FEW else runs):
            continue
        started = time.process_time()
        found = simulate(cell, tables)
        found |= {"cpu": round(time.process_time() - started, 1), "commit": made_by}
        store[cell.key] = found
        STORE.write_text(json.dumps(store, indent=1) + "\n")
        print(cell.key, found, flush=True)


def line(cell: Cell, found: dict[str, Any]) -> str:
    issued, runs = found["issued"], found["runs"]
    start = f"| {cell.rows:,} | {cell.epsilon:g} | {cell.adjacency} | {100 * (1 - issued / runs):.1f} %"
    if not issued:
        return f"{start} | | | |"
    floor = found["level"] - 3 * math.sqrt(found["level"] * (1 - found["level"]) / issued)
    width = f"{max(found['width']):.3f}" if found["width"] else ""
    return f"{start} | {min(found['coverage']):.4f} | {floor:.4f} | {width} |"


def refused(design: str, shown: list[tuple[Cell, dict[str, Any]]]) -> str:
    """Shares of the plain design, in one line."""
    parts = []
    for rows in ROWS:
        shares = [
            f"{100 * (1 - found['issued'] / found['runs']):.0f}"
            for cell, found in shown
            if (cell.design, cell.rows, cell.adjacency, cell.method) == (design, rows, "zero_out", "wald")
            and cell.epsilon in EPSILONS
        ]
        parts.append(f"{rows:,} rows {'/'.join(shares)}")
    told = "/".join(f"{epsilon:g}" for epsilon in EPSILONS)
    return f"- Refused, design `{design}`, per cent at epsilon {told}: {'; '.join(parts)}."


def page(store: dict[str, Any]) -> str:
    import holdfast

    shown = [(cell, store[cell.key]) for cell in cells() if cell.key in store]
    issued = [(cell, found) for cell, found in shown if found["issued"]]
    below = [f"{cell.key}, {found['issued']} issued" for cell, found in issued if shortfall(found) > 3]
    wide = [
        f"{cell.key}, {found['issued']} issued"
        for cell, found in issued
        if found["width"] and max(found["width"]) > WIDEST
    ]
    unseen = [(cell, found) for cell, found in issued if cell.design in UNSEEN]
    commits = sorted({found["commit"] for _, found in shown})
    lines = [
        "# Intervals for coefficients",
        "",
        f"Made by `python -m studies.benchmarks.intervals --save`: {len(shown)} cells of "
        f"{min((found['runs'] for _, found in shown), default=0):,} simulated tables, "
        f"{FURTHER} times as many where fewer than {FEW} intervals were issued, seeds 0, 1, ..., delta = "
        f"n^-1.5, the arithmetic of `ssp`, `newton` and `conf_int` on stacks of tables. Commit {', '.join(commits)}; "
        f"{platform.machine()}, Python {platform.python_version()}, holdfast {holdfast.__version__}, one thread, "
        f"{sum(found['cpu'] for _, found in shown) / 60:.0f} CPU minutes.",
        "",
        "<!-- in short -->",
        "Coverage is that of the worst coefficient among the intervals issued, nominal 95 %; the floor is three "
        "standard errors below. Width is the largest, over coefficients, of the mean width over that of an oracle who "
        "knows design, coefficients and variances.",
        "",
        f"Cells below the floor: {len(below)} of {len(issued)}"
        + (f" ({'; '.join(below)})" if below else "")
        + ". "
        f"Cells of a mean width above {WIDEST} times the oracle's: {len(wide)}"
        + (f" ({'; '.join(wide)})" if wide else "")
        + f", by more than three standard errors of the mean: {sum(excess(found, WIDEST) > 3 for _, found in issued)}.",
        "",
        f"Not looked at while the rule of refusal was made: {'; '.join(UNSEEN)}. Of their {len(unseen)} cells with "
        f"intervals {sum(shortfall(found) > 3 for _, found in unseen)} are below the floor and "
        f"{sum(bool(found['width']) and max(found['width']) > WIDEST for _, found in unseen)} too wide.",
        "",
        EARLIER,
        "",
        *(refused(design, shown) for design in ("linear", "logistic")),
        "",
        "<!-- cells -->",
        "",
    ]
    for design, method in dict.fromkeys((cell.design, cell.method) for cell, _ in shown):
        lines += [
            f"## {design}, {'test inversion' if method != 'wald' else 'Wald'}",
            "",
            "| rows | epsilon | neighbours | refused | coverage | floor | width |",
            "|---|---|---|---|---|---|---|",
        ]
        lines += [
            line(cell, found) for cell, found in shown if (cell.design, cell.method) == (design, method)
        ]
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--save", action="store_true", help="measure what is missing and write the page")
    parser.add_argument("--write", action="store_true", help="write the page from what is stored")
    parser.add_argument("--runs", type=int, default=RUNS, help="simulated tables of each cell")
    told = parser.parse_args()
    if told.save:
        measure(told.runs)
    made = page(loaded())
    if told.save or told.write:
        (RESULTS / "intervals.md").write_text(made)
    print(made)


if __name__ == "__main__":
    main()
