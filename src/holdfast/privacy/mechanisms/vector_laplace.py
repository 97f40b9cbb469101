"""A random direction with a Gamma length: pure privacy for values with bounded L2 sensitivity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import require
from holdfast.noise.ball import gamma_ball
from holdfast.noise.source import Source
from holdfast.privacy.curve import PureDP
from holdfast.privacy.grid import root_above
from holdfast.privacy.mechanism import Mechanism
from holdfast.privacy.mechanisms.laplace import add_discrete_laplace
from holdfast.privacy.rounding import Number, as_written


@dataclass(frozen=True, kw_only=True)
class VectorLaplace(Mechanism):
    """value + noise of density proportional to exp(-epsilon |x|_2 / l2_sensitivity).

    The length is Gamma(d, sensitivity / epsilon): an exponential length would not be private for
    d > 1 (soundness, section 0). The law has no exact discrete twin, so strict arithmetic draws
    discrete Laplace noise of scale (sqrt(d) sensitivity + d g) / epsilon instead (section 16).

    >>> VectorLaplace(epsilon=0.5, l2_sensitivity=2.0).curve
    PureDP(epsilon=0.5)
    """

    epsilon: Number
    l2_sensitivity: Number

    theorem: ClassVar[str] = (
        "Gamma-norm mechanism (Chaudhuri, Monteleoni and Sarwate 2011); strict: discrete Laplace"
    )
    public: ClassVar[tuple[str, ...]] = ("the number of coordinates",)

    def validate(self) -> None:
        """Positive, finite parameters."""
        require(0 < self.epsilon < float("inf"), "epsilon", self.epsilon, "> 0 and finite")
        require(
            0 < self.l2_sensitivity < float("inf"), "l2_sensitivity", self.l2_sensitivity, "> 0 and finite"
        )

    @property
    def curve(self) -> PureDP:
        """Pure epsilon."""
        return PureDP(as_written(self.epsilon))

    def sample(self, value: NDArray[Any], source: Source) -> NDArray[Any]:
        """Gamma-norm noise, or its strict stand-in."""
        if self.arithmetic == "idealised":
            scale = float(self.l2_sensitivity) / float(self.epsilon)
            return np.asarray(
                value + gamma_ball(source, dimension=value.size, scale=scale).reshape(value.shape)
            )
        l1_sensitivity = root_above(value.size) * as_written(self.l2_sensitivity)
        scale_exact = l1_sensitivity / as_written(self.epsilon)
        return add_discrete_laplace(value, source, scale=scale_exact, l1_sensitivity=l1_sensitivity)

    def worst_pair(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """A shift by the whole sensitivity along one axis."""
        return np.zeros(1), np.array([float(self.l2_sensitivity)])

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        """Both arithmetics."""
        return cls(epsilon=1.0, l2_sensitivity=1.0), cls(
            epsilon=1.0, l2_sensitivity=2.0, arithmetic="idealised"
        )
