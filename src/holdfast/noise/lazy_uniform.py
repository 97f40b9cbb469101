"""Uniform numbers of which only as many bits are drawn as a decision needs.

A lazy uniform with numerator k and b bits stands for the interval [k, k+1) / 2^b: the bits that
were drawn, followed by bits that were not drawn yet. "Is it below t?" is answered at once when the
interval lies on one side of t; otherwise the next 64 bits of that very number are drawn. The answer
is therefore that of a real uniform number, and has the exact probability t, although nothing but
integers was ever held. (Von Neumann's idea; Karney 2016, "Sampling exactly from the normal
distribution", uses it bit by bit.)

A symmetric law from one random word: a sign bit and a lazy uniform of 63 bits.

The magnitude is the largest m with V < S(m), where S(m) = P[|K| >= m]. Where a double can decide,
a double decides; where it cannot, integers of any length do:

1. All words become doubles v and a law maps them to positions x, whose floor is m.
2. A position is trusted when its word is at least 2^50, so that the word's whole interval lies
   within a factor 1 ± 2^-50 of v >= 2^-13, and when x is farther from the next integer than the
   law's tolerance.
3. The others (about 1 in 8,000, plus twice the tolerance) are found with `LazyUniform`: they keep
   the bits they have, and the law stays exact.

The sampled law is exact as long as a position is as good as its tolerance says; the laws state the
library errors they rely on, and the tests measure them against mpmath.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from holdfast.noise.source import Source

Threshold = Callable[[int], int]
"""A real number t in [0, 1] at any precision: `t(bits)` is an integer within 1 of t * 2^bits."""
WORD = 64


class LazyUniform:
    """A uniform number in [0, 1) that draws its bits when they matter.

    >>> LazyUniform(Source(seed=1), numerator=0b01, bits=2).below(lambda bits: 3 << (bits - 2))
    True
    """

    def __init__(self, source: Source, *, numerator: int, bits: int) -> None:
        self._source = source
        self._numerator = numerator
        self._bits = bits

    def below(self, threshold: Threshold) -> bool:
        """Whether the number is less than the threshold; later questions agree with this answer."""
        while True:
            # |approximate - t 2^bits| <= 1, and the number times 2^bits lies in [numerator, numerator + 1).
            approximate = threshold(self._bits)
            if self._numerator + 1 <= approximate - 1:
                return True
            if self._numerator >= approximate + 1:
                return False
            self._extend()

    def _extend(self) -> None:
        self._numerator = (self._numerator << WORD) | int(self._source.words(1)[0])
        self._bits += WORD


def last_integer(holds: Callable[[int], bool], *, guess: int) -> int:
    """The largest integer at which a condition holds that is true up to somewhere and false after.

    The guess saves questions and cannot change the answer: the search gallops away from it until
    it has seen the condition hold and fail.

    >>> last_true(lambda m: m * m <= 200, guess=3)
    14
    """
    step = 1
    if holds(guess):
        low, high = guess, guess + 1
        while holds(high):
            step *= 2
            low, high = high, high + step
    else:
        low, high = guess - 1, guess
        while not holds(low):
            step *= 2
            low, high = low - step, low
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


CHUNK = 1 << 16
MAGNITUDE_BITS = 63
TRUSTED_FROM = 2**50
POSITION_ERROR = 2.0**-42
"""How far log v or the normal quantile of v may be off in a trusted position, per unit of scale.

At v >= 2^-13 both are at most 9.1 in size, so one unit in the last place is at most 2^-49. The word's
interval adds at most 2^-49, and NumPy and SciPy document errors of at most 4 such units.
"""


class Magnitude(Protocol):
    """The law of |K|, in doubles for speed and in integers for truth."""

    @property
    def tolerance(self) -> float:
        """A bound on the error of a trusted position."""

    def position(self, uniform: NDArray[np.float64]) -> NDArray[np.float64]:
        """The real number, decreasing in the uniform, whose floor is the magnitude."""

    def survival(self, magnitude: int) -> Threshold:
        """S(magnitude) = P[|K| >= magnitude], for magnitude >= 1."""


def signed_magnitudes(source: Source, *, law: Magnitude, size: int) -> NDArray[np.int64]:
    """Draws from a symmetric law on the integers, given the law of their magnitude."""
    words = source.words(size)
    magnitudes = _magnitudes(source, law, words >> np.uint64(1))
    return np.where(words & np.uint64(1), -magnitudes, magnitudes)


def _magnitudes(source: Source, law: Magnitude, words: NDArray[np.uint64]) -> NDArray[np.int64]:
    position = law.position((words.astype(np.float64) + 0.5) * 2.0**-MAGNITUDE_BITS)
    tolerance = law.tolerance
    doubtful = np.floor(position - tolerance) != np.floor(position + tolerance)
    doubtful |= words < np.uint64(TRUSTED_FROM)
    magnitudes = np.floor(position).astype(np.int64)
    for index in np.flatnonzero(doubtful).tolist():
        uniform = LazyUniform(source, numerator=int(words[index]), bits=MAGNITUDE_BITS)
        magnitudes[index] = _largest(law, uniform, guess=int(magnitudes[index]))
    return magnitudes


def _largest(law: Magnitude, uniform: LazyUniform, *, guess: int) -> int:
    return last_integer(lambda m: m <= 0 or uniform.below(law.survival(m)), guess=guess)
