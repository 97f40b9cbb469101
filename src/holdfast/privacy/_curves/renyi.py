"""Bounds on Renyi divergences: of all orders at once (zCDP), or on a fixed grid of orders.

Both become delta(epsilon) by the same conversion, at the best order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast._arguments import checked
from holdfast._stored_fields import require_fields
from holdfast.errors import require
from holdfast.privacy._curves.curve import LEAST_DELTA, PrivacyCurve, PureDP
from holdfast.privacy._rounding import Number, as_written, round_up

_LARGEST_DOUBLE = float(np.finfo(np.float64).max)


def log_delta_from_renyi(
    divergence: NDArray[np.float64], orders: NDArray[np.float64], epsilon: float
) -> NDArray[np.float64]:
    """Log delta at each order: Canonne, Kamath and Steinke 2020, proposition 12."""
    a = orders
    values = (a - 1) * (divergence - epsilon) + (a - 1) * np.log1p(-1 / a) - np.log(a)
    return np.asarray(values)


def epsilon_from_renyi(
    divergence: NDArray[np.float64], orders: NDArray[np.float64], delta: float
) -> NDArray[np.float64]:
    """Epsilon at each order, the inverse of the same proposition (soundness, section 0)."""
    a = orders
    values = divergence + (-math.log(delta) + (a - 1) * np.log1p(-1 / a) - np.log(a)) / (a - 1)
    return np.asarray(values)


@checked
@dataclass(frozen=True, repr=False)
class ZCDP(PrivacyCurve):
    """The Renyi divergence of every order alpha is at most alpha rho (Bun and Steinke 2016).

    Parameters
    ----------
    rho : int, float or Fraction
        The bound, >= 0; the rhos of several releases add up.

    Examples
    --------
    >>> round(ZCDP(0.5).epsilon(1e-6), 4)
    5.2215
    """

    rho: Number

    def __post_init__(self) -> None:
        require(self.rho >= 0 and math.isfinite(self.rho), "rho", self.rho, ">= 0 and finite")

    @property
    def _rho(self) -> float:
        """rho, at least 1e-100, since the reciprocal of a smaller one would overflow."""
        return max(round_up(self.rho), 1e-100) if self.rho > 0 else 0.0

    def delta(self, epsilon: float) -> float:
        """The infimum over orders; every order is valid, so a grid errs on the safe side."""
        rho = self._rho
        if rho == 0.0:
            return 0.0
        # Pinsker: KL <= rho bounds total variation, and delta(epsilon) <= delta(0) <= sqrt(rho / 2).
        if math.isinf(epsilon):
            return 0.0
        # Bun and Steinke 2016, lemma 3.5: delta <= e^-((epsilon - rho) / (2 sqrt(rho)))^2, which underflows here.
        if (epsilon - rho) / (2 * math.sqrt(rho)) > 60.0:
            return LEAST_DELTA
        return max(LEAST_DELTA, min(self._best_order(epsilon), math.sqrt(rho / 2), 1.0))

    def _best_order(self, epsilon: float) -> float:
        rho = self._rho
        # d/da of the exponent vanishes near a = (epsilon + rho) / (2 rho): refine a grid around it. Orders are
        # held by what they exceed 1, so that those next to 1 keep their digits.
        order_less_one = max((epsilon - rho) / (2 * rho), 1e-9)
        grid = (
            order_less_one * np.geomspace(1e-2, 1e2, 401)
            if order_less_one > 0.01
            else np.geomspace(1e-6, 1e4, 801)
        )
        for _ in range(3):
            logs = grid * (rho * (1 + grid) - epsilon) + grid * np.log(grid / (1 + grid)) - np.log1p(grid)
            best = int(np.argmin(logs))
            grid = np.linspace(grid[max(best - 1, 0)], grid[min(best + 1, grid.size - 1)], 101)
        best = int(np.argmin(logs))
        size = grid[best] * (rho * (1 + grid[best]) + abs(epsilon))  # of what was subtracted
        return math.exp(min(0.0, float(logs[best]) + 1e-12 + 1e-15 * size))

    def epsilon(self, delta: float) -> float:
        """The infimum over orders of soundness, section 0; infinite at delta = 0."""
        require(0 <= delta <= 1, "delta", delta, "in [0, 1]")
        rho = self._rho
        if rho == 0.0 or delta >= 1.0:
            return 0.0
        if delta == 0.0:
            return math.inf
        log = -math.log(delta)
        grid = math.sqrt(log / rho) * np.geomspace(1e-3, 1e2, 401)
        for _ in range(3):
            values = rho * (1 + grid) + (log + grid * np.log(grid / (1 + grid)) - np.log1p(grid)) / grid
            best = int(np.argmin(values))
            grid = np.linspace(grid[max(best - 1, 0)], grid[min(best + 1, grid.size - 1)], 101)
        return max(0.0, float(np.min(values)) * (1 + 1e-13) + 1e-15)

    def as_zcdp(self) -> Fraction:
        """The parameter, exactly."""
        return as_written(self.rho)

    def as_pure(self) -> Fraction | None:
        """Zero if nothing is revealed; otherwise None."""
        return None if self.rho > 0 else Fraction(0)

    def merge(self, other: PrivacyCurve) -> ZCDP | None:
        """Parameters add up."""
        return ZCDP(self.as_zcdp() + other.as_zcdp()) if isinstance(other, ZCDP) else None

    def merge_copies(self, times: int) -> ZCDP:
        """The zCDP curve with `times` times the rho."""
        return ZCDP(times * self.as_zcdp())

    def group(self, size: int) -> ZCDP:
        """The zCDP curve with the square of `size` times the rho."""
        return ZCDP(size**2 * as_written(self.rho))

    def to_replace(self) -> ZCDP:
        """The zCDP curve with four times the rho."""
        return self.group(2)

    def admits(self, curve: PrivacyCurve) -> bool:
        """Whether the zCDP parameter of the curve is at most this one."""
        other = curve.as_zcdp()
        return other is not None and other <= self.as_zcdp() and not curve.has_slack

    def __repr__(self) -> str:
        return f"ZCDP(rho={float(self.rho):g})"


ORDERS: tuple[float, ...] = tuple(
    float(x)
    for x in np.concatenate(
        [
            1 + np.geomspace(1e-3, 0.95, 20),
            np.arange(2.0, 65.0),
            [72, 80, 96, 128, 192, 256, 384, 512, 1024, 4096],
        ]
    )
)
"""The orders at which curves are tabulated unless others are asked for."""
FINE_ORDERS: tuple[float, ...] = tuple(float(a) for a in 1 + np.geomspace(1e-4, 1e6, 301))
"""The orders at which a composition looks for its best one."""


def _sum_rounded_up(terms: Sequence[tuple[float, int]]) -> float:
    """The sum of values, each taken so many times, computed exactly and rounded up."""
    if not all(math.isfinite(value) for value, _ in terms):
        return math.inf
    total = sum((Fraction(value) * times for value, times in terms), Fraction(0))
    return round_up(total) if total <= Fraction(_LARGEST_DOUBLE) else math.inf


@checked
@dataclass(frozen=True, repr=False)
class RenyiDP(PrivacyCurve):
    """The Renyi divergence of each listed order is at most the listed value (Mironov 2017).

    Parameters
    ----------
    orders : tuple of float
        The orders, above 1 and rising. An order may be infinite: that divergence is the pure parameter.
    divergences : tuple of float
        A bound for each of them.

    Examples
    --------
    >>> RenyiDP.of(lambda order: order * 0.5).epsilon(1e-6) < 5.23
    True
    """

    orders: tuple[float, ...]
    divergences: tuple[float, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "orders", tuple(float(a) for a in self.orders))
        object.__setattr__(self, "divergences", tuple(float(d) for d in self.divergences))
        require(
            len(self.orders) == len(self.divergences) > 0,
            "orders",
            len(self.orders),
            "as many as divergences, > 0",
        )
        require(all(a > 1 for a in self.orders), "orders", min(self.orders), "> 1")
        require(list(self.orders) == sorted(set(self.orders)), "orders", "...", "increasing")
        require(all(d >= 0 for d in self.divergences), "divergences", min(self.divergences), ">= 0")

    @classmethod
    def of(cls, divergence: Callable[[float], float], orders: tuple[float, ...] = ORDERS) -> RenyiDP:
        """Tabulate `divergence`, a function of the order, at these `orders`."""
        return cls(orders, tuple(divergence(order) for order in orders))

    def delta(self, epsilon: float) -> float:
        """The least over the listed orders (any one of them is a valid bound for a fixed plan)."""
        if math.isinf(epsilon) or epsilon >= self.pure_epsilon:
            return 0.0
        orders, divergences = self._finite
        if not orders.size:
            return PureDP(self.pure_epsilon).delta(epsilon)
        logs = log_delta_from_renyi(divergences, orders, min(epsilon, 1e300))
        best = int(np.argmin(logs))
        if logs[best] < -1e4:
            return LEAST_DELTA
        size = (orders[best] - 1) * (divergences[best] + abs(epsilon))  # of what was subtracted
        return max(LEAST_DELTA, math.exp(min(0.0, float(logs[best]) + 1e-12 + 1e-15 * size)))

    def epsilon(self, delta: float) -> float:
        """The least over the listed orders; infinite at delta = 0."""
        require(0 <= delta <= 1, "delta", delta, "in [0, 1]")
        orders, divergences = self._finite
        if delta == 0.0 or not orders.size:
            return self.pure_epsilon
        values = epsilon_from_renyi(divergences, orders, delta)
        return min(self.pure_epsilon, max(0.0, float(np.min(values)) * (1 + 1e-13)))

    @property
    def _finite(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The finite orders, at which something is proved, and their divergences."""
        proved = [
            pair
            for pair in zip(self.orders, self.divergences, strict=True)
            if math.isfinite(pair[0] + pair[1])
        ]
        return np.array([order for order, _ in proved]), np.array([divergence for _, divergence in proved])

    def as_pure(self) -> Fraction | None:
        """The divergence of order infinity; nothing is revealed where every divergence is 0."""
        if not any(self.divergences):
            return Fraction(0)
        last = self.divergences[-1]
        return Fraction(last) if math.isinf(self.orders[-1]) and math.isfinite(last) else None

    @property
    def default_currency(self) -> str:
        """Divergences add up, order by order."""
        return "renyi"

    def renyi(self, order: float) -> float:
        """The value at the next listed order: divergences never fall as the order grows."""
        place = int(np.searchsorted(self.orders, order))
        return math.inf if place == len(self.orders) else self.divergences[place]

    def merge(self, other: PrivacyCurve) -> RenyiDP | None:
        """Divergences add up, order by order."""
        if not isinstance(other, RenyiDP) or other.orders != self.orders:
            return None
        return RenyiDP(
            self.orders,
            tuple(
                _sum_rounded_up([(a, 1), (b, 1)])
                for a, b in zip(self.divergences, other.divergences, strict=True)
            ),
        )

    def merge_copies(self, times: int) -> RenyiDP:
        """Times the divergence, order by order."""
        return RenyiDP(self.orders, tuple(_sum_rounded_up([(d, times)]) for d in self.divergences))

    def admits(self, curve: PrivacyCurve) -> bool:
        """At every listed order, never at the best one afterwards."""
        fits = all(curve.renyi(a) <= d for a, d in zip(self.orders, self.divergences, strict=True))
        return fits and not curve.has_slack

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> RenyiDP:
        """The curve whose `to_json` wrote this data."""
        stored = require_fields(cls.__name__, data, ("orders", "divergences"))
        return cls(tuple(stored["orders"]), tuple(stored["divergences"]))

    def __repr__(self) -> str:
        return f"RenyiDP({len(self.orders)} orders from {self.orders[0]:g} to {self.orders[-1]:g})"
