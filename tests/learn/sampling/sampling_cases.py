"""Small tables, their densities by quadrature, and draws that skip what is the same for all of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from holdfast._arrays import Floats
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import Logistic
from holdfast.learn._rows.examples import ArrayExamples
from holdfast.learn._sampling.acceptance import Coins, is_accepted
from holdfast.learn._sampling.direct import direct_draw
from holdfast.learn._sampling.potential import Potential, rows_in_memory
from holdfast.learn._sampling.proximal import Accept, ProximalRounds
from holdfast.learn._sampling.rounds import SamplingPlan
from holdfast.learn._sampling.start import certified_start, first_point
from holdfast.noise._source import Source
from holdfast.privacy import Adjacency

ETA = 1e-6


def potential_of(
    dimension: int, *, k: float = 30.0, penalty: float = 0.05, rows: int = 60, loss: Any = None, seed: int = 0
) -> Potential:
    """Rows of norm 1 with labels that are not balanced, so that the density is not symmetric."""
    random = np.random.Generator(np.random.PCG64(seed))
    x = random.normal(size=(rows, dimension))
    x /= np.linalg.norm(x, axis=1)[:, None]
    y = np.where(x[:, 0] + 1.5 * random.normal(size=rows) > -0.4, 1.0, -1.0)
    examples = ArrayExamples(features=x, labels=y, adjacency=Adjacency.replace, public_count=rows)
    problem = Problem(loss=Logistic() if loss is None else loss, dimension=dimension)
    return Potential(
        rows=rows_in_memory(examples, problem), problem=problem, inverse_temperature=k, penalty=penalty
    )


def plan_of(potential: Potential, *, eta: float = 0.0, half_side: float = math.inf) -> SamplingPlan:
    """Public numbers only."""
    return SamplingPlan(
        dimension=potential.dimension,
        inverse_temperature=potential.inverse_temperature,
        penalty=potential.penalty,
        smoothness=potential.problem.smoothness,
        total_variation=eta,
        half_side=half_side,
    )


def proximal_draws(
    potential: Potential, count: int, *, eta: float = ETA, seed: int = 0, accept: Accept = is_accepted
) -> Floats:
    """Independent draws: the start is certified once, every draw begins anew from it."""
    plan, source = plan_of(potential, eta=eta), Source(seed=seed)
    start = certified_start(potential, plan)
    rounds, coins, found = ProximalRounds(potential, plan, start, accept=accept), Coins(source), []
    for _ in range(count):
        x = first_point(potential, plan, start, source)
        for _ in range(plan.rounds):
            x = rounds.next(x, source, coins)
        found.append(x)
    return np.array(found)


def direct_draws(potential: Potential, count: int, *, half_side: float = math.inf, seed: int = 0) -> Floats:
    """Independent direct draws."""
    plan, source = plan_of(potential, half_side=half_side), Source(seed=seed)
    return np.array([direct_draw(potential, plan, source) for _ in range(count)])


def always(potential: Potential, predictions: Floats, v: Floats, coins: Coins) -> bool:
    """No accept step."""
    return True


def marginal(
    potential: Potential, direction: Floats, *, reach: float = 9.0, nodes: int = 181
) -> Callable[[Floats], Floats]:
    """The distribution function along a direction, in one or two dimensions, by quadrature on a fine grid."""
    along = np.linspace(-reach, reach, nodes)
    if potential.dimension == 1:
        points = along[:, None] * direction
    else:
        across = np.array([-direction[1], direction[0]])
        points = (along[:, None, None] * direction + along[None, :, None] * across).reshape(-1, 2)
    k = potential.inverse_temperature
    heights = np.concatenate(
        [
            -k * (potential.values(part) + 0.5 * potential.penalty * np.sum(part**2, axis=1))
            for part in np.array_split(points, max(1, len(points) // 4096))
        ]
    )
    density = np.exp(heights - heights.max()).reshape(nodes, -1).sum(axis=1)
    total = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2)])
    return lambda at: np.asarray(np.interp(at, along, total / total[-1]))


def ks_p(numbers: Floats, cdf: Callable[[Floats], Floats]) -> float:
    """The p-value of Kolmogorov and Smirnov's test."""
    from scipy.stats import kstest

    law: Any = cdf
    return float(kstest(numbers, law).pvalue)
