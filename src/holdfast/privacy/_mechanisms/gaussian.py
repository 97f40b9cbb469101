"""Normal noise, for values with bounded L2 sensitivity: the Gaussian mechanism, and its discrete relative."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from holdfast._arguments import checked
from holdfast.errors import require
from holdfast.noise._gaussian import discrete_gaussian, rounded_gaussian
from holdfast.noise._idealised import normal
from holdfast.noise._source import Source
from holdfast.noise._symmetric import checked_width
from holdfast.privacy._calibration import calibrate
from holdfast.privacy._curves.curve import PrivacyCurve
from holdfast.privacy._curves.gaussian import DiscreteGaussianCurve, GaussianDP
from holdfast.privacy._curves.renyi import ZCDP
from holdfast.privacy._grid import Grid, difference, exact_sum
from holdfast.privacy._mechanisms.mechanism import Mechanism, OnGrid, Output, Value, euclidean, index_cdf
from holdfast.privacy._rounding import Number, as_written, root_above


@checked
@dataclass(frozen=True, kw_only=True)
class Gaussian(Mechanism):
    """value + N(0, sigma^2) in every coordinate; exactly mu-GDP with mu = l2_sensitivity / sigma.

    Parameters
    ----------
    sigma : int, float or Fraction
        The standard deviation of the noise.
    l2_sensitivity : int, float or Fraction
        How far one unit moves the value in Euclidean norm.
    adjacency : Adjacency, optional
        Under which neighbours the sensitivity was derived; an account of another adjacency refuses the
        mechanism.
    arithmetic : {'strict', 'idealised'}
        'strict' draws exactly, on a public grid; 'idealised' is floating point analysed as if it were real
        numbers, for steps inside training only.

    Formal guarantees
    -----------------
    * Neighbours: any relation for which `l2_sensitivity` was derived.
    * Privacy: mu-Gaussian DP (Balle and Wang 2018, theorem 8; Dong, Roth and Su 2019).
    * Exactness: strict arithmetic draws the rounded normal exactly (soundness, section 16, choice c): adding it
      to a grid point is post-processing of the Gaussian mechanism, so the curve holds without slack.
    * Type: doubles on a grid that follows from sigma, the sensitivity and the number of coordinates, whatever the
      value is held in. Rounding a noisy count to a whole number afterwards costs nothing.
    * Public: the shape of the value.

    Examples
    --------
    >>> Gaussian(sigma=2.0, l2_sensitivity=1.0).curve
    GaussianDP(mu=0.5)
    """

    sigma: Number
    l2_sensitivity: Number

    theorem: ClassVar[str] = (
        "Gaussian mechanism, exact curve (Balle and Wang 2018, theorem 8; Dong, Roth and Su 2019)"
    )
    public: ClassVar[tuple[str, ...]] = ("the shape of the value",)

    def validate(self) -> None:
        """Refuse scales that are not positive and finite."""
        require(0 < self.sigma < float("inf"), "sigma", self.sigma, "> 0 and finite")
        require(
            0 < self.l2_sensitivity < float("inf"), "l2_sensitivity", self.l2_sensitivity, "> 0 and finite"
        )

    @classmethod
    def within(cls, limit: PrivacyCurve, *, l2_sensitivity: Number, **options: Any) -> Self:
        """The least noise that stays within a limit, rounded towards privacy.

        Parameters
        ----------
        limit : PrivacyCurve
            The promise to keep; it needs a delta, or is in rho or mu.
        l2_sensitivity : int, float or Fraction
            How far one unit moves the value in Euclidean norm.
        **options
            Further parameters of the mechanism: `adjacency`, `arithmetic`.

        Returns
        -------
        Gaussian
            The mechanism with the least sigma.

        Examples
        --------
        >>> from holdfast.privacy import ApproxDP
        >>> round(float(Gaussian.within(ApproxDP(1.0, 1e-6), l2_sensitivity=1.0).sigma), 4)
        4.2247
        """
        require(
            limit.as_pure() is None,
            "limit",
            limit,
            "one with a delta > 0, or in rho or mu",
            "normal noise keeps no pure promise: use Laplace",
        )
        ratio = _least_sigma_for_rho(limit.as_zcdp()) if type(limit) is ZCDP else _least_sigma(limit)
        return cls(
            sigma=as_written(ratio) * as_written(l2_sensitivity), l2_sensitivity=l2_sensitivity, **options
        )

    @property
    def curve(self) -> GaussianDP:
        """mu = sensitivity / sigma, as an exact fraction."""
        return GaussianDP(as_written(self.l2_sensitivity) / as_written(self.sigma))

    def sample(self, value: Value, source: Source) -> NDArray[Any]:
        """Round the centre, add the exact rounded normal."""
        if self.arithmetic == "idealised":
            noise = normal(source, size=value.size).reshape(value.shape)
            return np.asarray(value.astype(np.float64) + float(self.sigma) * noise)
        grid, sigma = self.grid_and_sigma(value.size)
        steps = rounded_gaussian(source, sigma=sigma, size=value.size).reshape(value.shape)
        return grid.values(exact_sum(grid.nearest(value), steps))

    def check(self, value: Any) -> NDArray[Any]:
        """Numbers, as many as the noise can be drawn for."""
        array: NDArray[Any] = super().check(value)
        if self.arithmetic == "strict":
            self.grid_and_sigma(array.size)
        return array

    def grid_and_sigma(self, size: int) -> tuple[Grid, Fraction]:
        """The grid of `size` numbers, and sigma in its steps, enlarged for rounding the centre.

        It asks for nothing but public facts: how the value is held, which one record can change, has no say.
        """
        return _grid_and_sigma(as_written(self.sigma), as_written(self.l2_sensitivity), size)

    def _rounding(self, size: int) -> tuple[Grid, float]:
        """The grid of so many numbers, and by how much rounding to it makes sigma larger."""
        return _grid_and_growth(as_written(self.sigma), as_written(self.l2_sensitivity), size)

    def worst_pair(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Two values that are the whole sensitivity apart."""
        return np.zeros(1), np.array([float(self.l2_sensitivity)])

    def cdf(self, value: Value, at: NDArray[np.float64]) -> NDArray[np.float64]:
        """The normal law, at the upper end of the grid cell where arithmetic is strict."""
        from scipy.special import ndtr

        sigma, centre = float(self.sigma), float(value.flat[0])
        if self.arithmetic == "idealised":
            return np.asarray(ndtr((at - centre) / sigma))
        # Soundness, section 16: sigma grows as the sensitivity does, by sqrt(d) g.
        grid, growth = self._rounding(value.size)
        steps = np.floor(np.ldexp(at, -grid.exponent)) - float(grid.nearest(value).flat[0])
        return np.asarray(ndtr((steps + 0.5) * float(grid.step) / (sigma * growth)))

    def distance(self, first: Value, second: Value, *, at: Output | None = None) -> float:
        """The Euclidean distance over the sensitivity."""
        return euclidean(first, second) / float(self.l2_sensitivity)

    def log_ratio(self, first: Value, second: Value, output: Output) -> float:
        """The normal law's, or that of the cells to which strict arithmetic rounds it."""
        sigma, cell = float(self.sigma), 0.0
        if self.arithmetic == "strict":
            # In steps of the grid, so that centres beyond 2^53 lose no bits.
            grid, growth = self._rounding(first.size)
            sigma, cell = sigma * growth / float(grid.step), 1.0
            first, second, output = (grid.nearest(np.asarray(numbers)) for numbers in (first, second, output))
        near, far = (difference(output, centre) / sigma for centre in (first, second))
        return float(np.sum(log_normal_cell(near, cell / sigma) - log_normal_cell(far, cell / sigma)))

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
        return cls(sigma=1.0, l2_sensitivity=1.0), cls(sigma=3.0, l2_sensitivity=6.0, arithmetic="idealised")


@checked
@dataclass(frozen=True, kw_only=True)
class DiscreteGaussian(OnGrid):
    """Integer noise with P[k] proportional to exp(-k^2 / (2 sigma^2)).

    Parameters
    ----------
    sigma : int, float or Fraction
        The width of the noise, in the value's units.
    l2_sensitivity : int, float or Fraction
        How far one unit moves the value in Euclidean norm, in the value's units.
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
    * Neighbours: any relation for which `l2_sensitivity` was derived.
    * Privacy: exactly zCDP with rho = l2_sensitivity^2 / (2 sigma^2) in any dimension (Canonne, Kamath and
      Steinke 2020, theorem 4), and **not** Gaussian DP: its delta(epsilon) exceeds the normal's at small sigma,
      more than twofold at sigma = 1 (soundness, section 16). For ``dimension=1`` the curve is the exact one.
    * Without a grid the sensitivity is that of the value rounded to whole numbers, a half upwards, which is the
      value's own for counts; what 64 bits do not hold is released as the last number that they hold.
    * On a grid the sensitivity grows by rounding, by sqrt(dimension) steps.
    * Public: the grid and the shape of the value.

    Examples
    --------
    >>> DiscreteGaussian(sigma=2.0, l2_sensitivity=1).curve
    ZCDP(rho=0.125)
    """

    sigma: Number
    l2_sensitivity: Number

    theorem: ClassVar[str] = (
        "discrete Gaussian (Canonne, Kamath and Steinke 2020, theorem 4; exact in one dimension)"
    )

    def validate(self) -> None:
        """Positive scales; a grid needs the dimension."""
        require(0 < self.sigma < float("inf"), "sigma", self.sigma, "> 0 and finite")
        require(
            0 < self.l2_sensitivity < float("inf"), "l2_sensitivity", self.l2_sensitivity, "> 0 and finite"
        )
        super().validate()

    @property
    def sensitivity(self) -> Number:
        """The L2 sensitivity."""
        return self.l2_sensitivity

    def rounding(self, dimension: int) -> Fraction:
        """sqrt(d) steps, rounded up."""
        return root_above(dimension)

    @property
    def noise_width(self) -> Fraction:
        """sigma in steps of the grid."""
        return checked_width("sigma", as_written(self.sigma) / self.step)

    @property
    def curve(self) -> PrivacyCurve:
        """Exact in one dimension, zCDP in more."""
        sigma = as_written(self.sigma) / self.step
        if self.dimension == 1:
            return DiscreteGaussianCurve(sigma, self.whole_shift)
        return ZCDP(self.shift**2 / (2 * sigma**2))

    def sample(self, value: Value, source: Source) -> NDArray[Any]:
        """Exact integer noise on the grid."""
        noise = discrete_gaussian(source, sigma=self.noise_width, size=value.size)
        return self.add_noise(value, noise)

    def cdf(self, value: Value, at: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sums of exp(-k^2 / (2 sigma^2)), out to 39 sigma, where they vanish in doubles."""
        sigma = float(self.sigma) / float(self.step)
        reach = int(39 * sigma) + 1
        weights = np.exp(-0.5 * (np.arange(-reach, reach + 1) / sigma) ** 2)
        return index_cdf(weights, self.steps_from(value, at) + reach)

    def distance(self, first: Value, second: Value, *, at: Output | None = None) -> float:
        """The Euclidean distance over the sensitivity."""
        return euclidean(first, second) / float(self.l2_sensitivity)

    def log_ratio(self, first: Value, second: Value, output: Output) -> float:
        """(|k'|^2 - |k|^2) / (2 sigma^2), in steps k from each rounded centre."""
        sigma = float(self.sigma) / float(self.step)
        near, far = (self.steps_between(centre, output) for centre in (first, second))
        return float(np.sum(far**2 - near**2)) / (2.0 * sigma**2)

    @property
    def independent_coordinates(self) -> bool:
        """Each coordinate has noise of its own."""
        return True

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        """On integers, and on a declared grid."""
        return (
            cls(sigma=1.0, l2_sensitivity=1, dimension=1),
            cls(sigma=3.0, l2_sensitivity=4),
            cls(sigma=1.0, l2_sensitivity=1.0, dimension=1, grid=0.125),
        )


def _least_sigma(limit: PrivacyCurve) -> float:
    """The least sigma within the limit, for a sensitivity of 1."""
    return calibrate(lambda sigma: GaussianDP(1 / as_written(sigma)), limit)


@lru_cache(maxsize=1024)
def _least_sigma_for_rho(rho: Fraction) -> float:
    """The least sigma within a zCDP limit; cached, since an account needs it for every model that it pays for."""
    return _least_sigma(ZCDP(rho))


@lru_cache(maxsize=1024)  # every step of a run asks for the same; all of it is public
def _grid_and_sigma(sigma: Fraction, sensitivity: Fraction, size: int) -> tuple[Grid, Fraction]:
    """The grid for so many numbers, and sigma in its steps."""
    root = root_above(size)
    grid = Grid.for_noise(sigma, sensitivity / root)
    enlarged = sigma * (sensitivity + root * grid.step) / sensitivity
    return grid, checked_width("sigma", enlarged / grid.step)


@lru_cache(maxsize=1024)
def _grid_and_growth(sigma: Fraction, sensitivity: Fraction, size: int) -> tuple[Grid, float]:
    """The same grid, and the growth of sigma; written apart from the sampler's, so that tests compare the two."""
    root = root_above(size)
    grid = Grid.for_noise(sigma, sensitivity / root)
    return grid, float(1 + root * grid.step / sensitivity)


NARROW_CELL = 1e-4
"""A share of a standard deviation; in a cell so narrow the density is constant to nine digits."""


def log_normal_cell(z: NDArray[np.float64], width: float) -> NDArray[np.float64]:
    """ln P[Z in a cell of this width around z], Z standard normal; for narrow cells the log density.

    Both leave out what does not depend on z, and differences for one width are what they are for.

    >>> abs(float(log_normal_cell(np.array([0.0]), 0.0)[0]))
    0.0
    """
    if width <= NARROW_CELL:
        return -0.5 * z**2
    from scipy.special import log_ndtr

    # By symmetry to the left tail, where the logarithm keeps its digits: ln(P[b] - P[a]), a < b.
    upper, lower = log_ndtr(width / 2 - np.abs(z)), log_ndtr(-width / 2 - np.abs(z))
    return np.asarray(upper + np.log(-np.expm1(lower - upper)))
