"""Probabilities in fixed point: t * 2^bits as an integer, correct to within 1, for any number of bits.

`_bernoulli.LazyUniform` compares uniform numbers with them. They are computed by the number functions of mpmath
(`libmp`), which take the precision as an argument and use no global context, so that threads cannot disturb each other.
The working precision is at least 60 bits more than the result has: the result is within 1 even if the error is 2^59
times the unit of the working precision.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

GUARD_BITS = 64
"""Bits of the working precision beyond those of the result."""


def _real(x: Fraction, precision: int) -> Any:
    from mpmath import libmp

    return libmp.from_rational(x.numerator, x.denominator, precision)


def exp_minus(gamma: Fraction, bits: int) -> int:
    """exp(-gamma) * 2^bits, for gamma >= 0.

    >>> exp_minus(Fraction(1), 10)  # 1024 / e = 376.7
    377
    """
    from mpmath import libmp

    if gamma > bits:  # exp(-gamma) < 2^-bits
        return 0
    precision = bits + GUARD_BITS + int(gamma).bit_length()
    return _scaled_integer(libmp.mpf_exp(_real(-gamma, precision), precision), bits)


def laplace_survival(magnitude: int, scale: Fraction, bits: int) -> int:
    """P[|K| >= magnitude] * 2^bits where P[K = k] ∝ exp(-|k|/scale), for magnitude >= 1.

    With q = exp(-1/scale) this is 2 q^magnitude / (1 + q).
    """
    from mpmath import libmp

    if magnitude > (bits + 1) * scale:
        return 0
    precision = bits + GUARD_BITS + int(1 / scale).bit_length() + int(magnitude / scale).bit_length()
    q = libmp.mpf_exp(_real(-1 / scale, precision), precision)
    power = libmp.mpf_exp(_real(-magnitude / scale, precision), precision)
    survival = libmp.mpf_div(libmp.mpf_shift(power, 1), libmp.mpf_add(libmp.fone, q, precision), precision)
    return _scaled_integer(survival, bits)


def normal_survival(square: Fraction, bits: int) -> int:
    """P[Z^2 >= square] * 2^bits for a standard normal Z; this is erfc(sqrt(square / 2))."""
    if square / 2 > bits:  # erfc(y) <= exp(-y^2)
        return 0
    return _scaled_integer(_erfc_of_root(square / 2, bits + GUARD_BITS), bits)


def normal_mass_ratio(k: int, nearest: int, sigma: Fraction, bits: int) -> int:
    """P[round(sigma Z) = k] / P[round(sigma Z) = nearest] * 2^bits, for k >= nearest >= 0."""
    from mpmath import libmp

    precision = bits + GUARD_BITS
    masses = (_normal_mass(at, sigma, precision) for at in (k, nearest))
    return _scaled_integer(libmp.mpf_div(*masses, precision), bits)


def midpoint_ratio(k: int, sigma: Fraction, bits: int) -> int:
    """h(0) / h(k) * 2^bits with h(k) = P[round(sigma Z) = k] / f(k), f(k) = exp(-k^2 / (2 sigma^2)), for k >= 0.

    The rounded normal law has probability h(k) f(k) at k, the discrete Gaussian law a multiple of f(k).
    """
    from mpmath import libmp

    exponent = Fraction(k * k) / (2 * sigma**2)
    precision = bits + GUARD_BITS
    exact = precision + int(exponent).bit_length()
    f = libmp.mpf_exp(_real(-exponent, exact), exact)
    centre, mass = (_normal_mass(at, sigma, precision) for at in (0, k))
    return _scaled_integer(libmp.mpf_div(libmp.mpf_mul(centre, f, precision), mass, precision), bits)


def _normal_mass(k: int, sigma: Fraction, precision: int) -> Any:
    """P[round(sigma Z) = k] * 2 to a relative 2^-precision, for k >= 0."""
    from mpmath import libmp

    # For k >= 1 the two tails agree in at most log2(sigma) + 2 leading bits, which the subtraction loses.
    precision += int(sigma).bit_length() + 8
    if k == 0:
        half = libmp.mpf_sqrt(_real(1 / (8 * sigma**2), precision), precision)
        return libmp.mpf_shift(libmp.mpf_erf(half, precision), 1)
    nearer, farther = (
        _erfc_of_root(Fraction((2 * k + side) ** 2) / (8 * sigma**2), precision) for side in (-1, 1)
    )
    return libmp.mpf_sub(nearer, farther, precision)


def _erfc_of_root(square: Fraction, precision: int) -> Any:
    # The condition number of erfc(sqrt(x)) is about x for large x: so many bits are computed in addition.
    from mpmath import libmp

    precision += int(square).bit_length() + 8
    return libmp.mpf_erfc(libmp.mpf_sqrt(_real(square, precision), precision), precision)


def _scaled_integer(value: Any, bits: int) -> int:
    from mpmath import libmp

    return int(libmp.to_int(libmp.mpf_shift(value, bits), libmp.round_nearest))
