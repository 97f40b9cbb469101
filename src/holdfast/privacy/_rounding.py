"""Numbers on the safe side, and the public grid on which strict releases live.

Budgets are added and compared as exact fractions, so that ten charges of 0.1 fit into 1 and the
eleventh does not. Where a float is unavoidable it is rounded towards privacy.

Continuous noise on doubles leaks low bits, through holes in the noise and through the rounding of
the sum (soundness, section 16). So a released value is rounded to a grid that depends on public
numbers only, and noise is exact and integer on that grid. Rounding moves each coordinate of a
neighbour by at most half a step, hence sensitivities grow by sqrt(d) g (L2) or d g (L1); the noise is
enlarged by the same factor, so that the mechanism's curve stays what it declares.

A grid has no end. Its points are whole numbers of steps, and where 64 bits do not hold them all, Python's do:
nothing is clamped, nothing wraps, and no value is refused for its size, which would tell its size. This is
exact: (1) a double, and a whole number, is a fraction, so its nearest multiple of a step is found without
error; (2) the sum of two whole numbers is exact; (3) what leaves is computed from that sum alone. The number of
bits it is held in, too, is chosen by the sum and not by the value (`exact_sum`), so (3) is post-processing, and
the proof that is about whole numbers of any size is about what runs. Whether noise is wide enough to be drawn
on the grid depends on parameters and on the number of coordinates, which are public; it is asked before
anything is charged.
"""

from __future__ import annotations

import math
from abc import ABCMeta
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from inspect import Signature, signature
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from holdfast._arguments import checked, require_numbers
from holdfast._arrays import Floats
from holdfast.errors import DataError, ParameterError, require

Number = float | Fraction
"""A parameter: a float as the user wrote it, or an exact fraction that was computed from such."""
FINE_BITS, FINEST_BITS = 20, 36
"""Steps per noise scale: at least 2^20; up to 2^36 where many coordinates share a small sensitivity."""
_EDGE = 2**61
"""Up to here a double says which whole number it is, and one of 64 bits holds it."""
_LARGEST = float(np.finfo(np.float64).max)


class FixedNumbers(ABCMeta):
    """For objects whose numbers are fixed when they are made: an array that a caller handed in may change afterwards.

    Arrays without a dimension and NumPy's numbers become Python's, whatever the constructor does with them. A
    class with a `LARGEST` refuses numbers above it: where arithmetic overflows, nothing that is computed can be
    trusted.
    """

    @property
    def __signature__(cls) -> Signature:
        """What the constructor takes, for `help` and `inspect.signature`."""
        kind: Any = cls
        if kind.__init__ is object.__init__:
            return Signature()
        own = signature(kind.__init__)
        return own.replace(parameters=[*own.parameters.values()][1:], return_annotation=Signature.empty)

    if not TYPE_CHECKING:

        def __call__(cls, *given, **named):
            """Make one, of numbers that nobody else holds."""
            given, named = tuple(map(_fixed, given)), {name: _fixed(one) for name, one in named.items()}
            largest = getattr(cls, "LARGEST", math.inf)
            numbers = (*(("parameter", one) for one in given), *named.items()) if largest < math.inf else ()
            for name, value in numbers:
                if isinstance(value, int | float | Fraction) and largest < abs(value) < math.inf:
                    raise ParameterError(
                        f"{name} must be at most {largest:g} in size, got a larger one for {cls.__name__}"
                    )
            try:
                return super().__call__(*given, **named)
            except OverflowError:
                raise ParameterError(
                    f"the parameters of {cls.__name__} must be numbers that doubles can hold"
                ) from None


def _fixed(value: Any) -> Any:
    scalar = isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0)
    return value.item() if scalar else value


def as_written(value: Number) -> Fraction:
    """The decimal that the user wrote, exactly.

    >>> sum(as_written(0.1) for _ in range(10)) == 1
    True
    """
    if isinstance(value, Fraction):
        return value
    require(math.isfinite(value), "parameter", value, "finite")
    return _decimal(float(value))


@lru_cache(maxsize=4096)  # a run writes the same few numbers at every step
def _decimal(value: float) -> Fraction:
    return Fraction(repr(value))


def round_up(value: Number) -> float:
    """The least float that is not below the value.

    >>> round_up(Fraction(1, 3)) >= Fraction(1, 3)
    True
    """
    nearest = float(value)
    return nearest if math.isinf(nearest) or Fraction(nearest) >= value else math.nextafter(nearest, math.inf)


def round_down(value: Number) -> float:
    """The largest float that is not above the value."""
    nearest = float(value)
    return (
        nearest if math.isinf(nearest) or Fraction(nearest) <= value else math.nextafter(nearest, -math.inf)
    )


def safe_side(
    excess: Callable[[float], float], unsafe: float, safe: float, *, tolerance: float = 1e-12
) -> float:
    """A point checked to have `excess(point) <= 0`, within a relative tolerance of where it starts to hold.

    `safe` must already satisfy it. Bisection, geometric where the bracket spans decades: the
    answer is always a point that was evaluated and found safe, never an interpolated one.

    >>> sigma = safe_side(lambda s: 2.0 - s, unsafe=1.0, safe=10.0)
    >>> sigma >= 2.0
    True
    """
    if excess(safe) > 0:
        raise ArithmeticError("safe_side was called with an end that is not safe")
    for _ in range(400):
        if abs(safe - unsafe) <= tolerance * abs(safe):
            break
        positive = safe > 0 and unsafe > 0
        wide = positive and max(safe, unsafe) > 2 * min(safe, unsafe)
        middle = math.sqrt(safe) * math.sqrt(unsafe) if wide else 0.5 * (safe + unsafe)
        if middle in (safe, unsafe):
            break
        if excess(middle) <= 0:
            safe = middle
        else:
            unsafe = middle
    return safe


def root_above(number: int) -> Fraction:
    """A fraction that is not below the square root."""
    return Fraction(math.isqrt(number << 40) + 1, 2**20)


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
        return _power_of_two(self.exponent)

    @classmethod
    def finer_than(cls, step: Fraction) -> Grid:
        """A grid whose step is more than a quarter of this one, and at most half of it."""
        return cls(-_log2_ceiling(1 / step) - 1)

    def nearest(self, values: NDArray[Any]) -> NDArray[Any]:
        """The nearest grid point of each value, in steps, exactly; ties go to the even one."""
        if values.dtype == object:
            return nearest_steps(values, self.step)
        with np.errstate(over="ignore", under="ignore"):
            steps = np.rint(np.ldexp(values, -self.exponent))  # exact: a power of two
        return _exactly(steps, np.abs(steps) <= _EDGE, values, self.step)

    def values(self, steps: NDArray[Any]) -> NDArray[np.float64]:
        """Grid points as floats (post-processing)."""
        if steps.dtype == object:
            return multiples(steps, self.step)
        with np.errstate(over="ignore"):
            return np.clip(np.ldexp(steps.astype(np.float64), self.exponent), -_LARGEST, _LARGEST)


def nearest_steps(values: NDArray[Any], step: Fraction) -> NDArray[Any]:
    """The nearest multiple of any step, in steps, exactly; ties go to the even one, as `rint` has them.

    Doubles decide where they are certain, whole numbers elsewhere: a quotient that is rounded twice would move
    two values apart by more than one step.

    >>> nearest_steps(np.array([1e17 + 48, 1e17 + 64]), Fraction(1, 10)).tolist()
    [1000000000000000480, 1000000000000000640]
    """
    if values.dtype == object:
        return _exactly(np.zeros(values.shape), np.zeros(values.shape, dtype=bool), values, step)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        quotient = np.asarray(values / np.float64(step), dtype=np.float64)
        near, size = np.rint(quotient), np.abs(quotient)
        # The quotient is off by less than 2^-51 of its size: no half lies that near where a double is certain.
        certain = np.abs(np.abs(quotient - near) - 0.5) > 2.0**-51 * (size + 1.0)
    if values.dtype.kind in "iu":
        certain &= (values < 2**53) & (values > -(2**53))
    return _exactly(near, certain & (2.0**-900 < np.float64(step) < 2.0**900), values, step)


def _exactly(
    steps: NDArray[np.float64], certain: NDArray[np.bool_], values: NDArray[Any], step: Fraction
) -> NDArray[Any]:
    """The steps that doubles are certain of, and the others by fractions."""
    found = np.where(certain, steps, 0.0).astype(np.int64)
    if np.all(certain):
        return found
    exact = found.astype(object)
    for place in np.flatnonzero(~np.asarray(certain)):
        number = values.flat[place]
        exact.flat[place] = round(Fraction(number if values.dtype == object else number.item()) / step)
    return whole_numbers(exact)


def is_whole(values: NDArray[Any]) -> bool:
    """Whether these are whole numbers: of 64 bits, or Python's."""
    return values.dtype == np.int64 or (values.dtype == object and isinstance(values.flat[0], int))


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


def multiples(steps: NDArray[Any], step: Fraction) -> NDArray[np.float64]:
    """Multiples of a step as doubles; beyond the largest of them, the largest."""
    if steps.dtype == np.int64:
        with np.errstate(over="ignore"):
            return np.clip(steps * float(step), -_LARGEST, _LARGEST)
    largest = Fraction(_LARGEST)
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


NORM_SLACK = 1e-9
"""Rows are clipped in float64 and verified to this relative slack; sensitivities use the larger norm (section 16)."""
CLIPPED_AT_A_TIME = 2_048
"""Few enough rows to stay in a processor's cache while they are."""


@checked
def clip_rows(rows: Any, row_norm: float) -> Floats:
    """Shorten each row to Euclidean norm `row_norm`; shorter rows stay as they are.

    Parameters
    ----------
    rows : array_like
        A matrix with one row for each record.
    row_norm : float
        The largest norm that a row may keep.

    Returns
    -------
    numpy.ndarray
        The shortened rows.

    Raises
    ------
    DataError
        If a value is not finite. That error depends on the data and is therefore not private; behind a schema
        it cannot happen.

    Examples
    --------
    >>> clip_rows([[0.0, 4.0], [0.3, 0.4]], 1.0).tolist()
    [[0.0, 1.0], [0.3, 0.4]]
    """
    matrix = require_numbers("rows", rows).copy()
    if matrix.ndim != 2:
        raise DataError("rows must be a matrix: one row per record")
    clip_in_place(matrix, row_norm)
    return matrix


def clip_in_place(matrix: Floats, row_norm: float) -> None:
    """The same for rows that are the caller's own."""
    require(row_norm > 0 and math.isfinite(row_norm), "row_norm", row_norm, "a finite number > 0")
    if matrix.shape[1]:
        for start in range(0, len(matrix), CLIPPED_AT_A_TIME):
            _clip_block(matrix[start : start + CLIPPED_AT_A_TIME], row_norm)


def _clip_block(rows: Floats, row_norm: float) -> None:
    # Each row is divided by its largest entry (or the norm, if that is larger), so that no square overflows.
    relative = np.abs(rows)
    size = np.maximum(relative.max(axis=1), row_norm)
    with np.errstate(invalid="ignore"):
        np.divide(rows, size[:, None], out=relative)
    lengths = np.sqrt(np.add.reduce(relative * relative, axis=1))
    if not np.isfinite(lengths).all():  # entries are at most 1 now, unless one of them was not finite
        raise DataError("rows must be finite: declare a schema, which says what a missing value means")
    long = lengths > row_norm / size
    if long.any():
        relative *= (row_norm / np.where(long, lengths, 1.0))[:, None]
        np.copyto(rows, relative, where=long[:, None])
    require_norm(rows, row_norm)


def require_norm(matrix: Floats, row_norm: float) -> None:
    """Soundness: the norm that sensitivities assume is checked after the last operation on the rows."""
    scaled = matrix if row_norm == 1.0 else matrix / row_norm
    longest = float(np.sqrt(np.einsum("ij,ij->i", scaled, scaled)).max(initial=0.0))
    if not longest <= 1 + NORM_SLACK:
        raise AssertionError("row clipping must reach the norm it promises")  # our mistake, not the user's


def plain_curve(value: Any) -> Any:
    """A parameter as JSON holds it: fractions as text, so that nothing is lost."""
    return f"{value.numerator}/{value.denominator}" if isinstance(value, Fraction) else value


def number(value: Any) -> Any:
    """The inverse of `plain_curve`."""
    return Fraction(value) if isinstance(value, str) and "/" in value else value


def square_of_mu(log_odds: float) -> Fraction:
    """mu^2 of the Gaussian curve under a trade-off with one corner, at odds e^-l and e^l: mu = 2 Phi^-1(sigmoid(l)).

    Rounded up. The Gaussian curve is convex, so it lies under the chords wherever it lies under their corner.
    """
    from scipy.special import log_ndtr, ndtri_exp

    # Phi(mu/2) >= sigmoid(l), i.e. log Phi(-mu/2) <= -log(1 + e^l); round mu up until it holds.
    target = -float(np.logaddexp(0.0, log_odds))
    mu = -2.0 * float(ndtri_exp(target))
    while float(log_ndtr(-mu / 2)) > target - 1e-13 * abs(target):
        mu = max(math.nextafter(mu, math.inf), mu * (1 + 1e-14))
    return as_written(mu) ** 2
