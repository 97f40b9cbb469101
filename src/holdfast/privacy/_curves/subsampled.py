"""Poisson subsampling under add_remove or zero_out, with a curve for each direction.

`subsample` takes any curve with a dominating pair; `SubsampledGaussianCurve` is one step of DP-SGD.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from holdfast._arguments import checked
from holdfast._stored_fields import require_fields
from holdfast.errors import ParameterError, require
from holdfast.privacy._curves.curve import PrivacyCurve, PureDP
from holdfast.privacy._curves.finite_curve import FinitePair
from holdfast.privacy._curves.fixed_size import FixedSizeGaussianCurve
from holdfast.privacy._curves.gaussian import GaussianDP
from holdfast.privacy._curves.group_replace import GroupReplace
from holdfast.privacy._curves.slack import WithSlack
from holdfast.privacy._curves.stored import curve_from_json
from holdfast.privacy._losses.atomic_pair import AtomicPair
from holdfast.privacy._losses.dominating_pair import DominatingPair
from holdfast.privacy._rounding import Number, as_written, round_up
from holdfast.privacy._stored_numbers import number_of_stored, stored_number
from holdfast.privacy._tradeoff import Points

_LARGEST_FRACTIONAL_ORDER = 64.0
_LARGEST_EXPONENT = 700.0
"""Beyond it e^epsilon is no double."""


@dataclass(frozen=True, repr=False)
class SubsampledCurve(PrivacyCurve):
    """Each unit takes part with probability `rate`, afresh and in secret; then the base mechanism runs.

    >>> from holdfast.privacy._curves.laplace import LaplaceCurve
    >>> round(SubsampledCurve(LaplaceCurve(1.0), 0.01).epsilon(0.0), 6)
    0.017037
    """

    curve: PrivacyCurve
    rate: Number

    def __post_init__(self) -> None:
        require(0 < self.rate <= 1, "rate", self.rate, "in (0, 1]")
        if self.curve.has_slack:
            raise ParameterError("curve must have no slack: it is outermost; subsample(...) lifts it")
        if isinstance(self.curve, GroupReplace | FixedSizeGaussianCurve):
            raise ParameterError(
                "curve must be for adding or removing a unit: subsample first, then to_replace"
            )
        if self.curve.pair() is None:
            raise ParameterError(f"subsampling needs a curve with a dominating pair, got {self.curve!r}")

    @property
    def _rate(self) -> float:
        return min(1.0, round_up(self.rate))

    def delta(self, epsilon: float) -> float:
        """The larger of both directions."""
        return float(self.deltas(np.array([epsilon]))[0])

    def deltas(self, epsilons: Points) -> NDArray[np.float64]:
        """The larger of both directions at each point."""
        return np.maximum(*self.both_deltas(epsilons))

    def both_deltas(self, epsilons: Points) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Removed: q delta(l) with e^l = 1 + (e^eps - 1)/q. Added: q e^(eps + l) delta(-l), e^l = 1 - (1 - e^-eps)/q.

        Each with the base's delta in its own direction.
        """
        rate = self._rate
        moderate_epsilons = np.minimum(epsilons, 600.0)
        with np.errstate(over="ignore"):
            base = np.where(
                epsilons > 600.0, epsilons - math.log(rate), np.log1p(np.expm1(moderate_epsilons) / rate)
            )
        removed = rate * self.curve.both_deltas(np.asarray(base))[0]
        inside = 1.0 + np.expm1(-epsilons) / rate
        opposite = np.log(np.where(inside > 0, inside, 1.0))
        with np.errstate(under="ignore", over="ignore"):
            opposite_delta = self.curve.both_deltas(np.asarray(-opposite))[1]
            grown = rate * np.exp(np.minimum(moderate_epsilons + opposite, 0.0)) * opposite_delta
        added = np.where(inside > 0, grown, 0.0)
        rounding = 1 + 1e-13
        # The larger of both bounds the curve, and the removed direction is positive wherever the base is.
        return self._positive(np.minimum(removed * rounding, 1.0), epsilons), np.minimum(
            added * rounding, 1.0
        )

    def as_pure(self) -> Fraction | None:
        """log(1 + q (e^eps - 1)), rounded up."""
        pure = self.curve.as_pure()
        return None if pure is None else amplified_pure(pure, self.rate)

    def epsilon(self, delta: float) -> float:
        """At most the pure parameter, where there is one."""
        pure = self.as_pure()
        if pure is None:
            return super().epsilon(delta)
        return round_up(pure) if delta == 0.0 else min(round_up(pure), super().epsilon(delta))

    def as_zcdp(self) -> Fraction | None:
        """Only through a pure parameter: no finite rho is claimed for subsampled Gaussians."""
        pure = self.as_pure()
        return None if pure is None else pure**2 / 2

    def as_gdp(self) -> Fraction | None:
        """Only through a pure parameter."""
        pure = self.as_pure()
        return None if pure is None else PureDP(pure).as_gdp()

    def renyi(self, order: float) -> float:
        """Only through a pure parameter."""
        pure = self.as_pure()
        return math.inf if pure is None else PureDP(pure).renyi(order)

    @property
    def pair_is_tight(self) -> bool:  # type: ignore[override]
        """Whether that of the base is."""
        return self.curve.pair_is_tight

    def pair(self) -> DominatingPair:
        """(1 - q) Q + q P against Q."""
        base = self.curve.pair()
        assert base is not None
        return base if self._rate == 1.0 else base.subsample(self._rate)

    def group(self, size: int) -> PrivacyCurve:
        """Where the base has finitely many outcomes, the sample has as well; else through a pure parameter."""
        pair, pure = self.pair(), self.as_pure()
        if isinstance(pair, AtomicPair):
            return FinitePair.of(pair).group(size)
        return super().group(size) if pure is None else PureDP(pure).group(size)

    def to_json(self) -> dict[str, Any]:
        """The fields as plain data, for JSON."""
        return {"kind": self.kind, "curve": self.curve.to_json(), "rate": stored_number(self.rate)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> SubsampledCurve:
        """The curve whose `to_json` wrote this data."""
        stored = require_fields(cls.__name__, data, ("curve", "rate"))
        return cls(curve_from_json(stored["curve"]), number_of_stored(stored["rate"]))

    def __repr__(self) -> str:
        return f"SubsampledCurve({self.curve!r}, rate={float(self.rate):g})"


@checked
def subsample(curve: PrivacyCurve, rate: Number) -> PrivacyCurve:
    """The curve of a release on a Poisson sample: each unit takes part with probability `rate`, afresh and in secret.

    Base and result are for add_remove or zero_out. Slack stays outermost: a total variation as it is, an event
    times the rate (soundness, section 21).

    Parameters
    ----------
    curve : PrivacyCurve
        What the release proves of a unit that takes part.
    rate : int, float or Fraction
        The probability with which each unit takes part, in [0, 1]; it is public, the sample is not.

    Returns
    -------
    PrivacyCurve
        What is proved of every unit.

    Examples
    --------
    >>> from holdfast.privacy._curves.laplace import LaplaceCurve
    >>> subsample(LaplaceCurve(1.0), 0.1).epsilon(1e-6) < 0.16
    True
    """
    if isinstance(curve, WithSlack):
        return curve.around_sampled_curve(subsample(curve.curve, rate), rate)
    return SubsampledCurve(curve, rate)


def amplified_pure(epsilon: Number, rate: Number) -> Fraction:
    """log(1 + rate (e^epsilon - 1)), rounded up and never above epsilon."""
    pure_epsilon, q = round_up(as_written(epsilon)), round_up(as_written(rate))
    if q >= 1 or pure_epsilon == 0.0:
        return as_written(epsilon)
    if pure_epsilon <= _LARGEST_EXPONENT:
        # Three operations of at most an ulp each; the logarithm makes no relative error larger.
        value = math.log1p(q * math.expm1(pure_epsilon)) * (1 + 1e-15)
    else:
        # Terms that may cancel: the error is one of their size, not of their sum's. What is left out is below e^-700.
        above = pure_epsilon + math.log(q)
        value = above + math.log1p(math.exp(-above)) + 1e-15 * (pure_epsilon - math.log(q))
    return min(as_written(epsilon), Fraction(math.nextafter(value, math.inf)))


@dataclass(frozen=True, init=False, repr=False)
class SubsampledGaussianCurve(SubsampledCurve):
    """Noise of `noise_multiplier` times the norm bound, on a sample of this rate.

    >>> curve = SubsampledGaussianCurve(0.8, 0.01)
    >>> round(curve.repeat(3000).epsilon(1e-5), 3)
    5.242
    """

    LARGEST: ClassVar[float] = 1e300  # more noise is no harm

    noise_multiplier: Number

    def __init__(self, noise_multiplier: Number, rate: Number) -> None:
        require(
            1e-9 <= noise_multiplier < math.inf, "noise_multiplier", noise_multiplier, ">= 1e-9 and finite"
        )
        object.__setattr__(self, "noise_multiplier", noise_multiplier)
        object.__setattr__(self, "curve", GaussianDP(1 / as_written(noise_multiplier)))
        object.__setattr__(self, "rate", rate)
        self.__post_init__()

    def renyi(self, order: float) -> float:
        """Mironov, Talwar and Zhang 2019: the removed direction is the worse one, at every order.

        Whole orders by the binomial sum. Others by the better of two upper bounds: their series in
        section 3.3, and the chord between whole orders (log-moments are convex in the order).
        """
        require(order > 1, "order", order, "> 1")
        if math.isinf(order):
            return math.inf
        low, high = math.floor(order), math.ceil(order)
        if low == high:
            return self._log_moment(low) / (order - 1) * (1 + 1e-12)
        share = order - low
        chord = (1 - share) * self._log_moment(low) + share * self._log_moment(high)
        if order > _LARGEST_FRACTIONAL_ORDER:  # the chord is as good
            return chord / (order - 1) * (1 + 1e-12)
        return min(chord, self._fractional(order)) / (order - 1) * (1 + 1e-12)

    def _log_moment(self, order: int) -> float:
        """Log E_Q (P/Q)^a for a whole order: 1 and, for k >= 2, binomial terms times e^((k^2-k)/2s^2) - 1."""
        from scipy.special import gammaln

        if order <= 1:
            return 0.0
        rate, mu2 = self._rate, round_up(as_written(self.noise_multiplier) ** -2)
        k = np.arange(2, order + 1, dtype=np.float64)
        exponent = (k * k - k) * mu2 / 2
        log_unsampled = (order - k) * math.log1p(-rate) if rate < 1 else np.where(k == order, 0.0, -np.inf)
        logs = (
            gammaln(order + 1) - gammaln(k + 1) - gammaln(order - k + 1) + k * math.log(rate) + log_unsampled
        )
        # log(e^x - 1), without overflow and without cancellation.
        grown = np.where(exponent > 30, exponent, np.log(np.expm1(np.minimum(exponent, 30.0))))
        terms = logs + grown
        top = float(np.max(terms))
        total = top + math.log(float(np.sum(np.exp(terms - top)))) + 1e-12 * (1 + abs(top) * 1e-2)
        return float(np.logaddexp(0.0, total)) if total > -30 else math.log1p(math.exp(total))

    def _fractional(self, order: float) -> float:
        """Both halves of the split series, with the first terms left out counted twice as the remainder."""
        from scipy.special import gammaln, gammasgn, log_ndtr

        if self._rate == 1.0:
            return (order - 1) * order * round_up(self._mu_squared) / 2
        sigma, rate = float(self.noise_multiplier), self._rate
        middle = sigma**2 * (math.log1p(-rate) - math.log(rate)) + 0.5
        k = np.arange(0.0, 4000.0 + math.ceil(order))
        sign = gammasgn(order - k + 1)
        binomial = gammaln(order + 1) - gammaln(k + 1) - gammaln(order - k + 1)
        j = order - k
        left = binomial + k * math.log(rate) + j * math.log1p(-rate)
        left = left + (k * k - k) / (2 * sigma**2) + log_ndtr((middle - k) / sigma)
        right = binomial + j * math.log(rate) + k * math.log1p(-rate)
        right = right + (j * j - j) / (2 * sigma**2) + log_ndtr((j - middle) / sigma)
        top = float(max(np.max(left), np.max(right)))
        with np.errstate(under="ignore"):
            parts = np.exp(left - top), np.exp(right - top)
        # Beyond the order the terms alternate and shrink, so what is left out is below the last one kept;
        # rounding: a unit in the last place of each exponent (up to about 1e5), for each term.
        size = float(parts[0].sum() + parts[1].sum())
        doubt = 2 * float(parts[0][-1] + parts[1][-1]) + 1e-15 * size * (10 + abs(top) + 1e-2 * k.size)
        value = float(np.sum(sign * parts[0]) + np.sum(sign * parts[1])) + doubt
        return top + math.log(value) if value > 0 else math.inf

    @property
    def _mu_squared(self) -> Fraction:
        """1 / noise_multiplier^2: the square of the parameter without sampling."""
        return as_written(self.noise_multiplier) ** -2

    def to_json(self) -> dict[str, Any]:
        """The fields as plain data, for JSON."""
        return {
            "kind": self.kind,
            "noise_multiplier": stored_number(self.noise_multiplier),
            "rate": stored_number(self.rate),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> SubsampledGaussianCurve:
        """The curve whose `to_json` wrote this data."""
        stored = require_fields(cls.__name__, data, ("noise_multiplier", "rate"))
        return cls(number_of_stored(stored["noise_multiplier"]), number_of_stored(stored["rate"]))

    def __repr__(self) -> str:
        noise, rate = float(self.noise_multiplier), float(self.rate)
        return f"SubsampledGaussianCurve(noise_multiplier={noise:g}, rate={rate:g})"
