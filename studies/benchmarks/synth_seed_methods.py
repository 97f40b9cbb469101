"""The seeds' query-release methods on Adult, what factorising saves, what rows can fit, and how good the oracle is.

Run: python -m studies.benchmarks.synth_seed_methods [--epsilons 1] [--seeds 1] [--save]. Data: Adult in private-pgm's
cells, 64 3-way marginals (`studies.benchmarks.synth_data`), add_remove with a public count, delta 1e-9; noise is
seeded with 0, 1, ... One thread, CPU seconds; other work on the machine adds some. About 5 CPU minutes with
the defaults; `studies.benchmarks.synth` has all methods, budgets and seeds.
"""

from __future__ import annotations

import argparse
import platform
import resource
import sys
import time
from collections.abc import Iterator
from importlib.metadata import version
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from studies.benchmarks.synth_data import ROWS, adult_domain, adult_table, adult_workload

from holdfast.noise._source import Source
from holdfast.privacy import Account, ApproxDP, PrivacyUnit
from holdfast.synth import SYNTHESISERS
from holdfast.synth._evaluation import evaluate, reference_lines
from holdfast.synth._exact_counts import ExactCounts
from holdfast.synth._models.model import Measurement
from holdfast.synth._models.oracle import RecordObjective, best_records
from holdfast.synth._rows.coded_rows import CodedRows
from holdfast.synth._rows.fit_rows import fit_rows, misfit
from holdfast.synth._workload.residual_basis import Strategy
from holdfast.synth.classics.dqrs import rejection, round_cost
from holdfast.synth.classics.dual_query import DualQueryPlan

RESULTS = Path(__file__).parent / "results" / "synth_seed_methods.md"
DELTA = 1e-9
RUNS: list[tuple[str, str, dict[str, Any]]] = [
    ("gaussian, factorised (rows fitted)", "gaussian", {}),
    ("gaussian, table by table (rows fitted)", "gaussian", {"factorised": False}),
    ("mwem, factored over a graphical model", "mwem", {}),
    ("mwem without measurements, sampled support", "mwem", {"measure": False}),
    ("frank_wolfe_dual, sampled support", "frank_wolfe_dual", {}),
    ("fem", "fem", {}),
    ("sep_fem", "sep_fem", {}),
    ("dual_query", "dual_query", {"most_draws": 500}),
    ("dqrs", "dqrs", {"most_draws": 500}),
]


def adult(epsilons: list[float], seeds: int) -> Iterator[str]:
    """Average total variation and largest error of n rows, beside the four lines."""
    data, work = ExactCounts(adult_table()), adult_workload()
    methods = {method.name: method for method in SYNTHESISERS}
    yield "## Adult, 64 3-way marginals, n rows"
    yield ""
    yield f"Entries: average total variation / largest error, then CPU seconds; mean of {seeds} seed(s)."
    yield ""
    yield "| | " + " | ".join(f"ε = {epsilon:g}" for epsilon in epsilons) + " |"
    yield "|---|" + "---|" * len(epsilons)
    lines = [reference_lines(data, work, epsilon=epsilon, delta=DELTA) for epsilon in epsilons]
    for line in zip(*lines, strict=True):
        cells = [f"{each.average_total_variation:.3f} / {each.max_error:.4f}" for each in line]
        yield f"| line: {line[0].name} | " + " | ".join(cells) + " |"
    for label, name, options in RUNS:
        cells = []
        for epsilon in epsilons:
            found = []
            for seed in range(seeds):
                account = Account(
                    ApproxDP(epsilon, DELTA),
                    adjacency="add_remove",
                    currency=methods[name].currency,
                    seed=seed,
                )
                began = time.process_time()
                made = methods[name].fit(data, work, account=account, **options)
                spent = time.process_time() - began
                rows = CodedRows(domain=data.domain, codes=made.model.sample(ROWS, Source(seed=seed)))
                result = evaluate(lambda columns: data(*columns), rows, work)
                found.append((result.average_total_variation, result.max_error, spent))
            mean = np.mean(found, axis=0)
            cells.append(f"{mean[0]:.3f} / {mean[1]:.4f} ({mean[2]:.0f} s)")
        yield f"| {label} | " + " | ".join(cells) + " |"


def noise() -> Iterator[str]:
    """What the residual basis saves, in closed form: no data are read."""
    domain = adult_domain()
    bits = {f"x{place}": 2 for place in range(16)}
    cases: dict[str, tuple[dict[str, int], list[tuple[str, ...]]]] = {
        "Adult, the 64 3-way marginals": (
            domain,
            [tuple(group.columns) for group in adult_workload().groups],
        ),
        "Adult, all 91 2-way marginals": (domain, list(combinations(domain, 2))),
        "16 bits, all 560 3-way marginals": (bits, list(combinations(bits, 3))),
    }
    yield "## Gaussian noise: factorised against table by table"
    yield ""
    yield "Standard deviation of a cell for one unit of μ (add_remove, total public); K tables alone have sqrt(K)."
    yield ""
    yield "| workload | table by table | factorised for the largest | ratio | for the sum: root mean square |"
    yield "|---|---:|---:|---:|---:|"
    for name, (held, sets) in cases.items():
        plain = len(sets) ** 0.5
        best = Strategy.of(held, sets, total=False)
        scale = best.sensitivity("add_remove", PrivacyUnit.row())
        largest = scale * max(best.variance(columns) for columns in sets) ** 0.5
        total = Strategy.of(held, sets, objective="sum", total=False)
        scale = total.sensitivity("add_remove", PrivacyUnit.row())
        sizes = [float(np.prod([held[column] for column in columns])) for columns in sets]
        mean = scale * float(np.average([total.variance(columns) for columns in sets], weights=sizes)) ** 0.5
        yield f"| {name} | {plain:.2f} | {largest:.2f} | {largest / plain:.2f} | {mean:.2f} |"


def sweeps() -> Iterator[str]:
    """Rows fitted to the 64 noisy tables, from independent columns, sweep by sweep."""
    data, work = ExactCounts(adult_table()), adult_workload()
    sets = [tuple(group.columns) for group in work.groups]
    yield "## fit_rows, sweep by sweep"
    yield ""
    yield "48,842 rows, normal noise on the 64 tables (NumPy seed 0), from independent columns."
    yield ""
    yield "| noise | sweep | misfit per cell | average total variation | largest error | CPU s |"
    yield "|---:|---:|---:|---:|---:|---:|"
    for deviation in (5.0, 40.0):
        random = np.random.default_rng(0)
        measured = [
            Measurement(
                columns=columns, values=table + random.normal(0, deviation, table.shape), noise_std=deviation
            )
            for columns, table in zip(sets, data.counts(sets), strict=True)
        ]
        codes, source = None, Source(seed=0)
        for sweep in range(1, 6):
            began = time.process_time()
            codes = fit_rows(measured, data.domain, ROWS, source, start=codes, sweeps=1)
            spent = time.process_time() - began
            rows = CodedRows(domain=data.domain, codes=codes)
            result = evaluate(lambda columns: data(*columns), rows, work)
            fit = misfit(measured, data.domain, codes) / sum(entry.values.size for entry in measured)
            yield (
                f"| {deviation:g} | {sweep} | {fit:.3f} | {result.average_total_variation:.4f} "
                f"| {result.max_error:.5f} | {spent:.1f} |"
            )


def oracles() -> Iterator[str]:
    """Coordinate ascent against HiGHS on sums of random signed cells of Adult's 64 tables."""
    domain, work = adult_domain(), adult_workload()
    yield "## The oracle: coordinate ascent against HiGHS"
    yield ""
    yield "Sums of random signed cells of the 64 tables, drawn by the independent columns of Adult's cells; 5 each."
    yield ""
    yield "| queries | ascent / optimum | ascent s | HiGHS s | largest proved gap |"
    yield "|---:|---:|---:|---:|---:|"
    groups = [tuple(group.columns) for group in work.groups]
    for count in (10, 30, 100):
        random = np.random.default_rng(count)
        ratios, seconds, gaps = [], [], []
        for _ in range(5):
            objective = RecordObjective(domain=domain)
            for _ in range(count):
                columns = groups[int(random.integers(len(groups)))]
                # Low codes are likelier, so that queries overlap as released ones do.
                cell = tuple(int(domain[name] * random.random() ** 3) for name in columns)
                table = np.zeros([domain[name] for name in columns])
                table[cell] = 1.0
                objective.add(columns, table, float(random.choice([-1.0, 1.0])))
            times = []
            for name in ("ascent", "milp"):
                began = time.process_time()
                found = best_records(objective, Source(seed=1), oracle=name)
                times.append((time.process_time() - began, found))
            ratios.append(times[0][1].values[0] / times[1][1].values[0])
            seconds.append([spent for spent, _ in times])
            gaps.append(times[1][1].gap)
        mean = np.mean(seconds, axis=0)
        yield f"| {count} | {np.mean(ratios):.3f} | {mean[0]:.3f} | {mean[1]:.2f} | {max(gaps):.1e} |"


def saved() -> Iterator[str]:
    """What rejection sampling saves DualQuery in zCDP, in expectation."""
    yield "## DQRS: what keeping queries saves"
    yield ""
    yield "Expected cost of T rounds in zCDP over DualQuery's for the same step, rounds and draws."
    yield ""
    yield "| step | T = 20 | T = 100 | T = 500 | least redraw probability at T = 100 |"
    yield "|---:|---:|---:|---:|---:|"
    for step in (0.01, 0.03, 0.1, 0.3, 1.0):
        cells = []
        for rounds in (20, 100, 500):
            plan = DualQueryPlan(rounds=rounds, samples=1, step=step)
            cost = sum(round_cost(plan, past, 1000.0) for past in range(1, rounds))
            cells.append(f"{cost / plan.rho(1000.0):.2f}")
        least = rejection(DualQueryPlan(rounds=101, samples=1, step=step), 100)
        yield f"| {step:g} | " + " | ".join(cells) + f" | {least:.2f} |"


def main() -> int:
    """Measure, print, write where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--epsilons", type=float, nargs="+", default=[1.0])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--save", action="store_true")
    given = parser.parse_args()
    machine = (
        f"{platform.machine()}, 2 shared cores, Python {platform.python_version()}, NumPy {version('numpy')}"
    )
    lines = ["# Query release: the seeds' methods", ""]
    lines += [
        "Made by `python -m studies.benchmarks.synth_seed_methods --save`, one thread. "
        f"{machine}, SciPy {version('scipy')}."
    ]
    for part in (noise(), saved(), oracles(), sweeps(), adult(given.epsilons, given.seeds)):
        lines.append("")
        for line in part:
            lines.append(line)
            sys.stdout.write(line + "\n")
            sys.stdout.flush()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    lines += ["", f"Peak memory of the whole run: {peak:,} MB."]
    if given.save:
        RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
