"""The certified start: a normal law around a certified minimiser, whose divergence from the density is bounded.

With Q no smaller than V's second derivative anywhere and a no larger, N(x0, Q^-1) has divergence at most
(1/2) ln det(Q / a) + |gradient of V at x0|^2 / (2 a) (soundness, section 11): the first is bounded by the trace,
the second by a public tolerance that the solver certifies.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from holdfast._arrays import Floats
from holdfast.learn._risk.minimise import minimise_certified
from holdfast.learn._sampling.potential import Potential
from holdfast.learn._sampling.rounds import START_ALLOWANCE, SamplingPlan
from holdfast.noise._idealised import normal
from holdfast.noise._source import Source


@dataclass(frozen=True, kw_only=True, eq=False)
class Start:
    """The minimiser, and a second derivative of V there, which steers proposals and proves nothing."""

    minimiser: Floats
    curvature: Floats


def certified_minimiser(potential: Potential, plan: SamplingPlan) -> Floats:
    """Where |gradient of V|^2 / (2 a) is at most the plan's allowance, certified."""
    largest = math.sqrt(2.0 * START_ALLOWANCE * plan.strong_convexity) / plan.inverse_temperature
    return minimise_certified(potential.risk, tolerance=largest)


def certified_start(potential: Potential, plan: SamplingPlan) -> Start:
    """One minimisation and one second derivative."""
    minimiser = certified_minimiser(potential, plan)
    return Start(minimiser=minimiser, curvature=plan.inverse_temperature * potential.risk.hessian(minimiser))


def first_point(potential: Potential, plan: SamplingPlan, start: Start, source: Source) -> Floats:
    """A draw of N(x0, (k M + a I)^-1), M the curvature bound times the second moment of the rows."""
    bound = plan.inverse_temperature * potential.second_moment() * (1.0 + 1e-12)
    root = np.linalg.cholesky(bound + plan.strong_convexity * np.eye(plan.dimension))
    return np.asarray(start.minimiser + np.linalg.solve(root.T, normal(source, size=plan.dimension)))
