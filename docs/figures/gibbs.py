"""The figures of the page on the regularised exponential mechanism; `make.py` draws them."""

# ruff: noqa: RUF001  Greek letters in labels are meant.

from __future__ import annotations

import math
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import Logistic
from holdfast.learn._rows.examples import ArrayExamples
from holdfast.learn._sampling import proximal
from holdfast.learn._sampling.acceptance import Coins, is_accepted
from holdfast.learn._sampling.direct import direct_draw
from holdfast.learn._sampling.potential import Potential, rows_in_memory
from holdfast.learn._sampling.proximal import ProximalRounds
from holdfast.learn._sampling.rounds import SamplingPlan
from holdfast.learn._sampling.start import certified_start, first_point
from holdfast.noise._source import Source
from holdfast.privacy import Adjacency, GaussianDP
from holdfast.privacy._mechanisms.gibbs import RegularisedExponential

BLUE, ORANGE, GREEN, PINK, MUTED = "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#5b6875"
Floats = NDArray[np.float64]
K, PENALTY, COUNT = 8.0, 0.25, 20


def neighbours(at: Floats) -> tuple[Floats, Floats, float]:
    """Densities of two tables of twenty rows of which one differs, on a grid, and the mu of the theorem."""
    rows = np.linspace(-1.0, 1.0, COUNT - 1)
    labels = np.where(rows > -0.3, 1.0, -1.0)
    common = np.logaddexp(0.0, -np.outer(at, rows * labels)).sum(axis=1)
    laws = []
    for label in (-1.0, 1.0):
        mean = (common + np.logaddexp(0.0, -label * at)) / COUNT
        law = np.exp(-K * (mean + 0.5 * PENALTY * at**2))
        laws.append(law / (law.sum() * (at[1] - at[0])))
    mechanism = RegularisedExponential(inverse_temperature=K, penalty=PENALTY, gradient_change=2.0 / COUNT)
    square = mechanism.curve.as_gdp()
    assert square is not None
    return laws[0], laws[1], math.sqrt(float(square))


def deltas(first: Floats, second: Floats, step: float, epsilons: Floats) -> Floats:
    """delta(epsilon) of the pair, the worse of its two directions."""
    return np.array(
        [
            max(
                np.maximum(a - math.exp(e) * b, 0.0).sum() * step
                for a, b in ((first, second), (second, first))
            )
            for e in epsilons
        ]
    )


def pair() -> Figure:
    """Two neighbouring densities and the normal pair of theorem 1, as densities, as delta and as a trade-off."""
    at = np.linspace(-8.0, 10.0, 8001)
    step = float(at[1] - at[0])
    first, second, mu = neighbours(at)
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(11.0, 3.4))
    left.plot(at, first, color=BLUE, label="density of D")
    left.plot(at, second, color=ORANGE, label="density of D′")
    width = 1.0 / math.sqrt(K * PENALTY)
    middle_of = float(np.sum(at * (first + second)) * step / 2)
    for sign, color in ((-0.5, BLUE), (0.5, ORANGE)):
        normal = np.exp(-0.5 * ((at - middle_of) / width - sign * mu) ** 2) / (width * math.sqrt(2 * math.pi))
        left.plot(at, normal, color=color, linewidth=1, linestyle=(0, (4, 3)))
    left.plot([], [], color=MUTED, linewidth=1, linestyle=(0, (4, 3)), label=f"normal pair, µ = {mu:.2f}")
    left.set(xlabel="weight", ylabel="density", xlim=(-2.5, 4.5), ylim=(0, 1.0))
    left.set_title("One row changes a density")
    left.legend(loc="upper right", fontsize=8)
    epsilons = np.linspace(0.0, 2.5, 60)
    middle.plot(epsilons, [GaussianDP(mu).delta(float(e)) for e in epsilons], color=MUTED, label="claimed")
    middle.plot(
        epsilons, deltas(first, second, step, epsilons), color=GREEN, label="this pair, by quadrature"
    )
    middle.set(xlabel="ε", ylabel="δ", yscale="log", ylim=(1e-4, 1))
    middle.set_title("Its δ(ε) is below the claim")
    middle.legend(loc="lower left", fontsize=8)
    order = np.argsort(-second / first)
    alarms, misses = np.cumsum(first[order]) * step, 1.0 - np.cumsum(second[order]) * step
    claim = GaussianDP(mu).trade_off()
    grid = np.linspace(0.0, 1.0, 161) ** 2
    right.plot(grid, [claim.miss_at(float(x)) for x in grid], color=MUTED, label="claimed")
    right.plot(alarms[::40], misses[::40], color=GREEN, label="the best test of this pair")
    right.plot([0, 1], [1, 0], color=MUTED, linewidth=1, linestyle=(0, (4, 3)))
    right.set(xlabel="false alarms", ylabel="misses", xlim=(0, 1), ylim=(0, 1))
    right.set_title("Its trade-off is above it")
    right.legend(loc="upper right", fontsize=8)
    return figure


def trade_off(p: Floats, q: Floats) -> tuple[Floats, Floats]:
    """The polygon of best tests between two laws on points."""
    order = np.argsort(-q / np.maximum(p, 1e-300))
    return np.concatenate([[0.0], np.cumsum(p[order])]), np.concatenate([[1.0], 1.0 - np.cumsum(q[order])])


def duality() -> Figure:
    """Each epsilon is a line below the trade-off; and a curve on epsilon >= 0 alone does not determine it."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.8))
    curve = GaussianDP(1.0)
    x = np.linspace(0.0, 1.0, 161)
    for e in np.linspace(-2.5, 2.5, 21):
        # misses >= 1 - delta(e) - e^e alarms; for e < 0 by the other direction, delta(-e).
        d = curve.delta(e) if e >= 0 else 1.0 - math.exp(e) * (1.0 - curve.delta(-e))
        left.plot(x, 1.0 - d - math.exp(e) * x, color=BLUE if e >= 0 else ORANGE, linewidth=0.7, alpha=0.7)
    claim = curve.trade_off()
    left.plot(x, [claim.miss_at(float(one)) for one in x], color="black")
    left.set(xlim=(0, 1), ylim=(0, 1), xlabel="false alarms", ylabel="misses", aspect="equal")
    left.set_title("δ(ε) and trade-off are dual")
    p = np.full(3, 1 / 3)
    for q, color, name in (
        (np.array([2 / 3, 1 / 6, 1 / 6]), GREEN, "Q = (⅔, ⅙, ⅙)"),
        (np.array([2 / 3, 1 / 3, 0.0]), PINK, "Q′ = (⅔, ⅓, 0)"),
    ):
        right.plot(*trade_off(p, q), color=color, label=name)
    right.set(xlim=(0, 1), ylim=(0, 1), xlabel="false alarms", ylabel="misses", aspect="equal")
    right.set_title("One δ on ε ≥ 0, two trade-offs")
    right.legend(loc="upper right")
    return figure


def table(dimension: int, count: int, seed: int) -> ArrayExamples:
    """Rows of norm 1 with noisy labels."""
    random = np.random.Generator(np.random.PCG64(seed))
    x = random.normal(size=(count, dimension))
    x /= np.linalg.norm(x, axis=1)[:, None]
    truth = 3.0 * np.eye(dimension)[0]
    y = np.where(random.random(count) < 1 / (1 + np.exp(-x @ truth)), 1.0, -1.0)
    return ArrayExamples(features=x, labels=y, adjacency=Adjacency.replace, public_count=count)


def potential_of(rows: ArrayExamples, *, k: float, penalty: float) -> Potential:
    """V of these rows."""
    problem = Problem(loss=Logistic(), dimension=rows.dimension)
    return Potential(
        rows=rows_in_memory(rows, problem), problem=problem, inverse_temperature=k, penalty=penalty
    )


def sampler() -> Figure:
    """Start, one round in three steps, and the end, of a chain in two dimensions."""
    potential = potential_of(table(2, 60, 3), k=30.0, penalty=0.05)
    plan = SamplingPlan(
        dimension=2, inverse_temperature=30.0, penalty=0.05, smoothness=6.0, total_variation=1e-9
    )
    source, seen = Source(seed=5), []

    def watching(one: Potential, predictions: Floats, v: Floats, coins: Coins) -> bool:
        kept = is_accepted(one, predictions, v, coins)
        seen.append((v.copy(), kept))
        return kept

    start = certified_start(potential, plan)
    rounds, coins = ProximalRounds(potential, plan, start, accept=watching), Coins(source)
    x = first_point(potential, plan, start, source)
    path, tangents, firsts = [x], [], []
    for _ in range(plan.rounds):
        seen.clear()
        x = rounds.next(x, source, coins)
        path.append(x)
        tangents.append(rounds._last.at)
        firsts.append(list(seen))
    busy = max(range(min(12, len(firsts))), key=lambda place: len(firsts[place]))
    grid = np.linspace(-2.2, 6.2, 121)
    points = np.stack(np.meshgrid(grid, grid - 2.0), axis=-1).reshape(-1, 2)
    heights = -30.0 * (potential.values(points) + 0.025 * np.sum(points**2, axis=1))
    surface = np.exp(heights - heights.max()).reshape(121, 121)
    figure, panels = plt.subplots(1, 4, figsize=(12.0, 3.3), sharex=True, sharey=True)
    titles = (
        "1. A certified start",
        "2. A normal step to y",
        "3. Proposals under a tangent",
        f"4. After {plan.rounds} rounds",
    )
    starts = np.array([first_point(potential, plan, start, source) for _ in range(150)])
    for panel, title in zip(panels, titles, strict=True):
        panel.contour(grid, grid - 2.0, surface, levels=[0.01, 0.1, 0.4, 0.8], colors=MUTED, linewidths=0.8)
        panel.set_title(title)
        panel.grid(False)
    panels[0].plot(*starts.T, ".", color=BLUE, markersize=3)
    panels[0].plot(*start.minimiser, "k+")
    here, there = path[busy], path[busy + 1]
    random = np.random.Generator(np.random.PCG64(1))
    steps = here + math.sqrt(plan.step) * random.normal(size=(40, 2))
    panels[1].plot(*steps.T, ".", color=ORANGE, markersize=3)
    panels[1].plot(*here, "o", color=BLUE, markersize=5)
    for v, kept in firsts[busy]:
        place = tangents[busy] + v
        panels[2].plot(
            *place, "o" if kept else "x", color=GREEN if kept else PINK, markersize=5 if kept else 4
        )
    panels[2].plot(*tangents[busy], "k+")
    panels[2].plot(*there, "o", color=GREEN, markersize=5)
    ends = []
    quiet = ProximalRounds(potential, plan, start)
    for begin in starts:
        for _ in range(plan.rounds):
            begin = quiet.next(begin, source, coins)
        ends.append(begin)
    panels[3].plot(*np.array(ends).T, ".", color=GREEN, markersize=3)
    panels[0].set(xlim=(-0.8, 4.4), ylim=(-3.0, 2.2), ylabel="second weight")
    for panel in panels:
        panel.set_xlabel("first weight")
    return figure


def excess(
    dimension: int, count: int, mu: float, *, draws: int, diameter: float = 4.0
) -> tuple[float, float]:
    """Mean excess risk of draws, and the bound d / k + penalty D^2 / 2, for a normal mu instead of epsilon."""
    product = 2.0 * dimension / diameter**2
    k = mu * count / 2.0 * math.sqrt(product)
    penalty = product / k
    potential = potential_of(table(dimension, count, 7), k=k, penalty=penalty)
    shared: dict[str, Any] = {
        "dimension": dimension,
        "inverse_temperature": k,
        "penalty": penalty,
        "smoothness": potential.problem.smoothness,
    }
    source = Source(seed=11)
    plan = SamplingPlan(**shared, total_variation=1e-6)
    if plan.admits_direct and plan.direct_bound < 2000:
        plan = SamplingPlan(**shared)
        found = [direct_draw(potential, plan, source) for _ in range(draws)]
    else:
        start = certified_start(potential, plan)
        found = [
            proximal.proximal_draw(
                potential, plan, start, first_point(potential, plan, start, source), source
            )
            for _ in range(draws)
        ]
    best = potential_of(potential.rows, k=k, penalty=1e-9)
    from holdfast.learn._risk.minimise import minimise_certified

    least = minimise_certified(best.risk, tolerance=1e-6)
    risks = potential.values(np.array(found))
    return float(
        np.mean(risks) - potential.values(least[None, :])[0]
    ), dimension / k + penalty * diameter**2 / 2


def slopes() -> Figure:
    """Excess risk against n, d and mu, beside the bound: the rate is sqrt(d) D / (mu n)."""
    figure, panels = plt.subplots(1, 3, figsize=(11.0, 3.3), sharey=True)
    sweeps: tuple[tuple[str, list[tuple[float, int, int, float]]], ...] = (
        ("rows n", [(n, 4, n, 0.5) for n in (250, 500, 1000, 2000, 4000)]),
        ("columns d", [(d, d, 1000, 0.5) for d in (2, 4, 8, 16, 32)]),
        ("privacy µ", [(mu, 4, 1000, mu) for mu in (0.125, 0.25, 0.5, 1.0, 2.0)]),
    )
    for panel, (label, points) in zip(panels, sweeps, strict=True):
        x = np.array([one[0] for one in points])
        both = np.array([excess(d, n, mu, draws=60) for _, d, n, mu in points])
        slope = float(np.polyfit(np.log(x), np.log(both[:, 0]), 1)[0])
        panel.plot(x, both[:, 1], color=MUTED, label="bound d/k + µD²/2")
        panel.plot(x, both[:, 0], "o-", color=BLUE, label=f"measured, slope {slope:.2f}")
        panel.set(xscale="log", yscale="log", xlabel=label)
        panel.set_xticks(x, [f"{one:g}" for one in x])
        panel.minorticks_off()
        panel.legend(fontsize=8)
    panels[0].set_ylabel("excess risk")
    panels[0].set_title("Bound slope −1")
    panels[1].set_title("Bound slope ½")
    panels[2].set_title("Bound slope −1")
    return figure
