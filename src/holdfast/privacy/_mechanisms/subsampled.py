"""One noisy step on a secret sample: a Poisson one (a step of DP-SGD, or any pure mechanism), or one of fixed size.

A sample drawn without replacement is the replace twin of the Poisson sample, whose proof is for add_remove.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from holdfast._arguments import checked
from holdfast._stored_fields import stored_fields
from holdfast.errors import ParameterError, require
from holdfast.noise._source import Source
from holdfast.privacy._adjacency import Adjacency
from holdfast.privacy._amplification import poisson_pure
from holdfast.privacy._curves.curve import PrivacyCurve, PureDP
from holdfast.privacy._curves.fixed_size import FixedSizeGaussianCurve
from holdfast.privacy._curves.subsampled import SubsampledGaussianCurve, subsample
from holdfast.privacy._mechanisms.gaussian import Gaussian
from holdfast.privacy._mechanisms.laplace import Laplace
from holdfast.privacy._mechanisms.mechanism import Mechanism, Output, Value
from holdfast.privacy._rounding import Number, as_written


@checked
@dataclass(frozen=True, kw_only=True)
class SampledGaussian(Mechanism):
    """Normal noise on a sum over a sample; drawing the sample is the caller's, by secret and fresh coins."""

    sigma: Number
    l2_sensitivity: Number

    secret_sample: ClassVar[bool] = True

    def validate(self) -> None:
        """Refuse scales that are not positive and finite."""
        require(0 < self.sigma < float("inf"), "sigma", self.sigma, "> 0 and finite")
        require(
            0 < self.l2_sensitivity < float("inf"), "l2_sensitivity", self.l2_sensitivity, "> 0 and finite"
        )

    @cached_property
    def _noise(self) -> Gaussian:
        return Gaussian(sigma=self.sigma, l2_sensitivity=self.l2_sensitivity, arithmetic=self.arithmetic)

    def check(self, value: Any) -> NDArray[Any]:
        """The check of Gaussian noise."""
        return self._noise.check(value)

    def sample(self, value: Value, source: Source) -> NDArray[Any]:
        """Noise on the sum of the sample."""
        return self._noise.sample(value, source)

    def worst_pair(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Without and with the unit, given that it was sampled."""
        return self._noise.worst_pair()

    def cdf(self, value: Value, at: NDArray[np.float64]) -> NDArray[np.float64]:
        """As the Gaussian, on a value computed from the sample."""
        return self._noise.cdf(value, at)

    @property
    def independent_coordinates(self) -> bool:
        """Each coordinate has noise of its own."""
        return True

    def distance(self, first: Value, second: Value, *, at: Output | None = None) -> float:
        """As the Gaussian, given that the unit was sampled."""
        return self._noise.distance(first, second)

    def log_ratio(self, first: Value, second: Value, output: Output) -> float:
        """As the Gaussian, on values computed from one sample."""
        return self._noise.log_ratio(first, second, output)


@checked
@dataclass(frozen=True, kw_only=True)
class SubsampledGaussian(SampledGaussian):
    """Sum over a Poisson sample, secret and fresh, + N(0, sigma^2): one step of DP-SGD.

    Parameters
    ----------
    sigma : int, float or Fraction
        The standard deviation of the noise.
    l2_sensitivity : int, float or Fraction
        The largest norm of one unit's contribution.
    rate : float
        The probability with which each unit takes part.
    adjacency : Adjacency, optional
        Under which neighbours the sensitivity was derived; an account of another adjacency refuses the
        mechanism.
    arithmetic : {'strict', 'idealised'}
        'strict' draws exactly, on a public grid; 'idealised' is floating point analysed as if it were real
        numbers, for steps inside training only.

    Formal guarantees
    -----------------
    * Neighbours: add_remove and zero_out only; under replace both neighbours become mixtures (soundness,
      section 6).
    * Privacy: the curve of a Poisson-subsampled Gaussian, in both directions (Abadi et al. 2016; Zhu et al.
      2022); composed numerically.
    * Assumed: each unit takes part by a coin of its own that nobody sees. Shuffled or fixed-size batches are
      not Poisson samples and are not covered.

    Examples
    --------
    >>> step = SubsampledGaussian(sigma=1.0, l2_sensitivity=1.0, rate=0.01)
    >>> step.curve_of_uses(1000).epsilon(1e-6) < 3.0
    True
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
    def sampling_rate(self) -> float:
        """The declared rate."""
        return float(self.rate)

    @property
    def curve(self) -> SubsampledGaussianCurve:
        """The mixture pair, both directions."""
        return SubsampledGaussianCurve(as_written(self.sigma) / as_written(self.l2_sensitivity), self.rate)

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        """One example for each arithmetic."""
        return (
            cls(sigma=1.0, l2_sensitivity=1.0, rate=0.5),
            cls(sigma=0.8, l2_sensitivity=1.0, rate=0.5, arithmetic="idealised"),
        )


@checked
@dataclass(frozen=True, kw_only=True)
class SubsampledPure(Mechanism):
    """A pure mechanism run on a secret, fresh Poisson sample: epsilon' = ln(1 + rate (e^epsilon - 1)).

    Parameters
    ----------
    base : Mechanism
        The pure mechanism that sees the sample.
    rate : float
        The probability with which each unit takes part.
    adjacency : Adjacency, optional
        Under which neighbours the sensitivity was derived; an account of another adjacency refuses the
        mechanism.
    arithmetic : {'strict', 'idealised'}
        'strict' draws exactly, on a public grid; 'idealised' is floating point analysed as if it were real
        numbers, for steps inside training only.

    Formal guarantees
    -----------------
    * Neighbours: add_remove and zero_out only.
    * Privacy: pure epsilon' as above (Balle, Barthe and Gaboardi 2018); several uses by the pair of the sampled base,
      in both directions (Zhu et al. 2022).
    * Assumed: each unit takes part by a coin of its own that nobody sees.

    Examples
    --------
    >>> from holdfast.privacy import Laplace
    >>> SubsampledPure(base=Laplace(scale=1.0, l1_sensitivity=1.0), rate=0.1).curve.epsilon(0.0) < 0.16
    True
    """

    base: Mechanism
    rate: float

    theorem: ClassVar[str] = "Poisson amplification (Balle, Barthe and Gaboardi 2018, theorem 8)"
    public: ClassVar[tuple[str, ...]] = ("the sampling rate",)
    secret_sample: ClassVar[bool] = True
    admissible: ClassVar[frozenset[Adjacency]] = frozenset({Adjacency.add_remove, Adjacency.zero_out})

    def validate(self) -> None:
        """A pure base and a rate in (0, 1]."""
        require(0 < self.rate <= 1, "rate", self.rate, "in (0, 1]")
        if self.base.curve.as_pure() is None:
            raise ParameterError(
                f"base must be a pure mechanism, got {self.base.name}; use SubsampledGaussian for normal noise"
            )
        if self.base.curve.has_slack:
            raise ParameterError(
                f"base must follow its law exactly, got {self.base.name} with slack, which a sample does not "
                "make smaller; use an exact mechanism"
            )

    def require_adjacency(self, adjacency: Adjacency) -> None:
        """Refuse neighbours that are not those of the base: what is amplified is the base's own promise."""
        super().require_adjacency(adjacency)
        self.base.require_adjacency(adjacency)

    @property
    def sampling_rate(self) -> float:
        """The declared rate."""
        return float(self.rate)

    @property
    def curve(self) -> PrivacyCurve:
        """The sampled pair, both directions; where the base has none, the amplified pure parameter."""
        base = self.base.curve
        if base.pair() is not None:
            return base if self.rate == 1 else subsample(base, self.rate)
        pure = base.as_pure()
        assert pure is not None
        return poisson_pure(PureDP(pure), rate=self.rate)

    def check(self, value: Any) -> Any:
        """The check of the base mechanism."""
        return self.base.check(value)

    def sample(self, value: Value, source: Source) -> Any:
        """As the base, on a value computed from the sample."""
        return self.base.sample(value, source)

    def worst_pair(self) -> tuple[Any, Any]:
        """As the base, given that the unit was sampled."""
        return self.base.worst_pair()

    def to_json(self) -> dict[str, Any]:
        """The base's parameters inside."""
        return super().to_json() | {"base": self.base.to_json()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Reads the base by its own name."""
        data = stored_fields(cls.__name__, data)
        from holdfast.privacy._mechanisms import mechanism_from_json

        return super().from_json({**data, "base": mechanism_from_json(data["base"])})

    def cdf(self, value: Value, at: NDArray[np.float64]) -> NDArray[np.float64]:
        """As the base, on a value computed from the sample."""
        return self.base.cdf(value, at)

    @property
    def independent_coordinates(self) -> bool:
        """Whether those of the base are."""
        return self.base.independent_coordinates

    def distance(self, first: Value, second: Value, *, at: Output | None = None) -> float:
        """As the base, given that the unit was sampled."""
        return self.base.distance(first, second, at=at)

    def log_ratio(self, first: Value, second: Value, output: Output) -> float:
        """As the base, on values computed from one sample."""
        return self.base.log_ratio(first, second, output)

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        """Laplace on a half."""
        return (cls(base=Laplace(scale=1.0, l1_sensitivity=1.0), rate=0.5),)


@dataclass(frozen=True, kw_only=True)
class FixedSizeGaussian(SampledGaussian):
    """Sum over a secret, fresh batch of `batch` out of `population` units, + N(0, sigma^2).

    `l2_sensitivity` is how far replacing one unit of the batch moves the sum: twice the largest norm. Proved
    for replace, and for zero_out with the same number: an unsampled unit is exchanged for another one, not
    removed.
    """

    batch: int
    population: int

    theorem: ClassVar[str] = (
        "Gaussian on a sample of fixed size without replacement (Balle, Barthe and Gaboardi 2018; Zhu et al. 2022)"
    )
    public: ClassVar[tuple[str, ...]] = ("the number of units", "the batch size", "the number of coordinates")
    admissible: ClassVar[frozenset[Adjacency]] = frozenset({Adjacency.replace, Adjacency.zero_out})

    def validate(self) -> None:
        """Positive scales, a batch that the population holds."""
        super().validate()
        is_valid = isinstance(self.population, int) and self.population >= 1
        require(is_valid, "population", self.population, "a whole number >= 1")
        fits = isinstance(self.batch, int) and 1 <= self.batch <= self.population
        require(fits, "batch", self.batch, "a whole number in [1, population]")

    @property
    def rate(self) -> float:
        """The chance that one unit is in the batch."""
        return self.batch / self.population

    @property
    def sampling_rate(self) -> float:
        """The declared rate."""
        return float(self.rate)

    @property
    def sample_size(self) -> int:
        """`batch`."""
        return self.batch

    @property
    def curve(self) -> FixedSizeGaussianCurve:
        """The symmetric pair of the sample; never above the Gaussian without sampling."""
        noise = as_written(self.sigma) / as_written(self.l2_sensitivity)
        return FixedSizeGaussianCurve(noise, Fraction(self.batch, self.population))

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        """Nearly everything sampled, where a test has power; and everything."""
        return (
            cls(sigma=1.0, l2_sensitivity=1.0, batch=9, population=10),
            cls(sigma=1.0, l2_sensitivity=1.0, batch=10, population=10, arithmetic="idealised"),
        )
