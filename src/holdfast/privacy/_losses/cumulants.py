"""Cumulants: the cumulant function of a sum of losses, on a few hundred blocks of the grid.

It serves to choose windows and tilts. Whatever is chosen, the bounds that are computed afterwards hold.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from holdfast._arrays import Floats
from holdfast.privacy._losses.grid_losses import GridLosses


@dataclass(frozen=True)
class Cumulants:
    """K(t) = sum of times log E e^(t loss), with each part's mass gathered in blocks."""

    blocks: tuple[tuple[Floats, Floats, int], ...]  # log-masses, losses, times
    spacing: float
    support: tuple[float, float] = (-math.inf, math.inf)

    @classmethod
    def of(cls, parts: Sequence[tuple[GridLosses, int]]) -> Cumulants:
        """Blocks that widen with the distance from the mean."""
        spacing = parts[0][0].spacing
        low, high = support(parts)
        return cls(
            tuple((*_blocks(part), times) for part, times in parts), spacing, (low * spacing, high * spacing)
        )

    @classmethod
    def of_atoms(cls, atoms: Sequence[tuple[Floats, Floats, int]]) -> Cumulants:
        """From masses and losses directly."""
        blocks = []
        for masses, losses, times in atoms:
            is_positive = masses > 0
            blocks.append((np.log(masses[is_positive]), losses[is_positive], times))
        return cls(tuple(blocks), 1.0)

    def moments(self, tilts: Floats) -> tuple[Floats, Floats, Floats]:
        """K, K' and K'' at each tilt."""
        k0, k1, k2 = np.zeros(tilts.size), np.zeros(tilts.size), np.zeros(tilts.size)
        for logs, losses, times in self.blocks:
            exponents = logs[None, :] + tilts[:, None] * losses[None, :]
            top = exponents.max(axis=1)
            with np.errstate(under="ignore"):
                weights = np.exp(exponents - top[:, None])
            total = weights.sum(axis=1)
            # Sums, not matrix products: these arrays are too small to be worth a thread.
            mean = (weights * losses).sum(axis=1) / total
            second = (weights * (losses[None, :] - mean[:, None]) ** 2).sum(axis=1) / total
            k0 += times * (top + np.log(total))
            k1 += times * mean
            k2 += times * second
        return k0, k1, k2

    @cached_property
    def _table(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Tilts over many scales with K, K' and the rate t K' - K, which grows with the tilt."""
        _, _, variance = self.moments(np.array([0.0]))
        scale = 1.0 / max(math.sqrt(float(variance[0])), 0.1 * self.spacing)
        # Where a few large losses hide in a small spread, tilts far below its inverse are the useful ones.
        small, usual = np.geomspace(1e-7, 0.015, 60), np.geomspace(0.02, 0.5, 8)
        grid = np.concatenate([small, usual, np.geomspace(0.6, 20.0, 40), np.geomspace(25, 2e3, 10)])
        k0, k1, _ = self.moments(grid * scale)
        return grid * scale, k0, np.maximum.accumulate(k1), np.maximum.accumulate(grid * scale * k1 - k0)

    def tilts(self, tail_logs: Sequence[float]) -> list[float]:
        """For each x the tilt whose mean has an upper tail of about e^-x; 0 for x = 0."""
        grid, _, _, rate = self._table
        # A bounded loss has no thinner tail than that of its largest value.
        tilts = [0.0 if x == 0 else float(np.interp(min(x, 0.95 * rate[-1]), rate, grid)) for x in tail_logs]
        return sorted(set(tilts))

    def rate(self, loss: float) -> float:
        """How thin the upper tail is from this loss on: the largest t loss - K(t)."""
        grid, k0, _, _ = self._table
        return max(0.0, float(np.max(grid * loss - k0)))

    def tilt_of_mean(self, loss: float) -> float:
        """The tilt under which the mean is this loss."""
        grid, _, k1, _ = self._table
        return float(np.interp(loss, k1, grid))

    def likely_epsilon(self, delta: float) -> float:
        """About where delta(epsilon) is this, by the saddle-point formula."""
        grid, k0, k1, _ = self._table
        spread = np.gradient(k1, grid)
        logs = (
            k0
            - grid * k1
            - np.log(grid * (1 + grid))
            - 0.5 * np.log(2 * math.pi * np.maximum(spread, 1e-300))
        )
        logs = np.minimum.accumulate(logs)
        return max(0.0, float(np.interp(-math.log(delta), -logs, k1)))

    @cached_property
    def is_heavy_tailed(self) -> bool:
        """Whether rare large losses, not many small ones, decide where the sum's tail of e^-8 lies."""
        _, _, variance = self.moments(np.array([0.0]))
        spread = math.sqrt(float(variance[0]))
        return spread > 0.0 and max(self.tilts((8.0,))) * spread < 0.3 * math.sqrt(2 * 8.0)

    def window(self, tilt: float, outside: float, *, upper: bool) -> tuple[float, int, int]:
        """The grid indices outside which the tilted sum has mass about e^-outside.

        An upper bound may wrap mass around, which only adds to it: it stops where e^-70 is left untilted.
        """
        k0, k1, k2 = self.moments(np.array([tilt]))
        spread = max(math.sqrt(float(k2[0])), self.spacing)
        # Small steps, where rare losses are far larger than the spread.
        steps = np.geomspace(0.05 if tilt > 0 else 1e-8, 60.0, 30 if tilt > 0 else 90) / spread
        up, _, _ = self.moments(tilt + steps)
        down, _, _ = self.moments(tilt - steps)
        high = float(np.min((up - k0[0] + outside) / steps))
        low = float(np.max(-(down - k0[0] + outside) / steps))
        if upper and tilt > 0:
            high = min(high, max(float(k1[0]), (float(k0[0]) + 70.0) / tilt))
        high, low = min(high, self.support[1]), max(low, self.support[0])
        return tilt, math.floor(low / self.spacing) - 2, math.ceil(high / self.spacing) + 2

    def tilt_of_tail(self, loss: float) -> float:
        """The tilt that gives about the best Chernoff bound on the mass above this loss."""
        _, _, variance = self.moments(np.array([0.0]))
        tilts = np.geomspace(1e-8, 2e3, 200) / max(math.sqrt(float(variance[0])), 0.1 * self.spacing)
        return float(tilts[int(np.argmin(self.moments(tilts)[0] - tilts * loss))])

    def chernoff_step(self, tilt: float, sign: float, edge: int) -> float:
        """The step away from the tilt that gives the best tail bound at this edge."""
        _, _, k2 = self.moments(np.array([tilt]))
        steps = np.geomspace(1e-8, 60.0, 120) / max(math.sqrt(float(k2[0])), self.spacing)
        moved, _, _ = self.moments(tilt + sign * steps)
        return float(steps[int(np.argmin(moved - sign * steps * edge * self.spacing))])


def support(parts: Sequence[tuple[GridLosses, int]]) -> tuple[int, int]:
    """The least and the largest grid index that the sum can reach."""
    low = sum(times * (part.first + int(np.argmax(part.masses > 0))) for part, times in parts)
    high = sum(
        times * (part.first + part.masses.size - 1 - int(np.argmax(part.masses[::-1] > 0)))
        for part, times in parts
    )
    return low, high


def _blocks(part: GridLosses) -> tuple[Floats, Floats]:
    n = part.masses.size
    losses = part.losses
    total = float(np.sum(part.masses))
    centre = int(np.clip(np.searchsorted(np.cumsum(part.masses), total / 2), 0, n - 1))
    reach = np.unique(
        np.concatenate([np.arange(0, 64, 4), np.geomspace(64, max(n, 65), 150)]).astype(np.int64)
    )
    starts = np.unique(np.clip(np.concatenate([centre - reach, centre + reach, [0]]), 0, n - 1))
    masses = np.add.reduceat(part.masses, starts)
    first = np.add.reduceat(part.masses * losses, starts)
    is_positive = masses > 0
    return np.log(masses[is_positive]), first[is_positive] / masses[is_positive]
