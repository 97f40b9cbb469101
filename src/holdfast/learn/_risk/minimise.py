"""A minimiser with a certificate: proofs are about the exact argmin, solvers are not exact.

`minimise_certified(risk, tolerance=t)` gives a point within t / penalty of the exact minimiser, for every table
(soundness, section 3). A fast solver is tried first and its answer checked; where the check fails, gradient
descent of a length that theory fixes takes over. How long it takes depends on the table and is no promise.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from holdfast._arrays import Floats
from holdfast.errors import HoldfastError, require
from holdfast.learn._risk.curvature import Curvature
from holdfast.learn._risk.risk import SmoothRisk
from holdfast.learn._rows.examples import ArrayExamples
from holdfast.learn._rows.summation import one_thread

SPHERE_TOLERANCE = 2.0**-48
"""The relative distance from the sphere within which a point counts as on it."""
SAMPLE_STRIDE = 5
"""A start near the minimiser is found on every 5th row."""
HESSIAN_STRIDE = 4
"""The first Hessian there is estimated from every 4th row."""
LEAST_SAMPLE = 1_024
"""A sample of fewer rows than this is not used."""


class NotCertified(HoldfastError):
    """No point could be certified: the tolerance is below what this machine's arithmetic can show."""


def gradient_residual(risk: SmoothRisk, w: Floats, *, precise: bool = False) -> float:
    """A bound on the distance of 0 from gradient + normal cone; over the penalty, on the distance to the minimiser.

    In the interior it is |gradient|. On the sphere, outward multiples of w are free: strong monotonicity of
    gradient and normal cone together gives penalty |w - w*| <= residual. Rounding is included.
    """
    gradient, doubt = risk.gradient(w, precise=precise)
    length, radius = float(np.linalg.norm(w)), risk.problem.radius
    if length > radius * (1 + SPHERE_TOLERANCE):
        return math.inf
    if length >= radius * (1 - SPHERE_TOLERANCE):
        outward = max(0.0, -float(gradient @ w) / length**2)
        gradient = gradient + outward * w
        # The point of the sphere next to w: the gradient there, and the way to it.
        doubt += (risk.smoothness + risk.penalty + outward) * 2 * SPHERE_TOLERANCE * radius
    return float(np.linalg.norm(gradient)) * (1 + 1e-12) + doubt


def is_certified(risk: SmoothRisk, w: Floats, *, tolerance: float) -> bool:
    """Whether the residual is within the tolerance, in double precision or else in the machine's widest."""
    return gradient_residual(risk, w) <= tolerance or gradient_residual(risk, w, precise=True) <= tolerance


def minimise_certified(risk: SmoothRisk, *, tolerance: float, start: Floats | None = None) -> Floats:
    """A point within tolerance / penalty of the minimiser; never one without its certificate.

    >>> from holdfast.learn._rows.examples import ArrayExamples
    >>> from holdfast.learn._problem.losses import Logistic
    >>> from holdfast.learn._problem import Problem
    >>> from holdfast.learn._risk.risk import Risk
    >>> from holdfast.privacy import Adjacency
    >>> rows = ArrayExamples(features=np.eye(2), labels=np.array([1.0, -1.0]),
    ...                      adjacency=Adjacency.replace, public_count=2)
    >>> risk = Risk(examples=rows, problem=Problem(loss=Logistic(), dimension=2), penalty=0.25, divisor=2.0)
    >>> minimise_certified(risk, tolerance=1e-10).round(6)
    array([ 0.674832, -0.674832])
    """
    require(0 < tolerance < math.inf, "tolerance", tolerance, "> 0 and finite")
    with one_thread():
        w = near_start(risk) if start is None else start
        if not risk.dense:
            w = quasi_newton(risk, w)  # near it; the last digits are Newton's
        w = newton(risk, w, tolerance=tolerance, thinned=HESSIAN_STRIDE if _is_long(risk) else 1)
        if float(np.linalg.norm(w)) > risk.problem.radius:
            w = on_sphere(risk, w, tolerance=tolerance)
        if is_certified(risk, w, tolerance=tolerance):
            return w
        w = gradient_descent(risk, tolerance=tolerance)
        if is_certified(risk, w, tolerance=tolerance):
            return w
    raise NotCertified(
        f"tolerance={tolerance!r} is below what this machine's arithmetic can certify; give a larger tolerance"
    )


def near_start(risk: SmoothRisk) -> Floats:
    """The minimiser of every 5th row's losses, each counted five times: a start, which proves nothing.

    Only for rows that lie in memory; an engine would read them all for it.
    """
    w, rows = np.zeros(risk.weights), risk.examples
    if not _is_long(risk) or not isinstance(rows, ArrayExamples):
        return w
    sample = dataclasses.replace(
        rows, features=rows.features[::SAMPLE_STRIDE].copy(), labels=rows.labels[::SAMPLE_STRIDE]
    )
    part = risk.of_sample(sample, times=SAMPLE_STRIDE)
    # A tenth of what the other rows' gradients will differ by.
    unit = risk.rows / risk.divisor * risk.problem.lipschitz
    return newton(part, w, tolerance=0.1 * unit / math.sqrt(risk.rows / SAMPLE_STRIDE))


def _is_long(risk: SmoothRisk) -> bool:
    return (
        risk.dense
        and risk.weights <= risk.rows // SAMPLE_STRIDE
        and risk.rows >= SAMPLE_STRIDE * LEAST_SAMPLE
    )


def newton(
    risk: SmoothRisk, w: Floats, *, tolerance: float, shift: float = 0.0, steps: int = 200, thinned: int = 1
) -> Floats:
    """Damped Newton steps on risk + (shift / 2) |w|^2 over the whole space; stops where nothing improves.

    A Hessian is used again as long as fewer further steps seem to be needed than `risk.patience`, which is much cheaper
    near the end. The first one may be estimated from every `thinned`-th row.
    """
    gradient, doubt = risk.gradient(w)
    gradient = gradient + shift * w
    hessian, fresh = None, False
    pairs: list[tuple[Floats, Floats]] = []
    for _ in range(steps):
        size = float(np.linalg.norm(gradient))
        # Half the tolerance: the certificate, computed apart, must not miss by a rounding error. Where only the doubt
        # is left, no step makes it smaller: wider arithmetic will.
        if size + doubt <= tolerance / 2 or size <= min(tolerance, doubt) / 8:
            break
        if hessian is None:
            hessian = risk.curvature(w, every=thinned, shift=shift)
            fresh, thinned, pairs = thinned == 1, 1, []
        step = -_corrected_step(hessian, pairs, gradient)
        share = 1.0
        while share > 2.0**-20:
            # |gradient|^2 falls along a Newton step, by its square at first: Armijo's test.
            there, doubt_there = risk.gradient(w + share * step)
            there = there + shift * (w + share * step)
            if float(np.linalg.norm(there)) <= (1.0 - share / 8.0) * size:
                break
            share = share / 2.0 if fresh else 0.0
        if share > 2.0**-20:
            left = float(np.linalg.norm(there))
            # Steps that gain as much as this one did, to the end.
            further = math.log(max(left / (tolerance / 2), 1.0)) / max(
                math.log(size / max(left, 1e-300)), 1e-3
            )
            slow = further > risk.patience
            if float(step @ (there - gradient)) > 0.0:  # always, but for rounding
                pairs.append((share * step, there - gradient))
            w, gradient, doubt = w + share * step, there, doubt_there
            hessian, fresh = (None if slow else hessian), False
        elif fresh:
            break
        else:
            hessian = None
    return w


def _corrected_step(hessian: Curvature, pairs: list[tuple[Floats, Floats]], gradient: Floats) -> Floats:
    """hessian^-1 gradient, the hessian first corrected by what gradients did along later steps.

    The two loops of L-BFGS (Nocedal and Wright 2006, algorithm 7.4) around a Hessian of an earlier point.
    """
    shares = []
    for step, change in reversed(pairs):
        shares.append(float(step @ gradient) / float(step @ change))
        gradient = gradient - shares[-1] * change
    direction = hessian.solve(gradient)
    for (step, change), share in zip(pairs, reversed(shares), strict=True):
        direction = direction + (share - float(change @ direction) / float(step @ change)) * step
    return np.asarray(direction)


def quasi_newton(risk: SmoothRisk, w: Floats) -> Floats:
    """L-BFGS, where no matrix of second derivatives is kept."""
    from scipy.optimize import minimize

    def both(point: Any) -> tuple[float, Any]:
        return risk.value(point), risk.gradient(point)[0]

    options: Any = {"maxiter": 500, "maxfun": 1_000, "gtol": 1e-14, "ftol": 0.0, "maxcor": 30}
    optimum: Any = minimize(both, w.tolist(), jac=True, method="L-BFGS-B", options=options)
    return np.asarray(optimum.x, dtype=np.float64)


def on_sphere(risk: SmoothRisk, w: Floats, *, tolerance: float) -> Floats:
    """The minimiser on the sphere |w| = radius: that of risk + (shift / 2)|w|^2 for one shift > 0.

    The shift is found by the step of Moré and Sorensen (1983): 1/|w(shift)| is nearly linear in it.
    """
    radius, shift = risk.problem.radius, 0.0
    for _ in range(60):
        length = float(np.linalg.norm(w))
        # Scaling onto the sphere moves the gradient by at most this.
        if abs(length - radius) * (risk.smoothness + shift) <= tolerance / 8:
            break
        slope = float(w @ risk.curvature(w, shift=shift).solve(w))
        following = shift + (length / radius - 1.0) * length**2 / slope
        if not following > 0 or following == shift:
            break
        shift = following
        w = newton(risk, w, tolerance=tolerance / 8, shift=shift)
    return np.asarray(w * (radius / float(np.linalg.norm(w))))


def gradient_descent(risk: SmoothRisk, *, tolerance: float) -> Floats:
    """Projected gradient descent with step 1/beta from 0, for as many steps as make the residual small.

    Distances to w* shrink by 1 - penalty/beta a step and start at |w*| <= reach; the residual is at most
    2 beta times the distance of the step before.
    """
    beta, radius = risk.smoothness, risk.problem.radius
    steps = math.ceil(beta / risk.penalty * max(1.0, math.log(max(4.0 * beta * risk.reach / tolerance, 1.0))))
    w = np.zeros(risk.weights)
    for _ in range(steps + 1):
        w = w - risk.gradient(w)[0] / beta
        length = float(np.linalg.norm(w))
        if length > radius:
            w = w * (radius / length)
    return w
