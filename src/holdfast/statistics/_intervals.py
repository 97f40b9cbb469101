"""Intervals of ratios and variances, by inversion of the law of the noise (soundness, section 25).

A value is in the interval if the noise could have moved the table's sums to those that were released. That is exact for
the table's own value, whatever the table is. For the population's value what a sample moves is added: by the normal law
with the largest variance that numbers between two bounds with such a mean have, and by Hoeffding's inequality where
there may be fewer than 100 units.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Floats
from holdfast.statistics._measures.moments import NoisyMoments

_CANDIDATES = 512
_HALVINGS = 40
FEWEST_FOR_NORMAL = 100
"""With fewer units the population's interval does not rest on the normal law."""
_MEANS = 25
_REFINEMENTS = 2


def ratio_interval(
    noisy: NoisyMoments,
    part: Floats,
    whole: Floats,
    failure: float,
    *,
    sampled: float | None = None,
    variance: Floats | None = None,
) -> tuple[Floats, Floats]:
    """The least and the largest m in [0, 1] with |part - m whole| within what the noise can be.

    `part` and `whole` are weights of the sums. With `sampled`, the most rows that one unit counts, within what noise
    and a sample of units can be: then m is the population's; `variance`, where it is known about, makes that narrower.
    Where no m fits, or every m does, it is [0, 1].
    """
    grid = np.linspace(0.0, 1.0, _CANDIDATES + 1)
    weights = part[None, :] - grid[:, None] * whole[None, :]
    total, count = noisy.total(tuple(part.tolist())), noisy.total(tuple(whole.tolist()))
    reach = noisy.reach(weights, failure)
    spread = np.zeros(len(count))
    extra = np.zeros(len(count))
    if sampled is not None:
        from scipy.special import ndtri

        reach_of_count = float(noisy.reach(whole[None, :], failure)[0])
        few = count - reach_of_count < FEWEST_FOR_NORMAL * sampled
        most = np.maximum(count + reach_of_count, 0.0) * sampled
        spread = np.where(few, 0.0, ndtri(1.0 - failure / 2.0) ** 2 * most)
        extra = np.where(few, np.sqrt(0.5 * math.log(4.0 / failure) * most), 0.0)
        wide = noisy.reach(weights, failure / 2.0)
    else:
        few, wide = np.zeros(len(count), dtype=np.bool_), reach
    centre = np.clip(np.where(count > 0, total / np.where(count > 0, count, 1.0), 0.5), 0.0, 1.0)

    def accepted(m: Floats, group: Any) -> NDArray[np.bool_]:
        noise = np.where(few[group], np.interp(m, grid, wide), np.interp(m, grid, reach))
        most_variance = m * (1.0 - m)
        if variance is not None:
            most_variance = np.minimum(most_variance, variance[group])
        within = np.sqrt(noise**2 + spread[group] * most_variance) + extra[group]
        return np.asarray(np.abs(total[group] - m * count[group]) <= within)

    return _ends(accepted, grid, centre)


def _ends(
    accepted: Callable[[Floats, Any], NDArray[np.bool_]], grid: Floats, centre: Floats
) -> tuple[Floats, Floats]:
    """The least and the largest accepted point of each group; the whole range where none is."""
    groups = np.arange(len(centre))
    on_grid = accepted(grid[None, :], groups[:, None])
    inner = accepted(centre, groups)
    any_on_grid = on_grid.any(axis=1)
    least = np.where(any_on_grid, grid[on_grid.argmax(axis=1)], 1.0)
    most = np.where(any_on_grid, grid[len(grid) - 1 - on_grid[:, ::-1].argmax(axis=1)], 0.0)
    least = np.where(inner, np.minimum(least, centre), least)
    most = np.where(inner, np.maximum(most, centre), most)
    empty = ~(inner | any_on_grid)
    # Between the last accepted point and the next one on the grid, which is not: halve until nothing is between them.
    step = grid[1] - grid[0]
    low = _border(accepted, groups, least, np.maximum(least - step, 0.0))
    high = _border(accepted, groups, most, np.minimum(most + step, 1.0))
    return np.where(empty, 0.0, low), np.where(empty, 1.0, high)


def _border(
    accepted: Callable[[Floats, Any], NDArray[np.bool_]], groups: Any, inside: Floats, outside: Floats
) -> Floats:
    """Where acceptance ends between two points; the outer one where it does not."""
    ends = accepted(outside, groups)
    edge = outside.copy()
    for _ in range(_HALVINGS):
        middle = 0.5 * (inside + outside)
        inner = accepted(middle, groups)
        inside, outside = np.where(inner, middle, inside), np.where(inner, outside, middle)
    return np.where(ends, edge, outside)


def variance_interval(noisy: NoisyMoments, failure: float) -> tuple[Floats, Floats]:
    """The least and the largest variance of p in [0, 1/4] that the noise could have moved to these sums.

    With half of the failure the mean m lies in its interval; for the true m, sum (p - m)^2 = n v, so with the other
    half |S2 - 2 m S1 + (m^2 - v) n| is within the noise. v is accepted if some m of the interval accepts it.
    """
    basis = noisy.basis
    assert basis.first is not None
    assert basis.second is not None
    assert basis.present is not None
    first, second, present = (np.array(weights) for weights in (basis.first, basis.second, basis.present))
    least, most = ratio_interval(noisy, first, present, failure / 2.0)
    n, s1, s2 = (noisy.total(weights) for weights in (basis.present, basis.first, basis.second))
    means = least[:, None] + (most - least)[:, None] * np.linspace(0.0, 1.0, _MEANS)
    squares = s2[:, None] - 2.0 * means * s1[:, None] + means**2 * n[:, None]
    # Means between two that are tried: n (m - m')^2 more, as the true sum of squares is least at the true mean.
    squares_slack = np.maximum(n, 0.0) * ((most - least) / (2.0 * (_MEANS - 1))) ** 2
    low, high = np.zeros(means.shape), np.full(means.shape, 0.25)

    def reach(v: Floats) -> Floats:
        weights = second - 2.0 * means[..., None] * first + (means**2 - v)[..., None] * present
        return noisy.reach(weights.reshape(-1, len(first)), failure / 2.0).reshape(means.shape)

    for _ in range(_REFINEMENTS):
        # The quantile is quasi-convex in the weights, so on a segment of v it is at most that of an end.
        within = np.maximum(reach(low), reach(high)) + squares_slack[:, None]
        count = n[:, None]
        safe = np.where(count > 0, count, 1.0)
        new_low = np.where(count > 0, (squares - within) / safe, 0.0)
        new_high = np.where(count > 0, (squares + within) / safe, 0.25)
        low, high = np.clip(new_low, 0.0, 0.25), np.clip(new_high, 0.0, 0.25)
    low_end, high_end = low.min(axis=1), high.max(axis=1)
    nothing = n <= noisy.reach(present[None, :], failure / 2.0)
    return np.where(nothing, 0.0, low_end), np.where(nothing, 0.25, high_end)
