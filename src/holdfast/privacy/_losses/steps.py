"""Pairs for tables that are several steps apart, and symmetric pairs for steps whose direction is not known.

An event of probability r in the last world has at most F(r) in the one before, F being the trade-off of one step;
so two steps have F1(F2(r)), and that is attained (Dong, Roth and Su 2019, section 2.5). For finite laws F is a
polygon whose edges are the outcomes, and the composition pairs the edges off in the order of their losses.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Floats
from holdfast.privacy._losses.atomic_pair import AtomicPair

_ROUNDING_DOUBT = 1e-13  # of a few roundings for each outcome
_CLOSE_LOSSES = 1e-6  # losses that are closer need not both be corners of an envelope


def replacement_pair(pair: AtomicPair) -> AtomicPair:
    """One unit exchanged for another: removed, then added. Its own reverse."""
    return _two_steps(pair, pair.reverse(), symmetric=True)


def group_pair(pair: AtomicPair, size: int) -> AtomicPair:
    """Tables that are this many steps apart: any number of them removals, which come first, the others additions."""
    back = pair.reverse()
    if pair.is_symmetric:
        return reduce(lambda far, near: _two_steps(far, near, symmetric=True), [pair] * size)
    chains = [[pair] * removed + [back] * (size - removed) for removed in range(size + 1)]
    return symmetric_envelope([reduce(_two_steps, chain) for chain in chains])


def _two_steps(outer: AtomicPair, inner: AtomicPair, symmetric: bool = False) -> AtomicPair:
    """(P, R), where (P, M) is one step apart by `outer` and (M, R) by `inner`: the worst such pair.

    The law M in the middle is cut at the outcomes of both pairs, largest losses first; a piece of mass m between
    the losses l and l' has P-mass m e^l, R-mass m e^-l' and the loss l + l'.
    """
    # M is the second law of the outer pair, whose losses end at -inf, and the first of the inner one.
    ups = np.append(outer.losses[::-1], -math.inf)
    downs = np.append(math.inf, inner.losses[::-1])
    pieces, i, j = _common_pieces(
        np.append(outer.second[::-1], outer.unseen), np.append(inner.lost, inner.masses[::-1])
    )
    up, down = ups[i], downs[j]
    with np.errstate(over="ignore", under="ignore"):
        p = pieces * np.exp(np.minimum(up, 700.0))
        r = pieces * np.exp(np.minimum(-down, 700.0))
    only_p, only_r = np.isposinf(down), np.isneginf(up)
    both = ~only_p & ~only_r
    return AtomicPair(
        up[both] + down[both],
        p[both],
        min(1.0, (outer.lost + math.fsum(p[only_p])) * (1 + _ROUNDING_DOUBT)),
        None,
        r[both],
        min(1.0, (inner.unseen + math.fsum(r[only_r])) * (1 + _ROUNDING_DOUBT)),
        symmetric=symmetric,
        is_measure=True,
        doubt=outer.doubt + inner.doubt + _ROUNDING_DOUBT,
    )


def _common_pieces(first: Floats, second: Floats) -> tuple[Floats, NDArray[np.int64], NDArray[np.int64]]:
    """The pieces into which two partitions of one law cut it, and each piece's place in both partitions.

    Positions are counted from the nearer end, so that small outcomes keep their digits at either one.
    """
    left = np.concatenate([np.cumsum(first), np.cumsum(second)])
    right = np.concatenate([np.append(np.cumsum(part[:0:-1])[::-1], 0.0) for part in (first, second)])
    with np.errstate(divide="ignore"):
        order = np.argsort(np.log(left) - np.log(right), kind="stable")
    left, right = left[order], right[order]
    in_second = order >= first.size
    before_left, before_right = np.append(0.0, left[:-1]), np.append(1.0, right[:-1])
    across = np.where(before_left > 0.5, before_right - right, 1.0 - before_left - right)
    pieces = np.maximum(np.where(left <= 0.5, left - before_left, across), 0.0)
    i = np.minimum(np.cumsum(~in_second) - ~in_second, first.size - 1)
    j = np.minimum(np.cumsum(in_second) - in_second, second.size - 1)
    keep = pieces > 0
    return pieces[keep], i[keep], j[keep]


def symmetric_envelope(pairs: Sequence[AtomicPair]) -> AtomicPair:
    """One symmetric pair above all of these in both directions: H = max of theirs at every alpha >= 0.

    The maximum is convex and, in alpha, a polygon: its corners are the new pair's outcomes and its bends are
    their masses (soundness, section 21). Corners below alpha = 1 follow by symmetry.
    """
    directions = [direction for pair in pairs for direction in pair.directions]
    corners = _distinct_losses(
        np.concatenate([[0.0], *(direction.losses[direction.losses > 0] for direction in directions)])
    )
    for _ in range(len(directions)):
        heights = np.array([direction.heights(corners) for direction in directions])
        crossings = _crossings(corners, heights)
        if crossings.size == 0:
            break
        corners = _distinct_losses(np.concatenate([corners, crossings]))
    top = np.max([direction.heights(corners) for direction in directions], axis=0)
    lost = max(direction.lost for direction in directions)
    top[-1] = max(top[-1], lost)
    # An edge that falls by d from loss a to b has d / (1 - e^(a-b)) of slope, times e^b; a bend is an outcome.
    drop = np.maximum(top[:-1] - top[1:], 0.0)
    slope = np.append(drop / -np.expm1(corners[:-1] - corners[1:]), 0.0)
    shrink = np.append(np.exp(corners[1:-1] - corners[2:]), 0.0)
    p = np.maximum(slope[:-1] - slope[1:] * shrink, 0.0) if corners.size > 1 else np.zeros(0)
    losses, lost = corners[1:], min(1.0, float(top[-1]))
    with np.errstate(under="ignore"):
        q = p * np.exp(-losses)
    rest = max(0.0, 1.0 - float(np.sum(p)) - float(np.sum(q)) - lost)
    return AtomicPair(
        np.concatenate([-losses, [0.0], losses]),
        np.concatenate([q, [rest], p]),
        lost,
        None,
        np.concatenate([p, [rest], q]),
        lost,
        symmetric=True,
        is_measure=True,
        doubt=max(direction.doubt for direction in directions) + _ROUNDING_DOUBT,
    )


def _distinct_losses(losses: Floats) -> Floats:
    """Sorted, without those next to each other; nothing lies above the last, so it may be a little larger."""
    ordered = np.unique(losses)
    apart = ordered[np.append(True, np.diff(ordered) > _CLOSE_LOSSES)]
    if apart[-1] == ordered[-1]:
        return np.asarray(apart)
    return np.append(apart, max(apart[-1] + _CLOSE_LOSSES, ordered[-1]))


def _crossings(corners: Floats, heights: Floats) -> Floats:
    """Where, between two corners, another polygon becomes the highest; polygons are straight in e^loss."""
    first, then = np.argmax(heights[:, :-1], axis=0), np.argmax(heights[:, 1:], axis=0)
    place = np.flatnonzero(first != then)
    before = heights[first[place], place] - heights[then[place], place]
    after = heights[then[place], place + 1] - heights[first[place], place + 1]
    real = (before > 0) & (after > 0)
    place, before, after = place[real], before[real], after[real]
    width = np.expm1(corners[place + 1] - corners[place])
    crossings = corners[place] + np.log1p(width * before / (before + after))
    inside = (crossings - corners[place] > _CLOSE_LOSSES) & (corners[place + 1] - crossings > _CLOSE_LOSSES)
    return np.asarray(crossings[inside])
