"""Noise parameters are rational numbers, so that "exactly this law" has a meaning."""

from __future__ import annotations

from fractions import Fraction
from numbers import Rational

from holdfast.errors import require

LARGEST = Fraction(2**50)
"""A draw beyond the 64-bit integers then lies 8,192 widths out: probability below exp(-8192)."""

SMALLEST = Fraction(1, 2**40)


def width(name: str, value: Fraction) -> Fraction:
    """A scale or sigma in grid units, checked to be a rational number within [2^-40, 2^50].

    >>> width("sigma", Fraction(3, 2))
    Fraction(3, 2)
    """
    return rational(name, value, least=SMALLEST, most=LARGEST, range_text="in [2^-40, 2^50] grid units")


def rational(name: str, value: Fraction, *, least: Fraction, most: Fraction, range_text: str) -> Fraction:
    """The value as a Fraction, checked to be rational and within its range."""
    require(
        isinstance(value, Rational), name, value, "a rational number", f"pass {name}=fractions.Fraction(...)"
    )
    require(least <= value <= most, name, value, range_text)
    return Fraction(value)
