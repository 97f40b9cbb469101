"""Renyi differential privacy on a fixed grid of orders."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from holdfast.errors import require
from holdfast.privacy.curve import PrivacyCurve
from holdfast.privacy.zcdp import epsilon_from_renyi, log_delta_from_renyi

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


@dataclass(frozen=True, repr=False)
class RenyiDP(PrivacyCurve):
    """The Renyi divergence of each listed order is at most the listed value (Mironov 2017).

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
        """Tabulate a function of the order."""
        return cls(orders, tuple(divergence(order) for order in orders))

    def delta(self, epsilon: float) -> float:
        """The least over the listed orders (any one of them is a valid bound for a fixed plan)."""
        logs = log_delta_from_renyi(np.array(self.divergences), np.array(self.orders), epsilon)
        return math.exp(min(0.0, float(np.min(logs)) + 1e-12))

    def epsilon(self, delta: float) -> float:
        """The least over the listed orders; infinite at delta = 0."""
        require(0 <= delta <= 1, "delta", delta, "in [0, 1]")
        if delta == 0.0:
            return 0.0 if not any(self.divergences) else math.inf
        values = epsilon_from_renyi(np.array(self.divergences), np.array(self.orders), delta)
        return max(0.0, float(np.min(values)) * (1 + 1e-13))

    def renyi(self, order: float) -> float:
        """The value at the next listed order: divergences never fall as the order grows."""
        place = int(np.searchsorted(self.orders, order))
        return math.inf if place == len(self.orders) else self.divergences[place]

    def joined(self, other: PrivacyCurve) -> RenyiDP | None:
        """Divergences add up, order by order."""
        if not isinstance(other, RenyiDP) or other.orders != self.orders:
            return None
        return RenyiDP(
            self.orders, tuple(a + b for a, b in zip(self.divergences, other.divergences, strict=True))
        )

    def repeated(self, times: int) -> RenyiDP:
        """Times the divergence, order by order."""
        return RenyiDP(self.orders, tuple(times * d for d in self.divergences))

    def admits(self, curve: PrivacyCurve) -> bool:
        """At every listed order, never at the best one afterwards."""
        fits = all(curve.renyi(a) <= d for a, d in zip(self.orders, self.divergences, strict=True))
        return fits and curve.total_variation + curve.failure == 0

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> RenyiDP:
        """The curve of these fields."""
        return cls(tuple(data["orders"]), tuple(data["divergences"]))

    def __repr__(self) -> str:
        return f"RenyiDP({len(self.orders)} orders from {self.orders[0]:g} to {self.orders[-1]:g})"
