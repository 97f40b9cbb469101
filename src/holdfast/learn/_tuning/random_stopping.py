"""Random stopping: how many candidates to try, so that reporting the best costs little (Papernot and Steinke 2022).

Repeating a private run a *fixed* number of times and reporting the best is not covered: how good the best is
would tell about the data. A secret random number of runs is what makes the cost a constant factor.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from holdfast.errors import require
from holdfast.noise._bernoulli import bernoulli
from holdfast.noise._source import Source
from holdfast.privacy._curves.curve import PrivacyCurve
from holdfast.privacy._rounding import as_written


@dataclass(frozen=True, kw_only=True)
class RandomStopping:
    """K runs from the truncated negative binomial law: P[K = k] ~ (1 - gamma)^k prod_{l<k} (l + eta) / (l + 1).

    eta = 1 is the geometric law, eta = 0 the logarithmic one. K stays secret; only the best run is released.

    >>> round(RandomStopping(eta=1.0, gamma=0.1).mean, 9)
    10.0
    """

    eta: float = 0.0
    gamma: float = 0.1

    def __post_init__(self) -> None:
        require(-1 < self.eta <= 1, "eta", self.eta, "in (-1, 1]")
        require(0 < self.gamma < 1, "gamma", self.gamma, "in (0, 1)")

    @property
    def mean(self) -> float:
        """E[K]."""
        if self.eta == 0:
            return (1.0 / self.gamma - 1.0) / math.log(1.0 / self.gamma)
        return self.eta * (1.0 - self.gamma) / (self.gamma * -math.expm1(self.eta * math.log(self.gamma)))

    def probability(self, runs: int) -> float:
        """P[K = runs]."""
        if runs < 1:
            return 0.0
        places = np.arange(1, runs)
        shape = float(np.prod((places + self.eta) / (places + 1.0)))  # relative to the first
        if self.eta == 0:
            first = (1.0 - self.gamma) / math.log(1.0 / self.gamma)
        else:
            first = self.eta * (1.0 - self.gamma) / math.expm1(-self.eta * math.log(self.gamma))
        return first * (1.0 - self.gamma) ** (runs - 1) * shape

    def draw(self, source: Source) -> int:
        """K, exactly: a geometric number, kept with probability prod_{0<l<k} (l + eta) / (l + 1) <= 1."""
        stop, eta = as_written(self.gamma), as_written(self.eta)
        while True:
            runs = 1
            while not bernoulli(source, p=stop, size=1)[0]:
                runs += 1
            keep = Fraction(1)
            for place in range(1, runs):
                keep *= (place + eta) / (place + 1)
            if bernoulli(source, p=keep, size=1)[0]:
                return runs

    def pure(self, epsilon: Fraction) -> Fraction:
        """The cost of the best of K runs of epsilon each, (2 + eta) epsilon (soundness, section 5)."""
        return (2 + as_written(self.eta)) * epsilon

    def base_pure(self, total: Fraction) -> Fraction:
        """What each run may spend, for that total."""
        return total / (2 + as_written(self.eta))

    def renyi(self, order: float, base: PrivacyCurve) -> float:
        """e(a) + (1 + eta)(1 - 1/b) e(b) + (1 + eta) ln(1/gamma) / b + ln E[K] / (a - 1), least over b >= 1.

        e is the base's Renyi bound; any b is valid, so a grid errs on the safe side.
        """
        require(order > 1, "order", order, "> 1")
        price = (1.0 + self.eta) * math.log(1.0 / self.gamma)
        second = min(
            (1.0 + self.eta) * (1.0 - 1.0 / b) * base.renyi(b) + price / b
            for b in (1.0 + np.geomspace(1e-3, 1e4, 200)).tolist()
        )
        total = base.renyi(order) + float(second) + math.log(self.mean) / (order - 1.0)
        return total * (1 + 1e-12)
