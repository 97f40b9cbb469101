"""The law of a sum of independent whole numbers, by Fourier transforms, with a bound on the error of its masses.

Nothing here knows of privacy. A summand is a list of masses and how often it is added; its characteristic function is
the Fourier transform of its masses, and that of the sum is the product of all of them:

1. the masses of each summand are laid around a circle and transformed (`_characteristic_less_one`),
2. what comes out is raised to the power of how often the summand is added, and multiplied (`_product`),
3. the product is transformed back, and the part that lies in the window is cut out (`law_of_sum`).

Masses beyond the window are not lost: they wrap around the circle and are added to masses inside. That is harmless for
a bound from above; whoever needs one from below subtracts what lies outside.

Rounding is counted in units u = 2^-53, the error of one operation. It is bounded at each frequency, and so in each
mass: a mass is a mean over the frequencies. Many summands hardly ever move from their likeliest value (a rarely
sampled step of training), so the function is taken around that value, where it is 1 + x with x as small as the
probability to move. Then errors are small compared with x, and adding the summand a million times multiplies those,
not errors of the 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from holdfast._arrays import Floats

Frequencies = np.ndarray[tuple[int, ...], np.dtype[np.complex128]]

UNIT = 2.0**-53
"""The error of one operation."""
UNITS_PER_LEVEL = 7.0
"""A transform of 2^k points is off by at most k times so many units of the sum of what goes in (Higham 2002, 24.1)."""
_VANISHED = -90.0
"""Where the log of the product is below this, it is not computed but counted as error."""


@dataclass(frozen=True)
class Summand:
    """A whole number with these masses at `first`, `first + 1` and so on, added so many `times`."""

    masses: Floats
    first: int
    times: int
    doubt: float = 0.0
    """By how much the masses may be off, all of them together."""


@dataclass(frozen=True)
class LawOnWindow:
    """The masses of a sum from `low` on, each of them off by at most `error`."""

    low: int
    size: int
    """Of the circle: what lies `size` above `low`, or below it, was added to some mass of the window."""
    masses: Floats
    error: float
    norm_error: float
    """How far all masses together may be off, as the root of the sum of squares: often far less than each alone."""


def law_of_sum(summands: Sequence[Summand], low: int, high: int) -> LawOnWindow:
    """The masses of the sum at `low` to `high`, with what lies elsewhere wrapped around.

    >>> coin = Summand(np.array([0.5, 0.5]), first=0, times=3)
    >>> law_of_sum([coin], 0, 3).masses.round(6).tolist()
    [0.125, 0.375, 0.375, 0.125]
    """
    size = fast_size(high - low + 1)
    likeliest = sum(each.times * (each.first + int(np.argmax(each.masses))) for each in summands)
    product, size_bounds, errors = _product(summands, size)
    # A mass is a mean over all frequencies, and only half of them are stored. Its transform is off as well.
    off = errors + UNITS_PER_LEVEL * UNIT * _levels(size) * size_bounds
    masses = np.roll(np.fft.irfft(product, size), (likeliest - low) % size)[: high - low + 1]
    # By Parseval the norm over the masses is the root mean square over the frequencies.
    norm_error = math.sqrt(2.0 * float(np.sum(off * off)) / size) * (1 + 1e-12)
    return LawOnWindow(low, size, masses, 2.0 * float(np.sum(off)) / size, norm_error)


def _product(summands: Sequence[Summand], size: int) -> tuple[Frequencies, Floats, Floats]:
    """At each frequency the product of the powers, a bound on its size, and one on its error."""
    factors: list[tuple[Frequencies, Floats, int]] = []
    log_bounds, relative = np.zeros(size // 2 + 1), np.zeros(size // 2 + 1)
    for each in summands:
        less_one, off = _characteristic_less_one(each, size)
        # Both the true and the computed value are at most this, so powers are off by times off / bound of its power.
        bound = np.abs(1.0 + less_one) + off
        log_bounds += each.times * np.log(bound)
        relative += each.times * (off / bound)
        factors.append((less_one, bound, each.times))
    size_bounds = np.exp(np.minimum(log_bounds, 700.0))
    product = np.zeros(size // 2 + 1, dtype=np.complex128)
    errors = size_bounds.copy()
    # Most frequencies have vanished after many multiplications.
    left = np.flatnonzero(log_bounds > _VANISHED)
    product[left], rounding = _product_of_powers([(x[left], bound[left], n) for x, bound, n in factors])
    total = relative[left] + rounding
    errors[left] *= np.minimum(total * np.exp(np.minimum(total, 1.0)), 2.0)
    return product, size_bounds, errors


def _characteristic_less_one(summand: Summand, size: int) -> tuple[Frequencies, float]:
    """The characteristic function around the likeliest value, less 1; and how far it may be off at any frequency."""
    likeliest = int(np.argmax(summand.masses))
    moves = summand.masses.copy()
    moves[likeliest] = 0.0
    gap = float(summand.masses[likeliest]) - 1.0
    laps = summand.masses.size // size + 2
    less_one = np.fft.rfft(_around_circle(moves, -likeliest, size))
    less_one += gap
    units = (UNITS_PER_LEVEL * _levels(size) + laps + 4.0) * float(np.sum(moves)) + 4.0 * abs(gap)
    return less_one, UNIT * units + summand.doubt


def _product_of_powers(factors: Sequence[tuple[Frequencies, Floats, int]]) -> tuple[Frequencies, Floats]:
    """The product of (1 + x)^times over the factors (x, a bound on |1 + x|, times), and its relative error."""
    count = factors[0][0].size
    product, units = np.ones(count, dtype=np.complex128), np.full(count, 16.0)
    log_size, angle = np.zeros(count), np.zeros(count)
    for less_one, bound, times in factors:
        if times == 1:
            product *= 1.0 + less_one
            units += 8.0
            continue
        logs, angles = _log_of_one_plus(less_one)
        log_size += times * logs
        angle += times * angles
        # Both logs are off by a few units of x; the products and their sum by a unit of what they come to.
        units += times * (32.0 * np.abs(less_one) / bound + 2.0 * (np.abs(logs) + np.abs(angles)))
    with np.errstate(under="ignore"):
        product *= np.exp(log_size) * (np.cos(angle) + 1j * np.sin(angle))
    return product, UNIT * units


def _log_of_one_plus(x: Frequencies) -> tuple[Floats, Floats]:
    """log |1 + x| and the angle of 1 + x, with all digits where x is small."""
    squares = x.real * x.real + x.imag * x.imag
    small = 0.5 * np.log1p(np.maximum(2.0 * x.real + squares, -0.9))
    large = np.log(np.maximum(np.hypot(1.0 + x.real, x.imag), 1e-300))
    return np.where(squares < 0.25, small, large), np.arctan2(x.imag, 1.0 + x.real)


def _around_circle(masses: Floats, first: int, size: int) -> Floats:
    """The masses on a circle of this size, each at its own index."""
    start = first % size
    padded = np.zeros(-(-(start + masses.size) // size) * size)
    padded[start : start + masses.size] = masses
    return np.asarray(padded.reshape(-1, size).sum(axis=0))


def _levels(size: int) -> float:
    return math.log2(size) + 1


def fast_size(at_least: int) -> int:
    """The least size 2^a, 3 2^a, 5 2^a, 9 2^a or 15 2^a that is large enough: transforms of these are fast.

    >>> fast_size(1000), fast_size(1100)
    (1024, 1152)
    """
    sizes = [odd << max(0, math.ceil(math.log2(max(at_least, 2) / odd))) for odd in (1, 3, 5, 9, 15)]
    return max(2, min(size + size % 2 for size in sizes if size >= at_least))
