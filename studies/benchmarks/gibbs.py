"""The regularised exponential mechanism beside output and objective perturbation and `auto`: accuracy, time, memory.

Run with `HOLDFAST_DATA=... python -m studies.benchmarks.gibbs [--save]`. A cell is one table, method and epsilon; those
that are done are kept in `studies/benchmarks/results/gibbs.json` and not run again (`--again` forgets them). Fixed
rules only: nothing is tuned here. BLAS has one thread, so CPU seconds are those of the arithmetic.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import dataclasses
import json
import platform
import time
import tracemalloc
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from studies.benchmarks.learning_data import adult, covertype
from studies.reproductions.seed_data import pima, warfarin

import holdfast._kernel
from holdfast.learn._choice import choose_learner, find_learner
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import HuberRegression, Logistic
from holdfast.learn._rows.examples import ArrayExamples
from holdfast.learn.methods.method import PublicFacts
from holdfast.privacy import Account, Adjacency, ApproxDP

Floats = NDArray[np.float64]
STORE = Path(__file__).parent / "results" / "gibbs.json"
RESULTS = STORE.with_suffix(".md")
EPSILONS = (0.1, 1.0, 4.0)
METHODS = ("gibbs", "output", "objective", "auto")
COVERTYPE_ROWS = 50_000


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Bench:
    """A table, how often it is fitted, and what is measured on its test rows."""

    load: Callable[[int], Any]
    fits: int
    loss: Any
    metric: str = "accuracy"

    def score(self, split: Any, weights: Floats) -> float:
        """Share of test rows on the right side, or the mean absolute error."""
        found = split.test @ weights
        if self.metric == "accuracy":
            return float(np.mean((found > 0) == (split.test_labels > 0)))
        return float(np.mean(np.abs(found - split.test_labels)))


@cache
def _adult() -> Any:
    return adult()


@cache
def _covertype() -> Any:
    split = covertype()
    return dataclasses.replace(
        split, train=split.train[:COVERTYPE_ROWS].copy(), train_labels=split.train_labels[:COVERTYPE_ROWS]
    )


@cache
def _turned() -> Any:
    """Adult's rows in random axes: the same problem without a zero in it."""
    split = adult()
    axes = np.linalg.qr(np.random.default_rng(0).normal(size=(split.train.shape[1],) * 2))[0]
    return dataclasses.replace(split, name="Adult, dense", train=split.train @ axes, test=split.test @ axes)


TABLES: dict[str, Bench] = {
    "Adult": Bench(load=lambda seed: _adult(), fits=5, loss=Logistic()),
    "Covertype": Bench(load=lambda seed: _covertype(), fits=3, loss=Logistic()),
    "Pima": Bench(load=pima, fits=100, loss=Logistic()),
    "Warfarin": Bench(load=warfarin, fits=20, loss=HuberRegression(), metric="mean absolute error"),
}


def fitted(
    bench: Bench, split: Any, name: str, epsilon: float, seed: int
) -> tuple[float, float, dict[str, Any]]:
    """Score, CPU seconds and the released parameters of one fit."""
    count, dimension = split.train.shape
    limit = ApproxDP(epsilon, count**-1.5)
    problem = Problem(loss=bench.loss, dimension=dimension)
    examples = ArrayExamples(
        features=split.train, labels=split.train_labels, adjacency=Adjacency.replace, public_count=count
    )
    options: dict[str, Any] = {}
    start = time.process_time()
    if name == "auto":
        choice = choose_learner(problem, count=count, limit=limit, adjacency="replace")
        method, options = choice.learner, dict(choice.options)
    else:
        method = find_learner(name)
        if method.needs_penalty(problem):
            facts = PublicFacts(problem=problem, count=count, limit=limit, adjacency=Adjacency.replace)
            problem = dataclasses.replace(problem, penalty=method.default_penalty(facts))
    account = Account(limit, adjacency="replace", currency=method.currency, seed=seed)
    fit = method.fit(examples, problem, account=account, **options)
    return bench.score(split, fit.weights), time.process_time() - start, dict(fit.parameters)


def cell(table: str, name: str, epsilon: float) -> dict[str, Any]:
    """Mean and deviation over fits, seconds of the median one, and what is public of the sampler."""
    bench = TABLES[table]
    if name == "objective" and bench.loss.name != "logistic":
        return {"refused": "its proof needs two derivatives"}
    found = [fitted(bench, bench.load(seed), name, epsilon, seed) for seed in range(bench.fits)]
    told = {
        key: found[0][2].get(key) for key in ("k", "mu", "sampler", "rounds", "eta") if key in found[0][2]
    }
    scores = [score for score, _, _ in found]
    return {
        "score": float(np.mean(scores)),
        "deviation": float(np.std(scores)),
        "fits": bench.fits,
        "seconds": float(np.median([seconds for _, seconds, _ in found])),
        "plan": told,
    }


def dense_cell() -> dict[str, Any]:
    """Adult turned round: 32,561 x 108 without zeros, at epsilon 4."""
    score, seconds, told = fitted(TABLES["Adult"], _turned(), "gibbs", 4.0, 0)
    return {"score": score, "seconds": seconds, "rounds": told["rounds"], "eta": told["eta"]}


def memory_cell(dense: bool) -> dict[str, Any]:
    """The most that one fit holds beside the rows, in units of the rows."""
    split = _turned() if dense else _adult()
    tracemalloc.start()
    fitted(TABLES["Adult"], split, "gibbs", 0.1, 0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return {"rows": split.train.nbytes / 2**20, "peak": peak / 2**20, "share": peak / split.train.nbytes}


def cells() -> Iterator[tuple[str, Callable[[], dict[str, Any]]]]:
    """All of them, the quick ones first."""
    yield from _of_tables("Pima", "Warfarin", "Adult")
    yield "dense", dense_cell
    yield "memory/sparse", lambda: memory_cell(dense=False)
    yield "memory/dense", lambda: memory_cell(dense=True)
    yield from _of_tables("Covertype")


def _of_tables(*tables: str) -> Iterator[tuple[str, Callable[[], dict[str, Any]]]]:
    for table in tables:
        for epsilon in EPSILONS:
            for name in METHODS:
                yield (
                    f"{table}/{name}/{epsilon:g}",
                    lambda t=table, m=name, e=epsilon: cell(t, m, e),  # type: ignore[misc]
                )


def report(done: dict[str, Any]) -> str:
    """The tables, and sentences made of their numbers."""
    machine = f"{platform.machine()}, Python {platform.python_version()}, NumPy {np.__version__}, kernel "
    lines = [
        "# The regularised exponential mechanism",
        "",
        "Made by `python -m studies.benchmarks.gibbs --save`: `replace`, delta = n^-1.5, "
        "idealised arithmetic for gibbs and "
        f"each method's own otherwise, seeds 0, 1, ...; {machine}{holdfast._kernel.implementation}, one thread. Scores "
        "are means over fits with their deviation in brackets; CPU seconds are of the median fit.",
        "",
    ]
    for table, bench in TABLES.items():
        lines += [
            f"| {table}, {bench.metric} | "
            + " | ".join(f"epsilon {epsilon:g}" for epsilon in EPSILONS)
            + " |",
            "|---|" + "---|" * len(EPSILONS),
        ]
        for name in METHODS:
            shown = [_shown(done.get(f"{table}/{name}/{epsilon:g}")) for epsilon in EPSILONS]
            lines.append(f"| {name} | " + " | ".join(shown) + " |")
        lines.append("")
    lines += ["| gibbs | k | mu | sampler | rounds | eta | CPU s |", "|---|---|---|---|---|---|---|"]
    for table in TABLES:
        for epsilon in EPSILONS:
            one = done.get(f"{table}/gibbs/{epsilon:g}")
            if one:
                p = one["plan"]
                lines.append(
                    f"| {table}, epsilon {epsilon:g} | {p['k']:.4g} | {p['mu']:.3g} | {p['sampler']} | "
                    f"{p['rounds']:,} | {p['eta']:.2g} | {one['seconds']:.2f} |"
                )
    lines.append("")
    return "\n".join(lines + _sentences(done)) + "\n"


def _shown(one: dict[str, Any] | None) -> str:
    if one is None:
        return ""
    if "refused" in one:
        return f"refused: {one['refused']}"
    return f"{one['score']:.4f} ({one['deviation']:.4f}), {one['seconds']:.2f} s"


def _sentences(done: dict[str, Any]) -> list[str]:
    lines: list[str] = []
    pairs = [(table, epsilon) for table in TABLES for epsilon in EPSILONS]

    def score(table: str, name: str, epsilon: float) -> float | None:
        found: float | None = done.get(f"{table}/{name}/{epsilon:g}", {}).get("score")
        return found if found is None or TABLES[table].metric == "accuracy" else -found

    for rival in METHODS[1:]:
        both = [(score(t, "gibbs", e), score(t, rival, e), f"{t} at epsilon {e:g}") for t, e in pairs]
        known = [(a, b, where) for a, b, where in both if a is not None and b is not None]
        ahead = [where for a, b, where in known if a > b]
        lines.append(
            f"gibbs is ahead of {rival} in {len(ahead)} of {len(known)} cells"
            + (f": {', '.join(ahead)}." if 0 < len(ahead) < len(known) else ".")
        )
    if "dense" in done:
        one = done["dense"]
        lines.append(
            f"Adult's rows turned to random axes, 32,561 x 108 without a zero, at epsilon 4: {one['seconds']:.1f} CPU "
            f"s for {one['rounds']:,} rounds, eta = {one['eta']:.2g}."
        )
    for kind in ("sparse", "dense"):
        one = done.get(f"memory/{kind}")
        if one:
            lines.append(
                f"Beside {one['rows']:.1f} MiB of {kind} rows a fit holds at most {one['peak']:.1f} MiB, "
                f"{one['share']:.2f} times the rows."
            )
    return lines


def main() -> None:
    """Cells that are not there yet, then the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--save", action="store_true", help="write cells and page into studies/benchmarks/results"
    )
    parser.add_argument("--again", action="store_true", help="forget what is there")
    parser.add_argument("--only", default="", help="cells whose name begins so")
    options = parser.parse_args()
    known = STORE.is_file() and not options.again
    done: dict[str, Any] = json.loads(STORE.read_text(encoding="utf-8")) if known else {}
    for name, run in cells():
        if name in done or not name.startswith(options.only):
            continue
        done[name] = run()
        print(name, done[name], flush=True)
        if options.save:
            STORE.write_text(json.dumps(done, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    text = report(done)
    if options.save:
        RESULTS.write_text(text, encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
