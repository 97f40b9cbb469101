"""Which columns interact: pairs are chosen from released shapes, so the choice costs no privacy.

The columns whose shapes matter most pair up first, and there are as many pairs as the budget and the rows can pay for:
a pair that is fitted with less is more noise than shape. The numbers below were chosen on public and made-up tables
(docs/additive.md).
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from holdfast._arrays import Codes, Floats

COARSE_LEVELS, FINE_LEVELS = 6, 8
"""How many levels a column has in a pair; see pair_features.py."""
LEAST_ROWS_FOR_FINE_LEVELS = 60_000
MOST_CANDIDATE_COLUMNS, MOST_PAIRS = 60, 100
MAIN_SIGNAL = {"classes": 1000.0, "numbers": 500.0}
"""The signal mu n that the shapes of single columns need; pairs are paid for by the rest."""
SIGNAL_PER_FEATURE = {
    "classes": {COARSE_LEVELS: 80.0, FINE_LEVELS: 12.0},
    "numbers": {COARSE_LEVELS: 22.0, FINE_LEVELS: 20.0},
}
"""The signal that each feature of a pair needs."""
ROWS_PER_FEATURE = 50.0
"""The rows that each feature of a pair needs."""
FEATURES_PER_CONTRAST = 5.0
"""A pair counts as this many features, times the root of the product of its columns' contrasts."""
CONTRAST_EXPONENT = 0.3
"""Columns are ranked by the root of their importance times their contrasts to this power. A column of two values has
one contrast that can vary with another column, and a line of six levels has five."""


def pair_level_count(rows: float) -> int:
    """How many levels a column has in a pair; `rows` is a public or released number."""
    return FINE_LEVELS if rows >= LEAST_ROWS_FOR_FINE_LEVELS else COARSE_LEVELS


def choose_pairs(
    importance: Floats, contrasts: Codes, *, signal: float, rows: float, target: str = "classes"
) -> tuple[tuple[int, int], ...]:
    """The pairs of columns to fit, by the columns' places; the most important ones that `signal` and `rows` pay for.

    `importance` is the variance of each column's released shape, `contrasts` how many levels it has less one: a column
    with 0 contrasts is in no pair. `signal` is mu n.

    >>> choose_pairs(np.array([1.0, 3.0, 2.0]), np.array([5, 5, 5]), signal=3000.0, rows=20_000)
    ((1, 2),)
    """
    signal_per_feature = SIGNAL_PER_FEATURE[target][pair_level_count(rows)]
    most_features = min((signal - MAIN_SIGNAL[target]) / signal_per_feature, rows / ROWS_PER_FEATURE)
    worth = np.sqrt(importance * (contrasts > 0)) * np.maximum(contrasts, 1.0) ** CONTRAST_EXPONENT
    candidates = [
        int(column)
        for column in np.argsort(-worth, kind="stable")[:MOST_CANDIDATE_COLUMNS]
        if worth[column] > 0
    ]
    ranked_pairs = sorted(combinations(candidates, 2), key=lambda pair: -worth[pair[0]] * worth[pair[1]])
    pairs, features = [], 0.0
    for left, right in ranked_pairs[:MOST_PAIRS]:
        features += FEATURES_PER_CONTRAST * float(contrasts[left] * contrasts[right]) ** 0.5
        if features > most_features:
            break
        pairs.append((min(left, right), max(left, right)))
    return tuple(pairs)
