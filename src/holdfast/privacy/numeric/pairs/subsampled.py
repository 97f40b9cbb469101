"""Poisson subsampling of any pair: each unit takes part with probability `rate`.

Zhu, Dong and Wang 2022, theorem 11: if (P, Q) dominates the mechanism when a unit is removed,
then ((1 - q) Q + q P, Q) dominates the subsampled one; when a unit is added the two change places.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from holdfast.privacy.numeric.dominating_pair import UNIT, Array, Cells, DominatingPair


@dataclass(frozen=True)
class RemovedUnit(DominatingPair):
    """(1 - q) Q + q P against Q: the direction that is usually worse."""

    base: DominatingPair
    rate: float

    def _base_loss(self, losses: Array) -> Array:
        # loss = log(1 - q + q e^l), so l = log(1 + (e^loss - 1) / q); -inf below log(1 - q).
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            moderate = np.log1p(np.maximum(np.expm1(np.minimum(losses, 600.0)) / self.rate, -1.0))
            return np.where(losses > 600.0, losses - math.log(self.rate), moderate)

    def cells(self, edges: Array) -> Cells:
        """The base pair's cells, mixed."""
        base_edges = self._base_loss(edges)
        base = self.base.cells(base_edges)
        q, rate = base.q, self.rate
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            p = (1.0 - rate) * q + rate * base.p
            finite = np.isfinite(base_edges[:-1])
            shift = np.where(finite, np.exp(np.where(finite, edges[:-1] - base_edges[:-1], 0.0)), 0.0)
            plain = np.where(np.isfinite(edges[:-1]), q * np.exp(np.minimum(edges[:-1], 700.0)), 0.0)
            scaled = np.where(finite & (edges[:-1] > 0), base.q_scaled * shift, plain)
        error = np.maximum(base.p_error, base.q_error) + 4 * UNIT
        return Cells(p=p, q=q, q_scaled=scaled, p_error=error, q_error=base.q_error + 4 * UNIT)

    def components(self) -> tuple[DominatingPair, ...]:
        """Those of the base pair, each subsampled."""
        return tuple(RemovedUnit(part, self.rate) for part in self.base.components())

    @property
    def crowd(self) -> float | None:
        """-log(1 - q): most of the mass crowds there when the unit is rarely sampled."""
        return -math.log1p(-self.rate) if self.rate < 1 else None

    def loss_range(self, tail: float) -> tuple[float, float]:
        """From log(1 - q) to the image of the base pair's range."""
        _, high = self.base.loss_range(min(tail / self.rate, 0.5))
        low = math.log1p(-self.rate) if self.rate < 1 else self.base.loss_range(tail)[0]
        top = high + math.log(self.rate) if high > 600 else math.log1p(self.rate * math.expm1(high))
        return low, max(top + 1e-9 * abs(top), self.rate * 1e-3)

    @property
    def infinity(self) -> float:
        """Q times the base pair's."""
        return self.rate * self.base.infinity


@dataclass(frozen=True)
class AddedUnit(DominatingPair):
    """Q against (1 - q) Q + q P: losses never exceed -log(1 - q)."""

    base: DominatingPair
    rate: float

    def cells(self, edges: Array) -> Cells:
        """The base pair's cells in the opposite order."""
        # loss = -log(1 - q + q e^l): decreasing in l, so a cell (a, b] is the base cell [l(b), l(a)).
        mirrored = RemovedUnit(self.base, self.rate)._base_loss(-edges[::-1])
        base = self.base.cells(mirrored)
        p, rate = base.q[::-1], self.rate
        q = (1.0 - rate) * p + rate * base.p[::-1]
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = np.where(np.isfinite(edges[:-1]), q * np.exp(np.minimum(edges[:-1], 700.0)), 0.0)
        error = np.maximum(base.p_error, base.q_error)[::-1] + 4 * UNIT
        return Cells(p=p, q=q, q_scaled=scaled, p_error=base.q_error[::-1] + 4 * UNIT, q_error=error)

    def components(self) -> tuple[DominatingPair, ...]:
        """Those of the base pair, each subsampled."""
        return tuple(AddedUnit(part, self.rate) for part in self.base.components())

    @property
    def crowd(self) -> float | None:
        """-log(1 - q): most of the mass crowds there when the unit is rarely sampled."""
        return -math.log1p(-self.rate) if self.rate < 1 else None

    def loss_range(self, tail: float) -> tuple[float, float]:
        """Down to the image of the base's upper range under Q: by symmetry, minus the lower one under P."""
        high = -self.base.loss_range(tail)[0]
        low = -high - math.log(self.rate) if high > 600 else -math.log1p(self.rate * math.expm1(high))
        top = -math.log1p(-self.rate) if self.rate < 1 else -self.base.loss_range(tail)[0]
        return min(low, -self.rate * 1e-3), top
