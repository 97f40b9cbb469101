"""TradeOff: miss rate against false-alarm rate, for proofs, attacks and audits; and exact limits of measured rates.

Any test between two neighbouring tables has a false-alarm rate and a miss rate. A proof says which
pairs no test can reach, an attack shows a pair that one test did reach, an audit bounds what the best
test reaches. All three are a curve of miss against false alarm (Dong, Roth and Su 2019).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Annotated, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdfast._arguments import VECTOR, checked
from holdfast._ranges import require_numbers
from holdfast.errors import require
from holdfast.privacy._wording import confidence_text, least_rate_text, rate_text

Points = Annotated[NDArray[np.float64], VECTOR]
"""An array of numbers along a curve."""
Claim = Literal["proved", "measured", "audited"]


def require_same_length(epsilons: Points, deltas: Points) -> None:
    """Refuse arrays in which there is not one delta for each epsilon."""
    require(
        len(epsilons) == len(deltas),
        "deltas",
        f"{len(deltas)} of them",
        f"as many as epsilons: {len(epsilons)}",
    )


@checked
@dataclass(frozen=True, eq=False)
class TradeOff:
    """Miss rate against false-alarm rate: proofs, attacks and audits in one picture, from (0, .) to (1, 0).

    Parameters
    ----------
    false_alarm : array_like
        The false-alarm rates of the vertices, rising from 0 to 1.
    miss : array_like
        The miss rate at each of them, never rising.
    claim : {'proved', 'measured', 'audited'}
        'proved': every test lies on or above it. 'measured': reached by a test. 'audited': the best test lies
        on or below it, with the stated confidence.
    confidence : float
        How sure the claim is, in (0, 1].

    Examples
    --------
    >>> coin = TradeOff([0, 1], [1, 0], claim="proved")
    >>> coin.advantage()
    0.0
    >>> coin.miss_at(0.25)
    0.75
    """

    false_alarm: NDArray[np.float64]
    miss: NDArray[np.float64]
    claim: Claim
    confidence: float = 1.0

    def __init__(
        self, false_alarm: ArrayLike, miss: ArrayLike, *, claim: Claim, confidence: float = 1.0
    ) -> None:
        x, y = require_numbers("false_alarm", false_alarm), require_numbers("miss", miss)
        require(
            x.ndim == 1 and x.shape == y.shape and x.size >= 2,
            "false_alarm",
            x.shape,
            "a one-dimensional array of the shape of miss, with two points or more",
        )
        require(
            bool(np.all((x >= 0) & (x <= 1) & (y >= 0) & (y <= 1))), "miss", "...", "made of rates in [0, 1]"
        )
        require(bool(np.all(np.diff(x) >= 0)), "false_alarm", "...", "sorted")
        require(bool(np.all(np.diff(y) <= 0)), "miss", "...", "non-increasing")
        require(x[0] == 0 and x[-1] == 1, "false_alarm", (float(x[0]), float(x[-1])), "a range from 0 to 1")
        require(0 < confidence <= 1, "confidence", confidence, "in (0, 1]")
        for name, value in (("false_alarm", x), ("miss", y), ("claim", claim), ("confidence", confidence)):
            object.__setattr__(self, name, value)

    @classmethod
    def from_curve(
        cls, deltas: Callable[[NDArray[np.float64]], NDArray[np.float64]], *, largest_epsilon: float
    ) -> TradeOff:
        """The region that a privacy curve proves: the upper envelope of its supporting lines.

        Each pair (epsilon, delta) forbids what lies below miss = 1 - delta - e^epsilon false_alarm and
        below its mirror image. Finitely many lines make a polygon that proves slightly less than the
        curve, never more. `deltas` gives delta at many epsilons, up to `largest_epsilon`.
        """
        require(largest_epsilon < math.inf, "largest_epsilon", largest_epsilon, "finite")
        near = np.geomspace(1e-6, max(float(largest_epsilon), 1e-6), 700)
        epsilons = np.concatenate([[0.0], near])
        return cls.from_lines(epsilons, np.clip(deltas(epsilons), 0.0, 1.0))

    @classmethod
    def from_lines(cls, epsilons: Points, deltas: Points) -> TradeOff:
        """The envelope of the lines of pairs of `epsilons` and `deltas`, and of their mirror images."""
        # Lines miss = 1 - delta - slope * x; a mirrored line is the inverse function of one.
        # The envelope on and above the diagonal comes from slopes >= 1; the rest is its mirror.
        require_same_length(epsilons, deltas)
        keep = deltas < 1.0
        slopes, tops = np.exp(epsilons[keep]), _one_minus(deltas[keep])
        if slopes.size == 0:
            return cls([0.0, 1.0], [0.0, 0.0], claim="proved")
        finite = np.isfinite(slopes)
        slopes, tops = slopes[finite], tops[finite]
        hull = _envelope(slopes, tops)
        # Vertices from x = 0 to the diagonal miss = false_alarm.
        xs, ys = [0.0], [hull[0][1]]
        for left, right in pairwise(hull):
            x = _crossing(left, right)
            y = left[1] - left[0] * x
            if y <= x:
                break
            xs.append(x)
            ys.append(y)
        # Where the envelope meets the diagonal.
        meet = max(top / (1.0 + slope) for slope, top in hull)
        xs.append(meet)
        ys.append(meet)
        # Mirror: swap the axes; then drop to 0 at the mirrored intercept.
        full_x = np.array([*xs, *ys[::-1][1:], 1.0])
        full_y = np.array([*ys, *xs[::-1][1:], 0.0])
        full_x, full_y = np.clip(full_x, 0.0, 1.0), np.clip(full_y, 0.0, 1.0)
        return cls(np.maximum.accumulate(full_x), np.minimum.accumulate(full_y), claim="proved")

    @classmethod
    def from_one_sided(cls, epsilons: Points, deltas: Points) -> TradeOff:
        """The envelope of the lines themselves, without mirror images: one direction of a pair.

        Here `epsilons` runs over negative numbers too; false alarms are under Q, misses under P, for
        `deltas` of P against Q.
        """
        require_same_length(epsilons, deltas)
        keep = (deltas < 1.0) & np.isfinite(epsilons)
        if not np.any(keep):
            return cls([0.0, 1.0], [0.0, 0.0], claim="proved")
        hull = _envelope(np.exp(epsilons[keep]), _one_minus(deltas[keep]))
        xs, ys = [0.0], [hull[0][1]]
        for left, right in pairwise(hull):
            x = _crossing(left, right)
            y = left[1] - left[0] * x
            if y <= 0.0 or x >= 1.0:
                break
            xs.append(x)
            ys.append(y)
        # The last line that is still above 0 reaches it here.
        xs += [min(1.0, max(top / slope for slope, top in hull)), 1.0]
        ys += [0.0, 0.0]
        x_array, y_array = np.maximum.accumulate(np.clip(xs, 0.0, 1.0)), np.clip(ys, 0.0, 1.0)
        return cls(x_array, np.minimum.accumulate(y_array), claim="proved")

    def miss_at(self, false_alarm: float) -> float:
        """The miss rate at the rate `false_alarm` of false alarms, on the polygon."""
        require(0 <= false_alarm <= 1, "false_alarm", false_alarm, "in [0, 1]")
        # At a jump (two points at one false-alarm rate) the lower one is what a test reaches.
        right = np.searchsorted(self.false_alarm, false_alarm, side="right") - 1
        if right == self.false_alarm.size - 1 or self.false_alarm[right] == false_alarm:
            return float(self.miss[right])
        return float(np.interp(false_alarm, self.false_alarm, self.miss))

    def detection_at(self, false_alarm: float) -> float:
        """The share of members found at the rate `false_alarm` of false alarms: one minus the miss rate."""
        return 1.0 - self.miss_at(false_alarm)

    def advantage(self) -> float:
        """The largest difference between detection and false alarm, over all thresholds."""
        return float(max(0.0, np.max(1.0 - self.false_alarm - self.miss)))

    def guess(self) -> float:
        """How often the best attacker with a fair coin as prior guesses right, at most or at least."""
        return 0.5 + 0.5 * self.advantage()

    def delta(self, epsilon: float) -> float:
        """The dual: max over tests of 1 - miss - e^epsilon false_alarm (Dong, Roth and Su 2019)."""
        if math.isinf(epsilon):
            return float(np.max(1.0 - self.miss[self.false_alarm == 0.0]))
        return float(max(0.0, np.max(1.0 - self.miss - math.exp(min(epsilon, 700.0)) * self.false_alarm)))

    def epsilon(self, delta: float) -> float:
        """The least epsilon with `delta(epsilon) <= delta`, by the vertices."""
        require(0 <= delta <= 1, "delta", delta, "in [0, 1]")
        with np.errstate(divide="ignore", invalid="ignore"):
            gain = 1.0 - self.miss - delta
            needed = np.where(gain > 0, np.log(np.maximum(gain, 0) / self.false_alarm), 0.0)
        return float(max(0.0, np.max(needed)))

    def contradicts(self, proved: TradeOff, *, tolerance: float = 1e-12) -> bool:
        """Whether this measured or audited curve enters the region that `proved` forbids.

        By more than the `tolerance`.
        """
        require(proved.claim == "proved", "proved.claim", proved.claim, "'proved'")
        grid = np.union1d(self.false_alarm, proved.false_alarm)
        return any(self.miss_at(float(x)) < proved.miss_at(float(x)) - tolerance for x in grid)

    def summary(self) -> str:
        """One line with the advantage and the detection rate."""
        sign, text = {
            "proved": ("at most ", rate_text),
            "measured": ("", "{:.4f}".format),
            "audited": ("at least ", least_rate_text),
        }[self.claim]
        sure = f" (confidence {confidence_text(self.confidence)})" if self.confidence < 1 else ""
        return (
            f"{self.claim}: advantage {sign}{text(self.advantage())}, detection at 1 % false alarms "
            f"{sign}{text(self.detection_at(0.01))}{sure}"
        )


@lru_cache(maxsize=65_536)
def clopper_pearson_upper(successes: int, trials: int, *, error: float) -> float:
    """The exact upper limit of a binomial rate, exceeded by the truth with probability at most `error`.

    Clopper and Pearson 1934, rounded outwards.

    >>> round(clopper_pearson_upper(0, 1000, error=0.025), 6)
    0.003682
    """
    from scipy.special import betaincinv

    if successes >= trials:
        return 1.0
    limit = float(betaincinv(successes + 1, trials - successes, 1.0 - error))
    return min(1.0, limit * (1.0 + 1e-10))


def clopper_pearson_lower(successes: int, trials: int, *, error: float) -> float:
    """The exact lower limit: the truth is below it with probability at most `error`.

    >>> round(clopper_pearson_lower(1000, 1000, error=0.025), 6)
    0.996318
    >>> clopper_pearson_lower(0, 1000, error=0.025)
    0.0
    """
    return max(0.0, 1.0 - clopper_pearson_upper(trials - successes, trials, error=error))


def _one_minus(deltas: Points) -> NDArray[np.float64]:
    """1 - delta, rounded down: a delta of 1e-18 must not vanish."""
    return np.where(deltas > 0, np.nextafter(1.0 - deltas, 0.0), 1.0)


def _envelope(slopes: NDArray[np.float64], tops: NDArray[np.float64]) -> list[tuple[float, float]]:
    """The lines top - slope x that are the highest somewhere at x >= 0, steepest first."""
    hull: list[tuple[float, float]] = []
    order = np.lexsort((-tops, -slopes))
    for slope, top in zip(slopes[order].tolist(), tops[order].tolist(), strict=True):
        if hull and slope == hull[-1][0]:
            continue
        # A flatter line that starts as high is higher everywhere.
        while hull and top >= hull[-1][1]:
            hull.pop()
        while len(hull) >= 2 and _crossing(hull[-2], hull[-1]) >= _crossing(hull[-1], (slope, top)):
            hull.pop()
        hull.append((slope, top))
    return hull


def _crossing(steep: tuple[float, float], flat: tuple[float, float]) -> float:
    """Where two lines top - slope * x cross."""
    return (steep[1] - flat[1]) / (steep[0] - flat[0])
