"""A pure mechanism on a Poisson sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import ParameterError, require
from holdfast.noise.source import Source
from holdfast.privacy.adjacency import Adjacency
from holdfast.privacy.amplify import poisson_pure
from holdfast.privacy.curve import PureDP
from holdfast.privacy.mechanism import Mechanism
from holdfast.privacy.mechanisms.laplace import Laplace


@dataclass(frozen=True, kw_only=True)
class SubsampledPure(Mechanism):
    """A pure mechanism run on a secret, fresh Poisson sample: epsilon' = ln(1 + rate (e^epsilon - 1))."""

    base: Mechanism
    rate: float

    theorem: ClassVar[str] = "Poisson amplification (Balle, Barthe and Gaboardi 2018, theorem 8)"
    public: ClassVar[tuple[str, ...]] = ("the sampling rate",)
    admissible: ClassVar[frozenset[Adjacency]] = frozenset({Adjacency.add_remove, Adjacency.zero_out})

    def validate(self) -> None:
        """A pure base and a rate in (0, 1]."""
        require(0 < self.rate <= 1, "rate", self.rate, "in (0, 1]")
        if self.base.curve.as_pure() is None:
            raise ParameterError(
                f"base must be a pure mechanism, got {self.base.name}; use SubsampledGaussian for normal noise"
            )

    @property
    def curve(self) -> PureDP:
        """The amplified pure parameter, rounded up."""
        pure = self.base.curve.as_pure()
        assert pure is not None
        return poisson_pure(PureDP(pure), rate=self.rate)

    def check(self, value: Any) -> Any:
        """As the base."""
        return self.base.check(value)

    def sample(self, value: Any, source: Source) -> Any:
        """As the base, on a value computed from the sample."""
        return self.base.sample(value, source)

    def worst_pair(self) -> tuple[Any, Any]:
        """As the base, given that the unit was sampled."""
        return self.base.worst_pair()

    def to_json(self) -> dict[str, Any]:
        """The base's parameters inside."""
        return super().to_json() | {"base": self.base.to_json()}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """Reads the base by its own name."""
        from holdfast.privacy.mechanisms import mechanism_from_json

        return super().from_json(data | {"base": mechanism_from_json(data["base"])})

    def cdf(self, value: Any, at: NDArray[np.float64]) -> NDArray[np.float64]:
        """As the base, on a value computed from the sample."""
        return self.base.cdf(value, at)

    def distance(self, first: Any, second: Any) -> float:
        """As the base, given that the unit was sampled."""
        return self.base.distance(first, second)

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        """Laplace on a half."""
        return (cls(base=Laplace(scale=1.0, l1_sensitivity=1.0), rate=0.5),)
