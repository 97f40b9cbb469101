"""One step of DP-SGD: a Poisson sample, summed, with normal noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import require
from holdfast.noise.source import Source
from holdfast.privacy.adjacency import Adjacency
from holdfast.privacy.mechanism import Mechanism
from holdfast.privacy.mechanisms.gaussian import Gaussian
from holdfast.privacy.rounding import Number, as_written
from holdfast.privacy.subsampled_gaussian_curve import SubsampledGaussianCurve


@dataclass(frozen=True, kw_only=True)
class SubsampledGaussian(Mechanism):
    """Sum over a Poisson sample of rate `rate`, secret and fresh, + N(0, sigma^2).

    `l2_sensitivity` is the largest norm of one unit's contribution. Proved for add_remove and
    zero_out only: under replace both worlds become mixtures (soundness, section 6). Shuffled or
    fixed-size batches are not Poisson samples and are not covered.
    """

    sigma: Number
    l2_sensitivity: Number
    rate: float

    theorem: ClassVar[str] = (
        "Poisson-subsampled Gaussian (Abadi et al. 2016; Mironov, Talwar and Zhang 2019; Zhu et al. 2022)"
    )
    public: ClassVar[tuple[str, ...]] = (
        "the sampling rate",
        "the number of coordinates",
        "the number of steps",
    )
    admissible: ClassVar[frozenset[Adjacency]] = frozenset({Adjacency.add_remove, Adjacency.zero_out})

    def validate(self) -> None:
        """A rate in (0, 1], positive scales."""
        require(0 < self.sigma < float("inf"), "sigma", self.sigma, "> 0 and finite")
        require(
            0 < self.l2_sensitivity < float("inf"), "l2_sensitivity", self.l2_sensitivity, "> 0 and finite"
        )
        require(0 < self.rate <= 1, "rate", self.rate, "in (0, 1]")

    @property
    def curve(self) -> SubsampledGaussianCurve:
        """The mixture pair, both directions."""
        return SubsampledGaussianCurve(as_written(self.sigma) / as_written(self.l2_sensitivity), self.rate)

    def sample(self, value: NDArray[Any], source: Source) -> NDArray[Any]:
        """Noise on the sum of the sample; drawing the sample is the caller's, by secret coins."""
        return self._noise.sample(value, source)

    @property
    def _noise(self) -> Gaussian:
        return Gaussian(sigma=self.sigma, l2_sensitivity=self.l2_sensitivity, arithmetic=self.arithmetic)

    def worst_pair(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """With and without the unit's contribution, given that it was sampled."""
        return self._noise.worst_pair()

    def cdf(self, value: NDArray[Any], at: NDArray[np.float64]) -> NDArray[np.float64]:
        """As the Gaussian, on a value computed from the sample."""
        return self._noise.cdf(value, at)

    def distance(self, first: NDArray[Any], second: NDArray[Any]) -> float:
        """As the Gaussian, given that the unit was sampled."""
        return self._noise.distance(first, second)

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        """Both arithmetics."""
        return (
            cls(sigma=1.0, l2_sensitivity=1.0, rate=0.5),
            cls(sigma=0.8, l2_sensitivity=1.0, rate=0.5, arithmetic="idealised"),
        )
