"""Share: how much of a budget a measurement may spend, and what noise that buys."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from holdfast.errors import require
from holdfast.privacy._adjacency import Adjacency
from holdfast.privacy._curves.curve import PrivacyCurve, PureDP
from holdfast.privacy._curves.gaussian import GaussianDP
from holdfast.privacy._curves.renyi import ZCDP
from holdfast.privacy._mechanisms.gaussian import Gaussian
from holdfast.privacy._mechanisms.laplace import DiscreteLaplace

Currency = Literal["pure", "zcdp", "gdp"]
CountNoise = DiscreteLaplace | Gaussian


@dataclass(frozen=True)
class Share:
    """An amount of pure epsilon, of rho, or of mu squared. Shares of one currency add up to the budget."""

    currency: Currency
    amount: Fraction

    def __post_init__(self) -> None:
        require(self.amount > 0, "share", self.amount, "> 0")

    @property
    def curve(self) -> PrivacyCurve:
        """What it may cost."""
        if self.currency == "pure":
            return PureDP(self.amount)
        return ZCDP(self.amount) if self.currency == "zcdp" else GaussianDP.from_square(self.amount)

    def parts(self, weights: Sequence[float]) -> tuple[Share, ...]:
        """Shares in proportion to these weights, which add up to no more than this one."""
        exact = [Fraction(weight) for weight in weights]
        total = sum(exact)
        return tuple(Share(self.currency, self.amount * weight / total) for weight in exact)

    @property
    def pure_epsilon(self) -> Fraction | None:
        """The largest pure epsilon that it pays for; None in the currency of normal noise."""
        if self.currency == "pure":
            return self.amount
        if self.currency == "gdp":
            return None
        epsilon = Fraction(math.sqrt(2.0 * float(self.amount)) * (1.0 - 2.0**-48))
        assert epsilon * epsilon <= 2 * self.amount
        return epsilon

    def laplace(self, l1_sensitivity: int, adjacency: Adjacency) -> DiscreteLaplace | None:
        """Whole-number Laplace noise; None where the currency does not count it."""
        epsilon = self.pure_epsilon
        if epsilon is None:
            return None
        return DiscreteLaplace(
            scale=Fraction(l1_sensitivity) / epsilon, l1_sensitivity=l1_sensitivity, adjacency=adjacency
        )

    def gaussian(self, l2_sensitivity: Fraction | int, adjacency: Adjacency) -> Gaussian | None:
        """Normal noise rounded to whole numbers; None under a pure promise."""
        if self.currency == "pure":
            return None
        return Gaussian.within(self.curve, l2_sensitivity=l2_sensitivity, adjacency=adjacency)

    def least_noise(
        self, l1_sensitivity: int, l2_sensitivity: Fraction | int, adjacency: Adjacency
    ) -> CountNoise:
        """Laplace or normal noise, whichever is smaller: a choice by public numbers."""
        laplace = self.laplace(l1_sensitivity, adjacency)
        gaussian = self.gaussian(l2_sensitivity, adjacency)
        if laplace is None or gaussian is None:
            noise = laplace or gaussian
            assert noise is not None  # every currency counts one of them
            return noise
        return laplace if deviation(laplace) <= deviation(gaussian) else gaussian


def root_of(square: int) -> Fraction:
    """The square root of a whole number, rounded up to a multiple of 2^-20.

    >>> float(root_of(2)), root_of(9)
    (1.4142141342163086, Fraction(3, 1))
    """
    return Fraction(math.isqrt((square << 40) - 1) + 1, 1 << 20)


def deviation(noise: CountNoise) -> float:
    """The standard deviation of one number's noise."""
    return math.sqrt(2.0) * float(noise.scale) if isinstance(noise, DiscreteLaplace) else float(noise.sigma)
