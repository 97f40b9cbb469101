"""One canary, many trainings: bounds from the two error rates of a membership test.

Each training is independent, with the canary or without it, and a test fixed in advance says which.
(epsilon, delta)-DP allows no test with miss < 1 - delta - e^eps false_alarm, nor the mirror image
(Jagielski, Ullman and Oprea 2020); upper confidence limits on both rates therefore refute it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdfast._arguments import checked
from holdfast._arrays import Floats
from holdfast.audit._bounds.fdp import gaussian_epsilon
from holdfast.audit._bounds.one_run import error_of
from holdfast.audit._bounds.signal import Signal
from holdfast.errors import require
from holdfast.privacy._quadrature import legendre
from holdfast.privacy._tradeoff import TradeOff, clopper_pearson_upper

_PANELS = 12
"""Panels of the quadrature of the Bayesian bound; 32 nodes in each."""


@checked
@dataclass(frozen=True, kw_only=True)
class ErrorRates:
    """The errors of one test: false alarms among trainings without the canary, misses among those with it.

    Parameters
    ----------
    false_alarms : int
        Trainings without the canary that the test took for trainings with it.
    without : int
        How many trainings were without it.
    misses : int
        Trainings with the canary that the test took for trainings without it.
    with_canary : int
        How many trainings were with it.
    tried : int
        How many thresholds (or tests) the count was picked from; the error is shared among them.

    Examples
    --------
    >>> errors = ErrorRates(false_alarms=5, without=100, misses=50, with_canary=100)
    >>> [round(limit, 3) for limit in errors.limits(0.95)]
    [0.113, 0.602]
    """

    false_alarms: int
    without: int
    misses: int
    with_canary: int
    tried: int = 1

    def __post_init__(self) -> None:
        require(self.without >= 1, "without", self.without, ">= 1")
        require(self.with_canary >= 1, "with_canary", self.with_canary, ">= 1")
        require(0 <= self.false_alarms <= self.without, "false_alarms", self.false_alarms, "in [0, without]")
        require(0 <= self.misses <= self.with_canary, "misses", self.misses, "in [0, with_canary]")
        require(self.tried >= 1, "tried", self.tried, ">= 1")

    def limits(self, confidence: float) -> tuple[float, float]:
        """Upper limits on both rates that hold together with this `confidence`, for every threshold tried.

        They are those of Clopper and Pearson.
        """
        return self.limits_at(error_of(confidence))

    def limits_at(self, error: float) -> tuple[float, float]:
        """The same limits at an error instead of a confidence."""
        share = error / (2 * self.tried)
        return (
            clopper_pearson_upper(self.false_alarms, self.without, error=share),
            clopper_pearson_upper(self.misses, self.with_canary, error=share),
        )


def epsilon_lower(errors: ErrorRates, *, delta: float = 0.0, confidence: float = 0.95) -> float:
    """The epsilon at this delta that the two limits refute, in either direction; 0 if none.

    >>> perfect = ErrorRates(false_alarms=0, without=1000, misses=0, with_canary=1000)
    >>> round(epsilon_lower(perfect), 2)
    5.6
    """
    require(0 <= delta < 1, "delta", delta, "in [0, 1)")
    false_alarm, miss = errors.limits(confidence)
    return float(_epsilon_at(np.float64(false_alarm), np.float64(miss), delta))


def two_sided_epsilon_lower(errors: ErrorRates, *, delta: float = 0.0, confidence: float = 0.95) -> float:
    """The epsilon refuted by a test whose direction was not fixed in advance (soundness, section 22).

    It is the larger epsilon of the test and of its mirror image, each at half of the error.

    >>> runs = ErrorRates(false_alarms=50, without=1000, misses=500, with_canary=1000)
    >>> round(two_sided_epsilon_lower(runs, delta=1e-5), 4)
    1.925
    """
    exchanged = replace(
        errors, false_alarms=errors.without - errors.false_alarms, misses=errors.with_canary - errors.misses
    )
    half = 1.0 - error_of(confidence) / 2.0
    return max(epsilon_lower(rates, delta=delta, confidence=half) for rates in (errors, exchanged))


def mu_lower(errors: ErrorRates, *, confidence: float = 0.95) -> float:
    """The largest mu such that mu-GDP is refuted by the two limits (Nasr et al. 2023); 0 if none.

    mu-GDP says Phi^-1(1 - false_alarm) - Phi^-1(miss) <= mu for every test.

    >>> perfect = ErrorRates(false_alarms=0, without=1000, misses=0, with_canary=1000)
    >>> round(mu_lower(perfect), 3)
    5.36
    """
    from scipy.special import ndtri

    false_alarm, miss = errors.limits(confidence)
    mu = -float(ndtri(false_alarm)) - float(ndtri(miss))
    return max(0.0, mu * (1.0 - 1e-10)) if math.isfinite(mu) else 0.0


def gaussian_epsilon_lower(errors: ErrorRates, *, delta: float, confidence: float = 0.95) -> float:
    """The epsilon at this delta of the largest refuted Gaussian curve: a statement within the Gaussian family."""
    return gaussian_epsilon(mu_lower(errors, confidence=confidence), delta=delta)


def bayesian_epsilon_lower(errors: ErrorRates, *, delta: float = 0.0, credibility: float = 0.95) -> float:
    """A credible, not a confidence, bound: the lower quantile of epsilon under Jeffreys priors on both rates.

    After Zanella-Beguelin et al. 2023: the rates have independent beta posteriors, and P[epsilon <= e] is
    their mass in the region that (e, delta)-DP allows; computed by quadrature. Its long-run error may exceed
    1 - credibility (near 0.2 where both directions bind), so it never refutes a claim.

    >>> perfect = ErrorRates(false_alarms=0, without=1000, misses=0, with_canary=1000)
    >>> round(bayesian_epsilon_lower(perfect), 2)  # above what Clopper-Pearson can ever report, 5.6
    7.21
    """
    from scipy.optimize import brentq

    target = error_of(credibility)

    def excess(epsilon: float) -> float:
        return bayesian_mass(errors, epsilon=epsilon, delta=delta) - target

    if excess(0.0) >= 0.0:
        return 0.0
    high = 1.0
    while excess(high) < 0.0 and high < 512.0:
        high *= 2.0
    return float(brentq(excess, 0.0, high, xtol=1e-9))


def bayesian_mass(errors: ErrorRates, *, epsilon: float, delta: float = 0.0) -> float:
    """The posterior probability that (epsilon, delta) holds, times the number of thresholds that were tried."""
    from scipy.special import betaincc, betaincinv

    require(0 <= delta < 1, "delta", delta, "in [0, 1)")
    c, d = errors.misses + 0.5, errors.with_canary - errors.misses + 0.5
    # The false-alarm rate at the nodes of a quadrature over its posterior quantiles.
    nodes, weights = legendre(32)
    uniform = (np.arange(_PANELS)[:, None] + (nodes + 1.0) / 2.0).ravel() / _PANELS
    rates = betaincinv(errors.false_alarms + 0.5, errors.without - errors.false_alarms + 0.5, uniform)
    weight = np.tile(weights / (2.0 * _PANELS), _PANELS)
    # Miss rates that contradict neither direction of (epsilon, delta).
    lines = np.maximum(1.0 - delta - math.exp(epsilon) * rates, (1.0 - delta - rates) * math.exp(-epsilon))
    return errors.tried * float(weight @ betaincc(c, d, np.clip(lines, 0.0, 1.0)))


# Against a whole curve, and how probably.
def is_contradicted(proved: TradeOff, false_alarm: float, miss: float) -> bool:
    """Whether a test with at most these two error rates beats what is proved.

    One point is enough: a proved curve is convex, so a polygon of coin tosses through the point and the two corners
    dips below it at the point or nowhere.

    >>> coin = TradeOff([0, 1], [1, 0], claim="proved")
    >>> is_contradicted(coin, 0.2, 0.7), is_contradicted(coin, 0.3, 0.7)
    (True, False)
    """
    return proved.miss_at(false_alarm) > miss + 1e-12


def polygon(errors: ErrorRates, *, confidence: float) -> TradeOff:
    """Coin tosses between the two corners and the point of both limits: the best test is on or below it."""
    false_alarm, miss = errors.limits(confidence)
    if false_alarm + miss >= 1.0:
        return TradeOff([0.0, 1.0], [1.0, 0.0], claim="audited", confidence=confidence)
    return TradeOff([0.0, false_alarm, 1.0], [1.0, miss, 0.0], claim="audited", confidence=confidence)


def contradiction_power(proved: TradeOff, errors: ErrorRates, *, beta: float, signal: Signal) -> float:
    """P[contradiction] with so many trainings at error beta, by both binomial laws, at the best threshold.

    >>> from holdfast.privacy import GaussianDP
    >>> runs = ErrorRates(false_alarms=0, without=500, misses=0, with_canary=500)
    >>> round(contradiction_power(GaussianDP(1.0).trade_off(), runs, beta=0.05, signal=Signal(normal=1 / 1.5)), 2)
    1.0
    """
    from scipy.special import bdtr, betaincinv, gammaln, xlog1py, xlogy

    def limits(trials: int) -> Floats:
        counts = np.arange(trials)
        upper = betaincinv(counts + 1.0, trials - counts, 1.0 - beta / (2 * errors.tried))
        return np.append(upper, 1.0)

    alarms, misses = limits(errors.without), limits(errors.with_canary)
    allowed = np.array([proved.miss_at(float(rate)) for rate in alarms])
    # With so many false alarms, at most so many misses contradict; -1 where none does.
    most = np.searchsorted(misses, allowed - 1e-12, side="left") - 1
    counts = np.arange(errors.without + 1)
    ways = gammaln(errors.without + 1) - gammaln(counts + 1) - gammaln(errors.without - counts + 1)
    best = 0.0
    for threshold in np.linspace(-0.5, 1.5, 81):
        alarm, miss = float(signal.tails(threshold)), 1.0 - float(signal.tails(threshold - 1.0))
        chance = np.exp(ways + xlogy(counts, alarm) + xlog1py(errors.without - counts, -alarm))
        enough = np.where(most >= 0, bdtr(np.maximum(most, 0), errors.with_canary, miss), 0.0)
        best = max(best, float(chance @ enough))
    return min(1.0, best)


# From scores to error counts: three valid ways to choose the threshold.
def at_threshold(
    with_canary: ArrayLike, without: ArrayLike, *, threshold: float, tried: int = 1
) -> ErrorRates:
    """The errors of "score >= threshold means the canary was there", for a threshold fixed in advance.

    >>> at_threshold([0.9, 0.8, 0.2], [0.1, 0.7, 0.3], threshold=0.5)
    ErrorRates(false_alarms=1, without=3, misses=1, with_canary=3, tried=1)
    """
    inside, outside = _scores(with_canary, "with_canary"), _scores(without, "without")
    return ErrorRates(
        false_alarms=int(np.sum(outside >= threshold)),
        without=outside.size,
        misses=int(np.sum(inside < threshold)),
        with_canary=inside.size,
        tried=tried,
    )


def held_out_errors(
    with_canary: ArrayLike, without: ArrayLike, *, share: float = 0.25, delta: float = 0.0
) -> ErrorRates:
    """The errors on the other trainings, at a threshold chosen on the first `share` of those with and without.

    The trainings must be in an order that knows nothing of the scores, such as the order of training.
    """
    inside, outside = _scores(with_canary, "with_canary"), _scores(without, "without")
    require(0 < share < 1, "share", share, "in (0, 1)")
    cut_in, cut_out = math.ceil(share * inside.size), math.ceil(share * outside.size)
    require(
        cut_in < inside.size and cut_out < outside.size,
        "share",
        share,
        "small enough to leave scores to report on",
    )
    candidates = np.unique(np.concatenate([inside[:cut_in], outside[:cut_out]]))
    threshold = best_threshold(inside[:cut_in], outside[:cut_out], candidates=candidates, delta=delta)
    return at_threshold(inside[cut_in:], outside[cut_out:], threshold=threshold)


def best_threshold_errors(
    with_canary: ArrayLike, without: ArrayLike, *, thresholds: ArrayLike, delta: float = 0.0
) -> ErrorRates:
    """The errors at the best of some thresholds fixed in advance, among which the error is shared (Bonferroni)."""
    listed = _scores(thresholds, "thresholds")
    chosen = best_threshold(with_canary, without, candidates=listed, delta=delta)
    return at_threshold(with_canary, without, threshold=chosen, tried=listed.size)


def best_threshold(
    with_canary: ArrayLike, without: ArrayLike, *, candidates: ArrayLike, delta: float = 0.0
) -> float:
    """The candidate with the largest 95 % bound: a choice, for use on other trainings or with `tried` set."""
    inside, outside = np.sort(_scores(with_canary, "with_canary")), np.sort(_scores(without, "without"))
    thresholds = _scores(candidates, "candidates")
    alarms = outside.size - np.searchsorted(outside, thresholds, side="left")
    misses = np.searchsorted(inside, thresholds, side="left")
    alarm_limits, miss_limits = (
        np.array([clopper_pearson_upper(int(count), size, error=0.025) for count in counts])
        for counts, size in ((alarms, outside.size), (misses, inside.size))
    )
    bounds = _epsilon_at(alarm_limits, miss_limits, delta)
    # Among thresholds of equal bounds, such as 0, the one with the fewest errors is chosen.
    return float(thresholds[np.lexsort((alarms / outside.size + misses / inside.size, -bounds))[0]])


def _epsilon_at(false_alarm: ArrayLike, miss: ArrayLike, delta: float) -> NDArray[np.float64]:
    """The epsilon that error rates refute, the larger of both directions; elementwise."""
    x, y = np.asarray(false_alarm, float), np.asarray(miss, float)

    def direction(small: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
        gain = np.maximum(1.0 - delta - other, 1e-300)
        return np.log(gain) - np.log(small)

    return np.maximum(0.0, np.maximum(direction(x, y), direction(y, x)) * (1.0 - 1e-12))


def _scores(values: ArrayLike, name: str) -> NDArray[np.float64]:
    scores = np.asarray(values, float)
    require(scores.ndim == 1 and scores.size >= 1, name, scores.shape, "a list of one number or more")
    require(bool(np.all(np.isfinite(scores))), name, "...", "finite")
    return scores
