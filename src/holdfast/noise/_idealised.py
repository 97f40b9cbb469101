"""Noise from continuous laws in floating point, for steps inside a training loop. NOT for final releases.

Proofs about such noise are about real numbers. The functions here return doubles close to such draws, and a double that
is released can reveal the value that it was added to (Mironov 2012; Haney et al. 2022). So releases use the integer
samplers of this package. Computations inside a method may use these functions; the provenance of the release then says
`arithmetic="idealised"`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from holdfast._arguments import checked
from holdfast._arrays import Floats
from holdfast._ranges import MOST_DRAWS, require_whole
from holdfast.errors import require
from holdfast.noise._source import CHUNK, Source

LARGEST_BELOW_ONE = 1 - 2.0**-53
Words = NDArray[np.uint64]


def uniform(source: Source, *, size: int) -> Floats:
    """Floats strictly between 0 and 1, with 64 bits of entropy: the tail at 0 reaches 2^-65."""
    return _in_chunks(source, _open_uniform, size)


def normal(source: Source, *, size: int) -> Floats:
    """Standard normal doubles, by inversion; the tails reach 9.1 standard deviations.

    >>> normal(Source(seed=1), size=3).round(3)
    array([-0.656,  0.062, -1.46 ])
    """
    from scipy.special import ndtri

    return _in_chunks(source, lambda words: _with_random_sign(words, lambda tail: -ndtri(tail / 2)), size)


def laplace(source: Source, *, size: int) -> Floats:
    """Laplace doubles of scale 1."""
    return _in_chunks(source, lambda words: _with_random_sign(words, lambda tail: -np.log(tail)), size)


def exponential(source: Source, *, size: int) -> Floats:
    """Exponential doubles of mean 1, all positive."""
    return _in_chunks(source, lambda words: -np.log(_open_uniform(words)), size)


def gumbel(source: Source, *, size: int) -> Floats:
    """Standard Gumbel doubles: the argmax of score + gumbel is a draw from softmax(score)."""
    return _in_chunks(source, lambda words: -np.log(-np.log(_open_uniform(words))), size)


def gamma(source: Source, *, shape: float, size: int) -> Floats:
    """Gamma doubles of scale 1 and any shape >= 1 (Marsaglia and Tsang 2000).

    >>> bool(abs(gamma(Source(seed=1), shape=10, size=10_000).mean() - 10) < 0.1)
    True
    """
    require(shape >= 1, "shape", shape, ">= 1")
    d = shape - 1 / 3
    draws = np.empty(size)
    filled = 0
    while filled < size:
        x = normal(source, size=min(CHUNK, size - filled))
        u = uniform(source, size=len(x))
        # Marsaglia and Tsang 2000, section 4: v = (1 + x / sqrt(9 d))^3, where it is positive.
        x, u = (part[x > -np.sqrt(9 * d)] for part in (x, u))
        v = (1 + x / np.sqrt(9 * d)) ** 3
        accepted = d * v[np.log(u) < x * x / 2 + d - d * v + d * np.log(v)]
        draws[filled : filled + len(accepted)] = accepted
        filled += len(accepted)
    return draws


@checked
def gamma_ball(source: Source, *, dimension: int, scale: float) -> NDArray[np.float64]:
    """A vector with density proportional to exp(-||x|| / scale).

    Its direction is uniform on the sphere and its length Gamma(dimension, scale): with any other
    length it would not be private for a dimension above one (Chaudhuri, Monteleoni and Sarwate 2011).
    There is no exact version of it on a grid; a strict release uses `discrete_laplace` for each coordinate.

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


def _in_chunks(source: Source, transform: Callable[[Words], Floats], size: int) -> Floats:
    require_whole("size", size, most=MOST_DRAWS)
    draws = np.empty(size)
    for start in range(0, size, CHUNK):
        words = source.words(min(CHUNK, size - start))
        draws[start : start + len(words)] = transform(words)
    return draws


def _open_uniform(words: Words) -> Floats:
    return np.minimum((words.astype(np.float64) + 0.5) * 2.0**-64, LARGEST_BELOW_ONE)


def _with_random_sign(words: Words, magnitude: Callable[[Floats], Floats]) -> Floats:
    """A sign from the last bit, a magnitude from the other 63; never 0."""
    tail = np.minimum(((words >> np.uint64(1)).astype(np.float64) + 0.5) * 2.0**-63, LARGEST_BELOW_ONE)
    signed: Floats = np.copysign(magnitude(tail), np.where(words & np.uint64(1), -1.0, 1.0))
    return signed
