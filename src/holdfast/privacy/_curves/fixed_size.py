"""The curve of Gaussian noise on a sample of fixed size, drawn without replacement; neighbours exchange one unit.

With probability 1 - q the unit is not in the batch, and nothing tells the tables apart. With probability q it is: then
the batch is one exchange away both from the other table's and from a batch without the unit. So (Balle, Barthe and
Gaboardi 2018, theorem 9, by advanced joint convexity), for alpha >= 1 and either order of the tables,

    H_(1 + q (alpha - 1)) <= q H_alpha(N(mu, 1) || N(0, 1)),

which is the hockey stick of (1 - q) Q + q P against Q there. Below alpha = 1 the reverse order says the rest. Both
together are a symmetric pair: the positive losses of that mixture, their mirror image, and an atom at 0 for what is
left (`FixedSizePair`). Pairs of several releases compose, whatever the direction of each.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Floats
from holdfast.errors import require
from holdfast.privacy._curves.curve import PrivacyCurve
from holdfast.privacy._curves.gaussian import GaussianDP
from holdfast.privacy._losses.dominating_pair import DominatingPair
from holdfast.privacy._losses.pairs import FixedSizePair, NormalPair
from holdfast.privacy._rounding import Number, as_written, round_up
from holdfast.privacy._tradeoff import Points

_CELLS = 4000
_REACH = 12.0
"""So many standard deviations around its centre a moment is integrated; the rest is bounded."""


@dataclass(frozen=True, repr=False)
class FixedSizeGaussianCurve(PrivacyCurve):
    """Noise of `noise_multiplier` times what exchanging a unit moves the sum by, on a share `rate` of all units.

    >>> curve = FixedSizeGaussianCurve(1.0, 0.01)
    >>> curve.repeat(1000).epsilon(1e-6) < 3.0
    True
    """

    LARGEST: ClassVar[float] = 1e300  # more noise is no harm

    noise_multiplier: Number
    rate: Number

    def __post_init__(self) -> None:
        require(
            1e-9 <= self.noise_multiplier < math.inf,
            "noise_multiplier",
            self.noise_multiplier,
            ">= 1e-9 and finite",
        )
        require(0 < self.rate <= 1, "rate", self.rate, "in (0, 1]")

    @cached_property
    def _base(self) -> GaussianDP:
        return GaussianDP(1 / as_written(self.noise_multiplier))

    @cached_property
    def _mu(self) -> float:
        return max(round_up(self._base.mu), 1e-100)  # the reciprocal of a smaller one would overflow

    @cached_property
    def _rate(self) -> float:
        return min(1.0, round_up(self.rate))

    def delta(self, epsilon: float) -> float:
        """q times the base's delta at ln(1 + (e^epsilon - 1) / q)."""
        return float(self.deltas(np.array([epsilon]))[0])

    def deltas(self, epsilons: Points) -> NDArray[np.float64]:
        """The same at many points."""
        epsilons = np.asarray(epsilons, dtype=np.float64)
        with np.errstate(over="ignore"):
            inner = np.log1p(np.expm1(np.minimum(epsilons, 600.0)) / self._rate)
            inner = np.where(epsilons > 600.0, epsilons - math.log(self._rate), inner)
        values = self._rate * self._base.deltas(inner * (1 - 1e-15)) * (1 + 1e-13)
        return self._positive(np.minimum(values, 1.0), epsilons)

    def pair(self) -> DominatingPair:
        """The symmetric pair; that of the noise alone if everything is sampled."""
        return NormalPair(self._mu) if self._rate == 1.0 else FixedSizePair(NormalPair(self._mu), self._rate)

    def renyi(self, order: float) -> float:
        """The divergence of the pair, from above; never above the noise without a sample."""
        require(order > 1, "order", order, "> 1")
        if math.isinf(order):
            return math.inf
        plain = order * round_up(self._base.as_zcdp())
        return plain if self._rate == 1.0 else min(plain, _divergence(self._mu, self._rate, order))

    def __repr__(self) -> str:
        noise, rate = float(self.noise_multiplier), float(self.rate)
        return f"FixedSizeGaussianCurve(noise_multiplier={noise:g}, rate={rate:g})"


@lru_cache(maxsize=1024)  # a charge asks for it several times, and each fit with the same noise again
def _divergence(mu: float, rate: float, order: float) -> float:
    """log(1 + E_Q[r^a + r^(1-a) - r - 1; L > 0]) / (a - 1), r = 1 + q (e^L - 1), from above.

    The bracket is (r^(a-1) - 1) r (1 - r^-a) and convex in e^L. So each cell of losses counts for no less if its mass
    is moved to its two ends, P- and Q-mass kept. Beyond the last cell it is at most r^a, and r <= c e^L there.
    """
    from scipy.special import log_ndtr

    a = order
    centre = max(a * mu, mu / 2)  # Q e^(a L) lies around this point
    points = np.concatenate(
        [np.linspace(mu / 2, centre + _REACH, _CELLS), centre + np.linspace(-_REACH, _REACH, _CELLS)]
    )
    points = np.unique(np.maximum(points, mu / 2))
    points = points[np.append(np.diff(points) > 1e-9 * (1.0 + points[1:]), True)]
    losses = mu * points - mu * mu / 2
    losses[0] = 0.0
    log_p, log_to_end = _log_masses_moved(mu, points, losses)
    with np.errstate(divide="ignore", under="ignore"):
        log_r = np.where(
            losses > 30.0,
            losses + math.log(rate) + np.log1p((1.0 - rate) / rate * np.exp(-np.maximum(losses, 30.0))),
            np.log1p(rate * np.expm1(np.minimum(losses, 30.0))),
        )
        grown = (a - 1.0) * log_r
        log_growth = np.where(grown > 30.0, grown, np.log(np.expm1(np.minimum(grown, 30.0))))
        per_mass = log_growth + log_r + np.log(-np.expm1(-a * log_r)) - losses
        log_at_start = log_p + np.log(-np.expm1(np.minimum(log_to_end - log_p, 0.0)))
    inside = np.logaddexp(
        np.logaddexp.reduce(log_to_end + per_mass[1:]), np.logaddexp.reduce(log_at_start + per_mass[:-1])
    )
    end = float(losses[-1])
    factor = min(0.0, math.log(rate) + math.log1p((1.0 - rate) / rate * math.exp(-min(end, 700.0))))
    beyond = a * factor + a * (a - 1.0) * mu * mu / 2 + float(log_ndtr(a * mu - float(points[-1])))
    log_total = float(np.logaddexp(inside, beyond))
    # Exponents up to a times the largest loss were added and subtracted.
    log_total += 1e-12 + 1e-15 * (abs(log_total) + 4.0 * a * (end + abs(math.log(rate))))
    value = float(np.logaddexp(0.0, log_total)) if log_total > -30.0 else math.exp(log_total)
    return value / (a - 1.0) * (1 + 1e-12) + 1e-300


def _log_masses_moved(mu: float, points: Floats, losses: Floats) -> tuple[Floats, Floats]:
    """Of each cell the log of its P-mass and of what goes to its end: (P - Q e^start) / (1 - e^-width), rounded up.

    In logs, since the cells lie where P itself underflows.
    """
    from scipy.special import log_ndtr

    logs, doubts = [], np.zeros(points.size - 1)
    for centre in (mu, 0.0):
        tails = log_ndtr(centre - points)
        with np.errstate(under="ignore"):
            shares = -np.expm1(tails[1:] - tails[:-1])
        logs.append(tails[:-1] + np.log(shares))
        doubts += 1e-15 * (1.0 + np.abs(tails[1:])) / shares
    log_p, log_q = logs
    widths, start = np.diff(losses), losses[:-1]
    doubts += 1e-15 * (1.0 + start)
    with np.errstate(under="ignore"):
        ratio = np.exp(np.minimum(log_q + start - log_p, 0.0))
        share = np.minimum((1.0 - ratio * (1.0 - doubts)) / -np.expm1(-widths), 1.0)
    log_p = log_p + np.minimum(doubts, 1e-3)
    return log_p, log_p + np.log(np.maximum(share, 1e-300))
