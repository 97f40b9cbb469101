"""A lower bound on mu from normal scores of equal variance, computed on each of two neighbouring tables.

With N scores on each table and the pooled deviation s, t = sqrt(N/2) (m1 - m0) / s follows the non-central t law with
2N - 2 degrees of freedom and shift sqrt(N/2) mu. It is a bound on a mechanism only where the scores are normal by
construction: a fixed linear functional of Gaussian releases whose centres do not depend on the transcript, with weights
fixed before the counted runs, no secret coins, and a law test that was passed. Elsewhere it is an estimate (soundness,
section 22).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from holdfast.errors import require

_LARGEST_MU = 64.0


@dataclass(frozen=True, kw_only=True)
class NormalScores:
    """The t statistic of `count` scores on each table; `checked`: whether they are known to be normal by construction.

    >>> round(NormalScores(count=100, statistic=7.07, checked=True).mu_lower(confidence=0.95), 3)
    0.752
    """

    count: int
    statistic: float
    checked: bool = False

    def __post_init__(self) -> None:
        require(isinstance(self.count, int) and self.count >= 2, "count", self.count, "an integer >= 2")
        require(math.isfinite(self.statistic), "statistic", self.statistic, "finite")

    @classmethod
    def of(cls, first: ArrayLike, second: ArrayLike, *, checked: bool = False) -> NormalScores:
        """The statistic of equally many scores on both tables; without any spread it is as large as can be."""
        left, right = np.asarray(first, float), np.asarray(second, float)
        require(
            left.shape == right.shape and left.ndim == 1, "second", right.shape, "as many scores as first"
        )
        spread = math.sqrt((float(np.var(left, ddof=1)) + float(np.var(right, ddof=1))) / 2.0)
        difference = float(left.mean() - right.mean())
        if spread > 0.0:
            statistic = math.sqrt(left.size / 2.0) * difference / spread
        else:
            statistic = math.copysign(1e9, difference)
        return cls(count=int(left.size), statistic=statistic, checked=checked)

    def mu_lower(self, *, confidence: float) -> float:
        """The largest mu such that it and every smaller one is refuted; 0 if none is."""
        from scipy.optimize import brentq

        beta = round(1.0 - confidence, 15)
        if self.p_value(0.0) > beta:
            return 0.0
        if self.p_value(_LARGEST_MU) <= beta:
            return _LARGEST_MU
        return float(brentq(lambda mu: self.p_value(mu) - beta, 0.0, _LARGEST_MU, xtol=1e-9)) * (1.0 - 1e-8)

    def p_value(self, mu: float) -> float:
        """The probability of a statistic at least this large where the means are mu deviations apart."""
        from scipy.stats import nct

        tail = float(nct.sf(self.statistic, 2 * self.count - 2, math.sqrt(self.count / 2.0) * mu))
        # Far in the tail SciPy's series fails; there the normal law is on the safe side for the search.
        return tail if math.isfinite(tail) else float(self.statistic < math.sqrt(self.count / 2.0) * mu)


def normal_power(count: int, *, mu: float, kappa: float, beta: float = 0.05) -> float:
    """The probability of refuting mu with `count` scores on each table, where the noise is kappa times too small.

    >>> round(normal_power(100, mu=1.0, kappa=1.385), 2)
    0.8
    """
    from scipy.stats import nct

    freedom, scale = 2 * count - 2, math.sqrt(count / 2.0)
    needed = nct.isf(beta, freedom, scale * mu)
    return float(nct.sf(needed, freedom, scale * mu * kappa))
