"""Idealised vector noise: a random direction with a Gamma length. NOT for final releases."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import require
from holdfast.noise.continuous import gamma, normal
from holdfast.noise.source import Source


def gamma_ball(source: Source, *, dimension: int, scale: float) -> NDArray[np.float64]:
    """A vector with density proportional to exp(-||x|| / scale), in idealised real arithmetic.

    Its direction is uniform on the sphere and its length Gamma(dimension, scale): with any other
    length it would not be private for a dimension above one (Chaudhuri, Monteleoni and Sarwate 2011).
    It has no exact twin on a grid; a strict release uses `discrete_laplace` per coordinate.

    >>> gamma_ball(Source(seed=1), dimension=3, scale=1.0).shape
    (3,)
    """
    require(dimension >= 1, "dimension", dimension, ">= 1")
    require(scale > 0 and np.isfinite(scale), "scale", scale, "positive and finite")
    direction = normal(source, size=dimension)
    # `normal` never returns 0, so the direction has a length to divide by.
    length = scale * gamma(source, shape=dimension, size=1)[0]
    noise: NDArray[np.float64] = direction * (length / np.linalg.norm(direction))
    return noise
