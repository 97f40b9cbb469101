"""One direction of a privacy-loss distribution, on a grid.

delta(epsilon) = infinity + sum over losses l > epsilon of mass(l) (1 - e^(epsilon - l)).
Every number of an upper object bounds the truth from above, every number of a lower one from below.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from holdfast._arrays import Floats
from holdfast.errors import require
from holdfast.privacy._losses.atomic_pair import AtomicPair

LARGEST_GRID = 2**21
"""More points than this are never allocated: the spacing is doubled instead, rounding outwards."""


@dataclass(frozen=True, eq=False)
class GridLosses:
    """Masses at the losses (first + i) spacing, and at infinity.

    `loss_error`: how far a loss may be off through rounding; added to the answer, or taken off it.
    """

    spacing: float
    first: int
    masses: Floats
    infinity: float
    loss_error: float = 0.0
    is_lower: bool = False
    relaxed: GridLosses | None = None
    """A second upper bound on the same losses; the lesser of the two deltas holds."""

    def __post_init__(self) -> None:
        require(self.spacing > 0 and math.isfinite(self.spacing), "spacing", self.spacing, "> 0 and finite")
        require(0 <= self.infinity <= 1, "infinity", self.infinity, "in [0, 1]")
        require(
            self.masses.ndim == 1 and self.masses.size > 0,
            "masses",
            self.masses.shape,
            "one array, not empty",
        )
        require(
            bool(np.all(self.masses >= 0)) and bool(np.all(self.masses < 2)), "masses", "...", "in [0, 2)"
        )

    @cached_property
    def log_masses(self) -> Floats:
        """Logarithms; -inf for empty points."""
        with np.errstate(divide="ignore"):
            return np.log(self.masses)

    @cached_property
    def losses(self) -> Floats:
        """The spacing of the grid."""
        return np.asarray((self.first + np.arange(self.masses.size)) * self.spacing)

    @cached_property
    def above(self) -> Floats:
        """At each grid point the finite mass strictly above it, and after the last point 0."""
        return np.concatenate([np.cumsum(self.masses[:0:-1])[::-1], [0.0]])

    @cached_property
    def excess(self) -> Floats:
        """At each grid point k, sum over j > k of mass_j (1 - e^(l_k - l_j)): delta there, less infinity.

        By excess_k = e^-h excess_(k+1) + (1 - e^-h) above_k, a recurrence of positive terms, summed
        in blocks short enough that the powers of e^-h stay in range.
        """
        h, n = self.spacing, self.masses.size
        block = max(1, min(n, int(300.0 / h)))
        gain = -math.expm1(-h) * self.above
        out = np.empty(n)
        carry = 0.0
        for stop in range(n, 0, -block):
            start = max(0, stop - block)
            reach = np.arange(stop - start) * h  # distance from the first point of the block
            sums = np.cumsum((gain[start:stop] * np.exp(-reach))[::-1])[::-1] * np.exp(reach)
            tail = np.exp(reach - (stop - start) * h) * carry
            out[start:stop] = sums + tail
            carry = float(out[start])
        return out

    def deltas(self, epsilons: Floats) -> Floats:
        """Delta at many points, with the infinity mass and every rounding error in it."""
        sign = 1.0 if self.is_lower else -1.0
        points = np.asarray(epsilons, dtype=np.float64) + sign * self.loss_error
        h, n = self.spacing, self.masses.size
        with np.errstate(invalid="ignore"):
            raw = np.floor(points / h) - self.first
        k = np.clip(np.where(np.isnan(raw), 0, raw), -1, n).astype(np.int64)
        inner = np.clip(k, 0, n - 1)
        here = self.excess[inner]
        following = self.excess[np.minimum(inner + 1, n - 1)]
        upper_end = (self.first + inner + 1) * h
        # Between grid points delta is linear in e^epsilon.
        share = np.clip(np.expm1(np.minimum(points - upper_end, 0.0)) / math.expm1(-h), 0.0, 1.0)
        finite = np.where(inner < n - 1, share * here + (1 - share) * following, 0.0)
        below = points < self.first * h
        with np.errstate(over="ignore", invalid="ignore"):
            total = float(self.masses[0]) + float(self.above[0])
            bottom = self.first * h
            # Below the grid: total - e^(epsilon - bottom) (total - excess at the bottom).
            under = total - np.exp(np.minimum(points - bottom, 0.0)) * (total - self.excess[0])
        finite = np.where(below, under, finite)
        finite = np.where(k >= n - 1, 0.0, finite)
        # Sums of n positive terms: relative error below n units, blockwise far less.
        rounding_factor = 1.0 + sign * -1.0 * 1e-11
        values = np.asarray(np.clip(finite * rounding_factor + self.infinity, 0.0, 1.0))
        return values if self.relaxed is None else np.minimum(values, self.relaxed.deltas(epsilons))

    def epsilon(self, delta: float) -> float:
        """The least epsilon >= 0 with delta(epsilon) <= delta, on the safe side; by suffix sums."""
        epsilon = self._own_epsilon(delta)
        return epsilon if self.relaxed is None else min(epsilon, self.relaxed.epsilon(delta))

    def _own_epsilon(self, delta: float) -> float:
        rounding_factor = 1.0 - 1e-11 if self.is_lower else 1.0 + 1e-11
        if self.infinity > delta:
            return math.inf
        values = self.excess * rounding_factor + self.infinity  # decreasing along the grid
        zero = max(0, -self.first)
        if zero < values.size and values[zero] <= delta and self.first <= 0:
            if self.deltas(np.array([0.0]))[0] <= delta:
                return 0.0
        k = int(np.searchsorted(-values, -delta, side="left"))  # the first grid point within delta
        if k >= values.size:
            k = values.size - 1
        if k == 0:
            # Below the grid delta is total - e^(epsilon - bottom) (total - excess at the bottom).
            total = (float(self.masses[0]) + float(self.above[0])) * rounding_factor + self.infinity
            left = (total - delta) / max(total - float(values[0]), 1e-300)
            answer = self.first * self.spacing + (math.log(left) if left > 0 else -math.inf)
        else:
            high, low = float(values[k - 1]), float(values[k])
            share = min(1.0, max(0.0, (delta - low) / (high - low))) if high > low else 0.0
            answer = (self.first + k) * self.spacing + math.log1p(share * math.expm1(-self.spacing))
        answer += -self.loss_error if self.is_lower else self.loss_error
        if self.is_lower:
            return max(0.0, answer - 1e-12 * abs(answer))
        answer = max(0.0, answer)
        step = 1e-15 * max(1.0, abs(answer))
        while self.deltas(np.array([answer]))[0] > delta:  # rounding of the last digit
            answer += step
            step *= 2.0
        return answer

    def without_tail(self, tail: float) -> GridLosses:
        """Without the losses above which at most this mass lies: at infinity, or dropped from below."""
        keep = int(np.searchsorted(-np.append(self.above, 0.0), -tail, side="left")) + 1
        lost = 0.0 if self.is_lower else float(np.sum(self.masses[keep:])) * (1 + 1e-12)
        infinity = min(1.0, self.infinity + lost)
        return GridLosses(
            self.spacing, self.first, self.masses[:keep], infinity, self.loss_error, self.is_lower
        )

    def with_double_spacing(self) -> GridLosses:
        """The same on a grid of twice the spacing, rounded outwards."""
        first = self.first // 2
        lead = self.first - 2 * first
        padded = np.concatenate(
            [np.zeros(lead), self.masses, np.zeros((lead + self.masses.size + 1) % 2 + 1)]
        )
        even, odd = padded[0::2], padded[1::2]
        size = max(even.size, odd.size + 1)
        out = np.zeros(size)
        out[: even.size] = even
        if self.is_lower:
            out[: odd.size] += odd
        else:
            # Connect the dots: an atom in the middle of a cell keeps its P- and its Q-mass.
            up = 1.0 / (1.0 + math.exp(-self.spacing))
            out[1 : odd.size + 1] += odd * up
            out[: odd.size] += odd * (1.0 - up) * (1 + 1e-15)
        return GridLosses(2 * self.spacing, first, out, self.infinity, self.loss_error, self.is_lower)

    def as_pair(self) -> AtomicPair:
        """As a pair with an atom at each grid point, its loss rounded up; what Q lacks is counted as unseen."""
        keep = self.masses > 0
        losses = self.losses[keep] + (0.0 if self.is_lower else self.loss_error)
        return AtomicPair(losses, self.masses[keep], self.infinity, self.spacing, is_measure=True)
