"""Micali 2022, table 5.1: how the error of query release depends on n, on |Q| and on d, measured.

    python -m studies.reproductions.000_query_release [--quick] [--stored]

Writes `studies/reproductions/results/000_query_release.md` and `docs/figures/query_release.svg`. Deterministic:
records, queries and noise come from SEED. The table is upper bounds without constants; what can be measured is their
slopes.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray
from studies.reproductions.release_words import page, slope_rows
from studies.reproductions.seed_page import (
    BLUE,
    GREEN,
    INK,
    ORANGE,
    PINK,
    RED,
    LineStyle,
    Series,
    panels,
    plot,
    stamp,
    table,
    ticks,
    write,
)
from studies.reproductions.seed_tables import blocks, stored_stamp

from holdfast.data import Categorical, Schema, open_table
from holdfast.privacy import Account, ApproxDP
from holdfast.synth._evaluation import evaluate
from holdfast.synth._exact_counts import ExactCounts
from holdfast.synth._workload import Workload
from holdfast.synth._workload.query_classes import Predicates
from holdfast.synth.classics.dqrs import dqrs
from holdfast.synth.classics.dual_query import dual_query
from holdfast.synth.classics.fem import sep_fem
from holdfast.synth.classics.frank_wolfe_dual import frank_wolfe_dual
from holdfast.synth.methods.gaussian import gaussian
from holdfast.synth.methods.measure import best_rounds
from holdfast.synth.methods.method import Synthesis
from holdfast.synth.methods.mwem import mwem

Floats = NDArray[np.float64]
Results = dict[str, dict[float, list[float]]]
SEED, EPSILON, DELTA = 51000, 1.0, 1e-6
COUNTS: tuple[int, ...] = (250, 500, 1000, 2000, 4000, 8000)
QUERIES: tuple[int, ...] = (8, 32, 128, 448, 1792)
BITS: tuple[int, ...] = (4, 6, 8, 10, 12)
FIXED_COUNT, FIXED_BITS, FIXED_QUERIES = 2000, 8, 32
SEEDS, SAMPLES, FACTOR = 3, 5, 0.1
LINE_STYLES: dict[str, LineStyle] = {
    "MWEM": (BLUE, "-", "o"),
    "DualQuery": (ORANGE, (0, (6, 1.5)), "s"),
    "sepFEM": (GREEN, (0, (1, 1)), "^"),
    "DQRS": (PINK, (0, (3, 1, 1, 1)), "v"),
    "Frank-Wolfe dual": (RED, "-", "D"),
    "Gaussian, factorised": (INK, (0, (4, 2)), "x"),
}
METHODS: dict[str, Callable[[ExactCounts, Workload, Account], Synthesis]] = {
    "MWEM": lambda data, work, account: mwem(data, work, account=account, most_rounds=200, passes=2),
    "DualQuery": lambda data, work, account: dual_query(data, work, account=account, most_draws=3000),
    "sepFEM": lambda data, work, account: planned_sep_fem(data, work, account),
    "DQRS": lambda data, work, account: dqrs(data, work, account=account, most_draws=3000),
    "Frank-Wolfe dual": lambda data, work, account: frank_wolfe_dual(
        data, work, account=account, most_rounds=3000
    ),
    "Gaussian, factorised": lambda data, work, account: gaussian(data, work, account=account),
}


def planned_sep_fem(data: ExactCounts, work: Workload, account: Account) -> Synthesis:
    """With the rounds of its own rate, and a perturbation that grows as their square root.

    Its error is A / sqrt(T) + sqrt(T) log|Q| / (epsilon n) with A = d^(3/2), where MWEM has sqrt(d) (table 5.1): the
    best T is d times MWEM's. The factor of the perturbation was set at n = 2,000, where 0.03 to 0.3 err alike.
    """
    width = len(data.domain)
    as_mwem = best_rounds(
        account,
        count=data.public_count,
        log_universe=width * math.log(2.0),
        queries=work.size(data.table.schema),
        most=10**6,
    )
    rounds = width * as_mwem
    return sep_fem(
        data, work, account=account, rounds=rounds, samples=SAMPLES, perturbation=FACTOR * math.sqrt(rounds)
    )


def records(count: int, width: int, seed: int) -> ExactCounts:
    """Bits that lean one way or the other, all together: a hidden coin, 0.85 against 0.2."""
    random = np.random.default_rng([SEED, count, width, seed])
    hidden = random.random((count, 1)) < 0.3
    codes = (random.random((count, width)) < np.where(hidden, 0.85, 0.2)).astype(np.int64)
    names = [f"x{place}" for place in range(width)]
    schema = Schema([Categorical(name, ["0", "1"]) for name in names], adjacency="replace")
    return ExactCounts(open_table({name: codes[:, i].astype(str) for i, name in enumerate(names)}, schema))


def queries(count: int, width: int, seed: int) -> Workload:
    """That many different cells of 3-way marginals, at random, as functions of the whole record."""
    cells = list(product(combinations(range(width), 3), range(8)))
    random = np.random.default_rng([SEED, count, width, seed, 1])
    if len(cells) < count:  # more than there are: products of two of them
        pairs = random.integers(0, len(cells), (count, 2))
        chosen = [(cells[a], cells[b]) for a, b in pairs]
    else:
        chosen = [(cells[place],) * 2 for place in random.choice(len(cells), count, replace=False)]
    shape = (2,) * width
    everyone = np.indices(shape).reshape(width, -1)
    values = [np.minimum(*(_holds(everyone, cell) for cell in pair)).reshape(shape) for pair in chosen]
    return Workload.of([Predicates(tuple(f"x{place}" for place in range(width)), values=np.array(values))])


def _holds(everyone: NDArray[np.int64], cell: tuple[tuple[int, ...], int]) -> Floats:
    columns, value = cell
    wanted = [(value >> place) & 1 for place in range(3)]
    agree = [everyone[column] == bit for column, bit in zip(columns, wanted, strict=True)]
    return np.asarray(np.all(agree, axis=0), dtype=np.float64)


def error(name: str, data: ExactCounts, work: Workload, seed: int) -> float:
    """The largest error of a proportion."""
    currency = "gdp" if name.startswith("Gaussian") else "zcdp"
    account = Account(ApproxDP(EPSILON, DELTA), adjacency="replace", currency=currency, seed=seed)
    made = METHODS[name](data, work, account)
    return evaluate(lambda columns: data(*columns), made.model.project, work).max_error


def measure(places: tuple[int, ...], cases: list[tuple[int, int, int]], *, seeds: int) -> Results:
    """Errors at (records, queries, bits) for every place of the axis and seed."""
    found: Results = {name: {float(x): [] for x in places} for name in LINE_STYLES}
    for place, (count, asked, width) in zip(places, cases, strict=True):
        for seed in range(seeds):
            data, work = records(count, width, seed), queries(asked, width, seed)
            for name in LINE_STYLES:
                found[name][float(place)].append(error(name, data, work, SEED + seed))
    return found


def slope(series: Series, *, log: bool = False) -> float:
    """Of the line through the means, both axes logarithmic; against log x, where asked."""
    at = sorted(series)
    means = [math.log(float(np.mean(series[x]))) for x in at]
    axis = np.log(np.log(at)) if log else np.log(at)
    return float(np.polyfit(axis, means, 1)[0])


def draw(by_count: Results, by_queries: Results, by_bits: Results) -> None:
    """The three dependences, all axes logarithmic."""
    with panels("query_release", columns=3, legend=6, size=(10.4, 4.0), sharey=True) as axes:
        for place, results in zip(axes[0], (by_count, by_queries, by_bits), strict=True):
            for name, values in results.items():
                plot(place, name, values, LINE_STYLES[name])
            ticks(place, sorted(results["MWEM"]))
            place.set(yscale="log")
        axes[0, 0].set(title=f"Against n, d = {FIXED_BITS}", xlabel="n", ylabel="largest error")
        axes[0, 1].set(title=f"Against the number of queries, n = {FIXED_COUNT}", xlabel="|Q|")
        axes[0, 2].set(title=f"Against d, {FIXED_QUERIES} queries", xlabel="d")


def main() -> int:
    """Release, draw, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="one seed of a few sizes, nothing written")
    parser.add_argument(
        "--stored", action="store_true", help="measure nothing: the words of the stored page again"
    )
    asked = parser.parse_args()
    if asked.stored:
        write("000_query_release", page(blocks("000_query_release"), stored_stamp("000_query_release")))
        return 0
    cut, seeds = (slice(0, 4, 2), 1) if asked.quick else (slice(None), SEEDS)
    counts, numbers, widths = COUNTS[cut], QUERIES[cut], BITS[cut]
    begin = time.process_time()
    by_count = measure(counts, [(n, 448, FIXED_BITS) for n in counts], seeds=seeds)
    by_queries = measure(numbers, [(FIXED_COUNT, each, FIXED_BITS) for each in numbers], seeds=seeds)
    by_bits = measure(widths, [(FIXED_COUNT, FIXED_QUERIES, width) for width in widths], seeds=seeds)
    made = stamp("000_query_release", SEED, time.process_time() - begin, seeds=seeds)
    slopes = {
        name: (slope(by_count[name]), slope(by_queries[name], log=True), slope(by_bits[name]))
        for name in LINE_STYLES
    }
    asked_of = f"Against the number of queries (n = {FIXED_COUNT:,}, d = {FIXED_BITS})"
    found = {
        f"Against n (d = {FIXED_BITS}, all 448 cells)": table("n =", counts, by_count),
        asked_of: table("queries =", numbers, by_queries),
        f"Against d (n = {FIXED_COUNT:,}, {FIXED_QUERIES} queries)": table("d =", widths, by_bits),
        "Slopes": slope_rows(slopes),
    }
    lines = page(found, made)
    if not asked.quick:
        write("000_query_release", lines)
        draw(by_count, by_queries, by_bits)
    sys.stdout.write("\n".join(lines) + "\n")
    if asked.quick:
        sys.stdout.write("\n--quick: one seed of a few sizes; slopes of single runs are no rates.\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
