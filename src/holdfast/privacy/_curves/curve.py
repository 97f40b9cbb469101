"""PrivacyCurve: an upper bound on what one release reveals; PureDP and ApproxDP are the textbook cases.

A curve gives delta for every epsilon and epsilon for every delta, and its cost in each currency that has a filter
theorem (soundness, section 19). It does not hold an adjacency; accounts and guarantees do.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from holdfast._arguments import checked
from holdfast._stored_fields import require_fields
from holdfast.errors import ParameterError, require
from holdfast.privacy._curves.square_of_mu import square_of_mu
from holdfast.privacy._fixed_numbers import FixedNumbers
from holdfast.privacy._rounding import Number, as_written, round_up
from holdfast.privacy._safe_side import safe_side
from holdfast.privacy._stored_numbers import number_of_stored, stored_number
from holdfast.privacy._tradeoff import Points, TradeOff
from holdfast.privacy._wording import epsilon_text, point_text

if TYPE_CHECKING:
    from holdfast.privacy._curves.loss_distribution import LossDistribution
    from holdfast.privacy._losses.dominating_pair import DominatingPair


MOST_EXPONENT = 700.0
"""The largest exponent: e to a larger power overflows a double."""
LEAST_DELTA = math.ulp(0.0)
"""The least positive double; a delta that underflows is rounded up to it."""


@checked
class PrivacyCurve(metaclass=FixedNumbers):
    """An upper bound on privacy loss, for every delta an epsilon and the other way round; smaller is more private.

    A curve knows no adjacency: accounts and guarantees do. Each kind of bound is a subclass, which gives
    `delta` and whichever costs in other currencies are proved.
    """

    LARGEST: ClassVar[float] = 1e9
    """The largest parameter; far beyond it doubles overflow, possibly towards a claim of more privacy."""

    pair_is_tight: bool = True
    """Whether composing the curve's pair is at least as good as any other bound of the curve."""

    @property
    def without_slack(self) -> PrivacyCurve:
        """The curve to which slack was added; the curve itself if it has none."""
        return self

    @abstractmethod
    def delta(self, epsilon: float) -> float:
        """The least delta that is proved at this `epsilon`."""

    def epsilon(self, delta: float) -> float:
        """The least epsilon that is proved at this `delta`, rounded up; infinite if there is none."""
        require(0 <= delta <= 1, "delta", delta, "in [0, 1]")
        if delta == 0.0:
            return self.pure_epsilon
        if self.delta(0.0) <= delta:
            return 0.0
        high = 1.0
        while self.delta(high) > delta:
            high *= 2.0
            if high > 1e9:
                return math.inf
        return self._least_epsilon(delta, high)

    def _least_epsilon(self, delta: float, high: float) -> float:
        """By halving from 0 and an epsilon at which this delta is proved."""
        return safe_side(lambda epsilon: self.delta(epsilon) - delta, unsafe=0.0, safe=high)

    def deltas(self, epsilons: Points) -> NDArray[np.float64]:
        """`delta` at each of many `epsilons`."""
        return np.array([self.delta(float(epsilon)) for epsilon in epsilons])

    @property
    def pure_epsilon(self) -> float:
        """The least epsilon that is proved at delta 0: the pure parameter rounded up, infinite where there is none."""
        pure = self.as_pure()
        return math.inf if pure is None or self.has_slack else round_up(pure)

    def _positive(self, deltas: NDArray[np.float64], epsilons: NDArray[np.float64]) -> NDArray[np.float64]:
        """Deltas that underflow, raised to the least positive number, for a curve that loses nothing at infinity.

        Delta is 0 from the pure parameter on, and at infinity, and nowhere else.
        """
        raised = np.where(epsilons < self.pure_epsilon, np.maximum(deltas, LEAST_DELTA), deltas)
        return np.asarray(np.where(np.equal(epsilons, math.inf), 0.0, raised))

    # What it costs in each currency; None where no such bound is proved.

    def as_pure(self) -> Fraction | None:
        """The pure-DP parameter, if the curve has one."""
        return None

    def as_approximate(self) -> tuple[Fraction, Fraction] | None:
        """One (epsilon, delta) point to charge under basic composition, if the curve names one."""
        pure = self.as_pure()
        return None if pure is None else (pure, Fraction(0))

    def as_zcdp(self) -> Fraction | None:
        """The zCDP parameter, if the curve has one."""
        return None

    def as_gdp(self) -> Fraction | None:
        """The square of the Gaussian-DP parameter, if the curve has one."""
        return None

    def renyi(self, order: float) -> float:
        """A bound on the Renyi divergence of this `order`; infinite if none is proved."""
        rho = self.as_zcdp()
        return math.inf if rho is None else order * round_up(rho)

    def pair(self) -> DominatingPair | None:
        """The dominating pair, (unit present, unit absent), at every alpha >= 0; None if none is known."""
        return None

    def both_deltas(self, epsilons: Points) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """`deltas` at these `epsilons` when the unit is removed and when it is added.

        The same twice unless more is known.
        """
        return (self.deltas(epsilons),) * 2

    def loss_distribution(self, *, spacing: float, lower: bool = False) -> LossDistribution | None:
        """The pair on a grid of this `spacing`, rounded up or, for the `lower` twin, down."""
        from holdfast.privacy._curves.loss_distribution import LossDistribution

        pair = self.pair()
        return None if pair is None else LossDistribution.of(pair, spacing=spacing, lower=lower)

    # Closed forms of composition, where there is one.

    def merge(self, other: PrivacyCurve) -> PrivacyCurve | None:
        """This and the `other` as one curve of the same family, without loss; None if there is no such form."""
        return None

    def merge_copies(self, times: int) -> PrivacyCurve | None:
        """So many `times` the same as one curve of its family, without loss; None if there is no such form."""
        return None

    def without_delta(self) -> tuple[PrivacyCurve, Fraction]:
        """The curve and a delta to set aside, for one pair of tables: never before `group` or `to_replace`."""
        return self, Fraction(0)

    # As the limit of an account.

    @property
    def default_currency(self) -> str:
        """The currency of an account that is opened with this limit and names none."""
        return "zcdp"

    # Slack that adds up beside any currency (soundness, sections 0 and 19).

    @property
    def total_variation(self) -> Fraction:
        """How far the sampler may be from the analysed law."""
        return Fraction(0)

    @property
    def failure(self) -> Fraction:
        """The probability, charged to delta, of an event of the mechanism's own coins; no curve's delta."""
        return Fraction(0)

    @property
    def has_slack(self) -> bool:
        """Whether the promise needs more than the curve."""
        return self.total_variation + self.failure > 0

    # Algebra.

    def compose(self, other: PrivacyCurve) -> PrivacyCurve:
        """This release and an `other` one together, by the tightest sound rule for a fixed plan."""
        from holdfast.privacy._curves.composition import compose

        return compose([self, other])

    def repeat(self, times: int) -> PrivacyCurve:
        """The same release so many `times`, fixed in advance."""
        from holdfast.privacy._curves.composition import compose

        return compose([self], times=times)

    def group(self, size: int) -> PrivacyCurve:
        """The same promise for neighbours that are `size` steps apart."""
        raise ParameterError(f"no group-privacy rule for {type(self).__name__}; re-derive the sensitivity")

    def to_replace(self) -> PrivacyCurve:
        """The same promise for one unit exchanged for another: a step away and a step back."""
        from holdfast.privacy._curves.group_replace import GroupReplace

        return GroupReplace(self)

    def either_way(self) -> PrivacyCurve:
        """For neighbours without a direction, as under `replace`: each of several releases may point either way."""
        pair = self.pair()
        if pair is None or pair.is_symmetric:
            return self
        raise ParameterError(f"{self!r} is for adding or removing a unit; under replace use to_replace of it")

    def admits(self, curve: PrivacyCurve) -> bool:
        """Whether the other `curve` stays below this one, read as a limit."""
        raise ParameterError(
            f"{type(self).__name__} cannot serve as a limit; use PureDP, ApproxDP, ZCDP or GaussianDP"
        )

    def excess(self, curve: PrivacyCurve) -> float:
        """How far the other `curve` is above this limit; at most 0 just when it is admitted."""
        return -1.0 if self.admits(curve) else 1.0

    def within(self, limit: PrivacyCurve) -> bool:
        """Whether this curve stays below a limit; never by the best order afterwards."""
        return limit.admits(self)

    def trade_off(self) -> TradeOff:
        """What no attacker can do, as miss against false alarm."""
        largest = self.epsilon(1e-15)
        return TradeOff.from_curve(self.deltas, largest_epsilon=min(largest, 690.0))

    # Storage.

    @property
    def kind(self) -> str:
        """The name under which the curve is stored."""
        return type(self).__name__

    def to_json(self) -> dict[str, Any]:
        """Plain data; `curve_from_json` reads it back."""
        return {"kind": self.kind} | {f.name: stored_number(getattr(self, f.name)) for f in fields(self)}  # type: ignore[arg-type]

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> PrivacyCurve:
        """The curve of the fields in `data`, as `to_json` wrote them."""
        names = [field.name for field in fields(cls)]  # type: ignore[arg-type]  # every curve is a dataclass
        stored = require_fields(cls.__name__, data, names)
        return cls(**{name: number_of_stored(stored[name]) for name in names})

    def summary(self) -> str:
        """The curve in words, at the deltas people ask for."""
        return f"{self!r}: {', '.join(self.point_words(delta) for delta in (1e-5, 1e-6, 1e-9))}"

    def point_words(self, delta: float) -> str:
        """The epsilon that is proved at this delta, rounded up, as every text says it.

        >>> PureDP(0.5).point_words(0.0)
        'epsilon 0.5 at delta 0'
        """
        return point_text(epsilon_text(self.epsilon(delta)), float(delta))

    def words(self, delta: float | None = None) -> str:
        """The curve by one of its points, its own or the one at this delta; by its name where neither is given.

        >>> ApproxDP(2.0, 1e-6).words(), PureDP(0.5).words(1e-6)
        ('epsilon 2 at delta 1e-06', 'epsilon 0.5 at delta 0')
        """
        bound = self.as_approximate()
        if bound is not None and not self.has_slack:
            return point_text(epsilon_text(float(bound[0])), float(bound[1]))
        return repr(self) if delta is None else self.point_words(delta)


@checked
@dataclass(frozen=True, init=False, repr=False)
class PureDP(PrivacyCurve):
    """Pure differential privacy: every likelihood ratio stays below e^epsilon.

    Parameters
    ----------
    epsilon : int, float or Fraction
        The bound on the log of likelihood ratios, >= 0; a decimal counts as it is written.

    Examples
    --------
    >>> PureDP(0.5).compose(PureDP(0.25)).as_pure()
    Fraction(3, 4)
    >>> PureDP(1.0).delta(0.5) > 0
    True
    """

    bound: Number

    def __init__(self, epsilon: Number) -> None:
        require(epsilon >= 0 and math.isfinite(epsilon), "epsilon", epsilon, ">= 0 and finite")
        object.__setattr__(self, "bound", epsilon)

    def as_pure(self) -> Fraction:
        """The parameter, exactly."""
        return as_written(self.bound)

    @property
    def default_currency(self) -> str:
        """Pure DP, in which epsilons add up."""
        return "pure"

    def delta(self, epsilon: float) -> float:
        """Exact for randomised response, the worst pure mechanism: (e^e0 - e^eps) / (1 + e^e0)."""
        bound = round_up(self.as_pure())
        if epsilon >= bound:
            return 0.0
        # (e^a - e^b) / (1 + e^a) = (1 - e^(b-a)) / (1 + e^-a)
        return -math.expm1(epsilon - bound) / (1.0 + math.exp(-bound))

    def epsilon(self, delta: float) -> float:
        """The inverse of `delta` in closed form, rounded up."""
        require(0 <= delta <= 1, "delta", delta, "in [0, 1]")
        bound = round_up(self.as_pure())
        if delta == 0.0:
            return bound
        if self.delta(0.0) <= delta:
            return 0.0
        return safe_side(lambda epsilon: self.delta(epsilon) - delta, unsafe=0.0, safe=bound)

    def as_zcdp(self) -> Fraction:
        """Bun and Steinke 2016, proposition 3.3: epsilon^2 / 2."""
        return self.as_pure() ** 2 / 2

    def as_gdp(self) -> Fraction:
        """Soundness, section 0: mu = 2 Phi^-1(e^eps / (1 + e^eps)), by chords of the trade-off curve."""
        return square_of_mu(round_up(self.as_pure()))

    def renyi(self, order: float) -> float:
        """The divergence of randomised response, which is the worst case (Mironov 2017, proposition 5)."""
        bound = round_up(self.as_pure())
        if bound == 0.0 or math.isinf(order):
            return bound
        if order == 1.0:
            return min(bound, max(LEAST_DELTA, bound * math.tanh(bound / 2) * (1 + 1e-12)))
        # log[cosh((a - 1/2) e) / cosh(e / 2)] / (a - 1), where the ratio exceeds 1 by
        # 2 sinh(a e / 2) sinh((a - 1) e / 2) / cosh(e / 2): no digits are lost next to 1.
        outer, inner = order * bound / 2, (order - 1) * bound / 2
        if outer > 300.0:
            total = (
                outer
                + inner
                - bound / 2
                + math.log1p(math.exp(-2 * (order - 0.5) * bound))
                - math.log1p(math.exp(-bound))
            )
        else:
            total = math.log1p(2.0 * math.sinh(outer) * math.sinh(inner) / math.cosh(bound / 2))
        # The product may have underflowed, by no more than this.
        return min(bound, (total + 4 * LEAST_DELTA) / (order - 1) * (1 + 1e-12) + LEAST_DELTA)

    def pair(self) -> DominatingPair:
        """Randomised response: two atoms."""
        from holdfast.privacy._losses.atomic_pair import response_pair

        bound = round_up(self.as_pure())
        # 1 / (1 + e^own) computed as such: 1 - high would lose the small atom's digits.
        high, low = 1.0 / (1.0 + math.exp(-bound)), math.exp(-bound) / (1.0 + math.exp(-bound))
        return response_pair(bound, high, low)

    def group(self, size: int) -> PureDP:
        """The pure curve with `size` times the epsilon."""
        return PureDP(size * self.as_pure())

    def to_replace(self) -> PrivacyCurve:
        """The pure curve with twice the epsilon."""
        return self.group(2)

    def admits(self, curve: PrivacyCurve) -> bool:
        """Whether the pure parameter of the curve is at most this one."""
        other = curve.as_pure()
        return other is not None and other <= self.as_pure() and not curve.has_slack

    def to_json(self) -> dict[str, Any]:
        """The fields as plain data, for JSON."""
        return {"kind": self.kind, "epsilon": stored_number(self.bound)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> PureDP:
        """The curve whose `to_json` wrote this data."""
        return cls(number_of_stored(require_fields(cls.__name__, data, ("epsilon",))["epsilon"]))

    def __repr__(self) -> str:
        return f"PureDP(epsilon={float(self.bound):g})"


@checked
@dataclass(frozen=True, init=False, repr=False)
class ApproxDP(PrivacyCurve):
    """Approximate differential privacy (epsilon, delta): pure up to a failure of probability delta.

    Parameters
    ----------
    epsilon : int, float or Fraction
        The bound on the log of likelihood ratios, >= 0; a decimal counts as it is written.
    delta : int, float or Fraction
        The probability with which that bound may fail, in [0, 1); far below one over the number of units.

    Examples
    --------
    >>> ApproxDP(1.0, 1e-6).epsilon(1e-6)
    1.0
    """

    epsilon_bound: Number
    delta_bound: Number

    def __init__(self, epsilon: Number, delta: Number) -> None:
        require(epsilon >= 0 and math.isfinite(epsilon), "epsilon", epsilon, ">= 0 and finite")
        require(0 <= delta < 1, "delta", delta, "in [0, 1)")
        object.__setattr__(self, "epsilon_bound", epsilon)
        object.__setattr__(self, "delta_bound", delta)

    def as_approximate(self) -> tuple[Fraction, Fraction]:
        """The two parameters."""
        return as_written(self.epsilon_bound), as_written(self.delta_bound)

    def as_pure(self) -> Fraction | None:
        """Only when delta is 0."""
        return as_written(self.epsilon_bound) if self.delta_bound == 0 else None

    @property
    def default_currency(self) -> str:
        """In mu: then the least normal noise within the limit is within the account. Without delta, in epsilon."""
        return "pure" if self.delta_bound == 0 else "gdp"

    def delta(self, epsilon: float) -> float:
        """Kairouz, Oh and Viswanath 2015: delta + (1 - delta) times the pure curve, the worst case."""
        pure = PureDP(self.epsilon_bound).delta(epsilon)
        bound = round_up(self.delta_bound)
        return bound + (1.0 - bound) * pure

    def epsilon(self, delta: float) -> float:
        """The inverse of `delta`; infinite below the failure probability."""
        require(0 <= delta <= 1, "delta", delta, "in [0, 1]")
        bound = round_up(self.delta_bound)
        if delta < bound:
            return math.inf
        return PureDP(self.epsilon_bound).epsilon((delta - bound) / (1.0 - bound))

    def pair(self) -> DominatingPair:
        """Randomised response that reveals everything with probability delta."""
        from holdfast.privacy._losses.atomic_pair import response_pair

        bound, lost = round_up(self.epsilon_bound), round_up(self.delta_bound)
        high = (1.0 - lost) / (1.0 + math.exp(-bound))
        return response_pair(bound, high, high * math.exp(-bound), lost)

    def without_delta(self) -> tuple[PrivacyCurve, Fraction]:
        """Kairouz, Oh and Viswanath 2015: for one pair of laws, pure but for an event of probability delta."""
        return PureDP(self.epsilon_bound), as_written(self.delta_bound)

    def excess(self, curve: PrivacyCurve) -> float:
        """The log of the other's delta over this one's, at this epsilon."""
        reached, allowed = curve.delta(round_up(self.epsilon_bound)), float(self.delta_bound)
        if allowed == 0.0 or reached == 0.0:
            return -1.0 if reached <= allowed else 1.0
        return math.log(reached / allowed) if reached > allowed else min(0.0, math.log(reached / allowed))

    def group(self, size: int) -> ApproxDP:
        """(k epsilon, delta (e^(k eps) - 1) / (e^eps - 1))."""
        epsilon, delta = round_up(self.epsilon_bound), round_up(self.delta_bound)
        if delta == 0:
            return ApproxDP(size * as_written(self.epsilon_bound), 0.0)
        largest = size * epsilon > MOST_EXPONENT
        factor = (
            size
            if epsilon == 0
            else math.inf
            if largest
            else math.expm1(size * epsilon) / math.expm1(epsilon)
        )
        grown = delta * factor * (1 + 1e-12)
        require(grown < 1, "size", size, f"small enough that the group's delta ({grown:.3g}) stays below 1")
        return ApproxDP(size * as_written(self.epsilon_bound), grown)

    def to_replace(self) -> PrivacyCurve:
        """(2 epsilon, (1 + e^epsilon) delta)."""
        return self.group(2)

    def admits(self, curve: PrivacyCurve) -> bool:
        """At this epsilon, by delta."""
        return curve.delta(round_up(self.epsilon_bound)) <= float(self.delta_bound)

    def to_json(self) -> dict[str, Any]:
        """The fields as plain data, for JSON."""
        epsilon, delta = stored_number(self.epsilon_bound), stored_number(self.delta_bound)
        return {"kind": self.kind, "epsilon": epsilon, "delta": delta}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ApproxDP:
        """The curve whose `to_json` wrote this data."""
        stored = require_fields(cls.__name__, data, ("epsilon", "delta"))
        return cls(number_of_stored(stored["epsilon"]), number_of_stored(stored["delta"]))

    def __repr__(self) -> str:
        return f"ApproxDP(epsilon={float(self.epsilon_bound):g}, delta={float(self.delta_bound):g})"
