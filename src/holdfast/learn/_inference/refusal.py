"""The reason why intervals are refused, and what would be enough. It follows from the release and costs nothing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from holdfast.learn._inference.score import NoisyScore

LEAST_NAMED_SHARE, MOST_NAMED_COLUMNS = 0.05, 4
"""Columns are named that have at least this share of the squared direction with the least information."""
TOO_LONG_FACTOR = 1.05
"""A row norm is too large where it is this many times the longest declared row."""


def refusal_reason(
    score: NoisyScore,
    *,
    names: Sequence[str],
    row_norm: float | None = None,
    longest_row: float | None = None,
) -> str:
    """Why a score is too weak for intervals: too large a row norm, too few rows, or columns that say too little.

    The noise in the curvature grows with the square of the row norm and falls with epsilon; the information grows with
    the number of rows. So a missing factor may come from either.
    """
    switch = "; method='test_inversion' holds here too and may find no end" if score.loss == "squared" else ""
    reasons = [f"noise swamps the information{_strength_text(score)}"]
    if row_norm is not None and longest_row is not None and row_norm > TOO_LONG_FACTOR * longest_row:
        gain = (row_norm / longest_row) ** 2
        reasons.append(
            f"row_norm={row_norm:g} is longer than any declared row, {longest_row:.4g}, and the noise grows with its "
            f"square: without it rows say {gain:.2g} times as much"
        )
    reasons.append(_sufficient_rows_text(score) or _weak_columns_text(score, names))
    return "; ".join(reasons) + switch


def _strength_text(score: NoisyScore) -> str:
    """The strength that was observed, what is sure of it, and what intervals need."""
    sure = max(0.0, float(score.strength.sure))
    evidence = (
        f": the least eigenvalue of the noisy curvature is {score.strength.observed:.2g} times its noise"
    )
    if sure >= score.strength.needed:
        return f"{evidence} and the interval would be too wide to be of use"
    needed = f"the theory of intervals needs {score.strength.needed:.2g}"
    return f"{evidence}, of which {sure:.2g} times are sure, and {needed}"


def missing_factor(score: NoisyScore) -> float | None:
    """The factor by which rows, or epsilon, must grow for intervals; None where noise hides how strong the score is."""
    strength = score.strength
    observed, doubt = float(strength.observed), strength.doubt
    if observed <= doubt:
        return None
    return max((float(strength.needed) + doubt) / observed, 1.1)


def _sufficient_rows_text(score: NoisyScore) -> str:
    """How many rows, or how much more epsilon, would be enough; empty where that is not known."""
    factor = missing_factor(score)
    if factor is None:
        return ""
    return (
        f"for columns like these about {factor * score.count:,.0f} rows would be enough, or {factor:.2g} times the "
        "epsilon"
    )


def _weak_columns_text(score: NoisyScore, names: Sequence[str]) -> str:
    """The columns of the direction with the least information."""
    curvature = score.curvature if score.pilot is None else score.pilot
    column_shares = np.linalg.eigh(curvature)[1][:, 0] ** 2
    largest = np.argsort(-column_shares)[:MOST_NAMED_COLUMNS]
    columns = ", ".join(str(names[place]) for place in largest if column_shares[place] >= LEAST_NAMED_SHARE)
    return (
        "the least information is not seen above its noise, so that no number of rows can be told; it is about "
        f"{columns}: such columns hardly vary, or hardly differ from each other, in the rows; leave one out"
    )
