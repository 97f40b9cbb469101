"""The proximal sampler: a public number of rounds, in each a normal step and an exact draw around it.

y ~ N(x, h I), then x from exp(-V(x) - |x - y|^2 / (2 h)) (Lee, Shen and Tian 2021; Chen, Chewi, Salim and Wibisono
2022). The second draw is by rejection under the tangent at a point near the proximal one: exact whatever the point,
and quick where it is near.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from holdfast._arrays import Floats
from holdfast._progress import progress
from holdfast.learn._sampling.acceptance import Coins, is_accepted
from holdfast.learn._sampling.potential import Potential
from holdfast.learn._sampling.rounds import SamplingPlan
from holdfast.learn._sampling.start import Start
from holdfast.noise._idealised import normal
from holdfast.noise._source import Source

NEAR_RESIDUAL = 1.0
"""The point of tangency is moved towards the proximal point until s |residual|^2 is below this, a factor e^(1/2)."""
MOST_MOVES = 8
BATCH = 8
"""Proposals whose normal numbers are drawn together."""

Accept = Callable[[Potential, Floats, Floats, Coins], bool]


@dataclass(frozen=True, kw_only=True, eq=False)
class Tangent:
    """f's gradient and the rows' predictions at a point."""

    at: Floats
    gradient: Floats
    predictions: Floats


class ProximalRounds:
    """The state between rounds: where the last tangent was, and the matrix that finds the next one."""

    def __init__(
        self, potential: Potential, plan: SamplingPlan, start: Start, *, accept: Accept = is_accepted
    ) -> None:
        self._potential, self._plan, self._accept = potential, plan, accept
        identity = np.eye(plan.dimension)
        self._curvature = start.curvature - plan.strong_convexity * identity
        self._inverse = np.linalg.inv(self._curvature + identity / plan.spread)
        self._last = self._tangent(start.minimiser)

    def next(self, x: Floats, source: Source, coins: Coins) -> Floats:
        """One round from x."""
        d = self._plan.dimension
        y = x + math.sqrt(self._plan.step) * normal(source, size=d)
        tangent, residual = self._near(y)
        left = self._plan.cap(float(np.linalg.norm(residual)))
        centre = tangent.at - self._plan.spread * residual
        proposal = centre
        while left > 0:
            noise = math.sqrt(self._plan.spread) * normal(source, size=BATCH * d).reshape(BATCH, d)
            for step in noise[: int(min(left, BATCH))]:
                proposal = np.asarray(centre + step)
                if self._accept(self._potential, tangent.predictions, proposal - tangent.at, coins):
                    return proposal
            left -= BATCH
        return proposal  # the cap, whose chance is charged: what is returned does not matter

    def _near(self, y: Floats) -> tuple[Tangent, Floats]:
        """A point near the minimiser of V + |x - y|^2 / (2 h), its tangent, and the gradient that is left there."""
        k, h = self._plan.inverse_temperature, self._plan.step
        # As if f were the parabola with the start's second derivative and the last tangent.
        last = self._last
        guess = self._inverse @ (y / h + self._curvature @ last.at - k * last.gradient)
        for move in range(MOST_MOVES):
            tangent = self._tangent(guess)
            residual = k * tangent.gradient + self._plan.strong_convexity * guess + (guess - y) / h
            if self._plan.spread * float(residual @ residual) <= NEAR_RESIDUAL or move == MOST_MOVES - 1:
                break
            guess = guess - self._inverse @ residual
        self._last = tangent
        return tangent, residual

    def _tangent(self, at: Floats) -> Tangent:
        gradient, predictions = self._potential.gradient(at)
        return Tangent(at=at, gradient=gradient, predictions=predictions)


def proximal_draw(
    potential: Potential, plan: SamplingPlan, start: Start, first: Floats, source: Source
) -> Floats:
    """All rounds; how long they take depends on the table, how many they are does not."""
    rounds, coins, x = ProximalRounds(potential, plan, start), Coins(source), first
    for _ in progress(range(plan.rounds), desc="gibbs"):
        x = rounds.next(x, source, coins)
    return x
