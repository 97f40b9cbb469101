"""Objective perturbation of least squares over a ball, for figure 4.5: a picture, outside any account.

holdfast proves objective perturbation over the whole space, where the squared loss has no bounded gradient. Over an
open ball a barrier makes the same proof go through: with J(w) = sum of losses + (penalty / 2)|w|^2 + <b, w> + B(w)
and B(w) = -weight ln(1 - |w|^2 / R^2), the gradient of the sum and of B maps the ball one to one onto the whole
space, so the density of the minimiser is that of b times a determinant, as in soundness, section 4. B does not depend
on the data: it cancels between neighbours in the first factor and only enlarges the Hessian in the second. Hence
epsilon = G / scale + ln(1 + beta / penalty), with G the change of a gradient *on the ball*. The minimiser is taken as
exact, and the noise as real numbers.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
WEIGHT = 1e-3
"""Of the barrier, on the scale of the sum: next to nothing, except at the sphere."""


def ball_objective(
    rows: Floats, targets: Floats, *, radius: float, penalty: float, epsilon: float, seed: int
) -> Floats:
    """Rows of norm at most 1, targets in [-1, 1]; `penalty` is on the sum of losses; neighbours replace one row."""
    # On the ball |<w, x> - y| <= R + 1, so one gradient has norm at most R + 1, and a replaced row changes it by twice
    # that; one row's Hessian x x^T has rank one and eigenvalue at most 1.
    left = epsilon - math.log1p(1.0 / penalty)
    if left <= 0:
        raise ValueError(
            "penalty must be > 1 / (e^epsilon - 1): the determinants alone cost more than epsilon"
        )
    scale = 2.0 * (radius + 1.0) / left
    generator = np.random.default_rng(seed)
    direction = generator.standard_normal(rows.shape[1])
    length = float(generator.gamma(rows.shape[1], scale)) / float(np.linalg.norm(direction))
    linear = np.asarray(length * direction, dtype=np.float64)
    return minimiser(rows, targets, linear, radius=radius, penalty=penalty)


def minimiser(rows: Floats, targets: Floats, linear: Floats, *, radius: float, penalty: float) -> Floats:
    """Damped Newton steps, which never leave the ball."""
    gram = rows.T @ rows + penalty * np.eye(rows.shape[1])
    shift = linear - rows.T @ targets
    w = np.zeros(rows.shape[1])
    for _ in range(200):
        gap = radius**2 - float(w @ w)
        gradient = gram @ w + shift + 2.0 * WEIGHT / gap * w
        if float(np.linalg.norm(gradient)) <= 1e-9 * (1.0 + float(np.linalg.norm(shift))):
            break
        hessian = gram + 2.0 * WEIGHT / gap * np.eye(w.size) + 4.0 * WEIGHT / gap**2 * np.outer(w, w)
        step: Floats = np.asarray(-np.linalg.solve(hessian, gradient), dtype=np.float64)
        slope, share = float(gradient @ step), 1.0
        while not _falls(w, share * step, share * slope, gram, shift, radius):
            share /= 2.0
            if share < 1e-14:
                return w
        w = w + share * step
    return w


def _falls(w: Floats, step: Floats, slope: float, gram: Floats, shift: Floats, radius: float) -> bool:
    """Armijo's test; a point outside the ball has an infinite value."""

    def value(at: Floats) -> float:
        gap = 1.0 - float(at @ at) / radius**2
        if gap <= 0:
            return math.inf
        return 0.5 * float(at @ gram @ at) + float(shift @ at) - WEIGHT * math.log(gap)

    return value(w + step) <= value(w) + 1e-4 * slope
