"""Why intervals are refused, and what would be enough: read off the release, so that it costs nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from holdfast.learn._inference.score import DOUBT_DEVIATIONS, LEAST_STRENGTH, NoisyScore

LEAST_NAMED_SHARE = 0.05
"""Of the squared direction: columns with less of it are not named."""
MOST_NAMED = 4
LONGER_FACTOR = 1.05
"""A row norm is too large where it is so many times the longest declared row."""


def why_swamped(
    score: NoisyScore,
    *,
    names: Sequence[str],
    row_norm: float | None = None,
    longest_row: float | None = None,
) -> str:
    """The reason, in the order in which it helps: too large a norm, too few rows, or columns that say too little.

    Noise in the curvature is the same for all tables, grows with the square of the row norm, and falls with epsilon;
    what rows say grows with their number. So a factor that is missing may come from either.
    """
    switch = "; method='test_inversion' holds here too and may find no end" if score.loss == "squared" else ""
    reasons = [f"noise swamps the information{_how_much(score)}"]
    if row_norm is not None and longest_row is not None and row_norm > LONGER_FACTOR * longest_row:
        gain = (row_norm / longest_row) ** 2
        reasons.append(
            f"row_norm={row_norm:g} is longer than any declared row, {longest_row:.4g}, and the noise grows with its "
            f"square: without it rows say {gain:.2g} times as much"
        )
    reasons.append(_enough(score) or _too_little(score, names))
    return "; ".join(reasons) + switch


def _how_much(score: NoisyScore) -> str:
    """The numbers that decide."""
    sure = max(0.0, float(score.sure_strength))
    evidence = f": the least eigenvalue of the noisy curvature is {score.strength:.2g} times its noise"
    if sure >= score.needed_strength:
        return f"{evidence} and the interval would be too wide to be of use"
    needed = f"the theory of intervals needs {score.needed_strength:.2g}"
    return f"{evidence}, of which {sure:.2g} times are sure, and {needed}"


def missing_factor(score: NoisyScore) -> float | None:
    """By how much rows, or epsilon, must grow for intervals; None where the information is not seen above its noise."""
    noise = score.deviation if score.pilot is None else score.pilot_noise
    unit = max(score.deviation * math.sqrt(score.dimension), 1e-300)
    doubt = DOUBT_DEVIATIONS * noise / unit
    strength = float(score.strength)
    if strength <= doubt:
        return None
    needed = max(LEAST_STRENGTH, float(score.needed_strength)) + doubt
    return max(needed / strength, 1.1)


def _enough(score: NoisyScore) -> str:
    """How many rows, or how much more epsilon; empty where nothing can be told."""
    factor = missing_factor(score)
    if factor is None:
        return ""
    return (
        f"for columns like these about {factor * score.count:,.0f} rows would be enough, or {factor:.2g} times the "
        "epsilon"
    )


def _too_little(score: NoisyScore, names: Sequence[str]) -> str:
    """Which columns the least information is about."""
    matrix = score.curvature if score.pilot is None else score.pilot
    direction = np.linalg.eigh(matrix)[1][:, 0] ** 2
    order = [place for place in np.argsort(-direction)[:MOST_NAMED] if direction[place] >= LEAST_NAMED_SHARE]
    named = ", ".join(str(names[place]) for place in order)
    return (
        "the least information is not seen above its noise, so that no number of rows can be told; it is about "
        f"{named}: such columns hardly vary, or hardly differ from each other, in the rows; leave one out"
    )
