"""A sum of losses, transformed only where a question is asked.

One epsilon or delta needs one tilt, and the direction that does not decide needs no transform at all:
its Chernoff bound is enough. Answers depend on the question alone, never on earlier ones.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from holdfast.privacy.curves.curve import PrivacyCurve
from holdfast.privacy.losses.cumulants import Cumulants
from holdfast.privacy.losses.fft_compose import TAIL_LOGS, aligned, convolve, log_moment
from holdfast.privacy.losses.grid_losses import GridLosses

_WIDTH = 3.0  # of the tails (in logs) that share one tilt


class LossSum:
    """One direction of a composition: grid distributions, each used as often as said."""

    def __init__(self, parts: Sequence[tuple[GridLosses, int]]) -> None:
        self._parts = aligned(parts)
        self._sums: dict[int, GridLosses] = {}

    @cached_property
    def _cumulants(self) -> Cumulants:
        return Cumulants.of(self._parts)

    @cached_property
    def _is_plain(self) -> bool:
        single = len(self._parts) == 1 and self._parts[0][1] == 1
        return not single and not self._cumulants.is_heavy_tailed

    @cached_property
    def _infinity(self) -> float:
        lost = sum(times * math.log1p(-min(part.infinity, 1 - 1e-16)) for part, times in self._parts)
        return -math.expm1(lost) * (1 + 1e-12)

    def _around(self, epsilon: float) -> GridLosses:
        """The sum, exact to many digits where the upper tail is about that of this epsilon."""
        tail = self._cumulants.rate(epsilon - sum(times * part.loss_error for part, times in self._parts))
        # Near the mean, and where a few large losses decide, all tilts are needed.
        key = int(min(tail, 44.0) // _WIDTH) if self._is_plain and tail >= 3.0 else -1
        if key not in self._sums:
            near = (0.0, 8.0) if self._is_plain else TAIL_LOGS
            logs = near if key < 0 else ((key + 0.5) * _WIDTH,)
            self._sums[key] = convolve(self._parts, tail_logs=logs, cumulants=self._cumulants)
        return self._sums[key]

    def chernoff(self, epsilon: float) -> float:
        """delta(epsilon) <= e^(K(t) - t epsilon), at a good tilt: certified, and without a transform."""
        if not self._is_plain:
            return 1.0
        tilt = self._cumulants.tilt_of_mean(epsilon)
        error = sum(times * part.loss_error for part, times in self._parts)
        moment = log_moment(self._parts, tilt)
        # The exponent's rounding error is far below 1e-9 of its terms.
        exponent = moment - tilt * (epsilon - error) + 1e-9 * (1.0 + abs(moment) + tilt * abs(epsilon))
        return min(1.0, math.exp(min(exponent, 0.0)) + self._infinity)

    def delta(self, epsilon: float) -> float:
        """An upper bound on delta here."""
        return float(self._around(epsilon).deltas(np.array([epsilon]))[0])

    def epsilon(self, delta: float) -> float:
        """The least epsilon with `delta(epsilon) <= delta`, on the safe side."""
        if delta <= 0.0:
            return math.inf if self._infinity > 0 else self._around(0.0).epsilon(delta)
        answer = self._around(self._cumulants.likely_epsilon(delta)).epsilon(delta)
        for _ in range(4):
            again = self._around(answer).epsilon(delta)
            if again == answer or math.isinf(again):
                break
            answer = again
        step = 1e-13 * max(1.0, answer)
        while math.isfinite(answer) and self.delta(answer) > delta:  # another tilt's last digits
            answer += step
            step *= 2.0
        return answer


class LossSums(PrivacyCurve):
    """Both directions: the larger of two deltas, the second computed only if it may matter."""

    def __init__(self, directions: Sequence[LossSum]) -> None:
        self._directions = tuple(directions)

    def delta(self, epsilon: float) -> float:
        """The larger of both directions."""
        value = self._directions[0].delta(epsilon)
        for other in self._directions[1:]:
            bound = other.chernoff(epsilon)
            value = max(value, bound if bound <= value else other.delta(epsilon))
        return value

    def deltas(self, epsilons: NDArray[np.float64]) -> NDArray[np.float64]:
        """At many points, one by one: nearby ones share a transform."""
        return np.array([self.delta(float(epsilon)) for epsilon in epsilons])

    def epsilon(self, delta: float) -> float:
        """The larger of both directions."""
        answer = self._directions[0].epsilon(delta)
        for other in self._directions[1:]:
            if other.chernoff(answer) > delta:
                answer = max(answer, other.epsilon(delta))
        return answer
