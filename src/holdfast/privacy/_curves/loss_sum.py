"""LossSum: the sum of many privacy losses, transformed only around the epsilon or delta that is asked for.

One epsilon or delta needs one exponential tilt. For the direction that does not decide, a Chernoff bound is enough and
no transform is made. Answers never depend on earlier questions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from holdfast.privacy._curves.curve import PrivacyCurve
from holdfast.privacy._curves.finite_curve import AtomicCurve
from holdfast.privacy._losses.atomic_pair import AtomicPair
from holdfast.privacy._losses.cumulants import Cumulants
from holdfast.privacy._losses.discretise import upper
from holdfast.privacy._losses.dominating_pair import DominatingPair
from holdfast.privacy._losses.fft_compose import RARE, TAIL_LOGS, on_one_grid, tilted_sum
from holdfast.privacy._losses.grid_losses import GridLosses
from holdfast.privacy._losses.tilted_sum import Parts, log_moment
from holdfast.privacy._tradeoff import Points

_TILT_WIDTH = 3.0  # the range of log tails that share one tilt
_LARGE_DELTA = 1e4 * RARE
"""A delta so large that losses of probability `RARE` do not change the answer."""
_NEGLIGIBLE_SHARE = 1e-3
"""Losses that are rarer than this share of delta may count as infinite."""


class LossSum:
    """One direction of a composition: pairs on a grid of this spacing, each used as often as said.

    Where rare large losses would spoil every tilt, all but the smallest deltas come from the sum without them.
    """

    def __init__(self, pairs: Sequence[tuple[DominatingPair, int]], spacing: float) -> None:
        self._pairs, self._spacing = pairs, spacing
        self._sums: dict[int, GridLosses] = {}
        self._without_rare: dict[int, LossSum] = {}

    @cached_property
    def _parts(self) -> Parts:
        return on_one_grid([(upper(pair, self._spacing), times) for pair, times in self._pairs])

    @cached_property
    def _coarse_parts(self) -> Parts:
        """The parts on a coarse grid, which is enough to see that the other direction decides."""
        return on_one_grid([(upper(pair, 8 * self._spacing), times) for pair, times in self._pairs])

    @cached_property
    def _cumulants(self) -> Cumulants:
        return Cumulants.of(self._parts)

    @cached_property
    def _coarse_cumulants(self) -> Cumulants:
        return Cumulants.of(self._coarse_parts)

    @property
    def _is_single(self) -> bool:
        return len(self._pairs) == 1 and self._pairs[0][1] == 1

    @cached_property
    def _needs_care(self) -> bool:
        """Whether rare large losses would decide every tilt."""
        return not self._is_single and self._coarse_cumulants.is_heavy_tailed

    def _moderate(self, delta: float) -> LossSum:
        """The sum with losses counted as infinite that are far rarer than this delta; one for each power of ten."""
        power = max(math.floor(math.log10(delta * _NEGLIGIBLE_SHARE)), round(math.log10(RARE)))
        if power not in self._without_rare:
            self._without_rare[power] = _WithoutRare(self._pairs, self._spacing, 10.0**power)
        return self._without_rare[power]

    def _moderate_delta(self, epsilon: float) -> float:
        """Delta where rare losses would decide: by sums without them, each of which tells how rare is rare enough."""
        value, seen = 1e-6, set()
        best = 1.0
        while value > _LARGE_DELTA and (moderate := self._moderate(value)) not in seen:
            seen.add(moderate)
            value = moderate.delta(epsilon)
            best = min(best, value)
        return best

    @cached_property
    def _is_plain(self) -> bool:
        return not self._is_single and not self._cumulants.is_heavy_tailed

    def _sum_around(self, epsilon: float) -> GridLosses:
        """The sum, exact to many digits where the upper tail is about that of this epsilon."""
        tail = self._cumulants.rate(epsilon - sum(times * part.loss_error for part, times in self._parts))
        # Near the mean, and where a few large losses decide, all tilts are needed.
        key = int(min(tail, 44.0) // _TILT_WIDTH) if self._is_plain and tail >= 3.0 else -1
        if key not in self._sums:
            logs: tuple[float, ...] = ((key + 0.5) * _TILT_WIDTH,)
            if key < 0:
                logs = (0.0, 8.0) if self._is_plain else TAIL_LOGS
            single = self._parts[0][0] if self._is_single else None
            self._sums[key] = single or tilted_sum(self._parts, logs, self._cumulants)
        return self._sums[key]

    def chernoff(self, epsilon: float) -> float:
        """delta(epsilon) <= e^(K(t) - t epsilon), at a good tilt: certified, and without a transform."""
        if self._coarse_cumulants.is_heavy_tailed:
            return 1.0
        tilt = self._coarse_cumulants.tilt_of_mean(epsilon)
        error = sum(times * part.loss_error for part, times in self._coarse_parts)
        moment = log_moment(self._coarse_parts, tilt)
        # The exponent's rounding error is far below 1e-9 of its terms.
        exponent = moment - tilt * (epsilon - error) + 1e-9 * (1.0 + abs(moment) + tilt * abs(epsilon))
        return min(1.0, math.exp(min(exponent, 0.0)) + _infinite_mass(self._coarse_parts))

    def delta(self, epsilon: float) -> float:
        """An upper bound on delta here."""
        above = self._moderate_delta(epsilon) if self._needs_care else 1.0
        if self._needs_care and above > _LARGE_DELTA:
            return above
        return min(above, float(self._sum_around(epsilon).deltas(np.array([epsilon]))[0]))

    def epsilon(self, delta: float) -> float:
        """The least epsilon with `delta(epsilon) <= delta`, on the safe side."""
        if self._needs_care and delta > _LARGE_DELTA:
            return self._rounded_up(self._moderate(delta).epsilon(delta), delta)
        if delta <= 0.0:
            return math.inf if _infinite_mass(self._parts) > 0 else self._sum_around(0.0).epsilon(delta)
        answer = self._sum_around(self._cumulants.likely_epsilon(delta)).epsilon(delta)
        for _ in range(4):
            refined = self._sum_around(answer).epsilon(delta)
            if refined == answer or math.isinf(refined):
                break
            answer = refined
        return self._rounded_up(answer, delta)

    def _rounded_up(self, answer: float, delta: float) -> float:
        """The answer, increased until `delta` confirms it at its own tilt."""
        step = 1e-13 * max(1.0, answer)
        while math.isfinite(answer) and self.delta(answer) > delta:
            answer += step
            step *= 2.0
        return answer


class _WithoutRare(LossSum):
    """A sum whose rarest losses count as infinite: `rare` of mass in all."""

    _needs_care = False

    def __init__(self, pairs: Sequence[tuple[DominatingPair, int]], spacing: float, rare: float) -> None:
        super().__init__(pairs, spacing)
        self._rare = rare

    @cached_property
    def _parts(self) -> Parts:
        tail = self._rare / sum(times for _, times in self._pairs)
        grids = [(upper(pair, self._spacing, tail=tail), times) for pair, times in self._pairs]
        return on_one_grid([(grid.without_tail(tail), times) for grid, times in grids])


def _infinite_mass(parts: Sequence[tuple[GridLosses, int]]) -> float:
    """The mass of the sum at infinity, rounded up."""
    none = sum(times * math.log1p(-min(part.infinity, 1 - 1e-16)) for part, times in parts)
    return -math.expm1(none) * (1 + 1e-12)


class AtomicSum(AtomicCurve):
    """Both directions of a sum with finitely many outcomes, by exact sums over them."""

    def __init__(self, pair: AtomicPair) -> None:
        self._pair = pair

    def atoms(self) -> AtomicPair:
        """The outcomes of the product."""
        return self._pair


class LossSums(PrivacyCurve):
    """The larger delta of both directions; the second one is computed only if it may be the larger."""

    def __init__(self, directions: Sequence[LossSum]) -> None:
        self._directions = tuple(directions)

    def delta(self, epsilon: float) -> float:
        """The larger of both directions."""
        value = self._directions[0].delta(epsilon)
        for other in self._directions[1:]:
            bound = other.chernoff(epsilon)
            value = max(value, bound if bound <= value else other.delta(epsilon))
        return value

    def both_deltas(self, epsilons: Points) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Each direction by its own transforms."""
        deltas = [np.array([direction.delta(float(e)) for e in epsilons]) for direction in self._directions]
        return deltas[0], deltas[-1]

    def deltas(self, epsilons: Points) -> NDArray[np.float64]:
        """At many points, one by one: nearby ones share a transform."""
        return np.array([self.delta(float(epsilon)) for epsilon in epsilons])

    def epsilon(self, delta: float) -> float:
        """The larger of both directions."""
        answer = self._directions[0].epsilon(delta)
        for other in self._directions[1:]:
            if other.chernoff(answer) > delta:
                answer = max(answer, other.epsilon(delta))
        return answer
