"""Boolean functions on {-1, 1}^n as models: influence, noise, Fourier expansion, and what an attacker gains.

A function is an array of 2^n values; bit j of an index is set where x_j = -1. The attacker wants x_i, knows h(x),
and of the other bits z, each right with probability (1 + rho) / 2 (Wu 2016, definitions 5.6 and 5.13). Everything
is exact. Product code works on real tables and any prior: `holdfast.attack._influence`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdfast.errors import require

Floats = NDArray[np.float64]
MOST_BITS = 20


def checked(h: ArrayLike) -> Floats:
    """The values, 2^n of them, each -1 or 1."""
    values = np.asarray(h, dtype=np.float64)
    bits = bits_of(values)
    require(bits <= MOST_BITS, "h", values.size, f"at most 2^{MOST_BITS} values")
    require(bool(np.all(np.abs(values) == 1.0)), "h", "...", "of values -1 and 1")
    return values


def bits_of(values: Floats) -> int:
    """n of an array of 2^n values."""
    bits = max(values.size, 1).bit_length() - 1
    require(values.ndim == 1 and values.size == 2**bits, "h", values.shape, "2^n values in a row")
    return bits


def points(bits: int) -> Floats:
    """Every x, one line each."""
    return np.asarray(1.0 - 2.0 * ((np.arange(2**bits)[:, None] >> np.arange(bits)) & 1), dtype=np.float64)


# Fourier expansion and noise.
def walsh_hadamard(values: Floats) -> Floats:
    """Sums over x of values(x) prod_{j in S} x_j, for every S at once: n 2^n additions.

    >>> walsh_hadamard(np.array([1.0, -1.0])).tolist()
    [0.0, 2.0]
    """
    found = np.array(values, dtype=np.float64)
    step = 1
    while step < found.size:
        pairs = found.reshape(-1, 2, step)
        found = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).reshape(-1)
        step *= 2
    return found


def fourier(h: ArrayLike) -> Floats:
    """The coefficient of every set S, whose bits are the bits of the index.

    >>> fourier(parity(3)).tolist()
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    """
    values = np.asarray(h, dtype=np.float64)
    bits_of(values)
    return walsh_hadamard(values) / values.size


def degrees(bits: int) -> NDArray[np.int64]:
    """|S| for every index."""
    return np.array([word.bit_count() for word in range(2**bits)], dtype=np.int64)


def noisy(values: ArrayLike, rho: float) -> Floats:
    """The noise operator: E h(x) over x that agree with z in each bit with probability (1 + rho) / 2."""
    require(0.0 <= rho <= 1.0, "rho", rho, "in [0, 1]")
    given = np.asarray(values, dtype=np.float64)
    return walsh_hadamard(rho ** degrees(bits_of(given)) * fourier(given))


# How much one bit moves the output.
def halves(h: ArrayLike, i: int) -> tuple[Floats, Floats]:
    """The function of the other bits where x_i = 1, and where x_i = -1."""
    values = np.asarray(h, dtype=np.float64)
    bits = bits_of(values)
    require(0 <= i < bits, "i", i, f"in [0, {bits - 1}]")
    pairs = values.reshape(-1, 2, 2**i)
    return pairs[:, 0].reshape(-1), pairs[:, 1].reshape(-1)


def derivative(h: ArrayLike, i: int) -> Floats:
    """Half the difference of the two: 0 where the bit does not matter."""
    up, down = halves(h, i)
    return (up - down) / 2.0


def influence(h: ArrayLike, i: int) -> float:
    """The share of inputs whose output changes with bit i (O'Donnell 2014).

    >>> influence(parity(4), 0), influence(conjunction(4), 0)
    (1.0, 0.125)
    """
    return float(np.mean(derivative(h, i) ** 2))


def stable_influence(h: ArrayLike, i: int, rho: float) -> float:
    """sum over S that contain i of rho^(|S| - 1) times the squared coefficient.

    >>> round(stable_influence(conjunction(5), 0, 0.5), 6)
    0.019775
    """
    require(0.0 <= rho <= 1.0, "rho", rho, "in [0, 1]")
    coefficients = fourier(h)
    bits = bits_of(coefficients)
    require(0 <= i < bits, "i", i, f"in [0, {bits - 1}]")
    inside = (np.arange(coefficients.size) >> i) & 1 == 1
    return float(np.sum(rho ** (degrees(bits)[inside] - 1) * coefficients[inside] ** 2))


# What an attacker gains: the share of right guesses of x_i for uniform x.
def joint(h: ArrayLike, i: int, rho: float) -> Floats:
    """P(x_i = v and h(x) = y | z) for v, y in (1, -1) and every z of the other bits: shape (2, 2, 2^(n-1))."""
    up, down = (noisy(half, rho) for half in halves(h, i))
    return np.array([[(1.0 + each) / 4.0, (1.0 - each) / 4.0] for each in (up, down)])


def guesses(h: ArrayLike, i: int) -> NDArray[np.int64]:
    """Algorithms 8 and 9: place in (1, -1) of the guess, for y in (1, -1) and every z. On ties, the constant 1.

    Both try the two values with the bits they are told, as if those were right; 9 is 8 on noisy bits.
    """
    up, down = halves(checked(h), i)
    return np.array([np.where((up != down) & (down == y), 1, 0) for y in (1.0, -1.0)])


def printed_gain(h: ArrayLike, i: int, rho: float = 1.0) -> float:
    """Of algorithms 8 (rho = 1) and 9, by enumeration: theorem 5.14 says (1 + stable influence) / 2.

    >>> round(printed_gain(conjunction(5), 0, 0.5), 6)
    0.509888
    """
    chances, chosen = joint(h, i, rho), guesses(h, i)
    right = [np.take_along_axis(chances[:, y], chosen[y][None], axis=0) for y in (0, 1)]
    return float(np.mean(np.sum(right, axis=0)))


def bayes_gain(h: ArrayLike, i: int, rho: float = 1.0) -> float:
    """Of the best attack there is, which guesses the likelier value: 1/2 + E |noisy derivative| / 2.

    >>> round(bayes_gain(conjunction(5), 0, 0.5), 6), round(bayes_gain(unanswered(7), 0, 0.8), 6)
    (0.53125, 0.75)
    """
    return 0.5 + 0.5 * float(np.mean(np.abs(noisy(derivative(checked(h), i), rho))))


# Functions of the text.
def parity(bits: int) -> Floats:
    """The product of all bits: the most invertible, every influence 1."""
    return np.asarray(np.prod(points(bits), axis=1))


def conjunction(bits: int) -> Floats:
    """1 where every bit is 1: among the least invertible, every influence 2^(1-n); Wu 2016 prints it as OR."""
    return np.where(np.all(points(bits) == 1.0, axis=1), 1.0, -1.0)


def majority(bits: int) -> Floats:
    """The sign of the sum, for odd n."""
    require(bits % 2 == 1, "bits", bits, "odd")
    return np.asarray(np.sign(points(bits).sum(axis=1)))


def dictator(bits: int, i: int = 0) -> Floats:
    """x_i."""
    return np.asarray(points(bits)[:, i])


def unanswered(bits: int) -> Floats:
    """x_0 if the other bits have product -1, else 1: here algorithm 9 is short of the best by (1 - rho^(n-1)) / 8.

    It settles Wu's question 1 (whether algorithm 9 is nearly optimal for large n) with no: the best attack gains
    3/4 for every rho, because the output alone says x_0 = -1 whenever it is -1.

    >>> round(printed_gain(unanswered(7), 0, 0.8), 6)
    0.657768
    """
    x = points(bits)
    return np.where(np.prod(x[:, 1:], axis=1) == -1.0, x[:, 0], 1.0)


def every_function(bits: int) -> Floats:
    """All 2^(2^n) functions, one line each, for n at most 4."""
    require(1 <= bits <= 4, "bits", bits, "in [1, 4]")
    size = 2**bits
    return np.asarray(1.0 - 2.0 * ((np.arange(2**size)[:, None] >> np.arange(size)) & 1), dtype=np.float64)


def every_spectrum(bits: int) -> Floats:
    """The squared coefficients of all functions, one line each."""
    characters = np.array(
        [[(-1.0) ** int(s & x).bit_count() for s in range(2**bits)] for x in range(2**bits)]
    )
    return np.asarray((every_function(bits) @ characters / 2**bits) ** 2)


# Interference: many influential bits under noise.
def interference_bound(rho: float, influential: int, delta: float = 0.0) -> float:
    """Stable influence of a bit of t that all have influence 1 - delta or more: at most rho^(t-1) (1 - q) + q.

    q = t delta / (t - 1). With delta = 0 this is theorem 5.16. For delta > 0 (question 2): the weight of sets that
    miss bit j is 1 - Inf_j <= delta, so the number of missed bits is at most t delta on average; rho^(t-1-k) is
    convex in the number k of missed ones, which is at most t - 1 for sets that contain i, so the extremes 0 and t -
    1 bound it.

    >>> interference_bound(0.5, 4), round(interference_bound(0.5, 4, 0.09), 3)
    (0.125, 0.23)
    """
    require(influential >= 2, "influential", influential, ">= 2")
    q = min(1.0, influential * delta / (influential - 1))
    return rho ** (influential - 1) * (1.0 - q) + q


def influential_bits(h: ArrayLike, *, least: float = 1.0) -> list[int]:
    """The bits whose influence is at least this."""
    return [i for i in range(bits_of(np.asarray(h))) if influence(h, i) >= least - 1e-12]


def sampled_limits(samples: int, *, error: float, features: int = 1) -> tuple[float, float]:
    """How far estimates from N uniform inputs are off at most: of influence, and of stable influence (Hoeffding).

    Influence is a mean of 0 and 1, stable influence one of -1, 0 and 1. The error is shared among the features.

    >>> [round(limit, 4) for limit in sampled_limits(1000, error=0.05)]
    [0.0429, 0.0859]
    """
    spread = math.log(2.0 * features / error) / samples
    return math.sqrt(spread / 2.0), math.sqrt(2.0 * spread)


def sampled_influences(
    h: ArrayLike, *, samples: int, random: np.random.Generator, rho: float = 1.0
) -> Sequence[float]:
    """Stable influences of all bits, each a mean over the same uniform inputs and their noisy copies."""
    values = checked(h)
    bits = bits_of(values)
    x = random.integers(0, values.size, samples)
    flips = (random.random((samples, bits)) >= (1.0 + rho) / 2.0) @ (1 << np.arange(bits))
    slopes = [
        [(values[at & ~(1 << i)] - values[at | (1 << i)]) / 2.0 for at in (x, x ^ flips)] for i in range(bits)
    ]
    return [float(np.mean(here * there)) for here, there in slopes]
