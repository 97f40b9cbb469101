"""SampledRisk: the tempered posterior of a table as the mechanism takes it, with the sampler of its plan. Private."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from holdfast._arrays import Floats
from holdfast.learn._rows.summation import one_thread
from holdfast.learn._sampling.direct import box_minimiser, direct_draw
from holdfast.learn._sampling.potential import Potential
from holdfast.learn._sampling.proximal import proximal_draw
from holdfast.learn._sampling.rounds import SamplingPlan
from holdfast.learn._sampling.start import certified_minimiser, certified_start, first_point
from holdfast.noise._source import Source

LARGEST_PREDICTION = 1e100
"""Predictions are bounded by this; slopes have their limits at infinity long before."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SampledRisk:
    """Only `draw` is used for a release; the other methods are for tests that replay one."""

    potential: Potential
    plan: SamplingPlan

    @property
    def dimension(self) -> int:
        """The number of weights."""
        return self.plan.dimension

    @property
    def inverse_temperature(self) -> float:
        """k, the inverse temperature."""
        return self.plan.inverse_temperature

    @property
    def penalty(self) -> float:
        """The penalty on the squared norm of the weights."""
        return self.plan.penalty

    @property
    def half_side(self) -> float:
        """Half the side of the box; infinite for the whole space."""
        return self.plan.half_side

    @property
    def total_variation(self) -> float:
        """The total variation of the plan; 0 for a direct draw."""
        return self.plan.total_variation

    def draw(self, source: Source) -> Floats:
        """One sample. Of everything that the sampler counts and meets, nothing else leaves."""
        with one_thread():
            if self.plan.is_direct:
                return direct_draw(self.potential, self.plan, source)
            start = certified_start(self.potential, self.plan)
            first = first_point(self.potential, self.plan, start, source)
            return proximal_draw(self.potential, self.plan, start, first, source)

    def gradient(self, at: Floats) -> Floats:
        """Of f; private. A point so far out that predictions overflow is brought nearer along its ray."""
        farthest = float(np.max(np.abs(at)))
        return self.potential.gradient(
            at if farthest <= LARGEST_PREDICTION else at * (LARGEST_PREDICTION / farthest)
        )[0]

    def values(self, points: Floats) -> Floats:
        """f at each point; private."""
        return self.potential.values(points)

    def log_normaliser(self) -> float:
        """Laplace's approximation at the mode; private, and exact for linear losses only."""
        k = self.inverse_temperature
        if math.isfinite(self.half_side):
            mode = box_minimiser(self.potential, half_side=self.half_side)
            curved = 0.0
        else:
            mode = certified_minimiser(self.potential, self.plan)
            curved = float(np.linalg.slogdet(k * self.potential.risk.hessian(mode, precise=True))[1])
        value = float(self.values(mode[None, :])[0]) + 0.5 * self.penalty * float(mode @ mode)
        return -k * value - 0.5 * curved
