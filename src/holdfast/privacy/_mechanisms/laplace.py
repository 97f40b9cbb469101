"""Laplace noise, for values with bounded L1 sensitivity: the Laplace mechanism, and its discrete relative."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from holdfast._arguments import checked
from holdfast.errors import ParameterError, require
from holdfast.noise._idealised import laplace
from holdfast.noise._laplace import discrete_laplace
from holdfast.noise._source import Source
from holdfast.noise._symmetric import checked_width
from holdfast.privacy._curves.curve import PrivacyCurve, PureDP
from holdfast.privacy._curves.laplace import DiscreteLaplaceCurve, LaplaceCurve
from holdfast.privacy._grid import Grid, difference, exact_sum
from holdfast.privacy._mechanisms.mechanism import Mechanism, OnGrid, Output, Value
from holdfast.privacy._rounding import Number, as_written


@checked
@dataclass(frozen=True, kw_only=True)
class Laplace(Mechanism):
    """value + Laplace(scale) in every coordinate; pure epsilon = l1_sensitivity / scale.

    Parameters
    ----------
    scale : int, float or Fraction
        The scale of the noise; its standard deviation is sqrt(2) times that.
    l1_sensitivity : int, float or Fraction
        How far one unit moves the value, coordinates added up.
    adjacency : Adjacency, optional
        Under which neighbours the sensitivity was derived; an account of another adjacency refuses the
        mechanism.
    arithmetic : {'strict', 'idealised'}
        'strict' draws exactly, on a public grid; 'idealised' is floating point analysed as if it were real
        numbers, for steps inside training only.

    Formal guarantees
    -----------------
    * Neighbours: any relation for which `l1_sensitivity` was derived.
    * Privacy: pure epsilon = l1_sensitivity / scale (Dwork, McSherry, Nissim and Smith 2006).
    * Exactness: strict arithmetic draws the discrete Laplace exactly and claims pure epsilon, nothing more: its
      delta(epsilon) is not the continuous one (soundness, section 16).
    * Type: doubles on a grid that follows from the scale, the sensitivity and the number of coordinates, whatever
      the value is held in. Rounding a noisy count to a whole number afterwards costs nothing.
    * Public: the shape of the value.

    Examples
    --------
    >>> Laplace(scale=2.0, l1_sensitivity=1.0).curve
    PureDP(epsilon=0.5)
    """

    scale: Number
    l1_sensitivity: Number

    theorem: ClassVar[str] = (
        "Laplace mechanism (Dwork, McSherry, Nissim and Smith 2006); discrete: Ghosh et al. 2009"
    )
    public: ClassVar[tuple[str, ...]] = ("the shape of the value",)

    def validate(self) -> None:
        """Refuse scales that are not positive and finite."""
        require(0 < self.scale < float("inf"), "scale", self.scale, "> 0 and finite")
        require(
            0 < self.l1_sensitivity < float("inf"), "l1_sensitivity", self.l1_sensitivity, "> 0 and finite"
        )

    @classmethod
    def within(cls, limit: PrivacyCurve, *, l1_sensitivity: Number, **options: Any) -> Self:
        """The noise whose pure epsilon is the limit's, exactly: scale and charge take the same sensitivity as written.

        Parameters
        ----------
        limit : PrivacyCurve
            The promise to keep; it is pure.
        l1_sensitivity : int, float or Fraction
            How far one unit moves the value, coordinates added up.
        **options
            Further parameters of the mechanism: `adjacency`, `arithmetic`.

        Returns
        -------
        Laplace
            The mechanism with that scale.

        Examples
        --------
        >>> from holdfast.privacy import PureDP
        >>> Laplace.within(PureDP(0.5), l1_sensitivity=2.0).scale
        Fraction(4, 1)
        """
        pure = limit.as_pure()
        if pure is None or pure <= 0:
            raise ParameterError(
                f"limit must be pure, with an epsilon > 0, got limit={limit}; with a delta use Gaussian"
            )
        return cls(scale=as_written(l1_sensitivity) / pure, l1_sensitivity=l1_sensitivity, **options)

    @property
    def curve(self) -> PrivacyCurve:
        """Pure; the continuous law has a finer curve."""
        epsilon = as_written(self.l1_sensitivity) / as_written(self.scale)
        return PureDP(epsilon) if self.arithmetic == "strict" else LaplaceCurve(epsilon)

    def sample(self, value: Value, source: Source) -> NDArray[Any]:
        """Round the centre, add the exact discrete Laplace."""
        if self.arithmetic == "idealised":
            noise = laplace(source, size=value.size).reshape(value.shape)
            return np.asarray(value.astype(np.float64) + float(self.scale) * noise)
        return add_discrete_laplace(value, source, scale=self.scale, l1_sensitivity=self.l1_sensitivity)

    def check(self, value: Any) -> NDArray[Any]:
        """Numbers, as many as the noise can be drawn for."""
        array: NDArray[Any] = super().check(value)
        if self.arithmetic == "strict":
            grid_and_scale(array.size, scale=self.scale, l1_sensitivity=self.l1_sensitivity)
        return array

    def worst_pair(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Two values that are the whole sensitivity apart."""
        return np.zeros(1), np.array([float(self.l1_sensitivity)])

    def cdf(self, value: Value, at: NDArray[np.float64]) -> NDArray[np.float64]:
        """The Laplace law, on the grid where arithmetic is strict."""
        if self.arithmetic == "idealised":
            return laplace_cdf((at - float(value.flat[0])) / float(self.scale))
        return discrete_release_cdf(value, at, scale=self.scale, l1_sensitivity=self.l1_sensitivity)

    def distance(self, first: Value, second: Value, *, at: Output | None = None) -> float:
        """The L1 distance over the sensitivity."""
        return float(np.abs(difference(first, second)).sum()) / float(self.l1_sensitivity)

    def log_ratio(self, first: Value, second: Value, output: Output) -> float:
        """(|y - second|_1 - |y - first|_1) / scale; from rounded centres where arithmetic is strict."""
        if self.arithmetic == "idealised":
            return absolute_excess(output, first, second) / float(self.scale)
        return discrete_release_ratio(
            first, second, output, scale=self.scale, l1_sensitivity=self.l1_sensitivity
        )

    @property
    def independent_coordinates(self) -> bool:
        """Each coordinate has noise of its own."""
        return True

    def probes(self) -> tuple[NDArray[Any], ...]:
        """The worst pair, a vector, and integers."""
        return (*self.worst_pair(), np.zeros(3), np.array([2, 2]))

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        """One example for each arithmetic."""
        return cls(scale=1.0, l1_sensitivity=1.0), cls(scale=2.0, l1_sensitivity=1.0, arithmetic="idealised")


@checked
@dataclass(frozen=True, kw_only=True)
class DiscreteLaplace(OnGrid):
    """Integer noise with P[k] proportional to exp(-|k| / scale).

    Parameters
    ----------
    scale : int, float or Fraction
        The scale of the noise, in the value's units.
    l1_sensitivity : int, float or Fraction
        How far one unit moves the value, coordinates added up, in the value's units.
    dimension : int, optional
        The number of coordinates, where it is fixed; a grid needs it, and in one dimension the curve is the
        exact one.
    grid : int, float or Fraction, optional
        The step to which real values are rounded; by default values are whole numbers, and released as such.
    adjacency : Adjacency, optional
        Under which neighbours the sensitivity was derived; an account of another adjacency refuses the
        mechanism.
    arithmetic : {'strict', 'idealised'}
        'strict' draws exactly, on a public grid; 'idealised' is floating point analysed as if it were real
        numbers, for steps inside training only.

    Formal guarantees
    -----------------
    * Neighbours: any relation for which `l1_sensitivity` was derived.
    * Privacy: pure epsilon; for ``dimension=1`` the exact curve of the geometric pair (Ghosh, Roughgarden and
      Sundararajan 2009).
    * Without a grid the sensitivity is that of the value rounded to whole numbers, a half upwards, which is the
      value's own for counts; what 64 bits do not hold is released as the last number that they hold.
    * On a grid the sensitivity grows by rounding, by a step for each coordinate.
    * Public: the grid and the shape of the value.

    Examples
    --------
    >>> DiscreteLaplace(scale=2.0, l1_sensitivity=1).curve
    PureDP(epsilon=0.5)
    """

    scale: Number
    l1_sensitivity: Number

    theorem: ClassVar[str] = "geometric mechanism (Ghosh, Roughgarden and Sundararajan 2009)"

    def validate(self) -> None:
        """Positive scales; a grid needs the dimension."""
        require(0 < self.scale < float("inf"), "scale", self.scale, "> 0 and finite")
        require(
            0 < self.l1_sensitivity < float("inf"), "l1_sensitivity", self.l1_sensitivity, "> 0 and finite"
        )
        super().validate()

    @property
    def sensitivity(self) -> Number:
        """The L1 sensitivity."""
        return self.l1_sensitivity

    def rounding(self, dimension: int) -> Fraction:
        """A step per coordinate."""
        return Fraction(dimension)

    @property
    def noise_width(self) -> Fraction:
        """The scale in steps of the grid."""
        return checked_width("scale", as_written(self.scale) / self.step)

    @property
    def curve(self) -> PrivacyCurve:
        """Exact in one dimension, pure in more."""
        scale = as_written(self.scale) / self.step
        if self.dimension == 1:
            return DiscreteLaplaceCurve(scale, self.whole_shift)
        return PureDP(self.shift / scale)

    def sample(self, value: Value, source: Source) -> NDArray[Any]:
        """Exact integer noise on the grid."""
        noise = discrete_laplace(source, scale=self.noise_width, size=value.size)
        return self.add_noise(value, noise)

    def cdf(self, value: Value, at: NDArray[np.float64]) -> NDArray[np.float64]:
        """The two-sided geometric law in steps."""
        return discrete_laplace_cdf(self.steps_from(value, at), float(self.scale) / float(self.step))

    def distance(self, first: Value, second: Value, *, at: Output | None = None) -> float:
        """The L1 distance over the sensitivity."""
        return float(np.abs(difference(first, second)).sum()) / float(self.l1_sensitivity)

    def log_ratio(self, first: Value, second: Value, output: Output) -> float:
        """(|k'|_1 - |k|_1) / scale, in steps k from each rounded centre."""
        near, far = (np.abs(self.steps_between(centre, output)) for centre in (first, second))
        return float(np.sum(far - near)) / (float(self.scale) / float(self.step))

    @property
    def independent_coordinates(self) -> bool:
        """Each coordinate has noise of its own."""
        return True

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        """On integers, and on a declared grid."""
        return (
            cls(scale=1.0, l1_sensitivity=1, dimension=1),
            cls(scale=2.0, l1_sensitivity=2),
            cls(scale=1.0, l1_sensitivity=1.0, dimension=1, grid=0.125),
        )


def add_discrete_laplace(
    value: Value, source: Source, *, scale: Number, l1_sensitivity: Number
) -> NDArray[Any]:
    """The strict release: on the public grid, with the scale enlarged for the rounding of the centre."""
    grid, spread = grid_and_scale(value.size, scale=scale, l1_sensitivity=l1_sensitivity)
    steps = discrete_laplace(source, scale=spread, size=value.size).reshape(value.shape)
    return grid.values(exact_sum(grid.nearest(value), steps))


def grid_and_scale(size: int, *, scale: Number, l1_sensitivity: Number) -> tuple[Grid, Fraction]:
    """The grid of so many numbers, and the scale in its steps; refused where it cannot be drawn."""
    return _grid_and_scale(as_written(scale), as_written(l1_sensitivity), size)


@lru_cache(maxsize=1024)  # many draws ask for the same; all of it is public
def _grid_and_scale(exact: Fraction, sensitivity: Fraction, size: int) -> tuple[Grid, Fraction]:
    grid = Grid.for_noise(exact, sensitivity / size)
    enlarged = exact * (sensitivity + size * grid.step) / sensitivity
    return grid, checked_width("scale", enlarged / grid.step)


def laplace_cdf(z: NDArray[np.float64]) -> NDArray[np.float64]:
    """P[Laplace(1) <= z]."""
    tail = 0.5 * np.exp(-np.abs(z))
    return np.where(z < 0, tail, 1.0 - tail)


def discrete_laplace_cdf(steps: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
    """P[K <= k] for whole k, with P[K = k] proportional to exp(-|k| / scale).

    >>> import math
    >>> math.isclose(discrete_laplace_cdf(np.array([0.0]), 1.0)[0], 1 - math.exp(-1) / (1 + math.exp(-1)))
    True
    """
    decay = np.exp(-1.0 / scale)
    tail = np.exp(-np.abs(np.where(steps < 0, steps, steps + 1)) / scale) / (1.0 + decay)
    return np.asarray(np.where(steps < 0, tail, 1.0 - tail))


def discrete_release_cdf(
    value: Value, at: NDArray[np.float64], *, scale: Number, l1_sensitivity: Number
) -> NDArray[np.float64]:
    """The law of the first number of a strict release (soundness, section 16: the scale grows by d g)."""
    grid = Grid.for_noise(as_written(scale), as_written(l1_sensitivity) / value.size)
    growth = float(1 + value.size * grid.step / as_written(l1_sensitivity))
    steps = np.floor(np.ldexp(at, -grid.exponent)) - float(grid.nearest(value).flat[0])
    return discrete_laplace_cdf(steps, float(scale) * growth / float(grid.step))


def absolute_excess(output: Output, first: Value, second: Value) -> float:
    """|y - second|_1 - |y - first|_1."""
    near, far = (np.abs(difference(output, centre)) for centre in (first, second))
    return float(np.sum(far - near))


def discrete_release_ratio(
    first: Value, second: Value, output: Output, *, scale: Number, l1_sensitivity: Number
) -> float:
    """The log-ratio of a strict release, whose scale grows by d g as its law's does."""
    grid = Grid.for_noise(as_written(scale), as_written(l1_sensitivity) / first.size)
    growth = float(1 + first.size * grid.step / as_written(l1_sensitivity))
    near, far, steps = (grid.nearest(np.asarray(numbers)) for numbers in (first, second, output))
    return absolute_excess(steps, near, far) * float(grid.step) / (float(scale) * growth)
