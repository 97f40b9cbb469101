"""A random direction with a Gamma length: pure privacy for values with bounded L2 sensitivity."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from holdfast._arguments import checked
from holdfast.errors import require
from holdfast.noise._idealised import gamma_ball
from holdfast.noise._source import Source
from holdfast.privacy._curves.curve import PureDP
from holdfast.privacy._mechanisms.laplace import (
    add_discrete_laplace,
    discrete_release_cdf,
    discrete_release_ratio,
    grid_and_scale,
    laplace_cdf,
)
from holdfast.privacy._mechanisms.mechanism import Mechanism, Output, Value, euclidean
from holdfast.privacy._quadrature import legendre
from holdfast.privacy._rounding import Number, as_written, root_above


@checked
@dataclass(frozen=True, kw_only=True)
class VectorLaplace(Mechanism):
    """value + noise of density proportional to exp(-epsilon |x|_2 / l2_sensitivity).

    Parameters
    ----------
    epsilon : int, float or Fraction
        The pure epsilon of the release.
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
    * Privacy: pure epsilon. The length of the noise is Gamma(d, l2_sensitivity / epsilon): an exponential
      length would not be private for d > 1 (soundness, section 0).
    * Exactness: the law has no exact discrete twin, so strict arithmetic draws discrete Laplace noise of scale
      (sqrt(d) l2_sensitivity + d g) / epsilon instead, g the step of the grid (section 16).
    * Public: the shape of the value.

    Examples
    --------
    >>> VectorLaplace(epsilon=0.5, l2_sensitivity=2.0).curve
    PureDP(epsilon=0.5)
    """

    epsilon: Number
    l2_sensitivity: Number

    theorem: ClassVar[str] = (
        "Gamma-norm mechanism (Chaudhuri, Monteleoni and Sarwate 2011); strict: discrete Laplace"
    )
    public: ClassVar[tuple[str, ...]] = ("the shape of the value",)

    def validate(self) -> None:
        """Refuse parameters that are not positive and finite."""
        require(0 < self.epsilon < float("inf"), "epsilon", self.epsilon, "> 0 and finite")
        require(
            0 < self.l2_sensitivity < float("inf"), "l2_sensitivity", self.l2_sensitivity, "> 0 and finite"
        )

    @property
    def curve(self) -> PureDP:
        """Pure epsilon."""
        return PureDP(as_written(self.epsilon))

    def sample(self, value: Value, source: Source) -> NDArray[Any]:
        """Gamma-norm noise, or its strict stand-in."""
        if self.arithmetic == "idealised":
            scale = float(self.l2_sensitivity) / float(self.epsilon)
            noise = gamma_ball(source, dimension=value.size, scale=scale).reshape(value.shape)
            return np.asarray(value.astype(np.float64) + noise)
        return add_discrete_laplace(value, source, **self._stand_in(value.size))

    def check(self, value: Any) -> NDArray[Any]:
        """Numbers, as many as the noise can be drawn for."""
        array: NDArray[Any] = super().check(value)
        if self.arithmetic == "strict":
            grid_and_scale(array.size, **self._stand_in(array.size))
        return array

    def _stand_in(self, dimension: int) -> dict[str, Fraction]:
        """Laplace noise of so many coordinates: |x|_1 <= sqrt(d) |x|_2."""
        l1_sensitivity = root_above(dimension) * as_written(self.l2_sensitivity)
        return {"scale": l1_sensitivity / as_written(self.epsilon), "l1_sensitivity": l1_sensitivity}

    def worst_pair(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """A shift by the whole sensitivity along one axis."""
        return np.zeros(1), np.array([float(self.l2_sensitivity)])

    def cdf(self, value: Value, at: NDArray[np.float64]) -> NDArray[np.float64]:
        """One coordinate of the Gamma-norm law, or of the discrete Laplace that stands in for it."""
        if self.arithmetic == "idealised":
            spread = float(self.l2_sensitivity) / float(self.epsilon)
            return gamma_norm_cdf((at - float(value.flat[0])) / spread, dimension=value.size)
        l1 = root_above(value.size) * as_written(self.l2_sensitivity)
        return discrete_release_cdf(value, at, scale=l1 / as_written(self.epsilon), l1_sensitivity=l1)

    def distance(self, first: Value, second: Value, *, at: Output | None = None) -> float:
        """The Euclidean distance over the sensitivity."""
        return euclidean(first, second) / float(self.l2_sensitivity)

    def log_ratio(self, first: Value, second: Value, output: Output) -> float:
        """epsilon (|y - second|_2 - |y - first|_2) / sensitivity, or that of the strict stand-in."""
        if self.arithmetic == "idealised":
            spread = float(self.l2_sensitivity) / float(self.epsilon)
            return (euclidean(output, second) - euclidean(output, first)) / spread
        l1 = root_above(first.size) * as_written(self.l2_sensitivity)
        scale = l1 / as_written(self.epsilon)
        return discrete_release_ratio(first, second, output, scale=scale, l1_sensitivity=l1)

    @property
    def independent_coordinates(self) -> bool:
        """Of the strict stand-in they are."""
        return self.arithmetic == "strict"

    def probes(self) -> tuple[NDArray[Any], ...]:
        """The pair, and vectors: in one dimension a wrong length is right."""
        return (*self.worst_pair(), np.zeros(2), np.zeros(5))

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        """One example for each arithmetic."""
        return cls(epsilon=1.0, l2_sensitivity=1.0), cls(
            epsilon=1.0, l2_sensitivity=2.0, arithmetic="idealised"
        )


def gamma_norm_cdf(z: NDArray[np.float64], *, dimension: int) -> NDArray[np.float64]:
    """P[X_1 <= z] for X of density proportional to exp(-|x|_2) in so many dimensions.

    X = R U with R ~ Gamma(d) and U uniform on the sphere, whose first coordinate sin(t) has a density
    proportional to cos(t)^(d - 2) in t: P[X_1 > z] = E[P[R > z / sin(t)]; t > 0], by quadrature.

    >>> gamma_norm_cdf(np.array([0.0, 40.0]), dimension=3).round(12).tolist()
    [0.5, 1.0]
    """
    from scipy.special import gammaincc

    if dimension == 1:
        return laplace_cdf(z)
    nodes, weights = legendre(200)
    angle = np.pi / 4 * (nodes + 1.0)
    density = weights * np.cos(angle) ** (dimension - 2)
    beyond = gammaincc(float(dimension), np.abs(z)[:, None] / np.sin(angle)) @ density
    tail = 0.5 * beyond / np.sum(density)
    return np.asarray(np.where(z < 0, tail, 1.0 - tail))
