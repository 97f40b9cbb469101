"""Sums of independent losses by the fast Fourier transform, with an error bound on every mass.

A transform's rounding error is absolute, so it would hide the far tail, which decides delta. So each sum is computed
under several exponential tilts, p(l) e^(t l). Every tilt is exact to many digits around its own mean, and each grid
point takes the tightest of the bounds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from holdfast._arrays import Floats
from holdfast.errors import require
from holdfast.privacy._losses.cumulants import Cumulants, support
from holdfast.privacy._losses.grid_losses import LARGEST_GRID, GridLosses

ROUND_OFF = 2.0**-53
TAIL_LOGS = (0.0, 12.0, 42.0)
"""The tilts are centred where the upper tail has mass about e^-x, for these x."""
RARE = 1e-18
"""The probability of a large loss, over the whole sum, that the second bound gives away."""
OUTSIDE_LOGS = {False: 28.0, True: 37.0}
"""A tilted sum's mass outside its window is about e^-x; a lower bound has to subtract it everywhere."""


def convolve(
    parts: Sequence[tuple[GridLosses, int]],
    *,
    tail_logs: Sequence[float] = TAIL_LOGS,
    cumulants: Cumulants | None = None,
) -> GridLosses:
    """The loss of all releases together, each as often as said; tight where the tails are about e^-tail_log."""
    parts = on_one_grid(parts)
    if len(parts) == 1 and parts[0][1] == 1:
        return parts[0][0]
    cumulants = cumulants or Cumulants.of(parts)
    if cumulants.is_heavy_tailed:
        # Rare large losses would dominate every tilt. A second bound counts them as infinite (or, from
        # below, drops them) and is tight wherever delta is not as small as they are rare.
        moderate = without_rare(parts)
        plain = tilted_sum(moderate, TAIL_LOGS, Cumulants.of(moderate))
        return plain if plain.is_lower else replace(tilted_sum(parts, TAIL_LOGS, cumulants), relaxed=plain)
    return tilted_sum(parts, tail_logs, cumulants)


def without_rare(parts: Sequence[tuple[GridLosses, int]]) -> list[tuple[GridLosses, int]]:
    """The parts with their largest losses counted as infinite: `RARE` of mass in all, so a bound still."""
    count = sum(times for _, times in parts)
    return [(part.without_tail(RARE / count), times) for part, times in parts]


def on_one_grid(parts: Sequence[tuple[GridLosses, int]]) -> list[tuple[GridLosses, int]]:
    """The parts on one grid, those used 0 times left out."""
    used = [(part, times) for part, times in parts if times > 0]
    require(len(used) > 0, "parts", 0, "at least one release")
    spacing = max(part.spacing for part, _ in used)
    return [(_on_coarser_grid(part, spacing), times) for part, times in used]


def log_moment(parts: Sequence[tuple[GridLosses, int]], tilt: float) -> float:
    """log E e^(tilt loss) of the sum, by the grid itself."""
    return sum(times * _log_masses(part, tilt)[1] for part, times in parts)


def tilted_sum(
    parts: Sequence[tuple[GridLosses, int]], tail_logs: Sequence[float], cumulants: Cumulants
) -> GridLosses:
    """The sum under these tilts, on a grid coarse enough for all of them."""
    lower = parts[0][0].is_lower
    while True:
        candidates = [
            cumulants.window(t, OUTSIDE_LOGS[lower], upper=not lower) for t in cumulants.tilts(tail_logs)
        ]
        windows = [each for each in candidates if each[2] - candidates[0][1] < LARGEST_GRID]
        # An upper bound needs a tilt to bound what lies beyond; a lower one may do without.
        bounded = any(tilt > 0 or high >= support(parts)[1] for tilt, _, high in windows)
        if windows and (lower or bounded):
            break
        parts = [(part.with_double_spacing(), times) for part, times in parts]
        cumulants = Cumulants.of(parts)
    sums = [_tilted_law(parts, tilt, low, high, cumulants if lower else None) for tilt, low, high in windows]
    return _combine_tilts(parts, sums, cumulants, lower)


@dataclass(frozen=True)
class _TiltedSum:
    """The tilted masses on a window, bounds on each error and on the norm of all, the log-normaliser."""

    tilt: float
    low: int
    masses: Floats
    error: float
    norm_error: float
    log_total: float


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


def _log_masses(part: GridLosses, tilt: float) -> tuple[Floats, float, float]:
    """Tilted masses with sum 1, the log of their sum before, and their error in total."""
    if tilt == 0.0:
        total = float(np.sum(part.masses))
        return part.masses / total, math.log(total), 8 * ROUND_OFF
    losses, logs = part.losses, part.log_masses
    with np.errstate(under="ignore"):
        exponents = tilt * losses
        exponents += logs
        log_sum = float(np.max(exponents))
        log_sum += math.log(float(np.sum(np.exp(exponents - log_sum))))
        exponents -= log_sum
        tilted = np.exp(exponents)
    # Each exponent is off by a unit of its terms' sizes; the error of the sum weighs them with the masses.
    sizes = np.abs(exponents) + 3 * np.abs(tilt * losses)
    size = 2 * abs(log_sum) + float(np.sum(tilted * np.where(tilted > 0, sizes, 0.0)))
    return tilted, log_sum, ROUND_OFF * (size + 8.0)


def _tilted_law(
    parts: Sequence[tuple[GridLosses, int]], tilt: float, low: int, high: int, cumulants: Cumulants | None
) -> _TiltedSum:
    size = fast_size(high - low + 1)
    depth = math.log2(size) + 1
    logs: Floats | None = None
    spread = np.zeros(size // 2 + 1)
    spectra: list[tuple[NDArrayComplex, int]] = []
    log_total = 0.0
    for part, times in parts:
        tilted, log_sum, doubt = _log_masses(part, tilt)
        log_total += times * log_sum
        spectrum = np.fft.rfft(_wrap_around_circle(tilted, part.first, size))
        # Forward error in every frequency: 7 units per butterfly level (Higham 2002, section 24.1).
        forward = 7 * ROUND_OFF * depth + doubt
        size_bound = np.abs(spectrum) + forward
        term = times * np.log(size_bound)
        logs = term if logs is None else logs + term
        spread += times * (forward / size_bound + 8 * ROUND_OFF)
        spectra.append((spectrum, times))
    assert logs is not None
    # Most frequencies have vanished after many multiplications: skip them, and count them as error.
    kept_frequencies = np.nonzero(logs > -90.0)[0]
    product = np.zeros(size // 2 + 1, dtype=np.complex128)
    product[kept_frequencies] = 1.0
    kept_product = np.ones(kept_frequencies.size, dtype=np.complex128)
    for spectrum, times in spectra:
        kept_product = kept_product * _power(spectrum[kept_frequencies], times)
    product[kept_frequencies] = kept_product
    bounds = np.exp(np.minimum(logs, 1.0))
    forward_error = bounds * np.minimum(spread * np.exp(np.minimum(spread, 1.0)), 1.0)
    forward_error[logs <= -90.0] = bounds[logs <= -90.0]
    # |time error| <= mean over frequencies, each but the first (and last) counted twice.
    backward = 7 * ROUND_OFF * depth
    error = 2.0 * float(np.sum(forward_error) + backward * np.sum(bounds)) / size
    # By Parseval the norm over time is the root mean square over frequencies, however many points there are.
    norm_error = math.sqrt(2.0 * float(np.sum((forward_error + backward * bounds) ** 2)) / size) * (1 + 1e-12)
    masses = np.roll(np.fft.irfft(product, size), -(low % size))[: high - low + 1]
    if cumulants is not None:  # a lower bound: what wraps around has to be taken off
        error += _outside(parts, cumulants, tilt, low, low + size - 1, log_total)
    return _TiltedSum(tilt, low, masses, error, norm_error, log_total)


NDArrayComplex = np.ndarray[tuple[int, ...], np.dtype[np.complex128]]


def _power(base: NDArrayComplex, times: int) -> NDArrayComplex:
    """By repeated squaring: faster than numpy's complex power, and with an error that adds up simply."""
    result: NDArrayComplex | None = None
    with np.errstate(under="ignore"):
        while times:
            if times & 1:
                result = base if result is None else result * base
            times >>= 1
            if times:
                base = base * base
    assert result is not None
    return result


def _wrap_around_circle(masses: Floats, first: int, size: int) -> Floats:
    """The masses on a circle of this size, each at its own index."""
    start = first % size
    padded = np.zeros(-(-(start + masses.size) // size) * size)
    padded[start : start + masses.size] = masses
    return np.asarray(padded.reshape(-1, size).sum(axis=0))


def _outside(
    parts: Sequence[tuple[GridLosses, int]],
    cumulants: Cumulants,
    tilt: float,
    low: int,
    high: int,
    log_total: float,
) -> float:
    """A Chernoff bound on the tilted mass outside the circle, which wraps around into it."""
    total = 0.0
    for sign, edge in ((1.0, high + 1), (-1.0, low - 1)):
        step = cumulants.chernoff_step(tilt, sign, edge)
        moment = log_moment(parts, tilt + sign * step)
        spacing = parts[0][0].spacing
        total += math.exp(
            min(0.0, moment - log_total - sign * step * edge * spacing + 1e-13 * abs(moment) + 1e-9)
        )
    return total


def _combine_tilts(
    parts: Sequence[tuple[GridLosses, int]], sums: Sequence[_TiltedSum], cumulants: Cumulants, lower: bool
) -> GridLosses:
    spacing = parts[0][0].spacing
    low, high = min(s.low for s in sums), max(s.low + s.masses.size for s in sums)
    # Beyond 2^53 steps doubles no longer tell grid points apart, and windows lie anywhere.
    require(
        high - low <= 4 * LARGEST_GRID,
        "times",
        sum(times for _, times in parts),
        "so few that doubles can tell the losses of their sum apart",
        "beyond that use an analytic curve, such as GaussianDP or ZCDP",
    )
    grid = np.arange(low, high, dtype=np.float64) * spacing
    loss_error = sum(times * part.loss_error for part, times in parts)
    lost = sum(times * math.log1p(-min(part.infinity, 1 - 1e-16)) for part, times in parts)
    infinity = -math.expm1(lost)
    # A point's mass is at most the whole tail from there on, e^(K(t) - t l), and at least 0.
    best = np.zeros(grid.size) if lower else np.ones(grid.size)
    untilts: list[Floats | None] = []
    for s in sums:
        untilts.append(None)
        exponent = s.log_total - s.tilt * grid
        doubt = 8 * ROUND_OFF * (float(max(abs(exponent[0]), abs(exponent[-1]))) + abs(s.log_total) + 4.0)
        if doubt > 1e-6:  # exponents too large to be undone; the other tilts will do
            continue
        part = slice(s.low - low, s.low - low + s.masses.size)
        with np.errstate(under="ignore", over="ignore"):
            untilt = np.exp(np.minimum(exponent, 700.0))
            if lower:
                best[part] = np.maximum(best[part], (s.masses - s.error) * ((1.0 - doubt) * untilt[part]))
            else:
                untilt *= 1.0 + doubt
                np.minimum(best, untilt, out=best)
                best[part] = np.minimum(best[part], np.maximum(s.masses + s.error, 0.0) * untilt[part])
                untilts[-1] = untilt[part]
    if lower:
        return GridLosses(
            spacing, low, np.maximum(best, 0.0), max(0.0, infinity * (1 - 1e-12)), loss_error, True
        )
    # Chernoff bounds, at the tilts of the sums and at one for the end of each window.
    moments = [(s.tilt, s.log_total) for s in sums]
    for s in sums:
        tilt = cumulants.tilt_of_tail((s.low + s.masses.size) * spacing)
        moments.append((tilt, log_moment(parts, tilt)))
    best = _by_stretches(best, grid, low, sums, untilts, moments)
    # What lies above the last window, and below the first.
    bottom, top = support(parts)
    if high <= top:
        infinity += float(_tails(moments, np.array([high * spacing]))[0])
    if low > bottom:
        best[0] += _below(parts, cumulants, low)
    infinity = min(1.0, infinity * (1 + 1e-12))
    return GridLosses(spacing, low, np.minimum(best, 1.0 + 1e-6), infinity, loss_error)


STRETCH_COUNT = 64
"""Into about so many stretches the grid is divided, each with its rounding errors at its upper end."""


def _by_stretches(
    best: Floats,
    grid: Floats,
    low: int,
    sums: Sequence[_TiltedSum],
    untilts: Sequence[Floats | None],
    moments: Sequence[tuple[float, float]],
) -> Floats:
    """Masses that bound the true ones stretch by stretch, where that is less than the bound point by point.

    The weights 1 - e^(epsilon - l) of delta grow with the loss. So the errors of a stretch count for no more than their
    sum does at its upper end, and that is at most the norm of the errors times the norm of their factors. Each stretch
    is taken from one sum, whole; or all that lies above its first point is put at its last: the least in total.
    """
    edges = [np.linspace(0, best.size, STRETCH_COUNT + 1).astype(np.int64)]
    edges += [np.array([s.low - low, s.low - low + s.masses.size]) for s in sums]
    starts = np.unique(np.concatenate(edges))[:-1]
    ends = np.append(starts[1:], best.size) - 1
    least = np.add.reduceat(best, starts)
    tails = _tails(moments, grid[starts])
    for stretch in np.flatnonzero(tails < least):
        best[starts[stretch] : ends[stretch]] = 0.0
        best[ends[stretch]] = tails[stretch]
    least = np.minimum(least, tails)
    for s, untilt in zip(sums, untilts, strict=True):
        if untilt is None:
            continue
        first, last = s.low - low, s.low - low + s.masses.size - 1
        inside = np.flatnonzero((starts >= first) & (ends <= last))
        own = starts[inside] - first
        masses = np.maximum(s.masses, 0.0) * untilt
        with np.errstate(over="ignore"):
            norms = s.norm_error * np.sqrt(np.add.reduceat(untilt * untilt, own)) * (1 + 1e-12)
        totals = np.add.reduceat(masses, own) + norms
        for place in np.flatnonzero(totals < least[inside]):
            stretch = inside[place]
            begin, end = starts[stretch], ends[stretch]
            best[begin : end + 1] = masses[begin - first : end + 1 - first]
            best[end] += norms[place]
            least[stretch] = totals[place]
    return best


def _tails(moments: Sequence[tuple[float, float]], losses: Floats) -> Floats:
    """The least of the Chernoff bounds e^(K(t) - t l) on the mass from each loss on."""
    logs = [
        moment - tilt * losses + 1e-13 * (abs(moment) + np.abs(tilt * losses) + 1.0)
        for tilt, moment in moments
    ]
    return np.asarray(np.exp(np.minimum(np.min(logs, axis=0), 0.0)))


def _below(parts: Sequence[tuple[GridLosses, int]], cumulants: Cumulants, low: int) -> float:
    """A Chernoff bound on the mass below the grid, which is rounded up to its first point."""
    step = cumulants.chernoff_step(0.0, -1.0, low - 1)
    return math.exp(min(0.0, log_moment(parts, -step) + step * (low - 1) * parts[0][0].spacing + 1e-9))


def fast_size(at_least: int) -> int:
    """The least size 2^a, 3 2^a, 5 2^a, 9 2^a or 15 2^a that is large enough.

    >>> fast_size(1000), fast_size(1100)
    (1024, 1152)
    """
    sizes = [odd << max(0, math.ceil(math.log2(max(at_least, 2) / odd))) for odd in (1, 3, 5, 9, 15)]
    return max(2, min(size + size % 2 for size in sizes if size >= at_least))
