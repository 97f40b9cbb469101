"""BallRisk: a risk over an open ball, kept inside by a barrier that does not depend on the data.

B(w) = -weight ln(1 - |w|^2 / R^2) is convex, and its gradient grows without bound towards the sphere. So the gradient
of risk + B maps the open ball one to one onto the whole space, as objective perturbation needs; B cancels between
neighbours in the change of gradients and only enlarges the Hessian in the ratio of determinants (soundness, section 4,
whose bounds on one record's gradient and Hessian then need to hold on the ball alone).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from holdfast._arrays import Floats
from holdfast.learn._risk.minimise import NotCertified
from holdfast.learn._risk.risk import Risk
from holdfast.learn._rows.summation import UNIT_ROUNDOFF, one_thread

MOST_STEPS = 500


@dataclass(frozen=True, kw_only=True, eq=False)
class BallRisk(Risk):
    """Risk + B over |w| < problem.radius; infinite beyond."""

    weight: float

    def value(self, w: Floats) -> float:
        """The risk and the barrier."""
        inside = 1.0 - float(w @ w) / self.problem.radius**2
        return super().value(w) - self.weight * math.log(inside) if inside > 0 else math.inf

    def gradient(self, w: Floats, *, precise: bool = False) -> tuple[Floats, float]:
        """The gradient, and a bound on the norm of its rounding error, that of the barrier included."""
        square, length = self.problem.radius**2, float(np.linalg.norm(w))
        gap = square - float(w @ w)
        if gap <= 0:
            return np.full_like(w, math.inf), math.inf
        data, doubt = super().gradient(w, precise=precise)
        own = 2.0 * self.weight / gap
        # |w|^2 errs by d units of itself, and the gap by as much: relative to the gap that is more.
        relative = (w.size + 8.0) * UNIT_ROUNDOFF * (1.0 + 2.0 * square / gap)
        return data + own * w, doubt + own * length * relative

    def hessian(self, w: Floats, *, every: int = 1, precise: bool = False) -> Floats:
        """The second derivative, the barrier's included."""
        gap = self.problem.radius**2 - float(w @ w)
        own = 2.0 * self.weight / gap
        smooth_part = super().hessian(w, every=every, precise=precise)
        return np.asarray(smooth_part + own * np.eye(w.size) + 2.0 * own / gap * np.outer(w, w))


def minimise_in_ball(risk: BallRisk, *, tolerance: float) -> Floats:
    """A point of the open ball where the gradient is certified to be within the tolerance: damped Newton steps.

    The barrier is self-concordant up to its weight, so they converge from the centre. How long they take depends on the
    table and is no promise.
    """
    with one_thread():
        w = np.zeros(risk.weights)
        for _ in range(MOST_STEPS):
            gradient, doubt = risk.gradient(w)
            size = float(np.linalg.norm(gradient))
            if size + doubt <= tolerance:
                return w
            if size <= doubt:  # only rounding is left
                gradient, doubt = risk.gradient(w, precise=True)
                if float(np.linalg.norm(gradient)) + doubt <= tolerance:
                    return w
            step = -np.linalg.solve(risk.hessian(w, precise=True), gradient)
            share, here = 1.0, risk.value(w)
            # Armijo's test on the value; near the end, where values no longer differ, on the gradient.
            while risk.value(w + share * step) > here + 1e-4 * share * float(gradient @ step):
                there = risk.gradient(w + share * step)[0]
                if share < 1e-12 or float(np.linalg.norm(there)) <= 0.9 * size:
                    break
                share /= 2.0
            w = w + share * step
    raise NotCertified(
        f"tolerance={tolerance!r} is below what this machine's arithmetic can certify; give a larger radius"
    )
