"""A symmetric law from one random word: a sign bit and a lazy uniform of 63 bits.

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

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from holdfast.noise.lazy import LazyUniform, Threshold, last_true
from holdfast.noise.source import Source

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
    return last_true(lambda m: m <= 0 or uniform.below(law.survival(m)), guess=guess)
