from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.noise._fixed_point import (
    exp_minus,
    laplace_survival,
    midpoint_ratio,
    normal_mass_ratio,
    normal_survival,
)

mp = mpmath.MPContext()
mp.prec = 1200

bits = st.sampled_from([16, 63, 64, 127, 191])
# From 2^-40 to 2^50, evenly in the logarithm, with awkward denominators.
widths = st.builds(
    lambda power, part: Fraction(2) ** power * part,
    st.integers(-39, 49),
    st.fractions(1, 2, max_denominator=97),
)
relative = st.fractions(0, 12, max_denominator=1000)


def real(x: Fraction) -> Any:
    return mp.mpf(x.numerator) / x.denominator


def within_one(approximate: int, exact: Any, bits: int) -> bool:
    return bool(abs(approximate - exact * mp.mpf(2) ** bits) <= 0.51) or (
        approximate == 0 and bool(exact * mp.mpf(2) ** bits <= 1)
    )


@settings(deadline=None)
@given(gamma=st.fractions(0, 300), bits=bits)
def test_exp_minus(gamma: Fraction, bits: int) -> None:
    assert within_one(exp_minus(gamma, bits), mp.exp(-real(gamma)), bits)


@settings(deadline=None)
@given(scale=widths, multiple=relative, bits=bits)
def test_laplace_survival(scale: Fraction, multiple: Fraction, bits: int) -> None:
    m = 1 + int(multiple * scale)
    q = mp.exp(-1 / real(scale))
    exact = 2 * mp.exp(-m / real(scale)) / (1 + q)
    assert within_one(laplace_survival(m, scale, bits), exact, bits)


@settings(deadline=None)
@given(sigma=widths, multiple=relative, bits=bits)
def test_normal_survival(sigma: Fraction, multiple: Fraction, bits: int) -> None:
    y = (1 + int(multiple * sigma) - Fraction(1, 2)) / sigma
    exact = mp.erfc(real(y) / mp.sqrt(2))
    assert within_one(normal_survival(y**2, bits), exact, bits)


@settings(max_examples=50, deadline=None)
@given(sigma=widths.filter(lambda s: s > Fraction(1, 8)), multiple=relative, bits=bits)
def test_midpoint_ratio(sigma: Fraction, multiple: Fraction, bits: int) -> None:
    # The definition: h(k) is the integral of exp(-(k t + t^2 / 2) / sigma^2) over |t| < 1/2.
    k = 1 + int(multiple * sigma)
    low = mpmath.MPContext()
    low.prec = bits + 40
    variance = low.mpf(sigma.numerator) ** 2 / sigma.denominator**2

    def h(k: int) -> Any:
        return low.quad(lambda t: low.exp(-(k * t + t * t / 2) / variance), low.linspace(-0.5, 0.5, 5))

    assert within_one(midpoint_ratio(k, sigma, bits), h(0) / h(k), bits)


@settings(deadline=None)
@given(sigma=widths, multiple=relative)
def test_the_quick_bounds_enclose_the_acceptance(sigma: Fraction, multiple: Fraction) -> None:
    k = 1 + int(multiple * sigma)
    ratio = Fraction(midpoint_ratio(k, sigma, 256), 2**256)
    unit = Fraction(1, 2**256)
    assert 1 - Fraction(k * k) / (8 * sigma**4) - unit <= ratio <= 1 + unit


@settings(max_examples=60, deadline=None)
@given(sigma=widths, multiple=relative, more=st.fractions(0, 2, max_denominator=99), bits=bits)
def test_normal_mass_ratio(sigma: Fraction, multiple: Fraction, more: Fraction, bits: int) -> None:
    nearest = int(multiple * sigma)
    k = nearest + int(more * sigma)
    root = real(sigma) * mp.sqrt(2)

    def mass(at: int) -> Any:
        return mp.erfc((at - mp.mpf(0.5)) / root) - mp.erfc((at + mp.mpf(0.5)) / root)

    assert within_one(normal_mass_ratio(k, nearest, sigma, bits), mass(k) / mass(nearest), bits)
