"""Laplace noise, for values with bounded L1 sensitivity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import require
from holdfast.noise.continuous import laplace
from holdfast.noise.discrete_laplace import discrete_laplace
from holdfast.noise.source import Source
from holdfast.privacy.curve import PrivacyCurve, PureDP
from holdfast.privacy.grid import Grid
from holdfast.privacy.laplace_curve import LaplaceCurve
from holdfast.privacy.mechanism import Mechanism
from holdfast.privacy.rounding import Number, as_written


@dataclass(frozen=True, kw_only=True)
class Laplace(Mechanism):
    """value + Laplace(scale) in every coordinate; pure epsilon = l1_sensitivity / scale.

    Strict arithmetic draws the discrete Laplace exactly and claims pure epsilon, nothing more: its
    delta(epsilon) is not the continuous one (soundness, section 16). Integer values stay integers.

    >>> Laplace(scale=2.0, l1_sensitivity=1.0).curve
    PureDP(epsilon=0.5)
    """

    scale: Number
    l1_sensitivity: Number

    theorem: ClassVar[str] = (
        "Laplace mechanism (Dwork, McSherry, Nissim and Smith 2006); discrete: Ghosh et al. 2009"
    )
    public: ClassVar[tuple[str, ...]] = ("the number of coordinates",)

    def validate(self) -> None:
        """Positive, finite scales."""
        require(0 < self.scale < float("inf"), "scale", self.scale, "> 0 and finite")
        require(
            0 < self.l1_sensitivity < float("inf"), "l1_sensitivity", self.l1_sensitivity, "> 0 and finite"
        )

    @property
    def curve(self) -> PrivacyCurve:
        """Pure; the continuous law has a finer curve."""
        epsilon = as_written(self.l1_sensitivity) / as_written(self.scale)
        return PureDP(epsilon) if self.arithmetic == "strict" else LaplaceCurve(epsilon)

    def sample(self, value: NDArray[Any], source: Source) -> NDArray[Any]:
        """Round the centre, add the exact discrete Laplace."""
        if self.arithmetic == "idealised":
            return np.asarray(
                value + float(self.scale) * laplace(source, size=value.size).reshape(value.shape)
            )
        return add_discrete_laplace(value, source, scale=self.scale, l1_sensitivity=self.l1_sensitivity)

    def worst_pair(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """A shift by the whole sensitivity."""
        return np.zeros(1), np.array([float(self.l1_sensitivity)])

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        """Both arithmetics."""
        return cls(scale=1.0, l1_sensitivity=1.0), cls(scale=2.0, l1_sensitivity=1.0, arithmetic="idealised")


def add_discrete_laplace(
    value: NDArray[Any], source: Source, *, scale: Number, l1_sensitivity: Number
) -> NDArray[Any]:
    """The strict release: on the public grid, with the scale enlarged for the rounding of the centre."""
    exact, sensitivity = as_written(scale), as_written(l1_sensitivity)
    if value.dtype == np.int64:
        return np.asarray(value + discrete_laplace(source, scale=exact, size=value.size).reshape(value.shape))
    grid = Grid.for_noise(exact, sensitivity / value.size)
    enlarged = exact * (sensitivity + value.size * grid.step) / sensitivity
    noise = discrete_laplace(source, scale=enlarged / grid.step, size=value.size)
    return grid.values(grid.nearest(value) + noise.reshape(value.shape))
