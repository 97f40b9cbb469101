"""Micali 2022, tables 3.1 and 3.2: how the excess risk of DP-SGD and DP-FW depends on n and d, measured.

    python -m studies.reproductions.000_excess_risk [--quick] [--stored]

Writes `studies/reproductions/results/000_excess_risk.md` and `docs/figures/excess_risk.svg`. Deterministic: rows and
noise come from SEED. The tables are upper bounds without constants; what can be measured is their slopes.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray
from studies.reproductions.excess_words import FW, FW_LOOSE, FW_PEOPLE, SGD, SGD_PEOPLE, page, slope_rows
from studies.reproductions.seed_page import (
    BLUE,
    GREEN,
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

from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import Logistic
from holdfast.learn._rows.examples import ArrayExamples
from holdfast.learn.classics.dp_sgd import DpSgdOptions, dp_sgd, plan_for
from holdfast.learn.classics.frank_wolfe import frank_wolfe
from holdfast.privacy import Account, ApproxDP
from holdfast.privacy._adjacency import Adjacency

Floats = NDArray[np.float64]
Results = dict[str, dict[float, list[float]]]
SEED, SEEDS, EPSILON, DELTA, RADIUS, FILLED = 20000, 5, 1.0, 1e-6, 10.0, 10
RATE, STEPS = 0.05, 200
COUNTS, DIMENSIONS = (500, 1000, 2000, 4000, 8000, 16000), (10, 30, 100, 300, 1000)
FIXED_COUNT, FIXED_DIMENSION = 4000, 50
LOOSE = 420.5 / 45.3
"""The noise of 000, theorem 25, over what the exponential mechanism in zCDP needs (soundness, section 8)."""
FRESH = 20_000
"""People who were not trained on, for the risk of the population."""
LINE_STYLES: dict[str, LineStyle] = {
    SGD: (ORANGE, (0, (6, 1.5)), "s"),
    FW: (BLUE, "-", "o"),
    FW_LOOSE: (RED, (0, (3, 1, 1, 1)), "v"),
    SGD_PEOPLE: (PINK, (0, (1, 1.5)), "x"),
    FW_PEOPLE: (GREEN, (0, (1, 1.5)), "+"),
}


def rows(count: int, dimension: int, seed: int) -> ArrayExamples:
    """Ten entries of +-1/sqrt(10) in each row, the first always there; the label depends on the first alone.

    So the L2 norm (1) and the largest entry of a row do not change with the dimension, and neither does the
    best model: what is left is the factor that the tables speak of.
    """
    generator = np.random.default_rng([SEED, count, dimension, seed])
    others = np.argsort(generator.random((count, dimension - 1)), axis=1)[:, : FILLED - 1] + 1
    features = np.zeros((count, dimension))
    signs = generator.choice([-1.0, 1.0], size=(count, FILLED)) / math.sqrt(FILLED)
    np.put_along_axis(features, np.column_stack([np.zeros(count, dtype=np.int64), others]), signs, axis=1)
    likely = generator.random(count) < 1.0 / (1.0 + np.exp(-RADIUS * features[:, 0]))
    return ArrayExamples(
        features=features,
        labels=np.where(likely, 1.0, -1.0),
        adjacency=Adjacency.zero_out,
        public_count=count,
    )


@cache
def others(dimension: int) -> ArrayExamples:
    """People of the same law."""
    return rows(FRESH, dimension, 1_000)


def risk(examples: ArrayExamples, weights: Floats) -> float:
    """Mean loss over the training rows."""
    return float(np.mean(Logistic().values(examples.features @ weights, examples.labels)))


def onto_l2(weights: Floats) -> Floats:
    """The nearest point of the ball."""
    return np.asarray(weights * min(1.0, RADIUS / max(float(np.linalg.norm(weights)), 1e-300)))


def onto_l1(weights: Floats) -> Floats:
    """The nearest point of the cross-polytope, by sorting."""
    size = np.abs(weights)
    if size.sum() <= RADIUS:
        return weights
    falling = np.sort(size)[::-1]
    excess = (np.cumsum(falling) - RADIUS) / np.arange(1, size.size + 1)
    return np.asarray(np.sign(weights) * np.maximum(size - excess[falling > excess][-1], 0.0))


def least_risk(examples: ArrayExamples, onto: Callable[[Floats], Floats], *, steps: int = 400) -> float:
    """The minimum over a set, without privacy: accelerated projected gradient descent, step 1/smoothness."""
    x, y, loss = examples.features, examples.labels, Logistic()
    direction = np.ones(x.shape[1])
    for _ in range(30):  # power iteration, and a fifth more to be safe
        direction = x.T @ (x @ (direction / np.linalg.norm(direction)))
    smoothness = 1.2 * 0.25 * float(np.linalg.norm(direction)) / len(y)
    w = ahead = np.zeros(x.shape[1])
    for t in range(steps):
        new = onto(ahead - loss.slopes(x @ ahead, y) @ x / (len(y) * smoothness))
        w, ahead = new, new + t / (t + 3.0) * (new - w)
    return risk(examples, w)


def population_excess(fresh: ArrayExamples, weights: Floats) -> float:
    """Over the law's own weights, which no others beat on the population: labels are drawn from them."""
    best = np.zeros(fresh.dimension)
    best[0] = RADIUS
    return risk(fresh, weights) - risk(fresh, best)


def sgd(examples: ArrayExamples, seed: int) -> Floats:
    """Over the L2 ball, step R / (G sqrt(T)) with G the noise of a gradient, at most 4; the mean of the last half."""
    problem = Problem(loss=Logistic(), dimension=examples.dimension, radius=RADIUS)
    limit, count = ApproxDP(EPSILON, DELTA), examples.public_count
    options = DpSgdOptions(rate=RATE, steps=STEPS)
    plan = plan_for(
        problem, limit, count=count, adjacency="zero_out", options=options, arithmetic="idealised"
    )
    noise = float(plan[0][0].sigma) / (RATE * count)
    step = min(4.0, RADIUS / (math.sqrt(examples.dimension * STEPS) * noise))
    account = Account(limit, adjacency="zero_out", plan=plan, seed=seed)
    return dp_sgd(
        examples, problem, account=account, options=replace(options, step=step), arithmetic="idealised"
    ).weights


def fw(examples: ArrayExamples, seed: int, *, share: float = 1.0) -> Floats:
    """Over the L1 ball, with the number of steps that the bound prefers."""
    problem = Problem(loss=Logistic(), dimension=examples.dimension)
    account = Account(ApproxDP(EPSILON, DELTA), adjacency="zero_out", currency="zcdp", seed=seed)
    return frank_wolfe(
        examples,
        problem,
        account=account if share == 1.0 else account.split(share)[0],
        l1_radius=RADIUS,
        feature_bound=1.0 / math.sqrt(FILLED),
        arithmetic="idealised",
    ).weights


def measure(sizes: Sequence[tuple[int, int]], places: Sequence[int], *, seeds: int) -> Results:
    """Excess over the least risk on the method's own set, for every size and seed."""
    found: Results = {name: {float(x): [] for x in places} for name in LINE_STYLES}
    for place, (count, dimension) in zip(places, sizes, strict=True):
        for seed in range(seeds):
            examples = rows(count, dimension, seed)
            ball, polytope = least_risk(examples, onto_l2), least_risk(examples, onto_l1)
            descended, walked = sgd(examples, SEED + seed), fw(examples, SEED + seed)
            loose = fw(examples, SEED + seed, share=round(LOOSE**-2, 6))
            found[SGD][place].append(risk(examples, descended) - ball)
            found[FW][place].append(risk(examples, walked) - polytope)
            found[FW_LOOSE][place].append(risk(examples, loose) - polytope)
            fresh = others(dimension)
            found[SGD_PEOPLE][place].append(population_excess(fresh, descended))
            found[FW_PEOPLE][place].append(population_excess(fresh, walked))
    return found


def slope(series: Series) -> float:
    """Of the line through the means, both axes logarithmic."""
    at = sorted(series)
    means = [math.log(max(float(np.mean(series[x])), 1e-12)) for x in at]
    return float(np.polyfit(np.log(at), means, 1)[0])


def draw(by_count: Results, by_dimension: Results) -> None:
    """Both dependences, all axes logarithmic."""
    with panels("excess_risk", columns=2, size=(9.6, 4.4), sharey=True) as axes:
        for place, results, label in zip(axes[0], (by_count, by_dimension), ("n", "d"), strict=True):
            for name, values in results.items():
                plot(place, name, values, LINE_STYLES[name])
            ticks(place, sorted(results[SGD]))
            place.set(yscale="log", xlabel=label)
        axes[0, 0].set(title=f"Against n, d = {FIXED_DIMENSION}", ylabel="excess risk")
        axes[0, 1].set(title=f"Against d, n = {FIXED_COUNT}")


def main() -> int:
    """Train, draw, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="one seed, nothing written")
    parser.add_argument(
        "--stored", action="store_true", help="measure nothing: the words of the stored page again"
    )
    asked = parser.parse_args()
    if asked.stored:
        write("000_excess_risk", page(blocks("000_excess_risk"), stored_stamp("000_excess_risk")))
        return 0
    seeds = 1 if asked.quick else SEEDS
    begin = time.process_time()
    by_count = measure([(n, FIXED_DIMENSION) for n in COUNTS], COUNTS, seeds=seeds)
    by_dimension = measure([(FIXED_COUNT, d) for d in DIMENSIONS], DIMENSIONS, seeds=seeds)
    made = stamp("000_excess_risk", SEED, time.process_time() - begin, seeds=seeds)
    found = {
        f"Against n (d = {FIXED_DIMENSION})": table("n =", COUNTS, by_count, digits=4),
        f"Against d (n = {FIXED_COUNT:,})": table("d =", DIMENSIONS, by_dimension, digits=4),
        "Slopes": slope_rows({n: (slope(by_count[n]), slope(by_dimension[n])) for n in LINE_STYLES}),
    }
    lines = page(found, made)
    if not asked.quick:
        write("000_excess_risk", lines)
        draw(by_count, by_dimension)
    sys.stdout.write("\n".join(lines) + "\n")
    if asked.quick:
        sys.stdout.write("\n--quick: one seed; slopes of single runs are no rates.\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
