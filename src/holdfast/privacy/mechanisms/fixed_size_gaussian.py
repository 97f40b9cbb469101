"""One noisy step on a batch of fixed size, drawn without replacement: the replace twin of the Poisson step."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import require
from holdfast.privacy.adjacency import Adjacency
from holdfast.privacy.mechanisms.sampled_gaussian import SampledGaussian
from holdfast.privacy.renyi import RenyiDP
from holdfast.privacy.rounding import as_written, round_up

ORDERS: tuple[float, ...] = (*(float(a) for a in range(2, 65)), 72.0, 80.0, 96.0, 128.0, 192.0, 256.0, 512.0)


@dataclass(frozen=True, kw_only=True)
class FixedSizeGaussian(SampledGaussian):
    """Sum over a secret, fresh batch of `batch` out of `population` units, + N(0, sigma^2).

    `l2_sensitivity` is how far replacing one unit of the batch moves the sum: twice the largest norm. Proved for
    replace, and for zero_out with the same number: an unsampled unit is exchanged for another one, not removed.
    """

    batch: int
    population: int

    theorem: ClassVar[str] = (
        "Gaussian on a fixed-size sample without replacement (Wang, Balle and Kasiviswanathan 2019, theorem 9)"
    )
    public: ClassVar[tuple[str, ...]] = ("the number of units", "the batch size", "the number of coordinates")
    admissible: ClassVar[frozenset[Adjacency]] = frozenset({Adjacency.replace, Adjacency.zero_out})

    def validate(self) -> None:
        """Positive scales, a batch that the population holds."""
        super().validate()
        whole = isinstance(self.population, int) and self.population >= 1
        require(whole, "population", self.population, "a whole number >= 1")
        fits = isinstance(self.batch, int) and 1 <= self.batch <= self.population
        require(fits, "batch", self.batch, "a whole number in [1, population]")

    @property
    def rate(self) -> float:
        """The chance that one unit is in the batch."""
        return self.batch / self.population

    @property
    def curve(self) -> RenyiDP:
        """The theorem's bound at whole orders; never above the Gaussian without sampling."""
        rho = (as_written(self.l2_sensitivity) / as_written(self.sigma)) ** 2 / 2
        return RenyiDP.of(
            lambda order: sampled_divergence(int(order), rho=round_up(rho), rate=self.rate), ORDERS
        )

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        """Nearly everything sampled, where a test has power; and everything."""
        return (
            cls(sigma=1.0, l2_sensitivity=1.0, batch=9, population=10),
            cls(sigma=1.0, l2_sensitivity=1.0, batch=10, population=10, arithmetic="idealised"),
        )


def sampled_divergence(order: int, *, rho: float, rate: float) -> float:
    """The Renyi bound of whole order a for a base of divergence rho j at order j, with gamma = rate.

    log(1 + gamma^2 C(a,2) min(4 (e^e(2) - 1), 2 e^e(2)) + sum_{j>=3} 2 gamma^j C(a,j) e^((j-1) e(j))) / (a - 1)

    >>> sampled_divergence(2, rho=0.5, rate=1.0), sampled_divergence(2, rho=0.5, rate=0.01) < 1e-3
    (1.0, True)
    """
    plain = rho * order
    if rate >= 1.0:
        return plain
    second = 2.0 * rho
    # min(4 (e^x - 1), 2 e^x): the first is smaller below x = ln 2.
    log_second = math.log(4.0 * math.expm1(second)) if second < math.log(2.0) else math.log(2.0) + second
    j = np.arange(3, order + 1)
    log_choose = _log_choose(order)
    later = math.log(2.0) + j * math.log(rate) + log_choose[3:] + (j - 1.0) * j * rho
    terms = np.concatenate([[0.0, 2.0 * math.log(rate) + log_choose[2] + log_second], later])
    bound = float(np.logaddexp.reduce(terms)) / (order - 1)
    return min(plain, bound * (1 + 1e-12) + 1e-15)


@lru_cache(maxsize=128)
def _log_choose(order: int) -> NDArray[np.float64]:
    """log C(order, j) for j = 0 to order."""
    return np.array([math.log(math.comb(order, j)) for j in range(order + 1)])
