"""Exact draws of integers from symmetric laws of any width.

One bit of a random 64-bit word is the sign, and the other 63 are a lazy uniform number V. The magnitude is the largest
m with V < S(m), where S(m) = P[|K| >= m]. Doubles decide where they are precise enough, else integers of any length:

1. All words are converted to doubles v, which the law maps to positions x; the magnitude is the floor of x.
2. A position is trusted when its word is at least 2^50, so that the word's whole interval lies
   within a factor 1 ± 2^-50 of v >= 2^-13, and when x is farther from the next integer than the
   law's tolerance.
3. The other draws (about 1 in 8,000, plus twice the tolerance) are computed with `LazyUniform`, which keeps the bits
   that were drawn, so that the law stays exact.

The draws have exactly the law as long as each position is as precise as its tolerance says. Each law states which
errors of NumPy and SciPy it relies on, and the tests measure them against mpmath.

For widths beyond about 2^22, doubles would leave too many draws undecided, so a draw takes two steps:
first the cell of m neighbouring integers it falls in, then its place within the cell.

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
from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from holdfast._ranges import MOST_DRAWS, require_whole
from holdfast.errors import require_rational
from holdfast.noise._bernoulli import LazyUniform, Threshold, bernoulli_many, last_integer
from holdfast.noise._source import CHUNK, Source
from holdfast.noise._uniform import integers

LARGEST_WIDTH = Fraction(2**50)
"""The largest width: a draw beyond the 64-bit integers then lies more than 8,192 widths from 0, which has a probability
below exp(-8192)."""
SMALLEST_WIDTH = Fraction(1, 2**40)
MAGNITUDE_BITS = 63
SMALLEST_TRUSTED_WORD = 2**50
POSITION_ERROR = 2.0**-42
"""A bound on the error of log v and of the normal quantile of v in a trusted position, per unit of scale.

At v >= 2^-13 both are at most 9.1 in size, so one unit in the last place is at most 2^-49. The word's
interval adds at most 2^-49, and NumPy and SciPy document errors of at most 4 such units.
"""
CELL_COUNT_BITS = 20
"""A wide law is at most 2^20 to 2^21 cells wide."""


def checked_width(name: str, value: Fraction) -> Fraction:
    """A scale or sigma in grid units, checked to be a rational number within [2^-40, 2^50].

    >>> checked_width("sigma", Fraction(3, 2))
    Fraction(3, 2)
    """
    return _cached_width(name, value)


@lru_cache(maxsize=4096, typed=True)  # parameters repeat; a float that equals a fraction is still refused
def _cached_width(name: str, value: Fraction) -> Fraction:
    return require_rational(
        name, value, least=SMALLEST_WIDTH, most=LARGEST_WIDTH, range_text="in [2^-40, 2^50] grid units"
    )


class MagnitudeLaw(Protocol):
    """The law of |K|: in doubles, which are fast, and in integers, which are exact."""

    @property
    def tolerance(self) -> float:
        """A bound on the error of a trusted position."""

    def position(self, uniform: NDArray[np.float64]) -> NDArray[np.float64]:
        """The real number, decreasing in the uniform, whose floor is the magnitude."""

    def survival(self, magnitude: int) -> Threshold:
        """S(magnitude) = P[|K| >= magnitude], for magnitude >= 1."""


def signed_magnitudes(source: Source, *, law: MagnitudeLaw, size: int) -> NDArray[np.int64]:
    """Draws from a symmetric law on the integers, given the law of their magnitude."""
    words = source.words(size)
    magnitudes = _magnitudes(source, law, words >> np.uint64(1))
    return np.where(words & np.uint64(1), -magnitudes, magnitudes)


def _magnitudes(source: Source, law: MagnitudeLaw, words: NDArray[np.uint64]) -> NDArray[np.int64]:
    position = law.position((words.astype(np.float64) + 0.5) * 2.0**-MAGNITUDE_BITS)
    tolerance = law.tolerance
    doubtful = np.floor(position - tolerance) != np.floor(position + tolerance)
    doubtful |= words < np.uint64(SMALLEST_TRUSTED_WORD)
    magnitudes = np.floor(position).astype(np.int64)
    for index in np.flatnonzero(doubtful).tolist():
        uniform = LazyUniform(source, numerator=int(words[index]), bits=MAGNITUDE_BITS)
        magnitudes[index] = _largest_magnitude(law, uniform, guess=int(magnitudes[index]))
    return magnitudes


def _largest_magnitude(law: MagnitudeLaw, uniform: LazyUniform, *, guess: int) -> int:
    return last_integer(lambda m: m <= 0 or uniform.below(law.survival(m)), guess=guess)


class SymmetricLaw(MagnitudeLaw, Protocol):
    """A law with P[k] = P[-k], decreasing in |k|."""

    @property
    def width(self) -> Fraction:
        """The scale of the noise, in integers."""

    def loss(self, k: NDArray[np.int64], nearest: NDArray[np.int64]) -> NDArray[np.float64]:
        """An upper bound on 1 - P[k] / P[nearest] for magnitudes k >= nearest >= 0, in doubles."""

    def ratio(self, k: int, nearest: int) -> Threshold:
        """P[k] / P[nearest] for magnitudes k >= nearest >= 0, exactly."""


def draw_symmetric(source: Source, *, law: SymmetricLaw, size: int) -> NDArray[np.int64]:
    """Draws from the law, in memory that does not grow beyond the result."""
    require_whole("size", size, most=MOST_DRAWS)
    draws = np.empty(size, dtype=np.int64)
    cell_bits = int(law.width).bit_length() - CELL_COUNT_BITS
    for start in range(0, size, CHUNK):
        count = min(CHUNK, size - start)
        if cell_bits < 3:
            draws[start : start + count] = signed_magnitudes(source, law=law, size=count)
        else:
            cells = _CellLaw(law=law, integers=2**cell_bits - 1)
            cell_numbers = signed_magnitudes(source, law=cells, size=count)
            draws[start : start + count] = cells.places(source, cell_numbers)
    return draws


@dataclass(frozen=True, kw_only=True)
class _CellLaw:
    """The law of the cell that a draw falls in, each cell having the same odd number of integers."""

    law: SymmetricLaw
    integers: int

    @property
    def _half_width(self) -> int:
        return (self.integers - 1) // 2

    @property
    def tolerance(self) -> float:
        return self.law.tolerance / self.integers

    def position(self, uniform: NDArray[np.float64]) -> NDArray[np.float64]:
        return (self.law.position(uniform) + self._half_width) / self.integers

    def survival(self, magnitude: int) -> Threshold:
        return self.law.survival(magnitude * self.integers - self._half_width)

    def places(self, source: Source, cells: NDArray[np.int64]) -> NDArray[np.int64]:
        """For each cell one of its integers, with probabilities in proportion to the law."""
        draws = np.empty(len(cells), dtype=np.int64)
        undecided = np.arange(len(cells))
        while len(undecided):
            offsets = integers(source, bound=self.integers, size=len(undecided)) - self._half_width
            k = cells[undecided] * self.integers + offsets
            accepted = self._accepts(source, np.abs(k), np.abs(cells[undecided]))
            draws[undecided[accepted]] = k[accepted]
            undecided = undecided[~accepted]
        return draws

    def _accepts(self, source: Source, k: NDArray[np.int64], cells: NDArray[np.int64]) -> NDArray[np.bool_]:
        nearest = np.maximum(cells * self.integers - self._half_width, 0)
        return bernoulli_many(
            source,
            least=1 - self.law.loss(k, nearest),
            most=np.ones(len(k)),
            exact=lambda index: self.law.ratio(int(k[index]), int(nearest[index])),
        )
