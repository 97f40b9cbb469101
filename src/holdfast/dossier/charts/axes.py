"""Axes of a chart: where a number lies on paper, and which numbers get a label."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True)
class Axis:
    """A linear or logarithmic scale from `low` to `high`, drawn from `start` to `end`.

    >>> Axis(low=0, high=10, start=0, end=100, label="x").place(np.array([5.0])).tolist()
    [50.0]
    """

    low: float
    high: float
    start: float
    end: float
    label: str
    log: bool = False
    ticked: bool = True

    def place(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Positions on paper; what lies outside is moved to the edge."""
        clipped = np.clip(values, self.low, self.high)
        if self.log:
            share = (np.log10(clipped) - math.log10(self.low)) / (
                math.log10(self.high) - math.log10(self.low)
            )
        else:
            share = (clipped - self.low) / (self.high - self.low)
        return np.asarray(self.start + share * (self.end - self.start))

    def ticks(self) -> list[tuple[float, str]]:
        """Round numbers within the range, with their text."""
        if not self.ticked:
            return []
        if self.log:
            decades = range(
                math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9) + 1
            )
            every = max(1, math.ceil(len(decades) / 6))
            return [
                (10.0**k, f"1e{k}" if k < -2 or k > 3 else f"{10.0**k:g}") for k in decades if k % every == 0
            ]
        span = self.high - self.low
        step = 10.0 ** math.floor(math.log10(span / 4))
        step *= next(m for m in (1, 2, 2.5, 5, 10) if span / (step * m) <= 6)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [(k * step, f"{k * step:g}") for k in range(first, last + 1)]
