"""Uniform numbers of which only as many bits are drawn as a decision needs.

A lazy uniform with numerator k and b bits stands for the interval [k, k+1) / 2^b: the bits that
were drawn, followed by bits that were not drawn yet. "Is it below t?" is answered at once when the
interval lies on one side of t; otherwise the next 64 bits of that very number are drawn. The answer
is therefore that of a real uniform number, and has the exact probability t, although nothing but
integers was ever held. (Von Neumann's idea; Karney 2016, "Sampling exactly from the normal
distribution", uses it bit by bit.)
"""

from __future__ import annotations

from collections.abc import Callable

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


def last_true(holds: Callable[[int], bool], *, guess: int) -> int:
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
