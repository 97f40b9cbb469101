"""The curve of Gaussian objective perturbation: a pointwise bound on the loss, integrated exactly.

The naive argument, "a Gaussian mechanism on the gradient", fails: the gradient at the released point depends
on the noise. Soundness, section 4, bounds the privacy loss for each noise vector instead. No Gaussian-DP or
zCDP statement follows from it; alone it has delta(epsilon), and in a ledger its Renyi divergences.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from holdfast._arrays import Floats
from holdfast.errors import require
from holdfast.privacy._curves.curve import LEAST_DELTA, PrivacyCurve
from holdfast.privacy._curves.gaussian import GaussianDP
from holdfast.privacy._rounding import Number, as_written, round_up
from holdfast.privacy._tradeoff import Points

_CELL_ENDS = np.arange(-6.0, 12.0 + 1e-9, 0.04)
"""Upper ends of the cells into which the output noise's loss is divided; beyond the last one the loss counts as
infinite."""
FARTHEST_START = 1e6
"""The probability of more noise than this many standard deviations is below every positive double."""


@dataclass(frozen=True, kw_only=True, repr=False)
class ObjectiveCurve(PrivacyCurve):
    """Privacy loss at most c + mu^2/2 + mu X, then one Gaussian release of `output_mu`.

    mu is the change of one record's gradient over the noise's standard deviation: L/sigma if a record comes
    or goes, 2L/sigma if it is replaced. X is chi-distributed with `freedom` degrees: 1 if a record comes or goes
    (its gradient stays on a line), 2 if it is replaced (the two features span a plane). `log_ratio` is c =
    ln(1 + beta/penalty), the largest ratio of determinants. Linear predictions only: a record's Hessian has
    rank one.

    >>> curve = ObjectiveCurve(mu=0.5, log_ratio=math.log(1.5), freedom=1)
    >>> f"{curve.delta(1.0):.4g} {curve.delta(2.0):.4g}"
    '0.07563 0.0004166'
    """

    mu: Number
    log_ratio: float
    freedom: int
    output_mu: Number = 0.0

    def __post_init__(self) -> None:
        require(0 < self.mu < math.inf, "mu", self.mu, "> 0 and finite")
        require(0 <= self.log_ratio < math.inf, "log_ratio", self.log_ratio, ">= 0 and finite")
        require(self.freedom in (1, 2), "freedom", self.freedom, "1 (a record comes or goes) or 2 (replaced)")
        require(0 <= self.output_mu < math.inf, "output_mu", self.output_mu, ">= 0 and finite")

    @property
    def _mu(self) -> float:
        """mu, at least 1e-100, since the reciprocal of a smaller one would overflow."""
        return max(round_up(self.mu), 1e-100)

    def delta(self, epsilon: float) -> float:
        """E[(1 - e^(epsilon - loss))_+], over both noises."""
        return float(self.deltas(np.array([epsilon]))[0])

    def deltas(self, epsilons: Points) -> Floats:
        """The inner noise in closed form; the output noise in cells, each counted at its worse end."""
        from scipy.special import ndtr

        output_mu = round_up(self.output_mu)
        if output_mu == 0.0:
            return self._positive(self._inner(epsilons), epsilons)
        # Dominating pairs compose (Zhu, Dong and Wang 2022, theorem 10): the second loss is mu'^2/2 + mu' Z.
        below = ndtr(_CELL_ENDS)
        masses = np.diff(below, prepend=0.0)
        shifted = epsilons[:, None] - output_mu**2 / 2 - output_mu * _CELL_ENDS[None, :]
        delta = self._inner(shifted.ravel()).reshape(shifted.shape) @ masses
        return self._positive(np.minimum(1.0, delta * (1 + 1e-12) + ndtr(-_CELL_ENDS[-1])), epsilons)

    def _inner(self, epsilons: Points) -> Floats:
        """The objective's own delta, at any real epsilon; rounded up."""
        mu, c = self._mu, self.log_ratio
        # The loss passes epsilon where X passes this; never negative.
        start = np.maximum(0.0, (epsilons - c - mu**2 / 2) / mu)
        exact = self._half_normal(epsilons, start) if self.freedom == 1 else self._rayleigh(epsilons, start)
        return np.asarray(np.clip(exact, LEAST_DELTA, 1.0))

    def _half_normal(self, epsilons: Points, start: Floats) -> Floats:
        """X = |Z|: 2 Phi(-x) - 2 e^(eps - c) Phi(-x - mu); where x > 0, twice the Gaussian curve at eps - c."""
        from scipy.special import log_ndtr

        mu, c = self._mu, self.log_ratio
        with np.errstate(under="ignore"):
            near = -np.expm1(np.minimum(0.0, math.log(2.0) + epsilons - c + float(log_ndtr(-mu)))) + 1e-14
            far = 2.0 * GaussianDP(self.mu).deltas(np.maximum(epsilons - c, 0.0))
        return np.where(start > 0, far, near)

    def _rayleigh(self, epsilons: Points, start: Floats) -> Floats:
        """P[X > x] - e^(eps-c-mu^2/2) E[e^(-mu X); X > x], for the density x e^(-x^2/2), by parts."""
        from scipy.special import erfcx, log_ndtr

        mu, c = self._mu, self.log_ratio
        root = math.sqrt(2.0 * math.pi)
        # Delta falls with epsilon. So far out it is below every double, and squares of what is farther overflow.
        start = np.minimum(start, FARTHEST_START)
        epsilons = np.minimum(epsilons, c + mu**2 / 2 + mu * FARTHEST_START)
        # E e^(-mu X) = 1 - mu sqrt(2 pi) e^(mu^2/2) Phi(-mu).
        whole = max(0.0, 1.0 - mu * root * 0.5 * float(erfcx(mu / math.sqrt(2.0))) - 1e-15)
        with np.errstate(under="ignore"):
            near = 1.0 - np.exp(np.minimum(epsilons - c - mu**2 / 2, 0.0)) * whole + 1e-14
            # Where x > 0 the two boundary terms cancel: mu sqrt(2 pi) e^(eps - c) Phi(-x - mu) is left.
            logs = math.log(mu * root) + epsilons - c + log_ndtr(-start - mu)
            far = np.exp(np.minimum(logs + 1e-13 * (1.0 + np.abs(epsilons) + (start + mu) ** 2), 0.0))
        return np.where(start > 0, far, near)

    def renyi(self, order: float) -> float:
        """c + mu^2/2 + ln E e^(t X) / (order - 1), t = (order - 1) mu, and the output noise's."""
        from scipy.special import log_ndtr

        require(order > 1, "order", order, "> 1")
        if math.isinf(order):
            return math.inf
        mu, output_mu = round_up(self.mu), round_up(self.output_mu)
        t = (order - 1) * mu
        # E e^(t|Z|) = 2 e^(t^2/2) Phi(t); E e^(t R) = 1 + t sqrt(2 pi) e^(t^2/2) Phi(t).
        moment = t**2 / 2 + float(log_ndtr(t))
        if self.freedom == 1:
            moment += math.log(2.0)
        else:
            moment = float(np.logaddexp(0.0, math.log(t * math.sqrt(2.0 * math.pi)) + moment))
        own = self.log_ratio + mu**2 / 2 + moment / (order - 1)
        return (own + order * output_mu**2 / 2) * (1 + 1e-12)

    def __repr__(self) -> str:
        mu, output_mu = float(self.mu), float(as_written(self.output_mu))
        constants = f"log_ratio={self.log_ratio:g}, freedom={self.freedom}"
        return f"ObjectiveCurve(mu={mu:g}, {constants}, output_mu={output_mu:g})"
