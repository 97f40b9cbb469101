"""A Laplace number cut off at an integer towards zero, exactly."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import require
from holdfast.noise.fixed_point import exp_minus
from holdfast.noise.lazy import Threshold
from holdfast.noise.magnitude import CHUNK, POSITION_ERROR, signed_magnitudes
from holdfast.noise.rational import width
from holdfast.noise.source import Source


def truncated_laplace(source: Source, *, scale: Fraction, size: int) -> NDArray[np.int64]:
    """The integer parts of independent Laplace numbers of this scale, with exactly that law.

    Every integer is less than 1 away from a real Laplace number, which the discrete Laplace law does not give:
    for noise that enters a computation whose proof is about a density. Not for adding to integers.

    >>> truncated_laplace(Source(seed=1), scale=Fraction(10), size=5)
    array([ -6,   0, -19,   0, -11])
    """
    require(size >= 0, "size", size, ">= 0")
    law = _Truncated(width=width("scale", scale))
    parts = [
        signed_magnitudes(source, law=law, size=min(CHUNK, size - start)) for start in range(0, size, CHUNK)
    ]
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)


@dataclass(frozen=True, kw_only=True)
class _Truncated:
    """floor(|X|) >= m if and only if |X| >= m, which has probability exp(-m / width)."""

    width: Fraction

    @property
    def tolerance(self) -> float:
        return float(self.width) * POSITION_ERROR

    def position(self, uniform: NDArray[np.float64]) -> NDArray[np.float64]:
        return -float(self.width) * np.log(uniform)

    def survival(self, magnitude: int) -> Threshold:
        return partial(exp_minus, magnitude / self.width)
