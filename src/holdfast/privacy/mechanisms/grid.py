"""The public grid on which strict releases live (soundness, section 16).

Continuous noise on doubles leaks low bits, through holes in the noise and through the rounding of
the sum. So the centre is rounded to a grid that depends on public numbers only, and noise is
exact and integer on that grid. Rounding moves each coordinate of a neighbour by at most half a
step, hence sensitivities grow by sqrt(d) g (L2) or d g (L1); the noise is enlarged by the same
factor, so that the mechanism's curve stays what it declares.

What integer noise on a declared grid shares: whole steps, and what rounding adds to the sensitivity.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import ParameterError, require
from holdfast.privacy.mechanisms.mechanism import Mechanism
from holdfast.privacy.rounding import Number, as_written


@dataclass(frozen=True, kw_only=True)
class OnGrid(Mechanism):
    """Values are integers, unless `grid` declares a step: then real values are rounded to it.

    The parameters stay in the value's units; rounding the centre adds to the sensitivity, by an amount that
    depends on the number of coordinates, which is why a grid needs the `dimension`.
    """

    dimension: int | None = None
    grid: Number | None = None

    public: ClassVar[tuple[str, ...]] = ("the grid", "the number of coordinates")

    @property
    @abstractmethod
    def sensitivity(self) -> Number:
        """How far one unit moves the value, in the mechanism's norm and the value's units."""

    @abstractmethod
    def rounding(self, dimension: int) -> Fraction:
        """How many steps rounding the centre can add to that."""

    def validate(self) -> None:
        """A positive grid, and a dimension where there is one."""
        known = self.dimension is None or (isinstance(self.dimension, int) and self.dimension >= 1)
        require(known, "dimension", self.dimension, "a whole number >= 1")
        require(self.grid is None or 0 < self.grid < float("inf"), "grid", self.grid, "> 0 and finite")
        require(self.grid is None or self.dimension is not None, "dimension", None, "given when a grid is")

    @property
    def step(self) -> Fraction:
        """The distance between grid points."""
        return Fraction(1) if self.grid is None else as_written(self.grid)

    @property
    def shift(self) -> Fraction:
        """The sensitivity in steps, after rounding."""
        shift = as_written(self.sensitivity) / self.step
        return shift if self.grid is None else shift + self.rounding(self.dimension or 1)

    @property
    def whole_shift(self) -> int:
        """In one dimension shifts are whole numbers of steps."""
        return max(1, int(self.shift))

    def check(self, value: Any) -> NDArray[Any]:
        """Integers where no grid is declared; the declared dimension where one is."""
        array: NDArray[Any] = super().check(value)
        if self.grid is None and array.dtype != np.int64:
            raise ParameterError(
                "value must be integers where no grid is declared; declare grid=... and dimension=..."
            )
        fits = self.dimension is None or array.size == self.dimension
        require(fits, "value.size", array.size, f"the declared {self.dimension}")
        return array

    def moved(self, value: NDArray[Any], noise: NDArray[np.int64]) -> NDArray[Any]:
        """Round to the grid, move by whole steps."""
        steps = noise.reshape(value.shape)
        if self.grid is None:
            return np.asarray(value + steps)
        step = float(self.grid)
        centre = np.clip(np.rint(value / step), -(2.0**61), 2.0**61).astype(np.int64)
        return np.asarray((centre + steps) * step)

    def steps_from(self, value: NDArray[Any], at: NDArray[np.float64]) -> NDArray[np.float64]:
        """The last grid point that is not above, in steps from the centre; near a point counts as it."""
        step = float(self.step)
        steps = at / step
        return np.asarray(np.floor(steps + np.abs(steps) * 2.0**-50) - np.rint(float(value.flat[0]) / step))

    def worst_pair(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """A shift by the whole sensitivity."""
        dtype = np.int64 if self.grid is None else np.float64
        return np.zeros(1, dtype), np.array([self.sensitivity]).astype(dtype)


FINE_BITS, FINEST_BITS = 20, 36
"""Steps per noise scale: at least 2^20; up to 2^36 where many coordinates share a small sensitivity."""
_EDGE = 2**61


@dataclass(frozen=True)
class Grid:
    """All multiples of 2^exponent.

    >>> Grid(-2).nearest(np.array([0.3, -1.1])).tolist()
    [1, -4]
    """

    exponent: int

    @classmethod
    def for_noise(cls, noise: Fraction, growth_room: Fraction) -> Grid:
        """A grid far below the noise, and fine enough that rounding takes little of the sensitivity.

        `growth_room` is the sensitivity over sqrt(d) or d; the step is at most 2^-14 of it if that
        needs no more than 2^36 steps per noise scale.
        """
        top = _log2_ceiling(noise)
        wanted = min(top - FINE_BITS, _log2_ceiling(growth_room) - 15)
        return cls(max(wanted, top - FINEST_BITS))

    @property
    def step(self) -> Fraction:
        """The distance between neighbouring points."""
        return Fraction(2) ** self.exponent

    def nearest(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """The nearest grid point, in steps; what is beyond the range of integers is clamped.

        Clamping never moves two values apart, so it costs no sensitivity.
        """
        with np.errstate(over="ignore", under="ignore"):
            steps = np.rint(np.ldexp(values, -self.exponent))
        return np.asarray(np.clip(steps, -float(_EDGE), float(_EDGE))).astype(np.int64)

    def values(self, steps: NDArray[np.int64]) -> NDArray[np.float64]:
        """Grid points as floats (post-processing)."""
        return np.asarray(np.ldexp(steps.astype(np.float64), self.exponent), dtype=np.float64)


def root_above(number: int) -> Fraction:
    """A fraction that is not below the square root."""
    return Fraction(math.isqrt(number << 40) + 1, 2**20)


def _log2_ceiling(value: Fraction) -> int:
    """The least k with 2^k >= value, for a positive fraction."""
    k = value.numerator.bit_length() - value.denominator.bit_length()
    while Fraction(2) ** k < value:
        k += 1
    while Fraction(2) ** (k - 1) >= value:
        k -= 1
    return k
