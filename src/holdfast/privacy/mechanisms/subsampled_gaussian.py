"""One step of DP-SGD: a Poisson sample, summed, with normal noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from holdfast.errors import require
from holdfast.privacy.adjacency import Adjacency
from holdfast.privacy.mechanisms.sampled_gaussian import SampledGaussian
from holdfast.privacy.rounding import as_written
from holdfast.privacy.subsampled_gaussian_curve import SubsampledGaussianCurve


@dataclass(frozen=True, kw_only=True)
class SubsampledGaussian(SampledGaussian):
    """Sum over a Poisson sample of rate `rate`, secret and fresh, + N(0, sigma^2).

    `l2_sensitivity` is the largest norm of one unit's contribution. Proved for add_remove and
    zero_out only: under replace both worlds become mixtures (soundness, section 6). Shuffled or
    fixed-size batches are not Poisson samples and are not covered.
    """

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
        super().validate()
        require(0 < self.rate <= 1, "rate", self.rate, "in (0, 1]")

    @property
    def curve(self) -> SubsampledGaussianCurve:
        """The mixture pair, both directions."""
        return SubsampledGaussianCurve(as_written(self.sigma) / as_written(self.l2_sensitivity), self.rate)

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        """Both arithmetics."""
        return (
            cls(sigma=1.0, l2_sensitivity=1.0, rate=0.5),
            cls(sigma=0.8, l2_sensitivity=1.0, rate=0.5, arithmetic="idealised"),
        )
