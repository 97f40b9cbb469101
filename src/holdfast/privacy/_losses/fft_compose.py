"""The losses of many releases together, on a grid, with every error inside: bounds from above, or from below.

The loss of independent releases is the sum of their losses. It is computed under several exponential tilts
(`tilted_sum`), each of which is exact to many digits in one range of losses and useless in others. So every stretch of
the grid is bounded in the ways below, and takes the least:

* point by point, the tilted mass and its error, taken back;
* as a whole, all masses of one tilt and the norm of their errors, which is far less than the sum of their bounds;
* by no transform at all: whatever lies above a loss has at most the mass e^(K(t) - t l) (Chernoff).

Where rare large losses decide (`Cumulants.is_heavy_tailed`), a second sum counts the very rarest as infinite.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from holdfast._arrays import Floats
from holdfast.errors import require
from holdfast.privacy._losses.cumulants import Cumulants, support
from holdfast.privacy._losses.grid_losses import LARGEST_GRID, GridLosses
from holdfast.privacy._losses.tilted_sum import Parts, TiltedSum, log_moment, mass_below, mass_wrapped

TAIL_LOGS = (0.0, 12.0, 42.0)
"""The tilts are centred where the upper tail has mass about e^-x, for these x."""
RARE = 1e-18
"""The probability of a large loss, over the whole sum, that the second bound gives away."""
OUTSIDE_LOGS = {False: 28.0, True: 37.0}
"""A tilted sum's mass outside its window is about e^-x; a lower bound has to subtract it everywhere."""
STRETCH_COUNT = 64
"""Into about so many stretches the grid is divided."""


def convolve(parts: Parts, *, cumulants: Cumulants | None = None) -> GridLosses:
    """The loss of all releases together, each as often as said; tight where the tails are about e^-`TAIL_LOGS`."""
    parts = on_one_grid(parts)
    if len(parts) == 1 and parts[0][1] == 1:
        return parts[0][0]
    cumulants = cumulants or Cumulants.of(parts)
    whole = tilted_sum(parts, TAIL_LOGS, cumulants)
    if not cumulants.is_heavy_tailed:
        return whole
    # Rare large losses would dominate every tilt. Without them the sum is tight wherever delta is not as small as
    # they are rare; with them it goes on. From below they are dropped.
    moderate = without_rare(parts)
    plain = tilted_sum(moderate, TAIL_LOGS, Cumulants.of(moderate))
    return plain if plain.is_lower else replace(whole, relaxed=plain)


def without_rare(parts: Parts) -> Parts:
    """The parts with their largest losses counted as infinite: `RARE` of mass in all, so a bound still."""
    count = sum(times for _, times in parts)
    return [(part.without_tail(RARE / count), times) for part, times in parts]


def on_one_grid(parts: Parts) -> Parts:
    """The parts on one grid, those used 0 times left out."""
    used = [(part, times) for part, times in parts if times > 0]
    require(len(used) > 0, "parts", 0, "at least one release")
    spacing = max(part.spacing for part, _ in used)
    return [(_on_coarser_grid(part, spacing), times) for part, times in used]


def _on_coarser_grid(part: GridLosses, spacing: float) -> GridLosses:
    while part.spacing < spacing * (1 - 1e-9):
        part = part.with_double_spacing()
    require(
        abs(part.spacing / spacing - 1) < 1e-9,
        "spacing",
        part.spacing,
        f"{spacing:g} or that divided by a power of 2",
        "use loss_distribution(spacing=...) for all parts",
    )
    return part


def tilted_sum(parts: Parts, tail_logs: Sequence[float], cumulants: Cumulants) -> GridLosses:
    """The sum under tilts that are centred at tails of about e^-x, on a grid coarse enough for all of them."""
    is_lower = parts[0][0].is_lower
    while not (windows := _windows(parts, tail_logs, cumulants)):
        parts = [(part.with_double_spacing(), times) for part, times in parts]
        cumulants = Cumulants.of(parts)
    sums = [TiltedSum.of(parts, *window) for window in windows]
    low, high = min(each.low for each in sums), max(each.end for each in sums)
    # Beyond 2^53 steps doubles no longer tell grid points apart, and windows lie anywhere.
    require(
        high - low <= 4 * LARGEST_GRID,
        "times",
        sum(times for _, times in parts),
        "so few that doubles can tell the losses of their sum apart",
        "beyond that use an analytic curve, such as GaussianDP or ZCDP",
    )
    grid = np.arange(low, high, dtype=np.float64) * parts[0][0].spacing
    bound = _lower_bound if is_lower else _upper_bound
    return bound(parts, sums, grid, low, cumulants)


def _windows(parts: Parts, tail_logs: Sequence[float], cumulants: Cumulants) -> list[tuple[float, int, int]]:
    """Tilts, each with the first and last grid point between which its sum lies; none if the grid is too fine."""
    is_lower = parts[0][0].is_lower
    candidates = [
        cumulants.window(tilt, OUTSIDE_LOGS[is_lower], upper=not is_lower)
        for tilt in cumulants.tilts(tail_logs)
    ]
    windows = [each for each in candidates if each[2] - candidates[0][1] < LARGEST_GRID]
    # An upper bound needs a tilt to bound what lies beyond; a lower one may do without.
    is_bounded = any(tilt > 0 or high >= support(parts)[1] for tilt, _, high in windows)
    return windows if is_lower or is_bounded else []


def _infinite_mass(parts: Parts) -> float:
    """The probability that some loss is infinite."""
    return -math.expm1(sum(times * math.log1p(-min(part.infinity, 1 - 1e-16)) for part, times in parts))


def _loss_error(parts: Parts) -> float:
    """How far the sum may be off through the rounding of each loss."""
    return sum(times * part.loss_error for part, times in parts)


# From below.


def _lower_bound(
    parts: Parts, sums: Sequence[TiltedSum], grid: Floats, low: int, cumulants: Cumulants
) -> GridLosses:
    """At each point the largest of the masses, less their errors and what may have wrapped around."""
    masses = np.zeros(grid.size)
    for each in sums:
        if (taken_back := each.factors(grid)) is None:
            continue
        factors, doubt = taken_back
        window = slice(each.low - low, each.end - low)
        error = each.law.error + mass_wrapped(parts, cumulants, each)
        own = (each.law.masses - error) * ((1.0 - doubt) * factors[window])
        masses[window] = np.maximum(masses[window], own)
    infinity = max(0.0, _infinite_mass(parts) * (1 - 1e-12))
    return GridLosses(parts[0][0].spacing, low, masses, infinity, _loss_error(parts), True)


# From above.


def _upper_bound(
    parts: Parts, sums: Sequence[TiltedSum], grid: Floats, low: int, cumulants: Cumulants
) -> GridLosses:
    """The least of the bounds of each stretch; what lies beyond the grid is infinite, or at its first point."""
    spacing, high = parts[0][0].spacing, low + grid.size
    taken_back = [_TakenBack.of(each, grid, low) for each in sums]
    usable = [each for each in taken_back if each is not None]
    # Chernoff bounds, at the tilts of the sums and at one for the end of each window.
    tails = _Tails([(each.tilt, each.log_moment) for each in sums])
    for each in sums:
        tails = tails.with_tilt(parts, cumulants.tilt_of_tail(each.end * spacing))
    masses = _by_stretches(_by_points(usable, grid), grid, usable, tails)
    infinity, (bottom, top) = _infinite_mass(parts), support(parts)
    if high <= top:
        infinity += float(tails.masses(np.array([high * spacing]))[0])
    if low > bottom:
        masses[0] += mass_below(parts, cumulants, low)
    infinity = min(1.0, infinity * (1 + 1e-12))
    return GridLosses(spacing, low, np.minimum(masses, 1.0 + 1e-6), infinity, _loss_error(parts))


class _TakenBack:
    """A tilted sum's masses as those of the sum itself, on its window of the grid."""

    def __init__(self, each: TiltedSum, factors: Floats, low: int) -> None:
        self.window = slice(each.low - low, each.end - low)
        self.all_factors = factors
        self.factors = factors[self.window]
        self.masses = np.maximum(each.law.masses, 0.0) * self.factors
        self.largest = np.maximum(each.law.masses + each.law.error, 0.0) * self.factors
        self.norm_error = each.law.norm_error

    @classmethod
    def of(cls, each: TiltedSum, grid: Floats, low: int) -> _TakenBack | None:
        """None where the exponents are too large to be taken back; another tilt will do."""
        taken_back = each.factors(grid)
        return None if taken_back is None else cls(each, taken_back[0] * (1.0 + taken_back[1]), low)


class _Tails:
    """The least of the Chernoff bounds e^(K(t) - t l) on the mass from a loss on, at several tilts."""

    def __init__(self, moments: Sequence[tuple[float, float]]) -> None:
        self._moments = tuple(moments)

    def with_tilt(self, parts: Parts, tilt: float) -> _Tails:
        """With one tilt more."""
        return _Tails((*self._moments, (tilt, log_moment(parts, tilt))))

    def masses(self, losses: Floats) -> Floats:
        """The bound at each loss."""
        logs = [
            moment - tilt * losses + 1e-13 * (abs(moment) + np.abs(tilt * losses) + 1.0)
            for tilt, moment in self._moments
        ]
        return np.asarray(np.exp(np.minimum(np.min(logs, axis=0), 0.0)))


def _by_points(sums: Sequence[_TakenBack], grid: Floats) -> Floats:
    """A point's mass is at most what a tilt says with its error, and at most the whole tail from there on."""
    masses = np.ones(grid.size)
    for each in sums:
        np.minimum(masses, each.all_factors, out=masses)
        masses[each.window] = np.minimum(masses[each.window], each.largest)
    return masses


def _by_stretches(masses: Floats, grid: Floats, sums: Sequence[_TakenBack], tails: _Tails) -> Floats:
    """Masses that bound the true ones stretch by stretch, where that is less than the bound point by point.

    The weights 1 - e^(epsilon - l) of delta grow with the loss. So the errors of a stretch count for no more than their
    sum does at its upper end, and that is at most the norm of the errors times the norm of their factors. Each stretch
    is taken from one sum, whole; or all that lies above its first point is put at its last: the least in total.
    """
    edges = [np.linspace(0, grid.size, STRETCH_COUNT + 1).astype(np.int64)]
    edges += [np.array([each.window.start, each.window.stop]) for each in sums]
    starts = np.unique(np.concatenate(edges))[:-1]
    ends = np.append(starts[1:], grid.size) - 1
    least = np.add.reduceat(masses, starts)
    above = tails.masses(grid[starts])
    for stretch in np.flatnonzero(above < least):
        masses[starts[stretch] : ends[stretch]] = 0.0
        masses[ends[stretch]] = above[stretch]
    least = np.minimum(least, above)
    for each in sums:
        first, last = each.window.start, each.window.stop - 1
        inside = np.flatnonzero((starts >= first) & (ends <= last))
        own = starts[inside] - first
        with np.errstate(over="ignore"):
            errors = each.norm_error * np.sqrt(np.add.reduceat(each.factors**2, own)) * (1 + 1e-12)
        totals = np.add.reduceat(each.masses, own) + errors
        for place in np.flatnonzero(totals < least[inside]):
            stretch = inside[place]
            begin, end = starts[stretch], ends[stretch]
            masses[begin : end + 1] = each.masses[begin - first : end + 1 - first]
            masses[end] += errors[place]
            least[stretch] = totals[place]
    return masses
