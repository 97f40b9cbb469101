"""Integers with a symmetric law, however wide it is.

Up to a width of about 2^22 the magnitude is found in one step (`magnitude`). Beyond, doubles would
leave too many draws in doubt, so a draw takes two steps: first the cell of m neighbouring integers it
falls in, then its place within the cell.

1. Cell j holds the integers nearest to j m, for an odd m: those k with |k - j m| <= (m-1)/2. Then
   |j| >= i if and only if |k| >= i m - (m-1)/2, so the cell's law is a symmetric law again.
2. A place in the cell is drawn uniformly and accepted with probability P[k] / P[nearest], where
   `nearest` is the cell's most likely integer; if rejected, the place alone is drawn again. A cell is
   so narrow (2^-19 of the width) that the first place is nearly always accepted.

Both steps are exact, hence so is the pair of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from holdfast.noise.bernoulli import bernoulli_many
from holdfast.noise.lazy_uniform import CHUNK, Magnitude, Threshold, signed_magnitudes
from holdfast.noise.source import Source
from holdfast.noise.uniform import integers

CELL_WIDTH_BITS = 20
"""A wide law is at most 2^20 to 2^21 cells wide."""


class Symmetric(Magnitude, Protocol):
    """A law with P[k] = P[-k], decreasing in |k|."""

    @property
    def width(self) -> Fraction:
        """The scale of the noise, in integers."""

    def loss(self, k: NDArray[np.int64], nearest: NDArray[np.int64]) -> NDArray[np.float64]:
        """An upper bound on 1 - P[k] / P[nearest] for magnitudes k >= nearest >= 0, in doubles."""

    def ratio(self, k: int, nearest: int) -> Threshold:
        """P[k] / P[nearest] for magnitudes k >= nearest >= 0, exactly."""


def symmetric(source: Source, *, law: Symmetric, size: int) -> NDArray[np.int64]:
    """Draws from the law, in memory that does not grow beyond the result."""
    draws = np.empty(size, dtype=np.int64)
    cell_bits = int(law.width).bit_length() - CELL_WIDTH_BITS
    for start in range(0, size, CHUNK):
        count = min(CHUNK, size - start)
        if cell_bits < 3:
            draws[start : start + count] = signed_magnitudes(source, law=law, size=count)
        else:
            cells = _Cells(law=law, integers=2**cell_bits - 1)
            which = signed_magnitudes(source, law=cells, size=count)
            draws[start : start + count] = cells.places(source, which)
    return draws


@dataclass(frozen=True, kw_only=True)
class _Cells:
    """The law of the cell: an odd number of integers in each."""

    law: Symmetric
    integers: int

    @property
    def _reach(self) -> int:
        return (self.integers - 1) // 2

    @property
    def tolerance(self) -> float:
        return self.law.tolerance / self.integers

    def position(self, uniform: NDArray[np.float64]) -> NDArray[np.float64]:
        return (self.law.position(uniform) + self._reach) / self.integers

    def survival(self, magnitude: int) -> Threshold:
        return self.law.survival(magnitude * self.integers - self._reach)

    def places(self, source: Source, cells: NDArray[np.int64]) -> NDArray[np.int64]:
        """For each cell one of its integers, with probabilities in proportion to the law."""
        draws = np.empty(len(cells), dtype=np.int64)
        left = np.arange(len(cells))
        while len(left):
            offsets = integers(source, bound=self.integers, size=len(left)) - self._reach
            k = cells[left] * self.integers + offsets
            accepted = self._accepts(source, np.abs(k), np.abs(cells[left]))
            draws[left[accepted]] = k[accepted]
            left = left[~accepted]
        return draws

    def _accepts(self, source: Source, k: NDArray[np.int64], cells: NDArray[np.int64]) -> NDArray[np.bool_]:
        nearest = np.maximum(cells * self.integers - self._reach, 0)
        return bernoulli_many(
            source,
            least=1 - self.law.loss(k, nearest),
            most=np.ones(len(k)),
            exact=lambda index: self.law.ratio(int(k[index]), int(nearest[index])),
        )
