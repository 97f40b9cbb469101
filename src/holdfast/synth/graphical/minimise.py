"""L-BFGS with a diagonal start (Liu and Nocedal 1989): smooth convex functions of many variables."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
#: Value and gradient at a point.
Function = Callable[[Floats], tuple[float, Floats]]
MEMORY = 8
#: Armijo's share of the slope that a step has to deliver.
SUFFICIENT = 1e-4
SHORTEST = 2.0**-30


def minimise(
    function: Function, start: Floats, *, curvature: Floats, iterations: int, tolerance: float
) -> Floats:
    """A point at most `iterations` steps from the start, never of a larger value.

    `curvature` is a positive guess at the diagonal of the Hessian. Stops when a step promises to gain less
    than `tolerance`.

    >>> bowl = lambda x: (float(((x - 3.0) ** 2).sum()), 2.0 * (x - 3.0))
    >>> minimise(bowl, np.zeros(2), curvature=np.ones(2), iterations=20, tolerance=1e-12).round(6).tolist()
    [3.0, 3.0]
    """
    point = start
    value, gradient = function(point)
    pairs: deque[tuple[Floats, Floats, float]] = deque(maxlen=MEMORY)
    for _ in range(iterations):
        direction = -_descent(gradient, pairs, curvature)
        slope = float(gradient @ direction)
        if -slope <= tolerance:
            break
        step = 1.0
        while True:
            tried = point + step * direction
            found, slant = function(tried)
            if found <= value + SUFFICIENT * step * slope or step < SHORTEST:
                break
            step /= 2.0
        if found > value:
            break
        moved, bent = tried - point, slant - gradient
        if (curved := float(moved @ bent)) > 0:
            pairs.append((moved, bent, 1.0 / curved))
        point, value, gradient = tried, found, slant
    return point


def _descent(gradient: Floats, pairs: deque[tuple[Floats, Floats, float]], curvature: Floats) -> Floats:
    """The two loops of L-BFGS: an approximate inverse Hessian times the gradient."""
    made = gradient.copy()
    shares = []
    for moved, bent, inverse in reversed(pairs):
        share = inverse * float(moved @ made)
        made -= share * bent
        shares.append(share)
    made /= curvature
    if pairs:  # the diagonal, scaled to the curvature last seen
        moved, bent, inverse = pairs[-1]
        made *= 1.0 / (inverse * float(bent @ (bent / curvature)))
    for (moved, bent, inverse), share in zip(pairs, reversed(shares), strict=True):
        made += (share - inverse * float(bent @ made)) * moved
    return made
