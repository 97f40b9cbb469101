"""The public grid on which strict releases live, and exact arithmetic with whole numbers of its steps.

Continuous noise in doubles reveals low bits of the value, through gaps in the noise and through the rounding of the sum
(soundness, section 16). So a released value is rounded to a grid that depends on public numbers only, and the noise on
that grid is exact and integer. Rounding moves each coordinate of a
neighbour by at most half a step, hence sensitivities grow by sqrt(d) g (L2) or d g (L1); the noise is
enlarged by the same factor, so that the mechanism's curve stays what it declares.

A grid has no end. Its points are whole numbers of steps, and where 64 bits do not hold them all, Python's do:
nothing wraps, and no value is refused for its size, which would tell its size. This is
exact: (1) a double, and a whole number, is a fraction, so its nearest multiple of a step is found without
error; (2) the sum of two whole numbers is exact; (3) what leaves is computed from that sum alone, as a double or in
64 bits, whichever the mechanism declares: so (3) is post-processing, and the proof that is about whole numbers of any
size is about what runs. Whether noise is wide enough to be drawn
on the grid depends on parameters and on the number of coordinates, which are public; it is asked before
anything is charged.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

FINE_BITS, FINEST_BITS = 20, 36
"""Bits of the number of steps per noise scale: at least 20; up to 36 if many coordinates share a small sensitivity."""


_LARGEST_EXACT_STEP = 2**61
"""Up to this size a rounded double is trusted as a whole number, and 64 bits hold it."""


_LARGEST_DOUBLE = float(np.finfo(np.float64).max)


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
        noise_exponent = _log2_ceiling(noise)
        exponent = min(noise_exponent - FINE_BITS, _log2_ceiling(growth_room) - 15)
        return cls(max(exponent, noise_exponent - FINEST_BITS))

    @property
    def step(self) -> Fraction:
        """The distance between neighbouring points."""
        return _power_of_two(self.exponent)

    @classmethod
    def finer_than(cls, step: Fraction) -> Grid:
        """A grid whose step is more than a quarter of this one, and at most half of it."""
        return cls(-_log2_ceiling(1 / step) - 1)

    def nearest(self, values: NDArray[Any]) -> NDArray[Any]:
        """The nearest grid point of each value, in steps, exactly; ties go to the even one."""
        if values.dtype == object or not _are_doubles(values):
            return nearest_steps(values, self.step)
        with np.errstate(over="ignore", under="ignore"):
            steps = np.rint(np.ldexp(values, -self.exponent))  # exact: a power of two
        return _steps_by_fractions(steps, np.abs(steps) <= _LARGEST_EXACT_STEP, values, self.step)

    def values(self, steps: NDArray[Any]) -> NDArray[np.float64]:
        """Grid points as floats (post-processing)."""
        if steps.dtype == object:
            return multiples(steps, self.step)
        with np.errstate(over="ignore"):
            points = np.ldexp(steps.astype(np.float64), self.exponent)
        return np.asarray(np.clip(points, -_LARGEST_DOUBLE, _LARGEST_DOUBLE))


def nearest_steps(values: NDArray[Any], step: Fraction) -> NDArray[Any]:
    """The nearest multiple of any step, in steps, exactly; ties go to the even one, as `rint` has them.

    Doubles decide where they are certain, whole numbers elsewhere: a quotient that is rounded twice would move
    two values apart by more than one step.

    >>> nearest_steps(np.array([1e17 + 48, 1e17 + 64]), Fraction(1, 10)).tolist()
    [1000000000000000480, 1000000000000000640]
    """
    if values.dtype == object:
        return _steps_by_fractions(np.zeros(values.shape), np.zeros(values.shape, dtype=bool), values, step)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        quotient = np.asarray(values / np.float64(step), dtype=np.float64)
        near, size = np.rint(quotient), np.abs(quotient)
        # The quotient is off by less than 2^-51 of its size: no half lies that near where a double is certain.
        certain = np.abs(np.abs(quotient - near) - 0.5) > 2.0**-51 * (size + 1.0)
    if values.dtype.kind in "iu":
        certain &= (values < 2**53) & (values > -(2**53))
    return _steps_by_fractions(near, certain & (2.0**-900 < np.float64(step) < 2.0**900), values, step)


def _steps_by_fractions(
    steps: NDArray[np.float64], certain: NDArray[np.bool_], values: NDArray[Any], step: Fraction
) -> NDArray[Any]:
    """The steps where doubles are certain, computed by fractions elsewhere."""
    whole = np.where(certain, steps, 0.0).astype(np.int64)
    if np.all(certain):
        return whole
    exact = whole.astype(object)
    for place in np.flatnonzero(~np.asarray(certain)):
        number = values.flat[place]
        exact.flat[place] = round(Fraction(number if values.dtype == object else number.item()) / step)
    return whole_numbers(exact)


def nearest_whole(values: NDArray[Any]) -> NDArray[Any]:
    """The nearest whole number of each value; a half goes upwards, so that no shift by whole numbers grows.

    >>> nearest_whole(np.array([0.5, 1.5, -0.5, 2.0**70])).tolist()
    [1, 2, 0, 1180591620717411303424]
    """
    if values.dtype == np.int64:
        return values
    if values.dtype == object or np.any(np.abs(values) >= _LARGEST_EXACT_STEP):
        exact = [math.floor(Fraction(number) + Fraction(1, 2)) for number in values.flat]
        return whole_numbers(np.array(exact, dtype=object).reshape(values.shape))
    below = np.floor(values)
    return np.asarray(below + (values - below >= 0.5)).astype(np.int64)


def in_64_bits(numbers: NDArray[Any]) -> NDArray[np.int64]:
    """Whole numbers as a release holds them, whatever their size: those beyond 64 bits are the last of these.

    >>> in_64_bits(np.array([2**70, -5], dtype=object)).tolist()
    [9223372036854775807, -5]
    """
    if numbers.dtype == np.int64:
        return numbers
    inside = [max(-(2**63), min(2**63 - 1, number)) for number in numbers.flat]
    return np.array(inside, dtype=np.int64).reshape(numbers.shape)


def whole_numbers(numbers: NDArray[Any]) -> NDArray[Any]:
    """Python's whole numbers in 64 bits where all of them fit, else as they are."""
    fits = all(-(2**63) <= number < 2**63 for number in numbers.flat)
    return numbers.astype(np.int64) if fits else numbers


def exact_sum(centre: NDArray[Any], noise: NDArray[np.int64]) -> NDArray[Any]:
    """Whole numbers and noise of the same shape, added without wrapping; how they are held depends on the sums alone.

    >>> exact_sum(np.array([2**63 - 1]), np.array([1])).tolist()
    [9223372036854775808]
    """
    if centre.dtype == np.int64:
        with np.errstate(over="ignore"):
            total = np.asarray(centre + noise)
        # A sum wraps if and only if it has neither summand's sign where both have one.
        if not np.any(((centre ^ total) & (noise ^ total)) < 0):
            return total
    exact = np.empty(centre.shape, dtype=object)
    exact[...] = centre.astype(object) + noise.astype(object)
    return whole_numbers(exact)


def difference(first: NDArray[Any], second: NDArray[Any]) -> NDArray[np.float64]:
    """first - second in doubles; of numbers that doubles do not hold, the exact difference is rounded, and not they.

    >>> difference(np.array([2**70 + 3], dtype=object), np.array([2**70 + 1], dtype=object)).tolist()
    [2.0]
    """
    pair = np.asarray(first), np.asarray(second)
    if all(_are_doubles(numbers) for numbers in pair):
        return np.asarray(np.subtract(*pair, dtype=np.float64))
    exact = np.subtract(*(numbers.astype(object) for numbers in pair))
    return np.asarray(exact, dtype=np.float64)


def _are_doubles(numbers: NDArray[Any]) -> bool:
    """Whether doubles hold these numbers without rounding any."""
    if numbers.dtype == object:
        return False
    return numbers.dtype.kind == "f" or bool(np.all((numbers < 2**53) & (numbers > -(2**53))))


def multiples(steps: NDArray[Any], step: Fraction) -> NDArray[np.float64]:
    """Multiples of a step as doubles; beyond the largest of them, the largest."""
    if steps.dtype == np.int64:
        with np.errstate(over="ignore"):
            return np.asarray(np.clip(steps * float(step), -_LARGEST_DOUBLE, _LARGEST_DOUBLE))
    largest = Fraction(_LARGEST_DOUBLE)
    inside = [float(max(-largest, min(largest, number * step))) for number in steps.flat]
    return np.array(inside).reshape(steps.shape)


@lru_cache(maxsize=4096)
def _power_of_two(exponent: int) -> Fraction:
    return Fraction(2) ** exponent


def _log2_ceiling(value: Fraction) -> int:
    """The least k with 2^k >= value, for a positive fraction: by whole numbers, which are faster than fractions.

    >>> [_log2_ceiling(Fraction(*pair)) for pair in ((1, 1), (3, 1), (1, 3), (1, 4))]
    [0, 2, -1, -2]
    """
    above, below = value.numerator, value.denominator
    k = above.bit_length() - below.bit_length()  # 2^(k - 1) < value < 2^(k + 1)
    reached = below << k >= above if k >= 0 else below >= above << -k
    return k if reached else k + 1
