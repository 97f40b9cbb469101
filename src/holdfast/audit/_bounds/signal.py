"""Signal: the law of a canary's score, the model behind every statement of power.

The score of a canary is its own effect, here 1, plus the noise of the mechanism as it is declared, plus what other
records add to the score even without noise (`interference`). The power at kappa is the probability of a contradiction
when the noise is kappa times too small and nothing else changes (soundness, section 22). Gaussian noise is the model
where the claim allows it, Laplace noise for a pure claim, each just large enough for the claim.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdfast._arrays import Floats
from holdfast.privacy._curves.curve import PrivacyCurve
from holdfast.privacy._curves.gaussian import GaussianDP

POWER_SEED = 1
"""The public seed of every simulation of power."""
SIMULATIONS, MOST_COINS = 200, 2_000_000
"""Audits that a simulation of power repeats; fewer where they would flip more coins than this in all."""


@dataclass(frozen=True, kw_only=True)
class Signal:
    """The noise around an effect of 1: a normal and a Laplace part of the mechanism, and interference.

    >>> Signal(normal=0.5).tails(0.5)
    array(0.15865525)
    """

    normal: float = 0.0
    laplace: float = 0.0
    interference: float = 0.0

    @classmethod
    def of_claim(cls, claim: PrivacyCurve, *, delta: float, interference: float = 0.0) -> Signal | None:
        """The signal under the least noise that keeps the claim; None where an empty claim needs no noise."""
        pure = claim.as_pure()
        if pure is not None:
            return cls(laplace=1.0 / max(float(pure), 1e-9), interference=interference)
        mu = gaussian_parameter(claim, delta=delta)
        return None if math.isinf(mu) else cls(normal=1.0 / mu, interference=interference)

    def with_less_noise(self, kappa: float) -> Signal:
        """The signal with the noise divided by kappa; an infinite kappa removes it."""
        return replace(self, normal=self.normal / kappa, laplace=self.laplace / kappa)

    @property
    def spread(self) -> float:
        """The normal part and the interference together, as a standard deviation."""
        return math.hypot(self.normal, self.interference)

    def tails(self, threshold: ArrayLike) -> Floats:
        """P[noise > threshold], for a normal or a Laplace law alone."""
        from scipy.special import ndtr

        at = np.asarray(threshold, float)
        if self.laplace:
            far = 0.5 * np.exp(-np.abs(at) / self.laplace)
            return np.asarray(np.where(at > 0, far, 1.0 - far))
        return np.asarray(ndtr(-at / self.spread) if self.spread else np.where(at >= 0, 0.0, 1.0))

    def scores(self, coins: NDArray[np.bool_], random: np.random.Generator) -> Floats:
        """Random scores of canaries with these coins; the same draws are used whatever the size of the noise."""
        normal, laplace = random.standard_normal(coins.shape), random.laplace(size=coins.shape)
        return np.asarray(coins + self.spread * normal + self.laplace * laplace, dtype=np.float64)


def gaussian_parameter(claim: PrivacyCurve, *, delta: float) -> float:
    """The largest mu whose Gaussian mechanism keeps the claim; infinite where every mu does.

    >>> gaussian_parameter(GaussianDP(0.5), delta=1e-5)
    0.5
    """
    from scipy.optimize import brentq
    from scipy.special import ndtri

    if isinstance(claim, GaussianDP):
        return float(claim.mu)
    epsilon = claim.epsilon(delta)
    if delta == 0.0 or math.isinf(epsilon):
        return math.inf
    if epsilon == 0.0:  # 2 Phi(mu / 2) - 1 = delta
        return 2.0 * float(ndtri(0.5 + 0.5 * delta))

    def excess(mu: float) -> float:
        return GaussianDP(mu).epsilon(delta) - epsilon

    low, high = 1e-6, 100.0
    while excess(low) > 0.0:
        low /= 10.0
    while excess(high) < 0.0:
        high *= 10.0
    return float(brentq(excess, low, high, xtol=1e-9 * min(1.0, 1e6 * low)))


def simulated_guesses(canaries: int, guesses: int, signal: Signal) -> NDArray[np.bool_]:
    """Whether each guess is right in simulated audits with independent scores: (audits, guesses), surest first."""
    random = np.random.default_rng(POWER_SEED)
    audits = max(20, min(SIMULATIONS, MOST_COINS // canaries))
    coins = random.random((audits, canaries)) < 0.5
    ranked = np.argsort(-signal.scores(coins, random), axis=1, kind="stable")
    include, exclude = guesses - guesses // 2, guesses // 2
    turn = np.concatenate([2 * np.arange(include), 2 * np.arange(exclude) + 1])
    order = np.concatenate([ranked[:, :include], ranked[:, ::-1][:, :exclude]], axis=1)[:, np.argsort(turn)]
    return np.asarray(np.take_along_axis(coins, order, axis=1) == (np.sort(turn) % 2 == 0))
