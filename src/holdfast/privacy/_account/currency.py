"""Currencies: the units in which an account counts costs, and why the sum of costs is a guarantee.

An account fixes one currency and one limit when it is opened. If the charges add up to no more than the limit, whatever
happened before, the whole adaptive interaction satisfies the limit (soundness, section 19). Each currency below has a
theorem that says so. Curves without such a theorem can only be spent by a plan that is fixed in advance.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from holdfast._stored_fields import require_fields
from holdfast.errors import ParameterError, require
from holdfast.privacy._curves.curve import ApproxDP, PrivacyCurve, PureDP
from holdfast.privacy._curves.gaussian import GaussianDP
from holdfast.privacy._curves.renyi import ZCDP, RenyiDP, epsilon_from_renyi
from holdfast.privacy._curves.slack import WithSlack
from holdfast.privacy._mechanisms.mechanism import Mechanism
from holdfast.privacy._rounding import as_written, round_down, round_up
from holdfast.privacy._safe_side import safe_side


@dataclass(frozen=True)
class Cost:
    """An exact amount: a number for each component of the currency, and the slack that is counted beside them."""

    amounts: tuple[Fraction, ...]
    total_variation: Fraction = Fraction(0)
    failure: Fraction = Fraction(0)

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            tuple(a + b for a, b in zip(self.amounts, other.amounts, strict=True)),
            _sum(self.total_variation, other.total_variation),
            _sum(self.failure, other.failure),
        )

    def __sub__(self, other: Cost) -> Cost:
        return self + other.times_factor(Fraction(-1))

    def times_factor(self, factor: Fraction) -> Cost:
        """The cost multiplied by a factor."""
        return Cost(
            tuple(a * factor for a in self.amounts), self.total_variation * factor, self.failure * factor
        )

    def fits(self, limit: Cost) -> bool:
        """Whether no component exceeds that of the limit."""
        pairs = zip(self.amounts, limit.amounts, strict=True)
        return (
            all(a <= b for a, b in pairs)
            and self.total_variation <= limit.total_variation
            and self.failure <= limit.failure
        )

    def to_json(self) -> list[str]:
        """The components as text; the ledger reads them back."""
        return [str(x) for x in (*self.amounts, self.total_variation, self.failure)]


def _sum(one: Fraction, other: Fraction) -> Fraction:
    """Exact fractions are slow to add, and most costs have no slack."""
    return one + other if one and other else one or other


class Currency(ABC):
    """A way of counting costs that has a filter theorem."""

    name: str
    theorem: str
    parts: int = 1

    @property
    def nothing(self) -> Cost:
        """The cost of no charge."""
        return Cost((Fraction(0),) * self.parts)

    @abstractmethod
    def amounts(self, curve: PrivacyCurve) -> tuple[Fraction, ...] | None:
        """The cost of one use of a curve; None if this currency proves nothing for it."""

    @abstractmethod
    def translate(self, limit: PrivacyCurve) -> tuple[Fraction, ...] | None:
        """The limit in this currency, rounded down; None if it has no meaning there."""

    @abstractmethod
    def curve(self, amounts: tuple[Fraction, ...]) -> PrivacyCurve:
        """The curve that these amounts prove."""

    def cost(self, mechanism: Mechanism, times: int = 1, *, delta: float | None = None) -> Cost:
        """The cost of so many uses of a mechanism."""
        curve = mechanism.curve
        amounts = self.amounts(curve)
        if amounts is None:
            raise ParameterError(
                f"{mechanism.name} has no cost in the currency {self.name!r}; open an account whose currency "
                "covers it ('renyi' for subsampled noise, 'zcdp' for selections, 'basic' for thresholds) or spend it "
                "by a fixed plan"
            )
        return Cost(tuple(times * a for a in amounts), times * curve.total_variation, times * curve.failure)

    def limit(self, limit: PrivacyCurve) -> Cost:
        """The account's limit as a cost."""
        without_slack = limit.curve if isinstance(limit, WithSlack) else limit
        amounts = self.translate(without_slack)
        if amounts is None:
            way_out = "leave the currency out to take the one that fits the limit"
            if self.name == "pure":
                way_out = "it has a delta and pure accounts have none: ask for delta=0, or " + way_out
            raise ParameterError(
                f"limit {limit!r} cannot be counted in the currency {self.name!r}; {way_out}"
            )
        return Cost(amounts, limit.total_variation, limit.failure)

    def promise(self, cost: Cost) -> PrivacyCurve:
        """The curve that a total cost proves."""
        curve = self.curve(cost.amounts)
        if cost.total_variation or cost.failure:
            return WithSlack(curve, cost.total_variation, cost.failure)
        return curve

    def to_json(self) -> dict[str, Any]:
        """The fields as plain data, for JSON."""
        return {"name": self.name}


class PureCurrency(Currency):
    """Pure DP, in which epsilons add up."""

    name = "pure"
    theorem = "basic composition of pure DP, adaptive"

    def amounts(self, curve: PrivacyCurve) -> tuple[Fraction, ...] | None:
        """epsilon."""
        pure = curve.as_pure()
        return None if pure is None else (pure,)

    def translate(self, limit: PrivacyCurve) -> tuple[Fraction, ...] | None:
        """epsilon."""
        return self.amounts(limit)

    def curve(self, amounts: tuple[Fraction, ...]) -> PrivacyCurve:
        """Pure DP."""
        return PureDP(amounts[0])


class BasicCurrency(Currency):
    """Epsilons add up, and so do deltas."""

    name = "basic"
    theorem = "basic composition of (epsilon, delta)-DP, adaptive"
    parts = 2

    def amounts(self, curve: PrivacyCurve) -> tuple[Fraction, ...] | None:
        """(epsilon, delta)."""
        return curve.as_approximate()

    def translate(self, limit: PrivacyCurve) -> tuple[Fraction, ...] | None:
        """(epsilon, delta)."""
        return self.amounts(limit)

    def curve(self, amounts: tuple[Fraction, ...]) -> PrivacyCurve:
        """(epsilon, delta)-DP."""
        return ApproxDP(*amounts)

    def cost(self, mechanism: Mechanism, times: int = 1, *, delta: float | None = None) -> Cost:
        """The cost; a curve that names no (epsilon, delta) point is charged, all uses together, at the stated delta."""
        if self.amounts(mechanism.curve) is not None or delta is None:
            return super().cost(mechanism, times)
        require(0 < delta < 1, "delta", delta, "in (0, 1)")
        epsilon = mechanism.curve_of_uses(times).epsilon(delta)
        require(math.isfinite(epsilon), "delta", delta, "large enough that the plan has a finite epsilon")
        return Cost((as_written(epsilon), as_written(delta)))


class ConcentratedCurrency(Currency):
    """zCDP: rhos add up (Feldman and Zrnic 2021; Whitehouse et al. 2023)."""

    name = "zcdp"
    theorem = "zCDP filter (Rogers et al. 2016; Feldman and Zrnic 2021)"

    def amounts(self, curve: PrivacyCurve) -> tuple[Fraction, ...] | None:
        """rho."""
        rho = curve.as_zcdp()
        return None if rho is None else (rho,)

    def translate(self, limit: PrivacyCurve) -> tuple[Fraction, ...] | None:
        """rho itself, or the largest rho whose curve passes under (epsilon, delta)."""
        if isinstance(limit, ZCDP):
            return self.amounts(limit)
        point = limit.as_approximate()
        if point is None or point[1] == 0:
            return None
        return (_largest_parameter(ZCDP, point),)

    def curve(self, amounts: tuple[Fraction, ...]) -> PrivacyCurve:
        """zCDP."""
        return ZCDP(amounts[0])


class GaussianCurrency(Currency):
    """GDP: squares of mu add up (Smith and Thakurta 2022; Koskela et al. 2023)."""

    name = "gdp"
    theorem = "GDP filter (Smith and Thakurta 2022; Koskela et al. 2023)"

    def amounts(self, curve: PrivacyCurve) -> tuple[Fraction, ...] | None:
        """mu squared."""
        square = curve.as_gdp()
        return None if square is None else (square,)

    def translate(self, limit: PrivacyCurve) -> tuple[Fraction, ...] | None:
        """mu itself, or the largest mu whose curve passes under (epsilon, delta)."""
        if isinstance(limit, GaussianDP):
            return self.amounts(limit)
        point = limit.as_approximate()
        if point is None or point[1] == 0:
            return None
        return (_largest_parameter(GaussianDP, point) ** 2,)

    def curve(self, amounts: tuple[Fraction, ...]) -> PrivacyCurve:
        """GDP."""
        return GaussianDP.from_square(amounts[0])


@dataclass(frozen=True)
class RenyiCurrency(Currency):
    """Divergences of each order that is fixed at opening add up (Feldman and Zrnic 2021).

    Every order is a filter of its own, and all of them hold together: a charge has to fit at each.
    """

    orders: tuple[float, ...]

    name = "renyi"
    theorem = "Renyi filter at one order fixed at opening (Feldman and Zrnic 2021)"

    def __post_init__(self) -> None:
        require(len(self.orders) > 0, "orders", self.orders, "one order or more")
        for order in self.orders:
            require(1 < order < math.inf, "order", order, "> 1 and finite")

    @classmethod
    def of(cls, limit: PrivacyCurve, order: float | None) -> RenyiCurrency:
        """The currency at the limit's own orders, if it lists some, else at `order`, else at the limit's best order."""
        bare_limit = limit.curve if isinstance(limit, WithSlack) else limit
        if not isinstance(bare_limit, RenyiDP):
            return cls((default_order(limit) if order is None else order,))
        if order is not None and bare_limit.orders != (order,):
            raise ParameterError(
                f"order must be left out where the limit lists its orders, got order={order}; the account keeps "
                "the limit at each of them"
            )
        return cls(bare_limit.orders)

    @property
    def order(self) -> float:
        """The order of the account, for methods that choose their noise at a single order."""
        require(
            len(self.orders) == 1,
            "account",
            f"one of {len(self.orders)} Renyi orders",
            "of one order",
            "open it with an (epsilon, delta) limit",
        )
        return self.orders[0]

    @property
    def parts(self) -> int:  # type: ignore[override]
        """One component for each order."""
        return len(self.orders)

    def amounts(self, curve: PrivacyCurve) -> tuple[Fraction, ...] | None:
        """The divergence of each order."""
        values = [curve.renyi(order) for order in self.orders]
        return tuple(Fraction(value) for value in values) if all(map(math.isfinite, values)) else None

    def translate(self, limit: PrivacyCurve) -> tuple[Fraction, ...] | None:
        """epsilon - [ln(1/delta) + (a-1) ln(1-1/a) - ln a] / (a-1): soundness, section 19."""
        point = limit.as_approximate()
        if point is None:
            return self.amounts(limit)
        if point[1] == 0:
            return None
        return tuple(self._limit_at_order(point, order) for order in self.orders)

    @staticmethod
    def _limit_at_order(point: tuple[Fraction, Fraction], order: float) -> Fraction:
        offset = float(epsilon_from_renyi(np.array([0.0]), np.array([order]), round_down(point[1]))[0])
        left = point[0] - Fraction(offset * (1 + 1e-12 * (1 if offset > 0 else -1)))
        require(left > 0, "order", order, "an order that leaves something of this (epsilon, delta)")
        return left

    def curve(self, amounts: tuple[Fraction, ...]) -> PrivacyCurve:
        """Renyi DP at these orders."""
        return RenyiDP(self.orders, tuple(round_up(amount) for amount in amounts))

    def to_json(self) -> dict[str, Any]:
        """The fields as plain data, for JSON."""
        return {"name": self.name, "orders": list(self.orders)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> RenyiCurrency:
        """What `to_json` wrote."""
        return cls(tuple(require_fields("currency", data, ("name", "orders"))["orders"]))


@dataclass(frozen=True)
class PlanCurrency(Currency):
    """A list of releases that is fixed in advance; so any curve may be used."""

    planned: tuple[tuple[Mechanism, int], ...]

    name = "plan"
    theorem = "composition of a plan fixed in advance"

    def __post_init__(self) -> None:
        require(len(self.planned) > 0, "plan", "()", "a non-empty list of (mechanism, times)")

    @property
    def parts(self) -> int:  # type: ignore[override]
        """One component per planned release."""
        return len(self.planned)

    def amounts(self, curve: PrivacyCurve) -> None:
        """A plan counts uses, not curves."""
        return None

    def cost(self, mechanism: Mechanism, times: int = 1, *, delta: float | None = None) -> Cost:
        """The uses of the planned release that equals this mechanism."""
        for place, (planned, _) in enumerate(self.planned):
            if planned == mechanism:
                return Cost(tuple(Fraction(times if i == place else 0) for i in range(self.parts)))
        raise ParameterError(
            f"{mechanism.name} with these parameters is not in the plan that the account was opened with"
        )

    def translate(self, limit: PrivacyCurve) -> tuple[Fraction, ...]:
        """The planned numbers of uses; refused if the composed plan exceeds the limit."""
        composed = self.curve(())
        if not composed.within(limit):
            raise ParameterError(
                f"the plan does not fit: {composed!r} is not within {limit!r}; use more noise or fewer uses"
            )
        return tuple(Fraction(times) for _, times in self.planned)

    def limit(self, limit: PrivacyCurve) -> Cost:
        """The limit as a cost; slack is part of the composed plan."""
        return Cost(self.translate(limit))

    def curve(self, amounts: tuple[Fraction, ...]) -> PrivacyCurve:
        """The curve of the whole plan, however much of it was used."""
        from holdfast.privacy._curves.composition import compose

        return compose([mechanism.curve_of_uses(times) for mechanism, times in self.planned])

    def to_json(self) -> dict[str, Any]:
        """The fields as plain data, for JSON."""
        return {
            "name": self.name,
            "items": [[mechanism.to_json(), times] for mechanism, times in self.planned],
        }


def default_order(limit: PrivacyCurve) -> float:
    """The order at which a zCDP curve that just fits the limit is converted best; a public choice."""
    rho = float(ConcentratedCurrency().limit(limit).amounts[0])
    point = limit.as_approximate()
    assert point is not None  # Concentrated refused anything else
    return (float(point[0]) + rho) / (2 * rho)


@lru_cache(maxsize=512)
def _largest_parameter(curve: Any, point: tuple[Fraction, Fraction]) -> Fraction:
    """The largest parameter whose curve stays within (epsilon, delta), rounded down; cached, since limits repeat."""
    epsilon, delta = round_down(point[0]), round_down(point[1])
    high = 1.0
    while curve(high).delta(epsilon) <= delta:
        high *= 2.0
    low = high
    while curve(low).delta(epsilon) > delta:
        low /= 2.0
        require(low > 1e-300, "limit", (epsilon, delta), "a limit that leaves room for any noise at all")
    return as_written(safe_side(lambda x: curve(x).delta(epsilon) - delta, unsafe=high, safe=low))
