"""Direct draws: rejection under one tangent of f, exact for every table; quick where the public bound says so."""

from __future__ import annotations

import math

import numpy as np

from holdfast._arrays import Floats
from holdfast.learn._sampling.acceptance import Coins, is_accepted
from holdfast.learn._sampling.potential import Potential
from holdfast.learn._sampling.rounds import SamplingPlan
from holdfast.learn._sampling.start import certified_minimiser
from holdfast.noise._idealised import normal, uniform
from holdfast.noise._source import Source
from holdfast.privacy._mechanisms.gibbs import tilted_quantile

BATCH = 64
"""Proposals whose numbers are drawn together."""


def direct_draw(potential: Potential, plan: SamplingPlan, source: Source) -> Floats:
    """Under the tangent at a certified minimiser: normal proposals, or exponential ones cut to the box."""
    if math.isfinite(plan.half_side):
        return _on_box(potential, plan, source)
    at = certified_minimiser(potential, plan)
    gradient, predictions = potential.gradient(at)
    residual = plan.inverse_temperature * gradient + plan.strong_convexity * at
    coins, d = Coins(source), plan.dimension
    # V >= V(at) + <residual, v> + (a/2)|v|^2, the envelope of N(at - residual / a, 1 / a).
    centre, width = at - residual / plan.strong_convexity, 1.0 / math.sqrt(plan.strong_convexity)
    while True:
        for noise in normal(source, size=BATCH * d).reshape(BATCH, d):
            proposal = centre + width * noise
            if is_accepted(potential, predictions, proposal - at, coins):
                return np.asarray(proposal)


def _on_box(potential: Potential, plan: SamplingPlan, source: Source) -> Floats:
    """V >= V(at) + <gradient of V, v>: each coordinate exponential, cut to the box."""
    at = box_minimiser(potential, half_side=plan.half_side)
    gradient, predictions = potential.gradient(at)
    slope = plan.inverse_temperature * (gradient + potential.penalty * at)
    coins, d = Coins(source), plan.dimension
    while True:
        for shares in uniform(source, size=BATCH * d).reshape(BATCH, d):
            proposal = tilted_quantile(-slope, shares, plan.half_side)
            v = proposal - at
            quadratic = 0.5 * plan.strong_convexity * float(v @ v)
            if is_accepted(potential, predictions, v, coins, extra=quadratic):
                return proposal


def box_minimiser(potential: Potential, *, half_side: float) -> Floats:
    """An approximate minimiser of V on the box; the draw is exact for any point, and fast near the minimiser."""
    from scipy.optimize import minimize

    def both(at: Floats) -> tuple[float, Floats]:
        gradient, _ = potential.gradient(at)
        value = float(potential.values(at[None, :])[0]) + 0.5 * potential.penalty * float(at @ at)
        return value, gradient + potential.penalty * at

    optimum = minimize(
        both,
        np.zeros(potential.dimension),
        jac=True,
        method="L-BFGS-B",
        bounds=[(-half_side, half_side)] * potential.dimension,
        options={"maxiter": 500, "gtol": 1e-10, "ftol": 0.0},
    )
    return np.asarray(np.clip(optimum.x, -half_side, half_side))
