"""What normal noise on a secret sample shares, however the sample is drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import require
from holdfast.noise.source import Source
from holdfast.privacy.mechanism import Mechanism
from holdfast.privacy.mechanisms.gaussian import Gaussian
from holdfast.privacy.rounding import Number


@dataclass(frozen=True, kw_only=True)
class SampledGaussian(Mechanism):
    """Normal noise on a sum over a sample; drawing the sample is the caller's, by secret and fresh coins."""

    sigma: Number
    l2_sensitivity: Number

    def validate(self) -> None:
        """Positive scales."""
        require(0 < self.sigma < float("inf"), "sigma", self.sigma, "> 0 and finite")
        require(
            0 < self.l2_sensitivity < float("inf"), "l2_sensitivity", self.l2_sensitivity, "> 0 and finite"
        )

    @property
    def _noise(self) -> Gaussian:
        return Gaussian(sigma=self.sigma, l2_sensitivity=self.l2_sensitivity, arithmetic=self.arithmetic)

    def sample(self, value: NDArray[Any], source: Source) -> NDArray[Any]:
        """Noise on the sum of the sample."""
        return self._noise.sample(value, source)

    def worst_pair(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The two worlds of the unit, given that it was sampled."""
        return self._noise.worst_pair()

    def cdf(self, value: NDArray[Any], at: NDArray[np.float64]) -> NDArray[np.float64]:
        """As the Gaussian, on a value computed from the sample."""
        return self._noise.cdf(value, at)

    def distance(self, first: NDArray[Any], second: NDArray[Any]) -> float:
        """As the Gaussian, given that the unit was sampled."""
        return self._noise.distance(first, second)
